/** Pairs of instructions written independently of the matcher: no wrong packet is served, and values are filled in. */
import { describe, expect, test } from 'vitest';
import { readJson } from '../../conformance/fixtures.js';
import { alone, type InstructionPair, type PairOutcome, together } from './evaluate-pairs.js';

const { cases } = readJson('aacp/instruction-pairs.json') as { readonly cases: readonly InstructionPair[] };

describe.each([
  ['each pair alone', alone(cases)],
  ['all pairs in one registry', together(cases)],
] as const)('%s', (_title, outcomes: readonly PairOutcome[]) => {
  test('no wrong packet is served', () => {
    const wrong = outcomes.filter(({ verdict }) => verdict === 'wrong');
    expect(wrong.map(({ pair, served }) => `${pair.id}: ${served}`)).toEqual([]);
  });

  test('another date or value is filled in for more than half of them', () => {
    const others = outcomes.filter(
      ({ pair }) => (pair.kind === 'date' || pair.kind === 'value') && pair.wanted !== null,
    );
    expect(others.filter(({ verdict }) => verdict === 'right').length / others.length).toBeGreaterThan(0.7);
  });
});
