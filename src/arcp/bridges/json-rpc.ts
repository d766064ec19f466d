/** Tools as methods of JSON-RPC 2.0, and methods as tools (spec 003, "Compatibility": "JSON-RPC"). */
import { ArcpError, asArcpError } from '../protocol/errors.js';
import { jsonOf, type ToolClient } from './calls.js';

/** Error codes of JSON-RPC (section 5.1). */
const NUMBERS: Readonly<Record<string, number>> = {
  NOT_FOUND: -32601,
  UNIMPLEMENTED: -32601,
  INVALID_ARGUMENT: -32602,
  INTERNAL: -32603,
};
const OWN = -32000;
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

interface Request {
  readonly id?: string | number | null;
  readonly method: string;
  readonly params?: unknown;
}

/** Answers a JSON-RPC text or batch: a method is a tool, its params are the arguments. @returns `undefined` if all were notifications */
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
  const said = answers.filter((answer) => answer !== undefined);
  return said.length === 0 ? undefined : `[${said.join(',')}]`;
}

/**
 * Makes a tool handler of a JSON-RPC method.
 *
 * @param request calls it; a thrown `rpcCode` or numeric `code` with a `message` is a JSON-RPC error
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
      throw new ArcpError(named, String(message ?? 'The method failed'), {
        details: { json_rpc_code: code, ...(data === undefined ? {} : { data }) },
        cause: thrown,
      });
    }
  };
}

/** Prints each answer alone, so that one without JSON does not spoil the batch. */
async function answerOne(client: ToolClient, read: unknown): Promise<string | undefined> {
  const answer = await carriedOut(client, read);
  if (answer === undefined) return undefined;
  return jsonOf(answer) ?? JSON.stringify(failure(idOf(read), NUMBERS['INTERNAL']!, 'The answer has no JSON'));
}

async function carriedOut(client: ToolClient, read: unknown): Promise<object | undefined> {
  if (!isRequest(read)) return failure(idOf(read), INVALID_REQUEST, 'Invalid Request');
  const { id, method, params = {} } = read;
  try {
    if (typeof params !== 'object' || params === null || Array.isArray(params))
      throw new ArcpError('INVALID_ARGUMENT', 'A tool has named arguments');
    const result = await client.invoke(method, params as Readonly<Record<string, unknown>>).result();
    return id === undefined ? undefined : { jsonrpc: '2.0', id, result: result ?? null };
  } catch (thrown) {
    if (id === undefined) return undefined;
    const { code, message, retryable, details } = asArcpError(thrown);
    return failure(id, NUMBERS[code] ?? OWN, message, {
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

/** An integer that a double cannot hold would come back changed. */
function isId(id: unknown): id is string | number {
  return typeof id === 'string' || (Number.isFinite(id) && (!Number.isInteger(id) || Number.isSafeInteger(id)));
}

function failure(id: string | number | null, code: number, message: string, data?: object): object {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}
