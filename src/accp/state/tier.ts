/** Keys, expiry, copies and budgets, shared by the tiers (draft-benzing-accp-00, sections 5.1 to 5.3). */

import { byCodeUnit } from '../../text/ascii.js';
import type { TokenCounter } from '../../tokens/counter.js';
import { accpError } from '../errors.js';

import { isJsonObject, type Json, type JsonObject, MOST_NESTING, Reference } from '../message/json.js';
import type { Journal } from '../store/journal.js';

/** The options of every tier. */
export interface TierContext {
  readonly journal: Journal;
  readonly counter: TokenCounter;
  /** Returns the time in milliseconds since 1970. */
  readonly now: () => number;
  readonly budgets: StateBudgets;
}

export interface Kept {
  readonly value: Json;
  readonly tokens: number;
  readonly expiresAt: number | null;
}

export type Lookup = { readonly value: Json } | 'expired' | undefined;

export type Tier = 'hot' | 'warm' | 'cold';

/** The key of hot state that refers to the last checkpoint. */
export const CHECKPOINT_KEY = 'ckpt';

const KEY = /^[A-Za-z0-9_]+$/;

/** Keys of checkpoints and externalized values. */
const RESERVED: Readonly<Record<Tier, RegExp>> = {
  hot: /^ckpt$/,
  warm: /^ckpt_[0-9]+$/,
  cold: /^(warm_)?ckpt_[0-9]+$|^v[0-9a-f]{6,}$/,
};

/** Keys of cold state with a separate meaning in each session. */
const OF_CHECKPOINTS = /^(?:warm_)?ckpt_[0-9]+$/;

export function isShareable(key: string, tier: Tier | null): boolean {
  return !OF_CHECKPOINTS.test(key) && (tier !== null || key !== CHECKPOINT_KEY);
}

/** @throws AccpError `E1004` on an invalid or reserved key */
export function checkKey(tier: Tier, key: string): void {
  const problem = !KEY.test(key)
    ? 'a key is made of letters, digits and "_"'
    : RESERVED[tier].test(key)
      ? `keys like this are the session's own`
      : null;
  if (problem !== null) throw accpError('E1004', `${tier}.${key}`, problem);
}

/** Returns the time of expiry; `null` for never. Throws TypeError if `ttlMs` is not positive. */
export function expiryOf(ttlMs: number | undefined, now: number): number | null {
  if (ttlMs === undefined || ttlMs === Number.POSITIVE_INFINITY) return null;
  if (ttlMs > 0) return now + ttlMs;
  throw new TypeError(`ttlMs must be a positive number of milliseconds, or Infinity; got ${ttlMs}`);
}

export function isExpired(expiresAt: number | null, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}

/** The depth of a message, whose payload is a map itself. Deeper values may be circular. */
const MAX_DEPTH = MOST_NESTING + 1;

/** Returns a frozen copy with sorted keys, for comparison as text. Throws AccpError `E1004` with the path on other values. */
export function snapshot(value: Json, path: string): Json {
  return copy(value, path, 0);
}

export function snapshotObject(value: JsonObject, path: string): JsonObject {
  const copied = snapshot(value, path);
  if (!isJsonObject(copied)) throw accpError('E1004', path, 'an object is needed');
  return copied;
}

function copy(value: Json, path: string, depth: number): Json {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'bigint':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw accpError('E1004', path, `${value} cannot be kept`);
      // JSON text has no -0.
      return value === 0 ? 0 : value;
    case 'object':
      break;
    default:
      throw accpError('E1004', path, `a value of type ${typeof value} cannot be kept`);
  }
  if (value === null || value instanceof Reference) return value;
  if (depth === MAX_DEPTH) throw accpError('E1004', path, `nested deeper than ${MAX_DEPTH}`);
  if (Array.isArray(value)) {
    // Array.prototype.map skips holes.
    return Object.freeze(
      Array.from(value as readonly Json[], (item, index) => copy(item, `${path}[${index}]`, depth + 1)),
    );
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype)
    throw accpError('E1004', path, 'only plain objects can be kept');
  const copied: Record<string, Json> = Object.create(null);
  for (const key of Object.keys(value).sort(byCodeUnit)) {
    copied[key] = copy((value as JsonObject)[key]!, `${path}.${key}`, depth + 1);
  }
  return Object.freeze(copied);
}

/** Compact JSON. Big integers are strings of their digits, and references `$path`. */
export function stateText(value: unknown): string {
  if (value instanceof Reference) return `"$${value.path}"`;
  return JSON.stringify(value, function spell(this: Readonly<Record<string, unknown>>, key: string, member: unknown) {
    // `member` is the result of the reference's toJSON.
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

/** The result of `getBudget` (section 7.1). All in tokens. */
export interface TokenBudget {
  readonly hot: { readonly used: number; readonly max: number; readonly trigger: number };
  readonly warm: {
    /** Of all entries in warm state. */
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

/** @throws TypeError on a budget that is not a positive integer, or a trigger above the budget of hot state */
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
