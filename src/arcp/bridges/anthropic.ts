/** Tools and calls for the Messages API of Anthropic (spec 003, "Compatibility": "Anthropic tools"). */
import { ANY_INPUT, allowedNames, runCall, type ToolCallOptions, type ToolClient, type ToolInfo } from './calls.js';

/** A tool of the Messages API. */
export interface AnthropicTool {
  /** The name, of at most 64 letters, digits, `_` and `-`. */
  readonly name: string;
  /** A description for the model. */
  readonly description?: string;
  /** The JSON Schema of the arguments. */
  readonly input_schema: { readonly type: 'object'; readonly [member: string]: unknown };
}

/** A tool call in a message of the model. */
export interface AnthropicToolUse {
  readonly type: 'tool_use';
  /** The id of the call. */
  readonly id: string;
  /** The name of the tool. */
  readonly name: string;
  /** The arguments that the model wrote. */
  readonly input: unknown;
}

/** A tool result, for the next message. */
export interface AnthropicToolResult {
  readonly type: 'tool_result';
  /** The id of the call. */
  readonly tool_use_id: string;
  /** The result as text or JSON, or the error as JSON. */
  readonly content: string;
  /** `true` if the call failed. */
  readonly is_error?: true;
}

/** Describes tools for the Messages API. Names that it does not accept are changed, and restored in calls. */
export function toAnthropicTools(tools: readonly ToolInfo[]): AnthropicTool[] {
  const names = allowedNames(tools.map(({ name }) => name));
  return tools.map(({ name, description, input_schema: schema = ANY_INPUT }) => ({
    name: names.get(name)!,
    ...(description === undefined ? {} : { description }),
    input_schema: { ...schema, type: 'object' },
  }));
}

/**
 * Executes the tool calls in a message of the model, concurrently. Other blocks are ignored.
 *
 * @returns the content of the next message, in the order of the calls; failed calls have `is_error`
 * @throws the reason of the signal if it aborts
 * @example
 * const results = await runAnthropicToolUses(client, message.content);
 * if (results.length > 0) messages.push({ role: 'user', content: results });
 */
export function runAnthropicToolUses(
  client: ToolClient,
  content: readonly (AnthropicToolUse | { readonly type: string })[],
  options: ToolCallOptions = {},
): Promise<AnthropicToolResult[]> {
  const uses = content.filter((block): block is AnthropicToolUse => block.type === 'tool_use');
  return Promise.all(
    uses.map(async ({ id, name, input }) => {
      const { text, isError } = await runCall(client, { id, name, input: () => input }, options);
      return {
        type: 'tool_result' as const,
        tool_use_id: id,
        content: text,
        ...(isError ? { is_error: true as const } : {}),
      };
    }),
  );
}
