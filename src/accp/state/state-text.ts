/** Values of state as the text by which their tokens are counted. */
import { Reference } from '../message/reference.js';

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
