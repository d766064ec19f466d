import { describe, expect, test } from 'vitest';
import { accpLanguage } from '../../../src/accp/language/language.js';
import { grammarLanguage, type Language } from '../../../src/fuzz/differential/language.js';
import { compareOutcome } from '../../../src/fuzz/differential/oracle.js';
import { findingText, summaryText } from '../../../src/fuzz/differential/report.js';
import {
  type DifferentialReport,
  fixtureFile,
  fixtureOf,
  runDifferential,
} from '../../../src/fuzz/differential/run.js';
import { shrinkText } from '../../../src/fuzz/differential/shrink.js';
import { type Answer, functionTarget, type Json } from '../../../src/fuzz/differential/target.js';
import { compileGrammar } from '../../../src/fuzz/grammar/compile.js';
import { fuzzInputs } from '../../../src/fuzz/mutants/mutate.js';

const language = withMemory(accpLanguage());

/** The answers of a language, each of which is computed once. */
function withMemory(original: Language): Language {
  const known = new Map<string, Answer>();
  const read = (text: string): Answer => {
    const answer = known.get(text) ?? original.read(text);
    known.set(text, answer);
    return answer;
  };
  return { ...original, read };
}

const inputs = fuzzInputs(language.grammar, { seed: 1, count: 1_000_000 });
const drawn: string[] = [];

/** The first texts of a seed, each of which is generated once. */
function* texts(count: number): Generator<string> {
  for (let at = 0; at < count; at++) {
    drawn[at] ??= inputs.next().value!.text;
    yield drawn[at]!;
  }
}

/** Enough texts to include some with a repeated key, which are rare. */
const MANY = 6_000;

/** Runs a reader that equals ours except for one fault. */
function against(fault: (answer: Answer, input: string) => Answer, count = 1_500): Promise<DifferentialReport> {
  const target = functionTarget('mine', ({ input }) => fault(language.read(input), input));
  return runDifferential({ language, targets: [target], inputs: texts(count) });
}

describe('runDifferential', () => {
  test('finds nothing if all agree', async () => {
    const report = await against((answer) => answer, 500);
    expect(report).toMatchObject({
      findings: [],
      stopped: null,
      targets: [{ name: 'mine', agreed: 500, disagreed: 0 }],
    });
    expect(report.valid + report.invalid).toBe(500);
    expect(Math.min(report.valid, report.invalid)).toBeGreaterThan(100);
  });

  test('compares only the verdict of an answer without a tree', async () => {
    const report = await against((answer) => ({ ok: answer.ok }) as Answer, 500);
    expect(report.findings).toEqual([]);
  });

  const FAULTS: readonly [
    what: string,
    kind: string,
    input: RegExp,
    fault: (answer: Answer, input: string) => Answer,
  ][] = [
    [
      'a text that must not be accepted',
      'accepts-invalid',
      /^@a>a:a\{(\w):a\|\1:a/,
      (answer) => (answer.ok || answer.reason !== 'duplicate-key' ? answer : { ok: true }),
    ],
    [
      'a text that must not be refused',
      'rejects-valid',
      /^@a>a:a\{\}\[a:~\]$|^@a>a:a\{a:~\}$/,
      (answer, input) => (input.includes('~') ? { ok: false } : answer),
    ],
    [
      'another tree',
      'different-tree',
      /^@a>a:a\{.*a:true.*\}$/,
      (answer) =>
        answer.ok
          ? {
              ...answer,
              ast: JSON.parse(
                JSON.stringify(answer.ast).replace('"boolean","value":true', '"string","value":"true"'),
              ) as Json,
            }
          : answer,
    ],
    [
      'another canonical text',
      'different-canonical',
      /^@a>a:a\{a:\{\}\}$|^@a>a:a\{\}\[a:\{\}\]$/,
      (answer) =>
        answer.ok
          ? { ...answer, canonical: answer.canonical!.replaceAll('{}]', '{ }]').replaceAll(':{}', ':{ }') }
          : answer,
    ],
    [
      'a crash',
      'crash',
      /^.?7.?$/,
      (answer, input) => {
        if (input.includes('7')) throw new Error(`at ${input.indexOf('7')}`);
        return answer;
      },
    ],
  ];

  test.each(FAULTS)('finds %s, and its smallest text', async (_what, kind, input, fault) => {
    const { findings } = await against(fault, kind === 'accepts-invalid' ? MANY : undefined);
    const own = findings.filter((finding) => finding.kind === kind);
    expect(
      own.map((finding) => finding.input).some((text) => input.test(text)),
      JSON.stringify(own.map((one) => one.input)),
    ).toBe(true);
    for (const { original } of own) expect(original).toBeDefined();
  });

  test('reports a cause once, however often it occurs', async () => {
    const { findings, targets } = await against((answer, input) => {
      if (input.includes('true')) throw new Error(`cannot read ${JSON.stringify(input)} at ${input.length}`);
      return answer;
    });
    expect(findings.map(({ kind, input }) => ({ kind, input }))).toEqual([{ kind: 'crash', input: 'true' }]);
    expect(targets[0]!.disagreed).toBeGreaterThan(20);
  });

  test('reports an implementation whose answers vary', async () => {
    let calls = 0;
    const target = functionTarget('moody', ({ input }) =>
      ++calls === 50 ? ({ ok: !language.read(input).ok } as Answer) : language.read(input),
    );
    const { findings } = await runDifferential({ language, targets: [target], inputs: texts(200) });
    expect(findings).toHaveLength(1);
    expect(findings[0]!.disagreement.message).toMatch(/not again/);
  });

  test('compares any number of implementations with the reference', async () => {
    const targets = [functionTarget('good', ({ input }) => language.read(input)), functionTarget('bad', () => true)];
    const report = await runDifferential({ language, targets, inputs: texts(100) });
    expect(report.targets.map(({ name, disagreed }) => [name, disagreed > 0])).toEqual([
      ['good', false],
      ['bad', true],
    ]);
    expect(new Set(report.findings.map((finding) => finding.target))).toEqual(new Set(['bad']));
  });

  test('stops on a signal, and keeps its findings', async () => {
    const stopping = new AbortController();
    const target = functionTarget('bad', () => false);
    const found: string[] = [];
    const report = await runDifferential({
      language,
      targets: [target],
      inputs: texts(1_000_000),
      signal: stopping.signal,
      onFinding: ({ input }) => {
        found.push(input);
        stopping.abort();
      },
    });
    expect(report.stopped).toBe('signal');
    expect(report.findings.map(({ input }) => input)).toEqual(found);
    expect(found).not.toEqual([]);
  });

  test('works for any grammar', async () => {
    const own = grammarLanguage(
      compileGrammar(
        'sum = n:number rest:("+" @number)* { return rest.reduce((a, b) => a + b, n); }\nnumber = d:$[0-9]+ { return Number(d); }',
      ),
    );
    const target = functionTarget('mine', ({ input }) =>
      /^[0-9]+(\+[0-9]+)*$/.test(input)
        ? {
            ok: true,
            ast: input
              .split('+')
              .slice(0, 2)
              .reduce((sum, one) => sum + Number(one), 0),
          }
        : { ok: false },
    );
    const inputs = [...fuzzInputs(own.grammar, { seed: 1, count: 500 })].map(({ text }) => text);
    const { findings } = await runDifferential({ language: own, targets: [target], inputs });
    expect(findings.map(({ kind, input }) => [kind, input])).toContainEqual([
      'different-tree',
      expect.stringMatching(/^[0-9]\+[0-9]\+[1-9]$/),
    ]);
  });
});

describe('compareOutcome', () => {
  const valid: Answer = { ok: true, ast: { kind: 'x', items: [1, 2] }, canonical: 'x' };

  test('contains the place and both values if trees differ', () => {
    const found = compareOutcome(valid, { kind: 'answer', answer: { ok: true, ast: { kind: 'x', items: [1, '2'] } } });
    expect(found).toMatchObject({
      kind: 'different-tree',
      message: 'The tree differs at /items/1: expected 2, got "2".',
    });
  });

  test('has one key for crashes with the same cause', () => {
    const key = (detail: string): string => compareOutcome(valid, { kind: 'crash', detail })!.key;
    expect(key('Traceback\n  File "a.py", line 3\nValueError: bad int: "12"')).toBe(
      key('Traceback\n  File "a.py", line 3\nValueError: bad int: "x7"'),
    );
    expect(key('ValueError: bad')).not.toBe(key('KeyError: bad'));
  });

  test('has a sentence for each kind', () => {
    expect(compareOutcome(valid, { kind: 'hang', timeoutMs: 500 })!.message).toBe(
      'The target does not answer within 500 ms.',
    );
    expect(compareOutcome(valid, { kind: 'memory', maxBytes: 2 ** 30 })!.message).toContain('1024 MiB');
    expect(compareOutcome(valid, { kind: 'garbage', detail: 'not JSON' })!.message).toContain('not JSON');
  });
});

describe('shrinkText', () => {
  const { grammar } = language;
  const small = (text: string, holds: (text: string) => boolean): Promise<string> =>
    shrinkText(text, { grammar, reproduces: async (one) => holds(one) });

  test('leaves a text that cannot be smaller', async () => {
    expect(await small('ab', (text) => text === 'ab')).toBe('ab');
  });

  test('cuts valid texts along their structure', async () => {
    const text = '@research>done:analyze{d:[q3,{x:[1,[2,[true]]]},7]|nx:plan}[mid:49679033e07c,seq:3]';
    expect(await small(text, (one) => grammar.accepts(one) && one.includes('true'))).toMatch(
      /^@a>a:a\{a:true\}$|^@a>a:a\{\}\[a:true\]$/,
    );
    expect(await small(text, (one) => grammar.accepts(one) && one.includes(']]'))).toMatch(/^@a>a:a\{.*\[\[\]\].*$/);
  });

  test('shrinks other texts, too', async () => {
    expect(await small('@@@ some long text with a } in it', (one) => one.includes('}'))).toBe('}');
    expect(await small('x', () => true)).toBe('');
  });

  test('keeps repeated words equal', async () => {
    expect(await small('alpha=1&alpha=2', (one) => /^(\w+)=\d&\1=\d$/.test(one))).toMatch(
      /^(\w)=[a0]&\1=[a0]$|^(\w)=0&\2=0$/,
    );
  });

  test('stops after a number of tries', async () => {
    let tries = 0;
    await shrinkText('a'.repeat(2_000), { grammar, maxAttempts: 200, reproduces: async () => ++tries < 0 });
    expect(tries).toBeLessThanOrEqual(200);
  });
});

describe('findings', () => {
  test('are cases in the form of the conformance fixtures, and text with a caret', async () => {
    const { findings } = await against(
      (answer) => (answer.ok || answer.reason !== 'duplicate-key' ? answer : { ok: true }),
      MANY,
    );
    const finding = findings[0]!;
    const fixture = fixtureOf(finding, language);
    expect(fixture).toMatchObject({
      id: expect.stringMatching(/^accp\/accepts-invalid-[0-9a-f]{8}$/),
      input: finding.input,
      dialect: 'strict',
      error: { code: 'E1001', offset: expect.any(Number) },
      found: { target: 'mine', kind: 'accepts-invalid', answer: { ok: true } },
    });
    expect(fixtureFile(fixture)).toMatch(/^accp-accepts-invalid-[0-9a-f]{8}\.json$/);
    const text = findingText(finding, 1, 'x.json');
    expect(text).toContain(finding.input);
    expect(text).toMatch(/^ +\| +\^/m);
    expect(text).toContain('x.json');
  });

  test('are summarized with a command that repeats the run', async () => {
    const report = await against(() => ({ ok: false }), 300);
    const text = summaryText(report, 7, 'pegwire fuzz accp --seed 7');
    expect(text).toMatch(/300 texts of accp \(strict\): \d+ valid, \d+ invalid\. Seed 7\./);
    expect(text).toContain('pegwire fuzz accp --seed 7');
  });
});
