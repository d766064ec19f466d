import { describe, expect, test } from 'vitest';
import { accpCases, packetCases } from '../../conformance/fixtures.js';
import { cli, jsonLines, lines } from '../../helpers/cli.js';

describe('fmt accp', () => {
  test.each(['strict', 'lenient'] as const)(
    'prints the canonical text of the conformance cases, %s',
    async (dialect) => {
      const cases = accpCases().filter((one) => one.canonical !== undefined && one.dialect === dialect);
      const { code, stdout, stderr } = await cli(['fmt', 'accp', '--dialect', dialect], {
        stdin: lines(...cases.map(({ input }) => input)),
      });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toBe(lines(...cases.map(({ canonical }) => canonical!)));
    },
  );

  test('--sort-params sorts the payload, which otherwise keeps its order', async () => {
    const stdin = '@a>req:x{z:1|m:{b:1.50,a:007}|a:2}';
    expect((await cli(['fmt', 'accp'], { stdin })).stdout).toBe('@a>req:x{z:1|m:{a:7,b:1.5}|a:2}\n');
    expect((await cli(['fmt', 'accp', '--sort-params'], { stdin })).stdout).toBe('@a>req:x{a:2|m:{a:7,b:1.5}|z:1}\n');
  });

  test('--check lists the lines that are not canonical, prints no message, and exits with 1', async () => {
    const { code, stdout, stderr } = await cli(['fmt', 'accp', '--check'], {
      stdin: '@a>req:x{k:1}\r\n\n@a>req:x{k:01}\n@a>req:x{k:1.50}',
    });
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: lines('stdin:3: not in canonical form', 'stdin:4: not in canonical form'),
      stderr: '',
    });
  });

  test('--check prints nothing if all lines are canonical, whatever the line ends', async () => {
    const { code, stdout, stderr } = await cli(['fmt', 'accp', '--check'], { stdin: '@a>req:x{k:1}\r\n@a>req:x{}\n' });
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  test('--check compares the order of the payload only with --sort-params', async () => {
    const stdin = '@a>req:x{b:1|a:2}';
    expect((await cli(['fmt', 'accp', '--check'], { stdin })).code).toBe(0);
    expect((await cli(['fmt', 'accp', '--check', '--sort-params'], { stdin })).code).toBe(1);
  });

  test('--json prints the canonical text, and whether it differs', async () => {
    const stdin = lines('@a>req:x{k:1}', '@a>req:x{k:01}', '@a>req:x{k:');
    const { code, stdout, stderr } = await cli(['fmt', 'accp', '--json'], { stdin });
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(jsonLines(stdout)).toMatchObject([
      { line: 1, ok: true, canonical: '@a>req:x{k:1}', changed: false },
      { line: 2, ok: true, canonical: '@a>req:x{k:1}', changed: true },
      { line: 3, ok: false, error: { code: 'E1001' } },
    ]);
  });

  test('--check --json exits with 1 if a line is not canonical', async () => {
    expect((await cli(['fmt', 'accp', '--json', '--check'], { stdin: '@a>req:x{k:01}' })).code).toBe(1);
    expect((await cli(['fmt', 'accp', '--json'], { stdin: '@a>req:x{k:01}' })).code).toBe(0);
  });
});

describe('fmt aacp', () => {
  test('prints the canonical text of the conformance cases', async () => {
    const cases = packetCases().filter(({ canonical }) => canonical !== undefined);
    const { code, stdout, stderr } = await cli(['fmt', 'aacp'], { stdin: lines(...cases.map(({ packet }) => packet)) });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(lines(...cases.map(({ canonical }) => canonical!)));
  });

  test('--check lists the packets whose fields are in another order', async () => {
    const { code, stdout } = await cli(['fmt', 'aacp', '--check'], {
      stdin: lines('ACK|HR|return:A|p:1', 'ACK|HR|p:1|return:A'),
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: 'stdin:2: not in canonical form\n' });
  });

  test('corrects white space only in the tolerant dialect', async () => {
    const stdin = ' ACK | HR | return: A ';
    expect((await cli(['fmt', 'aacp'], { stdin })).code).toBe(1);
    const tolerant = await cli(['fmt', 'aacp', '--dialect', 'tolerant'], { stdin });
    expect({ code: tolerant.code, stdout: tolerant.stdout }).toEqual({ code: 0, stdout: 'ACK|HR|return:A\n' });
  });

  test('a packet that can be parsed but not printed is rejected, with its line', async () => {
    const stdin = lines('ACK|HR|return:A', 'ACK|HR|no colon', 'ACK|HR|p:1');
    const { code, stdout, stderr } = await cli(['fmt', 'aacp', '--dialect', 'tolerant'], { stdin });
    expect({ code, stdout }).toEqual({ code: 1, stdout: lines('ACK|HR|return:A', 'ACK|HR|p:1') });
    expect(stderr).toMatch(/^error\[unprintable\]: fields\[0\]: .*\n --> stdin:2:1\n {2}\|\n2 \| ACK\|HR\|no colon\n/);

    const json = await cli(['fmt', 'aacp', '--dialect', 'tolerant', '--json'], { stdin });
    expect(jsonLines(json.stdout)).toMatchObject([
      { ok: true },
      { line: 2, ok: false, error: { name: 'PrintError', code: 'unprintable', path: 'fields[0]' } },
      { ok: true },
    ]);
  });
});
