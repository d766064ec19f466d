/** Pairs of instructions that were written before the matcher, or without sight of it: nothing wrong is ever served. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { alone, type InstructionPair, type PairOutcome, together } from './evaluate-pairs.js';

function pairsOf(name: string): readonly InstructionPair[] {
  const file = new URL(`../../conformance/aacp/${name}.json`, import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly cases: readonly InstructionPair[] }).cases;
}

const cases = pairsOf('instruction-pairs');

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

describe.each(['instruction-pairs-2', 'instruction-pairs-3'])('%s', (name) => {
  const others = pairsOf(name);

  test.each([
    ['each pair alone', alone],
    ['all pairs in one registry', together],
  ] as const)('%s: no wrong packet is served', (_title, run) => {
    const wrong = run(others).filter(({ verdict }) => verdict === 'wrong');
    expect(wrong.map(({ pair, served }) => `${pair.id}: ${served}`)).toEqual([]);
  });
});
