/** The pairs of instructions that were written before the matcher: nothing wrong is ever served. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { alone, type InstructionPair, type PairOutcome, together } from './evaluate-pairs.js';

const FILE = new URL('../../../conformance/aacp/instruction-pairs.json', import.meta.url);
const { cases } = JSON.parse(readFileSync(FILE, 'utf8')) as { readonly cases: readonly InstructionPair[] };

/** The share of repeated instructions, said in other words, that are served without a model. */
const FLOOR = 0.8;

describe.each([
  ['each pair alone', alone(cases)],
  ['all pairs in one registry', together(cases)],
] as const)('%s', (_title, outcomes: readonly PairOutcome[]) => {
  test('no wrong packet is served', () => {
    const wrong = outcomes.filter(({ verdict }) => verdict === 'wrong');
    expect(wrong.map(({ pair, served }) => `${pair.id}: ${served}`)).toEqual([]);
  });

  test('at least 80 % of the repeated instructions are served', () => {
    const repeats = outcomes.filter(({ pair }) => pair.kind === 'repeat');
    expect(repeats.filter(({ verdict }) => verdict === 'right').length / repeats.length).toBeGreaterThanOrEqual(FLOOR);
  });

  test('another date or value is filled in for more than half of them', () => {
    const others = outcomes.filter(
      ({ pair }) => (pair.kind === 'date' || pair.kind === 'value') && pair.wanted !== null,
    );
    expect(others.filter(({ verdict }) => verdict === 'right').length / others.length).toBeGreaterThan(0.5);
  });
});
