/** Which entries of a domain have a term, in memory. */
import { followed, MAX_POSTINGS } from './rarity.js';
import type { RegistryEntry } from './registry.js';

type Terms = Map<string, Set<number>>;

export interface MemoryIndex {
  readonly add: (number: number, entry: RegistryEntry) => void;
  readonly remove: (number: number, entry: RegistryEntry) => void;
  /** The numbers of the entries that have a term, as far as they are followed. */
  readonly postings: (domain: string, term: string) => readonly number[];
}

export function memoryIndex(): MemoryIndex {
  const domains = new Map<string, Terms>();
  return {
    add(number, { domain, terms }) {
      const index = domains.get(domain) ?? new Map<string, Set<number>>();
      domains.set(domain, index);
      for (const term of terms) {
        const numbers = index.get(term);
        if (numbers === undefined) index.set(term, new Set([number]));
        else numbers.add(number);
      }
    },
    remove(number, { domain, terms }) {
      const index = domains.get(domain);
      for (const term of terms) {
        const numbers = index?.get(term);
        numbers?.delete(number);
        if (numbers?.size === 0) index?.delete(term);
      }
      if (index?.size === 0) domains.delete(domain);
    },
    postings(domain, term) {
      const found: number[] = [];
      for (const number of domains.get(domain)?.get(term) ?? []) {
        found.push(number);
        // There may be any number of them.
        if (found.length > MAX_POSTINGS) break;
      }
      return followed(term, found);
    },
  };
}
