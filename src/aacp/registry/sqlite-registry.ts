/** A registry over the connection to its file. */

import { checkedBatches, checkedEntry } from './checked-entry.js';
import { entryCache } from './entry-cache.js';
import type { RegistryError } from './errors.js';
import { hitCounts } from './hit-counts.js';
import { checkedLease, type Limits } from './options.js';
import type { NewEntry, Registry, RegistryEntry } from './registry.js';
import type { Connection } from './sqlite-connection.js';
import { readAll, readCandidates, readRow, readStatistics } from './sqlite-reads.js';
import { columnText } from './sqlite-rows.js';
import {
  noteReservation,
  putEntry,
  removeExpired,
  removeRow,
  reserve,
  type SeenReservations,
  trim,
  writeHits,
} from './sqlite-writes.js';
import { statisticsOf } from './statistics.js';

/** Entries that are held in memory, at least; see `entryCache`. Some ten megabytes. */
const CACHED = 8192;

export function sqliteRegistryOver(connection: Connection, limits: Limits): Registry {
  const { statements, attempt } = connection;
  const { now, expiredAt } = limits;
  const reservations: SeenReservations = new Map();
  const cache = entryCache(CACHED);
  const hits = hitCounts();
  let version: unknown = null;
  let puts = 0;

  /** Empties the cache when another connection has written. Asking costs a small part of reading an entry. */
  function checkFresh(): void {
    const current = statements.dataVersion.get()!['data_version'];
    // A file that is only read may have been opened again: then the number tells nothing.
    if (current === version && !connection.isReadOnly) return;
    version = current;
    cache.clear();
  }

  /** The entry of a key, expired or not. */
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
    return entry !== undefined && entry.created > expiredAt(now()) ? entry : undefined;
  }

  /** Writes, and the counted hits with it: one transaction costs about as much as two changes in one. */
  function write<T>(step: () => T): T {
    const result = connection.write(() => {
      writeHits(statements, hits);
      return step();
    });
    for (const [key] of hits.all()) cache.delete(key);
    hits.clear();
    return result;
  }

  function flush(): void {
    if (hits.isEmpty()) attempt(nothing);
    else write(nothing);
  }

  /** The counts wait when another process is writing; they are not lost. */
  function flushIfFree(): void {
    try {
      flush();
    } catch (thrown) {
      if ((thrown as RegistryError).code !== 'registry-busy') throw thrown;
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

  /** Removes what has expired. Not all at once: others may want to write. */
  function purge(): number {
    let removed = 0;
    for (;;) {
      const batch = write(() => removeExpired(statements, expiredAt(now())));
      removed += batch.removed;
      if (!batch.more) break;
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
    seen(key) {
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
      attempt(() => readCandidates(connection, domain, terms, limit, expiredAt(now()))),
    reserve(key, milliseconds) {
      const lease = checkedLease(milliseconds);
      const known = attempt(() => live(key));
      if (known !== undefined) return { kind: 'known', entry: known };
      return write(() => {
        // Between the look and the lock, another process may have put it in.
        const entry = live(key);
        return entry === undefined ? reserve(statements, reservations, key, now(), lease) : { kind: 'known', entry };
      });
    },
    renew(key, token, milliseconds) {
      const lease = checkedLease(milliseconds);
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
      return attempt(() => statisticsOf(readStatistics(connection, expiredAt(now()))));
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

/** The step of those who only want to know that the registry is open, or to write what waits. */
function nothing(): void {}
