import { describe, expect, test } from 'vitest';
import { validatePacket } from '../../src/aacp/index.js';
import { type AacpLanguageOptions, aacpLanguage } from '../../src/aacp/language/language.js';
import { packetPrompt } from '../../src/aacp/language/prompt.js';
import { countTokens } from '../../src/tokens/load-counter.js';

const OPTIONS: readonly AacpLanguageOptions[] = [
  {},
  { tasks: ['FETCH'], domains: ['HR'] },
  { tasks: ['FETCH', 'LOG'], domains: ['HR', 'FIN', 'X-1'], returnAgents: ['HR-Agent', 'B'] },
  { fields: {} },
  { fields: { res: {}, fmt: { enum: ['json', 'csv'], optional: true }, constructor: {} } },
  { fields: { return: { enum: ['A'] }, p: { enum: ['1'] } } },
  { fields: { p: { enum: ['1', '7'] }, note: { optional: true } } },
];

describe.each(OPTIONS)('an instruction for %j', (options) => {
  test('contains examples that the options allow and the validator accepts', async () => {
    const { examples, text } = await packetPrompt(options);
    const { grammar } = aacpLanguage(options);
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) {
      expect(text.split('\n')).toContain(example);
      expect(grammar.accepts(example), example).toBe(true);
      expect(validatePacket(example).errors, example).toStrictEqual([]);
    }
  });

  test('is the same each time, and its tokens are counted', async () => {
    const first = await packetPrompt(options);
    expect(await packetPrompt(options)).toStrictEqual(first);
    expect(first.tokens).toStrictEqual(await countTokens(first.text));
  });
});

test('the general instruction has fewer than 260 tokens', async () => {
  const { tokens } = await packetPrompt();
  expect(tokens).toMatchObject({ exact: true, encoding: 'o200k_base' });
  expect(tokens.tokens).toBeLessThan(260);
});

test('the general instruction names all possible errors', async () => {
  const { text } = await packetPrompt();
  for (const rule of [
    'one line',
    'in this order: return',
    'FETCH',
    'MKT',
    '1 critical',
    'No key twice',
    'never empty',
    'has no |',
  ]) {
    expect(text).toContain(rule);
  }
});

test('the only possible words are part of the shape', async () => {
  const { text } = await packetPrompt({ tasks: ['FETCH'], domains: ['HR'], returnAgents: ['A'], fields: { res: {} } });
  expect(text).toContain('\nFETCH|HR|return:A|p:value|aacp:1.1|res:value\n');
  expect(text).not.toMatch(/TASK|DOM/);
});

test('only the possible fields are listed, with their values', async () => {
  const { text } = await packetPrompt({ fields: { res: {}, fmt: { enum: ['json', 'csv'], optional: true } } });
  expect(text).toContain('aacp, res, fmt (json or csv; may be left out).');
  expect(text).not.toContain('period');
});

test('rules that no allowed packet can break are left out', async () => {
  const { text } = await packetPrompt({ returnAgents: ['A', 'B'], fields: { fmt: { enum: ['json', 'csv'] } } });
  expect(text).not.toContain('never empty');
  expect(text).not.toContain('twice');
});

test('the tolerant dialect is only for parsing, and has no instruction', async () => {
  await expect(packetPrompt({ dialect: 'tolerant' })).rejects.toThrow(
    new TypeError("dialect must be 'strict': packets are written in this dialect"),
  );
});
