/** Which entries of a domain have a term, in memory. */
import { followed, MAX_POSTINGS } from './rarity.js';
import type { RegistryEntry } from './registry.js';

/** The numbers of the entries by term, ascending. */
type Terms = Map<string, number[]>;

export interface MemoryIndex {
  readonly add: (number: number, entry: RegistryEntry) => void;
  readonly remove: (number: number, entry: RegistryEntry) => void;
  /** The numbers of the entries that have a term, as far as they are followed; the latest first. */
  readonly postings: (domain: string, term: string) => readonly number[];
}

export function memoryIndex(): MemoryIndex {
  const domains = new Map<string, Terms>();
  return {
    add(number, { domain, terms }) {
      const index: Terms = domains.get(domain) ?? new Map();
      domains.set(domain, index);
      for (const term of terms) {
        const numbers = index.get(term);
        if (numbers === undefined) index.set(term, [number]);
        // Most are new, and have the highest number so far.
        else if (number > numbers.at(-1)!) numbers.push(number);
        else {
          const place = placeOf(numbers, number);
          if (numbers[place] !== number) numbers.splice(place, 0, number);
        }
      }
    },
    remove(number, { domain, terms }) {
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
    postings(domain, term) {
      const numbers = domains.get(domain)?.get(term);
      // There may be any number of them.
      return numbers === undefined ? [] : followed(term, numbers.slice(-MAX_POSTINGS - 1).reverse());
    },
  };
}

/** Where a number stands, or would stand. */
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
