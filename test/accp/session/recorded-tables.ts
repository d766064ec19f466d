/** A store that shows the tables of compact frames as they are after each operation of a session. */
import { type EndpointStore, memoryStore, type SessionStore } from '../../../src/accp/codec/index.js';

interface Owner {
  readonly agents: readonly string[];
  readonly hash: string;
  readonly isBroken: boolean;
}

export interface RecordedStore {
  readonly store: SessionStore;
  /** The entries of the tables with which an agent sends, or with which its frames are read; `null` if there are none. */
  readonly tables: (direction: 'out' | 'in', agent: string) => object | null;
}

export function recordedStore(): RecordedStore {
  const inner = memoryStore();
  let endpoint: EndpointStore | undefined;
  const entriesOf = (name: string): (readonly [string, unknown])[] =>
    [...(endpoint?.entries() ?? [])]
      .filter(({ collection }) => collection === name)
      .map(({ key, value }) => [key, JSON.parse(value!)] as const);
  return {
    // Only a durable store is written to after each operation.
    store: { ...inner, durable: true, claim: (session, agent) => (endpoint = inner.claim(session, agent)) },
    tables: (direction, agent) => {
      const owners = entriesOf('compact') as [string, Owner][];
      const found = owners.find(([key, { agents }]) => key.startsWith(`${direction}:`) && agents.includes(agent));
      if (found === undefined || found[1].isBroken) return null;
      const [key, { hash }] = found;
      const [shapes, strings] = ['compact-shapes', 'compact-strings'].map((name) =>
        entriesOf(name)
          .filter(([entryKey]) => entryKey.startsWith(`${key}|`))
          .map(([entryKey, value]) => [Number(entryKey.slice(key.length + 1)), value]),
      );
      return { hash, shapes, strings };
    },
  };
}
