/**
 * A job that the runtime of its client runs, and one that another runtime of the same store runs: what the client sees must be the same. Each
 * implementation of a shared store runs these tests.
 */
import { afterEach, describe, expect, test } from 'vitest';
import type { Envelope } from '../../../src/arcp/index.js';
import { type ArcpStore, createRuntime, type Runtime, type RuntimeOptions } from '../../../src/arcp/runtime/index.js';
import type { Channel } from '../../../src/channels/channel.js';
import { memoryChannels } from '../../../src/channels/memory.js';
import { sized } from '../../helpers/runs.js';
import { CAPABILITIES, connectTo, deferred, Wire } from './wire.js';

/** Chunks of a stream that exceed all buffers. */
const CHUNKS = sized(150, 400);

/** Creates an empty store, and returns the function with which each runtime opens it. */
export type NewStore = () => Promise<() => Promise<ArcpStore>>;

// biome-ignore lint/suspicious/noThenProperty: the protocol names it.
const PAUSING = { then: 'pause' };

const ending: (() => Promise<unknown> | unknown)[] = [];

export function describeElsewhere(name: string, newStore: NewStore): void {
  afterEach(async () => {
    for (const end of ending.splice(0).toReversed()) await end();
  });

  /** Starts runtimes of one store. */
  async function runtimes(count: number, furnish: (runtime: Runtime) => void, options: RuntimeOptions[] = []) {
    const open = await newStore();
    const all: Runtime[] = [];
    for (let n = 0; n < count; n++) {
      const store = await open();
      const runtime = createRuntime({
        store,
        heartbeatMs: 50,
        ...options[n],
        workers: { leaseMs: 3000, ...options[n]?.workers },
      });
      ending.push(() => runtime.close());
      furnish(runtime);
      runtime.start();
      all.push(runtime);
    }
    return all;
  }

  /**
   * Plays a scene twice, at the same time: in the first, the job runs in the runtime of the client; in the second, in the other one. The tools of
   * `furnish` get the queue of the scene. Returns what both scenes observed.
   */
  async function both<T>(
    furnish: (runtime: Runtime, queue: string) => void,
    scene: (wire: Wire, queue: string) => Promise<T>,
    capabilities: object = {},
  ): Promise<readonly [same: T, other: T]> {
    const play = async (queue: string): Promise<T> => {
      const queues = [{ workers: { queues: ['near'] } }, { workers: { queues: ['far'] } }];
      const [front] = await runtimes(2, (runtime) => furnish(runtime, queue), queues);
      const wire = connectTo(front!);
      await wire.open({ capabilities: { ...CAPABILITIES, ...capabilities } });
      return scene(wire, queue);
    };
    return Promise.all([play('near'), play('far')]);
  }

  const untilAborted = (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

  const payloadsOf = (messages: readonly Envelope[], type: string): unknown[] =>
    messages.filter((one) => one.type === type).map(({ payload }) => payload);

  describe(`${name}: the client sees the same, whichever runtime runs the job`, () => {
    test('heartbeats', async () => {
      const seen = await both(
        (runtime, queue) => runtime.tool('slow', { durable: true, queue }, (_, { signal }) => untilAborted(signal)),
        async (wire) => {
          const { jobId } = await wire.startJob('slow');
          await wire.until(({ type }) => type === 'job.heartbeat');
          await wire.until(({ type }) => type === 'job.heartbeat', wire.heard.length);
          const beats = wire.ofJob(jobId).filter(({ type }) => type === 'job.heartbeat') as Envelope<'job.heartbeat'>[];
          return beats.slice(0, 2).map(({ payload: { state, attempt, sequence, deadline_ms } }) => ({
            ...{ state, attempt, sequence, deadline_ms },
          }));
        },
      );
      expect(seen[1]).toEqual(seen[0]);
      expect(seen[1]).toMatchObject([
        { state: 'running', attempt: 1, sequence: 0 },
        { state: 'running', attempt: 1, sequence: 1 },
      ]);
    });

    test('checkpoints on demand, with the snapshot of the job', async () => {
      const seen = await both(
        (runtime, queue) =>
          runtime.tool('counts', { durable: true, queue }, async (_, { signal, onCheckpoint, restored }) => {
            if (restored !== undefined) return `restored ${restored}`;
            onCheckpoint(() => 7);
            return untilAborted(signal);
          }),
        async (wire) => {
          const { jobId } = await wire.startJob('counts');
          await wire.until(({ type }) => type === 'job.started');
          const created = wire.send('checkpoint.create', { label: 'now' }, { job_id: jobId });
          const checkpoint = await wire.answer('job.checkpoint', created);
          // The same command has the same answer.
          wire.send('checkpoint.create', { label: 'now' }, { id: created.id, job_id: jobId });
          await wire.until(({ id }) => id === checkpoint.id, wire.heard.indexOf(checkpoint) + 1);
          const { checkpoint_id } = checkpoint.payload;
          await wire.answer('ack', wire.send('checkpoint.restore', { checkpoint_id }, { job_id: jobId }));
          const last = await wire.untilEnded(jobId);
          const started = payloadsOf(wire.ofJob(jobId), 'job.started') as { attempt: number }[];
          const { label, sequence } = checkpoint.payload;
          return {
            label,
            sequence,
            last: (last.payload as { result: unknown }).result,
            attempts: started.map(({ attempt }) => attempt),
          };
        },
      );
      expect(seen[1]).toEqual(seen[0]);
      expect(seen[1]).toEqual({ label: 'now', sequence: 1, last: 'restored 7', attempts: [1, 2] });
    });

    test('a checkpoint that pauses, and the continuation', async () => {
      let runs = 0;
      const seen = await both(
        (runtime, queue) =>
          runtime.tool('pausable', { durable: true, queue }, async (_, { signal, onCheckpoint, restored }) => {
            runs++;
            onCheckpoint(() => 'place');
            return restored ?? untilAborted(signal);
          }),
        async (wire) => {
          const { jobId } = await wire.startJob('pausable');
          await wire.until(({ type }) => type === 'job.started');
          await wire.answer('job.checkpoint', wire.send('checkpoint.create', PAUSING, { job_id: jobId }));
          const moved = (message: Envelope): boolean =>
            message.type === 'event.emit' && message.payload.attributes?.['to'] === 'paused';
          await wire.until(moved);
          wire.send('resume', {}, { job_id: jobId });
          const last = await wire.untilEnded(jobId);
          return { type: last.type, result: (last.payload as { result?: unknown }).result };
        },
      );
      expect(seen[1]).toEqual(seen[0]);
      expect(seen[1]).toEqual({ type: 'job.completed', result: 'place' });
      expect(runs).toBe(4);
    });

    test('handoff to another agent', async () => {
      const seen = await both(
        (runtime, queue) =>
          runtime
            .agent('first', { queue }, (_, { signal }) => untilAborted(signal))
            .agent('second', { queue }, (_, { handoff }) => `from ${handoff?.from}`),
        async (wire) => {
          const sent = wire.send('agent.delegate', { target: 'first', task: '' });
          const { job_id: jobId } = (await wire.answer('job.accepted', sent)).payload;
          await wire.until(({ type }) => type === 'job.started');
          await wire.answer('ack', wire.send('agent.handoff', { target: 'second', job_id: jobId }));
          return (await wire.untilEnded(jobId!)).payload;
        },
      );
      expect(seen.map((payload) => (payload as { result: unknown }).result)).toEqual(['from first', 'from first']);
    });

    test('cancellation of one stream', async () => {
      const seen = await both(
        (runtime, queue) =>
          runtime.tool('talks', { durable: true, queue }, async (_, { stream }) => {
            const out = stream({ kind: 'text', name: 'out' });
            for (let n = 0; n < 100; n++) {
              await out.write('x').catch(() => undefined);
              await new Promise((resolve) => setTimeout(resolve, 2));
            }
            return 'done';
          }),
        async (wire) => {
          const { jobId } = await wire.startJob('talks');
          const { stream_id } = await wire.until(({ type }) => type === 'stream.chunk');
          await wire.answer('ack', wire.send('cancel', { reason: 'Enough' }, { stream_id }));
          const { code } = (await wire.until(({ type }) => type === 'stream.error')).payload as { code: string };
          const unknown = wire.send('cancel', {}, { stream_id: 'str_unknown' });
          const refused = await wire.answer('nack', unknown);
          return { code, refused: refused.payload.code, result: (await wire.untilEnded(jobId)).payload };
        },
      );
      expect(seen[1]).toMatchObject({ code: 'CANCELLED', refused: 'NOT_FOUND', result: { result: 'done' } });
      expect(seen[0]).toMatchObject({ code: 'CANCELLED', refused: 'NOT_FOUND', result: { result: 'done' } });
    });

    const writer = (runtime: Runtime, queue: string): unknown =>
      runtime.tool('writes', { durable: true, queue }, async (_, { stream }) => {
        const out = stream({ kind: 'text', name: 'out' });
        for (let n = 0; n < CHUNKS; n++) await out.write(`${n} `.padEnd(30_000, 'x'));
        await out.close();
        return 'written';
      });

    test('backpressure: a client that pauses a session, also before its streams are open', async () => {
      const seen = await both(writer, async (wire) => {
        wire.send('backpressure', { desired_rate_per_second: 0, buffer_remaining_bytes: 0 });
        const { jobId } = await wire.startJob('writes');
        await wire.until(({ type }) => type === 'stream.open');
        await new Promise((resolve) => setTimeout(resolve, 100));
        const chunks = payloadsOf(wire.ofJob(jobId), 'stream.chunk').length;
        wire.send('backpressure', {});
        await wire.untilEnded(jobId);
        return { isPaused: chunks <= 1, all: payloadsOf(wire.ofJob(jobId), 'stream.chunk').length };
      });
      expect(seen).toEqual([
        { isPaused: true, all: CHUNKS },
        { isPaused: true, all: CHUNKS },
      ]);
    });

    test('backpressure: a client that pauses one stream', async () => {
      const seen = await both(writer, async (wire) => {
        const { jobId } = await wire.startJob('writes');
        const { stream_id } = await wire.until(({ type }) => type === 'stream.open');
        wire.send('backpressure', { desired_rate_per_second: 0, buffer_remaining_bytes: 0 }, { stream_id });
        const count = (): number => payloadsOf(wire.ofJob(jobId), 'stream.chunk').length;
        // The runtime of the job learns of it in some time.
        for (let before = -1; before !== count(); ) {
          before = count();
          await new Promise((resolve) => setTimeout(resolve, 200));
        }
        const isPaused = count() < CHUNKS;
        wire.send('backpressure', {}, { stream_id });
        await wire.untilEnded(jobId);
        return { isPaused, all: payloadsOf(wire.ofJob(jobId), 'stream.chunk').length };
      });
      expect(seen).toEqual([
        { isPaused: true, all: CHUNKS },
        { isPaused: true, all: CHUNKS },
      ]);
    });

    test('a client that does not read: the job waits, and the store holds a few chunks', async () => {
      const play = async (queue: string): Promise<unknown> => {
        const open = await newStore();
        const store = await open();
        ending.push(() => store.close());
        const stores = [await open(), await open()];
        const [front] = stores.map((each, n) => {
          const runtime = createRuntime({ store: each, workers: { queues: [['near'], ['far']][n]! } });
          ending.push(() => runtime.close());
          writer(runtime, queue);
          runtime.start();
          return runtime;
        });
        const [here, there] = memoryChannels();
        const gate = deferred();
        let isOpen = false;
        // A connection whose client does not read.
        const slow: Channel = {
          ...bound(there),
          backlog: () => (isOpen ? 0 : 2 ** 24),
          ready: () => (isOpen ? undefined : gate.promise),
        };
        void front!.accept(slow);
        const wire = new Wire(here);
        const sessionId = (await wire.open()).payload.session_id;
        wire.send('tool.invoke', { tool: 'writes' });
        const stored = async (): Promise<number> => {
          const events = await store.readEvents({ sessionId, limit: 1000 });
          return events.filter(({ type }) => type === 'stream.chunk').length;
        };
        await expect
          .poll(() => store.readEvents({ sessionId, limit: 9 }).then(({ length }) => length))
          .toBeGreaterThan(2);
        await new Promise((resolve) => setTimeout(resolve, 300));
        const held = await stored();
        isOpen = true;
        gate.resolve();
        await wire.until(({ type }) => type === 'job.completed');
        const chunks = payloadsOf(wire.heard, 'stream.chunk').length;
        return { isHeld: held <= 50, chunks };
      };
      const seen = await Promise.all([play('near'), play('far')]);
      expect(seen).toEqual([
        { isHeld: true, chunks: CHUNKS },
        { isHeld: true, chunks: CHUNKS },
      ]);
    });

    test('the permission of a client ends the wait of the job at once', async () => {
      const seen = await both(
        (runtime, queue) =>
          runtime.tool('asks', { durable: true, queue, permissions: ['a.b'] }, async (_, { permission }) => {
            const lease = await permission({ permission: 'a.b' });
            return lease.permission;
          }),
        async (wire) => {
          const { jobId } = await wire.startJob('asks');
          const asked = await wire.until(({ type }) => type === 'permission.request');
          await wire.answer('ack', wire.send('permission.grant', {}, { correlation_id: asked.id }));
          return (await wire.untilEnded(jobId)).payload;
        },
      );
      expect(seen).toMatchObject([{ result: 'a.b' }, { result: 'a.b' }]);
    });
  });

  describe(`${name}: the streams of a client`, () => {
    const send = (wire: Wire, stream_id: string, chunks: readonly object[], closes = true): void => {
      for (const [sequence, chunk] of chunks.entries())
        wire.send('stream.chunk', { sequence, ...chunk }, { stream_id });
      if (closes) wire.send('stream.close', { total_chunks: chunks.length }, { stream_id });
    };
    const bytes = (...values: number[]): object => ({
      data: Buffer.from(values).toString('base64'),
      encoding: 'base64',
    });

    test('reach the job, and pause a client that is faster', async () => {
      const gates = new Map(['near', 'far'].map((queue) => [queue, deferred()]));
      const seen = await both(
        (runtime, queue) => {
          runtime.tool('reads', { durable: true, queue }, async (_, { incoming }) => {
            // Both are requested before one of them is open.
            const [texts, binaries] = [incoming('text'), incoming('binary')];
            const numbers: number[] = [];
            for await (const piece of binaries) numbers.push(...piece);
            await gates.get(queue)!.promise;
            let text = '';
            for await (const piece of texts) text += piece;
            return { text, numbers };
          });
        },
        async (wire, queue) => {
          const { jobId } = await wire.startJob('reads');
          wire.send('stream.open', { kind: 'text' }, { stream_id: 'words', job_id: jobId });
          wire.send('stream.open', { kind: 'binary' }, { stream_id: 'bytes', job_id: jobId });
          const words = Array.from({ length: 300 }, (__, n) => ({ data: `${n} ` }));
          send(wire, 'words', words.slice(0, 200), false);
          send(wire, 'bytes', [bytes(0, 255), bytes(128)]);
          const pressure = (isFull: boolean) =>
            wire.until(
              ({ type, stream_id, payload }) =>
                type === 'backpressure' &&
                stream_id === 'words' &&
                ('desired_rate_per_second' in payload && payload['desired_rate_per_second'] === 0) === isFull,
            );
          await pressure(true);
          gates.get(queue)!.resolve();
          await pressure(false);
          for (let n = 200; n < 300; n++)
            wire.send('stream.chunk', { sequence: n, data: `${n} ` }, { stream_id: 'words' });
          wire.send('stream.close', { total_chunks: 300 }, { stream_id: 'words' });
          const { payload } = await wire.untilEnded(jobId);
          return (payload as { result: unknown }).result;
        },
        { binary_streams: true },
      );
      const text = Array.from({ length: 300 }, (__, n) => `${n} `).join('');
      expect(seen).toEqual([
        { text, numbers: [0, 255, 128] },
        { text, numbers: [0, 255, 128] },
      ]);
    });

    test('are refused if they lack chunks, and when the job ends', async () => {
      const seen = await both(
        (runtime, queue) =>
          runtime.tool('reads', { durable: true, queue }, async (_, { incoming }) => {
            try {
              for await (const piece of incoming('gap')) void piece;
            } catch (error) {
              return (error as { code: string }).code;
            }
            return 'complete';
          }),
        async (wire) => {
          const { jobId } = await wire.startJob('reads');
          wire.send('stream.open', { kind: 'text', name: 'idle' }, { stream_id: 'idle', job_id: jobId });
          wire.send('stream.open', { kind: 'text', name: 'gap' }, { stream_id: 'gap', job_id: jobId });
          wire.send('stream.chunk', { sequence: 0, data: 'a' }, { stream_id: 'gap' });
          wire.send('stream.close', { total_chunks: 2 }, { stream_id: 'gap' });
          const codeOf = async (streamId: string): Promise<unknown> => {
            const refused = await wire.until((one) => one.type === 'stream.error' && one.stream_id === streamId);
            return (refused.payload as { code: string }).code;
          };
          const codes = [await codeOf('gap'), await codeOf('idle')];
          wire.send('stream.open', { kind: 'text' }, { stream_id: 'late', job_id: jobId });
          return [
            ...codes,
            await codeOf('late'),
            ((await wire.untilEnded(jobId)).payload as { result: unknown }).result,
          ];
        },
      );
      const expected = ['DATA_LOSS', 'CANCELLED', 'FAILED_PRECONDITION', 'DATA_LOSS'];
      expect(seen).toEqual([expected, expected]);
    });

    /** Starts runtimes whose tool reads a stream. Returns the function that ends the first one without a trace, and their store. */
    async function cluster(queues: readonly (readonly string[])[], got: (piece: string, attempt: number) => void) {
      const open = await newStore();
      const store = await open();
      ending.push(() => store.close());
      let isDead = false;
      const never = new Promise<never>(() => undefined);
      const all: Runtime[] = [];
      for (const served of queues) {
        const inner = await open();
        const own = all.length === 0;
        const isGone = (): boolean => own && isDead;
        // A dead process neither asks nor receives answers.
        const alive = async <T>(ask: () => Promise<T>): Promise<T> => {
          const answer = isGone() ? never : await ask();
          return isGone() ? never : answer;
        };
        const mortal: ArcpStore = {
          ...bound(inner),
          watch: (onChange) => inner.watch((change) => void (isGone() || onChange(change))),
          readEvents: (query) => alive(() => inner.readEvents(query)),
          listRecords: (...query) => alive(() => inner.listRecords(...query)),
          renewLeases: (renewal) => alive(() => inner.renewLeases(renewal)),
          claimJobs: (claim) => alive(() => inner.claimJobs(claim)),
          commit: (commit) => alive(() => inner.commit(commit)),
        };
        const runtime = createRuntime({ store: mortal, workers: { queues: served, leaseMs: 300 } });
        ending.push(async () => {
          if (own) isDead = false;
          await runtime.close();
        });
        runtime.tool('reads', { durable: true, queue: 'far' }, async (_, { incoming, attempt }) => {
          let text = '';
          for await (const piece of incoming()) {
            text += piece as string;
            got(piece as string, attempt);
          }
          return { text, attempt };
        });
        runtime.start();
        all.push(runtime);
      }
      const kill = (): void => {
        isDead = true;
      };
      return { all, store, kill };
    }

    test('end for the job if the runtime that receives them is killed', async () => {
      const got = deferred();
      const { all, store, kill } = await cluster([['near'], ['far']], () => got.resolve());
      const wire = connectTo(all[0]!);
      await wire.open();
      const { jobId } = await wire.startJob('reads');
      wire.send('stream.open', { kind: 'text' }, { stream_id: 's', job_id: jobId });
      send(wire, 's', [{ data: 'one' }], false);
      await got.promise;
      kill();
      await expect.poll(async () => (await store.readJob(jobId))?.state, { timeout: 10_000 }).toBe('failed');
      const last = (await store.readEvents({ jobId, limit: 99 })).at(-1);
      expect(JSON.parse(last!.body)).toMatchObject({ payload: { code: 'ABORTED', retryable: true } });
    });

    test('end for the job if the session is resumed at another runtime', async () => {
      const got = deferred();
      const { all } = await cluster([['near'], ['far']], () => got.resolve());
      const wire = connectTo(all[0]!);
      const { session_id, resume_token } = (await wire.open()).payload;
      const { jobId } = await wire.startJob('reads');
      wire.send('stream.open', { kind: 'text' }, { stream_id: 's', job_id: jobId });
      send(wire, 's', [{ data: 'one' }], false);
      await got.promise;
      const now = connectTo(all[1]!);
      await now.open({ resume_token }, { session_id });
      now.send('resume', {});
      expect(await now.untilEnded(jobId)).toMatchObject({ type: 'job.failed', payload: { code: 'ABORTED' } });
    });

    test('are read from their beginning by the next attempt, if the runtime that runs the job is killed', async () => {
      const read: string[] = [];
      const first = deferred();
      const { all, store, kill } = await cluster([['far'], ['near']], (piece, attempt) => {
        read.push(`${attempt} ${piece}`);
        if (read.length === 2) first.resolve();
      });
      const wire = connectTo(all[1]!);
      const { session_id: sessionId } = (await wire.open()).payload;
      const { jobId } = await wire.startJob('reads');
      wire.send('stream.open', { kind: 'text' }, { stream_id: 's', job_id: jobId });
      send(wire, 's', [{ data: 'a' }, { data: 'b' }], false);
      await first.promise;
      kill();
      const next = createRuntime({ store: bound(store), workers: { queues: ['far'], leaseMs: 300 } });
      next.tool('reads', { durable: true, queue: 'far' }, async (_, { incoming, attempt }) => {
        let text = '';
        for await (const piece of incoming()) text += piece as string;
        return { text, attempt };
      });
      next.start();
      ending.push(() => next.close());
      wire.send('stream.chunk', { sequence: 2, data: 'c' }, { stream_id: 's' });
      wire.send('stream.close', { total_chunks: 3 }, { stream_id: 's' });
      expect(await wire.untilEnded(jobId)).toMatchObject({ payload: { result: { text: 'abc', attempt: 2 } } });
      expect(read).toEqual(['1 a', '1 b']);
      // The messages of the stream are removed with the end of the job, and are none of the session or job.
      await expect
        .poll(async () => (await store.readEvents({ limit: 999 })).filter((one) => one.sessionId !== sessionId))
        .toEqual([]);
      expect(await store.listRecords('upload', { limit: 9 })).toEqual([]);
    });
  });

  describe(`${name}: a session that is resumed at another runtime`, () => {
    test('leaves the first connection, whose commands are refused, and misses nothing', async () => {
      const [first, second] = await runtimes(2, (runtime) => runtime.tool('echo', { durable: true }, (x) => x));
      const old = connectTo(first!);
      const { resume_token, session_id } = (await old.open()).payload;
      const before = await old.startJob('echo', { arguments: { n: 1 } });
      await old.untilEnded(before.jobId);
      const now = connectTo(second!);
      await now.open({ resume_token }, { session_id });
      now.send('resume', {});
      const after = await now.startJob('echo', { arguments: { n: 2 } });
      await now.untilEnded(after.jobId);
      await old.ended();
      expect(old.heard.find(({ type }) => type === 'nack')).toMatchObject({ payload: { code: 'ABORTED' } });
      expect(old.ofJob(after.jobId)).toEqual([]);
      const results = now.heard.flatMap((one) => (one.type === 'job.completed' ? [one.payload.result] : []));
      expect(results).toEqual([{ n: 1 }, { n: 2 }]);
    });

    test.each([
      ['fences the first connection off, before it hears of that', true],
      ['would accept commands of the first connection, if commits did not expect the epoch', false],
    ])('%s', async (_, isGuarded) => {
      const open = await newStore();
      const [deaf, store] = [await open(), await open()];
      // This runtime does not hear of changes, nor does it look for them in time.
      const quiet: ArcpStore = {
        ...bound(deaf),
        ...{ watch: () => () => undefined, listRecords: async () => [] },
        commit: ({ records = [], ...commit }) =>
          deaf.commit({
            ...commit,
            records: records.filter(({ scope, value }) => isGuarded || scope !== 'carrier' || value !== undefined),
          }),
      };
      const [first, second] = [quiet, store].map((each) => {
        const runtime = createRuntime({ store: each });
        ending.push(() => runtime.close());
        return runtime.tool('echo', { durable: true }, (x) => x);
      });
      const old = connectTo(first!);
      const { resume_token, session_id } = (await old.open()).payload;
      const now = connectTo(second!);
      await now.open({ resume_token }, { session_id });
      old.send('tool.invoke', { tool: 'echo' });
      if (!isGuarded) return expect.poll(() => store.listJobs({ limit: 9 })).toHaveLength(1);
      await old.ended();
      expect(old.heard.at(-1)).toMatchObject({ type: 'nack', payload: { code: 'ABORTED' } });
      expect(await store.listJobs({ limit: 9 })).toEqual([]);
    });
  });

  test(`${name}: an order to a runtime that has stopped is executed by the next attempt`, async () => {
    const open = await newStore();
    const start = async (queues: string[], leaseMs: number, store?: ArcpStore): Promise<Runtime> => {
      const runtime = createRuntime({ store: store ?? (await open()), workers: { queues, leaseMs } });
      ending.push(() => runtime.close().catch(() => undefined));
      runtime.tool('work', { durable: true, queue: 'far' }, async (_, { signal, onCheckpoint, restored }) => {
        onCheckpoint(() => 'place');
        return restored ?? untilAborted(signal);
      });
      runtime.start();
      return runtime;
    };
    const front = await start(['near'], 200);
    const inner = await open();
    // A process that hangs: it hears nothing, reads no mail, and renews nothing.
    let isHung = false;
    const never = new Promise<never>(() => undefined);
    const hung: ArcpStore = {
      ...bound(inner),
      watch: (onChange) => inner.watch((change) => void (isHung || onChange(change))),
      listRecords: (...query) => (isHung ? never : inner.listRecords(...query)),
      renewLeases: (...renewal) => (isHung ? never : inner.renewLeases(...renewal)),
      claimJobs: (...claim) => (isHung ? never : inner.claimJobs(...claim)),
      commit: (commit) => (isHung ? never : inner.commit(commit)),
      close: () => inner.close(),
    };
    await start(['far'], 200, hung);
    const wire = connectTo(front);
    await wire.open();
    const { jobId } = await wire.startJob('work');
    await wire.until(({ type }) => type === 'job.started');
    isHung = true;
    const created = wire.send('checkpoint.create', PAUSING, { job_id: jobId });
    await start(['far'], 200);
    expect(await wire.answer('job.checkpoint', created)).toMatchObject({ payload: { attempt: 2 } });
    await wire.until((one) => one.type === 'event.emit' && one.payload.attributes?.['to'] === 'paused');
    isHung = false;
  });
}

/** Returns an object with the same methods, to replace some of them. */
function bound<T extends object>(of: T): T {
  const methods: Record<string, unknown> = {};
  for (let object: object = of; object !== Object.prototype; object = Object.getPrototypeOf(object) as object)
    for (const name of Object.getOwnPropertyNames(object)) {
      const value: unknown = Reflect.get(of, name);
      methods[name] ??= typeof value === 'function' && name !== 'constructor' ? value.bind(of) : value;
    }
  return methods as T;
}
