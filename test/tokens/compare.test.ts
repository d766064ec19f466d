import { encode as toToon } from '@toon-format/toon';
import { describe, expect, test } from 'vitest';
import { compareTokens, type Form } from '../../src/tokens/compare.js';
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

describe('comparing', () => {
  test('counts each form with and without its envelope', async () => {
    const message = { ...BODY, envelope: ENVELOPE };
    const input = { message, english: ENGLISH, frame: FRAME, frameBody: FRAME_BODY, packet: PACKET };
    expect(await compareTokens(input)).toStrictEqual({
      encoding: 'o200k_base',
      exact: true,
      forms: [
        { form: 'english', body: await tokens(ENGLISH), whole: null },
        {
          form: 'json-pretty',
          body: await tokens(JSON.stringify(BODY, null, 2)),
          whole: await tokens(JSON.stringify(message, null, 2)),
        },
        { form: 'json', body: await tokens(JSON.stringify(BODY)), whole: await tokens(JSON.stringify(message)) },
        { form: 'toon', body: await tokens(toToon(BODY)), whole: await tokens(toToon(message)) },
        { form: 'accp', body: await tokens(FRAME_BODY), whole: await tokens(FRAME) },
        { form: 'aacp', body: await tokens(PACKET), whole: null },
      ],
      missing: [],
    });
  });

  const partial: readonly (readonly [
    what: string,
    input: Parameters<typeof compareTokens>[0],
    forms: readonly Form[],
  ])[] = [
    ['nothing', {}, []],
    ['English alone', { english: ENGLISH }, ['english']],
    ['a message without envelope', { message: BODY }, ['json-pretty', 'json', 'toon']],
    ['a frame alone', { frame: FRAME }, ['accp']],
    ['a document that is a list', { message: [1, 2] }, ['json-pretty', 'json', 'toon']],
  ];

  test.each(partial)('leaves out what is not given: %s', async (_what, input, forms) => {
    const result = await compareTokens(input);
    expect(result.forms.map(({ form }) => form)).toStrictEqual(forms);
  });

  test('says where only the whole or only the body was given', async () => {
    const whole = await compareTokens({ frame: FRAME });
    expect(whole.forms).toStrictEqual([{ form: 'accp', body: null, whole: await tokens(FRAME) }]);
    const body = await compareTokens({ message: BODY });
    expect(body.forms.map(({ whole: count }) => count)).toStrictEqual([null, null, null]);
  });

  test('writes a big integer, which JSON has no spelling for, as its digits', async () => {
    const { forms } = await compareTokens({ message: { n: 2n ** 70n } });
    expect(forms.find(({ form }) => form === 'json')?.body).toBe(await tokens('{"n":"1180591620717411303424"}'));
  });

  test.each(ENCODINGS)('counts in %s', async (encoding) => {
    const { forms } = await compareTokens({ english: ENGLISH }, { encoding });
    expect(forms[0]?.body).toBe(await tokens(ENGLISH, encoding));
  });

  test('refuses an encoding that is none', async () => {
    await expect(compareTokens({}, { encoding: 'o200k' as Encoding })).rejects.toThrow('encoding must be one of');
  });
});

test('where the packages are missing, counts are estimates and TOON is named', () => {
  const program = `const { compareTokens } = await import(${moduleAt('src/tokens/compare.ts')});
    console.log(JSON.stringify(await compareTokens({ message: ${JSON.stringify(BODY)}, english: ${JSON.stringify(ENGLISH)} })));`;
  const output = JSON.parse(runWithout(['gpt-tokenizer', '@toon-format/toon'], program));
  expect(output).toStrictEqual({
    encoding: 'o200k_base',
    exact: false,
    forms: [
      { form: 'english', body: estimateTokens(ENGLISH), whole: null },
      { form: 'json-pretty', body: estimateTokens(JSON.stringify(BODY, null, 2)), whole: null },
      { form: 'json', body: estimateTokens(JSON.stringify(BODY)), whole: null },
    ],
    missing: [{ form: 'toon', reason: '@toon-format/toon is not installed' }],
  });
});
