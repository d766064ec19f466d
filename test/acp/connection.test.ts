/** Connections of `pegwire/acp`, by what they say and hear. */
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

/** What the rest of this turn and the next one do has been done. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'fulfilled',
    (thrown) => (thrown as { code?: unknown }).code,
  );

describe('calls', () => {
  test('both sides call each other', async () => {
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

  test('an error of the other side rejects with its code, message and data', async () => {
    const { connection, say, hear } = openWire();
    const answer = connection.request('read', { path: 'x' });
    expect(await hear()).toEqual(request(1, 'read', { path: 'x' }));
    say({ jsonrpc: '2.0', id: 1, error: { code: -32002, message: 'Not found', data: { path: 'x' } } });
    await expect(answer).rejects.toMatchObject({
      name: 'RpcError',
      rpcCode: -32002,
      message: 'Not found',
      data: { path: 'x' },
    });
  });

  test('a handler says by an RpcError what the caller is told; of other errors, only the message', async () => {
    const { say, hear } = openWire({
      handlers: {
        refuse: () => {
          throw new RpcError(-32002, 'Not found', { path: 'x' });
        },
        break: async () => Promise.reject(new Error('broken')),
        big: () => 10n,
      },
    });
    say(request(1, 'refuse'), request(2, 'big'), request(3, 'break'));
    expect(await hear()).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32002, message: 'Not found', data: { path: 'x' } },
    });
    expect(await hear()).toMatchObject({ id: 2, error: { code: -32603 } });
    expect(await hear()).toEqual({
      jsonrpc: '2.0',
      id: 3,
      error: { code: -32603, message: 'Internal error', data: { details: 'broken' } },
    });
  });

  test.each([
    ['cyclic', () => Object.assign([], { 0: null }, {}) as unknown[]],
    ['with a bigint', () => [10n]],
    ['too deep', () => Array.from({ length: 50_000 }).reduce<unknown[]>((inner) => [inner], [])],
  ])('params that are %s reject the call, and nothing is sent', async (name, make) => {
    const { connection, unheard } = openWire();
    const params = make();
    if (name === 'cyclic') params[0] = params;
    expect(await codeOf(connection.request('a', params))).toBe('unserializable');
    expect(await codeOf(connection.notify('a', params))).toBe('unserializable');
    expect(await codeOf(connection.batch([{ method: 'b' }, { method: 'a', params }]))).toBe('unserializable');
    await turn();
    expect(unheard()).toBe(0);
  });

  test('an answer that is no response rejects its call, and is not answered', async () => {
    const { connection, say, hear, unheard, errors } = openWire();
    const bad = [
      { jsonrpc: '2.0', id: 1 },
      { jsonrpc: '2.0', id: 2, result: 1, error: null },
      { jsonrpc: '2.0', id: 3, error: 'no' },
      { jsonrpc: '1.0', id: 4, result: 1 },
    ];
    const codes = bad.map(() => codeOf(connection.request('a')));
    for (const _ of bad) await hear();
    say(...bad);
    expect(await Promise.all(codes)).toEqual(bad.map(() => 'bad-response'));
    expect(unheard()).toBe(0);
    expect(errors.length).toBeGreaterThan(0);
  });

  test('an answer to nothing is reported and not answered', async () => {
    const { say, errors, unheard } = openWire();
    say(result(9, 1), error(null, -32600), [result('x', 1)]);
    await turn();
    expect(errors.map(({ code }) => code)).toEqual(['unknown-response', 'unknown-response', 'unknown-response']);
    expect(unheard()).toBe(0);
  });

  test('junk is answered, reported with what it was, and survived', async () => {
    const { say, hear, errors } = openWire({ handlers: { a: () => 1 } });
    say('Starting server...', request(1, 'a'));
    expect(await hear()).toMatchObject({ id: null, error: { code: -32700 } });
    expect(await hear()).toEqual(result(1, 1));
    expect(errors).toMatchObject([{ code: 'not-a-message', received: 'Starting server...' }]);
  });

  test('two sides that answer each other with junk come to an end', async () => {
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

  test('a hook that throws does no harm', async () => {
    const { say, hear } = openWire({
      onError: () => {
        throw new Error('no');
      },
    });
    say('junk');
    expect(await hear()).toMatchObject({ error: { code: -32700 } });
  });

  test('a handler of a notification that throws is reported', async () => {
    const cause = new Error('no');
    const { say, errors, unheard } = openWire({
      handlers: {
        now: () => {
          throw cause;
        },
        later: () => Promise.reject(cause),
      },
    });
    say(notification('now'), notification('later'));
    await turn();
    expect(errors).toMatchObject([
      { code: 'handler-failed', cause },
      { code: 'handler-failed', cause },
    ]);
    expect(unheard()).toBe(0);
  });

  test('more requests than are worked on at a time are refused, and others go on', async () => {
    const { say, hear } = openWire({ maxInFlight: 2, handlers: { wait: () => new Promise(() => {}), now: () => 1 } });
    say(request(1, 'wait'), request(2, 'wait'), request(3, 'wait'), notification('now'));
    expect(await hear()).toMatchObject({ id: 3, error: { code: -32000 } });
  });

  test('a fallback takes the methods that have no handler', async () => {
    const { say, hear } = openWire({ fallback: (params, { method }) => ({ method, params }) });
    say(request(1, 'toString', [1]));
    expect(await hear()).toEqual(result(1, { method: 'toString', params: [1] }));
  });
});

describe('what a handler or a host does wrong', () => {
  test.each([
    [
      'throws what has no text',
      () => {
        throw Object.create(null);
      },
    ],
    ['rejects with it', () => Promise.reject(Object.create(null))],
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
      'returns a getter that throws',
      () =>
        Object.defineProperty({}, 'then', {
          get: () => {
            throw new Error('no');
          },
        }),
    ],
  ])('a handler that %s costs its own request', async (_, handler) => {
    const { say, hear } = openWire({ handlers: { a: handler, b: () => 1 } });
    say(request(1, 'a'), request(2, 'b'));
    const heard = [await hear(), await hear()];
    expect(heard).toContainEqual(result(2, 1));
    expect(heard).toContainEqual(expect.objectContaining({ id: 1, error: expect.objectContaining({ code: -32603 }) }));
  });

  test.each([
    ['null', null],
    ['a text', 's'],
    ['a date', new Date(0)],
    ['a function', () => 1],
    ['an object whose toJSON gives nothing', { toJSON: () => undefined }],
  ])('params that are %s are refused before anything is sent', async (_, params) => {
    const { connection, unheard } = openWire();
    expect(await codeOf(connection.request('a', params as never))).toBe('unserializable');
    expect(await codeOf(connection.batch([{ method: 'a', params: params as never }]))).toBe('unserializable');
    await turn();
    expect(unheard()).toBe(0);
  });

  test('a method that is no text is refused, and so is an error without a code', async () => {
    expect(await codeOf(openWire().connection.request(undefined as never))).toBe('unserializable');
    expect(() => new RpcError(Number.NaN, 'no')).toThrow(TypeError);
  });

  test('what is too long to be sent is an error of its own call', async () => {
    const { connection, say, hear } = openWire({
      maxLineBytes: 1000,
      handlers: { big: () => 'é'.repeat(600), a: () => 1 },
    });
    expect(await codeOf(connection.request('a', ['x'.repeat(1000)]))).toBe('too-long');
    expect(await codeOf(connection.notify('a', ['x'.repeat(1000)]))).toBe('too-long');
    expect(await codeOf(connection.batch([{ method: 'a', params: ['x'.repeat(1000)] }]))).toBe('too-long');
    say(request(1, 'big'), [request(2, 'big'), request(3, 'a')]);
    expect(await hear()).toMatchObject({ id: 1, error: { code: -32603 } });
    const [first, second] = (await hear()) as [object, object];
    expect([first, second]).toMatchObject([{ id: 2 }, { id: 3, result: 1 }]);
  });
});

describe('two sides that both ask and are slow to read', () => {
  test('do not wait for each other for ever', async () => {
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

describe('cancelling', () => {
  test('a signal rejects the call at once and tells the other side; a late answer is only reported', async () => {
    const { connection, say, hear, errors } = openWire();
    const controller = new AbortController();
    const answer = connection.request('slow', undefined, { signal: controller.signal });
    await hear();
    controller.abort(new Error('enough'));
    await expect(answer).rejects.toThrow('enough');
    expect(await hear()).toEqual(notification('$/cancel_request', { requestId: 1 }));
    say(result(1, 'late'));
    await turn();
    expect(errors).toMatchObject([{ code: 'unknown-response' }]);
    await expect(connection.request('a', undefined, { signal: controller.signal })).rejects.toThrow('enough');
  });

  test('a handler is told by its signal, and the caller gets -32800', async () => {
    const { say, hear } = openWire({
      handlers: {
        slow: (_, { signal }) =>
          new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      },
    });
    say(request('x', 'slow'), notification('$/cancel_request', { requestId: 'x' }));
    expect(await hear()).toMatchObject({ id: 'x', error: { code: -32800 } });
    say(notification('$/cancel_request'), notification('$/cancel_request', { requestId: 'nobody' }));
  });
});

describe('order', () => {
  test('answers and notifications reach the host as they came', async () => {
    const seen: string[] = [];
    const { connection, say, hear } = openWire({
      handlers: { update: (params) => void seen.push(`update ${params}`) },
    });
    const asked = async (): Promise<void> => {
      // Wrapped as hosts do it: each layer takes its time to wake.
      const wrapped = async (): Promise<unknown> => connection.request('a');
      const twice = async (): Promise<unknown> => wrapped();
      seen.push(`answer ${await twice()}`);
    };
    const both = [asked(), asked()];
    await hear();
    await hear();
    say(
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
  test('what became of each, whatever the order of the answers', async () => {
    const { connection, say, hear } = openWire();
    const settled = connection.batch([
      { method: 'a', params: [1] },
      { method: 'note', notification: true },
      { method: 'b' },
    ]);
    expect(await hear()).toEqual([request(1, 'a', [1]), notification('note'), request(2, 'b')]);
    say([error(2, -32601), result(1, 'one')]);
    expect(await settled).toMatchObject([
      { status: 'fulfilled', value: 'one' },
      { status: 'fulfilled', value: undefined },
      { status: 'rejected', reason: { rpcCode: -32601 } },
    ]);
  });

  test('answers on lines of their own, and twice, are answers', async () => {
    const { connection, say, hear, errors } = openWire();
    const settled = connection.batch([{ method: 'a' }, { method: 'b' }]);
    await hear();
    say(result(2, 'b'), result(2, 'again'), [result(1, 'a')]);
    expect(await settled).toMatchObject([{ value: 'a' }, { value: 'b' }]);
    expect(errors).toMatchObject([{ code: 'unknown-response' }]);
  });

  test('one error without an id refuses the batch: its calls reject, and later ones are not sent', async () => {
    const { connection, say, hear, unheard } = openWire();
    const settled = connection.batch([{ method: 'a' }, { method: 'b' }]);
    const single = connection.request('c');
    await hear();
    await hear();
    say(error(null, -32600, 'no batches'), result(3, 'c'));
    expect(await settled).toMatchObject([
      { status: 'rejected', reason: { code: 'batches-refused', cause: { rpcCode: -32600 } } },
      { status: 'rejected', reason: { code: 'batches-refused' } },
    ]);
    expect(await single).toBe('c');
    expect(await codeOf(connection.batch([{ method: 'a' }]))).toBe('batches-refused');
    expect(unheard()).toBe(0);
  });

  test('each of several batches is refused by an error of its own', async () => {
    const { connection, say, hear } = openWire();
    const first = connection.batch([{ method: 'a' }]);
    const second = connection.batch([{ method: 'b' }]);
    await hear();
    await hear();
    say(error(null, -32600), error(null, -32600));
    expect(await first).toMatchObject([{ reason: { code: 'batches-refused' } }]);
    expect(await second).toMatchObject([{ reason: { code: 'batches-refused' } }]);
  });

  test('junk that the other side complains of is no refusal of a batch', async () => {
    const { connection, say, hear } = openWire();
    const settled = connection.batch([{ method: 'a' }]);
    await hear();
    say(error(null, -32700), [result(1, 'a')]);
    expect(await settled).toMatchObject([{ value: 'a' }]);
    await expect(connection.batch([{ method: 'a', notification: true }])).resolves.toHaveLength(1);
  });

  test('an entry that an array refuses is no refusal of batches', async () => {
    const { connection, say, hear } = openWire();
    const settled = connection.batch([{ method: 'a' }]);
    await hear();
    say([error(null, -32600)]);
    expect(await settled).toMatchObject([{ status: 'rejected', reason: { rpcCode: -32600 } }]);
    expect(await connection.batch([{ method: 'a', notification: true }])).toHaveLength(1);
  });

  test('one that has more entries than are taken here is not sent', async () => {
    const entries = Array.from({ length: 4097 }, () => ({ method: 'a' }));
    expect(await codeOf(openWire().connection.batch(entries))).toBe('not-batchable');
  });

  test('a refused one of notifications alone is remembered', async () => {
    const { connection, say, hear } = openWire();
    await connection.batch([{ method: 'a', notification: true }]);
    await hear();
    say(error(null, -32600));
    await turn();
    expect(await codeOf(connection.batch([{ method: 'a' }]))).toBe('batches-refused');
  });

  test('each of 1500 invalid entries has its error, and so has the batch after', async () => {
    const { say, hear } = openWire();
    say(
      Array.from({ length: 1500 }, () => 1),
      [1],
      [],
    );
    expect(await hear()).toHaveLength(1500);
    expect(await hear()).toHaveLength(1);
    expect(await hear()).toMatchObject({ id: null, error: { code: -32600 } });
  });

  test('errors without an id inside the array are about the calls that it does not answer', async () => {
    const { connection, say, hear } = openWire();
    const settled = connection.batch([{ method: 'a' }, { method: 'b' }]);
    await hear();
    say([error(null, -32600, 'bad entry'), result(1, 'a')]);
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
  ])('%s is never put into one', async (method) => {
    const { connection, unheard } = openWire({ unbatchable: ['own/setup'] });
    expect(await codeOf(connection.batch([{ method: 'a' }, { method }]))).toBe('not-batchable');
    expect(await codeOf(connection.batch([{ method, notification: true }]))).toBe('not-batchable');
    await turn();
    expect(unheard()).toBe(0);
  });

  test('an empty one is refused', async () => {
    const { connection } = openWire();
    expect(await codeOf(connection.batch([] as never))).toBe('not-batchable');
  });

  test('one of notifications alone is sent, and over at once', async () => {
    const { connection, hear } = openWire();
    expect(await connection.batch([{ method: 'a', notification: true }])).toEqual([
      { status: 'fulfilled', value: undefined },
    ]);
    expect(await hear()).toEqual([notification('a')]);
  });

  test('a signal gives up all calls of one', async () => {
    const { connection, hear } = openWire();
    const controller = new AbortController();
    const settled = connection.batch([{ method: 'a' }, { method: 'b' }], { signal: controller.signal });
    await hear();
    controller.abort(new Error('enough'));
    expect(await settled).toMatchObject([{ reason: { message: 'enough' } }, { reason: { message: 'enough' } }]);
    expect(await hear()).toEqual(notification('$/cancel_request', { requestId: 1 }));
  });

  test('calls of both sides in one array: responses are taken, requests answered', async () => {
    const { connection, say, hear } = openWire({ handlers: { a: () => 1 } });
    const answer = connection.request('x');
    await hear();
    say([result(1, 'x'), request(7, 'a'), result(99, 'nobody')]);
    expect(await answer).toBe('x');
    expect(await hear()).toEqual([result(7, 1)]);
  });

  test('version 1 of ACP has none: they are neither taken nor sent once it was agreed on', async () => {
    const { connection, say, hear } = openWire({
      handlers: { initialize: () => ({ protocolVersion: 1 }), a: () => 1 },
    });
    say([request(1, 'a')]);
    expect(await hear()).toEqual([result(1, 1)]);
    say(request(2, 'initialize', { protocolVersion: 1 }), [request(3, 'a')]);
    expect(await hear()).toEqual(result(2, { protocolVersion: 1 }));
    expect(await hear()).toMatchObject({ id: null, error: { code: -32600 } });
    expect(await codeOf(connection.batch([{ method: 'a' }]))).toBe('batches-refused');
  });

  test('whoever calls initialize, the version counts; `accept` takes batches all the same', async () => {
    for (const batches of ['negotiated', 'accept', 'reject'] as const) {
      const { connection, say, hear } = openWire({ batches, handlers: { a: () => 1 } });
      const answer = connection.request('initialize', { protocolVersion: 1 });
      await hear();
      say(result(1, { protocolVersion: 1 }));
      await answer;
      say([request(3, 'a')]);
      const heard = await hear();
      if (batches === 'accept') expect(heard).toEqual([result(3, 1)]);
      else expect(heard).toMatchObject({ id: null, error: { code: -32600 } });
    }
  });
});

describe('the end', () => {
  test('the other side ends: calls that wait reject, what is being worked on is still answered', async () => {
    let finish!: (value: string) => void;
    const { connection, say, hear, hangUp } = openWire({
      handlers: {
        slow: () =>
          new Promise((resolve) => {
            finish = resolve;
          }),
      },
    });
    const waiting = codeOf(connection.request('never'));
    await hear();
    say(request(1, 'slow'));
    await turn();
    await hangUp();
    expect(await waiting).toBe('closed');
    expect(await codeOf(connection.notify('a'))).toBe('closed');
    finish('done');
    expect(await hear()).toEqual(result(1, 'done'));
    expect(await connection.closed).toBeUndefined();
  });

  test('who takes longer than the grace is told, and not waited for', async () => {
    let signal: AbortSignal | undefined;
    const { connection, say, hangUp } = openWire({
      graceMs: 10,
      handlers: {
        slow: (_, call) => {
          signal = call.signal;
          return new Promise(() => {});
        },
      },
    });
    say(request(1, 'slow'));
    await turn();
    await hangUp();
    // Nothing of the connection's keeps a process alive.
    const alive = setInterval(() => {}, 1000);
    await connection.closed;
    clearInterval(alive);
    expect(signal?.aborted).toBe(true);
  });

  test('close rejects the calls that wait, and tells the other side', async () => {
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

describe('streams of messages', () => {
  test('a connection runs on a pair of streams, as on any channel', async () => {
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

  test('where the other side never reads, they can be aborted', async () => {
    const stuck = new Writable({ highWaterMark: 1, write: () => undefined });
    const writer = toStream(byteChannel(new PassThrough(), stuck)).writable.getWriter();
    const written = writer.write({ jsonrpc: '2.0', method: 'a' }).catch(() => 'left');
    await writer.abort('enough');
    await written;
    expect(stuck.destroyed).toBe(true);
  });

  test('a stream that breaks ends the connection with its error', async () => {
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
])('a bad %s is refused', (name, options) => {
  expect(() => createConnection(memoryChannels()[0], options)).toThrow(name);
});

test('an error without a message is none', () => {
  expect(() => new RpcError(5, undefined as never)).toThrow(TypeError);
});

test('what a handler throws may throw by itself when it is looked at', async () => {
  const [here, there] = memoryChannels();
  const odd = new Proxy(
    {},
    {
      getPrototypeOf: () => {
        throw new Error('do not look');
      },
    },
  );
  createConnection(there, {
    handlers: {
      odd: () => {
        throw odd;
      },
    },
  });
  await expect(createConnection(here).request('odd')).rejects.toMatchObject({ rpcCode: -32603 });
});
