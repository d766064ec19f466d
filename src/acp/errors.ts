/** What can go wrong on a connection, for both sides: codes of JSON-RPC for the wire, names for programs. */
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
  /** Of ACP: the request was cancelled by who made it. */
  requestCancelled: -32800,
  /** Of this implementation: too many requests are being worked on. */
  busy: -32000,
} as const;

/**
 * The error of a response: thrown by a handler, it says what the other side is told; a call whose response is an error rejects with
 * it.
 */
export class RpcError extends PegwireError {
  override readonly name: string = 'RpcError';
  /** The number on the wire. */
  readonly rpcCode: number;
  readonly data: unknown;

  /** @throws TypeError on a code that is no whole number, and a message that is no string */
  constructor(rpcCode: number, message: string, data?: unknown) {
    if (!Number.isInteger(rpcCode)) throw new TypeError(`The code of an error is a whole number; got ${rpcCode}`);
    if (typeof message !== 'string') throw new TypeError('The message of an error is a string');
    super({ code: `rpc${rpcCode}`, message });
    this.rpcCode = rpcCode;
    this.data = data;
  }

  /** As it stands in a response. */
  toErrorObject(): ErrorObject {
    const { rpcCode: code, message, data } = this;
    return data === undefined ? { code, message } : { code, message, data };
  }
}

/**
 * - `closed`: the connection ended before the answer came
 * - `spawn-failed`: the program could not be started
 * - `too-long`: a message is over the limit. One that arrives ends the connection, one that is to be sent is refused
 * - `unserializable`: what is to be sent has no JSON: it is cyclic, too deep, or holds a bigint
 * - `backlog-full`: more waits to be written than the connection keeps
 * - `batches-refused`: the other side does not take batches
 * - `not-batchable`: the batch is empty, or holds a method that is not to be batched
 * - `bad-response`: the answer is no response as the specification has them
 * - `not-a-message`: something arrived that is no message; it was answered and survived
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
