/** What the tiers share (draft-benzing-accp-00, sections 5.1 to 5.3): keys, expiry, copies that nobody changes, counted text, budgets. */

import { byCodeUnit } from '../../text/ascii.js';
import type { TokenCounter } from '../../tokens/counter.js';
import { AccpError } from '../errors.js';
import { isJsonObject, type Json, type JsonObject, MOST_NESTING, Reference } from '../message/json.js';

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

/** As deep as a message can be, whose payload is a map itself. Deeper values are a mistake, such as one that holds itself. */
const MAX_DEPTH = MOST_NESTING + 1;

/**
 * A frozen copy with the keys of its objects in order, so that equal values have equal texts.
 *
 * @throws AccpError with code `E1004` and the path on what is no JSON, big integer or reference
 */
export function snapshot(value: Json, path: string): Json {
  return copy(value, path, 0);
}

/**
 * Like {@link snapshot}, for an object.
 *
 * @throws AccpError with code `E1004` and the path
 */
export function snapshotObject(value: JsonObject, path: string): JsonObject {
  const copied = snapshot(value, path);
  if (!isJsonObject(copied)) throw refused(path, 'an object is needed');
  return copied;
}

function copy(value: Json, path: string, depth: number): Json {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'bigint':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw refused(path, `${value} cannot be kept`);
      // Text has no -0.
      return value === 0 ? 0 : value;
    case 'object':
      break;
    default:
      throw refused(path, `a value of type ${typeof value} cannot be kept`);
  }
  if (value === null || value instanceof Reference) return value;
  if (depth === MAX_DEPTH) throw refused(path, `nested deeper than ${MAX_DEPTH}`);
  if (Array.isArray(value)) {
    // Not map, which skips holes.
    return Object.freeze(
      Array.from(value as readonly Json[], (item, index) => copy(item, `${path}[${index}]`, depth + 1)),
    );
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) throw refused(path, 'only plain objects can be kept');
  const copied: Record<string, Json> = Object.create(null);
  for (const key of Object.keys(value).sort(byCodeUnit)) {
    copied[key] = copy((value as JsonObject)[key]!, `${path}.${key}`, depth + 1);
  }
  return Object.freeze(copied);
}

function refused(path: string, message: string): AccpError {
  return new AccpError({ code: 'E1004', message, path });
}

/**
 * Compact JSON. Big integers, which JSON does not have, are strings of their digits, and references `$path`.
 */
export function stateText(value: unknown): string {
  if (value instanceof Reference) return `"$${value.path}"`;
  return JSON.stringify(value, function spell(this: Readonly<Record<string, unknown>>, key: string, member: unknown) {
    // A reference has turned itself into JSON by now.
    const own = this[key];
    if (own instanceof Reference) return `$${own.path}`;
    return typeof member === 'bigint' ? String(member) : member;
  });
}

/** All in tokens. */
export interface StateBudgets {
  /** Most that hot state may hold. @default 500 */
  readonly hot: number;
  /** A checkpoint is due when hot state holds more. @default 400 */
  readonly hotTrigger: number;
  /** Most of one entry of warm state. @default 200 */
  readonly checkpoint: number;
  /** Most of a summary. @default 100 */
  readonly summary: number;
}

/** What `getBudget` tells (section 7.1). All in tokens. */
export interface TokenBudget {
  readonly hot: { readonly used: number; readonly max: number; readonly trigger: number };
  readonly warm: {
    /** Of all entries that are kept in memory. */
    readonly used: number;
    readonly perCheckpoint: number;
    readonly checkpoints: readonly { readonly id: string; readonly tokens: number }[];
  };
  /** Cold state is never injected into a context. */
  readonly cold: { readonly used: 0 };
  /** `false` for estimates. */
  readonly exact: TokenCounter['exact'];
  readonly encoding: TokenCounter['encoding'];
}

const DEFAULTS: StateBudgets = { hot: 500, hotTrigger: 400, checkpoint: 200, summary: 100 };

/** @throws TypeError on a budget that is no positive integer, or a trigger that hot state can never reach */
export function resolveBudgets(given: { readonly [K in keyof StateBudgets]?: number | undefined } = {}): StateBudgets {
  const budgets = {
    hot: given.hot ?? DEFAULTS.hot,
    hotTrigger: given.hotTrigger ?? Math.min(DEFAULTS.hotTrigger, given.hot ?? DEFAULTS.hot),
    checkpoint: given.checkpoint ?? DEFAULTS.checkpoint,
    summary: given.summary ?? DEFAULTS.summary,
  };
  for (const [name, tokens] of Object.entries(budgets)) {
    if (!Number.isSafeInteger(tokens) || tokens < 1) {
      throw new TypeError(`budgets.${name} has to be a positive integer, not ${tokens}`);
    }
  }
  if (budgets.hotTrigger > budgets.hot) {
    throw new TypeError(`budgets.hotTrigger (${budgets.hotTrigger}) is above budgets.hot (${budgets.hot})`);
  }
  return budgets;
}
