/** Keys, expiry, copies and budgets, shared by the tiers (draft-benzing-accp-00, sections 5.1 to 5.3). */

import { assertDurations } from '../../async/durations.js';
import { byCodeUnit } from '../../text/ascii.js';
import type { TokenCounter } from '../../tokens/counter.js';
import { type AccpError, accpError } from '../errors.js';

import { isJsonObject, type Json, type JsonObject, MAX_NESTING, nullObject, Reference } from '../message/json.js';
import type { Journal } from '../store/journal.js';

/** The options that all tiers share. */
export interface TierContext {
  readonly journal: Journal;
  readonly counter: TokenCounter;
  /** Returns the time in milliseconds since 1970. */
  readonly now: () => number;
  readonly budgets: StateBudgets;
}

/** A value in hot or warm state. */
export interface StateEntry {
  /** The value. */
  readonly value: Json;
  /** The number of tokens of key and value. */
  readonly tokens: number;
  /** The time of expiry in milliseconds since 1970; `null` for never. */
  readonly expiresAt: number | null;
}

export type Lookup = { readonly value: Json } | 'expired' | undefined;

/** A tier of state: the context, summaries, or storage (section 5.1). */
export type Tier = 'hot' | 'warm' | 'cold';

/** The key of hot state that refers to the last checkpoint. */
export const CHECKPOINT_KEY = 'ckpt';

const KEY = /^[A-Za-z0-9_]+$/;

/** The keys of checkpoints and externalized values. */
const RESERVED: Readonly<Record<Tier, RegExp>> = {
  hot: /^ckpt$/,
  warm: /^ckpt_[0-9]+$/,
  cold: /^(warm_)?ckpt_[0-9]+$|^v[0-9a-f]{6,}$/,
};

/** The keys of cold state that have a separate meaning in each session. */
const OF_CHECKPOINTS = /^(?:warm_)?ckpt_[0-9]+$/;

export function isShareable(key: string, tier: Tier | null): boolean {
  return !OF_CHECKPOINTS.test(key) && (tier !== null || key !== CHECKPOINT_KEY);
}

/** Throws AccpError `E1004` if a key is invalid or reserved. */
export function checkKey(tier: Tier, key: string): void {
  const problem = !KEY.test(key)
    ? 'invalid key; use letters, digits and "_"'
    : RESERVED[tier].test(key)
      ? 'the key is reserved'
      : null;
  if (problem !== null) throw accpError('E1004', `${tier}.${key}`, problem);
}

/** Returns the time of expiry; `null` for never. Throws TypeError if `ttlMs` is not positive. */
export function expiryOf(ttlMs: number | undefined, now: number): number | null {
  if (ttlMs === undefined || ttlMs === Number.POSITIVE_INFINITY) return null;
  assertDurations({ ttlMs });
  return now + ttlMs;
}

export function isExpired(expiresAt: number | null, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}

/** The maximum depth: that of a message, whose payload is a map itself. Deeper values may be circular. */
const MAX_DEPTH = MAX_NESTING + 1;

/** Returns a frozen copy with sorted keys, for comparison as text. Throws AccpError `E1004` with the path if a value cannot be stored. */
export function snapshot(value: Json, path: string): Json {
  return copy(value, { path, steps: [] });
}

/** A place in a value. Its text is needed for errors only. */
interface Place {
  readonly path: string;
  readonly steps: string[];
}

export function snapshotObject(value: JsonObject, path: string): JsonObject {
  const copied = snapshot(value, path);
  if (!isJsonObject(copied)) throw accpError('E1004', path, 'must be an object');
  return copied;
}

function copy(value: Json, place: Place): Json {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'bigint':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw notStorable(place, `${value} cannot be stored`);
      // JSON text has no -0.
      return value === 0 ? 0 : value;
    case 'object':
      break;
    default:
      throw notStorable(place, `a value of type ${typeof value} cannot be stored`);
  }
  if (value === null || value instanceof Reference) return value;
  const { steps } = place;
  if (steps.length === MAX_DEPTH) throw notStorable(place, `nesting is deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) {
    const items: Json[] = [];
    for (let index = 0; index < value.length; index++) {
      steps.push(`[${index}]`);
      items.push(copy((value as readonly Json[])[index]!, place));
      steps.pop();
    }
    return Object.freeze(items);
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) {
    throw notStorable(place, 'only plain objects can be stored');
  }
  const copied = nullObject<Json>();
  for (const key of Object.keys(value).sort(byCodeUnit)) {
    steps.push(`.${key}`);
    copied[key] = copy((value as JsonObject)[key]!, place);
    steps.pop();
  }
  return Object.freeze(copied);
}

function notStorable({ path, steps }: Place, message: string): AccpError {
  return accpError('E1004', path + steps.join(''), message);
}

/** Returns compact JSON. Big integers become strings of digits, and references become `$path`. */
export function stateText(value: unknown): string {
  if (value instanceof Reference) return `"$${value.path}"`;
  return JSON.stringify(value, function spell(this: Readonly<Record<string, unknown>>, key: string, member: unknown) {
    // `member` is the result of the reference's toJSON.
    const own = this[key];
    if (own instanceof Reference) return `$${own.path}`;
    return typeof member === 'bigint' ? String(member) : member;
  });
}

/** The budgets of the tiers, in tokens (section 5.1). */
export interface StateBudgets {
  /** The maximum for hot state. @default 500 */
  readonly hot: number;
  /** The size of hot state above which a checkpoint is due. @default 400, or `hot` if that is lower */
  readonly hotTrigger: number;
  /** The maximum for one entry of warm state. @default 200 */
  readonly checkpoint: number;
  /** The maximum for a summary. @default 100 */
  readonly summary: number;
}

/** The usage of the token budgets (section 7.1). */
export interface TokenBudget {
  /** Hot state: its tokens, its budget, and the size above which a checkpoint is due. */
  readonly hot: { readonly used: number; readonly max: number; readonly trigger: number };
  /** Warm state. */
  readonly warm: {
    /** The tokens of all entries. */
    readonly used: number;
    /** The budget of one entry. */
    readonly perCheckpoint: number;
    /** The checkpoints with their tokens, the oldest first. */
    readonly checkpoints: readonly { readonly id: string; readonly tokens: number }[];
  };
  /** Cold state, which is never injected into a context. */
  readonly cold: { readonly used: 0 };
  /** `true` if the numbers are exact; `false` if they are estimates. */
  readonly exact: TokenCounter['exact'];
  /** The encoding by which tokens are counted, such as `o200k_base`. */
  readonly encoding: TokenCounter['encoding'];
}

const DEFAULTS: StateBudgets = { hot: 500, hotTrigger: 400, checkpoint: 200, summary: 100 };

/** Fills in the defaults. Throws TypeError if a budget is not a positive integer, or if the trigger exceeds the budget of hot state. */
export function resolveBudgets(
  options: { readonly [K in keyof StateBudgets]?: number | undefined } = {},
): StateBudgets {
  const budgets = {
    hot: options.hot ?? DEFAULTS.hot,
    hotTrigger: options.hotTrigger ?? Math.min(DEFAULTS.hotTrigger, options.hot ?? DEFAULTS.hot),
    checkpoint: options.checkpoint ?? DEFAULTS.checkpoint,
    summary: options.summary ?? DEFAULTS.summary,
  };
  for (const [name, tokens] of Object.entries(budgets)) {
    if (!Number.isSafeInteger(tokens) || tokens < 1) {
      throw new TypeError(`budgets.${name} must be a positive integer; got ${tokens}`);
    }
  }
  if (budgets.hotTrigger > budgets.hot) {
    throw new TypeError(`budgets.hotTrigger must not exceed budgets.hot, ${budgets.hot}; got ${budgets.hotTrigger}`);
  }
  return budgets;
}
