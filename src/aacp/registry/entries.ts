/** Validates entries, and counts them. */

import { resolveChoice } from '../../text/limits.js';
import type { NewEntry, RegistryEntry, RegistryStatistics } from './registry.js';

type EntryState = Pick<RegistryEntry, 'createdAt' | 'lastSeenAt' | 'timesSeen'> & { readonly covered: boolean };

/** The last millisecond that a Date can represent. */
export const MAX_TIME = 8.64e15;

/** The maximum number of terms by which an entry is found, and that are used in a search. The most specific ones come first. */
export const MAX_TERMS = 64;

/** The members of an entry that are strings, except its key. */
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

/** Copies the known members of an entry. @throws TypeError naming the member that is invalid */
export function checkedEntry(entry: NewEntry): NewEntry {
  for (const name of ['key', ...TEXTS] as const) {
    if (typeof entry[name] !== 'string')
      throw new TypeError(`${name} of an entry must be a string; got ${typeof entry[name]}`);
  }
  const { key, id, normalised, domain, returnAgent, priority, version, instruction, packet } = entry;
  const { model, cost, createdAt, givenAt, timesSeen, covered } = entry;
  if (model !== null && typeof model !== 'string') throw new TypeError('model of an entry must be a string or null');
  if (cost !== null && !(cost >= 0 && cost < Number.POSITIVE_INFINITY)) {
    throw new TypeError('cost of an entry must be a non-negative number of US dollars, or null');
  }
  if (createdAt !== undefined && !(Number.isInteger(createdAt) && createdAt >= 0 && createdAt <= MAX_TIME)) {
    throw new TypeError('createdAt of an entry must be a non-negative integer: milliseconds since 1970');
  }
  if (givenAt !== undefined && !(Number.isFinite(givenAt) && Math.abs(givenAt) <= MAX_TIME)) {
    throw new TypeError('givenAt of an entry must be a number of milliseconds since 1970');
  }
  if (timesSeen !== undefined && !(Number.isSafeInteger(timesSeen) && timesSeen >= 1)) {
    throw new TypeError('timesSeen of an entry must be a positive integer');
  }
  if (covered !== undefined && typeof covered !== 'boolean')
    throw new TypeError('covered of an entry must be true or false');
  if (entry.origin === undefined) throw new TypeError(`origin of an entry must be one of ${ORIGINS.join(', ')}`);
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

/** The number of entries per transaction. Between two, other processes can write. */
const BATCH = 512;

/** Validates entries in batches, so that no code of the caller runs during a transaction. @throws TypeError after the valid batches */
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

/** Removes duplicate terms and limits their number. @throws TypeError if `terms` is not a list of strings */
export function distinctTerms(terms: readonly string[]): readonly string[] {
  const isValid = Array.isArray(terms) && terms.every((term) => typeof term === 'string');
  if (!isValid) throw new TypeError('terms must be a list of strings');
  return [...new Set(terms)].slice(0, MAX_TERMS);
}

/** Returns the state of an entry after it was put, from the entry that it replaces. */
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

/** The statistics of the entries of one domain. */
export type DomainStatistics = Omit<RegistryStatistics, 'byDomain'> & { readonly domain: string };

export function statisticsOf(parts: Iterable<DomainStatistics>): RegistryStatistics {
  const sum = { entries: 0, timesSeen: 0, served: 0, pending: 0, spent: 0, saved: 0, unpriced: 0, expired: 0 };
  const names = Object.keys(sum) as (keyof typeof sum)[];
  const domains = new Map<string, number>();
  for (const part of parts) {
    for (const name of names) sum[name] += part[name];
    domains.set(part.domain, (domains.get(part.domain) ?? 0) + part.entries);
  }
  // No prototype, since a domain may be called __proto__.
  const byDomain: Record<string, number> = Object.create(null) as Record<string, number>;
  for (const [domain, entries] of domains) byDomain[domain] = entries;
  return { ...sum, byDomain };
}

/** The maximum number of entries of one term that are used in a search. */
export const MAX_POSTINGS = 256;

/** Selects the entries of a term for a search: the latest ones of a signature, which begins with `=`; none of a word with too many entries. */
export function followed(term: string, entries: readonly number[]): readonly number[] {
  if (entries.length <= MAX_POSTINGS) return entries;
  return term.startsWith('=') ? entries.slice(0, MAX_POSTINGS) : [];
}
