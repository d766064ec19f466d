/** Tools and their calls in the shapes of OpenAI's APIs (spec 003, "Compatibility": "OpenAI tools"). */
import { ArcpError } from '../protocol/errors.js';
import { ANY_INPUT, allowedNames, carryOut, type ToolCallOptions, type ToolClient, type ToolInfo } from './calls.js';

/** A tool of the Chat Completions API. */
export interface OpenAiTool {
  readonly type: 'function';
  readonly function: {
    readonly name: string;
    readonly description?: string;
    readonly parameters: Readonly<Record<string, unknown>>;
  };
}

/** A tool of the Responses API. */
export interface OpenAiResponseTool {
  readonly type: 'function';
  readonly name: string;
  readonly description?: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly strict: false;
}

/** An item of `message.tool_calls` of the Chat Completions API. */
export interface OpenAiToolCall {
  readonly id: string;
  readonly type?: string;
  /** The arguments are JSON text of the model. */
  readonly function: { readonly name: string; readonly arguments: string };
}

/** An output item of the Responses API. */
export interface OpenAiFunctionCall {
  readonly type: 'function_call';
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface OpenAiToolMessage {
  readonly role: 'tool';
  readonly tool_call_id: string;
  readonly content: string;
}

export interface OpenAiFunctionCallOutput {
  readonly type: 'function_call_output';
  readonly call_id: string;
  readonly output: string;
}

/** Describes tools for the Chat Completions API. Names that it does not accept are changed, and mapped back in calls. */
export function toOpenAiTools(tools: readonly ToolInfo[]): OpenAiTool[] {
  return described(tools).map((tool) => ({ type: 'function', function: tool }));
}

/** Describes tools for the Responses API. */
export function toOpenAiResponseTools(tools: readonly ToolInfo[]): OpenAiResponseTool[] {
  return described(tools).map((tool) => ({ type: 'function', ...tool, strict: false }));
}

/**
 * Carries out what a model has asked for in a message of the Chat Completions API, all at once.
 *
 * @returns the messages to send next, in the order of the calls; those that have failed say so
 * @throws what the signal is aborted with
 * @example
 * messages.push(message, ...(await runOpenAiToolCalls(client, message.tool_calls ?? [])));
 */
export function runOpenAiToolCalls(
  client: ToolClient,
  calls: readonly OpenAiToolCall[],
  options: ToolCallOptions = {},
): Promise<OpenAiToolMessage[]> {
  return Promise.all(
    calls.map(async ({ id, function: { name, arguments: text } }) => {
      const { text: content } = await carryOut(client, { id, name, input: () => parsed(text) }, options);
      return { role: 'tool' as const, tool_call_id: id, content };
    }),
  );
}

/** Carries out calls of the Responses API; other output items are ignored. */
export function runOpenAiFunctionCalls(
  client: ToolClient,
  output: readonly (OpenAiFunctionCall | { readonly type: string })[],
  options: ToolCallOptions = {},
): Promise<OpenAiFunctionCallOutput[]> {
  const calls = output.filter((item): item is OpenAiFunctionCall => item.type === 'function_call');
  return Promise.all(
    calls.map(async ({ call_id: id, name, arguments: text }) => {
      const { text: output } = await carryOut(client, { id, name, input: () => parsed(text) }, options);
      return { type: 'function_call_output' as const, call_id: id, output };
    }),
  );
}

function described(tools: readonly ToolInfo[]): OpenAiTool['function'][] {
  const names = allowedNames(tools.map(({ name }) => name));
  return tools.map(({ name, description, input_schema: parameters = ANY_INPUT }) => ({
    name: names.get(name)!,
    ...(description === undefined ? {} : { description }),
    parameters,
  }));
}

/** A model may omit the arguments. */
function parsed(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new ArcpError('INVALID_ARGUMENT', `The arguments are no JSON: ${(cause as Error).message}`, { cause });
  }
}
