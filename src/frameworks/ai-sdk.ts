/** Adapters for the AI SDK of Vercel: tools, context. Public as `pegwire/frameworks/ai-sdk`. */
import type { Tool } from 'ai';
import {
  type AccpToolSetOptions,
  type ArcpToolSetOptions,
  accpToolSet,
  arcpToolSet,
  framework,
  type RemoteTool,
  type ToolPeer,
  type ToolRuntime,
} from './tool-set.js';

export * from './entry.js';

/** Tools by name, as `generateText` and `streamText` take them. */
export type RemoteToolSet = Record<string, Tool<unknown, unknown>>;

/**
 * Returns the tools of a runtime. The abort signal of a call cancels its job. A failed call is a part `tool-error` with a ToolError.
 *
 * @throws FrameworkError `no-package` without `ai`; `unknown-tool`
 * @example
 * const { text } = await generateText({ model, tools: await arcpTools(client), stopWhen: stepCountIs(5), prompt });
 */
export async function arcpTools(client: ToolRuntime, options: ArcpToolSetOptions = {}): Promise<RemoteToolSet> {
  return toolsOf(arcpToolSet(client, options));
}

/**
 * Returns the operations of an ACCP peer as tools, as {@link arcpTools} does.
 *
 * @throws FrameworkError `no-package` without `ai`; `unknown-tool`
 * @example
 * const tools = await accpTools(link, { registry: codec.registry });
 */
export async function accpTools(peer: ToolPeer, options: AccpToolSetOptions): Promise<RemoteToolSet> {
  return toolsOf(accpToolSet(peer, options));
}

async function toolsOf(remote: readonly RemoteTool[]): Promise<RemoteToolSet> {
  const { dynamicTool, jsonSchema } = await framework('ai', () => import('ai'));
  return Object.fromEntries(
    remote.map(({ name, description, schema, call }) => [
      name,
      dynamicTool({
        description,
        inputSchema: jsonSchema(schema),
        execute: (args, { abortSignal, toolCallId }) => call(args, { signal: abortSignal, callId: toolCallId }),
      }),
    ]),
  );
}
