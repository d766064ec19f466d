import { StoreError } from '../../text/store-error.js';
import { byRarity } from '../matching/wording.js';
import {
  checkedBatches,
  checkedEntry,
  type DomainStatistics,
  distinctTerms,
  followed,
  MAX_POSTINGS,
  moreOften,
  stateAfter,
  statisticsOf,
} from './entries.js';
import { checkedLease, type RegistryOptions, resolveLimits } from './options.js';
import type { NewEntry, Registry, RegistryEntry, Reservation } from './registry.js';

/** A node of a circular list of entries in the order of their use. One node, the head, has no entry. */
interface ListNode {
  older: ListNode;
  newer: ListNode;
}

/** An entry with its number, which increases with every new key, and the number of times it was used. */
interface StoredEntry extends ListNode {
  readonly number: number;
  entry: RegistryEntry;
  served: number;
}

/** Creates a registry in memory. @throws TypeError if an option is invalid */
export function memoryRegistry(options: RegistryOptions = {}): Registry {
  const { maxEntries, trimEvery, now, expiredAt, expires } = resolveLimits(options);
  const byKey = new Map<string, StoredEntry>();
  const byNumber = new Map<number, StoredEntry>();
  // A list, since reinserting a key into a large Map takes longer than the rest of a hit.
  const lru = {} as ListNode;
  const index = memoryIndex();
  const reservations = memoryReservations();
  let numbers = 0;
  let puts = 0;
  let closed = false;

  function emptyRing(): void {
    lru.older = lru;
    lru.newer = lru;
  }
  emptyRing();

  function checkOpen(): void {
    if (closed) throw new StoreError('closed', 'The registry is closed.');
  }

  function isLive({ entry }: StoredEntry): boolean {
    return entry.createdAt > expiredAt(now());
  }

  function live(key: string): RegistryEntry | undefined {
    const found = byKey.get(key);
    return found !== undefined && isLive(found) ? found.entry : undefined;
  }

  function drop(key: string): boolean {
    const found = byKey.get(key);
    if (found === undefined) return false;
    index.remove(found.number, found.entry);
    byNumber.delete(found.number);
    unlink(found);
    return byKey.delete(key);
  }

  function purge(): number {
    const before = byKey.size;
    for (const [key, found] of byKey) if (!isLive(found)) drop(key);
    return before - byKey.size;
  }

  function trim(): void {
    if (expires) purge();
    while (byKey.size > maxEntries) drop((lru.newer as StoredEntry).entry.key);
  }

  function append(found: StoredEntry): void {
    found.older = lru.older;
    found.newer = lru;
    found.older.newer = found;
    lru.older = found;
  }

  function touch(found: StoredEntry): void {
    unlink(found);
    append(found);
  }

  function put(checked: NewEntry): RegistryEntry {
    // The code that iterates the entries may have closed the registry.
    checkOpen();
    const before = byKey.get(checked.key);
    const entry = { ...checked, ...stateAfter(checked, before?.entry, now()) };
    const after: StoredEntry = before ?? { number: ++numbers, entry, served: 0, older: lru, newer: lru };
    if (before === undefined) {
      byKey.set(entry.key, after);
      byNumber.set(after.number, after);
      append(after);
    } else {
      index.remove(before.number, before.entry);
      before.entry = entry;
      touch(before);
    }
    index.add(after.number, entry);
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
    markSeen(key) {
      checkOpen();
      const found = byKey.get(key);
      if (found === undefined) return;
      const { lastSeenAt, timesSeen } = found.entry;
      found.entry = { ...found.entry, lastSeenAt: Math.max(lastSeenAt, now()), timesSeen: moreOften(timesSeen, 1) };
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
    reserve(key, leaseMs) {
      checkOpen();
      const lease = checkedLease(leaseMs);
      const entry = live(key);
      return entry === undefined ? reservations.reserve(key, now(), lease) : { kind: 'known', entry };
    },
    renew(key, token, leaseMs) {
      checkOpen();
      return reservations.renew(key, token, now(), checkedLease(leaseMs));
    },
    release(key, token) {
      checkOpen();
      reservations.release(key, token);
    },
    *entries({ domain } = {}) {
      checkOpen();
      for (const { entry } of byNumber.values()) if (domain === undefined || entry.domain === domain) yield entry;
    },
    setCovered(key, covered) {
      checkOpen();
      const found = byKey.get(key);
      if (found !== undefined) found.entry = { ...found.entry, covered };
    },
    statistics() {
      checkOpen();
      return statisticsOf(rowsOf(byKey.values(), isLive));
    },
    purge() {
      checkOpen();
      return purge();
    },
    flush: checkOpen,
    close() {
      closed = true;
      byKey.clear();
      byNumber.clear();
      emptyRing();
    },
  };
}

function unlink({ older, newer }: ListNode): void {
  older.newer = newer;
  newer.older = older;
}

function* rowsOf(all: Iterable<StoredEntry>, isLive: (found: StoredEntry) => boolean): Iterable<DomainStatistics> {
  for (const found of all) {
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

/** The numbers of the entries of each term, in ascending order, by domain. */
function memoryIndex() {
  const domains = new Map<string, Map<string, number[]>>();
  return {
    add(number: number, { domain, terms }: RegistryEntry): void {
      const index = domains.get(domain) ?? new Map<string, number[]>();
      domains.set(domain, index);
      for (const term of terms) {
        const numbers = index.get(term);
        if (numbers === undefined) index.set(term, [number]);
        // Most entries are new, and have the highest number.
        else if (number > numbers.at(-1)!) numbers.push(number);
        else {
          const place = placeOf(numbers, number);
          if (numbers[place] !== number) numbers.splice(place, 0, number);
        }
      }
    },
    remove(number: number, { domain, terms }: RegistryEntry): void {
      const index = domains.get(domain);
      for (const term of terms) {
        const numbers = index?.get(term);
        if (numbers === undefined) continue;
        const place = placeOf(numbers, number);
        if (numbers[place] === number) numbers.splice(place, 1);
        if (numbers.length === 0) index?.delete(term);
      }
      if (index?.size === 0) domains.delete(domain);
    },
    /** Returns the numbers of the entries to search for a term, the latest first. */
    postings(domain: string, term: string): readonly number[] {
      const numbers = domains.get(domain)?.get(term);
      return numbers === undefined ? [] : followed(term, numbers.slice(-MAX_POSTINGS - 1).reverse());
    },
  };
}

/** Returns the index of a number, or the one at which to insert it. */
function placeOf(numbers: readonly number[], number: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (numbers[middle]! < number) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The number of reservations beyond which expired ones are removed. */
const SWEEP = 1000;

function memoryReservations() {
  const reservations = new Map<string, { readonly token: string; readonly expiresAt: number }>();
  let issued = 0;
  let sweepAt = SWEEP;

  function sweep(now: number): void {
    for (const [key, held] of reservations) if (held.expiresAt <= now) reservations.delete(key);
    sweepAt = Math.max(SWEEP, 2 * reservations.size);
  }

  return {
    reserve(key: string, now: number, leaseMs: number): Reservation {
      const held = reservations.get(key);
      if (held !== undefined && held.expiresAt > now) return { kind: 'taken', expiresAt: held.expiresAt };
      if (reservations.size >= sweepAt) sweep(now);
      const token = `${++issued}`;
      reservations.set(key, { token, expiresAt: now + leaseMs });
      return { kind: 'granted', token };
    },
    renew(key: string, token: string, now: number, leaseMs: number): boolean {
      if (reservations.get(key)?.token !== token) return false;
      reservations.set(key, { token, expiresAt: now + leaseMs });
      return true;
    },
    release(key: string, token: string): void {
      if (reservations.get(key)?.token === token) reservations.delete(key);
    },
    end: (key: string) => void reservations.delete(key),
  };
}
