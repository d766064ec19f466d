/** Two runtimes with one store behind a bus that loses, repeats and reorders messages, each killed in turn; and the same without numbers. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { openClient } from '../../../src/arcp/client/index.js';
import { dialOver, serveBus } from '../../../src/arcp/queues/listen.js';
import { createRuntime, memoryStore } from '../../../src/arcp/runtime/index.js';
import type { ArcpStore } from '../../../src/arcp/store/store.js';
import type { MessageBus } from '../../../src/channels/queue/dial.js';
import { FakeBus, type Faults, withoutNumbers } from '../../channels/queue/fake-bus.js';
import { Sink } from './sink.js';

const JOBS = 6;
const STEPS = 20;
const FAULTS: Faults = { lose: 0.1, repeat: 0.1, reorder: 0.1 };
const FAST = { heartbeatMs: 50, timeoutMs: 400, retransmitMs: 20 };

const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

/** The store and the bus of a runtime, until it is killed: from then on, nothing passes in either direction. */
function mortal(shared: ArcpStore, bus: FakeBus) {
  let isDead = false;
  const subscriptions: (() => void)[] = [];
  const never = new Promise<never>(() => {});
  const store = Object.fromEntries(
    Object.entries(shared).map(([name, member]) => {
      if (name === 'now' || typeof member !== 'function') return [name, member];
      return [
        name,
        async (...args: unknown[]) => {
          if (isDead) return never;
          // A change that was on its way takes place, but its outcome is lost.
          const result = await (member as (...all: unknown[]) => unknown)(...args);
          return isDead ? never : result;
        },
      ];
    }),
  ) as unknown as ArcpStore;
  const own: MessageBus = {
    maxMessageBytes: bus.maxMessageBytes,
    publish: (subject, message) => {
      if (!isDead) bus.publish(subject, message);
    },
    subscribe: async (subject, receive, options) => {
      const unsubscribe = await bus.subscribe(subject, receive, options);
      subscriptions.push(unsubscribe);
      return unsubscribe;
    },
    onClosed: bus.onClosed,
  };
  return {
    bus: own,
    store: {
      ...store,
      // Other runtimes take its sessions and jobs over.
      durable: true,
      watch: (onChange) => shared.watch((change) => !isDead && onChange(change)),
      close: async () => {},
    } satisfies ArcpStore,
    kill: () => {
      isDead = true;
      for (const unsubscribe of subscriptions) unsubscribe();
    },
  };
}

/** Starts a runtime. @returns a function that kills it */
async function start(shared: ArcpStore, bus: FakeBus, sink: Sink): Promise<() => void> {
  const { store, bus: own, kill } = mortal(shared, bus);
  const runtime = createRuntime({ store, workers: { leaseMs: 400 }, onError: () => {} });
  runtime.tool('work', { durable: true }, async (_, { step, jobId, progress }) => {
    for (let n = 0; n < STEPS; n++) {
      await step(`step-${n}`, async (operation) => {
        sink.call({ jobId: jobId!, step: n, operation });
        await sleep(10);
      });
      await progress({ message: `step ${n} is done` });
    }
    return 'done';
  });
  await serveBus(runtime, { bus: own, close: async () => {} }, 'bus', FAST);
  runtime.start();
  let isKilled = false;
  ending.push(() => isKilled || runtime.close());
  return () => {
    isKilled = true;
    kill();
  };
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(5);
}

async function begin(faults: Faults) {
  const bus = new FakeBus(11, faults);
  const store = memoryStore();
  const sink = new Sink();
  const heard: string[] = [];
  const kills = [await start(store, bus, sink), await start(store, bus, sink)];
  const dial = dialOver(async () => ({ bus, close: async () => {} }), FAST);
  const client = await openClient(dial, {
    onMessage: ({ id }) => heard.push(id),
    heartbeatMs: 100,
    reconnect: { minDelayMs: 10, maxDelayMs: 50 },
  });
  ending.push(() => client.disconnect());
  /** Compares what the client has heard with the log. @returns the differences */
  const problems = async (): Promise<string[]> => {
    const { session_id: sessionId } = client.session;
    const stored = (await store.readEvents({ sessionId, limit: Number.POSITIVE_INFINITY })).map(({ id }) => id);
    const known = new Set(stored);
    const mine = heard.filter((id) => known.has(id));
    const found = [...sink.problems];
    if (sink.effects.size !== JOBS * STEPS) found.push(`${sink.effects.size} of ${JOBS * STEPS} effects`);
    const missed = known.size - new Set(mine).size;
    if (missed > 0) found.push(`${missed} of ${known.size} messages missed`);
    if (mine.length > new Set(mine).size) found.push(`${mine.length - new Set(mine).size} messages repeated`);
    if (missed === 0 && [...new Set(mine)].join() !== stored.join()) found.push('messages out of order');
    return found;
  };
  return { bus, sink, kills, client, problems, startAnother: () => start(store, bus, sink) };
}

describe('runtimes with one store on a bus that loses, repeats and reorders a tenth of the messages', () => {
  test('killed in turn under load, lose and repeat no effect and no message', async () => {
    const { bus, sink, kills, client, problems, startAnother } = await begin(FAULTS);
    const results = Array.from({ length: JOBS }, () => client.invoke('work').result());
    for (const [at, kill] of kills.entries()) {
      await until(() => sink.effects.size > 20 + 50 * at);
      kill();
      await startAnother();
    }
    expect(await Promise.all(results)).toEqual(Array.from({ length: JOBS }, () => 'done'));
    expect(await problems()).toEqual([]);
    // At each kill, one step of each job may have been called whose result was not stored.
    expect(sink.repeated).toBeLessThanOrEqual(2 * JOBS);
    expect(Math.min(bus.counts.lost, bus.counts.repeated, bus.counts.reordered)).toBeGreaterThan(5);
  });

  test('would lose, repeat or reorder them without numbers, even if none is killed', async () => {
    const { bus, client, problems } = await begin({ ...FAULTS, change: withoutNumbers() });
    const results = Promise.allSettled(Array.from({ length: JOBS }, () => client.invoke('work').result()));
    // A lost result never arrives.
    await Promise.race([results, sleep(1500)]);
    expect(bus.counts.lost).toBeGreaterThan(0);
    expect(await problems()).not.toEqual([]);
  });
});
