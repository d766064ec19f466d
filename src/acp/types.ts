import { MAX_LINE_BYTES } from '../channels/line-decoder.js';
import type { BatchChoice } from './batches.js';
import { MAX_BATCH } from './codec.js';
import type { ConnectionError } from './errors.js';
import type { Id, Params } from './message.js';
export interface CallContext {
  readonly method: string;
  /** Absent for a notification, which is never answered. */
  readonly id: Id | undefined;
  /** Aborted when the caller does not want the answer any more, or the connection has broken. */
  readonly signal: AbortSignal;
  readonly connection: Connection;
}

/**
 * Answers a call: with a value or a promise; with nothing, which is `null`; or by throwing, an `RpcError` to choose the error of the response.
 * The params are unchecked.
 */
// A method's type, so that a handler may declare the type of its params.
export type Handler = { call(params: unknown, context: CallContext): unknown }['call'];

export interface ConnectionOptions {
  /** Handlers of the other side's calls, requests and notifications alike. */
  readonly handlers?: { readonly [method: string]: Handler } | undefined;
  /** Called for methods without a handler. @default requests for them are errors -32601 */
  readonly fallback?: Handler | undefined;
  /** Whether batches are accepted and sent. @default 'negotiated' */
  readonly batches?: BatchChoice | undefined;
  /** Limit of a batch; a longer one is refused as a whole. @default 4096 */
  readonly maxBatch?: number | undefined;
  /** Methods that are never sent in a batch, besides those that the protocol names. */
  readonly unbatchable?: readonly string[] | undefined;
  /** Requests that are handled at a time; more are answered with -32000. @default 65536 */
  readonly maxInFlight?: number | undefined;
  /** Bytes that wait to be written: beyond it, nothing is read, and calls of this side are refused. @default 64 MiB */
  readonly maxBacklog?: number | undefined;
  /** Limit of a message that the other side reads, in bytes: a longer result is an error, a longer call is refused. @default 32 MiB */
  readonly maxLineBytes?: number | undefined;
  /** Milliseconds in which running handlers may still answer after the other side has ended. `Infinity` sets no limit. @default 10_000 */
  readonly graceMs?: number | undefined;
  /**
   * Called with faults that the connection survives: invalid texts, answers to nothing, handlers of notifications that threw. What it throws is ignored.
   */
  readonly onError?: ((error: ConnectionError) => void) | undefined;
}

export interface BatchEntry {
  readonly method: string;
  readonly params?: Params | undefined;
  /** It is not answered. @default false */
  readonly notification?: boolean | undefined;
}

export interface RequestOptions {
  /** Aborting it rejects the call at once, and sends a cancellation. */
  readonly signal?: AbortSignal | undefined;
}

export interface Connection {
  /**
   * Calls the other side.
   *
   * @throws RpcError if the answer is an error
   * @throws ConnectionError when the connection fails first
   */
  readonly request: (method: string, params?: Params, options?: RequestOptions) => Promise<unknown>;
  /**
   * Sends a notification. Resolves when the transport has taken it.
   *
   * @throws ConnectionError if it cannot be sent, or the connection ends before the transport has taken it
   */
  readonly notify: (method: string, params?: Params) => Promise<void>;
  /**
   * Sends several calls as one array, and returns the outcome of each. That of a notification is `undefined`. It rejects if the transport did
   * not take the array, or if every call in the array rejected because the connection ended. If the other side refuses batches, all
   * calls and notifications reject with `batches-refused`.
   *
   * @throws ConnectionError before anything is sent: `not-batchable`, `batches-refused`, `unserializable`, `too-long`, `closed`
   */
  readonly batch: (
    entries: readonly BatchEntry[],
    options?: RequestOptions,
  ) => Promise<PromiseSettledResult<unknown>[]>;
  /** Resolves when all has ended: with the fault that ended it, or with nothing when it was closed from either side. */
  readonly closed: Promise<ConnectionError | undefined>;
  /** Ends it: pending calls are rejected, running handlers aborted, and sent messages still written. */
  readonly close: () => Promise<void>;
}

/** @throws TypeError if a limit is invalid */
export function resolveLimits(limits: ConnectionOptions) {
  const { maxBatch = MAX_BATCH, maxInFlight = 65_536, maxBacklog = 64 * 1024 * 1024 } = limits;
  const { maxLineBytes = MAX_LINE_BYTES, graceMs = 10_000 } = limits;
  for (const [name, value] of Object.entries({ maxBatch, maxInFlight, maxBacklog, maxLineBytes }))
    if (!(value >= 1)) throw new TypeError(`${name} must be a number >= 1; got ${value}`);
  if (!(graceMs >= 0)) throw new TypeError(`graceMs must be a non-negative number of milliseconds; got ${graceMs}`);
  return { maxBatch, maxInFlight, maxBacklog, maxLineBytes, graceMs };
}
