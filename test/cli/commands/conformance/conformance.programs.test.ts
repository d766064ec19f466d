import { execFileSync } from 'node:child_process';
import { describe, expect, test, vi } from 'vitest';
import { accpCases, packetCases, validatorCases } from '../../../conformance/fixtures.js';
import { adapterCommand, programCommand } from '../../../fuzz/process/programs/commands.js';
import { cli, jsonLines } from '../../../helpers/cli.js';

const NODE_ADAPTER = programCommand('../../../examples/adapters/node-adapter.mjs');

interface CaseLine {
  readonly id: string;
  readonly verdict: string;
  readonly mismatches: readonly { readonly aspect: string; readonly path?: string }[];
  readonly failure: { readonly kind: string } | null;
}

/** Runs the command with `--json`. Returns its result lines and its summary. */
async function runJson(...args: readonly string[]) {
  const { code, stdout, stderr } = await cli(['conformance', ...args, '--json']);
  expect(stderr).toBe('');
  const lines = jsonLines(stdout);
  const { summary } = lines.pop() as { summary: Record<string, unknown> };
  return { code, cases: lines as CaseLine[], summary };
}

describe('a correct implementation', () => {
  test('of ACCP passes all cases, and every aspect is compared', async () => {
    const { code, cases, summary } = await runJson('accp', '--target', programCommand('pegwire-adapter.ts', 'accp'));
    const all = accpCases();
    expect(code).toBe(0);
    expect(cases.filter(({ verdict }) => verdict !== 'pass')).toEqual([]);
    expect(cases.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
    const count = (has: (one: (typeof all)[number]) => unknown) => {
      const answers = all.filter((one) => Boolean(has(one))).length;
      return { answers, of: answers };
    };
    expect(summary).toMatchObject({
      pass: all.length,
      fail: 0,
      error: 0,
      compared: {
        verdict: count(() => true),
        tree: count(({ ast }) => ast),
        canonical: count(({ canonical }) => canonical),
        code: count(({ error }) => error),
        offset: count(({ error }) => error !== undefined && error.approximate !== true),
      },
    });
  });

  test('of AACP passes all cases, including those of the validator that decide whether to accept', async () => {
    const { code, cases } = await runJson('aacp', '--target', programCommand('pegwire-adapter.ts', 'aacp'));
    expect(code).toBe(0);
    expect(cases.filter(({ verdict }) => verdict !== 'pass')).toEqual([]);
    const ids = cases.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(packetCases().map(({ id }) => `packets/${id}`)));
    const fromValidator = ids.filter((id) => id.startsWith('validator/')).map((id) => id.replace('validator/', ''));
    const decided = validatorCases().filter(({ id }) => fromValidator.includes(id));
    expect(decided.length).toBe(fromValidator.length);
    // Rejected for their form; accepted although invalid; and accepted with warnings.
    expect(fromValidator).toEqual(
      expect.arrayContaining(['trailing-pipe', 'ws-before-colon', 'v1.0', 'dup-identical']),
    );
    // Undecided: a strict parser may accept or reject these.
    expect(fromValidator).not.toContain('unknown-task');
    expect(fromValidator).not.toContain('mixed-task');
  });
});

describe('the example adapters pass', () => {
  test('in Node', async () => {
    const { code, summary } = await runJson('aacp', '--target', NODE_ADAPTER);
    expect(code).toBe(0);
    // It does not print packets.
    expect(summary).toMatchObject({ compared: { canonical: { answers: 0 }, offset: { answers: expect.any(Number) } } });
  });

  test.skipIf(!hasPython())(
    `in Python${hasPython() ? '' : ' (skipped: python3 is missing; Debian has it as python3)'}`,
    async () => {
      const { code } = await runJson('aacp', '--target', 'python3 test/examples/adapters/python_adapter.py');
      expect(code).toBe(0);
    },
  );

  function hasPython(): boolean {
    try {
      execFileSync('python3', ['--version'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  }
});

describe('a wrong implementation', () => {
  test('fails the cases that show its error, and no others', async () => {
    const target = programCommand('pegwire-adapter.ts', 'accp', 'wrong-tree', 'sales');
    const { code, cases, summary } = await runJson('accp', '--target', target);
    const wrong = cases.filter(({ verdict }) => verdict !== 'pass');
    const expected = accpCases().filter(({ input, ast }) => input.includes('sales') && ast !== undefined);
    expect(code).toBe(1);
    expect(wrong.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
    expect(wrong.length).toBeGreaterThan(0);
    for (const { verdict, mismatches } of wrong) {
      expect(verdict).toBe('fail');
      expect(mismatches).toEqual([expect.objectContaining({ aspect: 'tree', path: '/payload/0' })]);
    }
    expect(summary).toMatchObject({ fail: wrong.length, error: 0 });
  });

  test('that crashes on one text has no verdict for the cases with it', async () => {
    const args = ['aacp', '--target', adapterCommand(['inner', 'exit']), '--filter', 'validator/inner'];
    const { code, cases } = await runJson(...args);
    expect(code).toBe(1);
    expect(cases.map(({ id, verdict }) => [id, verdict])).toEqual([
      ['validator/inner-space-value', 'pass'],
      ['validator/inner-newline', 'fail'],
    ]);
    const crashing = ['aacp', '--target', adapterCommand(['hello', 'exit']), '--filter', 'validator/inner'];
    expect((await runJson(...crashing)).cases[0]).toMatchObject({ verdict: 'error', failure: { kind: 'crash' } });
  });

  test('is reported with its cases, the place and the expected values, and counts at the end', async () => {
    const args = ['conformance', 'aacp', '--target', adapterCommand(), '--filter', 'space-after-key'];
    const { code, stdout, stderr } = await cli(args);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout.split('\n\n')[0]).toBe(
      [
        'FAIL packets/refused-space-after-key (draft-mackay-aacp-01, section 4)',
        ' --> strict:1:16',
        '  |',
        '1 | FETCH|HR|return :A',
        '  |                ^',
        '  wrong verdict',
        '    expected  rejected',
        '    actual    accepted',
      ].join('\n'),
    );
    expect(stdout).toMatch(/^aacp\/packets\.json {2}0 passed, 1 failed$/m);
    expect(stdout).toMatch(/^Compared .*: verdict of 1 of 1, code of 0 of 1, offset of 0 of 1\.$/m);
    expect(stdout).toMatch(/^Skipped: aacp\/explain\.json/m);
    expect(stdout).toMatch(/\n1 cases?: 0 passed, 1 failed\n$/);
  });

  test('is reported without control characters', async () => {
    const args = [
      'conformance',
      'aacp',
      '--target',
      adapterCommand(['hello', 'no-json']),
      '--filter',
      'validator/inner',
    ];
    const { stdout } = await cli(args);
    expect(stdout).toContain('invalid answer: not JSON: "NaN is no answer"');
    expect(stdout).toContain('subj:a␊b');
  });
});

describe('the options', () => {
  test('select cases by id and dialect', async () => {
    const target = ['--target', adapterCommand()];
    const lenient = await runJson('accp', ...target, '--dialect', 'lenient');
    const all = accpCases().filter(({ dialect }) => dialect === 'lenient');
    expect(lenient.cases.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
    const few = await runJson('accp', ...target, '--filter', 'limits/arrays');
    expect(few.cases.every(({ id }) => id.startsWith('limits/arrays'))).toBe(true);
  });

  test('limit time and memory', async () => {
    const hang = [adapterCommand(['hello', 'hang']), '--timeout', '800ms'];
    const eat = [adapterCommand(['hello', 'eat']), '--memory', '256'];
    for (const [kind, args] of Object.entries({ hang, memory: eat })) {
      const { cases } = await runJson('aacp', '--filter', 'inner-space-value', '--target', ...args);
      expect(cases[0]).toMatchObject({ verdict: 'error', failure: { kind } });
    }
  });

  test.each([
    [['accp'], /^error\[[\w-]+\]: conformance requires --target/],
    [['accp', '--target', 'x', '--filter', 'no such case'], /No case of accp matches --filter and --dialect/],
    [['aacp', '--target', 'x', '--dialect', 'tolerant'], /No case of aacp matches/],
    [['accp', '--target', 'x', '--dialect', 'loose'], /--dialect must be strict or lenient/],
    [['accp', '--target', 'x', '--timeout', '0s'], /--timeout must be greater than 0; got "0s"/],
    [['accp', '--target', 'x', '--memory', 'much'], /--memory must be a number greater than 0/],
    [[], /conformance requires a protocol: accp or aacp/],
    [['accp', 'file', '--target', 'x'], /conformance takes only a protocol; remove "file"/],
  ])('are checked: %j', async (args, message) => {
    const { code, stdout, stderr } = await cli(['conformance', ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
  });
});

test('a program that cannot be used is reported once, with exit code 2', async () => {
  const { code, stdout, stderr } = await cli(['conformance', 'accp', '--target', 'pegwire-no-such-program']);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^error\[[\w-]+\]: The target "pegwire-no-such-program" cannot be used: [^\n]*\n$/);
  const json = await cli(['conformance', 'accp', '--json', '--target', 'pegwire-no-such-program']);
  expect(json.code).toBe(2);
  expect(jsonLines(json.stderr)).toEqual([{ error: { code: 'target', message: expect.any(String) } }]);
});

test('progress is shown on a terminal', async () => {
  const args = ['conformance', 'aacp', '--target', NODE_ADAPTER, '--filter', 'draft', '--no-color'];
  let seconds = 0;
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => 1000 * ++seconds);
  const { stderr } = await cli(args, { isTTY: true });
  spy.mockRestore();
  expect(stderr).toMatch(/Testing \[[#-]+\] \d+ %, \d+ s left, 1 of /);
});
