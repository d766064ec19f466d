import { describe, expect, test } from 'vitest';
import { renderForContext, renderJson } from '../../../src/accp/render/index.js';
import { compareTokens } from '../../../src/tokens/compare.js';
import { loadTokenCounter } from '../../../src/tokens/load-counter.js';
import { cli, jsonLines, lines, scratchFolder } from '../../helpers/cli.js';
import { moduleAt, runWithout } from '../../tokens/hidden-packages.js';

const folder = scratchFolder();
const FRAME = '@planner>req:schedule{task:impl_auth|pri:high}[mid:m1,seq:1]';
const MESSAGE = { agent: 'dev', intent: 'done', operation: 'review', schema: 'TA', payload: { note: 'all is well' } };
const ROWS = [
  { id: 1, name: 'Ann Lee', role: 'admin' },
  { id: 2, name: 'Bo', role: 'user' },
];
const TABLE = '(id role name):\n1 admin Ann Lee\n2 user Bo';

async function render(stdin: string, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await cli(['render', ...args], { stdin });
  expect({ code, stderr }).toStrictEqual({ code: 0, stderr: '' });
  return stdout;
}

describe('pegwire render', () => {
  test('prints frames and messages in one fence', async () => {
    const text = '@planner req schedule task=impl_auth priority=high\n@dev done review TA\nnote: all is well';
    const envelope = { msg_id: 'm2', sequence: 2, timestamp: 1_714_000_000 };
    const input = lines(FRAME, JSON.stringify({ ...MESSAGE, envelope }));
    expect(await render(input)).toBe(`\`\`\`data\n${text}\n\`\`\`\n`);
    const first = folder.write('first.txt', lines(FRAME));
    const second = folder.write('second.json', JSON.stringify([MESSAGE], null, 2));
    expect(await render('', first, second)).toBe(`\`\`\`data\n${text}\n\`\`\`\n`);
    expect(await render(lines(FRAME), '-', second)).toBe(`\`\`\`data\n${text}\n\`\`\`\n`);
  });

  test.each([
    ['one document', JSON.stringify(ROWS)],
    ['one document of several lines', JSON.stringify(ROWS, null, 2)],
    ['one document per line', lines(...ROWS.map((row) => JSON.stringify(row)))],
  ])('prints other JSON: %s', async (_what, input) => {
    expect(await render(input, '--no-fence')).toBe(`${TABLE}\n`);
  });

  test('prints JSON of several files, and between messages, one by one', async () => {
    const file = folder.write('rows.json', JSON.stringify(ROWS));
    expect(await render('', '--no-fence', file, file)).toBe(`${TABLE}\n\n${TABLE}\n`);
    expect(await render(lines(FRAME, '7', JSON.stringify(MESSAGE)), '--no-fence', '--keys', 'short')).toBe(
      '@planner req schedule task=impl_auth pri=high\n\n7\n\n@dev done review TA\nnote: all is well\n',
    );
  });

  test('keeps all digits', async () => {
    expect(await render('{"n":12345678901234567890}', '--no-fence')).toBe('n=12345678901234567890\n');
  });

  test('takes for a message only what loses nothing as one', async () => {
    for (const more of [{ english: 'Done.' }, { payload: [] }, { agent: 7 }, { schema: null }]) {
      expect(await render(JSON.stringify({ ...MESSAGE, ...more }), '--no-fence')).toMatch(/^agent=/);
    }
    expect(await render(JSON.stringify(MESSAGE), '--no-fence', '--data')).toBe(
      'agent=dev intent=done operation=review schema=TA payload={note="all is well"}\n',
    );
  });

  test('cuts long strings', async () => {
    expect(await render('["abcdef"]', '--no-fence', '--max-length', '3')).toBe('["abc" (3 characters omitted)]\n');
  });

  test('prints texts and their tokens as JSON', async () => {
    const counter = await loadTokenCounter();
    const input = lines(JSON.stringify(MESSAGE), '7');
    expect(jsonLines(await render(input, '--json'))).toStrictEqual([
      { ok: true, ...renderForContext(MESSAGE as never, { counter }), encoding: 'o200k_base' },
      { ok: true, ...renderJson(7, { counter }), encoding: 'o200k_base' },
    ]);
    const [{ counts }] = [await compareTokens({ message: MESSAGE })];
    const of = (form: string): number => counts.find(({ notation }) => notation === form)!.body!;
    expect(jsonLines(await render(input, '--json', '--tokens'))).toMatchObject([
      { json: of('json'), toon: of('toon') },
      { json: 1, toon: 1 },
    ]);
  });

  test('prints the tokens of the text beside JSON and TOON', async () => {
    const counter = await loadTokenCounter();
    const { counts } = await compareTokens({ message: ROWS });
    const of = (form: string): string => String(counts.find(({ notation }) => notation === form)!.body).padStart(8);
    const { tokens } = renderJson(ROWS, { counter });
    const { code, stdout, stderr } = await cli(['render', '--tokens'], { stdin: JSON.stringify(ROWS) });
    expect(code).toBe(0);
    expect(stdout.split('\n').map((line) => line.replace(/ +[+-]?\d+ %$/, ''))).toStrictEqual([
      `compact JSON  ${of('json')}`,
      `TOON          ${of('toon')}`,
      `rendered      ${String(tokens).padStart(8)}`,
      '',
    ]);
    expect(stderr).toBe('Counted in o200k_base. Envelopes are not counted.\n');
  });

  test('estimates, and leaves TOON out, without the optional packages', () => {
    const program = `const { run } = await import(${moduleAt('src/cli/run.ts')});
      const streams = { stdin: process.stdin, stdout: process.stdout, stderr: process.stdout };
      process.exitCode = await run(['render', '--tokens'], streams);`;
    const output = runWithout(['gpt-tokenizer', '@toon-format/toon'], program, JSON.stringify(ROWS));
    expect(output).toMatch(
      /^compact JSON +~\d+\nTOON +- {2}\(npm install @toon-format\/toon\)\nrendered +~\d+ +-\d+ %\nEstimated /,
    );
  });

  test('reports invalid lines, and prints the others', async () => {
    const { code, stdout, stderr } = await cli(['render', '--no-fence'], {
      stdin: lines('{"a":1}', '{"a":', '@a>req'),
    });
    expect({ code, stdout }).toStrictEqual({ code: 1, stdout: 'a=1\n' });
    expect(stderr).toMatch(/^error\[not-json\]: .*\n --> stdin:2:/);
    expect(stderr).toMatch(/^error\[E1001\]: .*\n --> stdin:3:/m);
    const json = await cli(['render', '--json'], { stdin: lines('{"a":1}', '{"a":') });
    expect(jsonLines(json.stdout)).toMatchObject([{ line: 2, ok: false, error: { code: 'not-json' } }, { ok: true }]);
  });

  test('reports what cannot be rendered', async () => {
    const deep = '['.repeat(300) + ']'.repeat(300);
    const { code, stdout, stderr } = await cli(['render'], { stdin: deep });
    expect({ code, stdout }).toStrictEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^error\[too-deep\]: value\[0\].*: values nest deeper than 200 levels/);
    const infinite = await cli(['render'], { stdin: '[1e999]' });
    expect(infinite.stderr).toMatch(/^error\[not-json\]: value\[0\]: Infinity is not JSON/);
  });

  test('reports an empty input', async () => {
    const { code, stderr } = await cli(['render'], { stdin: '\n' });
    expect(code).toBe(1);
    expect(stderr).toBe('error[empty]: The input is empty; expected at least one frame or JSON document.\n');
  });
});
