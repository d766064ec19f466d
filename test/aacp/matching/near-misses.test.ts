/** Pairs of similar instructions with different meanings: no packet is served for the second. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { alone, type InstructionPair } from './evaluate-pairs.js';

const TEXT = readFileSync(new URL('near-misses.txt', import.meta.url), 'utf8');

const pairs = TEXT.split('\n').flatMap((line, index): InstructionPair[] => {
  if (line === '' || line.startsWith('#')) return [];
  const [domain = '', first = '', second = '', fields = 'res:whatever'] = line.split(' | ');
  const request = { domain, returnAgent: 'A', priority: '1' };
  const packet = `PROC|${domain}|return:A|p:1|aacp:1.1|${fields}`;
  const id = `line ${index + 1}`;
  const stored = { ...request, instruction: first, packet };
  return [{ id, kind: 'scope', first: stored, second: { ...request, instruction: second }, wanted: null }];
});

test('there are more than a hundred pairs', () => {
  expect(pairs.length).toBeGreaterThan(100);
});

test('no packet is served for another instruction', () => {
  const served = alone(pairs).filter(({ verdict }) => verdict !== 'refused');
  expect(served.map(({ pair, served: packet }) => `${pair.id}: ${pair.second.instruction} => ${packet}`)).toEqual([]);
});
