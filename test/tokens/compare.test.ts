import { encode as toToon } from '@toon-format/toon';
import { describe, expect, test } from 'vitest';
import { compareTokens, type Notation } from '../../src/tokens/compare.js';
import { ENCODINGS, type Encoding, estimateTokens } from '../../src/tokens/counter.js';
import { countTokens } from '../../src/tokens/load-counter.js';
import { moduleAt, runWithout } from './hidden-packages.js';

const BODY = {
  agent: 'planner',
  intent: 'req',
  operation: 'schedule',
  payload: { task: 'impl_auth', priority: 'high' },
};
const ENVELOPE = { msg_id: '49679033e07c', sequence: 3 };
const FRAME_BODY = '@planner>req:schedule{task:impl_auth|pri:high}';
const FRAME = `${FRAME_BODY}[mid:49679033e07c,seq:3]`;
const ENGLISH = 'Please schedule the auth module with high priority.';
const PACKET = 'PLAN|ENG|return:Planner|p:2|aacp:1.1|res:impl_auth';

async function tokens(text: string, encoding?: Encoding): Promise<number> {
  return (await countTokens(text, encoding)).tokens;
}

describe('compareTokens', () => {
  test('counts each notation with and without its envelope', async () => {
    const message = { ...BODY, envelope: ENVELOPE };
    const input = { message, english: ENGLISH, frame: FRAME, frameBody: FRAME_BODY, packet: PACKET };
    expect(await compareTokens(input)).toStrictEqual({
      encoding: 'o200k_base',
      exact: true,
      counts: [
        { notation: 'english', body: await tokens(ENGLISH), total: null },
        {
          notation: 'json-pretty',
          body: await tokens(JSON.stringify(BODY, null, 2)),
          total: await tokens(JSON.stringify(message, null, 2)),
        },
        { notation: 'json', body: await tokens(JSON.stringify(BODY)), total: await tokens(JSON.stringify(message)) },
        { notation: 'toon', body: await tokens(toToon(BODY)), total: await tokens(toToon(message)) },
        { notation: 'accp', body: await tokens(FRAME_BODY), total: await tokens(FRAME) },
        { notation: 'aacp', body: await tokens(PACKET), total: null },
      ],
      skipped: [],
    });
  });

  const partial: readonly (readonly [
    what: string,
    input: Parameters<typeof compareTokens>[0],
    notations: readonly Notation[],
  ])[] = [
    ['nothing', {}, []],
    ['English alone', { english: ENGLISH }, ['english']],
    ['a message without envelope', { message: BODY }, ['json-pretty', 'json', 'toon']],
    ['a frame alone', { frame: FRAME }, ['accp']],
    ['a document that is a list', { message: [1, 2] }, ['json-pretty', 'json', 'toon']],
  ];

  test.each(partial)('omits notations without input: %s', async (_what, input, notations) => {
    const result = await compareTokens(input);
    expect(result.counts.map(({ notation }) => notation)).toStrictEqual(notations);
  });

  test('returns null for a count without input', async () => {
    const whole = await compareTokens({ frame: FRAME });
    expect(whole.counts).toStrictEqual([{ notation: 'accp', body: null, total: await tokens(FRAME) }]);
    const body = await compareTokens({ message: BODY });
    expect(body.counts.map(({ total: count }) => count)).toStrictEqual([null, null, null]);
  });

  test('writes a bigint as digits', async () => {
    const { counts } = await compareTokens({ message: { n: 2n ** 70n } });
    expect(counts.find(({ notation }) => notation === 'json')?.body).toBe(
      await tokens('{"n":"1180591620717411303424"}'),
    );
  });

  test.each(ENCODINGS)('counts in %s', async (encoding) => {
    const { counts } = await compareTokens({ english: ENGLISH }, { encoding });
    expect(counts[0]?.body).toBe(await tokens(ENGLISH, encoding));
  });

  test('rejects an unknown encoding', async () => {
    await expect(compareTokens({}, { encoding: 'o200k' as Encoding })).rejects.toThrow('encoding must be one of');
  });
});

test('without the packages, counts are estimates and TOON is skipped', () => {
  const program = `const { compareTokens } = await import(${moduleAt('src/tokens/compare.ts')});
    console.log(JSON.stringify(await compareTokens({ message: ${JSON.stringify(BODY)}, english: ${JSON.stringify(ENGLISH)} })));`;
  const output = JSON.parse(runWithout(['gpt-tokenizer', '@toon-format/toon'], program));
  expect(output).toStrictEqual({
    encoding: 'o200k_base',
    exact: false,
    counts: [
      { notation: 'english', body: estimateTokens(ENGLISH), total: null },
      { notation: 'json-pretty', body: estimateTokens(JSON.stringify(BODY, null, 2)), total: null },
      { notation: 'json', body: estimateTokens(JSON.stringify(BODY)), total: null },
    ],
    skipped: [{ notation: 'toon', reason: '@toon-format/toon is not installed' }],
  });
});
