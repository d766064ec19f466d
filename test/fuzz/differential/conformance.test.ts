import { describe, expect, test } from 'vitest';
import {
  type ConformanceCase,
  compareWithExpected,
  runConformance,
} from '../../../src/fuzz/differential/conformance.js';
import {
  type Answer,
  functionTarget,
  type Outcome,
  type Target,
  TargetError,
} from '../../../src/fuzz/differential/target.js';

const ACCEPTED = { ok: true, ast: { kind: 'frame', payload: [1] }, canonical: 'a' } as const;
const REFUSED = { ok: false, code: 'E1', offset: 4 } as const;

describe('an answer', () => {
  test.each([
    ['that is right', ACCEPTED, ACCEPTED, ['verdict', 'tree', 'canonical'], []],
    ['that says little', ACCEPTED, { ok: true }, ['verdict'], []],
    ['to a case that expects little', { ok: true }, ACCEPTED, ['verdict'], []],
    [
      'with another tree',
      ACCEPTED,
      { ok: true, ast: { kind: 'frame', payload: [2] } },
      ['verdict', 'tree'],
      [['tree', '/payload/0', 1, 2]],
    ],
    [
      'with another canonical text',
      ACCEPTED,
      { ok: true, canonical: 'b' },
      ['verdict', 'canonical'],
      [['canonical', undefined, 'a', 'b']],
    ],
    ['that refuses', ACCEPTED, REFUSED, ['verdict'], [['verdict', undefined, true, false]]],
    ['that accepts', REFUSED, ACCEPTED, ['verdict'], [['verdict', undefined, false, true]]],
    ['that refuses rightly', REFUSED, { ...REFUSED, message: 'no' }, ['verdict', 'code', 'offset'], []],
    [
      'that refuses for another reason',
      REFUSED,
      { ok: false, code: 'E2', offset: 5 },
      ['verdict', 'code', 'offset'],
      [
        ['code', undefined, 'E1', 'E2'],
        ['offset', undefined, 4, 5],
      ],
    ],
    ['where any offset will do', { ok: false, code: 'E1' }, { ok: false, offset: 5 }, ['verdict'], []],
  ] as const)('%s', (_name, expected, answer, compared, mismatches) => {
    const comparison = compareWithExpected({ kind: 'answer', answer: answer as Answer }, expected);
    expect(comparison.compared).toEqual(compared);
    expect(comparison.mismatches.map((one) => [one.aspect, one.path, one.expected, one.actual])).toEqual(mismatches);
  });
});

function caseOf(id: string, more: Partial<ConformanceCase> = {}): ConformanceCase {
  return { id, file: 'f', input: id, dialect: 'strict', expected: { ok: true }, ...more };
}

async function runAll(target: Target, cases: readonly ConformanceCase[]) {
  const results = [];
  for await (const { case: testCase, verdict, mismatches, failure } of runConformance(target, cases)) {
    results.push({ id: testCase.id, verdict, mismatches, failure });
  }
  return results;
}

test('results come in the order of the cases', async () => {
  const target = functionTarget('late', async ({ input }) => {
    await new Promise((resolve) => setTimeout(resolve, 20 - 10 * input.length));
    if (input === 'cc') throw new RangeError('fell over');
    return input !== 'bb';
  });
  expect(
    await runAll(
      target,
      ['a', 'bb', 'cc'].map((id) => caseOf(id)),
    ),
  ).toEqual([
    { id: 'a', verdict: 'pass', mismatches: [], failure: null },
    { id: 'bb', verdict: 'fail', mismatches: [{ aspect: 'verdict', expected: true, actual: false }], failure: null },
    { id: 'cc', verdict: 'error', mismatches: [], failure: { kind: 'crash', detail: 'RangeError: fell over' } },
  ]);
});

test('the canonical text is sent again in each dialect, and must print unchanged', async () => {
  const requests: string[] = [];
  const target = functionTarget('echo', ({ input, dialect = '' }) => {
    requests.push(`${dialect} ${input}`);
    return { ok: true, canonical: dialect === 'lenient' ? `${input}!` : 'b' };
  });
  const cases = [caseOf('a', { expected: { ok: true, canonical: 'b' }, reparseDialects: ['strict', 'lenient'] })];
  expect(await runAll(target, cases)).toEqual([
    {
      id: 'a',
      verdict: 'fail',
      mismatches: [{ aspect: 'canonical', reparseDialect: 'lenient', expected: 'b', actual: 'b!' }],
      failure: null,
    },
  ]);
  expect(requests).toEqual(['strict a', 'strict b', 'lenient b']);
});

test('a case without an answer to its canonical text has no verdict', async () => {
  const target = functionTarget('f', ({ input }) => {
    if (input === 'b') throw new Error('no b');
    return true;
  });
  const cases = [caseOf('a', { expected: { ok: true, canonical: 'b' }, reparseDialects: ['strict'] })];
  expect((await runAll(target, cases))[0]).toMatchObject({ verdict: 'error', failure: { kind: 'crash' } });
});

test('a target that cannot be tested ends the run', async () => {
  const read = (): Promise<Outcome> => Promise.reject(new TargetError('gone'));
  const target: Target = { name: 'gone', read, close: async () => {} };
  await expect(runAll(target, [caseOf('a'), caseOf('b')])).rejects.toThrow(new TargetError('gone'));
});
