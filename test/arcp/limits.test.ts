/** Messages that the other side does not accept: calls that wait for them fail, and the connection continues. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { connect, openClient } from '../../src/arcp/client/index.js';
import type { Client, ClientOptions, Dial, PermissionAnswer } from '../../src/arcp/client/types.js';
import { createRuntime, listenUnix, listenWebSocket, type Runtime } from '../../src/arcp/runtime/index.js';
import type { Channel } from '../../src/channels/channel.js';
import { memoryChannels } from '../../src/channels/memory.js';
import { connectTo } from './runtime/wire.js';

const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

const nest = (levels: number): unknown => (levels === 0 ? 0 : [nest(levels - 1)]);
const long = (characters: number): string => 'x'.repeat(characters);

/** A runtime that accepts and sends messages of at most 64 KiB. */
function start(maxMessageBytes = 65_536): Runtime {
  const runtime = createRuntime({ limits: { maxMessageBytes } });
  ending.push(() => runtime.close());
  const made = ({ size, levels }: Record<string, unknown>): unknown =>
    size === undefined ? nest(Number(levels)) : long(Number(size));
  return runtime
    .tool('echo', {}, () => 'here')
    .tool('size', {}, (input) => JSON.stringify(input).length)
    .tool('direct', {}, made)
    .tool('job', { durable: true }, made)
    .tool('emit', { durable: true }, async (input, { emit }) => emit('made', { value: made(input) }))
    .tool('checkpoint', { durable: true }, async (input, { checkpoint }) =>
      checkpoint(made(input), { isVisible: true }).then(() => 'kept'),
    )
    .tool('stream', { durable: true }, async (input, { stream }) => {
      const writer = stream({ kind: 'event', name: 'out' });
      await writer.write({ type: 'made', value: made(input) } as never);
      await writer.close();
      return 'written';
    })
    .tool('call', { durable: true }, async (input, { call }) => call('direct', input))
    .tool('fail', { durable: true }, (input) => {
      throw Object.assign(new Error(long(Number(input['size']))), { name: 'Error' });
    })
    .tool('ask', { durable: true, permissions: ['payment.create'] }, async (input, { permission }) => {
      await permission({ permission: 'payment.create', preview: made(input) });
      return 'granted';
    });
}

const inMemory =
  (runtime: Runtime): Dial =>
  () => {
    const [here, there] = memoryChannels();
    void runtime.accept(there);
    return here;
  };

async function open(dial: Dial, options: ClientOptions = {}): Promise<Client> {
  const client = await openClient(dial, { onPermission: () => ({ decision: 'grant' }), ...options });
  ending.push(() => client.disconnect());
  return client;
}

/** Returns the error code of a promise, or its value. */
const outcome = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (value) => value,
    (error: { readonly code?: string }) => error.code,
  );

test('runtimes and clients announce their limits', async () => {
  const wire = connectTo(start());
  const { payload } = await wire.open({ limits: { max_message_bytes: 10_000, max_depth: 30 } });
  expect(payload.limits).toMatchObject({ max_message_bytes: 65_536, max_depth: 64 });
  const { jobId } = await wire.startJob('job', { arguments: { size: 20_000 } });
  expect(await wire.untilEnded(jobId)).toMatchObject({
    type: 'job.failed',
    payload: { code: 'PAYLOAD_TOO_LARGE', details: { max_message_bytes: 10_000 } },
  });
  const deep = await wire.startJob('job', { arguments: { levels: 40 } });
  expect(await wire.untilEnded(deep.jobId)).toMatchObject({ payload: { code: 'PAYLOAD_TOO_LARGE' } });
});

describe('a client does not exceed the limits of the runtime', () => {
  test.each([
    ['a long argument', (client: Client) => client.invoke('size', { a: long(70_000) }).result()],
    ['a deep argument', (client: Client) => client.invoke('size', { a: nest(70) }).result()],
    ['a long input of a workflow', (client: Client) => client.startWorkflow('w', { a: long(70_000) }).result()],
    [
      'a deep argument of an agent',
      (client: Client) => client.delegate('a', 't', { arguments: { a: nest(62) } }).result(),
    ],
  ])('%s', async (_, call) => {
    const client = await open(inMemory(start()));
    expect(await outcome(call(client))).toBe('PAYLOAD_TOO_LARGE');
    expect(await client.invoke('echo').result()).toBe('here');
  });

  test('but sends a message of the maximum length', async () => {
    const client = await open(inMemory(start()));
    expect(await client.invoke('size', { a: nest(61) }).result()).toBe(129);
    expect(await client.invoke('size', { a: long(64_000) }).result()).toBe(64_008);
  });
});

describe('an invalid answer to a permission request denies it', () => {
  test.each<[name: string, answer: object]>([
    ['a long reason', { decision: 'deny', reason: long(70_000) }],
    ['a reason that is not a string', { decision: 'deny', reason: 5 }],
    ['long constraints', { decision: 'grant', constraints: { a: long(70_000) } }],
    ['deep constraints', { decision: 'grant', constraints: { a: nest(70) } }],
    ['a constraint that JSON cannot represent', { decision: 'grant', constraints: { most: Number.NaN } }],
    ['a constraint that JSON omits', { decision: 'grant', constraints: { check: () => false } }],
    ['a bigint', { decision: 'grant', constraints: { most: 5n } }],
    ['a negative lease', { decision: 'grant', lease_seconds: -5 }],
    ['uses that are not a number', { decision: 'grant', max_uses: 'once' }],
    ['infinite uses', { decision: 'grant', max_uses: Number.POSITIVE_INFINITY }],
  ])('%s', { timeout: 10_000 }, async (_, answer) => {
    const errors: unknown[] = [];
    const client = await open(inMemory(start()), {
      onPermission: () => answer as PermissionAnswer,
      onError: (error) => errors.push(error),
    });
    expect(await outcome(client.invoke('ask', { size: 10 }).result())).toBe('PERMISSION_DENIED');
    expect(errors).toHaveLength(1);
  });
});

describe('a runtime does not exceed the limits of its client', () => {
  test.each(['job', 'direct', 'emit', 'checkpoint', 'stream', 'call', 'ask'])('%s', async (tool) => {
    const client = await open(inMemory(start()));
    for (const args of [{ size: 70_000 }, { levels: 63 }, { levels: 500 }])
      expect([args, await outcome(client.invoke(tool, args).result())]).toEqual([args, 'PAYLOAD_TOO_LARGE']);
    expect(await client.invoke('echo').result()).toBe('here');
  });

  test('a long error, which is truncated', async () => {
    const client = await open(inMemory(start(4096)));
    expect(await outcome(client.invoke('fail', { size: 100_000 }).result())).toBe('INTERNAL');
  });
});

describe('a refusal has the identifiers that can be read', () => {
  const message = (more: object): string =>
    JSON.stringify({ arcp: '1.0', id: 'msg_1', type: 'tool.invoke', timestamp: '2026-01-01T00:00:00Z', ...more });
  test.each([
    ['too long', message({ payload: { tool: 'size', arguments: { a: long(70_000) } } }), 'PAYLOAD_TOO_LARGE'],
    [
      'too long, with its id at the end',
      `{"payload":{"a":"${long(70_000)}","id":"other"},"x":["id","no"],"id":"msg_1"}`,
      'PAYLOAD_TOO_LARGE',
    ],
    ['too deep', message({ payload: { tool: 'size', arguments: { a: nest(70) } } }), 'PAYLOAD_TOO_LARGE'],
    ['truncated', message({ payload: {} }).slice(0, -4), 'INVALID_ARGUMENT'],
    [
      'with a repeated member',
      message({ payload: {} }).replace('"payload"', '"a":1,"a":2,"payload"'),
      'INVALID_ARGUMENT',
    ],
    ['with escapes in its id', `{"id":"msg\\u005f1","payload":${long(3)}`, 'INVALID_ARGUMENT'],
    [
      'with very many invalid members',
      message({ payload: { tool: 1, retry: Array(20_000).fill(0) } }),
      'INVALID_ARGUMENT',
    ],
    [
      'with a number beyond the range of a double',
      message({ payload: { tool: 'echo', arguments: { a: 7 } } }).replace('7}', '1e999}'),
      'INVALID_ARGUMENT',
    ],
    ['with a long type', message({ type: long(60_000), payload: {} }), 'INVALID_ARGUMENT'],
  ])('one that is %s', async (_, text, code) => {
    const wire = connectTo(start());
    await wire.open();
    wire.channel.send(text);
    const refusal = await wire.answer('nack', { id: 'msg_1' });
    expect(refusal.payload).toMatchObject({ code, nack_for: 'msg_1' });
    expect(JSON.stringify(refusal).length).toBeLessThan(16_000);
    expect((await wire.startJob('echo', { mode: 'job' })).jobId).toBeDefined();
  });

  /** A client of a runtime that accepts everything, and then sends `text` about the first call. */
  async function answeredWith(
    text: (id: string, session: string) => string,
  ): Promise<{ client: Client; sent: string[] }> {
    const sent: string[] = [];
    const client = await open(() => {
      const [here, there] = memoryChannels();
      const say = (body: object): void =>
        there.send(JSON.stringify({ arcp: '1.0', timestamp: '2026-01-01T00:00:00Z', ...body }));
      there.start({
        text: (line) => {
          sent.push(line);
          const { id, type } = JSON.parse(line) as { id: string; type: string };
          if (type === 'session.open')
            say({
              ...{ id: 'a', type: 'session.accepted', correlation_id: id, session_id: 's' },
              payload: {
                ...{ session_id: 's', capabilities: {}, mode: 'durable', trust_level: 'trusted' },
                heartbeat_interval_seconds: 15,
              },
            });
          else if (type === 'tool.invoke') {
            const payload = { job_id: 'job_1', state: 'accepted', accepted_at: '2026-01-01T00:00:00Z' };
            say({ id: 'b', type: 'job.accepted', session_id: 's', job_id: 'job_1', correlation_id: id, payload });
            there.send(text(id, 's'));
            say({ id: 'c', type: 'ping', payload: {} });
          }
        },
        ...{ invalid: () => {}, tooLong: () => {}, ended: () => {} },
      });
      return here;
    });
    return { client, sent };
  }

  const of = (type: string, payload: object) => () =>
    JSON.stringify({
      ...{ arcp: '1.0', id: 'msg_r', type, timestamp: '2026-01-01T00:00:00Z', session_id: 's', job_id: 'job_1' },
      payload,
    });
  test.each([
    [
      'a deep result',
      of('job.completed', { attempt: 1, completed_at: '2026-01-01T00:00:00Z', result: nest(70) }),
      'PAYLOAD_TOO_LARGE',
    ],
    ['a result that does not match its schema', of('job.completed', { attempt: 'first' }), 'INVALID_ARGUMENT'],
    ['a failure without a code', of('job.failed', {}), 'INVALID_ARGUMENT'],
    ['a truncated text', (id: string) => `{"id":"msg_r","correlation_id":"${id}","payload":{`, 'INVALID_ARGUMENT'],
  ])('so that the call fails: %s', async (_, text, code) => {
    const { client, sent } = await answeredWith(text);
    expect(await outcome(client.invoke('anything').result())).toBe(code);
    await expect
      .poll(() => sent.map((line) => JSON.parse(line)))
      .toContainEqual(
        expect.objectContaining({ type: 'nack', payload: expect.objectContaining({ nack_for: 'msg_r', code }) }),
      );
  });

  test('a permission request that is nested too deeply is denied', async () => {
    const request = of('permission.request', {
      ...{ permission: 'payment.create', requested_lease_seconds: 1, expires_at: '2026-01-01T00:00:00Z' },
      ...{ trust_level: 'trusted', arguments_preview: nest(70) },
    });
    const { client, sent } = await answeredWith(request);
    client
      .invoke('anything')
      .result()
      .catch(() => {});
    await expect
      .poll(() => sent.map((line) => JSON.parse(line)))
      .toContainEqual(expect.objectContaining({ type: 'permission.deny', correlation_id: 'msg_r', job_id: 'job_1' }));
  });
});

describe('a message of the runtime that is not a text fails its calls', () => {
  /** A client of a runtime that accepts a session, and then answers a call with `bytes`. */
  async function clientOf(answer: (id: string) => Uint8Array | string): Promise<Client> {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    ending.push(() => server.close());
    server.on('connection', (socket) =>
      socket.on('message', (data) => {
        const { id, type } = JSON.parse(String(data)) as { id: string; type: string };
        const envelope = { arcp: '1.0', id: 'r', timestamp: '2026-01-01T00:00:00Z', session_id: 's' };
        const accepted = {
          type: 'session.accepted',
          correlation_id: id,
          payload: { session_id: 's', capabilities: {} },
        };
        if (type === 'session.open') socket.send(JSON.stringify({ ...envelope, ...accepted }));
        else if (type === 'tool.invoke') socket.send(answer(id));
      }),
    );
    await new Promise((resolve) => server.once('listening', resolve));
    const client = await connect(`ws://127.0.0.1:${(server.address() as { port: number }).port}`);
    ending.push(() => client.disconnect());
    return client;
  }
  const answers = (id: string, type: string, more: object): string =>
    JSON.stringify({
      arcp: '1.0',
      id: 'x',
      timestamp: '2026-01-01T00:00:00Z',
      session_id: 's',
      type,
      ...more,
      correlation_id: id,
    });

  test('a binary message', async () => {
    const client = await clientOf((id) => Buffer.from(answers(id, 'tool.result', { payload: { result: 1 } })));
    expect(await outcome(client.invoke('anything').result())).toBe('INVALID_ARGUMENT');
  });

  test('a refusal that names its command only in the payload', async () => {
    const client = await clientOf((id) => {
      const payload = { code: 'RATE_LIMITED', message: 'no', nack_for: id };
      return answers(id, 'nack', { payload }).replace(/,"correlation_id":"[^"]*"/, '');
    });
    expect(await outcome(client.invoke('anything').result())).toBe('RATE_LIMITED');
  });
});

describe('a transport with a lower limit than its runtime', () => {
  test.each([
    [
      'a Unix socket',
      async (runtime: Runtime) => {
        const folder = mkdtempSync(path.join(tmpdir(), 'arcp-limits-'));
        ending.push(() => rmSync(folder, { recursive: true, force: true }));
        const listener = await listenUnix(runtime, path.join(folder, 's'), { maxLineBytes: 8192 });
        return { target: `unix:${path.join(folder, 's')}`, close: () => listener.close() };
      },
    ],
    [
      'a WebSocket',
      async (runtime: Runtime) => {
        const { url, close } = await listenWebSocket(runtime, { port: 0, maxMessageBytes: 8192 });
        return { target: url, close };
      },
    ],
  ])('fails calls that exceed it, in both directions: %s', async (_, listen) => {
    const { target, close } = await listen(start());
    ending.push(close);
    const client = await connect(target, { maxMessageBytes: 16_384 });
    ending.push(() => client.disconnect());
    expect(client.session.limits?.max_message_bytes).toBe(8192);
    expect(await outcome(client.invoke('size', { a: long(9000) }).result())).toBe('PAYLOAD_TOO_LARGE');
    expect(await outcome(client.invoke('job', { size: 20_000 }).result())).toBe('PAYLOAD_TOO_LARGE');
    expect(await client.invoke('job', { size: 10_000 }).result()).toHaveLength(10_000);
    expect(await client.invoke('echo').result()).toBe('here');
  });
});

describe('members that the specification does not require are optional', () => {
  /** A runtime that sends only what the specification requires. */
  const terse = (last: object) => (): Channel => {
    const [here, there] = memoryChannels();
    let count = 0;
    const say = (body: object): void =>
      there.send(JSON.stringify({ arcp: '1.0', id: `r${++count}`, timestamp: '2026-01-01T00:00:00Z', ...body }));
    there.start({
      text: (line) => {
        const { id, type } = JSON.parse(line) as { id: string; type: string };
        const job = { session_id: 's', job_id: 'j' };
        if (type === 'session.open')
          say({
            type: 'session.accepted',
            session_id: 's',
            correlation_id: id,
            payload: { session_id: 's', capabilities: {} },
          });
        else if (type === 'tool.invoke') {
          say({ type: 'job.accepted', correlation_id: id, ...job, payload: {} });
          say({ type: 'job.started', ...job, payload: {} });
          say({ type: 'job.heartbeat', ...job, payload: {} });
          say({ type: 'stream.open', ...job, stream_id: 'o', payload: {} });
          for (const data of ['a', 'b']) say({ type: 'stream.chunk', ...job, stream_id: 'o', payload: { data } });
          say({ type: 'stream.close', ...job, stream_id: 'o', payload: {} });
          say({ ...job, correlation_id: id, ...last });
        } else if (type === 'session.close') there.destroy();
      },
      ...{ invalid: () => {}, tooLong: () => {}, ended: () => {} },
    });
    return here;
  };

  test.each([
    [{ type: 'job.completed', payload: { result: 1 } }, 1],
    [{ type: 'job.completed', payload: {} }, undefined],
    [
      { type: 'job.failed', payload: { code: 'RATE_LIMITED', message: 'Upstream rate limit exceeded' } },
      'RATE_LIMITED',
    ],
    [{ type: 'job.cancelled', payload: {} }, 'CANCELLED'],
    [{ type: 'workflow.complete', payload: { outputs: 2 } }, 2],
  ])('%j', async (last, expected) => {
    const client = await open(terse(last));
    const work = client.invoke('anything');
    const read: string[] = [];
    const reading = (async () => {
      for await (const text of work.stream('text')) read.push(text);
    })();
    expect(await outcome(work.result())).toBe(expected);
    await reading;
    expect(read).toEqual(['a', 'b']);
    await client.close();
  });
});

test.each([undefined, null, 7, {}, '', 'http://example.org', 'ws:'])('connect(%j) rejects at once', async (target) => {
  await expect(connect(target as never)).rejects.toThrow(TypeError);
  await expect(openClient(target as never)).rejects.toThrow(TypeError);
});

test('work is registered with options and a handler', () => {
  const runtime = createRuntime();
  const handler = () => 1;
  for (const kind of ['tool', 'workflow', 'agent'] as const) {
    const register = runtime[kind].bind(runtime) as (...args: unknown[]) => unknown;
    for (const args of [[handler], [], [{}], [undefined, handler], [null, handler], [{}, 'x']]) {
      const message = `Register the ${kind} "x" as ${kind}(name, options, handler); options may be {}`;
      expect(() => register('x', ...args)).toThrow(new TypeError(message));
    }
    expect(register('x', {}, handler)).toBe(runtime);
  }
});
