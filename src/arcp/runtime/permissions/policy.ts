/** What is allowed to whom, and who is asked (spec 003, "Permissions", "Trust Levels"). */
import type { TrustLevel } from '../../protocol/payloads/parts.js';
import { TRUST_LEVELS } from '../../protocol/payloads/parts.js';
import type { Scope } from './contract.js';
import { specificity } from './scope.js';

/**
 * - `deny`: it does not happen
 * - `challenge`: the client is asked
 * - `auto`: it is granted
 * - `audit`: it is granted, and each use is told of
 */
export type Decision = (typeof DECISIONS)[number];
export const DECISIONS = ['deny', 'challenge', 'auto', 'audit'] as const;

/** By the names of permissions, or by patterns: `filesystem.*`, `*.write`, `*`. That which says most of a name counts. */
export type Rules = Readonly<Record<string, Decision>>;

/** Who wants something. */
export interface Asking {
  readonly trust: TrustLevel;
  readonly principal: string;
  /** What is being worked on. */
  readonly target: string;
}

export interface Policy {
  readonly decide: (wanted: Scope, asking: Asking) => Decision;
  /** Milliseconds for an answer. */
  readonly answerWithinMs: number;
  /** The longest that a grant may last, in seconds. */
  readonly maxLeaseSeconds: number;
}

export interface PolicyOptions {
  /** Beside and instead of {@link DEFAULT_RULES}, by level. */
  readonly rules?: { readonly [K in TrustLevel]?: Rules } | undefined;
  /** Asked before the rules; `undefined` leaves it to them. */
  readonly decide?: ((wanted: Scope, asking: Asking) => Decision | undefined) | undefined;
  /** Milliseconds for an answer; without one in time it is denied. @default 15 minutes */
  readonly answerWithinMs?: number | undefined;
  /** The longest that a grant may last, in seconds. @default 24 hours */
  readonly maxLeaseSeconds?: number | undefined;
}

/** Seconds for which something is granted when nobody says for how long. */
export const LEASE_SECONDS = 300;

/** What cannot be taken back, or reaches far. */
const RISKY: Rules = {
  'shell.execute': 'challenge',
  '*.write': 'challenge',
  '*.delete': 'challenge',
  'payment.*': 'challenge',
  'deploy.*': 'challenge',
  'email.send': 'challenge',
};

export const DEFAULT_RULES: Readonly<Record<TrustLevel, Rules>> = {
  untrusted: { '*': 'deny' },
  constrained: { '*': 'challenge' },
  trusted: { '*': 'auto', ...RISKY },
  privileged: { '*': 'audit' },
};

/**
 * A policy of a host's own.
 *
 * @throws TypeError on rules that are none
 * @example definePolicy({ rules: { constrained: { 'filesystem.read': 'auto' } } })
 */
export function definePolicy({ rules = {}, decide, ...times }: PolicyOptions = {}): Policy {
  const { answerWithinMs = 15 * 60_000, maxLeaseSeconds = 24 * 60 * 60 } = times;
  for (const [name, value] of Object.entries({ answerWithinMs, maxLeaseSeconds }))
    if (!(value > 0)) throw new TypeError(`${name} is a number greater than 0; got ${value}`);
  for (const [level, own] of Object.entries(rules)) {
    if (!TRUST_LEVELS.includes(level as TrustLevel)) throw new TypeError(`There is no trust level ${level}`);
    for (const [pattern, decision] of Object.entries(own))
      if (!DECISIONS.includes(decision)) throw new TypeError(`${pattern}: ${decision} is no decision`);
  }
  return {
    answerWithinMs,
    maxLeaseSeconds,
    decide: (wanted, asking) =>
      decide?.(wanted, asking) ??
      closest({ ...DEFAULT_RULES[asking.trust], ...rules[asking.trust] }, wanted.permission),
  };
}

/** Where two patterns say as much of it, the stricter one counts; where none does, it is denied. */
function closest(rules: Rules, permission: string): Decision {
  let most = 0;
  let found: Decision = 'deny';
  for (const [pattern, decision] of Object.entries(rules)) {
    const says = specificity(pattern, permission);
    if (says === 0 || says < most) continue;
    if (says > most || DECISIONS.indexOf(decision) < DECISIONS.indexOf(found)) found = decision;
    most = says;
  }
  return found;
}
