/** From messages to JSON. What has none is told, and never sent in part. */
import { ERROR_CODES } from './errors.js';
import type { ErrorObject, Id, Params } from './message.js';

/**
 * A call as JSON: a notification where there is no `id`.
 *
 * @throws on params that have no JSON: cyclic, too deep, or with a bigint
 */
export function callText(id: number | undefined, method: string, params: Params | undefined): string {
  const head = id === undefined ? '{"jsonrpc":"2.0"' : `{"jsonrpc":"2.0","id":${id}`;
  const name = JSON.stringify(method);
  return params === undefined
    ? `${head},"method":${name}}`
    : `${head},"method":${name},"params":${JSON.stringify(params)}}`;
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

/** One error that answers what has no usable identifier. */
export function faultText(rpcCode: number, reason: string): string {
  return errorText(null, { code: rpcCode, message: reason });
}

function idText(id: Id): string {
  return typeof id === 'number' ? String(id) : JSON.stringify(id);
}
