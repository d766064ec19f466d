/** The cost of an answer, in dollars and in tokens. */
import { encode as exactTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import {
  createFallbackEncoder,
  FallbackError,
  type FallbackOptions,
  type FallbackResult,
  type ModelReply,
  memoryRegistry,
} from '../../../src/aacp/fallback/index.js';
import { BAD_REPLY, goodReply, PRICE, type Script, scriptedModel, USAGE } from '../../helpers/fallback.js';

const INSTRUCTION = 'Chase the late timesheets of the warehouse team.';
const RULE = 'Please retrieve the employee salary records for September 2026';
const HR = { domain: 'HR' } as const;

function encodeWith(scripts: readonly Script[], options: FallbackOptions = {}): Promise<FallbackResult> {
  const { model } = scriptedModel(...scripts);
  return createFallbackEncoder({ model, registry: null, ...options }).encode(INSTRUCTION, HR);
}

const priced = (cost: number | null | undefined): Script => {
  const { cost: _, ...rest } = BAD_REPLY;
  return cost === undefined ? rest : { ...rest, cost };
};
const right =
  (cost: number | null | undefined, more: Partial<ModelReply> = {}): Script =>
  (request) => {
    const { cost: _, ...rest } = goodReply(request);
    return cost === undefined ? { ...rest, ...more } : { ...rest, ...more, cost };
  };

describe('the cost', () => {
  test.each<[string, readonly Script[], number | null, number]>([
    ['of one call is its price', [right(PRICE)], PRICE, 1],
    ['of a call for nothing is nothing', [right(0)], 0, 1],
    ['of both rounds is their sum', [priced(0.5), right(0.25)], 0.75, 2],
    ['is unknown without a price', [right(undefined)], null, 1],
    ['is unknown where the price is', [right(null)], null, 1],
    ['is unknown where that of the first round is', [priced(null), right(PRICE)], null, 2],
    ['is unknown where that of the second round is', [priced(PRICE), right(undefined)], null, 2],
  ])('%s', async (_what, scripts, cost, calls) => {
    const result = await encodeWith(scripts);
    expect([result.cost, result.usage]).toEqual([
      cost,
      { calls, inputTokens: calls * USAGE.inputTokens, outputTokens: calls * USAGE.outputTokens },
    ]);
  });

  test.each<[string, readonly Script[], number | null]>([
    ['is their sum', [priced(0.5), priced(0.25)], 0.75],
    ['is unknown where one of them is', [priced(0.5), priced(undefined)], null],
  ])('of two unsuccessful calls %s, in the error', async (_what, scripts, cost) => {
    const error = await encodeWith(scripts).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(FallbackError);
    expect(error).toMatchObject({ cost, usage: { calls: 2, inputTokens: 2 * USAGE.inputTokens } });
    expect(JSON.parse(JSON.stringify(error))).toMatchObject({ cost, usage: { calls: 2 } });
  });

  test('of incomplete usage is computed from the known part', async () => {
    const { usage } = await encodeWith([{ text: '', usage: USAGE }, right(null, { usage: undefined })]);
    expect(usage).toEqual({ calls: 2, ...USAGE });
  });

  test('of a known instruction, and of one that a rule covers, is 0', async () => {
    const { model, calls } = scriptedModel(goodReply);
    const encoder = createFallbackEncoder({ model, registry: memoryRegistry() });
    await encoder.encode(INSTRUCTION, HR);
    for (const text of [INSTRUCTION, RULE]) {
      const { cost, usage, tier } = await encoder.encode(text, HR);
      expect([cost, usage]).toEqual([0, { calls: 0, inputTokens: 0, outputTokens: 0 }]);
      expect(tier).not.toBe('model');
    }
    expect(calls.length).toBe(1);
  });

  test('is part of the statistics of the registry, with the cost that repetitions would have had', async () => {
    const { model } = scriptedModel(BAD_REPLY, goodReply, right(null));
    const registry = memoryRegistry();
    const encoder = createFallbackEncoder({ model, registry, rules: null });
    for (let time = 0; time < 4; time++) await encoder.encode(INSTRUCTION, HR);
    await encoder.encode('Order four chairs.', HR);
    expect(registry.statistics()).toMatchObject({
      ...{ entries: 2, served: 3, timesSeen: 5, unpriced: 1 },
      ...{ spent: 2 * PRICE, saved: 3 * 2 * PRICE },
    });
    const [entry] = [...registry.entries()];
    expect(entry).toMatchObject({ model: 'scripted', cost: 2 * PRICE, origin: 'model', instruction: INSTRUCTION });
  });

  test('of a pattern that answers another instruction counts as saved', async () => {
    const { model } = scriptedModel((request) => goodReply(request, 'res:timesheets|period:2026-06'));
    const registry = memoryRegistry();
    const encoder = createFallbackEncoder({ model, registry, rules: null });
    await encoder.encode('Chase the late timesheets for June 2026.', HR);
    const { tier, packet } = await encoder.encode('Chase the late timesheets for July 2026.', HR);
    expect([tier, packet.endsWith('period:2026-07')]).toEqual(['pattern', true]);
    expect(registry.statistics()).toMatchObject({ entries: 1, served: 1, timesSeen: 2, spent: PRICE, saved: PRICE });
  });
});

describe('tokens', () => {
  test.each([
    [INSTRUCTION],
    ['Fetch the invoices of M\u00fcller & S\u00f6hne \u{1f600} <|endoftext|>'],
    ['a'.repeat(3000)],
  ])('are those of the vocabulary of current models: %#', async (text) => {
    const { model } = scriptedModel(goodReply);
    const { tokens, packet } = await createFallbackEncoder({ model, registry: null }).encode(text, HR);
    const count = (part: string): number => exactTokens(part, { disallowedSpecial: new Set() }).length;
    expect(tokens).toEqual({ english: count(text), packet: count(packet), exact: true, encoding: 'o200k_base' });
  });

  test('are counted by the given counter, once, on first access', async () => {
    const counted: string[] = [];
    const counter = {
      ...{ exact: false, encoding: 'letters' },
      count: (text: string) => {
        counted.push(text);
        return text.length;
      },
    };
    const result = await encodeWith([goodReply], { counter });
    expect(counted).toEqual([]);
    const wanted = { english: INSTRUCTION.length, packet: result.packet.length, exact: false, encoding: 'letters' };
    expect(result.tokens).toEqual(wanted);
    expect(result.tokens).toEqual(wanted);
    expect(counted).toEqual([INSTRUCTION, result.packet]);
  });
});
