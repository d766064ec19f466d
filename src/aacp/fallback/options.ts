/** The options of the fallback encoder, and their defaults. */
import { assertDurations } from '../../async/durations.js';
import { anyText } from '../../text/visible.js';
import type { TokenCounter } from '../../tokens/counter.js';
import type { EncodeStep } from '../matching/rule-values.js';
import type { Model } from '../models/model.js';
import type { Registry } from '../registry/registry.js';
import type { Rule } from '../rules/rule.js';
import type { PacketGrammar } from './call-model.js';
import type { FallbackWarning } from './result.js';

/** Options of `createFallbackEncoder`. */
export interface FallbackOptions {
  /** The model that encodes new instructions; `null` for none. @default null */
  readonly model?: Model | null | undefined;
  /**
   * The registry of instructions that were encoded before; `null` for none: the model is called each time no rule matches.
   * @default `sqliteRegistry()`: a file in the user's data folder, which several processes may share; if it cannot be written, a registry in
   * memory with its entries, and one warning `registry-in-memory`. In `pegwire/aacp/fallback/portable`: `memoryRegistry()`
   */
  readonly registry?: Registry | null | undefined;
  /** Rules for instructions that are known in advance; `null` for none. @default `bundledRules()` */
  readonly rules?: { readonly rules: readonly Rule[] } | readonly Rule[] | null | undefined;
  /**
   * If true, the packet of an instruction may be derived from that of an earlier one with the same words and other values. If false, an
   * entry answers only the instruction it was made for. Rules apply in either case. @default true
   */
  readonly patterns?: boolean | undefined;
  /**
   * If true, packets of models, including those in the registry, are rejected if they contain amounts, dates, ids or names that the
   * instruction does not state. Otherwise each is a warning `unstated-value`. Packets of rules are not checked. @default false
   */
  readonly strict?: boolean | undefined;
  /**
   * The minimum score of a pattern that matches, above 0 and at most 1. All words must be the same in any case; the score limits how many
   * articles and polite phrases may differ, each of which counts 0.15 of a word. @default 0.75
   */
  readonly threshold?: number | undefined;
  /** Milliseconds after which the calls of the model for one instruction time out, the correction included; `Infinity` is never. @default 60000 */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds to wait for another process that encodes the same instruction. 0 does not wait, `Infinity` waits without limit. @default 90000 */
  readonly waitTimeoutMs?: number | undefined;
  /** Returns milliseconds since 1970. Relative times such as "last month" refer to it. @default Date.now */
  readonly now?: (() => number) | undefined;
  /** The token counter for `FallbackResult.tokens`. @default the exact counter for current models, if it is installed */
  readonly counter?: TokenCounter | undefined;
}

/** A registry, and a warning about how it was opened. */
export interface OpenRegistry {
  readonly registry: Registry | null;
  readonly warning: FallbackWarning | null;
}

/** The parts of an encoder that depend on the platform. */
export interface Platform {
  /** Opens the registry if none is passed. */
  readonly openRegistry: () => Promise<OpenRegistry>;
  /** Returns the token counter if none is passed. */
  readonly counter: () => TokenCounter;
  readonly grammar: PacketGrammar;
  /** Encodes the packets of rules that name a workflow step. */
  readonly encodeStep?: EncodeStep | undefined;
}

const NAMES = 'model registry rules patterns strict threshold timeoutMs waitTimeoutMs now counter'.split(' ');

/** Checks the options and applies the defaults. @throws TypeError naming the option */
export function resolveOptions(options: FallbackOptions, platform: Platform) {
  if (typeof options !== 'object' || options === null) throw new TypeError('options must be an object');
  const unknown = Object.keys(options).find((name) => !NAMES.includes(name));
  if (unknown !== undefined) throw new TypeError(`unknown option ${unknown}; the options are ${NAMES.join(', ')}`);
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
  if (model !== null && typeof model !== 'function') throw new TypeError('model must be a function, or null for none');
  if (typeof patterns !== 'boolean') throw new TypeError('patterns must be true or false');
  if (typeof strict !== 'boolean') throw new TypeError('strict must be true or false');
  if (typeof now !== 'function') throw new TypeError('now must be a function that returns milliseconds since 1970');
  if (threshold !== undefined && !(typeof threshold === 'number' && threshold > 0 && threshold <= 1)) {
    throw new TypeError('threshold must be a number above 0 and at most 1');
  }
  if (counter !== undefined && typeof counter?.count !== 'function') {
    throw new TypeError('counter must have a method count; use loadTokenCounter');
  }
  checkRegistry(registry);
  assertDurations({ timeoutMs }, 1);
  assertDurations({ waitTimeoutMs }, 0);
  return {
    model,
    openRegistry:
      registry === undefined ? platform.openRegistry : async (): Promise<OpenRegistry> => ({ registry, warning: null }),
    /** If true, the encoder opened the registry itself, and closes it. */
    ownsRegistry: registry === undefined,
    rules: rulesOf(options.rules),
    patterns,
    strict,
    threshold,
    timeoutMs,
    waitTimeoutMs,
    now: () => checkedTime(now()),
    counter: counter === undefined ? platform.counter : () => counter,
  };
}

/** The methods of a registry that the encoder calls. */
const REQUIRED_METHODS = ['get', 'put', 'markSeen', 'candidates', 'reserve', 'renew', 'release', 'flush'] as const;

function checkRegistry(registry: unknown): void {
  if (registry === undefined || registry === null) return;
  const given = registry as { readonly [name in (typeof REQUIRED_METHODS)[number] | 'then']?: unknown };
  if (typeof given.then === 'function') {
    throw new TypeError('registry must not be a promise; write await sqliteRegistry(file)');
  }
  const missing = REQUIRED_METHODS.find((name) => typeof given[name] !== 'function');
  if (missing === undefined) return;
  throw new TypeError(
    `registry must be a registry such as memoryRegistry(), or null for none; it has no method ${missing}`,
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
  if (!Array.isArray(list)) throw new TypeError('rules must be a rule library, a list of rules, or null for none');
  if (!list.every(isRule))
    throw new TypeError('rules contains a value that is not a rule; use loadRules to read the reference format');
  return async () => list;
}

function isRule(value: unknown): value is Rule {
  const { domain, packet, phrases } = (value ?? {}) as { readonly [name in keyof Rule]?: unknown };
  return typeof domain === 'string' && typeof packet === 'string' && Array.isArray(phrases);
}
