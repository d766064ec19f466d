import { afterEach, describe, expect, test, vi } from 'vitest';
import { openClient } from '../../src/arcp/client/client.js';
import type { Client, ClientOptions } from '../../src/arcp/client/types.js';
import { ArcpError, type Envelope } from '../../src/arcp/index.js';
import {
  createRuntime,
  type JobContext,
  memoryStore,
  type Runtime,
  type RuntimeOptions,
} from '../../src/arcp/runtime/index.js';
import type { Channel } from '../../src/channels/channel.js';
import { memoryChannels } from '../../src/channels/memory.js';
import { connectTo, deferred, Wire } from './runtime/wire.js';

const ending: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

/** A runtime whose tools read uploaded streams. */
function reading(options: RuntimeOptions = {}): Runtime {
  const runtime = createRuntime(options);
  ending.push(() => runtime.close());
  return runtime
    .tool('read', { durable: true }, (input, context) => readAll(input, context))
    .tool('call', {}, (input, context) => readAll(input, context));
}

async function readAll(input: Readonly<Record<string, unknown>>, { incoming }: JobContext): Promise<unknown> {
  const pieces: unknown[] = [];
  for await (const piece of incoming(input['which'] as string | undefined)) {
    pieces.push(piece instanceof Uint8Array ? [...piece] : piece);
    if (input['slow'] === true) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return pieces.every((piece) => typeof piece === 'string') ? pieces.join('') : pieces;
}

let there: Channel;
async function connect(runtime: Runtime, options: ClientOptions = {}): Promise<Client> {
  const client = await openClient(
    () => {
      const [here, other] = memoryChannels();
      there = other;
      void runtime.accept(other);
      return here;
    },
    { reconnect: { minDelayMs: 1 }, ...options },
  );
  ending.push(() => client.disconnect());
  return client;
}

describe('a client sends a stream', () => {
  test.each([['read'], ['call']])('to a tool that reads it: %s', async (tool) => {
    const client = await connect(reading());
    const invocation = client.invoke(tool);
    await invocation.accepted;
    const out = invocation.upload({ kind: 'text', name: 'in' });
    for (const word of ['one ', 'two ', 'three']) await out.write(word);
    await out.close();
    expect(await invocation.result()).toBe('one two three');
  });

  test.each([
    ['binary', [Uint8Array.of(0, 255, 128)], [[0, 255, 128]]],
    ['event', [{ a: 1 }, 'b', null], [{ a: 1 }, 'b', null]],
    ['log', [{ level: 'info', message: 'm' }], [{ level: 'info', message: 'm' }]],
    ['telemetry', [{ name: 'n', value: 1 }], [{ name: 'n', value: 1 }]],
  ] as const)('of kind %s', async (kind, written, read) => {
    const client = await connect(reading());
    const invocation = client.invoke('read', { which: kind });
    await invocation.accepted;
    const out = invocation.upload({ kind });
    for (const content of written) await out.write(content as never);
    await out.close();
    expect(await invocation.result()).toEqual(read);
  });

  test('before it is read', async () => {
    const held = deferred();
    const runtime = reading().tool('late', { durable: true }, async (input, context) => {
      await held.promise;
      return readAll(input, context);
    });
    const client = await connect(runtime);
    const invocation = client.invoke('late', { which: 'second' });
    await invocation.accepted;
    const [first, second] = ['first', 'second'].map((name) => invocation.upload({ kind: 'text', name }));
    await first!.write('1');
    await second!.write('2');
    await second!.close();
    held.resolve();
    expect(await invocation.result()).toBe('2');
    await expect(first!.write('more')).rejects.toMatchObject({ code: 'CANCELLED' });
  });

  test('at the rate of the reader, without loss', async () => {
    let most = 0;
    const client = await connect(reading());
    const invocation = client.invoke('read', { slow: true });
    await invocation.accepted;
    const out = invocation.upload({ kind: 'event' });
    let written = 0;
    for (let n = 0; n < 400; n++) {
      await out.write('x');
      written++;
      most = Math.max(most, written);
    }
    await out.close();
    expect(await invocation.result()).toBe('x'.repeat(400));
  });

  test('that a later attempt at the job reads again', async () => {
    let attempts = 0;
    const runtime = reading().tool(
      'fails once',
      { durable: true, retry: { maxAttempts: 2, backoffMs: 1 } },
      async (_, { incoming }) => {
        let text = '';
        for await (const piece of incoming('text')) {
          text += piece;
          if (++attempts === 1) throw new ArcpError('UNAVAILABLE', 'Try again');
        }
        return text;
      },
    );
    const client = await connect(runtime);
    const invocation = client.invoke('fails once');
    await invocation.accepted;
    const out = invocation.upload({ kind: 'text' });
    await out.write('one ');
    await expect.poll(() => attempts).toBeGreaterThan(0);
    await out.write('two');
    await out.close();
    expect(await invocation.result()).toBe('one two');
  });

  test('that fails: its reader fails, too', async () => {
    const client = await connect(reading());
    const invocation = client.invoke('read');
    await invocation.accepted;
    const out = invocation.upload({ kind: 'text' });
    await out.write('one');
    await out.fail(new ArcpError('DATA_LOSS', 'the disk broke'));
    await expect(invocation.result()).rejects.toMatchObject({ code: 'DATA_LOSS', message: 'the disk broke' });
  });

  test('and is disconnected: both sides fail', async () => {
    const runtime = reading().tool('first', { durable: true }, async (_, { incoming, emit }) => {
      for await (const piece of incoming()) await emit('got', { piece });
    });
    const got = deferred();
    const client = await connect(runtime, {
      onMessage: (message) => {
        if (message.type === 'event.emit' && message.payload.name === 'got') got.resolve();
      },
    });
    const invocation = client.invoke('first');
    await invocation.accepted;
    const out = invocation.upload({ kind: 'text' });
    await out.write('one');
    await got.promise;
    there.destroy();
    await expect(invocation.result()).rejects.toMatchObject({ code: 'ABORTED', retryable: true });
    await expect(out.write('two')).rejects.toMatchObject({ code: 'ABORTED' });
  });

  test('to a call that is not accepted or has ended: it fails at once', async () => {
    const client = await connect(reading());
    const invocation = client.invoke('read', { which: 'none' });
    expect(() => invocation.upload({ kind: 'text' })).toThrow(expect.objectContaining({ code: 'FAILED_PRECONDITION' }));
    await invocation.accepted;
    await invocation.cancel({ deadlineMs: 1 });
    await expect(invocation.result()).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(() => invocation.upload({ kind: 'text' })).toThrow(expect.objectContaining({ code: 'FAILED_PRECONDITION' }));
  });
});

describe('a runtime', () => {
  const error = (wire: Wire, streamId: string): Promise<Envelope<'stream.error'>> =>
    wire.until(({ type, stream_id }) => type === 'stream.error' && stream_id === streamId) as Promise<
      Envelope<'stream.error'>
    >;
  async function opened(runtime: Runtime, capabilities: object = {}): Promise<Wire> {
    const wire = connectTo(runtime);
    await wire.open({ capabilities: { streaming: true, durable_jobs: true, binary_streams: true, ...capabilities } });
    return wire;
  }

  test('pauses a sender that is faster than its reader', async () => {
    const wire = await opened(reading());
    const { jobId } = await wire.startJob('read', { arguments: { which: 'nothing of that name' } });
    const stream_id = 'up-1';
    wire.send('stream.open', { kind: 'event' }, { stream_id, job_id: jobId });
    for (let sequence = 0; sequence < 100; sequence++) wire.send('stream.chunk', { sequence, event: 1 }, { stream_id });
    const asked = (await wire.until(({ type }) => type === 'backpressure')) as Envelope<'backpressure'>;
    expect(asked).toMatchObject({ stream_id, payload: { desired_rate_per_second: 0 } });
  });

  test('fails a stream whose sender does not pause, and the job continues', async () => {
    const wire = await opened(reading());
    const { jobId } = await wire.startJob('read', { arguments: { which: 'ok' } });
    const stream_id = 'flood';
    wire.send('stream.open', { kind: 'event' }, { stream_id, job_id: jobId });
    for (let sequence = 0; sequence < 7000; sequence++)
      wire.send('stream.chunk', { sequence, event: 1 }, { stream_id });
    expect((await error(wire, stream_id)).payload.code).toBe('BACKPRESSURE_OVERFLOW');
    wire.send('stream.open', { kind: 'text', name: 'ok' }, { stream_id: 'ok', job_id: jobId });
    wire.send('stream.chunk', { sequence: 0, data: 'fine' }, { stream_id: 'ok' });
    wire.send('stream.close', {}, { stream_id: 'ok' });
    expect(await wire.untilEnded(jobId)).toMatchObject({ payload: { result: 'fine' } });
  });

  test('orders chunks, and reports missing ones', async () => {
    const wire = await opened(reading());
    const { jobId } = await wire.startJob('read');
    const stream_id = 'up-1';
    wire.send('stream.open', { kind: 'text' }, { stream_id, job_id: jobId });
    for (const sequence of [1, 0, 2]) wire.send('stream.chunk', { sequence, data: `${sequence}` }, { stream_id });
    wire.send('stream.close', { total_chunks: 3 }, { stream_id });
    expect(await wire.untilEnded(jobId)).toMatchObject({ payload: { result: '012' } });
    const gap = await wire.startJob('read');
    wire.send('stream.open', { kind: 'text' }, { stream_id: 'gap', job_id: gap.jobId });
    for (const sequence of [0, 2]) wire.send('stream.chunk', { sequence, data: 'x' }, { stream_id: 'gap' });
    wire.send('stream.close', { total_chunks: 3 }, { stream_id: 'gap' });
    expect((await error(wire, 'gap')).payload.code).toBe('DATA_LOSS');
    expect(await wire.untilEnded(gap.jobId)).toMatchObject({ type: 'job.failed', payload: { code: 'DATA_LOSS' } });
  });

  test.each([
    ['for an unknown job', {}, { job_id: 'job_none' }, {}, 'NOT_FOUND'],
    ['without a job', {}, {}, {}, 'INVALID_ARGUMENT'],
    ['that was not negotiated', {}, { job_id: 'any' }, { streaming: false }, 'UNIMPLEMENTED'],
    [
      'of bytes if binary streams were not negotiated',
      { kind: 'binary' },
      { job_id: 'any' },
      { binary_streams: false },
      'UNIMPLEMENTED',
    ],
  ])('refuses a stream %s', async (_, payload, more, capabilities, code) => {
    const wire = await opened(reading(), capabilities);
    wire.send('stream.open', { kind: 'text', ...payload }, { stream_id: 's', ...more });
    expect((await error(wire, 's')).payload.code).toBe(code);
  });

  test('refuses streams to jobs of others, and chunks of their streams', async () => {
    const runtime = reading({ auth: (auth) => ({ principal: auth?.token ?? 'p', trust: 'constrained' }) });
    const wire = await opened(runtime);
    const other = connectTo(runtime);
    await other.open({ capabilities: { streaming: true }, auth: { scheme: 'bearer', token: 'other' } });
    const { jobId } = await wire.startJob('read');
    other.send('stream.open', { kind: 'text' }, { stream_id: 'theirs', job_id: jobId });
    expect((await error(other, 'theirs')).payload.code).toBe('NOT_FOUND');
    wire.send('stream.open', { kind: 'text' }, { stream_id: 'ours', job_id: jobId });
    wire.send('stream.chunk', { sequence: 0, data: 'a' }, { stream_id: 'ours' });
    other.send('stream.chunk', { sequence: 1, data: 'X' }, { stream_id: 'ours' });
    other.send('stream.close', {}, { stream_id: 'ours' });
    await other.answer('nack', other.send('job.nonsense'));
    wire.send('stream.chunk', { sequence: 1, data: 'b' }, { stream_id: 'ours' });
    wire.send('stream.close', {}, { stream_id: 'ours' });
    expect(await wire.untilEnded(jobId)).toMatchObject({ payload: { result: 'ab' } });
  });
});

describe('behind a command that the store does not finish', () => {
  const CHUNK = 64 * 1024;
  const HEARTBEAT_MS = 1000;

  /** Sends a stream while the store does not answer. */
  async function heldUp() {
    const store = memoryStore();
    const gate = deferred();
    let isHeld = false;
    const commit: typeof store.commit = async (entry) => {
      if (isHeld) await gate.promise;
      return store.commit(entry);
    };
    const runtime = reading({ store: { ...store, commit }, heartbeatMs: HEARTBEAT_MS });
    runtime.tool('measure', { durable: true }, async (input, context) => {
      const text = (await readAll(input, context)) as string;
      return text.length;
    });
    const [here, there] = memoryChannels();
    let delivered = 0;
    const start: Channel['start'] = (receiver) => {
      const text = (of: string): void => {
        delivered += of.length;
        receiver.text(of);
      };
      there.start({ ...receiver, text });
    };
    void runtime.accept({ ...there, start });
    const wire = new Wire(here);
    await wire.open();
    const { jobId } = await wire.startJob('measure');
    isHeld = true;
    delivered = 0;
    wire.send('tool.invoke', { tool: 'call' });
    wire.send('stream.open', { kind: 'text' }, { stream_id: 'up', job_id: jobId });
    const data = 'x'.repeat(CHUNK);
    const chunks = 100;
    for (let sequence = 0; sequence < chunks; sequence++)
      wire.send('stream.chunk', { sequence, data }, { stream_id: 'up' });
    wire.send('stream.close', { total_chunks: chunks }, { stream_id: 'up' });
    for (let turn = 0; turn < 2 * chunks; turn++) await new Promise((resolve) => setImmediate(resolve));
    const release = (): void => {
      isHeld = false;
      gate.resolve();
    };
    ending.push(async () => release());
    return { wire, jobId, length: chunks * CHUNK, delivered: () => delivered, release };
  }

  test('chunks stay in the channel, and none is lost', async () => {
    const { wire, jobId, length, delivered, release } = await heldUp();
    expect(delivered()).toBeGreaterThan(CHUNK);
    expect(delivered()).toBeLessThan(1024 * 1024 + 2 * CHUNK);
    release();
    expect(await wire.untilEnded(jobId)).toMatchObject({ payload: { result: length } });
  });

  test('a client whose answers to pings stay in the channel is not taken for lost', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const { wire, jobId, release } = await heldUp();
      for (let beat = 0; beat < 10; beat++) {
        await vi.advanceTimersByTimeAsync(HEARTBEAT_MS);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(wire.types()).toContain('ping');
      release();
      expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.completed' });
    } finally {
      vi.useRealTimers();
    }
  });
});
