/** Models that TypeScript accepts: the compiler checks this file, and each model below must also work. */
import { expect, expectTypeOf, test } from 'vitest';
import {
  createFallbackEncoder,
  type Model,
  type ModelAnswer,
  type ModelReply,
} from '../../../src/aacp/fallback/index.js';
import { openaiCompatibleModel, type ProviderModel } from '../../../src/aacp/models/index.js';

const PACKET = 'BUILD|HR|return:HR-Agent|p:2|aacp:1.1|res:birthday_cake';
const NOVEL = 'Bake a chocolate cake for the birthday of the director';

async function packetOf(model: Model): Promise<string> {
  const encoder = createFallbackEncoder({ model, registry: null, rules: [] });
  try {
    return (await encoder.encode(NOVEL, { domain: 'HR' })).packet;
  } finally {
    await encoder.close();
  }
}

test.each<[string, Model]>([
  ['a plain function that gives a text', () => PACKET],
  ['a plain function that gives a reply', () => ({ text: PACKET })],
  ['a function that promises a text', async () => PACKET],
  ['a function that promises a reply', async ({ prompt }) => ({ text: prompt === '' ? '' : PACKET, cost: null })],
  // biome-ignore lint/suspicious/noThenProperty: anything with a then can be waited for
  ['a function that returns a thenable', () => ({ then: (done) => Promise.resolve(PACKET).then(done) })],
])('%s is a model', async (_name, model) => {
  expect(await packetOf(model)).toBe(PACKET);
});

test('an invalid answer is reported', async () => {
  // @ts-expect-error: a number is not an answer
  const number: Model = () => 5;
  // @ts-expect-error: undefined is not an answer
  const nothing: Model = async () => undefined;
  // @ts-expect-error: a reply has a text
  const textless: Model = async () => ({ packet: PACKET });
  for (const model of [number, nothing, textless]) {
    await expect(packetOf(model)).rejects.toMatchObject({ code: 'model-bad-reply' });
  }
});

test('an error that a plain function throws is reported', async () => {
  const model: Model = () => {
    throw new Error('out of flour');
  };
  await expect(packetOf(model)).rejects.toMatchObject({ code: 'model-unavailable' });
});

test('providers are models that return a reply', () => {
  expectTypeOf(openaiCompatibleModel).returns.toEqualTypeOf<ProviderModel>();
  expectTypeOf<ProviderModel>().toExtend<Model>();
  expectTypeOf<ReturnType<ProviderModel>>().toEqualTypeOf<Promise<ModelReply>>();
  expectTypeOf<ModelAnswer>().toEqualTypeOf<string | ModelReply>();
});
