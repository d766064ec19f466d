/** Connections of `pegwire/acp`, by the messages they send and receive. */
import { PassThrough, Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { byteChannel } from '../../src/acp/index.js';
import {
  ConnectionError,
  createConnection,
  memoryChannels,
  RpcError,
  type Stream,
  toStream,
} from '../../src/acp/portable.js';
import { error, notification, openWire, request, result } from './wire.js';

/** Waits for the current and the next iteration of the event loop. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'fulfilled',
    (thrown) => (thrown as { code?: unknown }).code,
  );

describe('calls', () => {
  test('both sides send requests', async () => {
    const [left, right] = memoryChannels();
    const handlers = {
      ask: async (_: unknown, { connection }: { connection: typeof one }) => connection.request('name'),
    };
    const one = createConnection(left, { handlers: { name: () => 'one' } });
    const other = createConnection(right, { handlers });
    expect(await one.request('ask')).toBe('one');
    await one.close();
    expect(await other.closed).toBeUndefined();
  });

  test('an error response rejects with its code, message and data', async () => {
    const { connection, send, receive } = openWire();
    const answer = connection.request('read', { path: 'x' });
    expect(await receive()).toEqual(request(1, 'read', { path: 'x' }));
    send({ jsonrpc: '2.0', id: 1, error: { code: -32002, message: 'Not found', data: { path: 'x' } } });
    await expect(answer).rejects.toMatchObject({
      name: 'RpcError',
      rpcCode: -32002,
      message: 'Not found',
      data: { path: 'x' },
    });
  });

  test('an RpcError of a handler is the error response; of other errors, only the message is sent', async () => {
    const { send, receive } = openWire({
      handlers: {
        reject: () => {
          throw new RpcError(-32002, 'Not found', { path: 'x' });
        },
        break: async () => Promise.reject(new Error('broken')),
        big: () => 10n,
      },
    });
    send(request(1, 'reject'), request(2, 'big'), request(3, 'break'));
    expect(await receive()).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32002, message: 'Not found', data: { path: 'x' } },
    });
    expect(await receive()).toMatchObject({ id: 2, error: { code: -32603 } });
    expect(await receive()).toEqual({
      jsonrpc: '2.0',
      id: 3,
      error: { code: -32603, message: 'Internal error', data: { details: 'broken' } },
    });
  });

  test.each([
    ['cyclic', () => Object.assign([], { 0: null }, {}) as unknown[]],
    ['with a bigint', () => [10n]],
    ['nested too deeply', () => Array.from({ length: 50_000 }).reduce<unknown[]>((inner) => [inner], [])],
  ])('params that are %s reject the call, and nothing is sent', async (name, make) => {
    const { connection, unreceived } = openWire();
    const params = make();
    if (name === 'cyclic') params[0] = params;
    expect(await codeOf(connection.request('a', params))).toBe('unserializable');
    expect(await codeOf(connection.notify('a', params))).toBe('unserializable');
    expect(await codeOf(connection.batch([{ method: 'b' }, { method: 'a', params }]))).toBe('unserializable');
    await turn();
    expect(unreceived()).toBe(0);
  });

  test('a malformed response rejects its call, and is not answered', async () => {
    const { connection, send, receive, unreceived, errors } = openWire();
    const bad = [
      { jsonrpc: '2.0', id: 1 },
      { jsonrpc: '2.0', id: 2, result: 1, error: null },
      { jsonrpc: '2.0', id: 3, error: 'no' },
      { jsonrpc: '1.0', id: 4, result: 1 },
    ];
    const codes = bad.map(() => codeOf(connection.request('a')));
    for (const _ of bad) await receive();
    send(...bad);
    expect(await Promise.all(codes)).toEqual(bad.map(() => 'bad-response'));
    expect(unreceived()).toBe(0);
    expect(errors.length).toBeGreaterThan(0);
  });

  test('a response without a request is reported and not answered', async () => {
    const { send, errors, unreceived } = openWire();
    send(result(9, 1), error(null, -32600), [result('x', 1)]);
    await turn();
    expect(errors.map(({ code }) => code)).toEqual(['unknown-response', 'unknown-response', 'unknown-response']);
    expect(unreceived()).toBe(0);
  });

  test('invalid input is answered and reported, and the connection stays open', async () => {
    const { send, receive, errors } = openWire({ handlers: { a: () => 1 } });
    send('Starting server...', request(1, 'a'));
    expect(await receive()).toMatchObject({ id: null, error: { code: -32700 } });
    expect(await receive()).toEqual(result(1, 1));
    expect(errors).toMatchObject([{ code: 'not-a-message', received: 'Starting server...' }]);
  });

  test('two sides that answer each other with invalid texts stop', async () => {
    const [left, right] = memoryChannels();
    let answers = 0;
    right.start({
      text: () => {
        answers++;
        right.send('what?');
      },
      invalid: () => {},
      tooLong: () => {},
      ended: () => {},
    });
    const connection = createConnection(left);
    right.send('hello');
    while (answers < 1000) await turn();
    for (let turns = 0; turns < 50; turns++) await turn();
    expect(answers).toBe(1000);
    await connection.close();
  });

  test('an error of onError is ignored', async () => {
    const { send, receive } = openWire({
      onError: () => {
        throw new Error('no');
      },
    });
    send('junk');
    expect(await receive()).toMatchObject({ error: { code: -32700 } });
  });

  test('an error of a notification handler is reported', async () => {
    const cause = new Error('no');
    const { send, errors, unreceived } = openWire({
      handlers: {
        sync: () => {
          throw cause;
        },
        async: () => Promise.reject(cause),
      },
    });
    send(notification('sync'), notification('async'));
    await turn();
    expect(errors).toMatchObject([
      { code: 'handler-failed', cause },
      { code: 'handler-failed', cause },
    ]);
    expect(unreceived()).toBe(0);
  });

  test('requests beyond maxInFlight are rejected, and notifications are not', async () => {
    const { send, receive } = openWire({
      maxInFlight: 2,
      handlers: { wait: () => new Promise(() => {}), now: () => 1 },
    });
    send(request(1, 'wait'), request(2, 'wait'), request(3, 'wait'), notification('now'));
    expect(await receive()).toMatchObject({ id: 3, error: { code: -32000 } });
  });

  test('the fallback handles methods without a handler', async () => {
    const { send, receive } = openWire({ fallback: (params, { method }) => ({ method, params }) });
    send(request(1, 'toString', [1]));
    expect(await receive()).toEqual(result(1, { method: 'toString', params: [1] }));
  });
});

describe('errors of handlers and hosts', () => {
  test.each([
    [
      'throws a value without a string',
      () => {
        throw Object.create(null);
      },
    ],
    ['rejects with such a value', () => Promise.reject(Object.create(null))],
    [
      'returns a thenable that throws',
      () =>
        Object.defineProperty({}, 'then', {
          value: () => {
            throw new Error('no');
          },
        }),
    ],
    [
      'returns an object whose getter throws',
      () =>
        Object.defineProperty({}, 'then', {
          get: () => {
            throw new Error('no');
          },
        }),
    ],
  ])('a handler that %s fails only its own request', async (_, handler) => {
    const { send, receive } = openWire({ handlers: { a: handler, b: () => 1 } });
    send(request(1, 'a'), request(2, 'b'));
    const received = [await receive(), await receive()];
    expect(received).toContainEqual(result(2, 1));
    expect(received).toContainEqual(
      expect.objectContaining({ id: 1, error: expect.objectContaining({ code: -32603 }) }),
    );
  });

  test.each([
    ['null', null],
    ['a string', 's'],
    ['a date', new Date(0)],
    ['a function', () => 1],
    ['an object whose toJSON returns undefined', { toJSON: () => undefined }],
  ])('params that are %s are rejected before anything is sent', async (_, params) => {
    const { connection, unreceived } = openWire();
    expect(await codeOf(connection.request('a', params as never))).toBe('unserializable');
    expect(await codeOf(connection.batch([{ method: 'a', params: params as never }]))).toBe('unserializable');
    await turn();
    expect(unreceived()).toBe(0);
  });

  test('a method that is not a string and an error without a code are rejected', async () => {
    expect(await codeOf(openWire().connection.request(undefined as never))).toBe('unserializable');
    expect(() => new RpcError(Number.NaN, 'no')).toThrow(TypeError);
  });

  test('a message that is too long fails only its own call', async () => {
    const { connection, send, receive } = openWire({
      maxLineBytes: 1000,
      handlers: { big: () => 'é'.repeat(600), a: () => 1 },
    });
    expect(await codeOf(connection.request('a', ['x'.repeat(1000)]))).toBe('too-long');
    expect(await codeOf(connection.notify('a', ['x'.repeat(1000)]))).toBe('too-long');
    expect(await codeOf(connection.batch([{ method: 'a', params: ['x'.repeat(1000)] }]))).toBe('too-long');
    send(request(1, 'big'), [request(2, 'big'), request(3, 'a')]);
    expect(await receive()).toMatchObject({ id: 1, error: { code: -32603 } });
    const [first, second] = (await receive()) as [object, object];
    expect([first, second]).toMatchObject([{ id: 2 }, { id: 3, result: 1 }]);
  });
});

describe('two sides that send requests and read slowly', () => {
  test('are not deadlocked', async () => {
    const [left, right] = memoryChannels();
    const options = { maxBacklog: 10_000, handlers: { echo: (params: unknown) => params } };
    const sides = [createConnection(left, options), createConnection(right, options)];
    const big = ['x'.repeat(9000)];
    const answers = sides.flatMap((side) =>
      [1, 2, 3].map(() => side.request('echo', big).catch((error) => error.code)),
    );
    for (const answer of await Promise.all(answers)) if (answer !== 'backlog-full') expect(answer).toEqual(big);
    await Promise.all(sides.map((side) => side.close()));
  });
});

describe('cancellation', () => {
  test('a signal rejects the call and sends a cancellation; a late response is only reported', async () => {
    const { connection, send, receive, errors } = openWire();
    const controller = new AbortController();
    const answer = connection.request('slow', undefined, { signal: controller.signal });
    await receive();
    controller.abort(new Error('aborted'));
    await expect(answer).rejects.toThrow('aborted');
    expect(await receive()).toEqual(notification('$/cancel_request', { requestId: 1 }));
    send(result(1, 'late'));
    await turn();
    expect(errors).toMatchObject([{ code: 'unknown-response' }]);
    await expect(connection.request('a', undefined, { signal: controller.signal })).rejects.toThrow('aborted');
  });

  test('the signal of the handler is aborted, and the caller receives -32800', async () => {
    const { send, receive } = openWire({
      handlers: {
        slow: (_, { signal }) =>
          new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      },
    });
    send(request('x', 'slow'), notification('$/cancel_request', { requestId: 'x' }));
    expect(await receive()).toMatchObject({ id: 'x', error: { code: -32800 } });
    send(notification('$/cancel_request'), notification('$/cancel_request', { requestId: 'unknown' }));
  });
});

describe('the order', () => {
  test('of responses and notifications is preserved', async () => {
    const seen: string[] = [];
    const { connection, send, receive } = openWire({
      handlers: { update: (params) => void seen.push(`update ${params}`) },
    });
    const call = async (): Promise<void> => {
      // Each wrapper adds microtasks before the caller continues.
      const wrapped = async (): Promise<unknown> => connection.request('a');
      const twice = async (): Promise<unknown> => wrapped();
      seen.push(`answer ${await twice()}`);
    };
    const both = [call(), call()];
    await receive();
    await receive();
    send(
      notification('update', [1]),
      result(1, 'a'),
      notification('update', [2]),
      result(2, 'b'),
      notification('update', [3]),
    );
    await Promise.all(both);
    await turn();
    expect(seen).toEqual(['update 1', 'answer a', 'update 2', 'answer b', 'update 3']);
  });
});

describe('batches', () => {
  test('have an outcome for each entry, in any order of the responses', async () => {
    const { connection, send, receive } = openWire();
    const settled = connection.batch([
      { method: 'a', params: [1] },
      { method: 'note', notification: true },
      { method: 'b' },
    ]);
    expect(await receive()).toEqual([request(1, 'a', [1]), notification('note'), request(2, 'b')]);
    send([error(2, -32601), result(1, 'one')]);
    expect(await settled).toMatchObject([
      { status: 'fulfilled', value: 'one' },
      { status: 'fulfilled', value: undefined },
      { status: 'rejected', reason: { rpcCode: -32601 } },
    ]);
  });

  test('can be answered in separate messages, and responses can repeat', async () => {
    const { connection, send, receive, errors } = openWire();
    const settled = connection.batch([{ method: 'a' }, { method: 'b' }]);
    await receive();
    send(result(2, 'b'), result(2, 'again'), [result(1, 'a')]);
    expect(await settled).toMatchObject([{ value: 'a' }, { value: 'b' }]);
    expect(errors).toMatchObject([{ code: 'unknown-response' }]);
  });

  test('are rejected by one error without an id: the calls reject, and later batches are not sent', async () => {
    const { connection, send, receive, unreceived } = openWire();
    const settled = connection.batch([{ method: 'a' }, { method: 'b' }]);
    const single = connection.request('c');
    await receive();
    await receive();
    send(error(null, -32600, 'no batches'), result(3, 'c'));
    expect(await settled).toMatchObject([
      { status: 'rejected', reason: { code: 'batches-refused', cause: { rpcCode: -32600 } } },
      { status: 'rejected', reason: { code: 'batches-refused' } },
    ]);
    expect(await single).toBe('c');
    expect(await codeOf(connection.batch([{ method: 'a' }]))).toBe('batches-refused');
    expect(unreceived()).toBe(0);
  });

  test('are each rejected by an error of their own', async () => {
    const { connection, send, receive } = openWire();
    const first = connection.batch([{ method: 'a' }]);
    const second = connection.batch([{ method: 'b' }]);
    await receive();
    await receive();
    send(error(null, -32600), error(null, -32600));
    expect(await first).toMatchObject([{ reason: { code: 'batches-refused' } }]);
    expect(await second).toMatchObject([{ reason: { code: 'batches-refused' } }]);
  });

  test('are not rejected by a parse error of the other side', async () => {
    const { connection, send, receive } = openWire();
    const settled = connection.batch([{ method: 'a' }]);
    await receive();
    send(error(null, -32700), [result(1, 'a')]);
    expect(await settled).toMatchObject([{ value: 'a' }]);
    await expect(connection.batch([{ method: 'a', notification: true }])).resolves.toHaveLength(1);
  });

  test('are not rejected by an error about one entry', async () => {
    const { connection, send, receive } = openWire();
    const settled = connection.batch([{ method: 'a' }]);
    await receive();
    send([error(null, -32600)]);
    expect(await settled).toMatchObject([{ status: 'rejected', reason: { rpcCode: -32600 } }]);
    expect(await connection.batch([{ method: 'a', notification: true }])).toHaveLength(1);
  });

  test('are not sent if they have too many entries', async () => {
    const entries = Array.from({ length: 4097 }, () => ({ method: 'a' }));
    expect(await codeOf(openWire().connection.batch(entries))).toBe('not-batchable');
  });

  test('of notifications can be rejected, too', async () => {
    const { connection, send, receive } = openWire();
    await connection.batch([{ method: 'a', notification: true }]);
    await receive();
    send(error(null, -32600));
    await turn();
    expect(await codeOf(connection.batch([{ method: 'a' }]))).toBe('batches-refused');
  });

  test('of 1500 invalid entries have an error for each, and so has the next batch', async () => {
    const { send, receive } = openWire();
    send(
      Array.from({ length: 1500 }, () => 1),
      [1],
      [],
    );
    expect(await receive()).toHaveLength(1500);
    expect(await receive()).toHaveLength(1);
    expect(await receive()).toMatchObject({ id: null, error: { code: -32600 } });
  });

  test('can have errors without an id, which are about the calls without a response', async () => {
    const { connection, send, receive } = openWire();
    const settled = connection.batch([{ method: 'a' }, { method: 'b' }]);
    await receive();
    send([error(null, -32600, 'bad entry'), result(1, 'a')]);
    expect(await settled).toMatchObject([{ value: 'a' }, { status: 'rejected', reason: { rpcCode: -32600 } }]);
  });

  test.each([
    'initialize',
    'authenticate',
    'session/new',
    'session/load',
    'session/prompt',
    'session/resume',
    'own/setup',
  ])('never contain %s', async (method) => {
    const { connection, unreceived } = openWire({ unbatchable: ['own/setup'] });
    expect(await codeOf(connection.batch([{ method: 'a' }, { method }]))).toBe('not-batchable');
    expect(await codeOf(connection.batch([{ method, notification: true }]))).toBe('not-batchable');
    await turn();
    expect(unreceived()).toBe(0);
  });

  test('must not be empty', async () => {
    const { connection } = openWire();
    expect(await codeOf(connection.batch([] as never))).toBe('not-batchable');
  });

  test('of notifications resolve when they are sent', async () => {
    const { connection, receive } = openWire();
    expect(await connection.batch([{ method: 'a', notification: true }])).toEqual([
      { status: 'fulfilled', value: undefined },
    ]);
    expect(await receive()).toEqual([notification('a')]);
  });

  test('are cancelled as a whole by a signal', async () => {
    const { connection, receive } = openWire();
    const controller = new AbortController();
    const settled = connection.batch([{ method: 'a' }, { method: 'b' }], { signal: controller.signal });
    await receive();
    controller.abort(new Error('aborted'));
    expect(await settled).toMatchObject([{ reason: { message: 'aborted' } }, { reason: { message: 'aborted' } }]);
    expect(await receive()).toEqual(notification('$/cancel_request', { requestId: 1 }));
  });

  test('can contain both responses and requests', async () => {
    const { connection, send, receive } = openWire({ handlers: { a: () => 1 } });
    const answer = connection.request('x');
    await receive();
    send([result(1, 'x'), request(7, 'a'), result(99, 'unknown')]);
    expect(await answer).toBe('x');
    expect(await receive()).toEqual([result(7, 1)]);
  });

  test('are neither accepted nor sent after version 1 of ACP is negotiated', async () => {
    const { connection, send, receive } = openWire({
      handlers: { initialize: () => ({ protocolVersion: 1 }), a: () => 1 },
    });
    send([request(1, 'a')]);
    expect(await receive()).toEqual([result(1, 1)]);
    send(request(2, 'initialize', { protocolVersion: 1 }), [request(3, 'a')]);
    expect(await receive()).toEqual(result(2, { protocolVersion: 1 }));
    expect(await receive()).toMatchObject({ id: null, error: { code: -32600 } });
    expect(await codeOf(connection.batch([{ method: 'a' }]))).toBe('batches-refused');
  });

  test('depend on the version that either side negotiated, unless the option is `accept`', async () => {
    for (const batches of ['negotiated', 'accept', 'reject'] as const) {
      const { connection, send, receive } = openWire({ batches, handlers: { a: () => 1 } });
      const answer = connection.request('initialize', { protocolVersion: 1 });
      await receive();
      send(result(1, { protocolVersion: 1 }));
      await answer;
      send([request(3, 'a')]);
      const received = await receive();
      if (batches === 'accept') expect(received).toEqual([result(3, 1)]);
      else expect(received).toMatchObject({ id: null, error: { code: -32600 } });
    }
  });
});

describe('the end', () => {
  test('of the other side rejects pending calls; running handlers can still respond', async () => {
    let finish!: (value: string) => void;
    const { connection, send, receive, disconnect } = openWire({
      handlers: {
        slow: () =>
          new Promise((resolve) => {
            finish = resolve;
          }),
      },
    });
    const waiting = codeOf(connection.request('never'));
    await receive();
    send(request(1, 'slow'));
    await turn();
    await disconnect();
    expect(await waiting).toBe('closed');
    expect(await codeOf(connection.notify('a'))).toBe('closed');
    finish('done');
    expect(await receive()).toEqual(result(1, 'done'));
    expect(await connection.closed).toBeUndefined();
  });

  test('aborts handlers that run longer than graceMs', async () => {
    let signal: AbortSignal | undefined;
    const { connection, send, disconnect } = openWire({
      graceMs: 10,
      handlers: {
        slow: (_, call) => {
          signal = call.signal;
          return new Promise(() => {});
        },
      },
    });
    send(request(1, 'slow'));
    await turn();
    await disconnect();
    // The connection itself does not keep the process alive.
    const alive = setInterval(() => {}, 1000);
    await connection.closed;
    clearInterval(alive);
    expect(signal?.aborted).toBe(true);
  });

  test('by close rejects pending calls, and ends the other side', async () => {
    const [left, right] = memoryChannels();
    const one = createConnection(left);
    const other = createConnection(right, { handlers: { never: () => new Promise(() => {}) }, graceMs: 10 });
    const waiting = codeOf(one.request('never'));
    await turn();
    await one.close();
    await one.close();
    expect(await waiting).toBe('closed');
    const alive = setInterval(() => {}, 1000);
    expect(await other.closed).toBeUndefined();
    clearInterval(alive);
    await expect(one.request('a')).rejects.toBeInstanceOf(ConnectionError);
  });
});

describe('message streams', () => {
  test('carry a connection like any channel', async () => {
    const [left, right] = memoryChannels();
    const there = createConnection(left, {
      handlers: { twice: (params) => [...(params as number[]), ...(params as number[])] },
    });
    const here = createConnection(toStream(right), { handlers: { hello: () => 'hi' } });
    expect(await here.request('twice', [1])).toEqual([1, 1]);
    expect(await there.request('hello')).toBe('hi');
    expect(await there.batch([{ method: 'hello' }, { method: 'nope' }])).toMatchObject([
      { value: 'hi' },
      { reason: { rpcCode: -32601 } },
    ]);
    await here.close();
    expect(await there.closed).toBeUndefined();
  });

  test('can be aborted while the other side does not read', async () => {
    const stuck = new Writable({ highWaterMark: 1, write: () => undefined });
    const writer = toStream(byteChannel(new PassThrough(), stuck)).writable.getWriter();
    const written = writer.write({ jsonrpc: '2.0', method: 'a' }).catch(() => 'aborted');
    await writer.abort('aborted');
    await written;
    expect(stuck.destroyed).toBe(true);
  });

  test('that fail end the connection with their error', async () => {
    let controller!: ReadableStreamDefaultController<never>;
    const stream: Stream = {
      readable: new ReadableStream({
        start: (given) => {
          controller = given;
        },
      }),
      writable: new WritableStream(),
    };
    const connection = createConnection(stream);
    const waiting = codeOf(connection.request('a'));
    controller.error(new Error('gone'));
    expect(await waiting).toBe('closed');
    expect(await connection.closed).toMatchObject({ code: 'closed', cause: { message: 'gone' } });
  });
});

test.each([
  ['maxBatch', { maxBatch: 0 }],
  ['maxInFlight', { maxInFlight: -1 }],
  ['graceMs', { graceMs: Number.NaN }],
  ['batches', { batches: 'accepted' as never }],
])('an invalid %s is rejected', (name, options) => {
  expect(() => createConnection(memoryChannels()[0], options)).toThrow(name);
});

test('an error without a message is rejected', () => {
  expect(() => new RpcError(5, undefined as never)).toThrow(TypeError);
});

test('a handler may throw a value that throws when it is inspected', async () => {
  const [here, there] = memoryChannels();
  const hostile = new Proxy(
    {},
    {
      getPrototypeOf: () => {
        throw new Error('inspected');
      },
    },
  );
  createConnection(there, {
    handlers: {
      hostile: () => {
        throw hostile;
      },
    },
  });
  await expect(createConnection(here).request('hostile')).rejects.toMatchObject({ rpcCode: -32603 });
});
