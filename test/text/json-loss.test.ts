import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonLoss } from '../../src/text/json-loss.js';

const lossOf = (text: string): string | null => jsonLoss(text, JSON.parse(text));

describe('reading a JSON text', () => {
  test.each([
    ['{"a":1,"b":[{"a":2}],"c":"9007199254740993","d":"{\\"a\\":1,\\"a\\":2}"}', null],
    ['[1.50,1e3,0.10,-0,0.0,1E+2,100,5e-324]', null],
    ['{"id":9007199254740993}', 'The number 9007199254740993 is rounded to 9007199254740992.'],
    ['[0.1234567890123456789]', 'The number 0.1234567890123456789 is rounded to 0.12345678901234568.'],
    ['[1e999]', 'The number 1e999 is rounded to Infinity.'],
    ['{"a":{"b":1,"b":2}}', 'A key is repeated: only its last value is kept.'],
    [
      '{"a" :1e999, "a"\n:2}',
      'The number 1e999 is rounded to Infinity. A key is repeated: only its last value is kept.',
    ],
  ])('%s: %s', (text, expected) => {
    expect(lossOf(text)).toBe(expected);
  });

  test('loses nothing of what JSON.stringify writes', () => {
    fc.assert(fc.property(fc.json(), (text) => lossOf(JSON.stringify(JSON.parse(text))) === null));
  });
});
