/** From messages to JSON. What has none is told, and never sent in part. */
import { ERROR_CODES } from './errors.js';
import type { ErrorObject, Id, Params } from './message.js';

/**
 * A call as JSON: a notification where there is no `id`.
 *
 * @throws TypeError on a method that is no name, and on params that are neither an array nor an object, or have no JSON: cyclic,
 * with a bigint
 * @throws RangeError on params that are too deep
 */
export function callText(id: number | undefined, method: string, params: Params | undefined): string {
  if (typeof method !== 'string') throw new TypeError('a method is a string');
  const head = id === undefined ? '{"jsonrpc":"2.0"' : `{"jsonrpc":"2.0","id":${id}`;
  const name = JSON.stringify(method);
  if (params === undefined) return `${head},"method":${name}}`;
  const text: string | undefined = JSON.stringify(params);
  // A Date, a function, or what a `toJSON` gives may be neither.
  if (text === undefined || !/^[[{]/.test(text)) throw new TypeError('params are an array or an object');
  return `${head},"method":${name},"params":${text}}`;
}

/** A response as JSON. A result that has no JSON becomes an error; one that is not there is `null`. */
export function resultText(id: Id, result: unknown): string {
  let value: string | undefined;
  try {
    value = JSON.stringify(result);
  } catch {
    return errorText(id, { code: ERROR_CODES.internalError, message: 'Internal error: the result has no JSON' });
  }
  return `{"jsonrpc":"2.0","id":${idText(id)},"result":${value ?? 'null'}}`;
}

/** An error as JSON; its `data` is left out where it has none. */
export function errorText(id: Id, error: ErrorObject): string {
  let value: string;
  try {
    value = JSON.stringify(error);
  } catch {
    value = JSON.stringify({ code: error.code, message: error.message });
  }
  return `{"jsonrpc":"2.0","id":${idText(id)},"error":${value}}`;
}

/**
 * One error with the id `null`.
 *
 * Source: JSON-RPC 2.0, section 5: the id of a Parse error and of an Invalid Request is null; ACP, transports, "JSON-RPC Batch Messages", says so of
 * the entries of a batch, too. An id that can be read stands in `data`, where the official SDK has the refused message.
 */
export function faultText(rpcCode: number, reason: string, id?: Id): string {
  const error = { code: rpcCode, message: reason };
  return errorText(null, id === undefined || id === null ? error : { ...error, data: { id } });
}

/** Stands for a response that is too long to be sent. */
export function tooLongText(id: Id | undefined): string {
  return errorText(id ?? null, { code: ERROR_CODES.internalError, message: 'Internal error: the answer is too long' });
}

function idText(id: Id): string {
  return typeof id === 'number' ? String(id) : JSON.stringify(id);
}

/** Refuses a message that is longer than is read here. */
export function overLimitText(id: Id | undefined, limit: number): string {
  const message = `Invalid request: a message has at most ${limit} bytes`;
  return errorText(id ?? null, { code: ERROR_CODES.invalidRequest, message });
}
