/** A registry for as long as the process runs. */

import { checkedBatches, checkedEntry, distinctTerms, moreOften, stateAfter } from './checked-entry.js';
import { entryWith } from './entries.js';
import { RegistryError } from './errors.js';
import { memoryIndex } from './memory-index.js';
import { recency, type Seen } from './memory-recency.js';
import { memoryReservations } from './memory-reservations.js';
import { checkedLease, type RegistryOptions, resolveLimits } from './options.js';
import { byRarity } from './rarity.js';
import type { NewEntry, Registry, RegistryEntry } from './registry.js';
import { type DomainStatistics, statisticsOf } from './statistics.js';

/** An entry with what only the registry needs to know. */
interface Kept extends Seen {
  /** Rises with every new key. */
  readonly number: number;
  entry: RegistryEntry;
  served: number;
}

/**
 * A registry without a file.
 *
 * @throws TypeError on options that are none
 */
export function memoryRegistry(options: RegistryOptions = {}): Registry {
  const { maxEntries, trimEvery, now, expiredAt, expires } = resolveLimits(options);
  const kept = new Map<string, Kept>();
  const byNumber = new Map<number, Kept>();
  const { touch, oldest } = recency(() => kept.values());
  const index = memoryIndex();
  const reservations = memoryReservations();
  let numbers = 0;
  let puts = 0;
  let closed = false;

  function checkOpen(): void {
    if (closed) throw new RegistryError({ code: 'registry-closed', message: 'The registry was closed.' });
  }

  function isLive({ entry }: Kept): boolean {
    return entry.created > expiredAt(now());
  }

  function live(key: string): RegistryEntry | undefined {
    const found = kept.get(key);
    return found !== undefined && isLive(found) ? found.entry : undefined;
  }

  function drop(key: string): boolean {
    const found = kept.get(key);
    if (found === undefined) return false;
    index.remove(found.number, found.entry);
    byNumber.delete(found.number);
    found.turn = 0;
    return kept.delete(key);
  }

  function purge(): number {
    const before = kept.size;
    for (const [key, found] of kept) if (!isLive(found)) drop(key);
    return before - kept.size;
  }

  function trim(): void {
    if (expires) purge();
    for (let surplus = kept.size - maxEntries; surplus > 0; surplus--) {
      const last = oldest();
      if (last !== undefined) drop(last.entry.key);
    }
  }

  function put(checked: NewEntry): RegistryEntry {
    // Whoever gave the entries may have closed the registry meanwhile.
    checkOpen();
    const before = kept.get(checked.key);
    const entry = entryWith(checked, stateAfter(checked, before?.entry, now()));
    const after: Kept = before ?? { number: ++numbers, entry, served: 0, turn: 0 };
    if (before === undefined) {
      kept.set(entry.key, after);
      byNumber.set(after.number, after);
    } else {
      index.remove(before.number, before.entry);
      before.entry = entry;
    }
    index.add(after.number, entry);
    touch(after);
    reservations.end(entry.key);
    if (++puts % trimEvery === 0) trim();
    return entry;
  }

  return {
    file: null,
    get(key) {
      checkOpen();
      return live(key);
    },
    put(given) {
      checkOpen();
      return put(checkedEntry(given));
    },
    putAll(given) {
      checkOpen();
      let many = 0;
      for (const batch of checkedBatches(given)) {
        for (const entry of batch) put(entry);
        many += batch.length;
      }
      return many;
    },
    seen(key) {
      checkOpen();
      const found = kept.get(key);
      if (found === undefined) return;
      const { created, lastSeen, timesSeen, covered } = found.entry;
      found.entry = entryWith(found.entry, {
        created,
        covered: covered === true,
        lastSeen: Math.max(lastSeen, now()),
        timesSeen: moreOften(timesSeen, 1),
      });
      found.served++;
      touch(found);
    },
    remove(key) {
      checkOpen();
      return drop(key);
    },
    candidates(domain, terms, limit) {
      checkOpen();
      const postings = distinctTerms(terms).map((term) => index.postings(domain, term));
      const found: RegistryEntry[] = [];
      for (const number of byRarity(postings)) {
        if (found.length >= limit) break;
        const candidate = byNumber.get(number)!;
        if (isLive(candidate)) found.push(candidate.entry);
      }
      return found;
    },
    reserve(key, milliseconds) {
      checkOpen();
      const lease = checkedLease(milliseconds);
      const entry = live(key);
      return entry === undefined ? reservations.reserve(key, now(), lease) : { kind: 'known', entry };
    },
    renew(key, token, milliseconds) {
      checkOpen();
      return reservations.renew(key, token, now(), checkedLease(milliseconds));
    },
    release(key, token) {
      checkOpen();
      reservations.release(key, token);
    },
    *entries({ domain } = {}) {
      checkOpen();
      for (const { entry } of kept.values()) if (domain === undefined || entry.domain === domain) yield entry;
    },
    setCovered(key, covered) {
      checkOpen();
      const found = kept.get(key);
      if (found !== undefined) found.entry = { ...found.entry, covered };
    },
    statistics() {
      checkOpen();
      return statisticsOf(rowsOf(kept.values(), isLive));
    },
    purge() {
      checkOpen();
      return purge();
    },
    flush: checkOpen,
    close() {
      closed = true;
      kept.clear();
      byNumber.clear();
    },
  };
}

function* rowsOf(kept: Iterable<Kept>, isLive: (kept: Kept) => boolean): Iterable<DomainStatistics> {
  for (const found of kept) {
    const { domain, cost, timesSeen, covered } = found.entry;
    yield {
      domain,
      entries: 1,
      timesSeen,
      served: found.served,
      pending: covered === true ? 0 : 1,
      spent: cost ?? 0,
      saved: (cost ?? 0) * found.served,
      unpriced: cost === null ? 1 : 0,
      expired: isLive(found) ? 0 : 1,
    };
  }
}
