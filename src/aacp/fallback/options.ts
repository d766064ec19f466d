/** The options of the fallback encoder, and their defaults. */
import { anyText } from '../../text/visible.js';
import type { TokenCounter } from '../../tokens/counter.js';
import type { EncodeStep } from '../matching/rule-values.js';
import type { Model } from '../models/model.js';
import type { Registry } from '../registry/registry.js';
import type { Rule } from '../rules/rule.js';
import type { PacketGrammar } from './ask-model.js';
import type { FallbackWarning } from './result.js';

export interface FallbackOptions {
  /** Encodes what was not encoded before; `null` for none. @default null */
  readonly model?: Model | null | undefined;
  /**
   * What was encoded before. `null` for none: the model is asked each time for what no rule covers.
   * @default `sqliteRegistry()`: a file in the user's data directory, which several processes may share; if it cannot be written, a
   * registry in memory with its entries, and one warning `registry-in-memory`. In `pegwire/aacp/fallback/portable`, `memoryRegistry()`
   */
  readonly registry?: Registry | null | undefined;
  /** Instructions that are known beforehand. `null` for none. @default `bundledRules()` */
  readonly rules?: { readonly rules: readonly Rule[] } | readonly Rule[] | null | undefined;
  /**
   * Whether the packet of an instruction may be made from that of another one with the same words and other values. With `false`,
   * entries serve the very same instruction only. Rules serve in any case. @default true
   */
  readonly patterns?: boolean | undefined;
  /**
   * Whether a model's packet is refused, from the registry too, if it has amounts, dates, ids or names that the instruction does
   * not state. Otherwise each is a warning `unstated-value`. Packets of rules are not compared. @default false
   */
  readonly strict?: boolean | undefined;
  /**
   * The least score of a pattern that serves, above 0 and up to 1. All words have to be the same in any case; it bounds how much
   * politeness and how many articles may differ, each 0.15 of a word. @default 0.75
   */
  readonly threshold?: number | undefined;
  /** Milliseconds after which a call of the model times out, repair included. `Infinity` is never. @default 60000 */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds to wait for another process that encodes the same instruction; 0 does not wait, `Infinity` waits forever. @default 90000 */
  readonly waitTimeoutMs?: number | undefined;
  /** Milliseconds since 1970: what "last month" refers to. @default `Date.now` */
  readonly now?: (() => number) | undefined;
  /** Counts tokens. @default the exact counter for current models, if it is installed */
  readonly counter?: TokenCounter | undefined;
}

/** A registry, and a warning about how it was opened. */
export interface OpenRegistry {
  readonly registry: Registry | null;
  readonly warning: FallbackWarning | null;
}

/** The parts of an encoder that depend on the platform. */
export interface Platform {
  /** Opens the registry of an encoder that is given none. */
  readonly openRegistry: () => Promise<OpenRegistry>;
  /** Counts tokens where the encoder is given no counter. */
  readonly counter: () => TokenCounter;
  readonly grammar: PacketGrammar;
  /** Makes the packets of rules that name a workflow step. */
  readonly encodeStep?: EncodeStep | undefined;
}

const NAMES = 'model registry rules patterns strict threshold timeoutMs waitTimeoutMs now counter'.split(' ');

/** @throws TypeError naming the option */
export function resolveOptions(options: FallbackOptions, platform: Platform) {
  if (typeof options !== 'object' || options === null) throw new TypeError('the options are an object');
  const unknown = Object.keys(options).find((name) => !NAMES.includes(name));
  if (unknown !== undefined) throw new TypeError(`there is no option ${unknown}; there are ${NAMES.join(', ')}`);
  const { patterns = true, strict = false } = options;
  const {
    model = null,
    registry,
    threshold,
    timeoutMs = 60_000,
    waitTimeoutMs = 90_000,
    now = Date.now,
    counter,
  } = options;
  if (model !== null && typeof model !== 'function') throw new TypeError('model is a function, or null for none');
  if (typeof patterns !== 'boolean') throw new TypeError('patterns is true or false');
  if (typeof strict !== 'boolean') throw new TypeError('strict is true or false');
  if (typeof now !== 'function') throw new TypeError('now must be a function that returns milliseconds since 1970');
  if (threshold !== undefined && !(typeof threshold === 'number' && threshold > 0 && threshold <= 1)) {
    throw new TypeError('threshold is a number above 0 and up to 1');
  }
  if (counter !== undefined && typeof counter?.count !== 'function') {
    throw new TypeError('counter has a function count; loadTokenCounter gives one');
  }
  checkRegistry(registry);
  return {
    model,
    openRegistry:
      registry === undefined ? platform.openRegistry : async (): Promise<OpenRegistry> => ({ registry, warning: null }),
    /** Whether the encoder opens the registry itself, and so has to close it. */
    ownsRegistry: registry === undefined,
    rules: rulesOf(options.rules),
    patterns,
    strict,
    threshold,
    timeoutMs: duration('timeoutMs', timeoutMs, 1),
    waitTimeoutMs: duration('waitTimeoutMs', waitTimeoutMs, 0),
    now: () => checkedTime(now()),
    counter: counter === undefined ? platform.counter : () => counter,
  };
}

/** The methods that the encoder calls. */
const USED = ['get', 'put', 'markSeen', 'candidates', 'reserve', 'renew', 'release', 'flush'] as const;

function checkRegistry(registry: unknown): void {
  if (registry === undefined || registry === null) return;
  const given = registry as { readonly [name in (typeof USED)[number] | 'then']?: unknown };
  if (typeof given.then === 'function') {
    throw new TypeError('registry is a promise; await it: await sqliteRegistry(file)');
  }
  const missing = USED.find((name) => typeof given[name] !== 'function');
  if (missing === undefined) return;
  throw new TypeError(
    `registry is one of memoryRegistry() or sqliteRegistry(), or null for none; this has no ${missing}()`,
  );
}

function duration(name: string, value: unknown, least: number): number {
  if (typeof value === 'number' && value >= least) return value;
  throw new TypeError(
    `${name} must be a number of milliseconds, at least ${least}, or Infinity; got ${anyText(value)}`,
  );
}

function checkedTime(time: unknown): number {
  if (typeof time === 'number' && Number.isFinite(time)) return time;
  throw new TypeError(`now must return milliseconds since 1970; it returned ${anyText(time)}`);
}

function rulesOf(rules: FallbackOptions['rules']): () => Promise<readonly Rule[]> {
  if (rules === undefined) {
    return async () => {
      const { bundledRules } = await import('../rules/bundled.js');
      return bundledRules().rules;
    };
  }
  const list: unknown = (rules as { readonly rules?: unknown } | null)?.rules ?? rules ?? [];
  if (!Array.isArray(list)) throw new TypeError('rules is a rule library, a list of rules, or null for none');
  if (!list.every(isRule)) throw new TypeError('rules holds what is no rule; loadRules reads the reference format');
  return async () => list;
}

function isRule(value: unknown): value is Rule {
  const { domain, packet, phrases } = (value ?? {}) as { readonly [name in keyof Rule]?: unknown };
  return typeof domain === 'string' && typeof packet === 'string' && Array.isArray(phrases);
}
