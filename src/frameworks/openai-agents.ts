/** Adapters for the OpenAI Agents SDK: tools, sessions, context. Public as `pegwire/frameworks/openai-agents`. */
import type { AgentInputItem, FunctionTool, Session } from '@openai/agents';
import type { SessionStore } from '../accp/store/store.js';
import { ArcpError } from '../arcp/protocol/errors.js';
import { type HistoryOptions, storedList } from './stored.js';
import {
  type AccpToolSetOptions,
  type ArcpToolSetOptions,
  accpToolSet,
  arcpToolSet,
  errorText,
  framework,
  type RemoteTool,
  type ToolPeer,
  type ToolRuntime,
} from './tool-set.js';

export * from './entry.js';

/** The tool of an agent. Its parameters are known at run time only. */
// biome-ignore lint/suspicious/noExplicitAny: the parameters of the SDK's own type are not known here
export type AgentTool = FunctionTool<any, any, any>;

/**
 * Returns the tools of a runtime. The signal of a run cancels its jobs. The result of a failed call is its error as JSON, with the code, for the
 * model.
 *
 * @throws FrameworkError `no-package` without `@openai/agents`; `unknown-tool`, `duplicate-tool`, `invalid-argument`
 * @example
 * const agent = new Agent({ name: 'Assistant', tools: await arcpTools(client) });
 */
export async function arcpTools(client: ToolRuntime, options: ArcpToolSetOptions = {}): Promise<AgentTool[]> {
  return toolsOf(arcpToolSet(client, options));
}

/**
 * Returns the operations of an ACCP peer as tools, as {@link arcpTools} does.
 *
 * @throws FrameworkError `no-package` without `@openai/agents`; `unknown-tool`, `duplicate-tool`, `invalid-argument`
 * @example
 * const tools = await accpTools(link, { registry: codec.registry });
 */
export async function accpTools(peer: ToolPeer, options: AccpToolSetOptions): Promise<AgentTool[]> {
  return toolsOf(accpToolSet(peer, options));
}

async function toolsOf(remote: readonly RemoteTool[]): Promise<AgentTool[]> {
  const { tool, ModelBehaviorError } = await framework('@openai/agents', () => import('@openai/agents'));
  return remote.map(({ name, description, schema, call }) =>
    tool({
      ...{ name, description, strict: false },
      // The SDK requires these members of a schema that is not strict; the runtime checks the arguments.
      parameters: { properties: {}, required: [], additionalProperties: true, ...schema } as never,
      execute: (args: unknown, _, details) =>
        call(args, { signal: details?.signal, callId: details?.toolCall?.callId }),
      errorFunction: (_, thrown) => {
        // An abort ends the run.
        if ((thrown as { readonly name?: unknown } | null)?.name === 'AbortError') throw thrown;
        if (!(thrown instanceof ModelBehaviorError)) return errorText(thrown);
        return errorText(new ArcpError('INVALID_ARGUMENT', 'The arguments are not JSON'));
      },
    }),
  );
}

/**
 * Creates a session of the Agents SDK on a session store: the history of a conversation, which another process continues if the store is a file or
 * a database. Its methods throw StoreError if the store fails.
 *
 * @param store `memoryStore()`, or that of `pegwire/accp/sqlite` or `pegwire/accp/postgres`. The session does not close it.
 * @throws TypeError if `id` is empty
 * @example
 * await run(agent, 'Hello', { session: storedSession(await sqliteStore('history.db'), { id: 'user-7' }) });
 */
export function storedSession(store: SessionStore, options: HistoryOptions): Session {
  const items = storedList<AgentInputItem>(store, options, 'openai-agents');
  return {
    getSessionId: async () => options.id,
    getItems: async (limit) => items.get(limit),
    addItems: async (added) => items.add(added),
    popItem: async () => items.pop(),
    clearSession: async () => items.clear(),
  };
}
