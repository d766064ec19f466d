import type { ParseError } from '../../text/errors.js';
import type { Found } from '../../text/prose.js';

/**
 * A value as one line of JSON. Numbers that JSON cannot write become strings, as in the conformance fixtures: big integers
 * their digits, and the infinities that stand for decimals beyond a double's range their names.
 */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member === 'bigint') return String(member);
    if (member === Number.POSITIVE_INFINITY || member === Number.NEGATIVE_INFINITY) return String(member);
    return member;
  });
}

/** An error that is about no message of the input: about the arguments, the reading, or pegwire itself. */
export function errorJson(code: string, message: string): string {
  return toJson({ error: { code, message } });
}

/** A message that was found in a text. */
export function foundRecord(item: Found<unknown, ParseError>): object {
  const { start, end, text, decoded } = item;
  const place = { start, end, text, ...(decoded === undefined ? {} : { decoded }) };
  return item.ok ? { ...place, ok: true, ast: item.value } : { ...place, ok: false, error: item.error };
}
