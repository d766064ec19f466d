/** Stored values: the first attempt receives the same values as later ones, and values that JSON would change are refused. */
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { openClient } from '../../../src/arcp/client/client.js';
import type { Client } from '../../../src/arcp/client/types.js';
import { ArcpError } from '../../../src/arcp/index.js';
import { createRuntime, type JobContext, type Runtime } from '../../../src/arcp/runtime/index.js';
import { memoryChannels } from '../../../src/channels/memory.js';
import { connectTo } from './wire.js';

const ending: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

type Keep = (value: unknown, context: JobContext) => Promise<unknown>;

/** The ways in which a handler stores a value and reads it. */
const KEEPERS: Readonly<Record<string, Keep>> = {
  'a step': (value, { step }) => step('s', () => value),
  'a call with a key': (value, { call }) => call('give', { value: () => value }, { key: 'c' }),
  'memory.update': (value, { memory }) => memory.update('m', (former) => former ?? value),
  'memory.set and get': async (value, { memory, attempt }) => {
    if (attempt === 1) await memory.set('m', value);
    return memory.get('m');
  },
  'a checkpoint': async (value, { checkpoint, restored, attempt }) => {
    if (attempt === 2) return restored;
    await checkpoint(value);
    return JSON.parse(JSON.stringify(value));
  },
};

interface Seen {
  readonly value?: unknown;
  readonly error?: { readonly code: string; readonly path: unknown };
}

/** Returns the values that a handler receives in its first and second attempt. */
async function twice(keep: Keep, make: () => unknown): Promise<Seen[]> {
  const seen: Seen[] = [];
  let given: unknown;
  const runtime: Runtime = createRuntime()
    .tool('give', {}, () => given)
    .tool('work', { durable: true, retry: { maxAttempts: 2, backoffMs: 1 } }, async (_, context) => {
      given = make();
      try {
        seen.push({ value: await keep(given, context) });
      } catch (thrown) {
        const { code, details } = thrown as ArcpError;
        seen.push({ error: { code, path: details?.['path'] } });
      }
      if (context.attempt === 1) throw new ArcpError('UNAVAILABLE', 'once more');
      return null;
    });
  ending.push(() => runtime.close());
  const wire = connectTo(runtime);
  await wire.open();
  await wire.untilEnded((await wire.startJob('work')).jobId);
  return seen;
}

class Point {
  readonly x = 1;
  readonly y = 2;
}
class Secret {
  readonly #x = 1;
  read(): number {
    return this.#x;
  }
}
const cycle = (): unknown => {
  const value: Record<string, unknown> = {};
  value['self'] = [value];
  return value;
};

describe.each(Object.entries(KEEPERS))('%s', (_, keep) => {
  test.each([
    ['a date', () => new Date(0), '1970-01-01T00:00:00.000Z'],
    ['a date in a member', () => ({ at: new Date(0) }), { at: '1970-01-01T00:00:00.000Z' }],
    ['an undefined member', () => ({ due: undefined, n: 1 }), { n: 1 }],
    ['an instance of a class', () => new Point(), { x: 1, y: 2 }],
    ['boxed values', () => [Object(5), Object(true), Object('x')], [5, true, 'x']],
    ['objects without members', () => [{}, Object.create(null)], [{}, {}]],
    ['an unpaired surrogate', () => ['\ud800', '\u2028\0'], ['\ud800', '\u2028\0']],
    ['a member named __proto__', () => JSON.parse('{"__proto__":{"a":1}}'), JSON.parse('{"__proto__":{"a":1}}')],
  ])('returns the same value in both attempts: %s', async (_name, make, expected) => {
    const [first, second] = await twice(keep, make);
    expect(first).toEqual({ value: expected });
    expect(Object.getPrototypeOf(Object(first!.value))).toBe(Object.getPrototypeOf(Object(expected)));
    expect(second).toEqual(first);
  });

  test.each([
    ['NaN', () => Number.NaN, '$'],
    ['Infinity in a member', () => ({ a: [1, Number.POSITIVE_INFINITY] }), '$.a[1]'],
    ['a Map', () => ({ m: new Map([['a', 1]]) }), '$.m'],
    ['a Set', () => new Set([1]), '$'],
    ['bytes', () => [new Uint8Array([1])], '$[0]'],
    ['an undefined item', () => [0, undefined], '$[1]'],
    ['a hole', () => new Array(2), '$[0]'],
    ['a bigint', () => ({ n: 1n }), '$.n'],
    ['a function', () => ({ run: () => 1 }), '$.run'],
    ['a symbol', () => Symbol('s'), '$'],
    ['a promise', () => ({ p: Promise.resolve(1) }), '$.p'],
    ['an error', () => ({ e: new Error('x') }), '$.e'],
    ['the parameters of a URL', () => ({ q: new URLSearchParams('a=1') }), '$.q'],
    ['headers', () => [new Headers({ a: 'b' })], '$[0]'],
    ['a blob', () => new Blob(['x']), '$'],
    ['an iterator', () => ({ i: [1].values() }), '$.i'],
    ['an instance with private fields', () => ({ secret: new Secret() }), '$.secret'],
    ['a boxed NaN', () => ({ n: Object(Number.NaN) }), '$.n'],
    ['an invalid date', () => new Date(Number.NaN), '$'],
    ['a cyclic value', cycle, expect.stringMatching(/^\$\.self\[0\]/)],
  ])('refuses with the path: %s', async (_name, make, path) => {
    const [first, second] = await twice(
      keep === KEEPERS['a checkpoint'] ? (value, { checkpoint }) => checkpoint(value) : keep,
      make,
    );
    expect(first).toEqual({ error: { code: 'INVALID_ARGUMENT', path } });
    if (keep !== KEEPERS['memory.set and get']) expect(second).toEqual(first);
  });
});

test('any JSON is the same in both attempts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...Object.values(KEEPERS)), fc.jsonValue(), async (keep, value) => {
      const [first, second] = await twice(keep, () => value);
      expect(second).toEqual(first);
      if (value !== null) expect(JSON.stringify(first!.value)).toBe(JSON.stringify(value));
    }),
    { numRuns: 30 },
  );
});

/** Arguments are also JSON, and stored for all attempts. */
const GIVEN: Readonly<Record<string, (value: unknown, client: Client) => Promise<unknown>>> = {
  'a tool': (v, client) => client.invoke('echo', { v }).result(),
  'a job': (v, client) => client.invoke('echo', { v }, { mode: 'job' }).result(),
  'a workflow': (v, client) => client.startWorkflow('flow', { v }).result(),
  'an agent': (v, client) => client.delegate('agent', 'do it', { arguments: { v } }).result(),
  'an agent, from a job': (_v, client) => client.invoke('delegating', { v: 1 }, { mode: 'job' }).result(),
  'a workflow, from a job': (_v, client) => client.invoke('starting', { v: 1 }, { mode: 'job' }).result(),
};

describe.each(Object.entries(GIVEN))('an argument of %s', (_, give) => {
  test.each([
    ['NaN', Number.NaN],
    ['a Map', new Map([[1, 2]])],
    ['bytes', new Uint8Array(2)],
    ['a function', () => 1],
    ['a symbol', Symbol('s')],
    ['a bigint', 1n],
  ])('is refused with the path: %s', async (_name, value) => {
    let runs = 0;
    const echo = ({ v }: Readonly<Record<string, unknown>>): unknown => {
      runs++;
      return v;
    };
    const runtime = createRuntime()
      .tool('echo', { durable: false }, echo)
      .workflow('flow', {}, echo)
      .agent('agent', {}, echo)
      .tool('delegating', { durable: true }, async (_input, { delegate }) =>
        (await delegate('agent', 'do it', { arguments: { v: value } })).result(),
      )
      .tool('starting', { durable: true }, async (_input, { startWorkflow }) =>
        (await startWorkflow('flow', { v: value })).result(),
      );
    ending.push(() => runtime.close());
    const client = await openClient(() => {
      const [here, there] = memoryChannels();
      void runtime.accept(there);
      return here;
    });
    ending.push(() => client.disconnect());
    await expect(give(value, client)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      details: { path: expect.stringMatching(/^\$\.(?:arguments|inputs)\.v$/) },
    });
    expect(runs).toBe(0);
  });
});

test.each(['direct', 'job'] as const)('a null result is null, called as a %s, and again with its key', async (mode) => {
  const runtime = createRuntime()
    .tool('nothing', {}, () => null)
    .tool('undefined', {}, () => undefined);
  ending.push(() => runtime.close());
  const client = await openClient(() => {
    const [here, there] = memoryChannels();
    void runtime.accept(there);
    return here;
  });
  ending.push(() => client.disconnect());
  for (let time = 0; time < 2; time++) {
    expect(await client.invoke('nothing', {}, { mode, operationKey: 'n' }).result()).toBeNull();
    expect(await client.invoke('undefined', {}, { mode, operationKey: 'u' }).result()).toBeUndefined();
  }
});

test('a result that JSON would change fails the job, with the path', async () => {
  const runtime = createRuntime().tool('work', { durable: true }, () => ({ sum: Number.NaN }));
  ending.push(() => runtime.close());
  const wire = connectTo(runtime);
  await wire.open();
  const end = await wire.untilEnded((await wire.startJob('work')).jobId);
  expect(end).toMatchObject({ type: 'job.failed', payload: { code: 'INVALID_ARGUMENT', details: { path: '$.sum' } } });
});

describe('a concurrent repetition', () => {
  test.each(['step', 'call'])('is executed once: %s', async (kind) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.nat({ max: 3 })), { maxLength: 8 }),
        async (asked) => {
          const runs: Record<string, number> = {};
          const work = async (key: string): Promise<string> => {
            const n = (runs[key] ?? 0) + 1;
            runs[key] = n;
            await new Promise((resolve) => setImmediate(resolve));
            return `${key}${n}`;
          };
          const runtime = createRuntime()
            .tool('run', {}, ({ key }) => work(String(key)))
            .tool('work', { durable: true }, (_, { step, call }) =>
              Promise.all(
                asked.map(async ([key, turns]) => {
                  for (let n = 0; n < turns; n++) await new Promise((resolve) => setImmediate(resolve));
                  return kind === 'step' ? step(key, () => work(key)) : call('run', { key }, { key });
                }),
              ),
            );
          ending.push(() => runtime.close());
          const wire = connectTo(runtime);
          await wire.open();
          const end = await wire.untilEnded((await wire.startJob('work')).jobId);
          expect(end).toMatchObject({ payload: { result: asked.map(([key]) => `${key}1`) } });
          expect(Object.values(runs).every((count) => count === 1)).toBe(true);
        },
      ),
      { numRuns: 20 },
    );
  });

  test('a failed step is executed again by the next caller', async () => {
    let runs = 0;
    const runtime = createRuntime().tool('work', { durable: true }, async (_, { step }) => {
      const failing = (): Promise<unknown> =>
        step('s', async () => {
          if (++runs === 1) throw new Error('not yet');
          return runs;
        });
      const both = await Promise.allSettled([failing(), failing()]);
      return [both.map(({ status }) => status), await failing()];
    });
    ending.push(() => runtime.close());
    const wire = connectTo(runtime);
    await wire.open();
    const end = await wire.untilEnded((await wire.startJob('work')).jobId);
    expect(end).toMatchObject({ payload: { result: [['rejected', 'rejected'], 2] } });
  });
});
