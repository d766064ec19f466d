/** Hostile inputs, and the expectations of the result for each. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { ParseError, type Result } from '../../src/text/errors.js';

/** Any string: of code points, of UTF-16 code units including lone surrogates, of combining characters, or of ASCII. */
export const anyString: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.string({ unit: 'binary-ascii', maxLength: 60 }),
  fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)), maxLength: 60 }),
);

/** Returns all truncations of a text, and all texts with one character missing. */
export function mutilations(text: string): readonly string[] {
  const places = Array.from({ length: text.length }, (_, at) => at);
  return [...new Set(places.flatMap((at) => [text.slice(0, at), text.slice(0, at) + text.slice(at + 1)]))];
}

/** Expects a value, or a ParseError whose span is inside the text and whose format is printable. */
export function expectAnswer(text: string, result: Result<{ readonly kind: string }, ParseError>, kind: string): void {
  if (result.ok) expect(result.value.kind).toBe(kind);
  else expectGoodError(text, result.error);
}

/** Expects a ParseError with a code, a sentence, a span inside the text, and a printable format. */
export function expectGoodError(text: string, error: unknown): asserts error is ParseError {
  if (!(error instanceof ParseError)) throw error;
  expect(error.code).toMatch(/^[a-zA-Z0-9-]+$/);
  expect(error.message).toMatch(/^[A-Z].*\.$/s);
  const { start, end } = error.span!;
  expect(0 <= start && start <= end && end <= text.length).toBe(true);
  // No control characters, lone surrogates, line or paragraph separators, or bidirectional controls.
  expect(error.format().replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
  expect(JSON.parse(JSON.stringify(error))).toEqual(error.toJSON());
  expect(error.toJSON()).toMatchObject({
    name: 'ParseError',
    code: error.code,
    span: error.span,
    reason: error.reason,
  });
}
