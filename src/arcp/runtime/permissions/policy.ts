/** What is allowed to whom, and how permissions are named (spec 003, "Permissions", "Trust Levels"). */
import { assertDurations } from '../../protocol/durations.js';
import { ArcpError } from '../../protocol/errors.js';
import { TRUST_LEVELS, type TrustLevel } from '../../protocol/payloads/parts.js';
import type { Scope } from '../types.js';

/**
 * - `deny`: it does not happen
 * - `challenge`: the client is asked
 * - `auto`: it is granted
 * - `audit`: it is granted, and each use is told of
 */
export type Decision = (typeof DECISIONS)[number];
export const DECISIONS = ['deny', 'challenge', 'auto', 'audit'] as const;

/** Decisions by permission name or pattern: `filesystem.*`, `*.write`, `*`. The most specific one counts. */
export type Rules = Readonly<Record<string, Decision>>;

/** The requester. */
export interface Requester {
  readonly trust: TrustLevel;
  readonly principal: string;
  /** The work that requests it. */
  readonly target: string;
}

export interface Policy {
  readonly decide: (requested: Scope, requester: Requester) => Decision;
  /** Milliseconds for an answer; `Infinity` waits without limit. */
  readonly answerTimeoutMs: number;
  /** The longest duration of a grant, in milliseconds. */
  readonly maxLeaseMs: number;
}

export interface PolicyOptions {
  /** Override {@link DEFAULT_RULES} by level. */
  readonly rules?: { readonly [K in TrustLevel]?: Rules } | undefined;
  /** Decides before the rules; `undefined` falls through to them. */
  readonly decide?: ((requested: Scope, requester: Requester) => Decision | undefined) | undefined;
  /** Milliseconds for an answer, after which the request expires; `Infinity` for never. @default 900000 (15 minutes) */
  readonly answerTimeoutMs?: number | undefined;
  /** The longest duration of a grant, in milliseconds; `Infinity` for unlimited. @default 86400000 (24 hours) */
  readonly maxLeaseMs?: number | undefined;
}

/** The default duration of a grant. */
export const DEFAULT_LEASE_MS = 300_000;

/** Irreversible or far-reaching. */
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
  const { answerTimeoutMs = 15 * 60_000, maxLeaseMs = 24 * 60 * 60_000 } = times;
  assertDurations({ answerTimeoutMs, maxLeaseMs });
  for (const [level, own] of Object.entries(rules)) {
    if (!TRUST_LEVELS.includes(level as TrustLevel)) throw new TypeError(`There is no trust level ${level}`);
    for (const [pattern, decision] of Object.entries(own))
      if (!DECISIONS.includes(decision)) throw new TypeError(`${pattern}: ${decision} is no decision`);
  }
  return {
    answerTimeoutMs,
    maxLeaseMs,
    decide: (wanted, asking) =>
      decide?.(wanted, asking) ??
      closest({ ...DEFAULT_RULES[asking.trust], ...rules[asking.trust] }, wanted.permission),
  };
}

/** Of equally specific patterns the stricter one counts; without any, the request is denied. */
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

/** Reports whether a grant covers a wish. Members that the grant omits are unbounded; a wish without a resource is for all. */
export function covers(granted: Scope, wanted: Scope): boolean {
  if (granted.permission !== wanted.permission) return false;
  if (granted.operation !== undefined && granted.operation !== wanted.operation) return false;
  return (
    granted.resource === undefined || (wanted.resource !== undefined && matches(granted.resource, wanted.resource))
  );
}

function matches(granted: string, wanted: string): boolean {
  return granted.endsWith('*') ? wanted.startsWith(granted.slice(0, -1)) : granted === wanted;
}

export function isNamed(patterns: readonly string[], permission: string): boolean {
  return patterns.some((pattern) => specificity(pattern, permission) > 0);
}

/** Returns a larger number for a more specific pattern, and 0 if it does not match. */
function specificity(pattern: string, permission: string): number {
  if (pattern === permission) return Number.POSITIVE_INFINITY;
  if (pattern === '*') return 1;
  const names =
    (pattern.endsWith('.*') && permission.startsWith(pattern.slice(0, -1))) ||
    (pattern.startsWith('*.') && permission.endsWith(pattern.slice(1)));
  return names ? pattern.length : 0;
}

export function describeScope({ permission, resource, operation }: Scope): string {
  const on = resource === undefined ? '' : ` on ${resource}`;
  return `${permission}${on}${operation === undefined ? '' : ` (${operation})`}`;
}

export function permissionDenied(
  scope: Scope,
  why: string,
  details: Readonly<Record<string, unknown>> = {},
): ArcpError {
  return new ArcpError('PERMISSION_DENIED', `${describeScope(scope)}: ${why}`, {
    details: { ...scopeOf(scope), ...details },
  });
}

export function scopeOf({ permission, resource, operation }: Scope): Scope {
  return {
    permission,
    resource,
    operation,
  };
}
