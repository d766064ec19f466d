/** Entries of hot and warm state: their keys, and when they expire. */
import { AccpError } from '../errors/accp-error.js';
import type { Json } from '../message/json.js';

/** A value with its length. */
export interface Kept {
  readonly value: Json;
  readonly tokens: number;
  /** Seconds since 1970, or `null` for never. */
  readonly expires: number | null;
}

/** What a look-up comes to. `null` in place of a value that has expired. */
export type Lookup = { readonly value: Json } | 'expired' | undefined;

export type Tier = 'hot' | 'warm' | 'cold';

/** The key of hot state that refers to the last checkpoint. */
export const CHECKPOINT_KEY = 'ckpt';

const KEY = /^[A-Za-z0-9_]+$/;

/** Keys that checkpoints and externalized values have. */
const RESERVED: Readonly<Record<Tier, RegExp>> = {
  hot: /^ckpt$/,
  warm: /^ckpt_[0-9]+$/,
  cold: /^(warm_)?ckpt_[0-9]+$|^v[0-9a-f]{6,}$/,
};

/** Keys of cold state that every session gives to its checkpoints: another session's are never meant. */
const OF_CHECKPOINTS = /^(?:warm_)?ckpt_[0-9]+$/;

/** Whether a name can mean an entry of another session: each has its checkpoints under the same names. */
export function isShareable(key: string, tier: Tier | null): boolean {
  return !OF_CHECKPOINTS.test(key) && (tier !== null || key !== CHECKPOINT_KEY);
}

/** @throws AccpError with code `E1004` on a key that a reference cannot name, or that is the session's own */
export function checkKey(tier: Tier, key: string): void {
  const problem = !KEY.test(key)
    ? 'a key is made of letters, digits and "_"'
    : RESERVED[tier].test(key)
      ? `keys like this are the session's own`
      : null;
  if (problem !== null) throw new AccpError({ code: 'E1004', message: problem, path: `${tier}.${key}` });
}

/**
 * When a value expires that is set now.
 *
 * @param ttl seconds; 0 and undefined are for ever
 * @throws AccpError with code `E1004` on a time that is none
 */
export function expiryOf(ttl: number | undefined, now: number): number | null {
  if (ttl === undefined || ttl === 0) return null;
  if (!Number.isFinite(ttl) || ttl < 0) {
    throw new AccpError({ code: 'E1004', message: `${ttl} is no time in seconds`, path: 'ttl' });
  }
  return now + ttl;
}

/** Whether a moment of expiry has come. */
export function isExpired(expires: number | null, now: number): boolean {
  return expires !== null && expires <= now;
}
