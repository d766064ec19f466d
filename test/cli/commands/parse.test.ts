import { describe, expect, test } from 'vitest';
import { accpCases, packetCases } from '../../conformance/fixtures.js';
import { cli, jsonLines, lines } from '../../helpers/cli.js';

const ONE_LINE = /^[^\n\r]*[^\s][^\n\r]*$/;

describe('parse accp', () => {
  test('prints one tree per line, in input order, and nothing to stderr', async () => {
    const { code, stdout, stderr } = await cli(['parse', 'accp'], {
      stdin: lines('@planner>req:schedule{pri:high}', '@a>ack:x{}[mid:m1,seq:2]'),
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(jsonLines(stdout)).toEqual([
      {
        kind: 'frame',
        agent: 'planner',
        intent: 'req',
        operation: 'schedule',
        payload: [{ key: 'pri', value: { kind: 'string', value: 'high' } }],
        metadata: null,
      },
      {
        kind: 'frame',
        agent: 'a',
        intent: 'ack',
        operation: 'x',
        payload: [],
        metadata: [
          { key: 'mid', value: { kind: 'string', value: 'm1' } },
          { key: 'seq', value: { kind: 'integer', value: 2 } },
        ],
      },
    ]);
  });

  test.each(['strict', 'lenient'] as const)('prints the trees of the conformance cases, %s', async (dialect) => {
    const cases = accpCases().filter((one) => one.ast !== undefined && one.dialect === dialect);
    expect(cases.length).toBeGreaterThan(10);
    const { code, stdout } = await cli(['parse', 'accp', '--dialect', dialect], {
      stdin: lines(...cases.map(({ input }) => input)),
    });
    expect(code).toBe(0);
    expect(jsonLines(stdout)).toEqual(cases.map(({ ast }) => ast));
  });

  test('rejects the invalid conformance cases, each with its code and place', async () => {
    const cases = accpCases().filter(
      ({ error, dialect, input }) => error !== undefined && dialect === 'strict' && ONE_LINE.test(input),
    );
    expect(cases.length).toBeGreaterThan(30);
    const { code, stdout } = await cli(['parse', 'accp', '--json'], {
      stdin: lines(...cases.map(({ input }) => input)),
    });
    expect(code).toBe(1);
    expect(jsonLines(stdout)).toMatchObject(
      cases.map(({ error }, index) => ({
        line: index + 1,
        ok: false,
        error: { code: error?.code, span: { start: error?.offset } },
      })),
    );
  });

  test('reports an invalid line on stderr, with a code frame, and continues with the next', async () => {
    const { code, stdout, stderr } = await cli(['parse', 'accp'], {
      stdin: lines('@bot>req:run{k:12:30}', '@bot>req:run{k:1}'),
    });
    expect(code).toBe(1);
    expect(jsonLines(stdout)).toMatchObject([{ agent: 'bot' }]);
    expect(stderr.split('\n')).toEqual([
      expect.stringMatching(/^error\[E1001\]: .*found ":"\.$/),
      ' --> stdin:1:18',
      '  |',
      '1 | @bot>req:run{k:12:30}',
      '  |                  ^',
      expect.stringMatching(/^help: .*"\\:"/),
      '',
      '',
    ]);
  });

  test('--json prints trees and errors to stdout, each with its line number, and nothing to stderr', async () => {
    const { code, stdout, stderr } = await cli(['parse', 'accp', '--json'], {
      stdin: lines('@a>b:c{}', '', '@a>b:c{', '@a>b:c{k:1}'),
    });
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(jsonLines(stdout)).toMatchObject([
      { line: 1, ok: true, ast: { kind: 'frame' } },
      {
        line: 3,
        ok: false,
        error: { name: 'ParseError', code: 'E1001', span: { start: 7, end: 7 }, reason: 'syntax' },
      },
      { line: 4, ok: true, ast: { payload: [{ key: 'k' }] } },
    ]);
  });

  test('prints numbers that JSON cannot represent as strings', async () => {
    const { code, stdout } = await cli(['parse', 'accp', '--json'], {
      stdin: `@a>b:c{big:9007199254740993|small:-9007199254740993|max:9007199254740991|out:${'9'.repeat(400)}.5|under:-${'9'.repeat(400)}.5}`,
    });
    expect(code).toBe(0);
    const [{ ast }] = jsonLines(stdout) as [{ ast: { payload: { key: string; value: { value: unknown } }[] } }];
    expect(Object.fromEntries(ast.payload.map(({ key, value }) => [key, value.value]))).toEqual({
      big: '9007199254740993',
      small: '-9007199254740993',
      max: 9007199254740991,
      out: 'Infinity',
      under: '-Infinity',
    });
  });

  test('--spans includes the offsets of every node; otherwise there are none', async () => {
    const stdin = '@a>b:c{k:[1,x]}';
    const plain = await cli(['parse', 'accp'], { stdin });
    const spanned = await cli(['parse', 'accp', '--spans'], { stdin });
    expect(plain.stdout).not.toContain('span');
    expect(jsonLines(spanned.stdout)).toMatchObject([
      {
        span: { start: 0, end: 15 },
        payload: [
          {
            span: { start: 7, end: 14 },
            value: {
              span: { start: 9, end: 14 },
              items: [{ span: { start: 10, end: 11 } }, { span: { start: 12, end: 13 } }],
            },
          },
        ],
      },
    ]);
  });

  test('accepts mentions only in the lenient dialect', async () => {
    const stdin = '@planner>req:plan{nx:@strategy:plan}';
    const strict = await cli(['parse', 'accp'], { stdin });
    expect({ code: strict.code, stdout: strict.stdout }).toEqual({ code: 1, stdout: '' });
    const lenient = await cli(['parse', 'accp', '--dialect=lenient'], { stdin });
    expect(lenient.code).toBe(0);
    expect(jsonLines(lenient.stdout)).toMatchObject([
      { payload: [{ key: 'nx', value: { kind: 'string', value: '@strategy:plan' } }] },
    ]);
  });
});

describe('parse aacp', () => {
  test('prints one tree per line, with unchanged values', async () => {
    const { code, stdout, stderr } = await cli(['parse', 'aacp'], {
      stdin: lines('FETCH|HR|return:HR-Agent|aacp:1.1|amt:4200.50', 'ACK|HR'),
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(jsonLines(stdout)).toEqual([
      {
        kind: 'packet',
        task: 'FETCH',
        domain: 'HR',
        fields: [
          { key: 'return', value: 'HR-Agent' },
          { key: 'aacp', value: '1.1' },
          { key: 'amt', value: '4200.50' },
        ],
      },
      { kind: 'packet', task: 'ACK', domain: 'HR', fields: [] },
    ]);
  });

  test('rejects the invalid conformance cases, each with its code and place', async () => {
    // A byte order mark at the start of the input is removed, so that case must not be the first.
    const cases = packetCases().filter(({ error, packet }) => error !== undefined && ONE_LINE.test(packet));
    expect(cases.length).toBeGreaterThan(20);
    const { code, stdout, stderr } = await cli(['parse', 'aacp', '--json'], {
      stdin: lines('ACK|HR', ...cases.map(({ packet }) => packet)),
    });
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(jsonLines(stdout).slice(1)).toMatchObject(
      cases.map(({ error }, index) => ({
        line: index + 2,
        ok: false,
        error: { code: error?.code, span: { start: error?.offset } },
      })),
    );
  });

  test('accepts empty slots only in the tolerant dialect', async () => {
    const stdin = 'FETCH|HR|return:A||aacp:1.1';
    const strict = await cli(['parse', 'aacp'], { stdin });
    expect(strict.code).toBe(1);
    expect(strict.stderr).toContain('error[empty-field]');
    expect(strict.stderr).toContain(' --> stdin:1:19\n');
    const tolerant = await cli(['parse', 'aacp', '--dialect', 'tolerant'], { stdin });
    expect({ code: tolerant.code, stderr: tolerant.stderr }).toEqual({ code: 0, stderr: '' });
    expect(jsonLines(tolerant.stdout)).toMatchObject([{ kind: 'packet', task: 'FETCH' }]);
  });

  test('--spans includes the offsets of packets and fields', async () => {
    const { stdout } = await cli(['parse', 'aacp', '--spans'], { stdin: 'ACK|HR|return:A' });
    expect(jsonLines(stdout)).toMatchObject([
      { span: { start: 0, end: 15 }, fields: [{ span: { start: 7, end: 15 } }] },
    ]);
  });
});
