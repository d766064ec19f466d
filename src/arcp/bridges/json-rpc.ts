/** Tools as JSON-RPC 2.0 methods, and methods as tools (spec 003, "Compatibility": "JSON-RPC"). */
import { ArcpError, asArcpError } from '../protocol/errors.js';
import { jsonOf, type ToolClient } from './calls.js';

/** The error codes of JSON-RPC (section 5.1). */
const NUMBERS: Readonly<Record<string, number>> = {
  NOT_FOUND: -32601,
  UNIMPLEMENTED: -32601,
  INVALID_ARGUMENT: -32602,
  INTERNAL: -32603,
};
const SERVER_ERROR = -32000;
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

interface Request {
  readonly id?: string | number | null;
  readonly method: string;
  readonly params?: unknown;
}

/**
 * Answers a JSON-RPC request or batch. The method is the name of a tool, and the params are its arguments.
 *
 * @returns the text of the answer; `undefined` if all requests are notifications
 */
export async function answerJsonRpc(client: ToolClient, text: string): Promise<string | undefined> {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return JSON.stringify(failure(null, PARSE_ERROR, 'Parse error'));
  }
  if (!Array.isArray(read)) {
    return answerOne(client, read);
  }
  if (read.length === 0) return JSON.stringify(failure(null, INVALID_REQUEST, 'Invalid Request'));
  const answers = await Promise.all(read.map((one) => answerOne(client, one)));
  const texts = answers.filter((answer) => answer !== undefined);
  return texts.length === 0 ? undefined : `[${texts.join(',')}]`;
}

/**
 * Creates a tool handler that calls a JSON-RPC method.
 *
 * @param method the name of the method
 * @param request calls the method; a thrown error with an `rpcCode` or a numeric `code` is a JSON-RPC error
 * @example runtime.tool('weather', {}, jsonRpcMethod('weather', (method, params) => connection.request(method, params)))
 */
export function jsonRpcMethod(
  method: string,
  request: (method: string, params: unknown) => Promise<unknown>,
): (input: unknown) => Promise<unknown> {
  return async (input) => {
    try {
      return await request(method, input);
    } catch (thrown) {
      const { rpcCode, code: own, message, data } = (thrown ?? {}) as Readonly<Record<string, unknown>>;
      const code = rpcCode ?? own;
      if (typeof code !== 'number') throw thrown;
      const named = Object.entries(NUMBERS).find(([, number]) => number === code)?.[0] ?? 'UNKNOWN';
      throw new ArcpError(named, String(message ?? 'The JSON-RPC method failed'), {
        details: { json_rpc_code: code, ...(data === undefined ? {} : { data }) },
        cause: thrown,
      });
    }
  };
}

/** Prints each answer separately, so that one that is not JSON does not fail the batch. */
async function answerOne(client: ToolClient, read: unknown): Promise<string | undefined> {
  const answer = await answerRequest(client, read);
  if (answer === undefined) return undefined;
  return jsonOf(answer) ?? JSON.stringify(failure(idOf(read), NUMBERS['INTERNAL']!, 'The result is not JSON'));
}

async function answerRequest(client: ToolClient, read: unknown): Promise<object | undefined> {
  if (!isRequest(read)) return failure(idOf(read), INVALID_REQUEST, 'Invalid Request');
  const { id, method, params = {} } = read;
  try {
    if (typeof params !== 'object' || params === null || Array.isArray(params))
      throw new ArcpError('INVALID_ARGUMENT', 'params must be an object');
    const result = await client.invoke(method, params as Readonly<Record<string, unknown>>).result();
    return id === undefined ? undefined : { jsonrpc: '2.0', id, result: result ?? null };
  } catch (thrown) {
    if (id === undefined) return undefined;
    const { code, message, retryable, details } = asArcpError(thrown);
    return failure(id, NUMBERS[code] ?? SERVER_ERROR, message, {
      code,
      retryable,
      ...(details === undefined ? {} : { details }),
    });
  }
}

function isRequest(read: unknown): read is Request {
  if (typeof read !== 'object' || read === null || Array.isArray(read)) return false;
  const { jsonrpc, id, method } = read as Readonly<Record<string, unknown>>;
  return jsonrpc === '2.0' && typeof method === 'string' && (id === undefined || id === null || isId(id));
}

function idOf(read: unknown): string | number | null {
  const id = typeof read === 'object' && read !== null ? (read as { readonly id?: unknown }).id : null;
  return isId(id) ? id : null;
}

/** Returns whether a value is a request id. An integer that a double cannot represent would be changed in the answer. */
function isId(id: unknown): id is string | number {
  return typeof id === 'string' || (Number.isFinite(id) && (!Number.isInteger(id) || Number.isSafeInteger(id)));
}

function failure(id: string | number | null, code: number, message: string, data?: object): object {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}
