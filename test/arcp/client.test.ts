import { type AddressInfo, createServer } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { openClient } from '../../src/arcp/client/client.js';
import { connect } from '../../src/arcp/client/node/connect.js';
import type { Client, ClientOptions, Cursor, Dial } from '../../src/arcp/client/types.js';
import { ArcpError, type Envelope } from '../../src/arcp/index.js';
import {
  type ArcpStore,
  bearer,
  createRuntime,
  type JobContext,
  memoryStore,
  type Runtime,
  type RuntimeOptions,
  StoreError,
} from '../../src/arcp/runtime/index.js';
import type { Channel } from '../../src/channels/channel.js';
import { memoryChannels } from '../../src/channels/memory.js';
import { passingTime } from '../helpers/passing-time.js';
import { deferred } from './runtime/wire.js';

const ending: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

function start(options: RuntimeOptions = {}): Runtime {
  const runtime = createRuntime(options);
  ending.push(() => runtime.close());
  return runtime
    .tool('echo', {}, (input) => input)
    .tool('job', { durable: true }, (input) => input)
    .tool(
      'slow',
      { durable: true },
      (_, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    )
    .tool('count', { durable: true }, count);
}

async function count(input: Record<string, unknown>, { progress }: JobContext): Promise<string> {
  for (let n = 0; n < Number(input['to'] ?? 5); n++) {
    await progress({ current: n });
    if (n % 10 === 9) await new Promise((resolve) => setImmediate(resolve));
  }
  return 'counted';
}

/** Opens connections whose messages, or whose ends, do not arrive. */
function deafLine(runtime: Runtime) {
  const sent: string[] = [];
  let isDeaf = false;
  let lose = (): void => undefined;
  let cut = (): void => undefined;
  const dial: Dial = () => {
    const [here, other] = memoryChannels();
    void runtime.accept(other);
    let isLost = false;
    isDeaf = false;
    cut = () => here.destroy();
    return {
      ...here,
      start: (receiver) => {
        lose = () => {
          isLost = true;
          receiver.ended();
        };
        here.start({
          ...receiver,
          text: (text) => void (isLost || isDeaf || receiver.text(text)),
          ended: (error) => void (isLost || receiver.ended(error)),
        });
      },
      send: (text) => {
        if (isLost) return;
        sent.push(text);
        here.send(text);
      },
      end: async () => void (isLost || (await here.end())),
      destroy: () => void (isLost || here.destroy()),
    };
  };
  return { dial, lose: () => lose(), cut: () => cut(), beDeaf: () => (isDeaf = true), sent };
}

/** Opens connections to a runtime that can be interrupted. */
function line(runtime: Runtime): { readonly dial: Dial; readonly cut: () => void; readonly dialled: () => number } {
  let there: Channel | undefined;
  let times = 0;
  return {
    dial: () => {
      const [here, other] = memoryChannels();
      there = other;
      times++;
      void runtime.accept(other);
      return here;
    },
    cut: () => there?.destroy(),
    dialled: () => times,
  };
}

async function connected(runtime: Runtime, options: ClientOptions = {}): Promise<Client> {
  const client = await openClient(line(runtime).dial, options);
  ending.push(() => client.disconnect());
  return client;
}

async function all<T>(values: AsyncIterable<T>): Promise<T[]> {
  const taken: T[] = [];
  for await (const value of values) taken.push(value);
  return taken;
}

const currents = (events: readonly Envelope[]): unknown[] =>
  events.flatMap((event) => (event.type === 'job.progress' ? [event.payload.current] : []));

describe('calls', () => {
  test('run a tool directly, and as a job', async () => {
    const client = await connected(start());
    expect(client.session).toMatchObject({ mode: 'durable', tools: [{ name: 'echo' }, {}, {}, {}] });
    const direct = client.invoke('echo', { a: 1 });
    expect([await direct.accepted, await direct.result()]).toEqual([undefined, { a: 1 }]);
    const job = client.invoke<{ a: number }>('job', { a: 2 });
    expect(await job.accepted).toMatch(/^job_/);
    expect((await job.result()).a).toBe(2);
    expect([direct.state, job.state]).toEqual(['completed', 'completed']);
    expect(await client.ping()).toBeGreaterThanOrEqual(0);
  });

  test('report each message once, in order, to the last', async () => {
    const client = await connected(start());
    const invocation = client.invoke('count', { to: 30 });
    const events = await all(invocation.events());
    expect(events.map(({ type }) => type)).toEqual([
      'job.accepted',
      'job.started',
      ...Array(30).fill('job.progress'),
      'job.completed',
    ]);
    expect(currents(events)).toEqual(Array.from({ length: 30 }, (_, n) => n));
    expect(await all(invocation.events())).toEqual([]);
  });

  test('fail with the refusal or the error', async () => {
    const runtime = start().tool('broken', { durable: true }, () => {
      throw new ArcpError('RATE_LIMITED', 'later', { retryable: false, details: { a: 1 } });
    });
    const client = await connected(runtime);
    const refused = client.invoke('none');
    await expect(refused.accepted).rejects.toMatchObject({ name: 'ArcpError', code: 'NOT_FOUND' });
    await expect(refused.result()).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const failed = client.invoke('broken');
    await expect(failed.result()).rejects.toMatchObject({ code: 'RATE_LIMITED', retryable: false, details: { a: 1 } });
    expect(failed.state).toBe('failed');
  });

  test('are cancelled by a method, a signal or a timeout', async () => {
    const client = await connected(start());
    const one = client.invoke('slow');
    await one.cancel({ reason: 'enough' });
    await expect(one.result()).rejects.toMatchObject({
      code: 'CANCELLED',
      message: 'enough',
      details: { cause: 'client', forced: false },
    });
    await expect(one.cancel()).rejects.toMatchObject({ code: 'FAILED_PRECONDITION' });
    const controller = new AbortController();
    const other = client.invoke('slow', {}, { signal: controller.signal });
    controller.abort();
    await expect(other.result()).rejects.toMatchObject({ code: 'CANCELLED' });
    await expect(
      client.invoke('slow', {}, { signal: AbortSignal.abort(new Error('before')) }).result(),
    ).rejects.toThrow('before');
    await expect(client.invoke('slow', {}, { timeoutMs: 10 }).result()).rejects.toMatchObject({
      code: 'DEADLINE_EXCEEDED',
    });
  });

  test('have their id and state as JSON', async () => {
    const client = await connected(start());
    const invocation = client.invoke('echo', { a: 1 });
    await invocation.result();
    expect(JSON.parse(JSON.stringify(invocation))).toEqual({ id: invocation.id, state: 'completed' });
  });

  test('run concurrently', async () => {
    const client = await connected(start());
    const results = await Promise.all(
      Array.from({ length: 300 }, (_, n) => client.invoke(n % 2 === 0 ? 'echo' : 'job', { n }).result()),
    );
    expect(results).toEqual(Array.from({ length: 300 }, (_, n) => ({ n })));
  });

  test('belong to a trace', async () => {
    const client = await connected(start());
    const events = await all(client.invoke('job', {}, { traceId: 'trace-1', parentSpanId: 'span-1' }).events());
    expect(new Set(events.map(({ trace_id }) => trace_id))).toEqual(new Set(['trace-1']));
  });
});

describe('connections that break', () => {
  test('are reopened without loss, repetition or repeated execution', async () => {
    let runs = 0;
    const runtime = start().tool('once', { durable: true }, async (input, context) => {
      runs++;
      return count(input, context);
    });
    const { dial, cut, dialled } = line(runtime);
    const heard: Envelope[] = [];
    const client = await openClient(dial, {
      reconnect: { minDelayMs: 1, maxDelayMs: 5 },
      onMessage: (message) => heard.push(message),
    });
    ending.push(() => client.disconnect());
    const invocations = Array.from({ length: 10 }, () => client.invoke('once', { to: 200 }));
    const events = invocations.map((invocation) => all(invocation.events()));
    let isDone = false;
    const results = Promise.all(invocations.map((invocation) => invocation.result())).then((done) => {
      isDone = true;
      return done;
    });
    while (!isDone) {
      await new Promise((resolve) => setTimeout(resolve, 3 + Math.random() * 8));
      cut();
    }
    expect(await results).toEqual(Array(10).fill('counted'));
    for (const told of events) {
      expect(currents(await told)).toEqual(Array.from({ length: 200 }, (_, n) => n));
    }
    const ids = heard.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(runs).toBe(10);
    expect(dialled()).toBeGreaterThan(2);
  });

  test('are reopened again if the resumption is refused with a retryable error', async () => {
    const store = memoryStore();
    let failures = 0;
    const lastSequences: ArcpStore['lastSequences'] = async (sessionIds) => {
      if (failures-- > 0) throw new StoreError('unavailable', 'The store cannot be reached');
      return store.lastSequences(sessionIds);
    };
    const end = deferred();
    const runtime = start({ store: { ...store, lastSequences } }).tool('wait', { durable: true }, () => end.promise);
    const { dial, cut, dialled } = line(runtime);
    const errors: unknown[] = [];
    const client = await openClient(dial, {
      reconnect: { minDelayMs: 1, maxDelayMs: 5 },
      onError: (error) => errors.push(error),
    });
    ending.push(() => client.disconnect());
    const job = client.invoke('wait');
    await job.accepted;
    failures = 3;
    cut();
    await expect.poll(dialled).toBe(5);
    end.resolve();
    expect(await job.result()).toBeUndefined();
    expect(errors).toContainEqual(expect.objectContaining({ code: 'UNAVAILABLE', retryable: true }));
  });

  test('whose end the runtime does not notice leave no backpressure behind', async () => {
    const runtime = start().tool('talk', { durable: true }, async (_, { stream }) => {
      const out = stream({ kind: 'text' });
      for (let n = 0; n < 300; n++) {
        await out.write('x');
        await new Promise((resolve) => setImmediate(resolve));
      }
      return 'done';
    });
    const { dial, lose, sent } = deafLine(runtime);
    const client = await openClient(dial, { reconnect: { minDelayMs: 50, maxDelayMs: 50 } });
    ending.push(() => client.disconnect());
    const job = client.invoke('talk');
    const reading = job.stream('text');
    await reading.next();
    await expect.poll(() => sent.join()).toMatch(/"backpressure"/);
    lose();
    // The reader catches up while there is no connection.
    expect((await all(reading)).length).toBe(299);
    expect(await job.result()).toBe('done');
  });

  test('that are lost after a message of a job of another session miss nothing', async () => {
    const [far, own] = [deferred(), deferred()];
    const runtime = start()
      .tool('far', { durable: true }, async (_, { progress, signal }) => {
        await far.promise;
        await progress({ message: 'far' });
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      })
      .tool('own', { durable: true }, async (_, { progress }) => {
        await own.promise;
        await progress({ message: 'own' });
      });
    const other = await openClient(line(runtime).dial);
    const jobId = await other.invoke('far').accepted;
    const { dial, cut, beDeaf } = deafLine(runtime);
    const heard: unknown[] = [];
    const client = await openClient(dial, {
      reconnect: { minDelayMs: 1, maxDelayMs: 1 },
      onMessage: ({ type, payload }) => type === 'job.progress' && heard.push((payload as { message: string }).message),
    });
    ending.push(
      () => other.disconnect(),
      () => client.disconnect(),
    );
    const job = client.invoke('own');
    await job.accepted;
    client.job(jobId!);
    await expect.poll(() => runtime.counts().jobs).toBe(2);
    far.resolve();
    await expect.poll(() => heard).toEqual(['far']);
    beDeaf();
    own.resolve();
    await expect.poll(() => runtime.counts().jobs).toBe(1);
    cut();
    await job.result();
    expect(heard).toEqual(['far', 'own']);
  });

  test('that cannot be opened are retried up to the limit, and then all calls fail', async () => {
    let times = 0;
    const dial = (): never => {
      times++;
      throw new Error('nobody is there');
    };
    await expect(openClient(dial, { reconnect: { minDelayMs: 1, maxAttempts: 3 } })).rejects.toThrow('nobody is there');
    expect(times).toBe(4);
    await expect(openClient(dial, { reconnect: false })).rejects.toThrow('nobody is there');
    expect(times).toBe(5);
  });

  test('without a session in time fail all calls, with and without a server', async () => {
    const nobody = (): never => {
      throw new Error('nobody is there');
    };
    const late = { code: 'DEADLINE_EXCEEDED', message: expect.stringContaining('nobody is there') };
    await expect(openClient(nobody, { timeoutMs: 50 })).rejects.toMatchObject(late);
    const [here] = memoryChannels();
    const silent = openClient(() => here, { timeoutMs: 50 });
    await expect(silent).rejects.toMatchObject({
      code: 'DEADLINE_EXCEEDED',
      message: 'No session was opened within 50 ms',
    });
    const server = createServer(() => {}).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    await expect(connect(`ws://127.0.0.1:${port}/arcp`, { timeoutMs: 50 })).rejects.toMatchObject({
      code: 'DEADLINE_EXCEEDED',
    });
    server.close();
  });

  test('without reconnection fail all pending calls', async () => {
    const runtime = start();
    const { dial, cut } = line(runtime);
    const client = await openClient(dial, { reconnect: false });
    const invocation = client.invoke('slow');
    await invocation.accepted;
    cut();
    await expect(invocation.result()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await client.closed;
    await expect(client.invoke('echo').result()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expect(client.ping()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  test.each([
    [{ timeoutMs: 0 }, 'timeoutMs must be a positive number of milliseconds or Infinity; got 0'],
    [{ heartbeatMs: Number.NaN }, 'heartbeatMs must be a positive number of milliseconds or Infinity; got NaN'],
    [{ reconnect: { minDelayMs: -1 } }, 'minDelayMs must be a non-negative number of milliseconds or Infinity; got -1'],
    [{ reconnect: { maxAttempts: -1 } }, 'maxAttempts must be a non-negative number or Infinity; got -1'],
  ] satisfies [ClientOptions, string][])('refuse the options %j', async (options, message) => {
    await expect(openClient(line(start()).dial, options)).rejects.toThrow(new TypeError(message));
  });

  test('accept Infinity as a duration', async () => {
    const never = Number.POSITIVE_INFINITY;
    const runtime = start({ workers: { cancelGraceMs: never } }).tool(
      'patient',
      { durable: true, timeoutMs: never, retry: { maxAttempts: 2, maxBackoffMs: never, backoffMs: 1 } },
      (_, { attempt }) => {
        if (attempt === 1) throw new ArcpError('UNAVAILABLE', 'later');
        return attempt;
      },
    );
    const client = await openClient(line(runtime).dial, { timeoutMs: never, heartbeatMs: never });
    ending.push(() => client.close());
    expect(await client.invoke('patient', {}, { timeoutMs: never }).result()).toBe(2);
    const slow = client.invoke('slow');
    await slow.cancel({ deadlineMs: never });
    await expect(slow.result()).rejects.toMatchObject({ code: 'CANCELLED' });
    await expect(client.invoke('slow').cancel({ deadlineMs: -1 })).rejects.toThrow(TypeError);
  });

  test('without messages are replaced', async () => {
    const runtime = start();
    let isDead = false;
    const { dial, dialled } = line(runtime);
    const deaf: Dial = async () => {
      const channel = await dial();
      return {
        ...channel,
        start: (receiver) => channel.start({ ...receiver, text: (text) => isDead || receiver.text(text) }),
        destroy: channel.destroy,
      };
    };
    const client = await openClient(deaf, { heartbeatMs: 50, reconnect: { minDelayMs: 1, maxDelayMs: 20 } });
    ending.push(() => client.disconnect());
    isDead = true;
    while (dialled() < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    isDead = false;
    expect(await client.invoke('echo', { a: 1 }).result()).toEqual({ a: 1 });
  });

  test('end if the session no longer exists', async () => {
    const clock = passingTime(Date.now());
    const runtime = start({ now: () => clock.now, resumeWindowMs: 1000 });
    const { dial, cut } = line(runtime);
    const client = await openClient(dial, { reconnect: { minDelayMs: 30 } });
    const invocation = client.invoke('slow');
    await invocation.accepted;
    cut();
    await new Promise((resolve) => setTimeout(resolve, 5));
    clock.now += 10_000;
    await expect(invocation.result()).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await client.closed).toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('sessions', () => {
  test('continue in another process from a stored cursor', async () => {
    const runtime = start();
    let kept: Cursor | undefined;
    const cursor = {
      load: () => kept,
      save: (now: Cursor) => {
        kept = now;
      },
    };
    const first = await openClient(line(runtime).dial, { cursor });
    const invocation = first.invoke('count', { to: 400 });
    const jobId = await invocation.accepted;
    const before: Envelope[] = [];
    for await (const event of invocation.events()) {
      before.push(event);
      if (currents(before).length >= 50) break;
    }
    await first.disconnect();
    const after: Envelope[] = [];
    const done = deferred();
    const second = await openClient(line(runtime).dial, {
      cursor,
      onMessage: (message) => {
        after.push(message);
        if (message.type === 'job.completed') done.resolve();
      },
    });
    ending.push(() => second.disconnect());
    expect(second.session.session_id).toBe(first.session.session_id);
    await done.promise;
    const rest = currents(after.filter(({ job_id }) => job_id === jobId)) as number[];
    // Messages after the last consumed event may also have been received.
    expect(rest).toEqual(Array.from({ length: 400 - rest[0]! }, (_, n) => n + rest[0]!));
    expect(rest[0]).toBeGreaterThanOrEqual(50);
  });

  test('can follow a job by its id, from its first message', async () => {
    const runtime = start();
    const first = await connected(runtime);
    const jobId = await first.invoke('count', { to: 20 }).accepted;
    const second = await connected(runtime);
    const job = second.job(jobId!);
    const events = await all(job.events());
    expect(currents(events)).toEqual(Array.from({ length: 20 }, (_, n) => n));
    expect([await job.accepted, await job.result()]).toEqual([jobId, 'counted']);
    await expect(second.job('job_none').result()).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('are closed, with their jobs or without', async () => {
    const runtime = start();
    const client = await connected(runtime);
    const invocation = client.invoke('slow');
    await invocation.accepted;
    await client.close({ jobs: 'cancel', reason: 'bye' });
    await expect(invocation.result()).rejects.toMatchObject({ code: 'CANCELLED', message: 'bye' });
    expect(await client.closed).toBeUndefined();
  });

  test('that are refused fail with the reason', async () => {
    const runtime = start({
      auth: bearer((token) => (token === 'secret' ? { principal: 'alice', trust: 'trusted' } : undefined)),
    });
    await expect(connected(runtime)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    const client = await connected(runtime, { auth: { scheme: 'bearer', token: 'secret' }, trust: 'constrained' });
    expect(client.session.trust_level).toBe('constrained');
  });

  test('are not affected by listeners that throw', async () => {
    const errors: unknown[] = [];
    const client = await connected(start(), {
      onMessage: () => {
        throw new Error('mine');
      },
      onError: (error) => {
        errors.push(error);
        throw error;
      },
    });
    expect(await client.invoke('echo', { a: 1 }).result()).toEqual({ a: 1 });
  });
});

test('a client resumes after a message that the runtime stores, and not after a transient one', async () => {
  const runtime = start();
  const { dial, cut } = line(runtime);
  const said: Envelope[] = [];
  const saved: Cursor[] = [];
  const client = await openClient(dial, {
    reconnect: { minDelayMs: 1 },
    onMessage: (message) => said.push(message),
    cursor: { load: () => undefined, save: (cursor) => void saved.push(cursor) },
  });
  ending.push(() => client.disconnect());
  await client.invoke('job', { n: 1 }).result();
  const end = said.findLast(({ type }) => type === 'job.completed')!;
  runtime.tool('late', {}, () => 1);
  await expect.poll(() => said.some(({ type }) => type === 'event.emit')).toBe(true);
  cut();
  expect(await client.invoke('job', { n: 2 }).result()).toEqual({ n: 2 });
  await client.disconnect();
  expect(saved.map(({ lastMessageId }) => lastMessageId)).not.toContain(
    said.find(({ type }) => type === 'event.emit')!.id,
  );
  expect(said.filter(({ id }) => id === end.id)).toHaveLength(1);
});

test.each<[string, (client: Client) => Promise<unknown>, (message: Envelope) => boolean]>([
  [
    'a stream is refused after the client has ended it',
    async (client) => {
      const call = client.invoke('slow');
      await call.accepted;
      await call.upload({ kind: 'binary' }).close();
    },
    ({ type }) => type === 'stream.error',
  ],
  [
    'a call turns out to be a repetition',
    async (client) => {
      for (let n = 0; n < 2; n++) await client.invoke('slow', {}, { operationKey: 'once' }).accepted;
    },
    (message) => message.type === 'job.accepted' && message.payload.duplicate === true,
  ],
])('a saved cursor names a message that the runtime stores, also if %s', async (_, play, isTransient) => {
  const store = memoryStore();
  const said: Envelope[] = [];
  let saved: Cursor | undefined;
  const cursor = {
    load: () => undefined,
    save: (now: Cursor) => {
      saved = now;
    },
  };
  const client = await openClient(line(start({ store })).dial, {
    capabilities: { streaming: true, durable_jobs: true },
    onMessage: (message) => said.push(message),
    cursor,
  });
  await play(client);
  await expect.poll(() => said.some(isTransient)).toBe(true);
  await client.disconnect();
  expect(await store.findEvent(saved!.lastMessageId!)).toBeDefined();
});
