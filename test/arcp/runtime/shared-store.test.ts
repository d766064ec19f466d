/** Several runtimes on one file: the runtime of a job and that of its client can differ. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import {
  type ArcpStore,
  createRuntime,
  memoryStore,
  type Runtime,
  type RuntimeOptions,
  StoreError,
  sqliteStore,
} from '../../../src/arcp/runtime/index.js';
import { connectTo, deferred, type Wire } from './wire.js';

const ending: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

/** Two runtimes on one file. The first only accepts connections; the second runs the jobs. */
async function two(
  furnish: (runtime: Runtime) => void,
  front: RuntimeOptions = { workers: { queues: ['nobody'] } },
  back: RuntimeOptions = {},
): Promise<[Wire, Wire]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-shared-'));
  ending.push(() => rmSync(folder, { recursive: true, force: true }));
  const wires: Wire[] = [];
  for (const options of [front, back]) {
    const runtime = createRuntime({ store: await sqliteStore(path.join(folder, 'arcp.db')), ...options });
    furnish(runtime);
    ending.push(() => runtime.close());
    const wire = connectTo(runtime);
    await wire.open();
    wires.push(wire);
  }
  return wires as [Wire, Wire];
}

describe('a job that another runtime runs', () => {
  test('sends its messages in order and once', async () => {
    const [front] = await two((runtime) =>
      runtime.tool('count', { durable: true }, async (_, { progress }) => {
        for (let n = 0; n < 20; n++) await progress({ current: n });
        return 'counted';
      }),
    );
    const { jobId } = await front.startJob('count');
    expect(await front.untilEnded(jobId)).toMatchObject({ payload: { result: 'counted' } });
    const counted = front.ofJob(jobId).flatMap((one) => (one.type === 'job.progress' ? [one.payload.current] : []));
    expect(counted).toEqual(Array.from({ length: 20 }, (_, n) => n));
  });

  test('is awaited by the runtime that started it', async () => {
    // The first runs the queue near, and the second the queue far.
    const [front] = await two(
      (runtime) =>
        runtime
          .agent('far', { queue: 'far' }, ({ task }) => `far ${task}`)
          .agent('near', {}, async (_, { delegate }) => (await delegate('far', 'away')).result()),
      { workers: { queues: ['default'] } },
      { workers: { queues: ['far'] } },
    );
    const accepted = await front.answer('job.accepted', front.send('agent.delegate', { target: 'near', task: '' }));
    expect(await front.untilEnded(accepted.payload.job_id!)).toMatchObject({ payload: { result: 'far away' } });
  });

  test('can be cancelled through any runtime', async () => {
    const [front] = await two((runtime) =>
      runtime.tool(
        'slow',
        { durable: true },
        (_, { signal }) =>
          new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      ),
    );
    const { jobId } = await front.startJob('slow');
    await front.until(({ type }) => type === 'job.started');
    await front.answer('ack', front.send('cancel', { reason: 'Enough' }, { job_id: jobId }));
    expect(await front.untilEnded(jobId)).toMatchObject({ payload: { cause: 'client', reason: 'Enough' } });
  });

  test('can receive a permission through any runtime', async () => {
    const [front] = await two((runtime) =>
      runtime.tool('asks', { durable: true, permissions: ['a.b'] }, async (_, { permission }) => {
        const lease = await permission({ permission: 'a.b' });
        return lease.permission;
      }),
    );
    const { jobId } = await front.startJob('asks');
    const asked = await front.until(({ type }) => type === 'permission.request');
    await front.answer('ack', front.send('permission.grant', {}, { correlation_id: asked.id }));
    expect(await front.untilEnded(jobId)).toMatchObject({ payload: { result: 'a.b' } });
  });

  test('is executed once, whichever runtimes receive the command', async () => {
    let done = 0;
    const wires = await two((runtime) => runtime.tool('once', { durable: true }, () => ++done), {});
    const sent = Array.from({ length: 40 }, (_, n) =>
      wires[n % 2]!.send('tool.invoke', { tool: 'once', operation_key: 'k' }),
    );
    const accepted = await Promise.all(sent.map((one, n) => wires[n % 2]!.answer('job.accepted', one)));
    expect(new Set(accepted.map(({ payload }) => payload.job_id!)).size).toBe(1);
    expect(accepted.filter(({ payload }) => payload.duplicate !== true)).toHaveLength(1);
    await expect.poll(() => done).toBe(1);
  });
});

describe('a runtime that has not yet learned the result of a statement', () => {
  const slow = (runtime: Runtime): Runtime =>
    runtime.tool(
      'slow',
      { durable: true },
      (_, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    );

  function start(options: RuntimeOptions): Runtime {
    const runtime = slow(createRuntime(options));
    ending.push(() => runtime.close());
    runtime.start();
    return runtime;
  }

  /** A gate through which answers pass once it is open. */
  function gate(): { readonly reached: Promise<void>; readonly open: () => void; readonly pass: () => Promise<void> } {
    const [reached, opened] = [deferred(), deferred()];
    const pass = (): Promise<void> => {
      reached.resolve();
      return opened.promise;
    };
    ending.push(() => opened.resolve());
    return { reached: reached.promise, open: opened.resolve, pass };
  }

  const isRead = async (store: ArcpStore): Promise<boolean> => (await store.readStats()).mailboxes.length === 0;
  const shared = (store: ArcpStore, changed: Partial<ArcpStore> = {}): ArcpStore =>
    ({ ...store, durable: store.durable, close: async () => {}, ...changed }) as ArcpStore;

  test('obeys the cancellation of a job that it is claiming', async () => {
    const store = memoryStore();
    const { reached, open, pass } = gate();
    const claimJobs: ArcpStore['claimJobs'] = async (claim) => {
      const rows = await store.claimJobs(claim);
      if (rows.length > 0) await pass();
      return rows;
    };
    const front = start({ store: shared(store), workers: { queues: ['nobody'] } });
    start({ store: shared(store, { claimJobs }) });
    const wire = connectTo(front);
    await wire.open();
    const { jobId } = await wire.startJob('slow');
    await reached;
    expect(await front.cancel(jobId)).toBe(true);
    await expect.poll(() => isRead(store)).toBe(true);
    open();
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.cancelled' });
  });

  test('obeys the cancellation of a job that it is starting', async () => {
    const store = memoryStore();
    const { reached, open, pass } = gate();
    const commit: ArcpStore['commit'] = async (entry) => {
      const result = await store.commit(entry);
      if (entry.newJobs !== undefined && entry.newJobs.length > 0) await pass();
      return result;
    };
    const front = start({ store: shared(store), workers: { queues: ['nobody'] } });
    const wire = connectTo(start({ store: shared(store, { commit }) }));
    await wire.open();
    wire.send('tool.invoke', { tool: 'slow' });
    await reached;
    const [row] = await store.listJobs({ limit: 1 });
    expect(row).toMatchObject({ state: 'running' });
    expect(await front.cancel(row!.jobId)).toBe(true);
    await expect.poll(() => isRead(store)).toBe(true);
    open();
    expect(await wire.untilEnded(row!.jobId)).toMatchObject({ type: 'job.cancelled' });
  });

  test('obeys a cancellation whose record cannot be read at first', async () => {
    const store = memoryStore();
    let failures = 1;
    const readRecord: ArcpStore['readRecord'] = async (scope, key) => {
      if (scope === 'cancel' && failures-- > 0) throw new StoreError('unavailable', 'The store is away');
      return store.readRecord(scope, key);
    };
    const front = start({ store: shared(store), workers: { queues: ['nobody'] } });
    start({ store: shared(store, { readRecord }) });
    const wire = connectTo(front);
    await wire.open();
    const { jobId } = await wire.startJob('slow');
    await wire.until(({ type }) => type === 'job.started');
    expect(await front.cancel(jobId)).toBe(true);
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.cancelled' });
  });

  test('repeats the answer of a command after the events of other runtimes', async () => {
    const store = memoryStore();
    const front = start({ store: shared(store) });
    // It hears of nothing.
    const deaf = start({ store: shared(store, { watch: () => () => undefined }) });
    const [first, second] = [connectTo(front), connectTo(deaf)];
    await first.open();
    const session = (await second.open()).payload;
    const command = first.send('tool.invoke', { tool: 'slow' });
    const accepted = await first.answer('job.accepted', command);
    const event = { id: 'msg_event', type: 'job.accepted', sessionId: session.session_id! };
    const body = JSON.stringify({ ...accepted, id: event.id, session_id: session.session_id });
    await store.commit({ events: [{ ...event, body }] });
    second.send('tool.invoke', { tool: 'slow' }, { id: command.id });
    await second.until(({ id }) => id === accepted.id);
    expect(second.heard.map(({ id }) => id)).toContain(event.id);
    await front.cancel(accepted.payload.job_id!);
  });

  test('claims a job that is queued while it asks for the next time at which one is due', async () => {
    const store = memoryStore();
    const { reached, open, pass } = gate();
    const msUntilDue: ArcpStore['msUntilDue'] = async (queues) => {
      const ms = await store.msUntilDue(queues);
      await pass();
      return ms;
    };
    start({ store: shared(store, { msUntilDue }) });
    await reached;
    const wire = connectTo(start({ store: shared(store), workers: { queues: ['nobody'] } }));
    await wire.open();
    await wire.startJob('slow');
    open();
    // Without a second look, it would be claimed after a second.
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(await store.listJobs({ states: ['running'], limit: 9 })).toHaveLength(1);
  });

  test('claims no more jobs than it may run', async () => {
    const store = memoryStore();
    const { reached, open, pass } = gate();
    const commit: ArcpStore['commit'] = async (entry) => {
      if (entry.events?.some(({ type }) => type === 'job.started') === true) await pass();
      return store.commit(entry);
    };
    const front = start({ store: shared(store), workers: { queues: ['nobody'] } });
    const wire = connectTo(front);
    await wire.open();
    await Promise.all(Array.from({ length: 6 }, () => wire.startJob('slow')));
    const back = start({ store: shared(store, { commit }), workers: { concurrency: 2 } });
    await reached;
    // Each new job makes the runtime look for jobs.
    for (let n = 0; n < 3; n++) await wire.startJob('slow');
    const running = await store.listJobs({ states: ['running'], limit: 9 });
    expect(running).toHaveLength(2);
    expect(back.counts().jobs).toBe(2);
    open();
    for (const { jobId } of running) await front.cancel(jobId);
    await expect
      .poll(() => running.every(({ jobId }) => wire.ofJob(jobId).at(-1)?.type === 'job.cancelled'))
      .toBe(true);
  });
});
