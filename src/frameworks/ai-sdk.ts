/** Adapters for the AI SDK of Vercel: tools, context. Public as `pegwire/frameworks/ai-sdk`. */
import type { ModelMessage, Tool } from 'ai';
import type { SessionStore } from '../accp/store/store.js';
import { type HistoryOptions, storedList } from './stored.js';
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
 * @throws FrameworkError `no-package` without `ai`; `unknown-tool`, `duplicate-tool`, `invalid-argument`
 * @example
 * const { text } = await generateText({ model, tools: await arcpTools(client), stopWhen: stepCountIs(5), prompt });
 */
export async function arcpTools(client: ToolRuntime, options: ArcpToolSetOptions = {}): Promise<RemoteToolSet> {
  return toolsOf(arcpToolSet(client, options));
}

/**
 * Returns the operations of an ACCP peer as tools, as {@link arcpTools} does.
 *
 * @throws FrameworkError `no-package` without `ai`; `unknown-tool`, `duplicate-tool`, `invalid-argument`
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

/** The messages of a conversation. All methods throw StoreError if the store fails. */
export interface StoredMessages {
  /** Returns the messages; with a limit, the most recent ones. */
  readonly messages: (limit?: number) => Promise<ModelMessage[]>;
  /** Adds messages, such as those of the user, and `response.messages` of a result. */
  readonly add: (messages: readonly ModelMessage[]) => Promise<void>;
  /** Removes all messages. */
  readonly clear: () => Promise<void>;
}

/**
 * Opens the history of a conversation in a session store, which another process continues if the store is a file or a database. Bytes in messages are
 * stored as base64.
 *
 * @param store `memoryStore()`, or that of `pegwire/accp/sqlite` or `pegwire/accp/postgres`. The history does not close it.
 * @throws TypeError if `id` is empty
 * @example
 * const history = storedMessages(await sqliteStore('chats.db'), { id: 'chat-3' });
 * await history.add([{ role: 'user', content: 'Hello' }]);
 * const { response } = await generateText({ model, messages: await history.messages() });
 * await history.add(response.messages);
 */
export function storedMessages(store: SessionStore, options: HistoryOptions): StoredMessages {
  const list = storedList<ModelMessage>(store, options, 'ai-sdk');
  return {
    messages: async (limit) => list.get(limit),
    add: async (messages) => list.add(messages),
    clear: async () => list.clear(),
  };
}
