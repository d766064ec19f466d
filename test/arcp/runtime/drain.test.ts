/** A runtime that is drained and closed while another one of the same store continues: clients notice nothing. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type Client, openClient } from '../../../src/arcp/client/index.js';
import { checkLog, type Envelope } from '../../../src/arcp/index.js';
import {
  type ArcpStore,
  createRuntime,
  memoryStore,
  type Runtime,
  type RuntimeOptions,
  sqliteStore,
  statusOf,
} from '../../../src/arcp/runtime/index.js';
import { memoryChannels } from '../../../src/channels/memory.js';
import { connectTo, deferred } from './wire.js';

const ending: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

/** A lease that no test waits for. */
const LEASE_MS = 10 * 60_000;

function newFile(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-drain-'));
  ending.push(() => rmSync(folder, { recursive: true, force: true }));
  return path.join(folder, 'arcp.db');
}

async function start(db: string, name: string, options: RuntimeOptions = {}): Promise<Runtime> {
  const workers = { leaseMs: LEASE_MS, ...options.workers };
  const runtime = createRuntime({ store: await sqliteStore(db), name, ...options, workers });
  ending.push(() => runtime.close());
  runtime.start();
  return runtime;
}

/** A client whose connections alternate between the runtimes that listen. */
async function clientOf(listening: readonly Runtime[], heard: Envelope[]): Promise<Client> {
  let dialed = 0;
  const dial = () => {
    const runtime = listening[dialed++ % listening.length]!;
    const [here, there] = memoryChannels();
    void runtime.accept(there);
    return here;
  };
  const client = await openClient(dial, {
    reconnect: { minDelayMs: 1, maxDelayMs: 5 },
    onMessage: (message) => heard.push(message),
  });
  ending.push(() => client.disconnect());
  return client;
}

async function storeOf(db: string): Promise<ArcpStore> {
  const store = await sqliteStore(db);
  ending.push(() => store.close());
  return store;
}

async function storedIn(db: string): Promise<Envelope[]> {
  const events = await (await storeOf(db)).readEvents({ limit: Number.POSITIVE_INFINITY });
  return events.map(({ body }) => JSON.parse(body) as Envelope);
}

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

describe('a runtime that drains while another one continues', () => {
  test('ends or hands over all jobs, and its clients miss and repeat nothing', async () => {
    const db = newFile();
    const [ran, halves]: [string[], unknown[]] = [[], []];
    const isOver = deferred();
    const furnished = async (name: string): Promise<Runtime> => {
      const runtime = await start(db, name);
      return runtime
        .tool('quick', { durable: true }, async ({ n }, { progress }) => {
          await progress({ current: 1, total: 2 });
          await isOver.promise;
          await progress({ current: 2, total: 2 });
          ran.push(`quick ${n} ${name}`);
          return n;
        })
        .tool('long', { durable: true }, async ({ n }, { step, signal, attempt }) => {
          await step('half', () => halves.push(n));
          if (attempt === 1) await untilAborted(signal);
          ran.push(`long ${n} ${name}`);
          return n;
        });
    };
    const [first, second] = [await furnished('first'), await furnished('second')];
    const heard: Envelope[] = [];
    const listening = [first];
    const client = await clientOf(listening, heard);
    const works = ['quick', 'long', 'quick', 'long'].map((tool, n) => client.invoke(tool, { n }));
    await expect.poll(() => halves.length).toBe(2);
    await expect.poll(() => heard.filter(({ type }) => type === 'job.progress').length).toBe(2);

    listening.push(second);
    const drained = first.drain(500);
    // A command to a runtime that drains runs elsewhere, and its client receives the messages.
    const late = client.invoke('quick', { n: 4 });
    await expect.poll(() => heard.filter(({ type }) => type === 'job.progress').length).toBe(3);
    isOver.resolve();
    expect(await late.result()).toBe(4);
    await drained;
    await first.close();

    expect(await Promise.all(works.map((work) => work.result()))).toEqual([0, 1, 2, 3]);
    expect(ran.toSorted()).toEqual([
      'long 1 second',
      'long 3 second',
      'quick 0 first',
      'quick 2 first',
      'quick 4 second',
    ]);
    expect(halves).toEqual([1, 3]);
    await client.close();
    await second.close();
    const stored = await storedIn(db);
    expect(checkLog(stored, { isComplete: true })).toEqual([]);
    const idsOfJobs = (messages: readonly Envelope[]): string[] =>
      messages.filter(({ type, job_id }) => job_id !== undefined && type !== 'job.heartbeat').map(({ id }) => id);
    expect(idsOfJobs(heard)).toEqual(idsOfJobs(stored));
  });

  test('announces it at once', async () => {
    const db = newFile();
    const [first] = [await start(db, 'first'), await start(db, 'second')];
    const end = deferred();
    first.tool('work', { durable: true }, () => end.promise);
    const wire = connectTo(first);
    await wire.open();
    await wire.startJob('work');
    const drained = first.drain(Number.POSITIVE_INFINITY);
    const store = await storeOf(db);
    await expect
      .poll(async () => (await statusOf(store)).runtimes.map(({ presence, state }) => `${presence?.name} ${state}`))
      .toEqual(['first draining', 'second running']);
    end.resolve();
    await drained;
    await first.close();
    expect((await statusOf(store)).runtimes).toMatchObject([{ presence: { name: 'second' } }]);
  });

  test('obeys orders to its jobs, and their deadlines, until they end', async () => {
    const db = newFile();
    const [first, second] = [await start(db, 'first'), await start(db, 'second', { workers: { queues: ['none'] } })];
    for (const runtime of [first, second])
      runtime.tool('work', { durable: true }, (_, { signal }) => untilAborted(signal));
    const wire = connectTo(first);
    await wire.open();
    const cancelled = await wire.startJob('work');
    const late = await wire.startJob('work', { timeout_ms: 200 });
    const drained = first.drain(Number.POSITIVE_INFINITY);
    await second.cancel(cancelled.jobId, { reason: 'Enough' });
    expect(await wire.untilEnded(cancelled.jobId)).toMatchObject({ payload: { cause: 'runtime', reason: 'Enough' } });
    expect(await wire.untilEnded(late.jobId)).toMatchObject({ payload: { cause: 'timeout' } });
    await drained;
  });
});

describe('a runtime that drains', () => {
  test('refuses new commands of sessions that end with it', async () => {
    const db = newFile();
    const runtime = (await start(db, 'only')).tool('work', { durable: true }, () => 1);
    const [durable, stateful, stateless] = [connectTo(runtime), connectTo(runtime), connectTo(runtime)];
    await durable.open();
    await stateful.open({ mode: 'stateful' });
    await stateless.open({ mode: 'stateless' });
    await runtime.drain();
    for (const wire of [stateful, stateless]) {
      const refused = await wire.answer('nack', wire.send('tool.invoke', { tool: 'work' }));
      expect(refused.payload).toMatchObject({ code: 'UNAVAILABLE', retryable: true });
    }
    const { jobId } = await durable.startJob('work');
    expect(await (await storeOf(db)).readJob(jobId)).toMatchObject({ state: 'queued', attempt: 0 });
    await runtime.close();
    // The next start runs it.
    const next = createRuntime({ store: await storeOf(db) }).tool('work', { durable: true }, () => 2);
    ending.push(() => next.close());
    next.start();
    await expect.poll(async () => (await (await storeOf(db)).readJob(jobId))?.state).toBe('completed');
  });

  test.each(['commit', 'claimJobs'] as const)('waits for jobs whose %s is under way', async (method) => {
    const inner = memoryStore();
    const [begun, released] = [deferred(), deferred()];
    const held = async <T>(call: () => Promise<T>): Promise<T> => {
      begun.resolve();
      await released.promise;
      return call();
    };
    let isHeld = false;
    const store: ArcpStore = {
      ...{ ...inner, close: async () => {} },
      commit: (commit) =>
        isHeld && method === 'commit' && commit.newJobs ? held(() => inner.commit(commit)) : inner.commit(commit),
      claimJobs: (claim) =>
        isHeld && method === 'claimJobs' ? held(() => inner.claimJobs(claim)) : inner.claimJobs(claim),
    };
    const ran: number[] = [];
    const runtime = createRuntime({ store }).tool('work', { durable: true }, ({ n }) => ran.push(Number(n)));
    ending.push(() => runtime.close());
    const wire = connectTo(runtime);
    await wire.open();
    await wire.untilEnded((await wire.startJob('work', { arguments: { n: 1 } })).jobId);
    isHeld = true;
    // A job that is started at once, or one that was queued by another runtime.
    if (method === 'commit') wire.send('tool.invoke', { tool: 'work', arguments: { n: 2 } });
    else {
      const [row] = await inner.listJobs({ limit: 1 });
      const { sessionId, principal, queue, priority, spec } = row!;
      const again = { jobId: 'job_again', sessionId, principal, queue, priority, spec };
      await inner.commit({ newJobs: [{ ...again, state: 'queued', attempt: 0, status: '{"failures":0,"ended":0}' }] });
    }
    await begun.promise;
    let isDrained = false;
    const drained = runtime.drain(Number.POSITIVE_INFINITY).then(() => {
      isDrained = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(isDrained).toBe(false);
    released.resolve();
    await drained;
    expect(ran).toHaveLength(2);
    expect((await inner.listJobs({ limit: 9 })).map(({ state }) => state)).toEqual(['completed', 'completed']);
  });
});
