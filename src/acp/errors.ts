import { ConnectionError as ChannelConnectionError, type ChannelErrorCode } from '../channels/errors.js';
import { PegwireError } from '../text/errors.js';
import type { ErrorObject } from './message.js';

/** The error codes of JSON-RPC 2.0 (section 5.1), of ACP, and of this implementation. */
export const ERROR_CODES = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  /** ACP: the caller cancelled the request. */
  requestCancelled: -32800,
  /** This implementation: too many requests are being handled. */
  busy: -32000,
} as const;

/** An error response. A request that is answered with an error rejects with it; a handler throws it to choose the error of its response. */
export class RpcError extends PegwireError {
  /** The name of the class. */
  override readonly name: string = 'RpcError';
  /** The numeric code of the response; `code` is `rpc` followed by this number. */
  readonly rpcCode: number;
  /** The `data` of the response; `undefined` if it has none. */
  readonly data: unknown;

  /** @throws TypeError if the code is not an integer, or the message is not a string */
  constructor(rpcCode: number, message: string, data?: unknown) {
    if (!Number.isInteger(rpcCode)) throw new TypeError(`rpcCode must be an integer; got ${rpcCode}`);
    if (typeof message !== 'string') throw new TypeError('message must be a string');
    super({ code: `rpc${rpcCode}`, message });
    this.rpcCode = rpcCode;
    this.data = data;
  }

  /** Returns the `error` member of a response. */
  toErrorObject(): ErrorObject {
    const { rpcCode: code, message, data } = this;
    return data === undefined ? { code, message } : { code, message, data };
  }
}

/**
 * The code of a {@link ConnectionError}.
 *
 * - `closed`: the connection could not be established, or ended before the response arrived
 * - `spawn-failed`: the program could not be started
 * - `too-long`: a message exceeds the limit; a received one ends the connection, one of this side is not sent
 * - `unserializable`: a message cannot be serialized as JSON: it is cyclic, nests too deeply, or contains a bigint
 * - `backlog-full`: the other side does not read, and too much data waits to be written
 * - `batches-refused`: the other side does not accept batches
 * - `not-batchable`: the batch is empty or too long, or contains a method that must not be batched
 * - `bad-response`: the response is not valid
 * - `not-a-message`: the input is not a message; it was answered with an error, and the connection stays open
 * - `unknown-response`: a response does not match a request
 * - `handler-failed`: the handler of a notification threw an error
 */
export type ConnectionErrorCode =
  | ChannelErrorCode
  | 'too-long'
  | 'unserializable'
  | 'backlog-full'
  | 'batches-refused'
  | 'not-batchable'
  | 'bad-response'
  | 'not-a-message'
  | 'unknown-response'
  | 'handler-failed';

/** The error of a connection itself, as opposed to an error response, which is an {@link RpcError}. */
export type ConnectionError = ChannelConnectionError<ConnectionErrorCode>;
/** The class of {@link ConnectionError}. */
export const ConnectionError = ChannelConnectionError<ConnectionErrorCode>;
