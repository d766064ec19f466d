/** A runtime that is cut off from the store while another one is not: its clients continue with the other. */
import { afterEach, expect, test } from 'vitest';
import { openClient } from '../../../src/arcp/client/index.js';
import {
  type ArcpStore,
  createRuntime,
  memoryStore,
  type Runtime,
  StoreError,
} from '../../../src/arcp/runtime/index.js';
import { memoryChannels } from '../../../src/channels/memory.js';
import { connectTo } from './wire.js';

const ending: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

const LEASE_MS = 300;

/** A connection to a store in another process, which can be cut and mended. */
function cuttable(inner: ArcpStore): {
  readonly store: ArcpStore;
  readonly cut: () => void;
  readonly mend: () => void;
} {
  let isCut = false;
  const fails = async (): Promise<never> => {
    throw new StoreError('unavailable', 'the server cannot be reached');
  };
  const kept = new Set(['now', 'watch', 'close']);
  const calls = Object.entries(inner).filter(([name, call]) => typeof call === 'function' && !kept.has(name));
  const store = {
    ...inner,
    durable: true,
    close: async () => {},
    ...Object.fromEntries(
      calls.map(([name, call]) => [
        name,
        (...args: never[]) => (isCut ? fails() : (call as typeof fails)(...(args as []))),
      ]),
    ),
  } as ArcpStore;
  return {
    store,
    cut: () => {
      isCut = true;
    },
    mend: () => {
      isCut = false;
    },
  };
}

test('clients of a runtime that is cut off from the store continue at another one, also if they reach the first one again', async () => {
  const shared = memoryStore();
  const { store, cut, mend } = cuttable(shared);
  const furnished = (name: string, of: ArcpStore): Runtime => {
    const runtime = createRuntime({ store: of, name, workers: { leaseMs: LEASE_MS } });
    ending.push(() => runtime.close().catch(() => undefined));
    runtime.tool('where', { durable: true }, () => name);
    runtime.start();
    return runtime;
  };
  const first = furnished('first', store);
  const runtimes = [first, first, first];
  let connections = 0;
  const client = await openClient(
    () => {
      const runtime = runtimes[connections++ % runtimes.length]!;
      const [here, there] = memoryChannels();
      void runtime.accept(there);
      return here;
    },
    { reconnect: { minDelayMs: 1, maxDelayMs: 5 } },
  );
  ending.push(() => client.disconnect());
  expect(await client.invoke('where').result()).toBe('first');
  // Two of three connections reach the runtime that is cut off.
  runtimes.push(furnished('second', { ...shared, durable: true, close: async () => {} }));
  cut();
  expect(first.state).toBe('running');
  await expect.poll(() => first.state, { timeout: 10_000 }).toBe('lost');
  await expect.poll(() => first.counts().connections, { timeout: 10_000 }).toBe(0);
  expect(await client.invoke('where').result()).toBe('second');
  mend();
  await expect.poll(() => first.state, { timeout: 10_000 }).toBe('running');
});

test('a job that cannot read the store for some time is continued by its next attempt', async () => {
  const { store, cut, mend } = cuttable(memoryStore());
  const done: string[] = [];
  const runtime = createRuntime({ store, workers: { leaseMs: LEASE_MS } }).tool(
    'work',
    { durable: true },
    async (_, { step, attempt }) => {
      await step('first', () => done.push('first'));
      if (attempt === 1) cut();
      setTimeout(mend, 100);
      await step('second', () => done.push('second'));
      return attempt;
    },
  );
  ending.push(() => runtime.close());
  const wire = connectTo(runtime);
  await wire.open();
  const { jobId } = await wire.startJob('work');
  expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.completed', payload: { result: 2 } });
  expect(done).toEqual(['first', 'second']);
});
