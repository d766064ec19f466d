/** Concurrent requests for the same instruction in one process. */

import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import {
  createFallbackEncoder,
  type FallbackEncoder,
  type FallbackError,
  type FallbackOptions,
  type FallbackResult,
  memoryRegistry,
  type Registry,
  sqliteRegistry,
} from '../../../src/aacp/fallback/index.js';
import {
  BAD_REPLY,
  gate,
  goodReply,
  PRICE,
  packetFor,
  type Script,
  type ScriptedModel,
  scriptedModel,
} from '../../helpers/fallback.js';
import { collectGarbage } from '../../helpers/memory.js';
import { passingTime } from '../../helpers/passing-time.js';
import { freshFiles } from '../../storage/folder.js';
import { moduleAt, runWithout } from '../../tokens/hidden-packages.js';

const INSTRUCTION = 'Chase the late timesheets of the warehouse team.';
const HR = { domain: 'HR' } as const;
const PACKET = packetFor({ domain: 'HR', returnAgent: 'HR-Agent', priority: '2' });
const fresh = freshFiles();

interface Scene extends ScriptedModel {
  readonly encoder: FallbackEncoder;
  readonly registry: Registry | null;
}

function scene(scripts: readonly Script[], options: FallbackOptions = {}): Scene {
  const { registry = memoryRegistry() } = options;
  const scripted = scriptedModel(...scripts);
  const encoder = createFallbackEncoder({ model: scripted.model, rules: null, ...options, registry });
  return { ...scripted, encoder, registry };
}

/** Starts several encodings at the same time. */
function ask(encoder: FallbackEncoder, times: number, signal?: AbortSignal): readonly Promise<FallbackResult>[] {
  return Array.from({ length: times }, () => encoder.encode(INSTRUCTION, { ...HR, signal }));
}

/** The codes of errors; `answered` if there is no error. */
async function codesOf(answers: readonly Promise<unknown>[]): Promise<readonly string[]> {
  const settled = await Promise.allSettled(answers);
  return settled.map((one) => (one.status === 'fulfilled' ? 'answered' : (one.reason as { code: string }).code));
}

/** Waits until the model has been called so many times. */
async function asked({ calls }: Pick<ScriptedModel, 'calls'>, times: number): Promise<void> {
  while (calls.length < times) await new Promise((resolve) => setTimeout(resolve, 1));
}

const REGISTRIES: readonly (readonly [string, () => Promise<Registry | null>])[] = [
  ['in memory', async () => memoryRegistry()],
  ['in a file', async () => sqliteRegistry(fresh())],
  ['that does not exist', async () => null],
];

describe.each(REGISTRIES)('64 concurrent callers of the same instruction, with a registry %s', (_name, open) => {
  test('make one call, whose cost one of them reports', async () => {
    const registry = await open();
    const opened = gate();
    const { encoder, calls } = scene([(request) => opened.opened.then(() => goodReply(request))], { registry });
    const answers = ask(encoder, 64);
    await asked({ calls }, 1);
    opened.open();
    const results = await Promise.all(answers);
    expect(calls.length).toBe(1);
    expect(new Set(results.map(({ packet }) => packet))).toEqual(new Set([PACKET]));
    expect(results.filter(({ tier }) => tier === 'model').length).toBe(1);
    expect(results.reduce((sum, { cost }) => sum + cost!, 0)).toBe(PRICE);
    expect(results.reduce((sum, { usage }) => sum + usage.calls, 0)).toBe(1);
    for (const { tier, explain } of results) expect(explain.tier).toBe(tier);
    if (registry === null) return;
    expect(registry.statistics()).toMatchObject({ entries: 1, timesSeen: 64, served: 63, spent: PRICE });
    registry.close();
  });

  test('all get the error of a failing model, and the next caller calls it again', async () => {
    const registry = await open();
    const failure = gate<never>();
    const { encoder, calls } = scene([() => failure.opened, goodReply], { registry });
    const answers = ask(encoder, 64);
    await asked({ calls }, 1);
    failure.fail(new Error('out of order'));
    expect(await codesOf(answers)).toEqual(Array(64).fill('model-unavailable'));
    expect([calls.length, registry?.statistics().entries ?? 0]).toEqual([1, 0]);
    expect(await encoder.encode(INSTRUCTION, HR)).toMatchObject({ tier: 'model', packet: PACKET });
    expect(calls.length).toBe(2);
    registry?.close();
  });

  test('all get the error of a model that writes no packet, after two calls', async () => {
    const registry = await open();
    const { encoder, calls } = scene([BAD_REPLY, BAD_REPLY, goodReply], { registry });
    const answers = ask(encoder, 64);
    expect(await codesOf(answers)).toEqual(Array(64).fill('invalid-reply'));
    expect(calls.length).toBe(2);
    expect((await encoder.encode(INSTRUCTION, HR)).tier).toBe('model');
    registry?.close();
  });
});

describe('concurrent callers', () => {
  test('with another case and other white space share a call', async () => {
    const { encoder, calls } = scene([goodReply]);
    await Promise.all(
      [INSTRUCTION, INSTRUCTION.toUpperCase(), ` ${INSTRUCTION.replaceAll(' ', '\n')}`].map((text) =>
        encoder.encode(text, HR),
      ),
    );
    expect(calls.length).toBe(1);
  });

  test('for another domain, agent or priority make a call of their own', async () => {
    const { encoder, calls } = scene([goodReply]);
    const requests = [HR, { domain: 'FIN' }, { ...HR, returnAgent: 'Eve' }, { ...HR, priority: 1 }] as const;
    const results = await Promise.all(requests.map((options) => encoder.encode(INSTRUCTION, options)));
    expect(new Set(results.map(({ packet }) => packet)).size).toBe(4);
    expect(calls.length).toBe(4);
  });

  test('never cause two calls while others start and abort', async () => {
    const { encoder, calls } = scene([async (request) => goodReply(request)]);
    const answers: Promise<FallbackResult>[] = [];
    for (let turn = 0; turn < 100; turn++) {
      answers.push(encoder.encode(INSTRUCTION, HR));
      await Promise.resolve();
    }
    await Promise.all(answers);
    expect(calls.length).toBe(1);
  });
});

describe('a caller that aborts', () => {
  test.each([
    ['the first', 0],
    ['the last', 9],
    ['one in between', 4],
  ])('neither stops the others nor hides the cost from them: %s', async (_who, place) => {
    const opened = gate();
    const { encoder, calls } = scene([(request) => opened.opened.then(() => goodReply(request))]);
    const controller = new AbortController();
    const answers = Array.from({ length: 10 }, (_, at) =>
      encoder.encode(INSTRUCTION, { ...HR, signal: at === place ? controller.signal : undefined }),
    );
    const codes = codesOf(answers);
    await asked({ calls }, 1);
    controller.abort();
    await expect(answers[place]).rejects.toMatchObject({ code: 'model-aborted' });
    expect(calls[0]?.signal.aborted).toBe(false);
    opened.open();
    expect(await codes).toEqual(Array.from({ length: 10 }, (_, at) => (at === place ? 'model-aborted' : 'answered')));
    const results = (await Promise.allSettled(answers)).flatMap((one) => ('value' in one ? [one.value] : []));
    expect(results.reduce((sum, { cost }) => sum + cost!, 0)).toBe(PRICE);
    expect(results.filter(({ tier }) => tier === 'model').length).toBe(1);
    expect(calls.length).toBe(1);
  });

  test('stops the call if it is the last one, and the next caller starts another call', async () => {
    const { encoder, calls, registry } = scene([() => gate().opened, goodReply]);
    const controllers = Array.from({ length: 5 }, () => new AbortController());
    const answers = controllers.map(({ signal }) => encoder.encode(INSTRUCTION, { ...HR, signal }));
    const codes = codesOf(answers);
    await asked({ calls }, 1);
    for (const controller of controllers) {
      expect(calls[0]?.signal.aborted).toBe(false);
      controller.abort(new Error('enough'));
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    expect(await codes).toEqual(Array(5).fill('model-aborted'));
    expect(calls[0]?.signal.aborted).toBe(true);
    expect(await encoder.encode(INSTRUCTION, HR)).toMatchObject({ tier: 'model', packet: PACKET });
    expect([calls.length, registry?.statistics().entries]).toEqual([2, 1]);
  });

  test('before the call costs nothing', async () => {
    const { encoder, calls } = scene([goodReply]);
    const signal = AbortSignal.abort();
    await expect(encoder.encode(INSTRUCTION, { ...HR, signal })).rejects.toMatchObject({ code: 'model-aborted' });
    expect(calls.length).toBe(0);
  });

  test('leaves no listener on its signal, and neither does one that does not abort', async () => {
    const { encoder, calls } = scene([goodReply]);
    const { signal } = new AbortController();
    for (const text of [INSTRUCTION, INSTRUCTION, 'Order four chairs.']) await encoder.encode(text, { ...HR, signal });
    expect([calls.length, getEventListeners(signal, 'abort')]).toEqual([2, []]);
  });

  test('gets a known packet nevertheless', async () => {
    const { encoder } = scene([goodReply]);
    await encoder.encode(INSTRUCTION, HR);
    const signal = AbortSignal.abort();
    expect((await encoder.encode(INSTRUCTION, { ...HR, signal })).tier).toBe('cache');
  });

  test('does not stop the second call for the others either', async () => {
    const opened = gate();
    const { encoder, calls } = scene([BAD_REPLY, (request) => opened.opened.then(() => goodReply(request))]);
    const controller = new AbortController();
    const answer = encoder.encode(INSTRUCTION, { ...HR, signal: controller.signal });
    const other = encoder.encode(INSTRUCTION, HR);
    const codes = codesOf([answer]);
    await asked({ calls }, 2);
    controller.abort();
    expect(await codes).toEqual(['model-aborted']);
    expect(calls[1]?.signal.aborted).toBe(false);
    opened.open();
    expect(await other).toMatchObject({ packet: PACKET, tier: 'model', cost: 2 * PRICE, usage: { calls: 2 } });
  });
});

describe('a model that takes too long', () => {
  test('times out for all waiting callers, and another caller can start at once', async () => {
    const { encoder, calls, registry } = scene([() => gate().opened], { timeoutMs: 20 });
    expect(await codesOf(ask(encoder, 8))).toEqual(Array(8).fill('model-timeout'));
    expect(calls[0]?.signal.aborted).toBe(true);
    const again = createFallbackEncoder({ model: async (request) => goodReply(request), registry, rules: null });
    expect((await again.encode(INSTRUCTION, HR)).tier).toBe('model');
    expect(calls.length).toBe(1);
  });

  test('times out even if memory is collected meanwhile', async () => {
    const { encoder, calls } = scene([() => gate().opened], { timeoutMs: 200 });
    const answer = codesOf([encoder.encode(INSTRUCTION, HR)]);
    await asked({ calls }, 1);
    await new Promise((resolve) => setTimeout(resolve, 0));
    collectGarbage();
    expect(await answer).toEqual(['model-timeout']);
  });

  test('times out even if the process has nothing else to do', () => {
    const program = `
      const { createFallbackEncoder } = await import(${moduleAt('src/aacp/fallback/index.ts')});
      const model = () => new Promise(() => {});
      const encoder = createFallbackEncoder({ model, registry: null, rules: null, timeoutMs: 50 });
      await encoder.encode('a novel instruction', { domain: 'HR' }).catch(({ code }) => console.log(code));`;
    expect(runWithout([], program)).toBe('model-timeout\n');
  });

  test('to correct its reply reports the cost', async () => {
    const { encoder } = scene([BAD_REPLY, () => gate().opened], { timeoutMs: 50 });
    const error = (await encoder.encode(INSTRUCTION, HR).catch((thrown: unknown) => thrown)) as FallbackError;
    expect(error).toMatchObject({ code: 'invalid-reply', cost: PRICE, usage: { calls: 1 }, replies: [BAD_REPLY.text] });
    expect(error.cause).toMatchObject({ code: 'model-timeout' });
  });
});

describe('two encoders that share a registry, like two processes', () => {
  /** An encoder with a pending call and its result, and another encoder. */
  async function pair(second: Script = goodReply, options: FallbackOptions = {}) {
    const registry = memoryRegistry();
    const reply = gate<unknown>();
    const one = scene([() => reply.opened], { registry });
    const other = scene([second], { ...options, registry });
    const controller = new AbortController();
    const first = one.encoder.encode(INSTRUCTION, { ...HR, signal: controller.signal });
    const outcome = codesOf([first]);
    await asked(one, 1);
    return { registry, reply, one, other, first, outcome, giveUp: () => controller.abort() };
  }

  test('make one call', async () => {
    const { registry, reply, other, first } = await pair();
    const answers = ask(other.encoder, 8);
    reply.open(goodReply({ ...HR, returnAgent: 'HR-Agent', priority: '2' }));
    expect(await first).toMatchObject({ tier: 'model', packet: PACKET, cost: PRICE });
    for (const answer of await Promise.all(answers))
      expect(answer).toMatchObject({ tier: 'cache', packet: PACKET, cost: 0 });
    expect([other.calls.length, registry.statistics().timesSeen]).toEqual([0, 9]);
  });

  test('continue with the other one if the first one fails', async () => {
    const { reply, other, outcome } = await pair();
    const answers = ask(other.encoder, 8);
    reply.fail(new Error('out of order'));
    expect(await outcome).toEqual(['model-unavailable']);
    const tiers = (await Promise.all(answers)).map(({ tier }) => tier).sort();
    expect([tiers, other.calls.length]).toEqual([[...Array(7).fill('cache'), 'model'], 1]);
  });

  test('continue with the other one if the first one aborts', async () => {
    const { other, outcome, giveUp } = await pair();
    const answers = ask(other.encoder, 2);
    giveUp();
    expect(await outcome).toEqual(['model-aborted']);
    await Promise.all(answers);
    expect(other.calls.length).toBe(1);
  });

  test('can each abort waiting for the other', async () => {
    const { reply, other, first } = await pair();
    const controller = new AbortController();
    const answers = codesOf(ask(other.encoder, 3, controller.signal));
    controller.abort();
    expect(await answers).toEqual(Array(3).fill('model-aborted'));
    reply.open({ text: PACKET });
    expect((await first).packet).toBe(PACKET);
    expect(other.calls.length).toBe(0);
  });

  test('do not wait for each other without limit', async () => {
    const { reply, other, first } = await pair(goodReply, { waitTimeoutMs: 1 });
    const [code] = await codesOf([other.encoder.encode(INSTRUCTION, HR)]);
    expect([code, other.calls.length]).toEqual(['pending-elsewhere', 0]);
    reply.open({ text: PACKET });
    await first;
    expect((await other.encoder.encode(INSTRUCTION, HR)).tier).toBe('cache');
  });

  test('continue if the one with the reservation has died', async () => {
    const clock = passingTime(Date.now());
    const registry = memoryRegistry({ now: () => clock.now });
    const { encoder, calls } = scene([goodReply], { registry });
    const { key } = await encoder.explain(INSTRUCTION, HR);
    expect(registry.reserve(key, 60_000).kind).toBe('granted');
    const answer = encoder.encode(INSTRUCTION, HR);
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(calls.length).toBe(0);
    clock.now += 61_000;
    expect(await answer).toMatchObject({ tier: 'model', packet: PACKET });
    expect(calls.length).toBe(1);
  });
});

describe('close', () => {
  test('waits for pending packets, and stores them', async () => {
    const file = fresh();
    const registry = await sqliteRegistry(file);
    const opened = gate();
    const { encoder, calls } = scene([(request) => opened.opened.then(() => goodReply(request))], { registry });
    const answer = encoder.encode(INSTRUCTION, HR);
    await asked({ calls }, 1);
    const ended: string[] = [];
    const closing = [encoder.close(), encoder.close()].map((one) => one.then(() => void ended.push('closed')));
    const answered = answer.then(() => void ended.push('answered'));
    opened.open();
    await Promise.all([...closing, answered]);
    expect(ended).toEqual(['answered', 'closed', 'closed']);
    expect(await answer).toMatchObject({ packet: PACKET, warnings: [] });
    registry.close();
    const again = await sqliteRegistry(file);
    expect(again.statistics().entries).toBe(1);
    again.close();
  });

  test('does not wait for calls without waiting callers', async () => {
    const { encoder, calls } = scene([() => gate().opened]);
    const controller = new AbortController();
    const answer = codesOf(ask(encoder, 1, controller.signal));
    await asked({ calls }, 1);
    controller.abort();
    expect(await answer).toEqual(['model-aborted']);
    await encoder.close();
  });

  test('ends the encoder, and can be called twice', async () => {
    const { encoder } = scene([goodReply]);
    await encoder.encode(INSTRUCTION, HR);
    await Promise.all([encoder.close(), encoder.close()]);
    await expect(encoder.encode(INSTRUCTION, HR)).rejects.toMatchObject({ code: 'closed', cost: 0 });
    await expect(encoder.explain(INSTRUCTION, HR)).rejects.toMatchObject({ code: 'closed' });
    await expect(encoder.registry()).rejects.toMatchObject({ code: 'closed' });
  });

  test('leaves the registry of the application open', async () => {
    const { encoder, registry } = scene([goodReply]);
    await encoder.encode(INSTRUCTION, HR);
    await encoder.close();
    expect(registry?.statistics().entries).toBe(1);
  });
});
