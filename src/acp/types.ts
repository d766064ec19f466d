import { assertDurations } from '../async/durations.js';
import { MAX_LINE_BYTES } from '../channels/line-decoder.js';
import type { BatchChoice } from './batches.js';
import { MAX_BATCH } from './codec.js';
import type { ConnectionError } from './errors.js';
import type { Id, Params } from './message.js';

/** The context of a call that a handler receives. */
export interface CallContext {
  /** The method, such as `session/prompt`. */
  readonly method: string;
  /** The identifier of the request; `undefined` for a notification, which has no response. */
  readonly id: Id | undefined;
  /** A signal that is aborted when the caller cancels the request, or the connection ends. */
  readonly signal: AbortSignal;
  /** The connection, for calls to the other side. */
  readonly connection: Connection;
}

/**
 * A function that handles a call. It returns the result or a promise of it (`undefined` is sent as `null`), or throws; an `RpcError` chooses the
 * error of the response. The params are not validated.
 */
// The type of a method, so that a handler can declare a narrower type of its params.
export type Handler = { call(params: unknown, context: CallContext): unknown }['call'];

/** Options of {@link createConnection}. */
export interface ConnectionOptions {
  /** The handlers of calls by the other side, both requests and notifications, by method. */
  readonly handlers?: { readonly [method: string]: Handler } | undefined;
  /** The handler of all other methods. @default requests are answered with error -32601 */
  readonly fallback?: Handler | undefined;
  /** The handling of batches. @default 'negotiated' */
  readonly batches?: BatchChoice | undefined;
  /** The maximum number of entries in a batch; a longer one is rejected as a whole. @default 4096 */
  readonly maxBatch?: number | undefined;
  /** Methods that are never sent in a batch, in addition to {@link LIFECYCLE_METHODS}. */
  readonly unbatchable?: readonly string[] | undefined;
  /** The maximum number of requests that are handled at the same time; others are answered with error -32000. @default 65536 */
  readonly maxInFlight?: number | undefined;
  /** The number of bytes waiting to be written beyond which this side stops reading, and its calls reject. @default 67_108_864 */
  readonly maxBacklog?: number | undefined;
  /** The maximum length of a message to the other side in bytes: a longer result is replaced by an error, a longer call rejects. @default 33_554_432 */
  readonly maxLineBytes?: number | undefined;
  /** Milliseconds for which running handlers can still respond after the other side has ended; `Infinity` sets no limit. @default 10_000 */
  readonly graceMs?: number | undefined;
  /**
   * Called with errors that do not end the connection: invalid input, responses without a request, errors of notification handlers. Its own
   * errors are ignored.
   */
  readonly onError?: ((error: ConnectionError) => void) | undefined;
}

/** A call in a batch. */
export interface BatchEntry {
  /** The method, such as `session/prompt`. */
  readonly method: string;
  /** The parameters; absent if there are none. */
  readonly params?: Params | undefined;
  /** If true, the call is a notification, which has no response. @default false */
  readonly notification?: boolean | undefined;
}

/** Options of requests and batches. */
export interface RequestOptions {
  /** A signal that rejects the call immediately and sends a cancellation. */
  readonly signal?: AbortSignal | undefined;
}

/** A connection over which both sides can send calls. */
export interface Connection {
  /**
   * Sends a request and waits for the response.
   *
   * @throws RpcError if the response is an error
   * @throws ConnectionError if the request cannot be sent, or the connection ends before the response
   */
  readonly request: (method: string, params?: Params, options?: RequestOptions) => Promise<unknown>;
  /**
   * Sends a notification. Resolves when the transport has accepted it.
   *
   * @throws ConnectionError if the notification cannot be sent, or the connection ends before the transport has accepted it
   */
  readonly notify: (method: string, params?: Params) => Promise<void>;
  /**
   * Sends several calls as one array and returns the outcome of each. The outcome of a notification is `undefined`; it rejects if the transport
   * did not accept the array, or if all requests in the array rejected because the connection ended. If the other side does not accept
   * batches, all outcomes reject with `batches-refused`.
   *
   * @throws ConnectionError if the batch cannot be sent: `not-batchable`, `batches-refused`, `unserializable`, `too-long`, `backlog-full` or
   *   `closed`
   */
  readonly batch: (
    entries: readonly BatchEntry[],
    options?: RequestOptions,
  ) => Promise<PromiseSettledResult<unknown>[]>;
  /** Resolves when the connection has ended: with the error that ended it, or with `undefined` if either side closed it. */
  readonly closed: Promise<ConnectionError | undefined>;
  /** Closes the connection: rejects pending calls, aborts running handlers, and still writes messages that were sent before. */
  readonly close: () => Promise<void>;
}

/** Fills in default limits. @throws TypeError if a limit is invalid */
export function resolveLimits(limits: ConnectionOptions) {
  const { maxBatch = MAX_BATCH, maxInFlight = 65_536, maxBacklog = 64 * 1024 * 1024 } = limits;
  const { maxLineBytes = MAX_LINE_BYTES, graceMs = 10_000 } = limits;
  for (const [name, value] of Object.entries({ maxBatch, maxInFlight, maxBacklog, maxLineBytes }))
    if (!(value >= 1)) throw new TypeError(`${name} must be a number >= 1; got ${value}`);
  assertDurations({ graceMs }, 0);
  return { maxBatch, maxInFlight, maxBacklog, maxLineBytes, graceMs };
}
