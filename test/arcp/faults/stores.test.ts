/** Failures of stores: full, locked, read-only, or taken over by another runtime; and a runtime that resumes too late. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterEach, describe, expect, test } from 'vitest';
import { checkLog, type Envelope } from '../../../src/arcp/index.js';
import {
  type ArcpStore,
  createRuntime,
  type JobContext,
  memoryStore,
  type Runtime,
  StoreError,
  sqliteStore,
} from '../../../src/arcp/runtime/index.js';
import type { Database } from '../../../src/storage/database.js';
import { platformDriver } from '../../../src/storage/platform.js';
import { connectTo, deferred, type Wire } from '../runtime/wire.js';

const ending: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

function folder(): string {
  const made = mkdtempSync(path.join(tmpdir(), 'pegwire-stores-'));
  ending.push(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

function start(store: ArcpStore, workers = {}): Runtime {
  const runtime = createRuntime({ store, workers });
  ending.push(() => runtime.close());
  return runtime;
}

async function opened(runtime: Runtime): Promise<Wire> {
  const wire = connectTo(runtime);
  await wire.open();
  return wire;
}

/** A store in a file, and its database, whose limits can be changed. */
async function tapped(): Promise<{ readonly store: ArcpStore; readonly database: Database }> {
  const open = await platformDriver();
  let database: Database;
  const store = await sqliteStore(path.join(folder(), 'arcp.db'), {
    driver: (file) => {
      database = open(file);
      return database;
    },
  });
  return { store, database: database! };
}

/** A store that fails on demand. */
function failing(store: ArcpStore): { readonly store: ArcpStore; fail: (reason?: StoreError['reason']) => void } {
  let reason: StoreError['reason'] | undefined;
  const commit: ArcpStore['commit'] = async (entry) => {
    if (reason !== undefined) throw new StoreError(reason, `it is ${reason}`);
    return store.commit(entry);
  };
  return {
    store: { ...store, durable: store.durable, commit } as ArcpStore,
    fail: (why) => {
      reason = why;
    },
  };
}

describe('a store that is', () => {
  test.each(['full', 'busy', 'unavailable'] as const)(
    '%s: commands are refused with a retryable error',
    async (reason) => {
      const { store, fail } = failing(memoryStore());
      const wire = await opened(start(store).tool('echo', { durable: true }, (input) => input));
      fail(reason);
      const refused = await wire.answer('nack', wire.send('tool.invoke', { tool: 'echo' }));
      expect(refused.payload).toMatchObject({ code: 'UNAVAILABLE', retryable: true, details: { reason } });
      fail(undefined);
      const { jobId } = await wire.startJob('echo', { arguments: { a: 1 } });
      expect(await wire.untilEnded(jobId)).toMatchObject({ payload: { result: { a: 1 } } });
    },
  );

  test('full during a job: no message is sent that is not stored, and all are sent when there is space', async () => {
    const { store, fail } = failing(memoryStore());
    const [begun, more] = [deferred(), deferred()];
    const runtime = start(store).tool('talk', { durable: true }, async (_, { progress }) => {
      await progress({ current: 1 });
      begun.resolve();
      await more.promise;
      void progress({ current: 2 });
      await progress({ current: 3 });
      return 'said';
    });
    const wire = await opened(runtime);
    const { jobId } = await wire.startJob('talk');
    await begun.promise;
    fail('full');
    more.resolve();
    await new Promise((resolve) => setTimeout(resolve, 150));
    const said = wire.ofJob(jobId).length;
    expect(wire.ofJob(jobId).some((one) => one.type === 'job.progress' && one.payload.current === 2)).toBe(false);
    // A ping is answered, since the session is alive.
    await wire.answer('pong', wire.send('ping'));
    fail(undefined);
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.completed' });
    expect(wire.ofJob(jobId).length).toBe(said + 3);
  });

  test('on a full disk: commands are refused, no message is sent that is not stored, and it recovers', async () => {
    const { store, database } = await tapped();
    const wire = await opened(start(store).tool('fill', { durable: true }, ({ text }) => text));
    const { page_count: pages } = database.prepare('PRAGMA page_count').get()!;
    database.exec(`PRAGMA max_page_count = ${Number(pages) + 12}`);
    const answers: Envelope[] = [];
    while (!answers.some(({ type }) => type === 'nack')) {
      const sent = wire.send('tool.invoke', { tool: 'fill', arguments: { text: 'x'.repeat(10_000) } });
      answers.push(
        await wire.until(({ correlation_id, type }) => correlation_id === sent.id && type !== 'job.completed'),
      );
    }
    expect(answers.at(-1)!.payload).toMatchObject({
      code: 'UNAVAILABLE',
      retryable: true,
      details: { reason: 'full' },
    });
    const ids = async (): Promise<Set<string>> =>
      new Set((await store.readEvents({ limit: 1000 })).map(({ id }) => id));
    const stored = await ids();
    expect(
      wire.heard.filter(({ type, id }) => type.startsWith('job.') && type !== 'job.heartbeat' && !stored.has(id)),
    ).toEqual([]);
    database.exec('PRAGMA max_page_count = 1000000');
    for (const answer of answers.slice(0, -1)) {
      expect(await wire.untilEnded(answer.job_id!)).toMatchObject({ type: 'job.completed' });
    }
  });

  test('locked by another process: commands wait or are refused, and then continue', async () => {
    const file = path.join(folder(), 'arcp.db');
    const wire = await opened(
      start(await sqliteStore(file, { busyTimeoutMs: 50 })).tool('echo', { durable: true }, (input) => input),
    );
    const lock = `import { DatabaseSync } from '@photostructure/sqlite';
      const db = new DatabaseSync(${JSON.stringify(file)});
      db.exec('BEGIN IMMEDIATE');
      console.log('locked');
      setTimeout(() => db.exec('ROLLBACK'), 400);`;
    const locker = spawn(process.execPath, ['--input-type=module', '-e', lock]);
    const over = new Promise((resolve) => locker.once('close', resolve));
    await new Promise((resolve) => locker.stdout.once('data', resolve));
    const refused = await wire.answer('nack', wire.send('tool.invoke', { tool: 'echo' }));
    expect(refused.payload).toMatchObject({ code: 'UNAVAILABLE', retryable: true, details: { reason: 'busy' } });
    await over;
    const { jobId } = await wire.startJob('echo');
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.completed' });
  });

  test('read-only: commands are refused, and no message is sent that is not stored', async () => {
    const { store, database } = await tapped();
    const wire = await opened(start(store).tool('echo', { durable: true }, (input) => input));
    database.exec('PRAGMA query_only = ON');
    const refused = await wire.answer('nack', wire.send('tool.invoke', { tool: 'echo' }));
    expect(refused.payload).toMatchObject({ code: 'UNAVAILABLE', retryable: true });
    expect(wire.types().filter((type) => type.startsWith('job.'))).toEqual([]);
    database.exec('PRAGMA query_only = OFF');
    const { jobId } = await wire.startJob('echo');
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.completed' });
  });
});

describe('a runtime that sleeps longer than its lease', () => {
  type Context = Pick<JobContext, 'progress' | 'attempt' | 'step'>;

  /** Two runtimes on one store: the first stops during a job, the second takes over, and then the first continues. */
  async function zombie(
    store: ArcpStore,
    commit: ArcpStore['commit'] = store.commit,
  ): Promise<{ readonly stored: Envelope[]; readonly effects: number[] }> {
    const effects: number[] = [];
    const [begun, woken] = [deferred(), deferred()];
    let isFirst = true;
    const work = async (_: unknown, { progress, attempt, step }: Context): Promise<number> => {
      if (isFirst) {
        isFirst = false;
        begun.resolve();
        await woken.promise;
      }
      await progress({ current: attempt });
      await step('effect', () => effects.push(attempt));
      return attempt;
    };
    // A stopped runtime does not notice that its leases are lost, and claims no jobs.
    const renewLeases: ArcpStore['renewLeases'] = async ({ jobs }) =>
      (await Promise.all(jobs.map(({ jobId }) => store.readJob(jobId)))).flatMap((row, at) =>
        row === undefined ? [] : [{ ...row, attempt: jobs[at]!.attempt }],
      );
    const claimJobs: ArcpStore['claimJobs'] = async () => [];
    const blind = { ...store, durable: store.durable, renewLeases, claimJobs, commit } as ArcpStore;
    const first = start(blind, { leaseMs: 50 }).tool('work', { durable: true }, work);
    const wire = await opened(first);
    const { jobId } = await wire.startJob('work');
    await begun.promise;
    const second = start({ ...store, durable: store.durable } as ArcpStore, { leaseMs: 1000 }).tool(
      'work',
      { durable: true },
      work,
    );
    second.start();
    await expect.poll(async () => (await store.readJob(jobId))?.state, { timeout: 10_000 }).toBe('completed');
    woken.resolve();
    await new Promise((resolve) => setTimeout(resolve, 100));
    const stored = (await store.readEvents({ jobId: jobId, limit: 100 })).map(
      ({ body }) => JSON.parse(body) as Envelope,
    );
    return { stored, effects };
  }

  test('is fenced off: none of its messages is stored, and it stops', async () => {
    const { stored, effects } = await zombie(memoryStore());
    expect(checkLog(stored, { isComplete: true })).toEqual([]);
    expect(effects).toEqual([2]);
  });

  test('sends more on a store without fencing, which the test detects', async () => {
    const store = memoryStore();
    const { stored } = await zombie(store, ({ jobs: _, events = [], ...entry }) =>
      store.commit({ ...entry, events: events.map(({ isTerminal: __, ...event }) => event) }),
    );
    expect(checkLog(stored, { isComplete: true }).map(({ rule }) => rule)).toContain('end-is-last');
  });
});

describe('a runtime that drains', () => {
  test('requeues jobs that do not end in time, and the next runtime continues them', async () => {
    const store = memoryStore();
    const shared = { ...store, durable: store.durable, close: async () => {} } as ArcpStore;
    const work = async (_: unknown, { restored, checkpoint, signal }: JobContext): Promise<unknown> => {
      if (restored !== undefined) return `after ${restored}`;
      await checkpoint('the first half');
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    };
    const first = start(shared)
      .tool('work', { durable: true }, work)
      .tool('quick', { durable: true }, () => 'done');
    const wire = await opened(first);
    const works = await Promise.all(Array.from({ length: 10 }, () => wire.startJob('work')));
    await wire.until((one) => one.type === 'job.checkpoint' && one.job_id === works[9]!.jobId);
    await first.drain(20);
    const refused = await wire.answer('nack', wire.send('tool.invoke', { tool: 'quick' }));
    expect(refused.payload).toMatchObject({ code: 'UNAVAILABLE', retryable: true });
    await first.close();
    const second = start(shared).tool('work', { durable: true }, work);
    second.start();
    for (const { jobId } of works)
      await expect.poll(async () => (await store.readJob(jobId))?.state, { timeout: 5000 }).toBe('completed');
    const stored = (await store.readEvents({ limit: 1000 })).map(({ body }) => JSON.parse(body) as Envelope);
    expect(checkLog(stored, { isComplete: true })).toEqual([]);
  });

  test('counts the attempts of earlier runtimes', async () => {
    const store = memoryStore();
    const shared = { ...store, durable: store.durable, close: async () => {} } as ArcpStore;
    const begun: { readonly attempt: number; readonly at: number }[] = [];
    const tool = (runtime: Runtime): Runtime =>
      runtime.tool('flaky', { durable: true, retry: { maxAttempts: 4, backoffMs: 1 } }, (_, { attempt }) => {
        begun.push({ attempt, at: Date.now() });
        throw Object.assign(new Error('limited'), { name: 'TimeoutError' });
      });
    // A runtime that is closed while it claims the job leaves a lease.
    const workers = { leaseMs: 100 };
    let runtime = tool(start(shared, workers));
    const wire = await opened(runtime);
    const { jobId } = await wire.startJob('flaky');
    for (let n = 0; n < 3; n++) {
      await runtime.close();
      runtime = tool(start(shared, workers));
      runtime.start();
      await expect.poll(() => begun.length, { timeout: 5000 }).toBeGreaterThan(n);
    }
    await expect.poll(async () => (await store.readJob(jobId))?.state, { timeout: 5000 }).toBe('failed');
    const failed = JSON.parse(
      (await store.readEvents({ jobId: jobId, limit: 100 })).at(-1)!.body,
    ) as Envelope<'job.failed'>;
    expect(failed.payload.code).toBe('DEADLINE_EXCEEDED');
    expect(new Set(begun.map(({ attempt }) => attempt)).size).toBe(begun.length);
  });
});
