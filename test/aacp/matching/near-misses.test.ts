/**
 * Pairs of instructions that somebody sought out who knew how the matcher works: much alike, and not the same. Under `-` nothing is
 * served for the second. Under `?` it is, though a careful clerk would object, or ask: what is known to be wrong, or open.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { alone, type InstructionPair } from './evaluate-pairs.js';

const TEXT = readFileSync(new URL('near-misses.txt', import.meta.url), 'utf8');

interface Row {
  readonly mark: string;
  readonly pair: InstructionPair;
}

/** `- HR | first | second | further fields of the packet` */
const rows = TEXT.split('\n').flatMap((line, index): Row[] => {
  const [mark = '', domain = '', first = '', second = '', fields = 'res:whatever'] = [
    line.slice(0, 1),
    ...line.slice(2).split(' | '),
  ];
  if (mark !== '-' && mark !== '?') return [];
  const request = { domain, returnAgent: 'A', priority: '1' };
  const packet = `PROC|${domain}|return:A|p:1|aacp:1.1|${fields}`;
  const pair = { id: `line ${index + 1}`, kind: 'scope', first: { ...request, instruction: first, packet } } as const;
  return [{ mark, pair: { ...pair, second: { ...request, instruction: second }, wanted: null } }];
});

describe('near misses', () => {
  test('there are hundreds', () => {
    expect(rows.filter(({ mark }) => mark === '-').length).toBeGreaterThan(400);
  });

  test('nothing is served for another instruction', () => {
    const outcomes = alone(rows.filter(({ mark }) => mark === '-').map(({ pair }) => pair));
    const served = outcomes.filter(({ verdict }) => verdict !== 'refused');
    expect(served.map(({ pair }) => `${pair.id}: ${pair.first.instruction} / ${pair.second.instruction}`)).toEqual([]);
  });

  test('what is known to be served is still served: else it belongs under "-"', () => {
    const outcomes = alone(rows.filter(({ mark }) => mark === '?').map(({ pair }) => pair));
    expect(outcomes.filter(({ verdict }) => verdict === 'refused').map(({ pair }) => pair.id)).toEqual([]);
  });
});
