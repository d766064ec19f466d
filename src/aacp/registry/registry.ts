/** The registry of instructions that were encoded before, with their packets (draft-mackay-aacp-01, section 6.3). */

import type { NewEntry, RegistryEntry } from '../matching/entry.js';

export type { NewEntry, RegistryEntry, RegistryRequest } from '../matching/entry.js';

/** The result of `reserve`, which decides whether the caller may call the model for an instruction. */
export type Reservation =
  | {
      /** The caller holds the reservation. */
      readonly kind: 'granted';
      /** Identifies the reservation in `renew` and `release`. */
      readonly token: string;
    }
  | {
      /** Another caller holds the reservation. */
      readonly kind: 'taken';
      /** The time at which that reservation expires, in milliseconds since 1970. */
      readonly expiresAt: number;
    }
  | {
      /** The registry already has an entry. */
      readonly kind: 'known';
      /** The entry. */
      readonly entry: RegistryEntry;
    };

/** Statistics of all entries, including expired ones. */
export interface RegistryStatistics {
  /** The number of entries. */
  readonly entries: number;
  /** The sum of `timesSeen`. */
  readonly timesSeen: number;
  /** The number of times that an entry was used instead of a call of the model. */
  readonly served: number;
  /** The number of entries that no rule covers yet, and for which a rule could be written. */
  readonly pending: number;
  /** The cost of the entries in US dollars, as far as it is known. */
  readonly spent: number;
  /** The US dollars that the uses would have cost, at the price of each entry. */
  readonly saved: number;
  /** The number of entries whose price is unknown. They are not included in `spent` and `saved`. */
  readonly unpriced: number;
  /** The number of expired entries. */
  readonly expired: number;
  /** The number of entries of each domain. */
  readonly byDomain: Readonly<Record<string, number>>;
}

/**
 * A registry. Its methods are synchronous, like the database drivers. All but `markSeen` have written their changes when they return. They
 * throw a StoreError if the storage fails, and a TypeError if an argument is invalid.
 */
export interface Registry {
  /** Returns an entry that has not expired. The time does not depend on the number of entries. Does not count as a use. */
  readonly get: (key: string) => RegistryEntry | undefined;
  /** Adds an entry, or replaces the packet of the entry with its key. Ends the reservation of the key. */
  readonly put: (entry: NewEntry) => RegistryEntry;
  /**
   * Adds entries in order, much faster than one by one: several hundred per transaction. If an entry fails, later ones are not added;
   * those written before it remain. @returns the number of entries added
   */
  readonly putAll: (entries: Iterable<NewEntry>) => number;
  /** Counts that an entry was used. The count may be written later, with `flush` at the latest. */
  readonly markSeen: (key: string) => void;
  /** Removes an entry. @returns `true` if it existed */
  readonly remove: (key: string) => boolean;
  /**
   * Returns entries of a domain that share terms, those with the rarest terms first, without expired ones. Terms that too many entries
   * have are ignored, so that the time does not grow with the number of entries.
   */
  readonly candidates: (domain: string, terms: readonly string[], limit: number) => readonly RegistryEntry[];
  /** Reserves a key for `leaseMs` milliseconds, to be the only caller that calls the model for it. Holds across processes. */
  readonly reserve: (key: string, leaseMs: number) => Reservation;
  /** Extends a reservation to `leaseMs` milliseconds from now. @returns `false` if another caller has taken it */
  readonly renew: (key: string, token: string, leaseMs: number) => boolean;
  /** Releases a reservation without adding an entry. */
  readonly release: (key: string, token: string) => void;
  /** Iterates all entries, including expired ones, in the order in which they were added. Entries may be added or removed meanwhile. */
  readonly entries: (filter?: { readonly domain?: string | undefined }) => Iterable<RegistryEntry>;
  /** Sets whether a rule covers an entry. A covered entry is not pending. */
  readonly setCovered: (key: string, covered: boolean) => void;
  /** Returns the statistics. */
  readonly statistics: () => RegistryStatistics;
  /** Removes expired entries. @returns the number of entries removed */
  readonly purge: () => number;
  /** Writes the counts of `markSeen` that are not written yet. */
  readonly flush: () => void;
  /** Writes pending counts and closes the registry. */
  readonly close: () => void;
  /** The path of the file; `null` for a registry in memory. */
  readonly file: string | null;
}
