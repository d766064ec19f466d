/**
 * Checkpoints of LangGraph in a session store. A thread is a session. Each checkpoint with its metadata and pending writes is an agent of its own, and
 * so is each version of the value of a channel, which is stored once. The agent `index` lists all of these, and an agent for each checkpoint namespace
 * has the id of its latest checkpoint, so that the work of a step does not grow with the length of a thread.
 */
import type { RunnableConfig } from '@langchain/core/runnables';
import type {
  BaseCheckpointSaver,
  ChannelVersions,
  Checkpoint,
  CheckpointListOptions,
  CheckpointMetadata,
  CheckpointPendingWrite,
  CheckpointTuple,
  PendingWrite,
  SerializerProtocol,
} from '@langchain/langgraph-checkpoint';
import type { EndpointStore, SessionStore } from '../accp/store/store.js';
import { nameIn, removeData, toBase64, valuesIn, withData } from './stored.js';
import { FrameworkError } from './tool-set.js';

type CheckpointPackage = typeof import('@langchain/langgraph-checkpoint');

/** The agents of a thread that are not checkpoints. */
const INDEX = 'index';
/** The session and the agent of the list of all threads; no thread can have this session, whose name has no colon after the prefix. */
const THREADS = 'threads';

/** A value as its serializer writes it: a type, and text or, for types other than JSON, base64. */
type Typed = readonly [type: string, data: string];

/** A checkpoint without the values of its channels. */
interface StoredCheckpoint {
  readonly parent: string | null;
  readonly metadata: Typed;
  readonly checkpoint: Typed;
}

interface StoredWrite {
  readonly channel: string;
  readonly path: string;
  readonly value: Typed;
}

/** A checkpoint that the index lists. */
interface Found {
  readonly ns: string;
  readonly id: string;
}

/** Returns the class of the saver, which extends that of the package. */
export function checkpointSaverClass(
  checkpoint: CheckpointPackage,
): new (
  store: SessionStore,
  namespace: string,
) => BaseCheckpointSaver {
  const { TASKS, WRITES_IDX_MAP, compareWritesSortKeys, maxChannelVersion, writesSortKey } = checkpoint;

  return class SessionCheckpointSaver extends checkpoint.BaseCheckpointSaver {
    readonly #store: SessionStore;
    readonly #namespace: string;

    constructor(store: SessionStore, namespace: string) {
      super();
      this.#store = store;
      this.#namespace = namespace;
    }

    override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
      // LangGraph asks without a thread, too.
      if ((config.configurable?.['thread_id'] ?? '') === '') return undefined;
      const { thread, ns, id: given } = placeOf(config);
      const id = given ?? this.#get<string>(thread, latestOf(ns), 'latest');
      return id === undefined ? undefined : this.#tuple(thread, { ns, id });
    }

    override async *list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
      const { thread_id: thread, checkpoint_ns: ns, checkpoint_id: id } = config.configurable ?? {};
      const before: unknown = options.before?.configurable?.['checkpoint_id'];
      const filter = Object.entries(options.filter ?? {});
      let rest = options.limit ?? Number.POSITIVE_INFINITY;
      for (const one of thread === undefined ? this.#threads() : [String(thread)]) {
        for (const found of this.#index(one)) {
          if (rest <= 0) return;
          if ((ns !== undefined && found.ns !== ns) || (id !== undefined && found.id !== id)) continue;
          if (typeof before === 'string' && found.id >= before) continue;
          const tuple = await this.#tuple(one, found, filter);
          if (tuple === undefined) continue;
          rest -= 1;
          yield tuple;
        }
      }
    }

    override async put(
      config: RunnableConfig,
      given: Checkpoint,
      metadata: CheckpointMetadata,
      newVersions: ChannelVersions,
    ): Promise<RunnableConfig> {
      const { thread, ns, id: parent = null } = placeOf(config);
      const { channel_values: values, ...rest } = given;
      const changed = Object.entries(newVersions).filter(([channel]) => Object.hasOwn(values, channel));
      const stored = await Promise.all(
        changed.map(async ([channel, version]) => ({
          agent: channelOf(ns, channel, version),
          value: await write(this.serde, values[channel]),
        })),
      );
      const { id } = given;
      const agent = dataOf(ns, id);
      const entry: StoredCheckpoint = {
        parent,
        metadata: await write(this.serde, metadata),
        checkpoint: await write(this.serde, rest),
      };
      this.#list(thread, [agent, latestOf(ns), ...stored.map((one) => one.agent)]);
      for (const one of stored) this.#set(thread, one.agent, 'value', one.value);
      this.#set(thread, agent, 'checkpoint', entry);
      // These come last: a checkpoint that they name is complete.
      this.#with(thread, INDEX, (data) => data.commit([{ collection: 'checkpoints', key: agent, value: '' }]));
      this.#with(thread, latestOf(ns), (data) => {
        const latest = valuesIn(data, 'latest').get('');
        if (latest !== undefined && (JSON.parse(latest) as string) >= id) return;
        data.commit([{ collection: 'latest', key: '', value: JSON.stringify(id) }]);
      });
      return { configurable: { thread_id: thread, checkpoint_ns: ns, checkpoint_id: id } };
    }

    override async putWrites(
      config: RunnableConfig,
      writes: PendingWrite[],
      taskId: string,
      taskPath = '',
    ): Promise<void> {
      const { thread, ns, id } = placeOf(config);
      if (id === undefined)
        throw new FrameworkError({ code: 'no-thread', message: 'The configuration of writes has no checkpoint_id' });
      const given = await Promise.all(
        writes.map(async ([channel, value], position) => {
          const number = WRITES_IDX_MAP[channel] ?? position;
          const stored: StoredWrite = { channel, path: taskPath, value: await write(this.serde, value) };
          return { collection: 'writes', key: JSON.stringify([taskId, number]), value: JSON.stringify(stored), number };
        }),
      );
      this.#list(thread, [dataOf(ns, id)]);
      this.#with(thread, dataOf(ns, id), (data) => {
        const known = valuesIn(data, 'writes');
        // A task that runs again keeps its first results; errors and interrupts are replaced.
        data.commit(given.filter(({ key, number }) => number < 0 || !known.has(key)));
      });
    }

    override async deleteThread(threadId: string): Promise<void> {
      const known = this.#with(threadId, INDEX, (data) => [...valuesIn(data, 'data').keys()]);
      // The list of threads comes last, so that an interrupted deletion can be repeated.
      for (const agent of known) removeData(this.#store, this.#session(threadId), agent);
      removeData(this.#store, this.#session(threadId), INDEX);
      withData(this.#store, this.#namespace, THREADS, (data) =>
        data.commit([{ collection: THREADS, key: threadId, value: null }]),
      );
    }

    /** Returns a checkpoint; `undefined` if there is none, or if its metadata do not match the filter. */
    async #tuple(
      thread: string,
      { ns, id }: Found,
      filter: readonly (readonly [string, unknown])[] = [],
    ): Promise<CheckpointTuple | undefined> {
      const stored = this.#get<StoredCheckpoint>(thread, dataOf(ns, id), 'checkpoint');
      if (stored === undefined) return undefined;
      const { parent } = stored;
      const metadata = await read(this.serde, stored.metadata);
      if (!filter.every(([key, value]) => sameJson(metadata[key], value))) return undefined;
      const rest: Omit<Checkpoint, 'channel_values'> = await read(this.serde, stored.checkpoint);
      const found: Checkpoint = { ...rest, channel_values: await this.#values(thread, ns, rest.channel_versions) };
      if (found.v < 4 && parent !== null) await this.#migrateSends(thread, ns, parent, found);
      const place = { thread_id: thread, checkpoint_ns: ns };
      return {
        config: { configurable: { ...place, checkpoint_id: id } },
        checkpoint: found,
        metadata,
        ...(parent === null ? {} : { parentConfig: { configurable: { ...place, checkpoint_id: parent } } }),
        pendingWrites: await this.#writes(thread, ns, id),
      };
    }

    async #values(thread: string, ns: string, versions: ChannelVersions): Promise<Record<string, unknown>> {
      const stored = Object.entries(versions).flatMap(([channel, version]) => {
        const value = this.#get<Typed>(thread, channelOf(ns, channel, version), 'value');
        return value === undefined ? [] : [[channel, value] as const];
      });
      const values = await Promise.all(
        stored.map(async ([channel, value]) => [channel, await read(this.serde, value)] as const),
      );
      return Object.fromEntries(values);
    }

    async #writes(thread: string, ns: string, id: string): Promise<CheckpointPendingWrite[]> {
      const ordered = [...this.#with(thread, dataOf(ns, id), (data) => valuesIn(data, 'writes'))]
        .map(([key, text]) => {
          const [taskId, number] = JSON.parse(key) as [string, number];
          const stored = JSON.parse(text) as StoredWrite;
          return { taskId, stored, order: writesSortKey(stored.path, taskId, number) };
        })
        .sort((a, b) => compareWritesSortKeys(a.order, b.order));
      return Promise.all(
        ordered.map(
          async ({ taskId, stored: { channel, value } }): Promise<CheckpointPendingWrite> => [
            taskId,
            channel,
            await read(this.serde, value),
          ],
        ),
      );
    }

    /** Adds the pending sends of the parent, which checkpoints before version 4 do not have. */
    async #migrateSends(thread: string, ns: string, parent: string, found: Checkpoint): Promise<void> {
      const { channel_values: values, channel_versions: versions } = found;
      const writes = await this.#writes(thread, ns, parent);
      values[TASKS] = writes.filter(([, channel]) => channel === TASKS).map(([, , value]) => value);
      const known = Object.values(versions);
      versions[TASKS] = known.length > 0 ? maxChannelVersion(...known) : this.getNextVersion(undefined);
    }

    /** Returns the checkpoints of a thread, the latest first: their ids ascend with time. */
    #index(thread: string): readonly Found[] {
      const keys = this.#with(thread, INDEX, (data) => [...valuesIn(data, 'checkpoints').keys()]);
      const found = keys.map((key): Found => {
        const [ns, id] = JSON.parse(key) as [string, string];
        return { ns, id };
      });
      return found.sort((a, b) => (a.id < b.id ? 1 : -1));
    }

    #threads(): readonly string[] {
      return withData(this.#store, this.#namespace, THREADS, (data) => [...valuesIn(data, THREADS).keys()]);
    }

    /** Lists agents in the index before they are written, so that `deleteThread` finds them. */
    #list(thread: string, agents: readonly string[]): void {
      withData(this.#store, this.#namespace, THREADS, (data) =>
        data.commit([{ collection: THREADS, key: thread, value: '' }]),
      );
      this.#with(thread, INDEX, (data) => data.commit(agents.map((key) => ({ collection: 'data', key, value: '' }))));
    }

    #get<T>(thread: string, agent: string, collection: string): T | undefined {
      const text = this.#with(thread, agent, (data) => valuesIn(data, collection).get(''));
      return text === undefined ? undefined : (JSON.parse(text) as T);
    }

    #set(thread: string, agent: string, collection: string, value: object): void {
      this.#with(thread, agent, (data) => data.commit([{ collection, key: '', value: JSON.stringify(value) }]));
    }

    #session(thread: string): string {
      return nameIn(this.#namespace, thread);
    }

    #with<T>(thread: string, agent: string, step: (data: EndpointStore) => T): T {
      return withData(this.#store, this.#session(thread), agent, step);
    }
  };
}

interface Place {
  readonly thread: string;
  readonly ns: string;
  readonly id: string | undefined;
}

function placeOf({ configurable = {} }: RunnableConfig): Place {
  const { thread_id: thread, checkpoint_ns: ns = '', checkpoint_id: id } = configurable;
  if (thread === undefined || thread === null || thread === '') {
    const message = 'The configuration has no thread_id; pass { configurable: { thread_id: ... } }';
    throw new FrameworkError({ code: 'no-thread', message });
  }
  // LangGraph passes an empty id for the latest checkpoint.
  return { thread: String(thread), ns: String(ns), id: id ? String(id) : undefined };
}

/** Returns the agent with the data of a checkpoint. JSON begins with a bracket, so it is never `index`. */
function dataOf(ns: string, id: string): string {
  return JSON.stringify([ns, id]);
}

/** Returns the agent with the id of the latest checkpoint. */
function latestOf(ns: string): string {
  return JSON.stringify([ns]);
}

/** Returns the agent with the value of a channel at a version. */
function channelOf(ns: string, channel: string, version: number | string): string {
  return JSON.stringify([ns, channel, version]);
}

async function write(serde: SerializerProtocol, value: unknown): Promise<Typed> {
  const [type, bytes] = await serde.dumpsTyped(value);
  return [type, type === 'json' ? new TextDecoder().decode(bytes) : toBase64(bytes)];
}

/** The type of the value depends on its place, which the caller knows. */
// biome-ignore lint/suspicious/noExplicitAny: the serializer returns any
async function read(serde: SerializerProtocol, [type, data]: Typed): Promise<any> {
  return serde.loadsTyped(type, type === 'json' ? data : fromBase64(data));
}

function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

function sameJson(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
