/** The agents of the pipeline. Each has a codec, and an endpoint for each session. */
import { type Codec, createCodec } from '../../../src/accp/codec/codec.js';
import { createIds } from '../../../src/accp/session/runtime.js';
import { createSession, type Session } from '../../../src/accp/session/session.js';
import { type SqliteStore, sqliteStore } from '../../../src/accp/store/sqlite.js';
import { createRandom } from '../../../src/text/random.js';
import type { TokenCounter } from '../../../src/tokens/counter.js';
import type { Script } from './script.js';

/** One endpoint of a session. */
export interface Endpoint {
  readonly agent: string;
  readonly codec: Codec;
  readonly session: Session;
}

export interface Agents {
  /** Returns the endpoint of `agent` in its session with `peer`. */
  readonly endpoint: (agent: string, peer: string) => Endpoint;
  /** The time of the demo, in seconds since 1970, so that each run is the same. */
  readonly now: () => number;
  /** Advances the time. */
  readonly advance: (seconds: number) => void;
  /** Creates a message identifier. */
  readonly newId: () => string;
  /** Returns the endpoints of the hub. */
  readonly hubEndpoints: () => readonly Endpoint[];
  /** Closes the hub's sessions, and their file. */
  readonly closeHub: () => void;
  /** Resumes the hub's sessions from their file. */
  readonly openHub: () => Promise<void>;
}

/** Creates the agents. @param file stores the hub's sessions; those of the others are in memory */
export async function createAgents(script: Script, file: string, counter: TokenCounter): Promise<Agents> {
  const { hub, schemas, session: prefix } = script;
  const names = [...new Set(script.steps.flatMap((step) => ('with' in step ? [step.with] : [])))];
  const newId = createIds(seededBytes());
  let seconds = script.start;
  const now = (): number => seconds;
  const codecs = new Map<string, Codec>();
  for (const name of [hub, ...names]) {
    const codec = createCodec({ counter, now: () => now() * 1000, createId: newId });
    for (const [schema, definition] of Object.entries(schemas[name] ?? {})) codec.registerSchema(schema, definition);
    codecs.set(name, codec);
  }

  const open = (agent: string, peer: string, store?: SqliteStore): Endpoint => ({
    agent,
    codec: codecs.get(agent)!,
    session: createSession({ agent, id: sessionId(prefix, peer), sequence: 'sender', store }),
  });
  const others = new Map(names.map((name) => [name, open(name, name)]));
  let hubs = new Map<string, Endpoint>();
  let store: SqliteStore | undefined;
  const closeHub = (): void => {
    for (const { session } of hubs.values()) session.close();
    store?.close();
    store = undefined;
  };
  const openHub = async (): Promise<void> => {
    const opened = await sqliteStore(file);
    store = opened;
    hubs = new Map(names.map((name) => [name, open(hub, name, opened)]));
  };
  await openHub();

  return {
    endpoint: (agent, peer) => (agent === hub ? hubs.get(peer)! : others.get(agent)!),
    now,
    advance: (elapsed) => {
      seconds += elapsed;
    },
    newId,
    hubEndpoints: () => [...hubs.values()],
    closeHub,
    openHub,
  };
}

export function sessionId(prefix: string, peer: string): string {
  return `${prefix}.${peer}`;
}

/** Returns a reproducible source of random bytes. */
function seededBytes(): { getRandomValues: (bytes: Uint8Array) => Uint8Array } {
  const random = createRandom(5);
  return {
    getRandomValues: (bytes) => {
      for (let index = 0; index < bytes.length; index++) bytes[index] = random.integer(0, 255);
      return bytes;
    },
  };
}
