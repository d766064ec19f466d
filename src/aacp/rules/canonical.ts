/** What two libraries with the same rules have in common. */

import { byCodeUnit } from '../../text/order.js';
import { sha256Hex } from '../../text/sha256.js';
import type { Rule } from './rule.js';
import { sourceOf } from './rule-schema.js';

/** SHA-256 of bytes, as 64 hexadecimal digits. */
export function digestOfBytes(bytes: Uint8Array): string {
  return sha256Hex(bytes);
}

/**
 * SHA-256 over the rules as JSON in the reference format, ordered by identifier, members by name, without white space: the
 * same for the same rules, however their file is written.
 */
export function hashOfRules(rules: readonly Rule[]): string {
  const ordered = [...rules].sort((a, b) => byCodeUnit(a.id, b.id));
  return sha256Hex(canonicalJson(ordered.map(sourceOf)));
}

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => byCodeUnit(a, b));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(',')}}`;
}
