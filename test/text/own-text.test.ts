import { expect, test } from 'vitest';
import { ownText } from '../../src/text/own-text.js';
import { memoryInUse } from '../helpers/memory.js';

/** Bytes that are held by parts of 100 texts of 100,000 characters each. */
function heldBy(part: (text: string) => string): number {
  const kept: string[] = [];
  const before = memoryInUse();
  for (let index = 0; index < 100; index++) {
    // Read from bytes, as frames are: in one piece.
    const text = Buffer.alloc(100_000, `${index}_identifier`).toString('latin1');
    kept.push(part(text.slice(500, 540)));
  }
  const held = memoryInUse() - before;
  expect(kept).toHaveLength(100);
  return held;
}

test('an own text does not retain the text that it was taken from', () => {
  expect(heldBy((text) => text)).toBeGreaterThan(8_000_000);
  expect(heldBy(ownText)).toBeLessThan(2_000_000);
});

test.each(['', 'a', ' a ', 'm1714000000_1', 'x'.repeat(300), '\ud800', '\udc00\u0000', 'grüße \u{1f600}'])(
  'an own text is the same: %j',
  (text) => {
    expect(ownText(text)).toBe(text);
  },
);
