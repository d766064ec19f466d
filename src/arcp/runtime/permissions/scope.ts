/** What a permission is for (spec 003, "Permissions": "scoped to a specific lease, resource, operation, and expiration time"). */

import { ArcpError } from '../../protocol/errors.js';
import type { Scope } from './contract.js';

/**
 * Whether what was granted allows what is wanted. What a grant does not name it does not bound; and what is wanted without
 * a resource is wanted for all.
 */
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

/** Names that stand for others: `filesystem.*`, `*.write`, `*`. */
export function isNamed(patterns: readonly string[], permission: string): boolean {
  return patterns.some((pattern) => specificity(pattern, permission) > 0);
}

/** How closely a pattern names a permission: more for one that says more of it; 0 for one that does not name it. */
export function specificity(pattern: string, permission: string): number {
  if (pattern === permission) return Number.POSITIVE_INFINITY;
  if (pattern === '*') return 1;
  const names =
    (pattern.endsWith('.*') && permission.startsWith(pattern.slice(0, -1))) ||
    (pattern.startsWith('*.') && permission.endsWith(pattern.slice(1)));
  return names ? pattern.length : 0;
}

export function say({ permission, resource, operation }: Scope): string {
  const on = resource === undefined ? '' : ` on ${resource}`;
  return `${permission}${on}${operation === undefined ? '' : ` (${operation})`}`;
}

export function denied(scope: Scope, why: string, details: Readonly<Record<string, unknown>> = {}): ArcpError {
  return new ArcpError('PERMISSION_DENIED', `${say(scope)}: ${why}`, { details: { ...scopeOf(scope), ...details } });
}

/** The scope alone, without what is not said. */
export function scopeOf({ permission, resource, operation }: Scope): Scope {
  return {
    permission,
    ...(resource === undefined ? {} : { resource }),
    ...(operation === undefined ? {} : { operation }),
  };
}
