/** Policies, which decide permission requests, and patterns of permission names (spec 003, "Permissions", "Trust Levels"). */
import { assertDurations } from '../../../async/durations.js';
import { ArcpError } from '../../protocol/errors.js';
import { TRUST_LEVELS, type TrustLevel } from '../../protocol/payloads/parts.js';
import type { Scope } from '../types.js';

/**
 * The decision of a policy.
 *
 * - `deny`: denies the request
 * - `challenge`: asks the client
 * - `auto`: grants the request
 * - `audit`: grants the request, and reports each use
 */
export type Decision = (typeof DECISIONS)[number];
export const DECISIONS = ['deny', 'challenge', 'auto', 'audit'] as const;

/** Decisions by permission name or pattern: `filesystem.*`, `*.write`, `*`. The most specific pattern applies. */
export type Rules = Readonly<Record<string, Decision>>;

/** The origin of a permission request. */
export interface Requester {
  /** The trust of the session. */
  readonly trust: TrustLevel;
  /** The principal of the session. */
  readonly principal: string;
  /** The name of the tool, workflow or agent. */
  readonly target: string;
}

/** A policy. Create one with {@link definePolicy}. */
export interface Policy {
  /** Decides a request. */
  readonly decide: (requested: Scope, requester: Requester) => Decision;
  /** Milliseconds for an answer; `Infinity` waits without limit. */
  readonly answerTimeoutMs: number;
  /** The longest duration of a grant, in milliseconds. */
  readonly maxLeaseMs: number;
}

/** Options of a policy. */
export interface PolicyOptions {
  /** Rules by trust level, which take precedence over {@link DEFAULT_RULES}. */
  readonly rules?: { readonly [K in TrustLevel]?: Rules } | undefined;
  /** Decides before the rules; if it returns `undefined`, the rules decide. */
  readonly decide?: ((requested: Scope, requester: Requester) => Decision | undefined) | undefined;
  /** Milliseconds for an answer, after which the request expires; `Infinity` for never. @default 900000 (15 minutes) */
  readonly answerTimeoutMs?: number | undefined;
  /** The longest duration of a grant, in milliseconds; `Infinity` for unlimited. @default 86400000 (24 hours) */
  readonly maxLeaseMs?: number | undefined;
}

/** The default duration of a grant. */
export const DEFAULT_LEASE_MS = 300_000;

/** Permissions for actions that are irreversible or affect others. */
const RISKY: Rules = {
  'shell.execute': 'challenge',
  '*.write': 'challenge',
  '*.delete': 'challenge',
  'payment.*': 'challenge',
  'deploy.*': 'challenge',
  'email.send': 'challenge',
};

/** The rules by trust level: `deny` for untrusted, `challenge` for constrained, `auto` except for risky permissions for trusted, `audit` for privileged. */
export const DEFAULT_RULES: Readonly<Record<TrustLevel, Rules>> = {
  untrusted: { '*': 'deny' },
  constrained: { '*': 'challenge' },
  trusted: { '*': 'auto', ...RISKY },
  privileged: { '*': 'audit' },
};

/**
 * Creates a policy.
 *
 * @throws TypeError if a rule or duration is invalid
 * @example definePolicy({ rules: { constrained: { 'filesystem.read': 'auto' } } })
 */
export function definePolicy({ rules = {}, decide, ...times }: PolicyOptions = {}): Policy {
  const { answerTimeoutMs = 15 * 60_000, maxLeaseMs = 24 * 60 * 60_000 } = times;
  assertDurations({ answerTimeoutMs, maxLeaseMs });
  for (const [level, own] of Object.entries(rules)) {
    if (!TRUST_LEVELS.includes(level as TrustLevel))
      throw new TypeError(`The trust level ${level} is unknown; use ${TRUST_LEVELS.join(', ')}`);
    for (const [pattern, decision] of Object.entries(own))
      if (!DECISIONS.includes(decision))
        throw new TypeError(`The decision of ${pattern} must be ${DECISIONS.join(', ')}; got ${decision}`);
  }
  return {
    answerTimeoutMs,
    maxLeaseMs,
    decide: (requested, asking) =>
      decide?.(requested, asking) ??
      closest({ ...DEFAULT_RULES[asking.trust], ...rules[asking.trust] }, requested.permission),
  };
}

/** Returns the decision of the most specific pattern; the stricter one if several are equally specific, and `deny` without any. */
function closest(rules: Rules, permission: string): Decision {
  let highest = 0;
  let found: Decision = 'deny';
  for (const [pattern, decision] of Object.entries(rules)) {
    const score = specificity(pattern, permission);
    if (score === 0 || score < highest) continue;
    if (score > highest || DECISIONS.indexOf(decision) < DECISIONS.indexOf(found)) found = decision;
    highest = score;
  }
  return found;
}

/** Returns whether a grant covers a request. Members that the grant omits are not limited; a request without a resource is for all. */
export function covers(granted: Scope, requested: Scope): boolean {
  if (granted.permission !== requested.permission) return false;
  if (granted.operation !== undefined && granted.operation !== requested.operation) return false;
  return (
    granted.resource === undefined ||
    (requested.resource !== undefined && matches(granted.resource, requested.resource))
  );
}

function matches(granted: string, requested: string): boolean {
  return granted.endsWith('*') ? requested.startsWith(granted.slice(0, -1)) : granted === requested;
}

export function isNamed(patterns: readonly string[], permission: string): boolean {
  return patterns.some((pattern) => specificity(pattern, permission) > 0);
}

/** Returns the specificity of a pattern for a permission: larger for a more specific one, 0 if it does not match. */
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
  reason: string,
  details: Readonly<Record<string, unknown>> = {},
): ArcpError {
  return new ArcpError('PERMISSION_DENIED', `${describeScope(scope)}: ${reason}`, {
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
