import { monotonicClock } from '../../async/timers.js';
import { MAX_TIME } from './entries.js';

export interface RegistryOptions {
  /** Milliseconds after which an entry expires; it is then no longer served. @default Infinity: packets are "reused indefinitely" (section 6.3) */
  readonly ttlMs?: number | undefined;
  /** About how many entries are kept: those that were not seen for the longest time go, some at a time. @default 100000 */
  readonly maxEntries?: number | undefined;
  /** Milliseconds since 1970. @default `Date.now` */
  readonly now?: (() => number) | undefined;
}

export type Limits = ReturnType<typeof resolveLimits>;

const NAMES = ['ttlMs', 'maxEntries', 'now'];

/** Most puts between two looks at how many entries there are. */
const MAX_TRIM_EVERY = 256;

/** @param further names of options that the caller checks. @throws TypeError naming the option */
export function resolveLimits(options: RegistryOptions, further: readonly string[] = []) {
  const known = [...NAMES, ...further];
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new TypeError(`there is no option ${unknown}; there are ${known.join(', ')}`);
  const { ttlMs = Number.POSITIVE_INFINITY, maxEntries = 100_000, now = Date.now } = options;
  if (typeof now !== 'function') throw new TypeError('now must be a function that returns milliseconds since 1970');
  if (!(ttlMs > 0))
    throw new TypeError(`ttlMs must be a number of milliseconds above 0, or Infinity; got ${String(ttlMs)}`);
  if (!Number.isSafeInteger(maxEntries) || maxEntries < 1) throw new TypeError('maxEntries is a whole number above 0');
  const steady = monotonicClock(now);
  return {
    maxEntries,
    /** The more may be kept, the less a few too many matter. */
    trimEvery: Math.max(1, Math.min(MAX_TRIM_EVERY, Math.floor(maxEntries / 16))),
    /** A whole number that starts with the clock and goes on by a monotonic one. */
    now: () => wholeTime(steady()),
    expires: ttlMs !== Number.POSITIVE_INFINITY,
    /** Entries made at this time or before have expired; below all times when none do. */
    expiredAt: (time: number) => (ttlMs === Number.POSITIVE_INFINITY ? -1 : Math.floor(time - ttlMs)),
  };
}

function wholeTime(time: number): number {
  if (time >= 0 && time <= MAX_TIME) return Math.floor(time);
  throw new TypeError(`now must return milliseconds since 1970; it returned ${String(time)}`);
}

/** @throws TypeError if `milliseconds` is not a length of time */
export function checkedLease(milliseconds: number): number {
  if (milliseconds > 0 && milliseconds <= MAX_TIME) return Math.ceil(milliseconds);
  throw new TypeError('milliseconds is how long a reservation holds, above 0');
}

export type RegistryNotice =
  /** The file is damaged. `to` is where it is now; `null` when it could not be set aside. */
  | {
      readonly kind: 'set-aside';
      readonly file: string;
      readonly to: string | null;
      readonly message: string;
    }
  /** Others may read the file, and it could not be kept from them. */
  | { readonly kind: 'not-private'; readonly file: string; readonly message: string }
  /** One entry is damaged, and is taken for one that is not there. */
  | { readonly kind: 'damaged-entry'; readonly file: string; readonly message: string };

export type NoticeListener = (notice: RegistryNotice) => void;
