/** MCP tools and prompts as tools of a runtime (spec 003, "MCP Compatibility": tool schema, tool call and prompt). */
import { isRecord } from '../../text/guards.js';
import type { Handler, JsonSchema, ToolOptions } from '../runtime/types.js';
import type { McpConnection, Members } from './connection.js';
import { withoutLargeData } from './content.js';
import { toolError } from './errors.js';
import { callOnce } from './once.js';
import { callAsTask, isTask } from './tasks.js';

/** A tool of the runtime that stands for a part of the server. */
export interface WrappedTool {
  readonly name: string;
  readonly options: ToolOptions;
  readonly handler: Handler;
}

export function wrapTool(connection: McpConnection, tool: Members, durable: boolean): WrappedTool {
  const { name, title, description = title, inputSchema: input, outputSchema, annotations } = tool;
  const hints = isRecord(annotations) ? annotations : undefined;
  const isRepeatable = hints?.['readOnlyHint'] === true || hints?.['idempotentHint'] === true;
  return {
    name: String(name),
    options: {
      durable,
      description: textOf(description),
      schemas: { input: isRecord(input) ? input : undefined, output: resultSchema(outputSchema) },
      annotations: hints,
    },
    handler: async (args, context) => {
      const { signal, traceparent } = context;
      const onprogress = (progress: Members): void => void context.progress(progressOf(progress));
      // The server can continue the trace (W3C Trace Context).
      const _meta = traceparent === undefined ? {} : { traceparent };
      const options = { signal, onprogress, isRepeatable };
      const params = { name, arguments: args, _meta };
      const call = () => connection.callTool(tool, params, options);
      const result = isTask(connection, tool, context)
        ? await callAsTask(connection, params, context, options)
        : await (isRepeatable ? call() : callOnce(connection, context, call));
      if (result['isError'] === true) throw toolError(result);
      return withoutLargeData(result, context);
    },
  };
}

/** Returns the JSON Schema of the result of `tools/call`. */
function resultSchema(outputSchema: unknown): JsonSchema | undefined {
  if (!isRecord(outputSchema)) return undefined;
  // With an identifier, references inside the schema (`#/$defs/...`) keep their meaning.
  const own = '$id' in outputSchema ? outputSchema : { $id: 'mcp:output', ...outputSchema };
  const content = { type: 'array', items: { type: 'object' } };
  return { type: 'object', properties: { content, structuredContent: own }, required: ['structuredContent'] };
}

function progressOf({ progress, total, message }: Members) {
  return { current: numberOf(progress), total: numberOf(total), message: textOf(message) };
}

const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Wraps a prompt as `prompts/NAME`. Its result is the description and messages for a model. */
export function wrapPrompt(connection: McpConnection, prompt: Members): WrappedTool {
  const { name, title, description = title, arguments: declared } = prompt;
  const parameters = Array.isArray(declared) ? declared.filter(isRecord) : [];
  const properties = parameters.map(({ name: key, description: about }) => [
    String(key),
    { type: 'string', ...(typeof about === 'string' ? { description: about } : {}) },
  ]);
  const required = parameters.filter(({ required: isRequired }) => isRequired === true).map(({ name: key }) => key);
  return {
    name: `prompts/${String(name)}`,
    options: {
      description: textOf(description),
      schemas: { input: { type: 'object', properties: Object.fromEntries(properties), required } },
      annotations: { readOnlyHint: true },
    },
    handler: (args, { signal }) =>
      connection.request('prompts/get', { name, arguments: args as Members }, { signal, isRepeatable: true }),
  };
}
