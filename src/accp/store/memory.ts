/** Sessions in memory: for as long as the process runs. */
import { type Change, type ColdEntry, type EndpointStore, type SessionStore, StoreError } from './store.js';

interface SessionData {
  readonly endpoints: Map<string, EndpointData>;
  readonly cold: Map<string, ColdEntry>;
}

interface EndpointData {
  /** Rises with every claim; only the latest holder may commit. */
  generation: number;
  readonly entries: Map<string, Change>;
}

/** A store without a file. A session that was closed can be resumed as long as the store is kept. */
export function memoryStore(): SessionStore {
  const sessions = new Map<string, SessionData>();
  let closed = false;

  function checkOpen(): void {
    if (closed) throw new StoreError('closed', 'the store was closed');
  }

  return {
    durable: false,
    claim(session, agent) {
      checkOpen();
      return claimed(sessions, session, agent, checkOpen);
    },
    knows(session) {
      checkOpen();
      const data = sessions.get(session);
      if (data === undefined) return false;
      return data.cold.size > 0 || [...data.endpoints.values()].some(({ entries }) => entries.size > 0);
    },
    close() {
      closed = true;
      sessions.clear();
    },
  };
}

function claimed(
  sessions: Map<string, SessionData>,
  session: string,
  agent: string,
  checkStore: () => void,
): EndpointStore {
  const { endpoints, cold } = found(sessions, session, () => ({ endpoints: new Map(), cold: new Map() }));
  const endpoint: EndpointData = found(endpoints, agent, () => ({ generation: 0, entries: new Map() }));
  const generation = ++endpoint.generation;
  let released = false;

  function checkOpen(): void {
    checkStore();
    if (released) throw new StoreError('closed', `@${agent} of session ${session} was given back to the store`);
  }

  return {
    entries() {
      checkOpen();
      return [...endpoint.entries.values()];
    },
    commit(changes, coldChanges = []) {
      checkOpen();
      if (endpoint.generation !== generation) {
        throw new StoreError('taken', `@${agent} of session ${session} was claimed by another holder`);
      }
      for (const change of changes) {
        const place = placeOf(change);
        if (change.value === null) endpoint.entries.delete(place);
        else endpoint.entries.set(place, change);
      }
      for (const { key, value, expires } of coldChanges) cold.set(key, { value, expires });
    },
    readCold(key) {
      checkOpen();
      return cold.get(key);
    },
    readColdOf(other, key) {
      checkOpen();
      return sessions.get(other)?.cold.get(key);
    },
    sessionsWithCold(key) {
      checkOpen();
      return [...sessions].filter(([, data]) => data.cold.has(key)).map(([name]) => name);
    },
    release() {
      released = true;
    },
  };
}

function found<V>(map: Map<string, V>, key: string, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

/** Where an entry lies; the length keeps apart what two names would make alike. */
function placeOf({ collection, key }: Change): string {
  return `${collection.length}:${collection}${key}`;
}
