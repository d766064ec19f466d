/** What an MCP client was answered where the answer is not a frame. */
import type { AccpErrorCode } from '../../codec/codes.js';
import type { Json } from '../../message/json.js';
import { type Members, members } from './sdk-shapes.js';

/** A tool's result, or why there is none. */
export type PlainAnswer = { readonly result: Json } | { readonly code: AccpErrorCode; readonly message: string };

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
  if (structured !== undefined) return { result: structured as Json };
  if (!Array.isArray(result?.['content'])) return { code: 'E4002', message: 'The answer is no result of a tool.' };
  return { result: text ?? (content as Json) };
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
  return /^(?:Input validation error|Invalid arguments for tool)/.test(said) ? 'E4003' : 'E4002';
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
