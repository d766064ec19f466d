/** The store in memory. */

import { createTakeOldest } from './journal.js';
import { type Change, type ColdEntry, DELETED, type EndpointStore, type SessionStore, StoreError } from './store.js';

interface SessionData {
  readonly endpoints: Map<string, EndpointData>;
  readonly cold: ColdMap;
}

interface EndpointData {
  /** The number of claims; only the latest owner may commit. */
  generation: number;
  readonly entries: Map<string, Change>;
}

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /** The maximum number of characters of the cold tier of a session; beyond it, the oldest values expire (E2002). @default 33554432 */
  readonly maxCold?: number | undefined;
}

const MAX_COLD = 32 * 1024 * 1024;

/** Creates a store in memory. A closed session can be resumed while the store exists. */
export function memoryStore({ maxCold = MAX_COLD }: MemoryStoreOptions = {}): SessionStore {
  const sessions = new Map<string, SessionData>();
  let closed = false;

  function checkOpen(): void {
    if (closed) throw new StoreError('closed', 'The store is closed');
  }

  return {
    durable: false,
    claim(session, agent) {
      checkOpen();
      return claimEndpoint(sessions, session, agent, maxCold, checkOpen);
    },
    has(session) {
      checkOpen();
      const data = sessions.get(session);
      if (data === undefined) return false;
      return data.cold.size() > 0 || [...data.endpoints.values()].some(({ entries }) => entries.size > 0);
    },
    close() {
      closed = true;
      sessions.clear();
    },
  };
}

function claimEndpoint(
  sessions: Map<string, SessionData>,
  session: string,
  agent: string,
  maxCold: number,
  checkStore: () => void,
): EndpointStore {
  const { endpoints, cold } = getOrCreate(sessions, session, () => ({
    endpoints: new Map(),
    cold: boundedCold(maxCold),
  }));
  const endpoint: EndpointData = getOrCreate(endpoints, agent, () => ({ generation: 0, entries: new Map() }));
  const generation = ++endpoint.generation;
  const owner = JSON.stringify(agent);
  let released = false;

  function checkOpen(): void {
    checkStore();
    if (released) throw new StoreError('closed', `@${agent} of session ${session} was released`);
  }

  function checkHeld(): void {
    checkOpen();
    if (endpoint.generation !== generation) {
      throw new StoreError('taken', `@${agent} of session ${session} was claimed by another owner`);
    }
  }

  /** Returns a function that fails after the endpoint or the store is closed. */
  const whileOpen =
    <A extends unknown[], R>(read: (...args: A) => R) =>
    (...args: A): R => {
      checkOpen();
      return read(...args);
    };

  return {
    entries: whileOpen(() => [...endpoint.entries.values()]),
    commit(changes, coldChanges = []) {
      checkHeld();
      for (const change of changes) {
        const key = entryKey(change);
        if (change.value === null) endpoint.entries.delete(key);
        else endpoint.entries.set(key, change);
      }
      // The value is computed when it is read.
      for (const change of coldChanges) cold.set(change.key, change);
    },
    check: checkHeld,
    reserveCold: whileOpen((key: string) => {
      const known = cold.get(key);
      if (known !== undefined) return known.expiresAt === DELETED && known.value === owner;
      cold.set(key, { value: owner, expiresAt: DELETED });
      return true;
    }),
    readCold: whileOpen((key: string) => cold.get(key)),
    readColdOf: whileOpen((other: string, key: string) => sessions.get(other)?.cold.get(key)),
    sessionsWithCold: whileOpen((key: string) =>
      [...sessions].filter(([, data]) => isStored(data.cold.get(key))).map(([name]) => name),
    ),
    release() {
      released = true;
    },
  };
}

function isStored(entry: ColdEntry | undefined): boolean {
  return entry !== undefined && entry.expiresAt !== DELETED;
}

function getOrCreate<V>(map: Map<string, V>, key: string, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

/** Returns the key of an entry. The length makes the pair of names unambiguous. */
function entryKey({ collection, key }: Change): string {
  return `${collection.length}:${collection}${key}`;
}

/** The replacement of dropped values, which are read as expired (E2002). */
const DROPPED: ColdEntry = { value: 'null', expiresAt: 1 };
const MAX_DROPPED = 10_000;

type ColdMap = ReturnType<typeof boundedCold>;

/** Creates a map of at most `max` characters; the oldest values are dropped first, the newest never. */
function boundedCold(max: number) {
  const entries = new Map<string, ColdEntry>();
  const dropped = new Set<string>();
  const takeOldest = createTakeOldest(entries);
  const takeOldestDropped = createTakeOldest(dropped);
  let used = 0;

  function dropOldest(): void {
    const [key, entry] = takeOldest()!;
    used -= sizeOf(entry);
    // A deleted entry is absent, not expired.
    if (entry.expiresAt === DELETED) return;
    dropped.add(key);
    if (dropped.size > MAX_DROPPED) takeOldestDropped();
  }

  return {
    size: () => entries.size,
    get: (key: string) => entries.get(key) ?? (dropped.has(key) ? DROPPED : undefined),
    set(key: string, entry: ColdEntry): void {
      const before = entries.get(key);
      used += sizeOf(entry);
      if (before !== undefined) {
        used -= sizeOf(before);
        entries.delete(key);
      } else if (dropped.size > 0) dropped.delete(key);
      entries.set(key, entry);
      while (used > max && entries.size > 1) dropOldest();
    },
  };
}

/** Returns the length of a value, without computing it. */
function sizeOf(entry: ColdEntry): number {
  return entry.size ?? entry.value.length;
}
