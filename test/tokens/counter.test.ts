import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { estimateTokens } from '../../src/tokens/counter.js';
import { countTokens } from '../../src/tokens/load-counter.js';

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
