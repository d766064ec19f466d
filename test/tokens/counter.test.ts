import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ENCODINGS, ESTIMATING_COUNTER, estimateTokens } from '../../src/tokens/counter.js';
import { countTokens, loadTokenCounter } from '../../src/tokens/load-counter.js';

const CONVERSATION = readFileSync(new URL('../examples/demo/conversation.txt', import.meta.url), 'utf8');

test('an estimate of messages and English is near the exact count', async () => {
  const lines = CONVERSATION.split('\n').filter((line) => line.length > 40);
  const counts = await Promise.all(lines.map(async (line) => (await countTokens(line)).tokens));
  const total = counts.reduce((sum, tokens) => sum + tokens, 0);
  const estimated = lines.reduce((sum, line) => sum + estimateTokens(line), 0);
  expect(Math.abs(estimated / total - 1)).toBeLessThan(0.1);
  for (const [index, line] of lines.entries()) {
    const ratio = estimateTokens(line) / counts[index]!;
    expect(ratio, line).toBeGreaterThan(0.7);
    expect(ratio, line).toBeLessThan(1.35);
  }
});

test.each([
  ['', 0],
  ['hello world', 2],
  ['123456', 2],
  ['\ud800', 1],
  ['日本', 2],
  ['a\n\nb', 3],
])('the estimate of %j is %i', (text, tokens) => {
  expect(estimateTokens(text)).toBe(tokens);
});

test.each([...ENCODINGS, 'estimate'] as const)(
  '%s: the tokens of two parts add up if the cut is before a symbol',
  async (encoding) => {
    const counter = encoding === 'estimate' ? ESTIMATING_COUNTER : await loadTokenCounter(encoding);
    expect(counter).toMatchObject({ encoding, splitsAtSymbols: true });
    const any = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom(...`aZ09 '"sdmtreLV{}[]|:,@>$~\\-/.\n\t\u00e9\u0301\u65e5`) }),
    );
    const word = fc.constantFrom(...'azAZ059');
    const symbol = fc.constantFrom(...'!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~');
    fc.assert(
      fc.property(any, word, symbol, any, (before, last, first, after) => {
        const [one, other] = [before + last, first + after];
        expect(counter.count(one + other)).toBe(counter.count(one) + counter.count(other));
      }),
      { numRuns: 1000 },
    );
  },
);
