/** Questions and messages of the runtimes of one store to each other. */
import { afterEach, describe, expect, test } from 'vitest';
import {
  type ArcpStore,
  createRuntime,
  memoryStore,
  type Runtime,
  type RuntimeOptions,
} from '../../../src/arcp/runtime/index.js';
import { connectTo, deferred } from './wire.js';

/** Machines that run tests can be slow. */
const PATIENT = { timeout: 20_000 };
const PAUSED = { desired_rate_per_second: 0, buffer_remaining_bytes: 0 };
const ending: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

/** Returns a store for several runtimes, with the messages that they send to each other, and the scopes of the records that are read. */
function shared() {
  const store = memoryStore();
  ending.push(() => store.close());
  const mails: { readonly kind: string }[] = [];
  const reads: string[] = [];
  const open = (): ArcpStore => ({
    ...store,
    close: async () => undefined,
    commit: (entry) => {
      for (const { scope, value } of entry.records ?? [])
        if (scope.startsWith('mail:') && typeof value === 'string') mails.push(JSON.parse(value));
      return store.commit(entry);
    },
    readRecord: (scope, key) => {
      reads.push(scope);
      return store.readRecord(scope, key);
    },
    listRecords: (scope, page) => {
      reads.push(`list ${scope}`);
      return store.listRecords(scope, page);
    },
  });
  const sent = (kind: string): number => mails.filter((mail) => mail.kind === kind).length;
  return { open, sent, reads };
}

function start(open: () => ArcpStore, queue: string, furnish: (runtime: Runtime) => void, options?: RuntimeOptions) {
  const runtime = createRuntime({ store: open(), ...options, workers: { queues: [queue], ...options?.workers } });
  ending.push(() => runtime.close());
  furnish(runtime);
  runtime.start();
  return runtime;
}

describe('a job that writes to a client of another runtime', () => {
  const LENGTH = 100_000;

  /** The tool `write` writes a number of chunks, in the other runtime. */
  const writer = (runtime: Runtime): unknown =>
    runtime.tool('write', { durable: true, queue: 'far' }, async ({ chunks }, { stream }) => {
      const out = stream({ kind: 'text' });
      for (let n = 0; n < Number(chunks); n++) await out.write('x'.repeat(LENGTH));
      await out.close();
      return 'written';
    });

  test('asks for the progress of the client only while it writes many chunks', async () => {
    const { open, sent } = shared();
    const wire = connectTo(start(open, 'near', writer));
    start(open, 'far', writer);
    await wire.open();
    for (let n = 0; n < 4; n++)
      await wire.untilEnded((await wire.startJob('write', { arguments: { chunks: 10 } })).jobId);
    expect(sent('drain')).toBe(0);
    await wire.untilEnded((await wire.startJob('write', { arguments: { chunks: 40 } })).jobId);
    expect(sent('drain')).toBeGreaterThan(0);
  });

  test('receives one reply, however often it has asked', async () => {
    const { open, sent } = shared();
    const workers = { leaseMs: 300 };
    const wire = connectTo(start(open, 'near', writer, { workers: { ...workers, queues: ['near'] } }));
    start(open, 'far', writer, { workers: { ...workers, queues: ['far'] } });
    await wire.open();
    const { jobId } = await wire.startJob('write', { arguments: { chunks: 40 } });
    wire.channel.pause();
    ending.push(() => wire.channel.resume());
    await expect.poll(() => sent('drain') - sent('reply'), PATIENT).toBeGreaterThan(3);
    const [asked, answered] = [sent('drain'), sent('reply')];
    wire.channel.resume();
    await wire.untilEnded(jobId);
    // Later questions may have replies of their own.
    expect(sent('reply') - answered).toBeLessThanOrEqual(1 + sent('drain') - asked);
  });
});

test('a session that was closed does not pause the streams of its jobs any more', async () => {
  for (const queue of ['near', 'far']) {
    const { open } = shared();
    const begun = deferred();
    const tools = (runtime: Runtime): unknown =>
      runtime.tool('write', { durable: true, queue }, async (_, { stream }) => {
        const out = stream({ kind: 'text' });
        begun.resolve();
        for (let n = 0; n < 10; n++) await out.write('x');
        await out.close();
      });
    const front = start(open, 'near', tools);
    start(open, 'far', tools);
    const wire = connectTo(front);
    await wire.open();
    wire.send('backpressure', PAUSED);
    const { jobId } = await wire.startJob('write');
    await begun.promise;
    await wire.answer('ack', wire.send('session.close', { jobs: 'detach' }));
    const store = open();
    await expect.poll(async () => (await store.readJob(jobId))?.state, PATIENT).toBe('completed');
  }
});

test('a runtime looks up another one once, however many streams it receives', async () => {
  const { open, reads } = shared();
  const tools = (runtime: Runtime): unknown =>
    runtime.tool('wait', { durable: true }, (_, { signal }) => {
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
  const wire = connectTo(start(open, 'default', tools));
  await wire.open();
  const { jobId } = await wire.startJob('wait');
  const streams = 20;
  for (let n = 0; n < streams; n++) wire.send('stream.open', { kind: 'text' }, { stream_id: `up-${n}`, job_id: jobId });
  const store = open();
  await expect.poll(async () => (await store.listRecords('upload', { limit: 100 })).length, PATIENT).toBe(streams);
  reads.length = 0;
  start(open, 'other', tools);
  await expect.poll(() => reads, PATIENT).toContain('presence');
  for (let turn = 0; turn < 5 * streams; turn++) await new Promise((resolve) => setImmediate(resolve));
  const count = (scope: string): number => reads.filter((one) => one === scope).length;
  expect(count('presence')).toBeLessThanOrEqual(count('list upload'));
});
