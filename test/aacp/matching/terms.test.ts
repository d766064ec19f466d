import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { termsOf } from '../../../src/aacp/matching/wording.js';

const FIRST = 'Flag all invoices of ABC Ltd over \u00a34,200 without a purchase order for Q2 2026.';

describe('the first terms represent the whole instruction', () => {
  test('with its values, in any notation', () => {
    const again =
      'Please flag all invoices of ABC Ltd over 4200 GBP without a purchase order for the second quarter of 2026';
    expect(termsOf(again)[0]).toBe(termsOf(FIRST)[0]);
  });

  test('and without them', () => {
    const other = 'Flag all invoices of Globex Inc over \u20ac90 without a purchase order for Q1 2031.';
    expect(termsOf(other)[0]).not.toBe(termsOf(FIRST)[0]);
    expect(termsOf(other)[1]).toBe(termsOf(FIRST)[1]);
  });

  test.each([
    'Flag all invoices of ABC Ltd over \u00a34,200 with a purchase order for Q2 2026.',
    'Approve all invoices of ABC Ltd over \u00a34,200 without a purchase order for Q2 2026.',
    'Flag all overdue invoices of ABC Ltd over \u00a34,200 without a purchase order for Q2 2026.',
  ])('another instruction has other terms: %s', (other) => {
    expect(termsOf(other)[1]).not.toBe(termsOf(FIRST)[1]);
  });
});

test('the remaining terms are its longer words, without values', () => {
  const terms = termsOf('Retrieve the reconciliation of Acme Ltd for August 2024.');
  expect(terms.slice(2)).toEqual(['reconciliation', 'retrieve']);
});

test('there are at most sixteen different terms', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 400 }), (text) => {
      const terms = termsOf(text);
      expect(terms.length).toBeLessThanOrEqual(16);
      expect(new Set(terms).size).toBe(terms.length);
      expect(terms.every((term) => term !== '')).toBe(true);
    }),
  );
  expect(termsOf(`flag ${Array.from({ length: 40 }, (_, at) => `word${'x'.repeat(at)}`).join(' ')}`).length).toBe(16);
});

test.each(['', '   ', '...', 'please', 'x'.repeat(100_000)])('a text without content has no terms: %j', (text) => {
  expect(termsOf(text.slice(0, 100_000))).toEqual([]);
});
