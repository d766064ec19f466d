/** A store in memory. */

import { takingOldest } from './journal.js';
import { type Change, type ColdEntry, DELETED, type EndpointStore, type SessionStore, StoreError } from './store.js';

interface SessionData {
  readonly endpoints: Map<string, EndpointData>;
  readonly cold: ColdMap;
}

interface EndpointData {
  /** Incremented by every claim; only the latest holder may commit. */
  generation: number;
  readonly entries: Map<string, Change>;
}

export interface MemoryStoreOptions {
  /** Most characters of the cold tier of a session; beyond, its oldest values expire (E2002). @default 33554432 */
  readonly maxCold?: number | undefined;
}

const MAX_COLD = 32 * 1024 * 1024;

/** Makes a store without a file. A closed session can be resumed as long as the store exists. */
export function memoryStore({ maxCold = MAX_COLD }: MemoryStoreOptions = {}): SessionStore {
  const sessions = new Map<string, SessionData>();
  let closed = false;

  function checkOpen(): void {
    if (closed) throw new StoreError('closed', 'the store was closed');
  }

  return {
    durable: false,
    claim(session, agent) {
      checkOpen();
      return claimed(sessions, session, agent, maxCold, checkOpen);
    },
    has(session) {
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
  maxCold: number,
  checkStore: () => void,
): EndpointStore {
  const { endpoints, cold } = found(sessions, session, () => ({ endpoints: new Map(), cold: boundedCold(maxCold) }));
  const endpoint: EndpointData = found(endpoints, agent, () => ({ generation: 0, entries: new Map() }));
  const generation = ++endpoint.generation;
  let released = false;

  function checkOpen(): void {
    checkStore();
    if (released) throw new StoreError('closed', `@${agent} of session ${session} was given back to the store`);
  }

  function checkHeld(): void {
    checkOpen();
    if (endpoint.generation !== generation) {
      throw new StoreError('taken', `@${agent} of session ${session} was claimed by another holder`);
    }
  }

  /** A function that fails once the endpoint or the store is closed. */
  const whileOpen =
    <A extends unknown[], R>(read: (...given: A) => R) =>
    (...given: A): R => {
      checkOpen();
      return read(...given);
    };

  return {
    entries: whileOpen(() => [...endpoint.entries.values()]),
    commit(changes, coldChanges = []) {
      checkHeld();
      for (const change of changes) {
        const place = placeOf(change);
        if (change.value === null) endpoint.entries.delete(place);
        else endpoint.entries.set(place, change);
      }
      // Not evaluated: a value is computed when it is read.
      for (const change of coldChanges) cold.set(change.key, change);
    },
    check: checkHeld,
    reserveCold: whileOpen((key: string) => {
      const holder = JSON.stringify(agent);
      const known = cold.get(key);
      if (known !== undefined) return known.expiresAt === DELETED && known.value === holder;
      cold.set(key, { value: holder, expiresAt: DELETED });
      return true;
    }),
    readCold: whileOpen((key: string) => cold.get(key)),
    readColdOf: whileOpen((other: string, key: string) => sessions.get(other)?.cold.get(key)),
    sessionsWithCold: whileOpen((key: string) =>
      [...sessions].filter(([, data]) => isKept(data.cold.get(key))).map(([name]) => name),
    ),
    release() {
      released = true;
    },
  };
}

function isKept(entry: ColdEntry | undefined): boolean {
  return entry !== undefined && entry.expiresAt !== DELETED;
}

function found<V>(map: Map<string, V>, key: string, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

/** The length makes the pair of names unambiguous. */
function placeOf({ collection, key }: Change): string {
  return `${collection.length}:${collection}${key}`;
}

/** Replaces dropped values, which read as expired (E2002). */
const GONE: ColdEntry = { value: 'null', expiresAt: 1 };
const MAX_GONE = 10_000;

type ColdMap = ReturnType<typeof boundedCold>;

/** @param max characters of all values; the oldest are dropped first, the newest never */
function boundedCold(max: number) {
  const entries = new Map<string, ColdEntry>();
  const gone = new Set<string>();
  const takeOldest = takingOldest(entries);
  const takeOldestGone = takingOldest(gone);
  let used = 0;

  function forgetOldest(): void {
    const [key, entry] = takeOldest()!;
    used -= sizeOf(entry);
    // A deleted entry is absent, not expired.
    if (entry.expiresAt === DELETED) return;
    gone.add(key);
    if (gone.size > MAX_GONE) takeOldestGone();
  }

  return {
    get size() {
      return entries.size;
    },
    get: (key: string) => entries.get(key) ?? (gone.has(key) ? GONE : undefined),
    set(key: string, entry: ColdEntry): void {
      const before = entries.get(key);
      used += sizeOf(entry) - (before === undefined ? 0 : sizeOf(before));
      gone.delete(key);
      entries.delete(key);
      entries.set(key, entry);
      while (used > max && entries.size > 1) forgetOldest();
    },
  };
}

/** Does not evaluate a value that is not computed yet. */
function sizeOf(entry: ColdEntry): number {
  return entry.size ?? entry.value.length;
}
