import type { ParseError } from '../../text/errors.js';
import type { Found } from '../../text/prose.js';

/** Prints one line of JSON. Big integers and infinities become strings, as in the conformance fixtures. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member === 'bigint') return String(member);
    if (member === Number.POSITIVE_INFINITY || member === Number.NEGATIVE_INFINITY) return String(member);
    return member;
  });
}

/** Prints an error that is not about a line of the input. */
export function errorJson(code: string, message: string, help?: string): string {
  return toJson({ error: { code, message, help } });
}

/** Returns the JSON record of a message found in a text. */
export function foundRecord(item: Found<unknown, ParseError>): object {
  const { start, end, text, decoded } = item;
  const place = { start, end, text, ...(decoded === undefined ? {} : { decoded }) };
  return item.ok ? { ...place, ok: true, ast: item.value } : { ...place, ok: false, error: item.error };
}
