import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { ArcpError, type Envelope } from '../../../src/arcp/index.js';
import {
  type ArcpStore,
  createRuntime,
  memoryStore,
  type Runtime,
  type RuntimeOptions,
  StoreError,
  sqliteStore,
} from '../../../src/arcp/runtime/index.js';
import { memoryChannels } from '../../../src/channels/memory.js';
import { passingTime } from '../../helpers/passing-time.js';
import { connectTo, deferred, Wire } from './wire.js';

const runtimes: Runtime[] = [];
afterEach(async () => {
  await Promise.all(runtimes.splice(0).map((runtime) => runtime.close()));
});

function start(options: RuntimeOptions = {}): Runtime {
  const runtime = createRuntime(options);
  runtimes.push(runtime);
  return runtime;
}

async function opened(runtime: Runtime): Promise<Wire> {
  const wire = connectTo(runtime);
  await wire.open();
  return wire;
}

/** Ends when its signal aborts. */
const obedient = (_: unknown, { signal }: { readonly signal: AbortSignal }): Promise<never> =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

const states = (messages: readonly Envelope[]): unknown[] =>
  messages.flatMap((message) =>
    message.type === 'event.emit' && message.payload.name === 'arcp.job.state'
      ? [`${message.payload.attributes?.['from']}>${message.payload.attributes?.['to']}`]
      : [],
  );

describe('a direct call', () => {
  test('is acknowledged, and ends with its result', async () => {
    const runtime = start().tool(
      'add',
      { input: z.object({ a: z.number(), b: z.number().default(1) }) },
      ({ a, b }) => a + b,
    );
    const wire = await opened(runtime);
    const invoked = wire.send('tool.invoke', { tool: 'add', arguments: { a: 2 } }, { trace_id: 't1', span_id: 's1' });
    const result = await wire.answer('tool.result', invoked);
    expect(result).toMatchObject({
      payload: { result: 3 },
      trace_id: 't1',
      parent_span_id: 's1',
      causation_id: invoked.id,
    });
    expect(result).not.toHaveProperty('job_id');
    expect(wire.types().slice(1)).toEqual(['ack', 'tool.result']);
  });

  test.each([
    [undefined, { result: 'x', value: 'x' }],
    [['1.0'], { result: 'x' }],
  ])('also has its result in value, unless the client announces versions: %j', async (versions, told) => {
    const wire = connectTo(start().tool('say', {}, () => 'x'));
    await wire.open(versions === undefined ? {} : { versions });
    const { payload } = await wire.answer('tool.result', wire.send('tool.invoke', { tool: 'say' }));
    expect(payload).toEqual({ ...told, duration_ms: expect.any(Number) });
  });

  test('reports progress like a job', async () => {
    const runtime = start().tool('busy', {}, async (_, { progress, log, metric, emit, checkpoint, jobId }) => {
      await progress({ percent: 10 });
      await log('warn', 'careful', { a: 1 });
      await metric({ name: 'rows', value: 2 });
      await emit('thing.happened', { b: 2 });
      await checkpoint({ at: 1 });
      return jobId ?? 'none';
    });
    const wire = await opened(runtime);
    const invoked = wire.send('tool.invoke', { tool: 'busy' });
    expect((await wire.answer('tool.result', invoked)).payload.result).toBe('none');
    const said = wire.heard.filter(({ correlation_id }) => correlation_id === invoked.id);
    expect(wire.types(said)).toEqual(['ack', 'event.emit', 'log', 'metric', 'event.emit', 'event.emit', 'tool.result']);
  });

  test('ends with its error: one of the protocol unchanged, others as INTERNAL', async () => {
    const runtime = start()
      .tool('limited', {}, () => {
        throw new ArcpError('RATE_LIMITED', 'Upstream rate limit exceeded', { details: { retry_after_seconds: 1 } });
      })
      .tool('broken', {}, () => {
        throw new TypeError('x is not a function');
      })
      .tool('odd', {}, () => Promise.reject(7))
      .tool('unserialisable', {}, () => ({ n: 1n }));
    const wire = await opened(runtime);
    const error = async (tool: string) => (await wire.answer('tool.error', wire.send('tool.invoke', { tool }))).payload;
    expect(await error('limited')).toMatchObject({
      code: 'RATE_LIMITED',
      retryable: true,
      details: { retry_after_seconds: 1 },
    });
    expect(await error('broken')).toMatchObject({ code: 'INTERNAL', retryable: false, message: 'x is not a function' });
    expect(await error('odd')).toMatchObject({ code: 'INTERNAL' });
    expect(await error('unserialisable')).toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  test('is cancelled by the id of its command', async () => {
    const wire = await opened(start().tool('slow', {}, obedient));
    const invoked = wire.send('tool.invoke', { tool: 'slow' });
    await wire.answer('ack', wire.send('cancel', { target_id: invoked.id, reason: 'enough' }));
    expect((await wire.answer('tool.error', invoked)).payload).toMatchObject({
      code: 'CANCELLED',
      message: 'enough',
      details: { cause: 'client' },
    });
  });
});

describe('a command that is refused', () => {
  test.each([
    ['an unknown tool', 'tool.invoke', { tool: 'none' }, 'NOT_FOUND'],
    ['an unknown workflow', 'workflow.start', { workflow: 'none' }, 'NOT_FOUND'],
    ['an unknown agent', 'agent.delegate', { target: 'none', task: 'x' }, 'NOT_FOUND'],
    ['a tool with the name of a method of Object', 'tool.invoke', { tool: 'toString' }, 'NOT_FOUND'],
    ['invalid arguments', 'tool.invoke', { tool: 'add', arguments: { a: 'x' } }, 'INVALID_ARGUMENT'],
    ['an unknown job', 'cancel', { target_id: 'job_none' }, 'NOT_FOUND'],
    ['nothing to cancel', 'cancel', {}, 'INVALID_ARGUMENT'],
    ['an unknown message', 'resume', { after_message_id: 'msg_none' }, 'NOT_FOUND'],
    ['an unknown checkpoint', 'resume', { checkpoint_id: 'chk_none' }, 'NOT_FOUND'],
  ])('%s', async (_, type, payload, code) => {
    const wire = await opened(start().tool('add', { input: z.object({ a: z.number() }) }, ({ a }) => a));
    const sent = wire.send(type, payload);
    expect((await wire.answer('nack', sent)).payload).toMatchObject({ code, nack_for: sent.id });
    await wire.answer('pong', wire.send('ping'));
  });

  test('for its arguments: the refusal names them', async () => {
    const wire = await opened(start().tool('add', { input: z.object({ a: z.number() }) }, ({ a }) => a));
    const sent = wire.send('tool.invoke', { tool: 'add', arguments: { a: 'x' } });
    expect((await wire.answer('nack', sent)).payload.details).toMatchObject({ issues: [{ path: 'a' }] });
  });

  test('for a full queue', async () => {
    const done = deferred();
    const runtime = start({ workers: { concurrency: 1 }, limits: { maxJobs: 2 } }).tool(
      'slow',
      { durable: true },
      () => done.promise,
    );
    const wire = await opened(runtime);
    for (let n = 0; n < 3; n++) await wire.startJob('slow');
    const refused = wire.send('tool.invoke', { tool: 'slow' });
    expect((await wire.answer('nack', refused)).payload).toMatchObject({ code: 'RESOURCE_EXHAUSTED', retryable: true });
    done.resolve();
  });
});

describe('a job', () => {
  test('is accepted at once and starts when a slot is free, by priority', async () => {
    const gates = new Map(['a', 'b', 'c'].map((name) => [name, deferred<string>()]));
    const begun: string[] = [];
    const runtime = start({ workers: { concurrency: 1 } });
    for (const [name, { promise }] of gates)
      runtime.tool(name, { durable: true, priority: name === 'c' ? 1 : 0 }, () => {
        begun.push(name);
        return promise;
      });
    const wire = await opened(runtime);
    const a = await wire.startJob('a');
    const b = await wire.startJob('b');
    const c = await wire.startJob('c');
    expect(wire.ofJob(a.jobId)[0]).toMatchObject({ payload: { state: 'accepted' } });
    expect(wire.ofJob(b.jobId)).toMatchObject([{ payload: { state: 'queued', queue_position: 0 } }]);
    expect(wire.ofJob(c.jobId)).toMatchObject([{ payload: { state: 'queued', queue_position: 1 } }]);
    for (const { resolve } of gates.values()) resolve('done');
    await Promise.all([a, b, c].map(({ jobId }) => wire.untilEnded(jobId)));
    expect(begun).toEqual(['a', 'c', 'b']);
    expect(wire.types(wire.ofJob(b.jobId))).toEqual(['job.accepted', 'job.started', 'job.completed']);
  });

  test('reports its messages in order, and ends once with its result', async () => {
    const runtime = start().tool(
      'busy',
      { durable: true },
      async (input, { progress, log, metric, emit, checkpoint }) => {
        // These are not awaited.
        void progress({ percent: 42, message: 'Embedding documents' });
        void log('info', 'half');
        void metric({ name: 'rows', value: 1 });
        void emit('thing.happened');
        void checkpoint({ at: 1 }, { label: 'one', isVisible: true });
        return input;
      },
    );
    const wire = await opened(runtime);
    const { id, jobId } = await wire.startJob('busy', { arguments: { x: 1 } });
    const last = await wire.untilEnded(jobId);
    expect(last).toMatchObject({
      type: 'job.completed',
      payload: { result: { x: 1 }, attempt: 1 },
      correlation_id: id,
      causation_id: id,
    });
    const told = wire.ofJob(jobId);
    expect(wire.types(told)).toEqual([
      ...[
        'job.accepted',
        'job.started',
        'job.progress',
        'log',
        'metric',
        'event.emit',
        'job.checkpoint',
        'job.completed',
      ],
    ]);
    expect(told[6]).toMatchObject({ payload: { label: 'one', data: { at: 1 }, sequence: 1, size_bytes: 8 } });
    expect(new Set(told.map(({ trace_id }) => trace_id)).size).toBe(1);
    expect(told.every(({ trace_id, span_id }) => trace_id !== undefined && span_id !== undefined)).toBe(true);
  });

  test('that reports invalid progress fails', async () => {
    const runtime = start().tool('bad', { durable: true }, async (_, { progress }) => progress({ percent: 120 }));
    const wire = await opened(runtime);
    const { jobId } = await wire.startJob('bad');
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.failed', payload: { code: 'INVALID_ARGUMENT' } });
  });

  test('that ignores rejections does not crash the process', async () => {
    const unheard: unknown[] = [];
    const hear = (reason: unknown): void => void unheard.push(reason);
    process.on('unhandledRejection', hear);
    const runtime = start().tool('careless', { durable: true }, (_, context) => {
      const { progress, step, call, permission, stream, memory, delegate } = context;
      void progress({ percent: 400 });
      void step('fails', () => Promise.reject(new Error('in the step')));
      void call('nothing');
      void permission({ permission: 'not.declared' });
      void delegate('nobody', 'anything');
      void memory.set('big', 1n);
      const out = stream({ kind: 'text' });
      void out.close();
      void out.write('late');
      return new Promise((resolve) => setTimeout(resolve, 20, 'done'));
    });
    const wire = await opened(runtime);
    const { jobId } = await wire.startJob('careless');
    expect(await wire.untilEnded(jobId)).toMatchObject({ payload: { result: 'done' } });
    process.off('unhandledRejection', hear);
    expect(unheard).toEqual([]);
  });

  test('that stores values in a loop does not block the event loop', async () => {
    let isOver = false;
    const runtime = start()
      .tool('talks', { durable: true }, async (_, { progress, signal }) => {
        for (let n = 0; !signal.aborted; n++) await progress({ current: n });
        isOver = true;
        throw signal.reason;
      })
      .tool('echo', {}, (input) => input);
    const wire = await opened(runtime);
    const { jobId } = await wire.startJob('talks');
    await wire.answer('tool.result', wire.send('tool.invoke', { tool: 'echo' }));
    wire.send('cancel', {}, { job_id: jobId });
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.cancelled' });
    expect(isOver).toBe(true);
  });

  test('whose result does not match its schema fails', async () => {
    const runtime = start().tool('liar', { durable: true, output: z.object({ n: z.number() }) }, () => ({ n: 'x' }));
    const wire = await opened(runtime);
    const { jobId } = await wire.startJob('liar');
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.failed', payload: { code: 'INTERNAL' } });
  });

  test('is retried after a retryable error, with its checkpoint', async () => {
    const seen: unknown[] = [];
    const runtime = start().tool(
      'flaky',
      { durable: true, retry: { maxAttempts: 3, backoffMs: 5 } },
      async (_, { attempt, restored, checkpoint }) => {
        seen.push([attempt, restored]);
        await checkpoint({ attempt });
        if (attempt < 3) throw new ArcpError('UNAVAILABLE', 'not yet');
        return 'at last';
      },
    );
    const wire = await opened(runtime);
    const { jobId } = await wire.startJob('flaky');
    expect(await wire.untilEnded(jobId)).toMatchObject({
      type: 'job.completed',
      payload: { attempt: 3, result: 'at last' },
    });
    expect(seen).toEqual([
      [1, undefined],
      [2, { attempt: 1 }],
      [3, { attempt: 2 }],
    ]);
    const told = wire.ofJob(jobId);
    expect(states(told)).toEqual(['running>queued', 'running>queued']);
    expect(told.filter(({ type }) => type === 'tool.error')).toMatchObject([
      { payload: { attempt: 1, will_retry: true, code: 'UNAVAILABLE' } },
      { payload: { attempt: 2, will_retry: true } },
    ]);
    const started = told.filter(({ type }) => type === 'job.started');
    const checkpoints = told
      .filter((message) => message.type === 'job.checkpoint')
      .map(({ payload }) => payload.checkpoint_id);
    expect(started).toMatchObject([
      { payload: { attempt: 1 } },
      { payload: { restored_from: checkpoints[0] } },
      { payload: { restored_from: checkpoints[1] } },
    ]);
  });

  test.each([
    ['no attempt is left', { maxAttempts: 2, backoffMs: 1 }, 'UNAVAILABLE', 2],
    ['the error is not retryable', { maxAttempts: 5, backoffMs: 1 }, 'INVALID_ARGUMENT', 1],
  ] as const)('fails when %s', async (_, retry, code, attempts) => {
    const runtime = start().tool('failing', { durable: true, retry }, () => {
      throw new ArcpError(code, 'no');
    });
    const wire = await opened(runtime);
    const { jobId } = await wire.startJob('failing');
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.failed', payload: { code, attempt: attempts } });
  });

  test('executes a step once over all attempts', async () => {
    let paid = 0;
    const keys = new Set<string>();
    const runtime = start().tool(
      'pay',
      { durable: true, retry: { maxAttempts: 4, backoffMs: 1 } },
      async (_, { step, attempt }) => {
        const receipt = await step('refund', (key) => {
          keys.add(key);
          return { receipt: ++paid };
        });
        const nothing = await step('nothing', () => undefined);
        if (attempt < 4) throw new ArcpError('ABORTED', 'again');
        return { ...receipt, nothing: nothing === undefined };
      },
    );
    const wire = await opened(runtime);
    const { jobId } = await wire.startJob('pay');
    expect(await wire.untilEnded(jobId)).toMatchObject({ payload: { result: { receipt: 1, nothing: true } } });
    expect([...keys]).toEqual([`${jobId}:refund`]);
  });

  test('whose tool is not registered after a restart fails', async () => {
    const store = memoryStore();
    const first = start({ store, workers: { concurrency: 1 } }).tool('gone', { durable: true }, obedient);
    const wire = await opened(first);
    const { jobId } = await wire.startJob('gone');
    await first.drain(0);
    const second = start({ store });
    const after = await opened(second);
    after.send('resume', {}, { job_id: jobId });
    expect(await after.untilEnded(jobId)).toMatchObject({ type: 'job.failed', payload: { code: 'NOT_FOUND' } });
  });
});

describe('heartbeats', () => {
  test('are sent without the handler', async () => {
    const done = deferred();
    const wire = await opened(start({ heartbeatMs: 15 }).tool('slow', { durable: true }, () => done.promise));
    const { jobId } = await wire.startJob('slow');
    await wire.until((message) => message.type === 'job.heartbeat' && message.payload.sequence === 3);
    done.resolve();
    await wire.untilEnded(jobId);
    const beats = wire.ofJob(jobId).filter((message) => message.type === 'job.heartbeat');
    expect(beats.map(({ payload }) => payload.sequence)).toEqual(beats.map((_, n) => n));
    expect(beats[0]).toMatchObject({ payload: { state: 'running', attempt: 1 } });
  });
});

describe('cancelling', () => {
  test('ends a handler that observes its signal', async () => {
    const wire = await opened(start().tool('slow', { durable: true }, obedient));
    const { jobId } = await wire.startJob('slow');
    await wire.answer('ack', wire.send('cancel', { reason: 'changed my mind' }, { job_id: jobId }));
    expect(await wire.untilEnded(jobId)).toMatchObject({
      type: 'job.cancelled',
      payload: { cause: 'client', reason: 'changed my mind', forced: false },
    });
  });

  test('abandons a handler that ignores its signal, after the deadline', async () => {
    const done = deferred<string>();
    const wire = await opened(start().tool('deaf', { durable: true }, () => done.promise));
    const { jobId } = await wire.startJob('deaf');
    wire.send('cancel', { deadline_ms: 20 }, { job_id: jobId });
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.cancelled', payload: { forced: true } });
    done.resolve('too late');
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(wire.types(wire.ofJob(jobId)).at(-1)).toBe('job.cancelled');
  });

  test('waits until the deadline, however long that is', async () => {
    const wire = await opened(
      start().tool(
        'careful',
        { durable: true },
        (_, { signal }) =>
          new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => setTimeout(reject, 50, signal.reason)),
          ),
      ),
    );
    const { jobId } = await wire.startJob('careful');
    wire.send('cancel', { deadline_ms: 2 ** 40 }, { job_id: jobId });
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.cancelled', payload: { forced: false } });
  });

  test('does not discard a completed result', async () => {
    const wire = await opened(
      start().tool(
        'finisher',
        { durable: true },
        (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve('done anyway'))),
      ),
    );
    const { jobId } = await wire.startJob('finisher');
    wire.send('cancel', {}, { job_id: jobId });
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.completed', payload: { result: 'done anyway' } });
  });

  test('ends a queued job, which never starts', async () => {
    let runs = 0;
    const wire = await opened(
      start({ workers: { concurrency: 1 } })
        .tool('slow', { durable: true }, obedient)
        .tool('next', { durable: true }, () => ++runs),
    );
    const first = await wire.startJob('slow');
    const { jobId } = await wire.startJob('next');
    await wire.answer('ack', wire.send('cancel', {}, { job_id: jobId }));
    expect(wire.types(wire.ofJob(jobId))).toEqual(['job.accepted', 'job.cancelled']);
    wire.send('cancel', {}, { job_id: first.jobId });
    await wire.untilEnded(first.jobId);
    expect(runs).toBe(0);
  });

  test('can be repeated; after the end it is refused with the state', async () => {
    const wire = await opened(start().tool('slow', { durable: true }, obedient));
    const { jobId } = await wire.startJob('slow');
    const first = wire.send('cancel', {}, { job_id: jobId });
    const second = wire.send('cancel', {}, { job_id: jobId });
    await wire.answer('ack', first);
    await wire.until(({ correlation_id }) => correlation_id === second.id);
    await wire.untilEnded(jobId);
    const late = wire.send('cancel', {}, { job_id: jobId });
    expect((await wire.answer('nack', late)).payload).toMatchObject({
      code: 'FAILED_PRECONDITION',
      details: { state: 'cancelled' },
    });
  });

  test.each(['runtime', 'policy'] as const)('is reported with its cause: %s', async (cause) => {
    const runtime = start().tool('slow', { durable: true }, obedient);
    const wire = await opened(runtime);
    const { jobId } = await wire.startJob('slow');
    expect(await runtime.cancel(jobId, { cause, reason: 'Over the budget' })).toBe(true);
    expect(await wire.untilEnded(jobId)).toMatchObject({
      type: 'job.cancelled',
      payload: { cause, reason: 'Over the budget' },
    });
    expect(await runtime.cancel(jobId)).toBe(false);
    await expect(runtime.cancel('job_none')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('of a session affects all its jobs, and no others', async () => {
    const runtime = start().tool('slow', { durable: true }, obedient);
    const [wire, other] = [await opened(runtime), await opened(runtime)];
    const jobs = [await wire.startJob('slow'), await wire.startJob('slow')];
    const { jobId: others } = await other.startJob('slow');
    await wire.answer('ack', wire.send('cancel', { target: 'session', reason: 'All of it' }));
    for (const { jobId } of jobs)
      expect(await wire.untilEnded(jobId)).toMatchObject({ payload: { cause: 'client', reason: 'All of it' } });
    await wire.answer('pong', wire.send('ping'));
    expect(other.ofJob(others).at(-1)?.type).toBe('job.started');
    const foreign = wire.send('cancel', { target: 'session', target_id: other.sessionId });
    expect((await wire.answer('nack', foreign)).payload.code).toBe('NOT_FOUND');
  });

  test('of a stream ends it, and the job continues with its writes ignored', async () => {
    const wanted = deferred();
    const runtime = start().tool('talk', { durable: true }, async (_, { stream }) => {
      const out = stream({ kind: 'text' });
      await out.write('one');
      await wanted.promise;
      await out.write('two');
      await out.close();
      return 'done';
    });
    const wire = await opened(runtime);
    const { jobId } = await wire.startJob('talk');
    const { stream_id } = await wire.until(({ type }) => type === 'stream.chunk');
    const stranger = await opened(start());
    const foreign = stranger.send('cancel', { target: 'stream' }, { stream_id });
    expect((await stranger.answer('nack', foreign)).payload.code).toBe('NOT_FOUND');
    const sent = wire.send('cancel', { reason: 'Enough' }, { stream_id });
    await wire.answer('ack', sent);
    expect(await wire.until(({ type }) => type === 'stream.error')).toMatchObject({
      ...{ stream_id, payload: { code: 'CANCELLED', message: 'Enough' } },
    });
    // A repetition is answered again.
    wire.channel.send(JSON.stringify(sent));
    await expect.poll(() => wire.heard.filter(({ correlation_id }) => correlation_id === sent.id).length).toBe(2);
    wanted.resolve();
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.completed' });
    expect(wire.types(wire.ofJob(jobId)).filter((type) => type === 'stream.chunk')).toHaveLength(1);
    const late = wire.send('cancel', { target: 'stream', target_id: stream_id });
    expect((await wire.answer('nack', late)).payload.code).toBe('NOT_FOUND');
  });

  test('by a timeout', async () => {
    const runtime = start().tool('slow', { durable: true, timeoutMs: 20 }, obedient).tool('direct', {}, obedient);
    const wire = await opened(runtime);
    const { jobId } = await wire.startJob('slow', { timeout_ms: 60_000 });
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.cancelled', payload: { cause: 'timeout' } });
    const direct = wire.send('tool.invoke', { tool: 'direct', timeout_ms: 10 });
    expect((await wire.answer('tool.error', direct)).payload).toMatchObject({
      code: 'DEADLINE_EXCEEDED',
      details: { cause: 'timeout' },
    });
  });

  test('and completion race: the job ends once', async () => {
    const runtime = start().tool('quick', { durable: true }, async () => {
      for (let turns = Math.random() * 6; turns > 0; turns--) await null;
      return 1;
    });
    const wire = await opened(runtime);
    const jobs = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const { jobId } = await wire.startJob('quick');
        wire.send('cancel', {}, { job_id: jobId });
        return jobId;
      }),
    );
    await Promise.all(jobs.map((jobId) => wire.untilEnded(jobId)));
    await wire.answer('pong', wire.send('ping'));
    for (const jobId of jobs) {
      const types = wire.types(wire.ofJob(jobId));
      expect(types.filter((type) => /completed|failed|cancelled/.test(type))).toHaveLength(1);
      expect(types.at(-1)).toMatch(/completed|cancelled/);
    }
  });
});

describe('a repeated command', () => {
  test('is executed once, and receives the same answer', async () => {
    let runs = 0;
    const runtime = start().tool('once', { durable: true }, () => ++runs);
    const wire = await opened(runtime);
    for (let n = 0; n < 100; n++) wire.send('tool.invoke', { tool: 'once' }, { id: 'msg_same' });
    await wire.until(
      () =>
        wire.heard.filter(({ correlation_id, type }) => correlation_id === 'msg_same' && type === 'job.accepted')
          .length === 100,
    );
    const answers = wire.heard.filter(({ type }) => type === 'job.accepted');
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    await wire.untilEnded(answers[0]!.job_id!);
    const other = await opened(runtime);
    other.send('tool.invoke', { tool: 'once' }, { id: 'msg_same' });
    expect(await other.answer('job.accepted', { id: 'msg_same' })).toEqual(answers[0]);
    expect(runs).toBe(1);
  });

  test('with other contents is refused', async () => {
    const wire = await opened(start().tool('echo', {}, (input) => input));
    const { id } = wire.send('tool.invoke', { tool: 'echo', arguments: { a: 1 } });
    await wire.answer('tool.result', { id });
    wire.send('tool.invoke', { tool: 'echo', arguments: { a: 2 } }, { id });
    expect((await wire.answer('nack', { id })).payload.code).toBe('ALREADY_EXISTS');
  });

  test('can be cancel', async () => {
    const wire = await opened(start().tool('slow', { durable: true }, obedient));
    const { jobId } = await wire.startJob('slow');
    const { id } = wire.send('cancel', {}, { job_id: jobId });
    const first = await wire.answer('ack', { id });
    await wire.untilEnded(jobId);
    const heard = wire.heard.length;
    wire.send('cancel', {}, { job_id: jobId, id });
    expect(await wire.until(({ correlation_id }) => correlation_id === id, heard)).toEqual(first);
  });
});

describe('resuming', () => {
  const chatty = async (
    _: unknown,
    { progress }: { progress: (p: { percent: number }) => Promise<void> },
  ): Promise<string> => {
    for (let percent = 0; percent <= 100; percent += 10) await progress({ percent });
    return 'done';
  };

  test('replays the messages after a given one unchanged, and continues', async () => {
    const runtime = start().tool('chatty', { durable: true }, chatty);
    const first = connectTo(runtime);
    const { payload } = await first.open();
    const { jobId } = await first.startJob('chatty');
    await first.untilEnded(jobId);
    first.channel.destroy();
    const all = first.ofJob(jobId);
    for (const seen of [0, 3, all.length - 1]) {
      const wire = connectTo(runtime);
      wire.sessionId = payload.session_id;
      await wire.open({ resume_token: undefined, auth: { scheme: 'none' } });
      const resumed = wire.send('resume', { after_message_id: all[seen]!.id });
      const ack = await wire.answer('ack', resumed);
      const missed = all.slice(seen + 1);
      expect(wire.ofJob(jobId)).toEqual(missed);
      expect(ack.payload.details).toMatchObject({
        replayed: missed.length,
        ...(missed.length > 0 ? { last_message_id: missed.at(-1)!.id } : {}),
      });
      wire.channel.destroy();
    }
  });

  test('from session.accepted replays all messages', async () => {
    const runtime = start().tool('chatty', { durable: true }, chatty);
    const first = connectTo(runtime);
    const accepted = await first.open();
    const { jobId } = await first.startJob('chatty');
    await first.untilEnded(jobId);
    first.channel.destroy();
    const wire = connectTo(runtime);
    wire.sessionId = accepted.payload.session_id;
    await wire.open({ resume_token: accepted.payload.resume_token });
    await wire.answer('ack', wire.send('resume', { after_message_id: accepted.id }));
    expect(wire.heard.slice(1, -1)).toEqual(first.heard.slice(1));
  });

  test('during a job loses and repeats no message, whenever the connection is lost', async () => {
    const runtime = start().tool('chatty', { durable: true }, async (_, { progress }) => {
      for (let n = 0; n < 300; n++) {
        await progress({ current: n });
        if (n % 7 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
    });
    let wire = connectTo(runtime);
    let { payload } = await wire.open();
    const { jobId } = await wire.startJob('chatty');
    const heard: Envelope[] = [];
    for (let cut = 20; !heard.some(({ type }) => type === 'job.completed'); cut = 15 + ((cut * 7) % 40)) {
      const before = wire.heard.length;
      await wire.until(() => wire.heard.length >= before + cut || wire.types().includes('job.completed'));
      wire.channel.destroy();
      heard.push(...wire.ofJob(jobId).filter(({ id }) => !heard.some((known) => known.id === id)));
      wire = connectTo(runtime);
      wire.sessionId = payload.session_id;
      ({ payload } = await wire.open({ resume_token: payload.resume_token }));
      wire.send('resume', { after_message_id: heard.at(-1)!.id });
    }
    const progress = heard
      .filter((message) => message.type === 'job.progress')
      .map((message) => message.payload.current);
    expect(progress).toEqual(Array.from({ length: 300 }, (_, n) => n));
  });

  test('of one job, from a checkpoint, in another session of the same principal', async () => {
    const runtime = start().tool('steps', { durable: true }, async (_, { checkpoint, progress }) => {
      await checkpoint({ n: 1 });
      await progress({ percent: 50 });
      await checkpoint({ n: 2 });
      return 'done';
    });
    const first = await opened(runtime);
    const { jobId } = await first.startJob('steps');
    await first.untilEnded(jobId);
    const [one] = first.ofJob(jobId).filter((message) => message.type === 'job.checkpoint');
    const other = await opened(runtime);
    const resumed = other.send('resume', { checkpoint_id: one!.payload.checkpoint_id }, { job_id: jobId });
    await other.answer('ack', resumed);
    expect(other.ofJob(jobId).filter(({ type }) => type !== 'ack')).toEqual(first.ofJob(jobId).slice(3));
  });

  test('page by page', async () => {
    const runtime = start().tool('chatty', { durable: true }, chatty);
    const wire = await opened(runtime);
    const { jobId } = await wire.startJob('chatty');
    await wire.untilEnded(jobId);
    const all = wire.ofJob(jobId);
    const from = wire.heard.length;
    const ack = await wire.answer(
      'ack',
      wire.send('resume', { after_message_id: all[1]!.id, limit: 4 }, { job_id: jobId }),
    );
    expect(wire.heard.slice(from, -1)).toEqual(all.slice(2, 6));
    expect(ack.payload.details).toEqual({ replayed: 4, last_message_id: all[5]!.id, more: true });
  });

  test('proceeds at the rate of the reader', async () => {
    const runtime = start().tool('wordy', { durable: true }, async (_, { progress }) => {
      for (let percent = 0; percent < 20; percent++) await progress({ percent, message: 'word '.repeat(2000) });
    });
    const [here, there] = memoryChannels();
    runtime.accept(there);
    const wire = new Wire(here);
    await wire.open();
    const { jobId } = await wire.startJob('wordy');
    await wire.untilEnded(jobId);
    here.pause();
    const asked = Array.from({ length: 50 }, () => wire.send('resume', { mode: 'replay' }, { job_id: jobId }));
    for (let turn = 0; turn < 2000; turn++) await new Promise((resolve) => setImmediate(resolve));
    const waiting = there.backlog();
    here.resume();
    for (const one of asked) await wire.answer('ack', one);
    // A megabyte, plus the messages that are read from the store at once.
    expect(waiting).toBeGreaterThan(200_000);
    expect(waiting).toBeLessThan(2_000_000);
  });

  test('after a trimmed message reports DATA_LOSS', async () => {
    const clock = passingTime(Date.now());
    const runtime = start({ now: () => clock.now, retentionMs: 24 * 60 * 60_000 }).tool('echo', {}, (input) => input);
    const wire = await opened(runtime);
    const old = await wire.answer('tool.result', wire.send('tool.invoke', { tool: 'echo' }));
    clock.now += 2 * 24 * 60 * 60 * 1000;
    await runtime.trim();
    const recent = await wire.answer('tool.result', wire.send('tool.invoke', { tool: 'echo' }));
    const resumed = wire.send('resume', { after_message_id: old.id });
    const { payload } = await wire.answer('nack', resumed);
    expect(payload).toMatchObject({ code: 'DATA_LOSS', details: { message_id: old.id } });
    const oldest = wire.heard.find(({ id }) => id === payload.details?.['oldest_message_id']);
    expect(oldest).toMatchObject({ type: 'ack', correlation_id: recent.correlation_id });
  });
});

describe('restarts', () => {
  test('after drain: unfinished jobs continue after the next start, with the same id', async () => {
    const store = memoryStore();
    const first = start({ store }).tool('slow', { durable: true }, async (_, context) => {
      await context.step('begun', () => 1);
      return obedient(_, context);
    });
    const wire = await opened(first);
    const { jobId } = await wire.startJob('slow');
    await wire.until(({ type }) => type === 'job.started');
    await first.drain(10);
    const put = await wire.until(({ type, job_id }) => type === 'event.emit' && job_id === jobId);
    expect(put).toMatchObject({ payload: { attributes: { from: 'running', to: 'queued', reason: 'drain' } } });
    const refused = wire.send('tool.invoke', { tool: 'slow' });
    expect((await wire.answer('nack', refused)).payload).toMatchObject({ code: 'UNAVAILABLE', retryable: true });
    const second = start({ store }).tool('slow', { durable: true }, async (_, { step, attempt }) => [
      await step('begun', () => 2),
      attempt,
    ]);
    const after = await opened(second);
    after.send('resume', {}, { job_id: jobId });
    expect(await after.untilEnded(jobId)).toMatchObject({ payload: { result: [1, 2] } });
  });

  test('restore the state of a job from its file', async () => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'pegwire-jobs-')), 'arcp.db');
    const runtime = start({ store: await sqliteStore(file) }).tool(
      'slow',
      { durable: true, retry: { maxAttempts: 3, backoffMs: 1 } },
      async (_, context) => {
        await context.checkpoint({ at: context.attempt });
        if (context.attempt < 3) throw new ArcpError('UNAVAILABLE', 'Later');
        return obedient(_, context);
      },
    );
    const wire = await opened(runtime);
    const { jobId } = await wire.startJob('slow');
    const kept = await wire.until((one) => one.type === 'job.checkpoint' && one.payload.attempt === 3);
    wire.send('cancel', { reason: 'Enough' }, { job_id: jobId });
    await wire.untilEnded(jobId);
    await runtime.close();
    const cold = await sqliteStore(file);
    const row = await cold.readJob(jobId);
    await cold.close();
    expect(row).toMatchObject({ state: 'cancelled', attempt: 3 });
    expect(JSON.parse(row!.status)).toMatchObject({
      ...{ failures: 2, cancelled: { cause: 'client', reason: 'Enough' } },
      checkpointId: (kept.payload as { readonly checkpoint_id: string }).checkpoint_id,
    });
    rmSync(path.dirname(file), { recursive: true, force: true });
  });

  test('after a crash: the lease expires, and another attempt starts and fences off the first', async () => {
    const store = memoryStore();
    const stuck = deferred<string>();
    const stopped = freezable(store);
    const dead = start({ store: stopped.store, workers: { leaseMs: 60 } }).tool(
      'work',
      { durable: true },
      async (_, { step }) => {
        const result = await stuck.promise;
        await step('late', () => 'must not happen');
        return result;
      },
    );
    const wire = await opened(dead);
    const { jobId } = await wire.startJob('work');
    await wire.until(({ type }) => type === 'job.started');
    stopped.freeze();
    const alive = start({ store, workers: { leaseMs: 60 } }).tool('work', { durable: true }, () => 'by the second');
    const after = await opened(alive);
    after.send('resume', {}, { job_id: jobId });
    expect(await after.untilEnded(jobId)).toMatchObject({
      type: 'job.completed',
      payload: { result: 'by the second', attempt: 2 },
    });
    stuck.resolve('by the first');
    await new Promise((resolve) => setTimeout(resolve, 20));
    const kept = await store.readEvents({ jobId: jobId, limit: 99 });
    expect(kept.map(({ type }) => type)).toEqual(['job.accepted', 'job.started', 'job.started', 'job.completed']);
    expect(await store.readRecord(`step:${jobId}`, 'late')).toBeUndefined();
  });

  test('after a crash, open streams end before a job that was cancelled meanwhile', async () => {
    const store = memoryStore();
    const stopped = freezable(store);
    const dead = start({ store: stopped.store, workers: { leaseMs: 60 } }).tool(
      'talk',
      { durable: true },
      async (_, { stream, signal }) => {
        await stream({ kind: 'text' }).write('half');
        return new Promise((resolve) => signal.addEventListener('abort', () => setTimeout(resolve, 1000)));
      },
    );
    const wire = await opened(dead);
    const { jobId } = await wire.startJob('talk');
    await wire.until(({ type }) => type === 'stream.chunk');
    stopped.freeze();
    await wire.answer('ack', wire.send('cancel', {}, { job_id: jobId }));
    const alive = start({ store, workers: { leaseMs: 60 } }).tool('talk', { durable: true }, () => 'never begun');
    const after = await opened(alive);
    after.send('resume', {}, { job_id: jobId });
    expect(await after.untilEnded(jobId)).toMatchObject({ type: 'job.cancelled', payload: { cause: 'client' } });
    expect(after.types(after.ofJob(jobId)).slice(-2)).toEqual(['stream.error', 'job.cancelled']);
  });

  test('fail a job whose workers are lost repeatedly', async () => {
    const store = memoryStore();
    const first = start({ store }).tool('work', { durable: true }, obedient);
    const wire = await opened(first);
    const { jobId } = await wire.startJob('work');
    await first.drain(0);
    for (let claims = 0; claims < 5; claims++) {
      await store.claimJobs({ worker: 'lost', queues: ['default'], leaseMs: 1, limit: 1 });
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const second = start({ store, workers: { maxLostAttempts: 3 } }).tool('work', { durable: true }, () => 'never');
    const after = await opened(second);
    after.send('resume', {}, { job_id: jobId });
    expect(await after.untilEnded(jobId)).toMatchObject({ type: 'job.failed', payload: { code: 'HEARTBEAT_LOST' } });
  });
});

/** A store as used by a stopped process, which neither renews leases nor claims jobs. */
function freezable(store: ArcpStore): { readonly store: ArcpStore; readonly freeze: () => void } {
  let isFrozen = false;
  const unlessFrozen =
    <Q, A>(ask: (question: Q) => Promise<A>) =>
    (question: Q): Promise<A> =>
      isFrozen ? Promise.reject(new StoreError('unavailable', 'frozen')) : ask(question);
  const freeze = (): void => {
    isFrozen = true;
  };
  const { renewLeases, claimJobs } = store;
  const frozen = { renewLeases: unlessFrozen(renewLeases), claimJobs: unlessFrozen(claimJobs), close: async () => {} };
  return { store: { ...store, ...frozen }, freeze };
}

describe('a job with a timeout', () => {
  test('is also cancelled while it is queued', async () => {
    const held = deferred();
    const runtime = start({ workers: { concurrency: 1 } })
      .tool('hold', { durable: true }, () => held.promise)
      .tool('brief', { durable: true, timeoutMs: 30 }, () => 'too late');
    const wire = await opened(runtime);
    await wire.startJob('hold');
    const { jobId } = await wire.startJob('brief');
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.cancelled', payload: { cause: 'timeout' } });
    expect(wire.types(wire.ofJob(jobId))).not.toContain('job.started');
    held.resolve();
  });

  test('is also cancelled after a restart', async () => {
    const store = memoryStore();
    const kept = { ...store, close: async () => {} } as ArcpStore;
    const first = start({ store: kept, workers: { concurrency: 1 } })
      .tool('hold', { durable: true }, obedient)
      .tool('brief', { durable: true, timeoutMs: 60 }, () => 'too late');
    const wire = await opened(first);
    await wire.startJob('hold');
    const { jobId } = await wire.startJob('brief');
    await first.close();
    // No worker runs this queue, and the job expires anyway.
    const second = start({ store: kept, workers: { queues: ['other'] } });
    second.start();
    await expect.poll(async () => (await store.readJob(jobId))?.state).toBe('cancelled');
  });
});

describe('a value that is too large or not JSON', () => {
  const limits = { maxMessageBytes: 4096 };

  test.each([
    ['result', 'x'.repeat(5000), 'PAYLOAD_TOO_LARGE'],
    ['result that is not JSON', 1n, 'INVALID_ARGUMENT'],
  ])('a %s', async (_, result, code) => {
    const wire = await opened(start({ limits }).tool('make', { durable: true }, () => result));
    const { jobId } = await wire.startJob('make');
    const last = await wire.untilEnded(jobId);
    expect(last.type === 'job.failed' ? last.payload.code : undefined).toBe(code);
  });

  test('in an error leaves its code', async () => {
    const wire = await opened(
      start({ limits: { maxMessageBytes: 100_000 } })
        .tool('long', { durable: true }, () => {
          throw new ArcpError('OUT_OF_RANGE', 'x'.repeat(1_000_000));
        })
        .tool('odd', { durable: true }, () => {
          throw new ArcpError('OUT_OF_RANGE', 'odd', { details: { big: 1n } });
        }),
    );
    for (const tool of ['long', 'odd']) {
      const { jobId } = await wire.startJob(tool);
      expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.failed', payload: { code: 'OUT_OF_RANGE' } });
    }
  });

  test('in a report fails the report, and the job continues', async () => {
    const runtime = start({ limits }).tool('say', { durable: true }, async (_, { log }) => {
      const said = log('info', 'x'.repeat(5000));
      return said.then(
        () => 'said',
        (error: ArcpError) => error.code,
      );
    });
    const wire = await opened(runtime);
    const { jobId } = await wire.startJob('say');
    expect(await wire.untilEnded(jobId)).toMatchObject({ payload: { result: 'PAYLOAD_TOO_LARGE' } });
  });
});

test('a new registration is announced to connected clients', async () => {
  const runtime = start();
  const wire = await opened(runtime);
  runtime.tool('late', {}, () => 1);
  const told = await wire.until(({ type }) => type === 'event.emit');
  expect(told.payload).toMatchObject({
    name: 'arcp.inventory.changed',
    attributes: { added: [{ kind: 'tool', name: 'late' }] },
  });
});

test('untrusted sessions hear only of public registrations', async () => {
  const runtime = start();
  const wire = connectTo(runtime);
  await wire.open({ trust_level: 'untrusted' });
  runtime.tool('secret', {}, () => 1).tool('public', { isPublic: true }, () => 2);
  runtime.remove('secret');
  const heard = await wire.until(({ type }) => type === 'event.emit');
  await wire.answer('pong', wire.send('ping'));
  expect(heard.payload).toMatchObject({ attributes: { added: [{ name: 'public' }] } });
  expect(wire.heard.filter(({ type }) => type === 'event.emit')).toEqual([heard]);
});

describe('a removed registration', () => {
  test('is announced to connected clients, and unknown to later calls and sessions', async () => {
    const runtime = start().tool('gone', {}, () => 1);
    const wire = await opened(runtime);
    expect(runtime.remove('gone')).toBe(true);
    expect(runtime.remove('gone')).toBe(false);
    const told = await wire.until(({ type }) => type === 'event.emit');
    expect(told.payload).toMatchObject({
      name: 'arcp.inventory.changed',
      attributes: { removed: [{ kind: 'tool', name: 'gone' }] },
    });
    const refused = await wire.answer('nack', wire.send('tool.invoke', { tool: 'gone' }));
    expect(refused.payload.code).toBe('NOT_FOUND');
    expect((await connectTo(runtime).open()).payload.tools).toEqual([]);
    expect(() => runtime.tool('gone', {}, () => 2)).not.toThrow();
  });

  test('ends its running jobs as usual, and fails those that wait', async () => {
    const held = deferred();
    const runtime = start({ workers: { concurrency: 1 } }).tool('slow', { durable: true }, async () => {
      await held.promise;
      return 'done';
    });
    const wire = await opened(runtime);
    const running = await wire.startJob('slow');
    const waiting = await wire.startJob('slow');
    runtime.remove('slow');
    held.resolve();
    expect(await wire.untilEnded(running.jobId)).toMatchObject({ payload: { result: 'done' } });
    expect(await wire.untilEnded(waiting.jobId)).toMatchObject({ payload: { code: 'NOT_FOUND' } });
  });

  test('is one of its kind; others of the name stay', async () => {
    const runtime = start()
      .tool('same', {}, () => 1)
      .workflow('same', {}, () => 2);
    expect(runtime.remove('same', 'agent')).toBe(false);
    expect(runtime.remove('same', 'workflow')).toBe(true);
    const wire = await opened(runtime);
    expect((await wire.answer('tool.result', wire.send('tool.invoke', { tool: 'same' }))).payload.result).toBe(1);
  });
});

test('the JSON Schemas of a registration replace those of its schemas', async () => {
  const schemas = { input: { type: 'object', 'x-keyword': [1] }, output: { type: 'number', multipleOf: 2 } };
  const annotations = { readOnlyHint: true };
  const runtime = start().tool('raw', { schemas, annotations, input: z.object({ a: z.number() }) }, () => 2);
  const accepted = await connectTo(runtime).open();
  expect(accepted.payload.tools).toEqual([
    { name: 'raw', input_schema: schemas.input, output_schema: schemas.output, annotations },
  ]);
});
