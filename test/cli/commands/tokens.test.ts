import { describe, expect, test } from 'vitest';
import { compareTokens } from '../../../src/tokens/compare.js';
import { type Encoding, estimateTokens } from '../../../src/tokens/counter.js';
import { countTokens } from '../../../src/tokens/load-counter.js';
import { cli, jsonLines, lines, scratchFolder } from '../../helpers/cli.js';
import { moduleAt, runWithout } from '../../tokens/hidden-packages.js';

const BODY = '@planner>req:schedule{task:impl_auth|pri:high}';
const FRAME = `${BODY}[mid:49679033e07c,seq:3,x:{a:[1]}]`;
const MESSAGE = { agent: 'planner', intent: 'req', operation: 'schedule', payload: { task: 'impl_auth', pri: 'high' } };
const PACKET = 'FETCH|HR|return:HR-Agent|p:1|aacp:1.1';
const ENGLISH = 'Please schedule the auth module.';
const folder = scratchFolder();

async function tokens(text: string, encoding?: Encoding): Promise<number> {
  return (await countTokens(text, encoding)).tokens;
}

async function forms(message: object): Promise<object> {
  const counts = (await compareTokens({ message })).counts.map(({ body }) => body);
  return { jsonPretty: counts[0], json: counts[1], toon: counts[2] };
}

const OTHERS = { accp: null, accpEnvelope: null, aacp: null, english: null };
const NO_FORMS = { body: null, jsonPretty: null, json: null, toon: null };

describe('pegwire tokens', () => {
  const cases: readonly (readonly [text: string, row: () => Promise<object>])[] = [
    [
      FRAME,
      async () => ({
        ...{ kind: 'frame', body: await tokens(BODY), accp: await tokens(BODY), accpEnvelope: await tokens(FRAME) },
        ...(await forms(MESSAGE)),
      }),
    ],
    [
      BODY,
      async () => ({ kind: 'frame', body: await tokens(BODY), accp: await tokens(BODY), ...(await forms(MESSAGE)) }),
    ],
    ['@planner>req:schedule{', async () => ({ kind: 'frame', ...NO_FORMS })],
    [
      PACKET,
      async () => ({
        kind: 'packet',
        body: await tokens(PACKET),
        aacp: await tokens(PACKET),
        ...(await forms({ task: 'FETCH', domain: 'HR', fields: { return: 'HR-Agent', p: '1', aacp: '1.1' } })),
      }),
    ],
    [
      '{"a": [1, 2]}',
      async () => ({ kind: 'json', body: await tokens('{"a": [1, 2]}'), ...(await forms({ a: [1, 2] })) }),
    ],
    ['[1, 2]', async () => ({ kind: 'json', body: await tokens('[1, 2]'), ...(await forms([1, 2])) })],
    ['{"a": [1, 2}', async () => ({ kind: 'english', ...NO_FORMS, english: await tokens('{"a": [1, 2}') })],
    [ENGLISH, async () => ({ kind: 'english', ...NO_FORMS, english: await tokens(ENGLISH) })],
    [
      '@someone please look',
      async () => ({ kind: 'english', ...NO_FORMS, english: await tokens('@someone please look') }),
    ],
    [
      JSON.stringify({ ...MESSAGE, english: ENGLISH }),
      async () => ({
        ...{
          kind: 'json',
          body: await tokens(JSON.stringify({ ...MESSAGE, english: ENGLISH })),
          ...(await forms(MESSAGE)),
        },
        ...{ accp: await tokens(BODY), accpEnvelope: await tokens(`${BODY}[mid:c40861273305,seq:1,ts:1714000000]`) },
        english: await tokens(ENGLISH),
      }),
    ],
    [
      '{"task":"FETCH","domain":"HR","return":"HR-Agent","p":1,"aacp":"1.1"}',
      async () => ({
        ...{
          kind: 'json',
          body: await tokens('{"task":"FETCH","domain":"HR","return":"HR-Agent","p":1,"aacp":"1.1"}'),
        },
        ...(await forms({ task: 'FETCH', domain: 'HR', return: 'HR-Agent', p: 1, aacp: '1.1' })),
        aacp: await tokens(PACKET),
      }),
    ],
  ];

  test.each(cases)('detects the kind of a line, and counts it: %s', async (text, row) => {
    const { code, stdout, stderr } = await cli(['tokens', '--json'], { stdin: lines(text) });
    expect({ code, stderr }).toStrictEqual({ code: 0, stderr: '' });
    expect(jsonLines(stdout)[0]).toStrictEqual({
      line: 1,
      tokens: await tokens(text),
      encoding: 'o200k_base',
      exact: true,
      ...OTHERS,
      ...(await row()),
    });
  });

  test('prints all forms in columns, with totals', async () => {
    const file = folder.write('lines.txt', lines(BODY, '', ENGLISH));
    const { code, stdout, stderr } = await cli(['tokens', file]);
    const { jsonPretty, json, toon } = (await forms(MESSAGE)) as Record<string, number>;
    const [header, frame, english, total, ...rest] = stdout.split('\n').map((line) => line.trim().split(/\s{2,}/));
    const count = String(await tokens(BODY));
    const compared = [count, ...[jsonPretty, json, toon].map(String), count, '-', '-'];
    const spoken = String(await tokens(ENGLISH));
    expect(header).toStrictEqual([
      'line',
      'kind',
      'tokens',
      'no metadata',
      'JSON pretty',
      'JSON',
      'TOON',
      'ACCP',
      'ACCP with envelope',
      'AACP',
      'English',
      'text',
    ]);
    expect(frame).toStrictEqual(['1', 'frame', count, ...compared, '-', BODY]);
    expect(english).toStrictEqual(['3', 'english', spoken, ...Array.from({ length: 7 }, () => '-'), spoken, ENGLISH]);
    expect(total).toStrictEqual(['total', String((await tokens(BODY)) + (await tokens(ENGLISH))), ...compared, spoken]);
    expect(rest).toStrictEqual([['']]);
    expect({ code, stderr }).toStrictEqual({
      code: 0,
      stderr:
        'Counted in o200k_base. JSON and TOON contain the message without its metadata. A dash means that the line has no such form.\n',
    });
  });

  test('prints the totals as JSON at the end', async () => {
    const { stdout } = await cli(['tokens', '--json'], { stdin: lines(ENGLISH, ENGLISH) });
    const sum = 2 * (await tokens(ENGLISH));
    const total = { lines: 2, tokens: sum, ...NO_FORMS, ...OTHERS, english: sum };
    expect(jsonLines(stdout).at(-1)).toStrictEqual({ total, encoding: 'o200k_base', exact: true });
  });

  test('counts in the selected encoding', async () => {
    const text = 'Größenordnung 日本語';
    const { stdout } = await cli(['tokens', '--json', '--encoding', 'r50k_base'], { stdin: lines(text) });
    expect(jsonLines(stdout)[0]).toMatchObject({ tokens: await tokens(text, 'r50k_base'), encoding: 'r50k_base' });
  });

  test('parses frames in the selected dialect', async () => {
    const mention = '@planner>req:schedule{who:@dev}';
    const strict = await cli(['tokens', '--json'], { stdin: lines(mention) });
    const lenient = await cli(['tokens', '--json', '--dialect', 'lenient'], { stdin: lines(mention) });
    expect(jsonLines(strict.stdout)[0]).toMatchObject({ kind: 'frame', json: null });
    expect(jsonLines(lenient.stdout)[0]).toMatchObject({ kind: 'frame', json: expect.any(Number) });
  });

  test('makes control characters of a long line visible', async () => {
    const { stdout } = await cli(['tokens'], { stdin: lines(`\x1b[2J${'word '.repeat(100)}`) });
    expect(stdout).toContain('␛[2Jword');
    expect(stdout).toMatch(/\.\.\.\n$/);
    expect(stdout).not.toContain('\x1b');
  });

  test('rejects an empty input', async () => {
    expect(await cli(['tokens'])).toStrictEqual({
      code: 1,
      stdout: '',
      stderr: 'error[empty]: The input is empty; expected at least one text.\n',
    });
    const { stderr } = await cli(['tokens', '--json']);
    expect(JSON.parse(stderr)).toStrictEqual({
      error: { code: 'empty', message: 'The input is empty; expected at least one text' },
    });
  });

  test('has no protocol on its help page', async () => {
    const { stdout } = await cli(['tokens', '--help']);
    expect(stdout).toContain('Usage: pegwire tokens [file|-] [options]');
  });
});

test('estimates are marked, and a missing TOON is reported, whatever the last line is', () => {
  const program = `const { run } = await import(${moduleAt('src/cli/run.ts')});
    process.exitCode = await run(['tokens'], { stdin: process.stdin, stdout: process.stdout, stderr: process.stdout });`;
  const output = runWithout(['gpt-tokenizer', '@toon-format/toon'], program, lines(BODY, BODY, ENGLISH));
  const estimate = estimateTokens(BODY);
  expect(output).toMatch(
    new RegExp(`frame +~${estimate} +~${estimate} +~\\d+ +~\\d+ +- +~${estimate} +- +- +-  @planner`),
  );
  expect(output).not.toMatch(/~0\b/);
  expect(output).toContain('Estimated (for exact counts: npm install gpt-tokenizer)');
  expect(output).toContain('TOON is not counted (npm install @toon-format/toon)');
});

test.each([
  ['tokens', `['tokens', '--encoding', 'o200k_base']`],
  ['prompt', `['prompt', 'aacp', '--encoding', 'o200k_base']`],
  ['encode', `['encode', 'accp', '--encoding', 'o200k_base']`],
])('an exact count that %s cannot produce is an error that names the package', (_, args) => {
  const program = `const { run } = await import(${moduleAt('src/cli/run.ts')});
    const code = await run(${args}, { stdin: process.stdin, stdout: process.stdout, stderr: process.stdout });
    console.log('code', code);`;
  const output = runWithout(['gpt-tokenizer'], program, lines(ENGLISH));
  expect(output).toMatch(/requires the package gpt-tokenizer for exact counts: npm install gpt-tokenizer\.\ncode 2\n$/);
});

describe('incorrect usage of tokens', () => {
  test.each([
    [['accp'], 'tokens does not take a protocol, since it recognizes messages by their form; remove "accp"'],
    [['a.txt', 'b.txt'], 'tokens reads one file; remove "b.txt"'],
    [['--encoding', 'o200k'], '--encoding must be o200k_base'],
    [['--dialect', 'tolerant'], '--dialect must be strict or lenient'],
    [['no-such-file'], 'Cannot read no-such-file: there is no such file'],
  ] as const)('%j', async (args, message) => {
    const { code, stdout, stderr } = await cli(['tokens', ...args]);
    expect({ code, stdout }).toStrictEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
  });
});
