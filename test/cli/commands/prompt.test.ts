import { describe, expect, test } from 'vitest';
import { packetPrompt } from '../../../src/aacp/language/prompt.js';
import { accpLanguage } from '../../../src/accp/language/language.js';
import { framePrompt } from '../../../src/accp/language/prompt.js';
import { cli, jsonLines } from '../../helpers/cli.js';

describe('pegwire prompt', () => {
  test('prints the prompt, and its length to stderr', async () => {
    const { text, tokens } = await framePrompt();
    expect(await cli(['prompt', 'accp'])).toStrictEqual({
      code: 0,
      stdout: `${text}\n`,
      stderr: `${tokens.tokens} tokens (o200k_base)\n`,
    });
  });

  test('applies the options that narrow frames', async () => {
    const args = ['--agents', 'planner', '--intents', 'req,qry', '--operations', 'find'];
    args.push(
      '--fields',
      'q:string, n:integer|null?, pri=high|3|2.5|true|~',
      '--metadata',
      'mid:string,seq?',
      '--max-depth',
      '2',
    );
    const { text } = await framePrompt({
      agents: ['planner'],
      intents: ['req', 'qry'],
      operations: ['find'],
      fields: {
        q: { type: 'string' },
        n: { type: ['integer', 'null'], optional: true },
        pri: { enum: ['high', 3, 2.5, true, null] },
      },
      metadata: { mid: { type: 'string' }, seq: { optional: true } },
      maxDepth: 2,
    });
    expect((await cli(['prompt', 'accp', ...args])).stdout).toBe(`${text}\n`);
  });

  test('applies the options that narrow packets', async () => {
    const args = ['--tasks', 'FETCH', '--domains', 'HR,FIN', '--return-agents', 'A', '--fields', 'res,fmt=json|csv?'];
    const { text } = await packetPrompt({
      tasks: ['FETCH'],
      domains: ['HR', 'FIN'],
      returnAgents: ['A'],
      fields: { res: {}, fmt: { enum: ['json', 'csv'], optional: true } },
    });
    expect((await cli(['prompt', 'aacp', ...args])).stdout).toBe(`${text}\n`);
  });

  test('keeps the order of keys that look like numbers', async () => {
    const { stdout } = await cli(['prompt', 'accp', '--fields', '9:integer,1:integer', '--json']);
    const [{ examples }] = jsonLines(stdout) as [{ examples: string[] }];
    expect(examples[0]).toMatch(/\{9:\d+\|1:\d+\}/);
  });

  test('prints all results as JSON', async () => {
    const { code, stdout, stderr } = await cli([
      'prompt',
      'accp',
      '--json',
      '--encoding',
      'cl100k_base',
      '--dialect',
      'lenient',
    ]);
    const { text, examples, tokens } = await framePrompt({ encoding: 'cl100k_base', dialect: 'lenient' });
    expect({ code, stderr }).toStrictEqual({ code: 0, stderr: '' });
    expect(jsonLines(stdout)).toStrictEqual([
      { protocol: 'accp', prompt: text, examples, tokens: tokens.tokens, encoding: 'cl100k_base', exact: true },
    ]);
    for (const example of examples) expect(accpLanguage({ dialect: 'lenient' }).grammar.accepts(example)).toBe(true);
  });
});

describe('incorrect usage of prompt', () => {
  const cases: readonly (readonly [args: readonly string[], message: string])[] = [
    [[], 'prompt requires a protocol'],
    [['accp', '--tasks', 'FETCH'], '--tasks applies to aacp, not to accp'],
    [['aacp', '--max-depth', '1'], '--max-depth applies to accp, not to aacp'],
    [['accp', '--intents', 'r q'], 'intents: "r q" is not an intent: letters'],
    [['accp', '--intents', 'req,,qry'], '--intents must not contain an empty item'],
    [['accp', '--max-depth', 'two'], '--max-depth must be an integer from 0 to 5; got "two"'],
    [['accp', '--max-depth', '6'], '--max-depth must be an integer from 0 to 5; got "6"'],
    [['accp', '--metadata', 'non'], 'got "non"; did you mean "none"?'],
    [['accp', '--fields', 'q:sting'], "did you mean 'string'?"],
    [['accp', '--fields', 'q,,n'], '--fields contains an invalid field ""; write key, '],
    [['accp', '--fields', 'q:'], '--fields contains an invalid field "q:"'],
    [['accp', '--fields', 'q=a|'], '--fields contains an invalid field "q=a|"'],
    [['accp', '--fields', 'q,q'], '--fields contains the key "q" twice'],
    [['accp', '--fields', 'n=007'], 'fields.n.enum: "007" cannot be written'],
    [['aacp', '--fields', 'res:string'], '--fields must not have types for aacp; got "res:string"'],
    [['aacp', '--dialect', 'tolerant'], '--dialect must be strict for aacp'],
    [['accp', '--dialect', 'tolerant'], '--dialect must be strict or lenient'],
    [['accp', '--encoding', 'o200k'], '--encoding must be o200k_base'],
  ];

  test.each(cases)('%j', async (args, message) => {
    const { code, stdout, stderr } = await cli(['prompt', ...args]);
    expect({ code, stdout }).toStrictEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
  });
});
