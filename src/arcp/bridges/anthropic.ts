/** Tools and their calls in the shapes of Anthropic's Messages API (spec 003, "Compatibility": "Anthropic tools"). */
import { ANY_INPUT, allowedNames, carryOut, type ToolCallOptions, type ToolClient, type ToolInfo } from './calls.js';

export interface AnthropicTool {
  readonly name: string;
  readonly description?: string;
  readonly input_schema: { readonly type: 'object'; readonly [member: string]: unknown };
}

/** A block of a model's message. */
export interface AnthropicToolUse {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** A block of the answer. */
export interface AnthropicToolResult {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content: string;
  readonly is_error?: true;
}

/** Describes tools for the API. Names that it does not accept are changed, and mapped back in calls. */
export function toAnthropicTools(tools: readonly ToolInfo[]): AnthropicTool[] {
  const names = allowedNames(tools.map(({ name }) => name));
  return tools.map(({ name, description, input_schema: schema = ANY_INPUT }) => ({
    name: names.get(name)!,
    ...(description === undefined ? {} : { description }),
    input_schema: { ...schema, type: 'object' },
  }));
}

/**
 * Carries out what a model has asked for, all at once. Other blocks of its message are left out.
 *
 * @returns the content of the message to send next, in the order of the calls; those that have failed say so
 * @throws what the signal is aborted with
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
      const { text, isError } = await carryOut(client, { id, name, input: () => input }, options);
      return {
        type: 'tool_result' as const,
        tool_use_id: id,
        content: text,
        ...(isError ? { is_error: true as const } : {}),
      };
    }),
  );
}
