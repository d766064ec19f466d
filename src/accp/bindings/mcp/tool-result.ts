/** What an MCP client was answered where the answer is not a frame. */
import type { AccpErrorCode } from '../../errors.js';
import { type Json, MOST_NESTING } from '../../message/json.js';
import type { Loss } from '../../message/message.js';
import { type Members, members } from './sdk-shapes.js';

/** A tool's result, or why there is none. */
export type PlainAnswer =
  | { readonly result: Json; readonly losses: readonly Loss[] }
  | { readonly code: AccpErrorCode; readonly message: string };

/** JSON-RPC: the parameters of a call are not what the method takes; it does not exist. */
const INVALID_PARAMS = -32602;
const METHOD_NOT_FOUND = -32601;
/** What the SDK's own client says when the connection is closed or the answer overdue: the server has told nothing. */
const CLIENT_SIDE: ReadonlySet<number> = new Set([-32000, -32001]);

/**
 * What a server's plain result says: `structuredContent`, else its text, else all of its content.
 *
 * @param tool the name that was called
 */
export function readPlainResult(result: Members | undefined, tool: string): PlainAnswer {
  const content: readonly unknown[] = Array.isArray(result?.['content']) ? result['content'] : [];
  const text = textOf(content);
  if (result?.['isError'] === true) return { code: codeOf(text ?? '', tool), message: text ?? 'The tool failed.' };
  const structured = result?.['structuredContent'];
  if (structured !== undefined) return exactly(structured);
  if (!Array.isArray(result?.['content'])) {
    // It may have run: the code is not one of those that ask for another attempt.
    return { code: 'E4003', message: 'The server has answered with something else than the result of a tool.' };
  }
  return text === undefined ? exactly(content) : { result: text, losses: [] };
}

/**
 * A result with the integers that JSON.parse has taken for doubles: those beyond 2^53 - 1 may have lost digits, which nobody can
 * tell any more. They are big integers here, and losses.
 */
function exactly(value: unknown): PlainAnswer {
  const losses: Loss[] = [];
  const read = (part: unknown, path: string, depth: number): Json => {
    if (typeof part === 'number' && Number.isInteger(part) && !Number.isSafeInteger(part)) {
      losses.push({ path, kind: 'precision', from: String(part), to: String(BigInt(part)) });
      return BigInt(part);
    }
    // What is too deep is the codec's to refuse.
    if (typeof part !== 'object' || part === null || depth > MOST_NESTING) return part as Json;
    if (Array.isArray(part)) return part.map((item, index) => read(item, `${path}[${index}]`, depth + 1));
    const made: Record<string, Json> = Object.create(null);
    for (const [key, member] of Object.entries(part))
      made[key] = read(member, `${path}.${key.slice(0, 40)}`, depth + 1);
    return made;
  };
  return { result: read(value, 'payload.result', 0), losses };
}

/** The text of content that is nothing but text. */
function textOf(content: readonly unknown[]): string | undefined {
  const texts = content.map((block) => {
    const { type, text } = members(block) ?? {};
    return type === 'text' && typeof text === 'string' ? text : undefined;
  });
  return texts.length === 0 || texts.includes(undefined) ? undefined : texts.join('\n');
}

/** SDKs answer calls that never came to the tool by a text, too. */
function codeOf(text: string, tool: string): AccpErrorCode {
  const said = text.replace(/^MCP error -?[0-9]+: /, '');
  if (said === `Tool ${tool} not found` || said === `Tool ${tool} disabled` || said === `Unknown tool: ${tool}`)
    return 'E4001';
  // After a result that does not match its schema, the tool has run: E4002 would ask for another run.
  return /^(?:(?:Input|Output) validation error|Invalid arguments for tool)|output schema/.test(said)
    ? 'E4003'
    : 'E4002';
}

/**
 * What a server's JSON-RPC error says of a tool call.
 *
 * @returns `null` where the server has not answered at all
 */
export function readCallError(thrown: unknown, tool: string): PlainAnswer | null {
  if (!(thrown instanceof Error)) return null;
  const { code } = thrown as { readonly code?: unknown };
  if (typeof code !== 'number' || CLIENT_SIDE.has(code)) return null;
  const { message } = thrown;
  if (code === METHOD_NOT_FOUND) return { code: 'E4001', message };
  const told = codeOf(message, tool);
  return { code: code === INVALID_PARAMS && told === 'E4002' ? 'E4003' : told, message };
}
