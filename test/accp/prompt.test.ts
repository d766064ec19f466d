import { describe, expect, test } from 'vitest';
import { tryParseFrame } from '../../src/accp/index.js';
import { type AccpLanguageOptions, accpLanguage } from '../../src/accp/language/language.js';
import { framePrompt } from '../../src/accp/language/prompt.js';
import { countTokens } from '../../src/tokens/load-counter.js';

const ESCAPES = 'before each of @ > : { } [ ] | $ , ~ \\';

const OPTIONS: readonly AccpLanguageOptions[] = [
  {},
  { dialect: 'lenient' },
  { maxDepth: 0 },
  { maxDepth: 1 },
  { metadata: 'none' },
  { metadata: 'required' },
  { agents: ['planner'], intents: ['req'], operations: ['search'], fields: {}, metadata: 'none' },
  { agents: ['a', 'b'], intents: ['req', 'qry', 'done'], operations: ['x', 'y'] },
  { fields: { q: { type: 'string' }, limit: { type: 'integer', optional: true } }, metadata: 'none' },
  {
    fields: {
      a: { type: ['decimal', 'null'] },
      b: { type: 'boolean' },
      c: { type: 'ref' },
      d: { type: 'array' },
      e: { type: 'map' },
    },
  },
  {
    fields: { pri: { enum: ['high', 'a|b', 3, null] }, only: { enum: ['x:y'] } },
    metadata: { mid: {}, seq: { type: 'integer' } },
  },
  { fields: { q: { optional: true } }, metadata: { mid: { optional: true } }, maxDepth: 1 },
  { dialect: 'lenient', fields: { who: { enum: ['@dev:plan'] }, q: { type: 'string' } } },
];

describe.each(OPTIONS)('an instruction for %j', (options) => {
  test('shows examples that the options allow', async () => {
    const { examples, text } = await framePrompt(options);
    const { grammar, dialect } = accpLanguage(options);
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) {
      expect(text.split('\n')).toContain(example);
      expect(grammar.accepts(example), example).toBe(true);
      expect(tryParseFrame(example, { dialect: dialect as 'strict' }).ok, example).toBe(true);
    }
  });

  test('is deterministic, and counted', async () => {
    const first = await framePrompt(options);
    expect(await framePrompt(options)).toStrictEqual(first);
    expect(first.tokens).toStrictEqual(await countTokens(first.text));
  });
});

test('the general instruction stays below 300 tokens', async () => {
  const { tokens } = await framePrompt();
  expect(tokens).toMatchObject({ exact: true, encoding: 'o200k_base' });
  expect(tokens.tokens).toBeLessThan(300);
});

test('the general instruction covers every error', async () => {
  const { text } = await framePrompt();
  for (const rule of ['no spaces', 'No key twice', ESCAPES, '5 deep', '~ for null', 'just a number', 'not be empty']) {
    expect(text).toContain(rule);
  }
});

test('words without an alternative are part of the shape', async () => {
  const { text } = await framePrompt({
    agents: ['planner'],
    intents: ['req'],
    operations: ['search'],
    fields: { q: {} },
  });
  expect(text).toContain('\n@planner>req:search{q:value}[');
  expect(text).not.toMatch(/AGENT|INTENT|OPERATION/);
});

test('words to choose from are listed, and no others', async () => {
  const { text } = await framePrompt({ intents: ['req', 'qry', 'done'], agents: ['a', 'b'] });
  expect(text).toContain('INTENT: req, qry or done.');
  expect(text).toContain('AGENT: a or b.');
  expect(text).not.toContain('cancel');
});

test('fields are described with their types and values', async () => {
  const { text } = await framePrompt({
    fields: { q: { type: 'string' }, n: { type: ['integer', 'null'], optional: true }, pri: { enum: ['high', 'a|b'] } },
    metadata: { mid: { type: 'string' } },
  });
  expect(text).toContain(
    'In {}, only and in this order: q (text), n (integer like 42 or ~ for null; may be left out), pri (high or a\\|b).',
  );
  expect(text).toContain('In [], only and in this order: mid (text).');
});

test('rules that no allowed frame can break are left out', async () => {
  const { text, tokens } = await framePrompt({ fields: { n: { type: 'integer' } }, metadata: 'none' });
  expect(text).not.toContain(ESCAPES);
  expect(text).not.toContain('deep');
  expect(text).not.toContain('twice');
  expect(text).toContain('Nothing after the }.');
  expect(tokens.tokens).toBeLessThan((await framePrompt()).tokens.tokens);
});

test('mentions are described in the lenient dialect only', async () => {
  expect((await framePrompt({ dialect: 'lenient' })).text).toContain('@AGENT:OPERATION');
  expect(
    (await framePrompt({ dialect: 'lenient', fields: { q: { type: 'string' } }, metadata: 'none' })).text,
  ).toContain('Text may be @AGENT');
  expect((await framePrompt()).text).not.toContain('@AGENT:OPERATION');
});

test('invalid options are rejected', async () => {
  await expect(framePrompt({ intents: ['r q'] })).rejects.toThrow(
    new TypeError('intents: "r q" is not an intent: letters'),
  );
  await expect(framePrompt({ encoding: 'o200k' as 'o200k_base' })).rejects.toThrow(TypeError);
});
