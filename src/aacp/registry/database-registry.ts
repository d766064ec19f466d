/** A registry that uses the connection to its database. */

import type { Row } from '../../storage/database.js';
import type { StoreError } from '../../text/store-error.js';
import { byRarity } from '../matching/wording.js';
import { type Connection, columnText, dataOf, entryOf, type Statements, textOf } from './database-rows.js';
import {
  checkedBatches,
  checkedEntry,
  type DomainStatistics,
  distinctTerms,
  followed,
  stateAfter,
  statisticsOf,
} from './entries.js';
import { checkedLease, type Limits } from './options.js';
import type { NewEntry, Registry, RegistryEntry, Reservation } from './registry.js';

/** The number of cached entries, which take about ten megabytes. */
const CACHED = 8192;

export function registryOver(connection: Connection, limits: Limits): Registry {
  const { statements, attempt } = connection;
  const { now, expiredAt } = limits;
  const reservations: SeenReservations = new Map();
  const cache = entryCache(CACHED);
  const hits = hitCounts();
  let version: unknown = null;
  let puts = 0;

  /** Clears the cache if another connection has written. The check is fast compared with reading an entry. */
  function checkFresh(): void {
    if (connection.version === null) {
      cache.clear();
      return;
    }
    const current = connection.version();
    // A read-only file may have been reopened, with the same version.
    if (current === version && !connection.isReadOnly) return;
    version = current;
    cache.clear();
  }

  function find(key: string): RegistryEntry | undefined {
    checkFresh();
    const cached = cache.get(key);
    if (cached !== undefined) return cached;
    const entry = readRow(connection, statements.byKey.get(columnText(key)));
    if (entry !== undefined) cache.set(key, entry);
    return entry;
  }

  function live(key: string): RegistryEntry | undefined {
    const entry = find(key);
    return entry !== undefined && entry.createdAt > expiredAt(now()) ? entry : undefined;
  }

  /** Writes the pending hits in the same transaction, which costs about as much as a transaction without them. */
  function write<T>(step: () => T): T {
    const result = connection.write(() => {
      if (!hits.isEmpty()) statements.count.run(hits.asJson());
      return step();
    });
    for (const key of hits.keys()) cache.delete(key);
    hits.clear();
    return result;
  }

  function flush(): void {
    if (hits.isEmpty()) attempt(nothing);
    else write(nothing);
  }

  /** Writes the counts, unless another process is writing: they are then written later. */
  function flushIfFree(): void {
    try {
      flush();
    } catch (thrown) {
      if ((thrown as StoreError).reason !== 'busy') throw thrown;
    }
  }

  function putTogether(entries: readonly NewEntry[]): readonly RegistryEntry[] {
    const time = now();
    const after = puts + entries.length;
    const isTrimmed = Math.floor(after / limits.trimEvery) > Math.floor(puts / limits.trimEvery);
    const put = write(() => {
      const all = entries.map((entry) => putEntry(statements, entry, time));
      if (isTrimmed) trim(statements, limits.maxEntries, expiredAt(time), time);
      return all;
    });
    puts = after;
    if (isTrimmed) cache.clear();
    else for (const entry of put) cache.set(entry.key, entry);
    return put;
  }

  /** Removes expired entries in batches, so that other processes can write in between. */
  function purge(): number {
    let removed = 0;
    for (let batch = BATCH; batch === BATCH; removed += batch) {
      batch = write(() => removeExpired(statements, expiredAt(now())));
    }
    cache.clear();
    return removed;
  }

  return {
    file: connection.file,
    get: (key) => attempt(() => live(key)),
    put: (entry) => putTogether([checkedEntry(entry)])[0]!,
    putAll(entries) {
      attempt(nothing);
      let many = 0;
      for (const batch of checkedBatches(entries)) many += putTogether(batch).length;
      return many;
    },
    markSeen(key) {
      const time = attempt(now);
      if (connection.isReadOnly) return;
      hits.add(key, time);
      if (hits.isDue(time)) flushIfFree();
    },
    remove(key) {
      const removed = write(() => {
        const row = statements.byKey.get(columnText(key));
        if (row !== undefined) removeRow(statements, row);
        return row !== undefined;
      });
      cache.delete(key);
      return removed;
    },
    candidates: (domain, terms, limit) =>
      attempt(() => {
        const expired = expiredAt(now());
        const postings = distinctTerms(terms).map((term) => {
          const row = statements.postings.get(columnText(domain), columnText(term))!;
          const numbers = row['entries'] as string | null;
          return numbers === null ? [] : followed(term, numbers.split(',').map(Number));
        });
        const found: RegistryEntry[] = [];
        for (const number of byRarity(postings)) {
          if (found.length >= limit) break;
          const entry = readRow(connection, statements.byNumber.get(number));
          if (entry !== undefined && entry.createdAt > expired) found.push(entry);
        }
        return found;
      }),
    reserve(key, leaseMs) {
      const lease = checkedLease(leaseMs);
      const known = attempt(() => live(key));
      if (known !== undefined) return { kind: 'known', entry: known };
      return write(() => {
        // Another process may have added the entry between the check and the lock.
        const entry = live(key);
        return entry === undefined ? reserve(statements, reservations, key, now(), lease) : { kind: 'known', entry };
      });
    },
    renew(key, token, leaseMs) {
      const lease = checkedLease(leaseMs);
      const until = now() + lease;
      const isRenewed = write(() => statements.renew.get(until, lease, columnText(key), token) !== undefined);
      if (isRenewed) noteReservation(reservations, key, token, until);
      return isRenewed;
    },
    release(key, token) {
      write(() => statements.release.run(columnText(key), token));
    },
    *entries({ domain } = {}) {
      flushIfFree();
      yield* readAll(connection, domain);
    },
    setCovered(key, covered) {
      write(() => statements.setCovered.run(covered ? 1 : 0, columnText(key)));
      cache.delete(key);
    },
    statistics() {
      flushIfFree();
      return attempt(() => {
        const rows = statements.statistics.all(expiredAt(now()));
        return statisticsOf(
          rows.map((row) => ({ ...row, domain: textOf(row['domain'] as string) }) as DomainStatistics),
        );
      });
    },
    purge,
    flush,
    close() {
      if (!connection.isOpen()) return;
      try {
        flush();
      } finally {
        connection.close();
      }
    },
  };
}

/** An empty step for `attempt`, which checks that the registry is open, and for `write`, which writes the hits. */
function nothing(): void {}

/** The number of entries that are read at once. No statement is open while the caller has them. */
const PAGE = 256;

/** Converts a row. A damaged one is reported and skipped. */
function readRow({ name: file, notify }: Connection, row: Row | undefined): RegistryEntry | undefined {
  if (row === undefined) return undefined;
  const entry = entryOf(row);
  if (entry !== null) return entry;
  const message = `The registry ${file} has a damaged entry, number ${row['number']}, which is ignored.`;
  notify({ kind: 'damaged-entry', file, message });
  return undefined;
}

function* readAll(connection: Connection, domain: string | undefined): Iterable<RegistryEntry> {
  const { after, afterInDomain } = connection.statements;
  for (let last = 0; ; ) {
    const rows = connection.attempt(() =>
      domain === undefined ? after.all(last, PAGE) : afterInDomain.all(columnText(domain), last, PAGE),
    );
    for (const row of rows) {
      const entry = readRow(connection, row);
      if (entry !== undefined) yield entry;
    }
    if (rows.length < PAGE) return;
    last = rows.at(-1)!['number'] as number;
  }
}

/** Adds or replaces an entry, and ends the reservation of its key. */
function putEntry(statements: Statements, entry: NewEntry, now: number): RegistryEntry {
  const key = columnText(entry.key);
  const row = statements.byKey.get(key);
  const before = row === undefined ? undefined : (entryOf(row) ?? undefined);
  const state = stateAfter(entry, before, now);
  const { createdAt, lastSeenAt, timesSeen } = state;
  const covered = state.covered ? 1 : 0;
  const values = [columnText(entry.domain), entry.cost, createdAt, lastSeenAt, timesSeen, covered] as const;
  let number: number;
  if (row === undefined) {
    number = statements.insert.get(key, ...values, dataOf(entry))!['number'] as number;
  } else {
    number = row['number'] as number;
    removePostings(statements, number, before ?? null);
    statements.replace.run(...values, dataOf(entry), number);
  }
  statements.addPostings.run(columnText(entry.domain), number, columnTexts(entry.terms));
  statements.endReservation.run(key);
  return { ...entry, ...state };
}

function removeRow(statements: Statements, row: Row): void {
  const number = row['number'] as number;
  removePostings(statements, number, entryOf(row));
  statements.remove.run(number);
}

function removePostings(statements: Statements, number: number, entry: RegistryEntry | null): void {
  if (entry === null) statements.removeAllPostings.run(number);
  else statements.removePostings.run(columnText(entry.domain), number, columnTexts(entry.terms));
}

function columnTexts(texts: readonly string[]): string {
  return JSON.stringify(texts.map(columnText));
}

/** The maximum number of entries that one transaction removes, while other processes wait. */
const BATCH = 1024;

/** Removes a batch of expired entries. @returns their number */
function removeExpired(statements: Statements, expiredAt: number): number {
  const rows = statements.expired.all(expiredAt, BATCH);
  for (const row of rows) removeRow(statements, row);
  return rows.length;
}

/** Removes expired entries, and then, if there are too many entries, the least recently seen ones. */
function trim(statements: Statements, maxEntries: number, expiredAt: number, now: number): void {
  statements.endedReservations.run(now);
  removeExpired(statements, expiredAt);
  const surplus = (statements.size.get()!['entries'] as number) - maxEntries;
  if (surplus <= 0) return;
  for (const row of statements.leastSeen.all(Math.min(surplus, BATCH))) removeRow(statements, row);
}

/** Reservations by key, each with the time since which it is unchanged, in milliseconds of the monotonic clock. */
type SeenReservations = Map<string, { readonly token: string; readonly until: number; readonly since: number }>;

/** The maximum number of reservations whose time is remembered. */
const MAX_SEEN = 1000;

/** Reserves a key, unless another process has renewed it within its lease. Measured by the monotonic clock: the wall clock may jump. */
function reserve(
  statements: Statements,
  seen: SeenReservations,
  key: string,
  now: number,
  leaseMs: number,
): Exclude<Reservation, { readonly kind: 'known' }> {
  const held = columnText(key);
  const taken = statements.reservation.get(held);
  if (taken !== undefined) {
    const { token, until, lease } = taken as { token: string; until: number; lease: number };
    const before = seen.get(key);
    if (before?.token !== token || before.until !== until) noteReservation(seen, key, token, until);
    const left = seen.get(key)!.since + lease - performance.now();
    if (left > 0) return { kind: 'taken', expiresAt: now + left };
  }
  const token = crypto.randomUUID();
  statements.reserve.run(held, token, now + leaseMs, leaseMs);
  noteReservation(seen, key, token, now + leaseMs);
  return { kind: 'granted', token };
}

function noteReservation(seen: SeenReservations, key: string, token: string, until: number): void {
  seen.delete(key);
  seen.set(key, { token, until, since: performance.now() });
  if (seen.size > MAX_SEEN) seen.delete(seen.keys().next().value!);
}

/** Caches the last `size` entries that were requested. */
export function entryCache(size: number) {
  const entries = new Map<string, RegistryEntry>();

  function set(key: string, entry: RegistryEntry): void {
    // The last position: the first one is the least recently used.
    entries.delete(key);
    entries.set(key, entry);
    if (entries.size > size) entries.delete(entries.keys().next().value!);
  }

  return {
    set,
    get(key: string) {
      const found = entries.get(key);
      if (found !== undefined) set(key, found);
      return found;
    },
    delete: (key: string) => void entries.delete(key),
    clear: () => entries.clear(),
  };
}

/** Milliseconds after which hits are written. A process that is killed loses those of this time. */
const MAX_HIT_WAIT = 1000;

/** The number of entries with pending hits at which they are written earlier. */
const MAX_HIT_ENTRIES = 4096;

/** Counts hits by key until they are written. */
function hitCounts() {
  const counts = new Map<string, { readonly times: number; readonly last: number }>();
  let since = 0;
  return {
    add(key: string, now: number): void {
      if (counts.size === 0) since = now;
      counts.set(key, { times: (counts.get(key)?.times ?? 0) + 1, last: now });
    },
    // The absolute value, since the clock may be set back.
    isDue: (now: number) =>
      counts.size > 0 && (counts.size >= MAX_HIT_ENTRIES || Math.abs(now - since) >= MAX_HIT_WAIT),
    isEmpty: () => counts.size === 0,
    keys: () => counts.keys(),
    /** Returns the parameter of the statement that writes the counts. */
    asJson: () => JSON.stringify(Array.from(counts, ([key, { times, last }]) => [columnText(key), times, last])),
    clear: () => counts.clear(),
  };
}
