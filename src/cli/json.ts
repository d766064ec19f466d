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
