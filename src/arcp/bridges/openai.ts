/** Tools and calls for the APIs of OpenAI (spec 003, "Compatibility": "OpenAI tools"). */
import { ArcpError } from '../protocol/errors.js';
import { ANY_INPUT, allowedNames, runCall, type ToolCallOptions, type ToolClient, type ToolInfo } from './calls.js';

/** A tool of the Chat Completions API. */
export interface OpenAiTool {
  readonly type: 'function';
  /** The name, description and JSON Schema of the tool. */
  readonly function: {
    readonly name: string;
    readonly description?: string;
    readonly parameters: Readonly<Record<string, unknown>>;
  };
}

/** A tool of the Responses API. */
export interface OpenAiResponseTool {
  readonly type: 'function';
  /** The name, of at most 64 letters, digits, `_` and `-`. */
  readonly name: string;
  /** A description for the model. */
  readonly description?: string;
  /** The JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** `false`, since schemas of tools may use features that strict mode does not support. */
  readonly strict: false;
}

/** An item of `message.tool_calls` of the Chat Completions API. */
export interface OpenAiToolCall {
  /** The id of the call. */
  readonly id: string;
  /** The type of the call: `function`. */
  readonly type?: string;
  /** The called function; the arguments are a JSON text of the model. */
  readonly function: { readonly name: string; readonly arguments: string };
}

/** An output item of the Responses API. */
export interface OpenAiFunctionCall {
  readonly type: 'function_call';
  /** The id of the call. */
  readonly call_id: string;
  /** The name of the tool. */
  readonly name: string;
  /** The arguments, a JSON text of the model. */
  readonly arguments: string;
}

/** A tool result of the Chat Completions API, for the next request. */
export interface OpenAiToolMessage {
  readonly role: 'tool';
  /** The id of the call. */
  readonly tool_call_id: string;
  /** The result as text or JSON, or the error as JSON. */
  readonly content: string;
}

/** A tool result of the Responses API, for the next request. */
export interface OpenAiFunctionCallOutput {
  readonly type: 'function_call_output';
  /** The id of the call. */
  readonly call_id: string;
  /** The result as text or JSON, or the error as JSON. */
  readonly output: string;
}

/** Describes tools for the Chat Completions API. Names that it does not accept are changed, and restored in calls. */
export function toOpenAiTools(tools: readonly ToolInfo[]): OpenAiTool[] {
  return described(tools).map((tool) => ({ type: 'function', function: tool }));
}

/** Describes tools for the Responses API, with names changed as by {@link toOpenAiTools}. */
export function toOpenAiResponseTools(tools: readonly ToolInfo[]): OpenAiResponseTool[] {
  return described(tools).map((tool) => ({ type: 'function', ...tool, strict: false }));
}

/**
 * Executes the tool calls in a message of the Chat Completions API, concurrently.
 *
 * @returns the next messages, in the order of the calls; the content of a failed call is its error
 * @throws the reason of the signal if it aborts
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
      const { text: content } = await runCall(client, { id, name, input: () => parsed(text) }, options);
      return { role: 'tool' as const, tool_call_id: id, content };
    }),
  );
}

/** Executes the function calls in an output of the Responses API, as {@link runOpenAiToolCalls}. Other items are ignored. */
export function runOpenAiFunctionCalls(
  client: ToolClient,
  output: readonly (OpenAiFunctionCall | { readonly type: string })[],
  options: ToolCallOptions = {},
): Promise<OpenAiFunctionCallOutput[]> {
  const calls = output.filter((item): item is OpenAiFunctionCall => item.type === 'function_call');
  return Promise.all(
    calls.map(async ({ call_id: id, name, arguments: text }) => {
      const { text: output } = await runCall(client, { id, name, input: () => parsed(text) }, options);
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

/** Parses arguments. A model may omit them. */
function parsed(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new ArcpError('INVALID_ARGUMENT', `The arguments are not JSON: ${(cause as Error).message}`, { cause });
  }
}
