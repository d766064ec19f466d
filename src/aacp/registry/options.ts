import { assertDurations } from '../../async/durations.js';
import { monotonicClock } from '../../async/timers.js';
import { MAX_TIME } from './entries.js';

/** Options of every registry. */
export interface RegistryOptions {
  /** Milliseconds after which an entry expires and is no longer used. `Infinity` is never: packets are "reused indefinitely" (section 6.3). @default Infinity */
  readonly ttlMs?: number | undefined;
  /** The approximate maximum number of entries. Beyond it, the least recently seen ones are removed, several at a time. @default 100000 */
  readonly maxEntries?: number | undefined;
  /** Returns milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined;
}

export type Limits = ReturnType<typeof resolveLimits>;

const NAMES = ['ttlMs', 'maxEntries', 'now'];

/** The maximum number of puts between two checks of the number of entries. */
const MAX_TRIM_EVERY = 256;

/** Checks the options and applies the defaults. @param further names of options that the caller checks @throws TypeError naming the option */
export function resolveLimits(options: RegistryOptions, further: readonly string[] = []) {
  const known = [...NAMES, ...further];
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new TypeError(`unknown option ${unknown}; the options are ${known.join(', ')}`);
  const { ttlMs = Number.POSITIVE_INFINITY, maxEntries = 100_000, now = Date.now } = options;
  if (typeof now !== 'function') throw new TypeError('now must be a function that returns milliseconds since 1970');
  assertDurations({ ttlMs });
  if (!Number.isSafeInteger(maxEntries) || maxEntries < 1) throw new TypeError('maxEntries must be a positive integer');
  const steady = monotonicClock(now);
  return {
    maxEntries,
    /** The number of puts between two checks. The larger the limit, the less a few surplus entries matter. */
    trimEvery: Math.max(1, Math.min(MAX_TRIM_EVERY, Math.floor(maxEntries / 16))),
    /** Returns integer milliseconds, which start with the clock and continue with the monotonic one. */
    now: () => wholeTime(steady()),
    expires: ttlMs !== Number.POSITIVE_INFINITY,
    /** Entries created at this time or before have expired; -1 if entries do not expire. */
    expiredAt: (time: number) => (ttlMs === Number.POSITIVE_INFINITY ? -1 : Math.floor(time - ttlMs)),
  };
}

function wholeTime(time: number): number {
  if (time >= 0 && time <= MAX_TIME) return Math.floor(time);
  throw new TypeError(`now must return milliseconds since 1970; it returned ${String(time)}`);
}

/** Checks the duration of a reservation. @throws TypeError if it is invalid */
export function checkedLease(leaseMs: number): number {
  if (typeof leaseMs === 'number' && leaseMs > 0 && leaseMs <= MAX_TIME) return Math.ceil(leaseMs);
  throw new TypeError(`leaseMs must be a positive, finite number of milliseconds; got ${String(leaseMs)}`);
}

/** A notice about the file of a registry. */
export type RegistryNotice =
  /** The file is damaged and was renamed. */
  | {
      readonly kind: 'set-aside';
      /** The path of the registry. */
      readonly file: string;
      /** The path to which the file was renamed; `null` if that failed. */
      readonly movedTo: string | null;
      /** The notice as a sentence. */
      readonly message: string;
    }
  /** Other users can read the file, and their permissions could not be removed. */
  | {
      readonly kind: 'not-private';
      /** The path of the file. */
      readonly file: string;
      /** The notice as a sentence. */
      readonly message: string;
    }
  /** One entry is damaged, and is ignored. */
  | {
      readonly kind: 'damaged-entry';
      /** The path of the registry. */
      readonly file: string;
      /** The notice as a sentence. */
      readonly message: string;
    };

/** Receives the notices of a registry. */
export type NoticeListener = (notice: RegistryNotice) => void;
