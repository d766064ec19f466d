import { describe, expect, test } from 'vitest';
import { findPackets } from '../../../src/aacp/find.js';
import { findFrames } from '../../../src/accp/find.js';
import { cli, jsonLines, lines } from '../../helpers/cli.js';

const PROSE = lines(
  '# Notes',
  '',
  'Ask @analyst>qry:lookup{q:sales}[mid:q1,seq:3], then run `FETCH|FIN|return:FIN-Agent|aacp:1.1`.',
  'It said: "@bot>req:run{k:two words}" and FETCH|FIN|return:A||aacp:1.1 too.',
);

describe('find accp', () => {
  test('prints offsets, verdict and text of each frame to stdout', async () => {
    const { code, stdout } = await cli(['find', 'accp'], { stdin: PROSE });
    expect(code).toBe(1);
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t'));
    expect(rows.map(([, verdict, text]) => [verdict, text])).toEqual([
      ['ok', '@analyst>qry:lookup{q:sales}[mid:q1,seq:3]'],
      ['E1001', '@bot>req:run{k:two words}'],
    ]);
    for (const [place, , text] of rows) expect(PROSE.slice(...place!.split('-').map(Number))).toBe(text);
  });

  test('reports an invalid frame with its line, and prints counts to stderr', async () => {
    const { stderr } = await cli(['find', 'accp'], { stdin: PROSE });
    const shown = PROSE.split('\n')[3]!;
    expect(stderr).toContain(lines(' --> stdin:4:29', '  |', `4 | ${shown}`, `  | ${' '.repeat(28)}^`));
    expect(stderr).toMatch(/\n2 found, 1 invalid\n$/);
  });

  test('counts lines that end in CRLF, and excludes the line ends from frames', async () => {
    const { stderr } = await cli(['find', 'accp'], { stdin: 'one\r\ntwo\r\n@a>req:x{k:[1}\r\nfour\r\n' });
    expect(stderr).toContain(lines(' --> stdin:3:14', '  |', '3 | @a>req:x{k:[1}', '  |              ^'));
  });

  test('finding nothing is not an error', async () => {
    for (const stdin of ['', '\n\n', 'no frame here']) {
      expect(await cli(['find', 'accp'], { stdin })).toEqual({ code: 0, stdout: '', stderr: '0 found, 0 invalid\n' });
    }
  });

  test('finds frames inside JSON strings', async () => {
    const stdin = JSON.stringify({ sent: '@a>req:x{at:12\\:30}', broken: '@a>req:x{k:a\tb}' });
    const { code, stdout, stderr } = await cli(['find', 'accp'], { stdin });
    expect(code).toBe(1);
    expect(stdout).toContain('\tok\t@a>req:x{at:12\\:30}\n');
    // The error is in the decoded text, so that is shown.
    const start = stdin.indexOf('@', 10);
    expect(stderr).toContain(lines(` --> stdin@${start}:1:13`, '  |', '1 | @a>req:x{k:a␉b}', '  |             ^'));
  });

  test('--json prints what the library finds, and nothing to stderr', async () => {
    const { code, stdout, stderr } = await cli(['find', 'accp', '--json'], { stdin: PROSE });
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    const expected = findFrames(PROSE).map(({ start, end, text }) => ({ start, end, text }));
    expect(jsonLines(stdout)).toMatchObject(expected);
    expect(jsonLines(stdout)).toMatchObject([
      { ok: true, ast: { kind: 'frame', agent: 'analyst' } },
      { ok: false, error: { code: 'E1001' } },
    ]);
  });

  test('--json --spans includes the offsets of nodes', async () => {
    const { stdout } = await cli(['find', 'accp', '--json', '--spans'], { stdin: 'so @a>req:x{} it is' });
    expect(jsonLines(stdout)).toMatchObject([{ start: 3, end: 13, ast: { span: { start: 0, end: 10 } } }]);
  });

  test('finds mentions with the lenient dialect', async () => {
    const stdin = 'see @planner>req:plan{who:@dev_team} there';
    expect((await cli(['find', 'accp'], { stdin })).code).toBe(1);
    expect((await cli(['find', 'accp', '--dialect', 'lenient'], { stdin })).code).toBe(0);
  });
});

describe('find aacp', () => {
  test('prints offsets, verdict and text of each packet, and reports invalid ones with their lines', async () => {
    const { code, stdout, stderr } = await cli(['find', 'aacp'], { stdin: PROSE });
    expect(code).toBe(1);
    expect(stdout).toBe(
      lines(
        ...findPackets(PROSE).map((one) => `${one.start}-${one.end}\t${one.ok ? 'ok' : one.error.code}\t${one.text}`),
      ),
    );
    expect(stdout).toContain('\tok\tFETCH|FIN|return:FIN-Agent|aacp:1.1\n');
    expect(stderr).toContain('error[empty-field]: ');
    expect(stderr).toMatch(/ --> stdin:4:\d+\n/);
    expect(stderr).toMatch(/2 found, 1 invalid\n$/);
  });

  test('--json prints trees and errors', async () => {
    const { stdout } = await cli(['find', 'aacp', '--json'], { stdin: PROSE });
    expect(jsonLines(stdout)).toMatchObject([
      { ok: true, ast: { kind: 'packet', task: 'FETCH' } },
      { ok: false, error: { code: 'empty-field' } },
    ]);
  });

  test('accepts empty slots with the tolerant dialect', async () => {
    expect((await cli(['find', 'aacp', '--dialect', 'tolerant'], { stdin: PROSE })).code).toBe(0);
  });

  test('makes control characters visible; --json has the text unchanged', async () => {
    const stdin = 'FETCH|HR|return:A|subj:\u001b[31mred\u202e|aacp:1.1\n';
    const { stdout, stderr } = await cli(['find', 'aacp'], { stdin });
    expect(stdout).toContain('subj:␛[31mred<U+202E>|aacp:1.1\n');
    expect((stdout + stderr).replaceAll(/[\n\t]/g, '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    const json = await cli(['find', 'aacp', '--json'], { stdin });
    expect(jsonLines(json.stdout)).toMatchObject([{ text: stdin.trimEnd() }]);
  });
});

test('an invalid message on a very long line is shown by itself', async () => {
  const stdin = `${'word '.repeat(5000)}@a>req:x{k:[1} end`;
  const { stderr } = await cli(['find', 'accp'], { stdin });
  expect(stderr).toContain(lines(' --> stdin@25000:1:14', '  |', '1 | @a>req:x{k:[1}', '  |              ^'));
});
