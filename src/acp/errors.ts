import { type ChannelErrorCode, ConnectionError as Fault } from '../channels/errors.js';
import { PegwireError } from '../text/errors.js';
import type { ErrorObject } from './message.js';

/** Codes of JSON-RPC 2.0, section 5.1, and of ACP. */
export const ERROR_CODES = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  /** Of ACP: the caller has cancelled the request. */
  requestCancelled: -32800,
  /** Of this implementation: too many requests are being handled. */
  busy: -32000,
} as const;

/** The error of a response: a handler throws it to choose what the other side gets; a call that is answered by an error rejects with it. */
export class RpcError extends PegwireError {
  override readonly name: string = 'RpcError';
  /** The number on the wire. */
  readonly rpcCode: number;
  readonly data: unknown;

  /** @throws TypeError if the code is not an integer, or the message not a string */
  constructor(rpcCode: number, message: string, data?: unknown) {
    if (!Number.isInteger(rpcCode)) throw new TypeError(`The code of an error is a whole number; got ${rpcCode}`);
    if (typeof message !== 'string') throw new TypeError('The message of an error is a string');
    super({ code: `rpc${rpcCode}`, message });
    this.rpcCode = rpcCode;
    this.data = data;
  }

  /** Returns the error of a response. */
  toErrorObject(): ErrorObject {
    const { rpcCode: code, message, data } = this;
    return data === undefined ? { code, message } : { code, message, data };
  }
}

/**
 * - `closed`: the connection ended before the answer came
 * - `spawn-failed`: the program could not be started
 * - `too-long`: a message is over the limit. A received one ends the connection, one to be sent is refused
 * - `unserializable`: the message to be sent has no JSON: it is cyclic, too deep, or holds a bigint
 * - `backlog-full`: more waits to be written than the connection keeps
 * - `batches-refused`: the other side does not accept batches
 * - `not-batchable`: the batch is empty, or holds a method that must not be batched
 * - `bad-response`: the answer is not a valid response
 * - `not-a-message`: something else than a message arrived; it was answered, and the connection goes on
 * - `unknown-response`: a response came that answers nothing
 * - `handler-failed`: the handler of a notification threw
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

/** A fault of the connection, not an answer of the other side. */
export type ConnectionError = Fault<ConnectionErrorCode>;
export const ConnectionError = Fault<ConnectionErrorCode>;
