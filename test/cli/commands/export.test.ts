import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { cli, jsonLines, scratchFolder } from '../../helpers/cli.js';

const scratch = scratchFolder();

async function exported(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await cli(['export', ...args]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

describe('export', () => {
  test('writes a protocol in each format', async () => {
    expect(await exported('aacp', '--to', 'gbnf')).toMatch(/^# aacp in GBNF.*\n(?:#.*\n)*\nroot ::= task "\|" dom /);
    expect(await exported('aacp', '--to', 'lark')).toMatch(/^\/\/ aacp in Lark.*\n(?:\/\/.*\n)*\nstart: PACKET\n/);
    expect(await exported('aacp', '--to', 'abnf')).toMatch(/^; aacp in ABNF .*\n(?:;.*\n)*\npacket = task "\|" dom /);
    expect(await exported('aacp', '--to', 'regex')).toMatch(/\n\/\^\[A-Z\].*\$\/u\n$/);
  });

  test('prints the language that the options select', async () => {
    const text = await exported('aacp', '--to', 'regex', '--tasks', 'FETCH,LOG', '--fields', 'res,fmt=json|csv?');
    const regex = new RegExp(text.split('\n').at(-2)!.slice(1, -2), 'u');
    const packets = [
      'FETCH|HR|return:A|aacp:1.1|res:x|fmt:csv',
      'FETCH|HR|return:A|aacp:1.1|res:x',
      'FETCH|HR|return:A|aacp:1.1',
    ];
    expect(packets.map((packet) => regex.test(packet))).toEqual([true, true, false]);
  });

  test('unrolls the nesting of frames, so that no more is accepted', async () => {
    const rules = await exported('accp', '--to', 'gbnf', '--max-depth', '2', '--metadata', 'none');
    expect(rules).toContain('\narray-1 ::= "[" (value-1 ("," value-1)*)? "]"\n');
    expect(rules).toContain('\narray-2 ::= "[" (value-2 ("," value-2)*)? "]"\n');
    expect(rules).not.toContain('array-3');
    expect(rules).not.toContain('enter(offset())');
    const flat = await exported('accp', '--to', 'gbnf', '--fields', 'q:integer', '--metadata', 'none');
    expect(flat).not.toContain('array');
  });

  test('accepts a grammar file and its start rule', async () => {
    const file = scratch.write('bits.peggy', 'bits = bit+\nbit = [01]\n');
    expect(await exported(file, '--to', 'regex')).toContain('bits in the notation of regular expressions');
    expect((await exported(file, '--to', 'regex', '--start', 'bit')).split('\n').at(-2)).toBe('/^[01]$/u');
  });

  test('reports conditions that the format cannot express, as JSON too', async () => {
    const file = scratch.write('even.peggy', 'even = digits:$[0-9]+ &{ return digits % 2 === 0; }\n');
    expect(await exported(file, '--to', 'gbnf')).toMatch(/^# - even: the condition .*\(predicate\)$/m);
    const [record] = jsonLines(await exported(file, '--to', 'gbnf', '--json'));
    expect(record).toMatchObject({
      format: 'gbnf',
      grammar: 'even',
      approximations: [{ code: 'predicate', rule: 'even' }],
    });
    expect((record as { text: string }).text).toContain('root ::= [0-9]+\n');
  });

  test('writes to a file', async () => {
    const file = path.join(scratch.path, 'aacp.gbnf');
    const { code, stdout, stderr } = await cli(['export', 'aacp', '--to', 'gbnf', '--output', file]);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: `Grammar written to ${file}\n` });
    expect(readFileSync(file, 'utf8')).toContain('root ::=');
  });

  test('also prints diagrams, editor modes and schemas', async () => {
    expect(await exported('accp', '--to', 'railroad')).toMatch(/^<svg [\s\S]*<\/svg>\n$/);
    expect(JSON.parse(await exported('aacp', '--to', 'textmate'))).toMatchObject({ scopeName: 'source.aacp' });
    expect(await exported('accp', '--to', 'codemirror')).toMatch(/^export const accp\b/m);
    expect(JSON.parse(await exported('accp', '--to', 'json-schema'))).toHaveProperty('$schema');
  });

  test.each([
    [[scratch.write('a.peggy', 'a = "a"\n'), '--to', 'textmate'], 'applies to accp and aacp'],
    [['accp', '--to', 'json-schema', '--intents', 'req'], '--intents cannot be combined with --to json-schema'],
    [['aacp'], 'export requires --to'],
    [['aacp', '--to', 'gbfn'], 'did you mean "gbnf"?'],
    [['aacp', '--to', 'gbnf', '--output', '/nowhere/at/all'], 'Cannot write /nowhere/at/all'],
    [[scratch.write('nested.peggy', 'nested = "(" nested? ")"\n'), '--to', 'regex'], 'The rule nested is recursive'],
    [[scratch.write('broken.peggy', 'broken = (\n'), '--to', 'gbnf'], 'Invalid grammar '],
  ])('rejects %j', async (args, message) => {
    const { code, stdout, stderr } = await cli(['export', ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
  });
});
