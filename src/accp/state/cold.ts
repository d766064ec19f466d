/** Tier 3: values in the store, which take no room in a context (draft-benzing-accp-00, section 5.1). */
import { sha256Hex } from '../../text/sha256.js';
import { accpError } from '../errors.js';
import type { Json } from '../message/json.js';
import type { Collection, Journal } from '../store/journal.js';
import { type ColdEntry, DELETED } from '../store/store.js';
import { storedValue, toText } from '../store/text.js';
import { isExpired, type Lookup } from './tier.js';

/** The minimum number of digits of a hash in a key; more if two values share them. */
const HASH_DIGITS = 6;

export type ColdTier = ReturnType<typeof createCold>;

interface ColdOptions {
  readonly session: string;
  readonly journal: Journal;
  readonly now: () => number;
  readonly grants: Iterable<string>;
}

export function createCold({ session, journal, now, grants }: ColdOptions) {
  const granted: Collection<true> = journal.collection('state.grants');
  const initial = new Set(grants);

  function read(entry: ColdEntry | undefined): Lookup {
    if (entry === undefined || entry.expiresAt === DELETED) return undefined;
    return isExpired(entry.expiresAt, now()) ? 'expired' : { value: storedValue(entry.value) as Json };
  }

  /** Derives the key from the value, so that endpoints that share the tier agree without coordination. */
  function keyOf(value: Json): { readonly key: string; readonly isNew: boolean } {
    const text = toText(value);
    const hash = sha256Hex(text);
    for (let digits = HASH_DIGITS; digits < hash.length; digits += 2) {
      const key = `v${hash.slice(0, digits)}`;
      const known = journal.cold(key);
      if (known === undefined || known.expiresAt === DELETED) return { key, isNew: true };
      if (known.value === text && known.expiresAt === null) return { key, isNew: false };
    }
    return { key: `v${hash}`, isNew: true };
  }

  return {
    find: (key: string): Lookup => read(journal.cold(key)),
    set: (key: string, value: Json, expiresAt: number | null) => journal.setCold(key, value, expiresAt),
    /** Sets a value that never expires and is computed when first read. `size` is its estimated length in characters. */
    setLazily: (key: string, make: () => Json, size: number) => journal.setColdLazily(key, make, size),
    delete(key: string): void {
      if (journal.cold(key) !== undefined) journal.setCold(key, null, DELETED);
    },
    grant: (other: string) => granted.set(other, true),
    /** Looks a key up in granted sessions. Throws AccpError `E5002` if only other sessions have it. */
    findElsewhere(key: string): Lookup {
      const others = journal.sessionsWithCold(key).filter((one) => one !== session);
      const open = others.filter((one) => granted.has(one) || initial.has(one));
      let result: Lookup;
      for (const other of open) {
        const found = read(journal.coldOf(other, key));
        if (found !== undefined && found !== 'expired') return found;
        result ??= found;
      }
      if (open.length > 0 || others.length === 0) return result;
      throw accpError(
        'E5002',
        undefined,
        `"${key}" is in the cold state of another session`,
        'cold state belongs to one session; the host can grant access to the other session',
      );
    },
    /** The path that `externalize` returns, without storing. */
    pathOf: (value: Json) => `cold.${keyOf(value).key}`,
    externalize(value: Json): string {
      const { key, isNew } = keyOf(value);
      if (isNew) journal.setCold(key, value, null);
      return `cold.${key}`;
    },
  };
}
