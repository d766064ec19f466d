/** Entries, made in one place. */

import { resolveChoice } from '../../text/limits.js';
import type { NewEntry, RegistryEntry, RegistryStatistics } from './registry.js';

/** What changes of an entry while it is kept. */
type EntryState = Pick<RegistryEntry, 'created' | 'lastSeen' | 'timesSeen'> & { readonly covered: boolean };

/** An entry with its state. */
export function entryWith(entry: Omit<NewEntry, keyof EntryState>, state: EntryState): RegistryEntry {
  // Member by member: to spread what is not one object takes many times as long, and this is done at each hit.
  return {
    key: entry.key,
    id: entry.id,
    instruction: entry.instruction,
    normalised: entry.normalised,
    domain: entry.domain,
    returnAgent: entry.returnAgent,
    priority: entry.priority,
    version: entry.version,
    packet: entry.packet,
    origin: entry.origin,
    model: entry.model,
    cost: entry.cost,
    terms: entry.terms,
    said: entry.said,
    created: state.created,
    lastSeen: state.lastSeen,
    timesSeen: state.timesSeen,
    covered: state.covered,
  };
}

/** The last millisecond that a date can name. */
export const MAX_TIME = 8.64e15;

/** Most terms that an entry is found by, and that are followed in a search. The most telling ones come first. */
export const MAX_TERMS = 64;

const TEXTS = [
  'key',
  'id',
  'normalised',
  'domain',
  'returnAgent',
  'priority',
  'version',
  'instruction',
  'packet',
] as const satisfies readonly (keyof NewEntry)[];

/** Where a packet may come from. */
export const ORIGINS = ['model', 'import', 'host'] as const satisfies readonly NewEntry['origin'][];

/**
 * An entry with what belongs to it and nothing else; each term once, and not too many.
 *
 * @throws TypeError naming the member that is none
 */
export function checkedEntry(entry: NewEntry): NewEntry {
  for (const name of TEXTS) {
    if (typeof entry[name] !== 'string')
      throw new TypeError(`${name} of an entry is a text; got ${typeof entry[name]}`);
  }
  const { key, id, normalised, domain, returnAgent, priority, version, instruction, packet } = entry;
  const { model, cost, created, said, timesSeen, covered } = entry;
  if (model !== null && typeof model !== 'string') throw new TypeError('model of an entry is a text or null');
  if (cost !== null && !(cost >= 0 && cost < Number.POSITIVE_INFINITY)) {
    throw new TypeError('cost of an entry is an amount of dollars, 0 or more, or null');
  }
  if (created !== undefined && !(Number.isInteger(created) && created >= 0 && created <= MAX_TIME)) {
    throw new TypeError('created of an entry is a whole number of milliseconds since 1970');
  }
  if (said !== undefined && !(Number.isFinite(said) && Math.abs(said) <= MAX_TIME)) {
    throw new TypeError('said must be a number of milliseconds since 1970');
  }
  if (timesSeen !== undefined && !(Number.isSafeInteger(timesSeen) && timesSeen >= 1)) {
    throw new TypeError('timesSeen of an entry is a whole number above 0');
  }
  if (covered !== undefined && typeof covered !== 'boolean')
    throw new TypeError('covered of an entry is true or false');
  if (entry.origin === undefined) throw new TypeError(`origin of an entry is one of ${ORIGINS.join(', ')}`);
  // Member by member, as in `entryWith`.
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
    created,
    said,
    timesSeen,
    covered,
  };
}

/** Entries that are put in together: the more, the fewer transactions; others may want to write meanwhile. */
const BATCH = 512;

/**
 * Checked entries, in batches. No code of the caller's runs while one is put in.
 *
 * @throws TypeError on what is no entry, after the batches before it
 */
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

/**
 * Each term once, and not too many.
 *
 * @throws TypeError when they are no list of texts
 */
export function distinctTerms(terms: readonly string[]): readonly string[] {
  if (!Array.isArray(terms)) throw new TypeError('terms is a list of texts');
  const distinct = new Set<string>();
  for (const term of terms as readonly unknown[]) {
    if (typeof term !== 'string') throw new TypeError('terms is a list of texts');
    if (distinct.size < MAX_TERMS) distinct.add(term);
  }
  return [...distinct];
}

/** The state of an entry after it was put in, from that of the one before. */
export function stateAfter(entry: NewEntry, before: RegistryEntry | undefined, now: number): EntryState {
  const { timesSeen = 0, lastSeen = 0 } = before ?? {};
  return {
    created: entry.created ?? now,
    lastSeen: Math.max(lastSeen, now),
    covered: entry.covered ?? before?.covered ?? false,
    timesSeen: entry.timesSeen === undefined ? moreOften(timesSeen, 1) : Math.max(timesSeen, entry.timesSeen),
  };
}

/** A sum of counts, which stays one that can be counted on. */
export function moreOften(times: number, more: number): number {
  return Math.min(times + more, Number.MAX_SAFE_INTEGER);
}

/** The sums over some entries of one domain. */
export interface DomainStatistics extends Omit<RegistryStatistics, 'byDomain'> {
  readonly domain: string;
}

export function statisticsOf(parts: Iterable<DomainStatistics>): RegistryStatistics {
  const sum = { entries: 0, timesSeen: 0, served: 0, pending: 0, spent: 0, saved: 0, unpriced: 0, expired: 0 };
  const names = Object.keys(sum) as (keyof typeof sum)[];
  const domains = new Map<string, number>();
  for (const part of parts) {
    for (const name of names) sum[name] += part[name];
    domains.set(part.domain, (domains.get(part.domain) ?? 0) + part.entries);
  }
  // Domains are other people's words: __proto__ is one like any other.
  const byDomain: Record<string, number> = Object.create(null) as Record<string, number>;
  for (const [domain, entries] of domains) byDomain[domain] = entries;
  return { ...sum, byDomain };
}

/** How many entries of one term are followed. */
export const MAX_POSTINGS = 256;

/**
 * Those of the entries with a term that are followed. A word that more of them have tells little: none are. A term that stands
 * for all telling words, which begins with `=`, finds what can serve: the latest are.
 *
 * @param entries all of them, or the latest, and more than `MAX_POSTINGS`; the latest first
 */
export function followed(term: string, entries: readonly number[]): readonly number[] {
  if (entries.length <= MAX_POSTINGS) return entries;
  return term.startsWith('=') ? entries.slice(0, MAX_POSTINGS) : [];
}

/**
 * The numbers of entries, those first that share the rarest terms: a term counts the more, the fewer entries have it. Among equals, the
 * latest come first: what a model did badly, it may have learnt since.
 *
 * @param postings for each term the entries that have it
 */
export function byRarity(postings: readonly (readonly number[])[]): readonly number[] {
  const weights = new Map<number, number>();
  for (const entries of postings) {
    const weight = 1 / entries.length;
    for (const entry of entries) weights.set(entry, (weights.get(entry) ?? 0) + weight);
  }
  return [...weights].sort(([a, weightA], [b, weightB]) => weightB - weightA || b - a).map(([entry]) => entry);
}
