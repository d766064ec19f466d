/** Checks entries, and ranks them by the terms they share. */

import { resolveChoice } from '../../text/limits.js';
import type { NewEntry, RegistryEntry, RegistryStatistics } from './registry.js';

type EntryState = Pick<RegistryEntry, 'createdAt' | 'lastSeenAt' | 'timesSeen'> & { readonly covered: boolean };

/** The last millisecond that a date can name. */
export const MAX_TIME = 8.64e15;

/** Most terms that an entry is found by, and that are followed in a search. The most telling ones come first. */
export const MAX_TERMS = 64;

/** The texts of an entry beside its key. */
export const TEXTS = [
  'id',
  'normalised',
  'domain',
  'returnAgent',
  'priority',
  'version',
  'instruction',
  'packet',
] as const satisfies readonly (keyof NewEntry)[];

export const ORIGINS = ['model', 'import', 'host'] as const satisfies readonly NewEntry['origin'][];

/** Copies the known members of an entry. @throws TypeError naming a member that is invalid */
export function checkedEntry(entry: NewEntry): NewEntry {
  for (const name of ['key', ...TEXTS] as const) {
    if (typeof entry[name] !== 'string')
      throw new TypeError(`${name} of an entry is a text; got ${typeof entry[name]}`);
  }
  const { key, id, normalised, domain, returnAgent, priority, version, instruction, packet } = entry;
  const { model, cost, createdAt, givenAt, timesSeen, covered } = entry;
  if (model !== null && typeof model !== 'string') throw new TypeError('model of an entry is a text or null');
  if (cost !== null && !(cost >= 0 && cost < Number.POSITIVE_INFINITY)) {
    throw new TypeError('cost of an entry is an amount of dollars, 0 or more, or null');
  }
  if (createdAt !== undefined && !(Number.isInteger(createdAt) && createdAt >= 0 && createdAt <= MAX_TIME)) {
    throw new TypeError('createdAt of an entry must be a non-negative integer: milliseconds since 1970');
  }
  if (givenAt !== undefined && !(Number.isFinite(givenAt) && Math.abs(givenAt) <= MAX_TIME)) {
    throw new TypeError('givenAt of an entry must be a number of milliseconds since 1970');
  }
  if (timesSeen !== undefined && !(Number.isSafeInteger(timesSeen) && timesSeen >= 1)) {
    throw new TypeError('timesSeen of an entry is a whole number above 0');
  }
  if (covered !== undefined && typeof covered !== 'boolean')
    throw new TypeError('covered of an entry is true or false');
  if (entry.origin === undefined) throw new TypeError(`origin of an entry is one of ${ORIGINS.join(', ')}`);
  return {
    key,
    id,
    normalised,
    domain,
    returnAgent,
    priority,
    version,
    instruction,
    packet,
    origin: resolveChoice('origin of an entry', entry.origin, ORIGINS),
    model,
    cost,
    terms: distinctTerms(entry.terms),
    createdAt,
    givenAt,
    timesSeen,
    covered,
  };
}

/** Entries per transaction: others may want to write between two. */
const BATCH = 512;

/** Checks entries, in batches, so that none of the caller's code runs during a transaction. @throws TypeError after the valid batches */
export function* checkedBatches(entries: Iterable<NewEntry>): Iterable<readonly NewEntry[]> {
  let batch: NewEntry[] = [];
  for (const entry of entries) {
    batch.push(checkedEntry(entry));
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** @throws TypeError if `terms` is not a list of strings */
export function distinctTerms(terms: readonly string[]): readonly string[] {
  const isValid = Array.isArray(terms) && terms.every((term) => typeof term === 'string');
  if (!isValid) throw new TypeError('terms is a list of texts');
  return [...new Set(terms)].slice(0, MAX_TERMS);
}

/** The state of an entry after it was put in, from that of the one before. */
export function stateAfter(entry: NewEntry, before: RegistryEntry | undefined, now: number): EntryState {
  const { timesSeen = 0, lastSeenAt = 0 } = before ?? {};
  return {
    createdAt: entry.createdAt ?? now,
    lastSeenAt: Math.max(lastSeenAt, now),
    covered: entry.covered ?? before?.covered ?? false,
    timesSeen: entry.timesSeen === undefined ? moreOften(timesSeen, 1) : Math.max(timesSeen, entry.timesSeen),
  };
}

export function moreOften(times: number, more: number): number {
  return Math.min(times + more, Number.MAX_SAFE_INTEGER);
}

/** Sums over entries of one domain. */
export type DomainStatistics = Omit<RegistryStatistics, 'byDomain'> & { readonly domain: string };

export function statisticsOf(parts: Iterable<DomainStatistics>): RegistryStatistics {
  const sum = { entries: 0, timesSeen: 0, served: 0, pending: 0, spent: 0, saved: 0, unpriced: 0, expired: 0 };
  const names = Object.keys(sum) as (keyof typeof sum)[];
  const domains = new Map<string, number>();
  for (const part of parts) {
    for (const name of names) sum[name] += part[name];
    domains.set(part.domain, (domains.get(part.domain) ?? 0) + part.entries);
  }
  // No prototype: a domain may be called __proto__.
  const byDomain: Record<string, number> = Object.create(null) as Record<string, number>;
  for (const [domain, entries] of domains) byDomain[domain] = entries;
  return { ...sum, byDomain };
}

/** How many entries of one term are followed. */
export const MAX_POSTINGS = 256;

/** Returns the latest entries of a signature, which begins with `=`; and none for a word that too many entries have. */
export function followed(term: string, entries: readonly number[]): readonly number[] {
  if (entries.length <= MAX_POSTINGS) return entries;
  return term.startsWith('=') ? entries.slice(0, MAX_POSTINGS) : [];
}
