/** Invalid options are rejected at once, by name; invalid requests before any call. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  bundledRules,
  createFallbackEncoder,
  type EncodeOptions,
  FallbackError,
  type FallbackOptions,
  memoryRegistry,
  type Registry,
} from '../../../src/aacp/fallback/index.js';
import { goodReply, scriptedModel } from '../../helpers/fallback.js';
import { runs } from '../../helpers/runs.js';

const INSTRUCTION = 'Chase the late timesheets of the warehouse team.';

/** A registry without one of its methods. */
function without(name: keyof Registry): unknown {
  return { ...memoryRegistry(), [name]: undefined };
}

describe('options', () => {
  test.each<[string, unknown]>([
    ['model', 5],
    ['model', 'claude'],
    ['model', {}],
    ['registry', 5],
    ['registry', 'registry.db'],
    ['registry', {}],
    ['registry', new Map()],
    ['registry', Promise.resolve(memoryRegistry())],
    ['registry', without('get')],
    ['registry', without('put')],
    ['registry', without('markSeen')],
    ['registry', without('candidates')],
    ['registry', without('reserve')],
    ['registry', without('flush')],
    ['rules', 5],
    ['rules', 'rules.json'],
    ['rules', {}],
    ['rules', { rules: 5 }],
    ['rules', Promise.resolve([])],
    ['rules', [5]],
    ['rules', [null]],
    ['rules', [{ id: 'x', dom: 'HR', task: 'FETCH', packet: 'FETCH|HR|return:A|aacp:1.1' }]],
    ['threshold', 0],
    ['threshold', -1],
    ['threshold', 1.01],
    ['threshold', Number.NaN],
    ['threshold', '0.5'],
    ['threshold', null],
    ['timeoutMs', 0],
    ['timeoutMs', -1],
    ['timeoutMs', Number.NaN],
    ['timeoutMs', '5'],
    ['timeoutMs', null],
    ['waitTimeoutMs', -1],
    ['waitTimeoutMs', Number.NaN],
    ['waitTimeoutMs', '5'],
    ['now', 5],
    ['now', null],
    ['counter', 5],
    ['counter', null],
    ['counter', {}],
    ['counter', { count: 5 }],
    ['modle', 5],
    ['toString', 5],
  ])('%s: %o is a TypeError that names it', (name, value) => {
    const make = (): unknown => createFallbackEncoder({ [name]: value } as FallbackOptions);
    expect(make).toThrow(TypeError);
    expect(make).toThrow(new RegExp(`^(?:unknown option )?${name}\\b`));
  });

  test.each([[null], [5], ['x']])('%o is not an object of options', (options) => {
    expect(() => createFallbackEncoder(options as unknown as FallbackOptions)).toThrow(
      new TypeError('options must be an object'),
    );
  });

  test('can each be undefined', async () => {
    const options: FallbackOptions = {
      ...{ model: undefined, rules: undefined, threshold: undefined, timeoutMs: undefined },
      ...{ waitTimeoutMs: undefined, now: undefined, counter: undefined, registry: null },
    };
    const encoder = createFallbackEncoder(options);
    await expect(encoder.encode(INSTRUCTION, { domain: 'HR' })).rejects.toMatchObject({ code: 'no-model' });
  });

  test.each([['a library'], ['its list']])('rules are %s', async (what) => {
    const library = bundledRules();
    const encoder = createFallbackEncoder({ registry: null, rules: what === 'a library' ? library : library.rules });
    const text = 'Please retrieve the employee salary records for September 2026';
    expect((await encoder.encode(text, { domain: 'HR' })).tier).toBe('pattern');
    const none = createFallbackEncoder({ registry: null, rules: null });
    await expect(none.encode(text, { domain: 'HR' })).rejects.toMatchObject({ code: 'no-model' });
  });

  test.each([
    [Number.NaN],
    [Number.POSITIVE_INFINITY],
    ['2026-06-01' as unknown as number],
    [undefined as unknown as number],
  ])('a clock that returns no time is named on the first call: %o', async (time) => {
    const { model, calls } = scriptedModel(goodReply);
    const encoder = createFallbackEncoder({ model, registry: null, now: () => time });
    await expect(encoder.encode('Fetch what came in today', { domain: 'HR' })).rejects.toThrow(/^now\b/);
    await expect(encoder.explain('Fetch what came in today', { domain: 'HR' })).rejects.toThrow(TypeError);
    expect(calls.length).toBe(0);
  });

  test('the registry is disabled with null', async () => {
    const encoder = createFallbackEncoder({ registry: null });
    expect(await encoder.registry()).toBeNull();
    const registry = memoryRegistry();
    expect(await createFallbackEncoder({ registry }).registry()).toBe(registry);
  });
});

describe('requests', () => {
  const bare: unknown = Object.create(null);

  /** Checks that a request is rejected without a call, and in the same way by both functions. */
  async function refusalOf(instruction: unknown, options: unknown): Promise<unknown> {
    const { model, calls } = scriptedModel(goodReply);
    const encoder = createFallbackEncoder({ model, registry: memoryRegistry(), rules: null });
    const [error, explained] = await Promise.all(
      [encoder.encode, encoder.explain].map((ask) =>
        ask(instruction as string, options as EncodeOptions).catch((thrown: unknown) => thrown),
      ),
    );
    expect(error).toBeInstanceOf(Error);
    expect(explained).toEqual(error);
    expect(calls.length).toBe(0);
    return error;
  }

  test.each<[string, unknown]>([
    ['domain', undefined],
    ['domain', null],
    ['domain', 5],
    ['domain', ''],
    ['domain', ' HR'],
    ['domain', 'HR|return:Eve'],
    ['domain', 'H\nR'],
    ['domain', '1HR'],
    ['domain', '\u0131T'],
    ['domain', Symbol('HR')],
    ['domain', bare],
    ['returnAgent', ''],
    ['returnAgent', 5],
    ['returnAgent', 'A|p:1'],
    ['returnAgent', 'A\n'],
    ['returnAgent', 'A\u0000'],
    ['returnAgent', ' '],
    ['returnAgent', bare],
    ['priority', 0],
    ['priority', 4],
    ['priority', '01'],
    ['priority', 'toString'],
    ['priority', '__proto__'],
    ['priority', Number.NaN],
    ['priority', Symbol('1')],
    ['priority', bare],
  ])('%s: %o cannot be written in a packet', async (name, value) => {
    const error = await refusalOf(INSTRUCTION, { domain: 'HR', [name]: value });
    expect(error).toBeInstanceOf(FallbackError);
    expect(error).toMatchObject({ code: 'bad-request', cost: 0, usage: { calls: 0 } });
    expect((error as Error).message).toContain(name);
  });

  test.each<[string, unknown]>([
    ['a text', 'now'],
    ['a controller', new AbortController()],
    ['null', null],
  ])('a signal that is %s is a TypeError that names it', async (_what, signal) => {
    const error = await refusalOf(INSTRUCTION, { domain: 'HR', signal });
    expect(error).toBeInstanceOf(TypeError);
    expect((error as Error).message).toMatch(/^signal\b/);
  });

  test.each<[string, unknown, string]>([
    ['null', null, 'not-an-instruction'],
    ['a number', 5, 'not-an-instruction'],
    ['a list', ['a'], 'not-an-instruction'],
    ['an object', bare, 'not-an-instruction'],
    ['nothing', '', 'empty-instruction'],
    ['white space', ' \n\t\u00a0\u3000', 'empty-instruction'],
    ['a byte order mark', '\ufeff', 'empty-instruction'],
    ['too much', 'a'.repeat(20_001), 'instruction-too-long'],
  ])('an instruction that is %s', async (_what, instruction, code) => {
    expect(await refusalOf(instruction, { domain: 'HR' })).toMatchObject({ name: 'FallbackError', code, cost: 0 });
  });

  test.each([[undefined], [null], [5]])('without options (%o) the domain is missing', async (options) => {
    expect(await refusalOf(INSTRUCTION, options)).toMatchObject({ code: 'bad-request' });
  });

  test('accept the priority as a number or a string, and the domain in any case', async () => {
    const { model } = scriptedModel(goodReply);
    const encoder = createFallbackEncoder({ model, registry: null, rules: null });
    for (const priority of [1, '1'] as const) {
      const { packet } = await encoder.encode(INSTRUCTION, { domain: 'legal', priority });
      expect(packet).toMatch(/^FETCH\|LEGAL\|return:LEG-Agent\|p:1\|/);
    }
    expect((await encoder.encode('a'.repeat(20_000), { domain: 'x-ops_2' })).domain).toBe('X-OPS_2');
  });

  test('of any content have an answer, or an expected error', async () => {
    const { model } = scriptedModel(goodReply);
    const encoder = createFallbackEncoder({ model, registry: memoryRegistry() });
    const options = fc.record(
      { domain: fc.anything(), returnAgent: fc.anything(), priority: fc.anything() },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.anything()), options, async (instruction, asked) => {
        const answer = await encoder
          .encode(instruction as string, { domain: 'HR', ...asked } as EncodeOptions)
          .catch((thrown: unknown) => thrown);
        expect(answer instanceof Error && !(answer instanceof FallbackError) ? answer : null).toBeNull();
      }),
      runs(300),
    );
  });
});
