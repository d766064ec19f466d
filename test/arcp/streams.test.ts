import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { openClient } from '../../src/arcp/client/client.js';
import type { Client, ClientOptions } from '../../src/arcp/client/types.js';
import type { Envelope } from '../../src/arcp/index.js';
import { createRuntime, type JobContext, type Runtime } from '../../src/arcp/runtime/index.js';
import { StreamReader } from '../../src/arcp/streams/reader.js';
import { memoryChannels } from '../../src/channels/memory.js';
import { connectTo, deferred, type Wire } from './runtime/wire.js';

const ending: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

function start(handler: (context: JobContext) => unknown): Runtime {
  const runtime = createRuntime({ workers: { leaseMs: 60_000 } });
  ending.push(() => runtime.close());
  return runtime
    .tool('stream', { durable: true }, (_, context) => handler(context))
    .tool('direct', {}, (_, context) => handler(context));
}

async function connected(runtime: Runtime, options: ClientOptions = {}): Promise<Client> {
  const client = await openClient(() => {
    const [here, there] = memoryChannels();
    void runtime.accept(there);
    return here;
  }, options);
  ending.push(() => client.disconnect());
  return client;
}

async function all<T>(values: AsyncIterable<T>): Promise<T[]> {
  const taken: T[] = [];
  for await (const value of values) taken.push(value);
  return taken;
}

const ofStreams = (wire: Wire): Envelope[] => wire.heard.filter(({ type }) => type.startsWith('stream.'));
const chunks = (wire: Wire): Envelope<'stream.chunk'>[] =>
  wire.heard.filter((message) => message.type === 'stream.chunk');

describe('a stream of each kind', () => {
  const binary = Uint8Array.from({ length: 700_000 }, (_, n) => (n * 7) % 256);
  const contents = {
    text: ['Hello, ', 'wörld 😀', ' and all'],
    binary: [binary],
    event: [{ a: 1 }, [2], 'three', null],
    log: [{ level: 'info', message: 'hi' }],
    telemetry: [{ name: 'rows', value: 3 }],
  } as const;

  test.each(Object.keys(contents) as (keyof typeof contents)[])('%s arrives unchanged', async (kind) => {
    for (const tool of ['stream', 'direct']) {
      const runtime = start(async ({ stream }) => {
        const out = stream({ kind, name: 'out' });
        for (const content of contents[kind]) await out.write(content as never);
        await out.close('done');
        return 'ok';
      });
      const client = await connected(runtime);
      const invocation = client.invoke(tool);
      const read = await all(invocation.stream('out'));
      expect(await invocation.result()).toBe('ok');
      if (kind === 'text') expect(read.join('')).toBe(contents.text.join(''));
      else if (kind === 'binary') expect(Buffer.concat(read as Uint8Array[]).equals(binary)).toBe(true);
      else expect(read).toEqual(contents[kind]);
    }
  });

  test('reports its kind and length', async () => {
    const runtime = start(async ({ stream }) => {
      const out = stream({ kind: 'text', name: 'notes', contentType: 'text/markdown', expectedBytes: 9 });
      await out.write('a€');
      await out.write('b');
      await out.close('that was all');
    });
    const wire = connectTo(runtime);
    await wire.open();
    const { jobId } = await wire.startJob('stream');
    await wire.untilEnded(jobId);
    const [opened, ...rest] = ofStreams(wire);
    expect(opened).toMatchObject({
      type: 'stream.open',
      job_id: jobId,
      payload: { kind: 'text', name: 'notes', content_type: 'text/markdown', expected_bytes: 9, related_job_id: jobId },
    });
    expect(rest).toMatchObject([
      { type: 'stream.chunk', payload: { sequence: 0, data: 'a€' } },
      { type: 'stream.chunk', payload: { sequence: 1, data: 'b' } },
      { type: 'stream.close', payload: { total_chunks: 2, total_bytes: 5, reason: 'that was all' } },
    ]);
    expect(new Set(ofStreams(wire).map(({ stream_id }) => stream_id)).size).toBe(1);
  });

  test('that is left open ends before its job', async () => {
    const runtime = start(({ stream }) => void stream({ kind: 'text' }).write('abc'));
    const wire = connectTo(runtime);
    await wire.open();
    const { jobId } = await wire.startJob('stream');
    await wire.untilEnded(jobId);
    expect(wire.types().slice(3)).toEqual(['stream.open', 'stream.chunk', 'stream.close', 'job.completed']);
  });

  test('of a job that fails also fails', async () => {
    const runtime = start(async ({ stream }) => {
      await stream({ kind: 'text' }).write('abc');
      throw new Error('broken');
    });
    const client = await connected(runtime);
    const invocation = client.invoke('stream');
    const read: string[] = [];
    const reading = (async () => {
      for await (const text of invocation.stream('text')) read.push(text);
    })();
    await expect(reading).rejects.toMatchObject({ code: 'INTERNAL', message: 'broken' });
    expect(read).toEqual(['abc']);
  });

  test('refuses content of another kind, and any after its end', async () => {
    const runtime = start(async ({ stream }) => {
      const out = stream({ kind: 'text' });
      await expect(out.write(7 as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
      await out.close();
      await out.close();
      await expect(out.write('x')).rejects.toMatchObject({ code: 'FAILED_PRECONDITION' });
      return 'ok';
    });
    expect(await (await connected(runtime)).invoke('stream').result()).toBe('ok');
  });

  test('is not sent to a client without streaming; a binary one is refused', async () => {
    const runtime = start(async ({ stream }) => {
      await stream({ kind: 'text' }).write('abc');
      stream({ kind: 'binary' });
    });
    const none = connectTo(runtime);
    await none.open({ capabilities: { durable_jobs: true } });
    const first = await none.startJob('stream');
    expect(await none.untilEnded(first.jobId)).toMatchObject({ type: 'job.completed' });
    expect(ofStreams(none)).toEqual([]);
    const text = connectTo(runtime);
    await text.open({ capabilities: { durable_jobs: true, streaming: true } });
    const second = await text.startJob('stream');
    expect(await text.untilEnded(second.jobId)).toMatchObject({
      type: 'job.failed',
      payload: { code: 'UNIMPLEMENTED' },
    });
  });
});

describe('many streams', () => {
  test('share one connection, each in order', async () => {
    const runtime = start(async ({ stream }) => {
      await Promise.all(
        Array.from({ length: 100 }, async (_, n) => {
          const out = stream({ kind: 'event', name: `s${n}` });
          for (let i = 0; i < 20; i++) await out.write([n, i]);
        }),
      );
    });
    const client = await connected(runtime);
    const invocation = client.invoke('stream');
    const read = await Promise.all(Array.from({ length: 100 }, (_, n) => all(invocation.stream(`s${n}`))));
    expect(read).toEqual(Array.from({ length: 100 }, (_, n) => Array.from({ length: 20 }, (__, i) => [n, i])));
  });
});

describe('back-pressure', () => {
  test('slows a stream down, whose text is joined without loss', async () => {
    const runtime = start(async ({ stream }) => {
      const out = stream({ kind: 'text' });
      await out.write('start');
      await Promise.all(Array.from({ length: 1000 }, (_, n) => out.write(`${n},`)));
    });
    const wire = connectTo(runtime);
    await wire.open();
    wire.send('backpressure', {
      desired_rate_per_second: 20,
      buffer_remaining_bytes: 65_536,
      reason: 'client_render_queue_full',
    });
    const { jobId } = await wire.startJob('stream');
    await wire.untilEnded(jobId);
    const sent = chunks(wire);
    expect(sent.length).toBeLessThan(10);
    expect(sent.map(({ payload }) => payload.data).join('')).toBe(
      `start${Array.from({ length: 1000 }, (_, n) => `${n},`).join('')}`,
    );
    for (const [at, { payload }] of sent.entries()) {
      const before = sent[at - 1]?.payload;
      expect(payload.sequence).toBe(before === undefined ? 0 : (before.last_sequence ?? before.sequence!) + 1);
    }
    expect(wire.heard.find((message) => message.type === 'stream.close')).toMatchObject({
      payload: { total_chunks: 1001 },
    });
  });

  test('limits the rate', async () => {
    const stop = deferred();
    const times: number[] = [];
    const runtime = start(async ({ stream }) => {
      const out = stream({ kind: 'event' });
      let isOver = false;
      void stop.promise.then(() => {
        isOver = true;
      });
      for (let n = 0; !isOver; n++) {
        await out.write(n);
        times.push(n);
      }
    });
    const wire = connectTo(runtime);
    await wire.open();
    wire.send('backpressure', { desired_rate_per_second: 50 });
    const { jobId } = await wire.startJob('stream');
    await wire.until(() => chunks(wire).length >= 20);
    stop.resolve();
    await wire.untilEnded(jobId);
    // By the clock of the sender: 20 chunks have 19 intervals of 20 ms.
    const at = chunks(wire).map(({ timestamp }) => Date.parse(timestamp));
    expect(at[19]! - at[0]!).toBeGreaterThanOrEqual(19 * 20 - 20);
  });

  test('without buffer space pauses the stream until it changes', async () => {
    const runtime = start(async ({ stream }) => {
      const out = stream({ kind: 'event' });
      for (let n = 0; n < 50; n++) await out.write(n);
    });
    const wire = connectTo(runtime);
    await wire.open();
    const { id } = wire.send('tool.invoke', { tool: 'stream' });
    const first = await wire.until(({ type }) => type === 'stream.chunk');
    wire.send('backpressure', { buffer_remaining_bytes: 0 }, { stream_id: first.stream_id });
    await new Promise((resolve) => setTimeout(resolve, 50));
    const paused = chunks(wire).length;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(chunks(wire).length).toBe(paused);
    wire.send('backpressure', {}, { stream_id: first.stream_id });
    const accepted = await wire.answer('job.accepted', { id });
    await wire.untilEnded(accepted.payload.job_id!);
    expect(chunks(wire).map(({ payload }) => payload.event)).toEqual(Array.from({ length: 50 }, (_, n) => n));
  });

  test('does not delay the end of the job', async () => {
    const runtime = start(({ stream }) => {
      const out = stream({ kind: 'event' });
      for (let n = 0; n < 10; n++) void out.write(n);
    });
    const wire = connectTo(runtime);
    await wire.open();
    wire.send('backpressure', { desired_rate_per_second: 0 });
    const { jobId } = await wire.startJob('stream');
    await wire.untilEnded(jobId);
    expect(chunks(wire)).toHaveLength(10);
  });

  test('is sent automatically by a slow reader', async () => {
    let written = 0;
    const runtime = start(async ({ stream }) => {
      const out = stream({ kind: 'event' });
      for (let n = 0; n < 1000; n++) {
        await out.write(n);
        written = n + 1;
        // A store in memory does not yield to the event loop.
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    const client = await connected(runtime);
    const invocation = client.invoke('stream');
    const numbers = invocation.stream('event');
    const first = await numbers.next();
    await new Promise((resolve) => setTimeout(resolve, 100));
    // The buffer of the reader, plus some chunks in transit.
    expect(written).toBeLessThan(300);
    const rest = await all(numbers);
    expect([first.value, ...rest]).toEqual(Array.from({ length: 1000 }, (_, n) => n));
    await invocation.result();
  });

  test('of another principal is ignored', async () => {
    const runtime = createRuntime({ auth: (auth) => ({ principal: auth?.token ?? 'nobody', trust: 'trusted' }) });
    ending.push(() => runtime.close());
    const go = deferred();
    runtime.tool('stream', { durable: true }, async (_, { stream }) => {
      const out = stream({ kind: 'event' });
      await out.write(0);
      await go.promise;
      for (let n = 1; n < 20; n++) await out.write(n);
    });
    const alice = connectTo(runtime);
    await alice.open({ auth: { scheme: 'x', token: 'alice' } });
    const { jobId } = await alice.startJob('stream');
    const chunk = await alice.until(({ type }) => type === 'stream.chunk');
    const eve = connectTo(runtime);
    await eve.open({ auth: { scheme: 'x', token: 'eve' } });
    eve.send('backpressure', { desired_rate_per_second: 0 }, { stream_id: chunk.stream_id });
    await eve.answer('pong', eve.send('ping'));
    go.resolve();
    await alice.untilEnded(jobId);
    expect(chunks(alice)).toHaveLength(20);
  });
});

describe('a stream that is interrupted', () => {
  test('continues without a gap and without a repetition', async () => {
    const runtime = start(async ({ stream }) => {
      const out = stream({ kind: 'event' });
      for (let n = 0; n < 500; n++) {
        await out.write(n);
        if (n % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
      }
    });
    let cut = (): void => {};
    const client = await openClient(
      () => {
        const [here, there] = memoryChannels();
        cut = () => there.destroy();
        void runtime.accept(there);
        return here;
      },
      { reconnect: { minDelayMs: 1, maxDelayMs: 3 } },
    );
    ending.push(() => client.disconnect());
    const read: unknown[] = [];
    for await (const n of client.invoke('stream').stream('event')) {
      read.push(n);
      if (read.length % 60 === 0) cut();
    }
    expect(read).toEqual(Array.from({ length: 500 }, (_, n) => n));
  });

  test('is replayed without chunks if the client requests it', async () => {
    const runtime = start(async ({ stream, progress }) => {
      await stream({ kind: 'event' }).write(1);
      await progress({ percent: 50 });
    });
    const wire = connectTo(runtime);
    await wire.open();
    const { jobId } = await wire.startJob('stream');
    await wire.untilEnded(jobId);
    const from = wire.heard.length;
    await wire.answer('ack', wire.send('resume', { include_open_streams: false }, { job_id: jobId }));
    expect(wire.types(wire.heard.slice(from))).toEqual([
      'job.accepted',
      'job.started',
      'job.progress',
      'job.completed',
      'ack',
    ]);
  });
});

describe('a reader', () => {
  const reader = () => new StreamReader({ kind: 'event', onPressure: () => {}, onReturn: () => {} });

  test('orders chunks, and accepts each once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray(
          Array.from({ length: 30 }, (_, n) => n),
          { minLength: 30 },
        ),
        fc.array(fc.nat(29)),
        async (order, again) => {
          const stream = reader();
          for (const sequence of [...order, ...again]) stream.push({ sequence, event: sequence });
          stream.close(30);
          expect(await all(stream)).toEqual(Array.from({ length: 30 }, (_, n) => n));
        },
      ),
    );
  });

  test('reports missing chunks', async () => {
    const stream = reader();
    stream.push({ sequence: 0, event: 0 });
    stream.push({ sequence: 2, event: 2 });
    stream.close(3);
    expect(await stream.next()).toEqual({ done: false, value: 0 });
    await expect(stream.next()).rejects.toMatchObject({ code: 'DATA_LOSS' });
    expect(await stream.next()).toEqual({ done: true, value: undefined });
    const short = reader();
    short.push({ sequence: 0, event: 0 });
    short.close(2);
    await short.next();
    await expect(short.next()).rejects.toMatchObject({ code: 'DATA_LOSS' });
  });

  test('does not wait forever for a chunk', async () => {
    const stream = reader();
    for (let sequence = 1; sequence < 2000; sequence++) stream.push({ sequence, event: sequence });
    await expect(stream.next()).rejects.toMatchObject({ code: 'DATA_LOSS' });
  });
});
