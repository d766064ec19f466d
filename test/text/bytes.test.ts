import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { byteLength, isLonger } from '../../src/text/bytes.js';

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.constantFrom('a', 'ü', '€', '😀', '\ud83d', '\ude00')).map((parts) => parts.join('')),
);

describe('the length of a text in UTF-8', () => {
  test('equals that of Buffer', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(byteLength(text)).toBe(Buffer.byteLength(text));
      }),
    );
  });

  test('is compared with a limit correctly', () => {
    fc.assert(
      fc.property(anyText, fc.nat(40), (text, limit) => {
        expect(isLonger(text, limit)).toBe(Buffer.byteLength(text) > limit);
      }),
    );
  });
});
