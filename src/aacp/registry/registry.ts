/** The registry: instructions that were encoded before, with their packets (draft-mackay-aacp-01, section 6.3). */

import type { NewEntry, RegistryEntry } from '../matching/entry.js';

export type { NewEntry, RegistryEntry, RegistryRequest } from '../matching/entry.js';

/** The answer to `reserve`: whether the caller may ask the model for an instruction. */
export type Reservation =
  | { readonly kind: 'granted'; readonly token: string }
  /** Another caller holds it; milliseconds since 1970 at which that reservation expires. */
  | { readonly kind: 'taken'; readonly expiresAt: number }
  | { readonly kind: 'known'; readonly entry: RegistryEntry };

/** Sums over all entries, expired ones included. */
export interface RegistryStatistics {
  readonly entries: number;
  /** The sum of `timesSeen`. */
  readonly timesSeen: number;
  /** Times that an entry was served instead of a call. */
  readonly served: number;
  /** Entries that no rule covers yet: what a rule could be written for. */
  readonly pending: number;
  /** US dollars that the entries cost, as far as known. */
  readonly spent: number;
  /** US dollars that the times served would have cost, at each entry's own price. */
  readonly saved: number;
  /** Entries whose price is not known: they are in neither sum. */
  readonly unpriced: number;
  readonly expired: number;
  readonly byDomain: Readonly<Record<string, number>>;
}

/**
 * A registry. Its methods are synchronous, as the drivers are; all but `seen` have written when they return. They throw a
 * StoreError if the storage fails, and a TypeError on invalid arguments.
 */
export interface Registry {
  /** An entry that has not expired. Takes the same time whatever the number of entries. Counts nothing. */
  readonly get: (key: string) => RegistryEntry | undefined;
  /** Puts in an entry, or replaces the packet of the one of its key; gives up the reservation of the key. */
  readonly put: (entry: NewEntry) => RegistryEntry;
  /**
   * Puts in entries in their order, far faster than one by one: some hundreds per transaction. After one that fails, none is
   * put in; those written before it stay. @returns how many were put in
   */
  readonly putAll: (entries: Iterable<NewEntry>) => number;
  /** Counts that an entry was served. May be written later, at the latest with `flush`. */
  readonly markSeen: (key: string) => void;
  readonly remove: (key: string) => boolean;
  /**
   * Entries of a domain that share terms, those with the rarest first; expired ones left out. Terms that too many entries have are
   * not followed, so that the time does not grow with their number.
   */
  readonly candidates: (domain: string, terms: readonly string[], limit: number) => readonly RegistryEntry[];
  /** Asks to be the one who calls the model, for so many milliseconds. Holds across processes. */
  readonly reserve: (key: string, milliseconds: number) => Reservation;
  /** Keeps a reservation for so many milliseconds more. @returns `false` when it is another's by now */
  readonly renew: (key: string, token: string, milliseconds: number) => boolean;
  /** Gives a reservation up without an entry. */
  readonly release: (key: string, token: string) => void;
  /** All that are kept, expired ones included, in the order in which they came. Entries may come and go meanwhile. */
  readonly entries: (filter?: { readonly domain?: string | undefined }) => Iterable<RegistryEntry>;
  /** Notes that a rule covers an entry, so that it is no longer pending; or that none does. */
  readonly setCovered: (key: string, covered: boolean) => void;
  readonly statistics: () => RegistryStatistics;
  /** Drops what has expired. @returns how many entries */
  readonly purge: () => number;
  readonly flush: () => void;
  readonly close: () => void;
  /** Where it is kept; `null` for memory. */
  readonly file: string | null;
}
