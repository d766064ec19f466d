/** The status of a store: its runtimes, queues, leases and mailboxes. */
import { afterEach, describe, expect, test } from 'vitest';
import {
  type ArcpStore,
  createRuntime,
  memoryStore,
  type Runtime,
  type RuntimeOptions,
  statusOf,
} from '../../../src/arcp/runtime/index.js';
import { connectTo, deferred } from './wire.js';

const runtimes: Runtime[] = [];
afterEach(async () => {
  await Promise.all(runtimes.splice(0).map((runtime) => runtime.close()));
});

function start(store: ArcpStore, options: RuntimeOptions): Runtime {
  // The store outlives its runtimes.
  const runtime = createRuntime({ store: { ...store, close: async () => {} }, ...options });
  runtimes.push(runtime);
  runtime.start();
  return runtime;
}

describe('the status of a store', () => {
  test('has each runtime with its jobs and connections', async () => {
    const store = memoryStore();
    const end = deferred();
    const east = start(store, { name: 'east', workers: { concurrency: 3, queues: ['default', 'fast'] } });
    start(store, { name: 'west', workers: { concurrency: 5, queues: ['slow'] } });
    east.tool('work', { durable: true }, () => end.promise);
    const wire = connectTo(east);
    await wire.open();
    await wire.startJob('work');
    await wire.startJob('work');
    await wire.until(({ type }) => type === 'job.started', wire.heard.length - 1);
    // The presence of a runtime is renewed at intervals, but its leases are current.
    const { runtimes: found } = await statusOf(store);
    expect(found.map(({ presence, ...rest }) => ({ name: presence?.name, ...rest }))).toMatchObject([
      { name: 'east', state: 'running', running: 2, blocked: 0, leaseLeftMs: expect.any(Number), unread: 0 },
      { name: 'west', state: 'running', running: 0, blocked: 0, leaseLeftMs: undefined, unread: 0 },
    ]);
    expect(found[0]!.presence).toMatchObject({ concurrency: 3, queues: ['default', 'fast'], isDraining: false });
    void east.drain(Number.POSITIVE_INFINITY);
    await expect
      .poll(async () => (await statusOf(store)).runtimes[0])
      .toMatchObject({ state: 'draining', presence: { jobs: 2, connections: 1, sessions: 1 } });
    end.resolve();
  });

  test('has the queues, with the runtimes that serve them', async () => {
    const store = memoryStore();
    const front = start(store, { workers: { queues: ['default'] } });
    start(store, { workers: { queues: ['default', 'other'] } });
    front.tool('far', { durable: true, queue: 'gpu' }, () => 1);
    const wire = connectTo(front);
    await wire.open();
    const { jobId } = await wire.startJob('far');
    await wire.startJob('far');
    const { at, queues } = await statusOf(store);
    expect(queues).toEqual([
      { queue: 'default', queued: 0, due: 0, oldest: undefined, runtimes: 2 },
      { queue: 'gpu', queued: 2, due: 2, oldest: { jobId, dueAt: expect.any(Number) }, runtimes: 0 },
      { queue: 'other', queued: 0, due: 0, oldest: undefined, runtimes: 1 },
    ]);
    expect(queues[1]!.oldest!.dueAt).toBeLessThanOrEqual(at);
  });

  test('has the jobs whose lease has expired, and what lost runtimes have left', async () => {
    const store = memoryStore();
    const front = start(store, {}).tool('far', { durable: true, queue: 'gpu' }, () => 1);
    const wire = connectTo(front);
    await wire.open();
    const { jobId } = await wire.startJob('far');
    await store.claimJobs({ worker: 'worker_gone', queues: ['gpu'], leaseMs: 0, limit: 1 });
    await store.commit({ records: [{ scope: 'mail:worker_gone', key: 'k', value: '{}' }] });
    const { runtimes: found, expiredJobs } = await statusOf(store);
    expect(expiredJobs).toEqual([
      {
        ...{ jobId, target: 'far', queue: 'gpu', state: 'running', attempt: 1, worker: 'worker_gone' },
        leaseExpiresAt: expect.any(Number),
      },
    ]);
    expect(found.slice(1)).toEqual([
      {
        ...{ worker: 'worker_gone', state: 'ended', presence: undefined, running: 1, blocked: 0, unread: 1 },
        leaseLeftMs: expect.any(Number),
      },
    ]);
    expect(found[1]!.leaseLeftMs).toBeLessThanOrEqual(0);
  });

  test('has the messages to a runtime that has ended, until they are removed', async () => {
    const store = memoryStore();
    const runtime = start(store, {}).tool('far', { durable: true, queue: 'gpu' }, () => 1);
    const wire = connectTo(runtime);
    await wire.open();
    await wire.startJob('far');
    await store.claimJobs({ worker: 'worker_busy', queues: ['gpu'], leaseMs: 60_000, limit: 1 });
    const mail = ['worker_gone', 'worker_busy'].map((worker) => ({ scope: `mail:${worker}`, key: 'k', value: '{}' }));
    await store.commit({ records: mail });
    const unread = async () => (await statusOf(store)).runtimes.map(({ worker, unread: count }) => [worker, count]);
    const [[own]] = (await unread()) as [[string, number]];
    expect(await unread()).toEqual([
      [own, 0],
      ['worker_busy', 1],
      ['worker_gone', 1],
    ]);
    await runtime.trim();
    expect(await unread()).toEqual([
      [own, 0],
      ['worker_busy', 1],
    ]);
  });

  test('calls a runtime lost that has not renewed its presence', async () => {
    const clock = { now: 1_000_000 };
    const store = memoryStore({ now: () => clock.now });
    const runtime = createRuntime({ store: { ...store, now: () => store.now() }, name: 'east' });
    runtimes.push(runtime);
    runtime.start();
    await expect.poll(async () => (await statusOf(store)).runtimes).toMatchObject([{ state: 'running' }]);
    const later = { ...store, now: () => store.now() + 60_000 };
    expect(await statusOf(later)).toMatchObject({ runtimes: [{ state: 'lost', presence: { name: 'east' } }] });
    // Another runtime would serve the queue.
    expect((await statusOf(later)).queues).toEqual([]);
  });

  test('shows a lost runtime for an hour', async () => {
    const store = memoryStore();
    const lost = (worker: string, expiresAt: number) => {
      const presence = { worker, name: worker, queues: [], concurrency: 1, jobs: 0, connections: 0, sessions: 0 };
      const value = JSON.stringify({ ...presence, isDraining: false, startedAt: 1, renewedAt: 1, expiresAt });
      return { scope: 'presence', key: worker, value };
    };
    const [minutes, hours] = [lost('minutes', store.now() - 50 * 60_000), lost('hours', store.now() - 70 * 60_000)];
    await store.commit({ records: [minutes, hours] });
    let renewals = 0;
    const commit: ArcpStore['commit'] = (changes) => {
      if (changes.records?.some(({ key }) => key.startsWith('worker_')) === true) renewals++;
      return store.commit(changes);
    };
    start({ ...store, commit }, { name: 'east', workers: { leaseMs: 30 } });
    await expect.poll(() => renewals).toBeGreaterThan(3);
    const { runtimes: shown } = await statusOf(store);
    expect(shown.map(({ state, presence }) => `${presence?.name} ${state}`)).toEqual(['minutes lost', 'east running']);
  });
});
