/** Adapters for LangGraph.js: tools, checkpoints, context. Public as `pegwire/frameworks/langgraph`. */
import type { DynamicStructuredTool } from '@langchain/core/tools';
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import type { SessionStore } from '../accp/store/store.js';
import { checkpointSaverClass } from './checkpoints.js';
import {
  type AccpToolSetOptions,
  type ArcpToolSetOptions,
  accpToolSet,
  arcpToolSet,
  framework,
  type RemoteTool,
  type ToolPeer,
  type ToolProgress,
  type ToolRuntime,
  textOf,
} from './tool-set.js';

export * from './entry.js';

/**
 * Returns the tools of a runtime. Progress of jobs is written to the stream mode `custom`. The signal of a run cancels its jobs. A failed call
 * throws a ToolError, whose message `ToolNode` shows the model.
 *
 * @throws FrameworkError `no-package` without `@langchain/core`; `unknown-tool`, `duplicate-tool`, `invalid-argument`
 * @example
 * const agent = createReactAgent({ llm, tools: await arcpTools(client) });
 */
export async function arcpTools(
  client: ToolRuntime,
  options: ArcpToolSetOptions = {},
): Promise<DynamicStructuredTool[]> {
  return toolsOf(arcpToolSet(client, options));
}

/**
 * Returns the operations of an ACCP peer as tools, as {@link arcpTools} does.
 *
 * @throws FrameworkError `no-package` without `@langchain/core`; `unknown-tool`, `duplicate-tool`, `invalid-argument`
 * @example
 * const tools = await accpTools(link, { registry: codec.registry });
 */
export async function accpTools(peer: ToolPeer, options: AccpToolSetOptions): Promise<DynamicStructuredTool[]> {
  return toolsOf(accpToolSet(peer, options));
}

/** The part of the second argument of a tool that is used. */
interface ToolConfig {
  readonly signal?: AbortSignal;
  readonly toolCall?: { readonly id?: string };
  readonly writer?: ((chunk: unknown) => void) | null;
}

async function toolsOf(remote: readonly RemoteTool[]): Promise<DynamicStructuredTool[]> {
  const { tool } = await framework('@langchain/core', () => import('@langchain/core/tools'));
  // Its overloads infer the arguments from a schema that is known at compile time.
  const create = tool as unknown as (run: unknown, fields: object) => DynamicStructuredTool;
  return remote.map(({ name, description, schema, call }) => {
    const run = async (args: unknown, { signal, toolCall, writer }: ToolConfig): Promise<string> => {
      const onProgress = writer ? (progress: ToolProgress) => writer(progress) : undefined;
      return textOf(await call(args, { signal, callId: toolCall?.id, onProgress }));
    };
    return create(run, { name, description, schema });
  });
}

/** Options of a checkpoint saver. */
export interface CheckpointSaverOptions {
  /** The prefix of the sessions in the store, which keeps several applications apart. @default 'langgraph' */
  readonly namespace?: string | undefined;
}

/**
 * Creates a checkpoint saver on a session store. With a store in a file or a database, another process continues the threads, also those that wait
 * at an interrupt.
 *
 * @param store `memoryStore()`, or that of `pegwire/accp/sqlite` or `pegwire/accp/postgres`. The saver does not close it.
 * @throws FrameworkError `no-package` without `@langchain/langgraph-checkpoint`, which `@langchain/langgraph` installs. The methods throw
 * FrameworkError `no-thread` for a configuration without `thread_id`, and StoreError if the store fails.
 * @example
 * const graph = builder.compile({ checkpointer: await checkpointSaver(await sqliteStore('threads.db')) });
 */
export async function checkpointSaver(
  store: SessionStore,
  { namespace = 'langgraph' }: CheckpointSaverOptions = {},
): Promise<BaseCheckpointSaver> {
  const checkpoint = await framework(
    '@langchain/langgraph-checkpoint',
    () => import('@langchain/langgraph-checkpoint'),
  );
  const Saver = checkpointSaverClass(checkpoint);
  return new Saver(store, namespace);
}
