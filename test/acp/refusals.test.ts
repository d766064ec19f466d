/** Messages that the other side rejects: their calls settle, and other calls are not affected. */
import process from 'node:process';
import { PassThrough, Readable, Writable } from 'node:stream';
import { agent as agentApp, client, ndJsonStream } from '@agentclientprotocol/sdk';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import {
  byteChannel,
  type Channel,
  type Connection,
  type ConnectionOptions,
  createConnection,
  memoryChannels,
  spawnAgent,
  toStream,
  webSocketChannel,
} from '../../src/acp/index.js';
import { bundledProgram } from '../helpers/bundled-program.js';
import { notification, openWire, request, result } from './wire.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of cleanups.splice(0).toReversed()) await end();
});

const outcome = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (value) => value,
    (error: { readonly code?: unknown }) => error.code,
  );

/** Returns the outcomes of a batch: values, or the codes of errors. */
const outcomes = async (batch: Promise<PromiseSettledResult<unknown>[]>): Promise<unknown[]> =>
  (await batch).map((one) => (one.status === 'fulfilled' ? one.value : (one.reason as { code?: unknown }).code));

const minimalAgent = bundledProgram(new URL('../fixtures/minimal-agent.mjs', import.meta.url));

/** Calls a method that the official SDK does not define. */
const officialCall = (side: object, given: object): Promise<unknown> =>
  (side as { request: (method: string, params: object) => Promise<unknown> }).request('_a', given);

const long = (length: number): string => 'x'.repeat(length);
const deep = (levels: number): string => `${'['.repeat(levels)}0${']'.repeat(levels)}`;

/** Responses to the call with the id 1, and the outcome of the call. */
const RESPONSES: readonly (readonly [name: string, text: string, code: unknown])[] = [
  ['that contains NaN', '{"jsonrpc":"2.0","id":1,"result":NaN}', 'bad-response'],
  ['whose id is after invalid JSON', '{"result":{"id":2,"x":[undefined]},"id":1}', 'bad-response'],
  ['that ends in a string', '{"jsonrpc":"2.0","id":1,"result":"ab', 'bad-response'],
  ['that ends after its id', '{"jsonrpc":"2.0","id":1,', 'bad-response'],
  ['that is an error which is not JSON', '{"id": 1, "error": {"code":-1,"message":\'no\'}}', 'bad-response'],
  ['without a version', '{"id":1,"result":1}', 'bad-response'],
  ['of another version', '{"jsonrpc":"1.0","id":1,"result":1}', 'bad-response'],
  ['with neither a result nor an error', '{"jsonrpc":"2.0","id":1}', 'bad-response'],
  ['with both', '{"jsonrpc":"2.0","id":1,"result":1,"error":null}', 'bad-response'],
  ['whose error is a string', '{"jsonrpc":"2.0","id":1,"error":"no"}', 'bad-response'],
  ['whose error has no code', '{"jsonrpc":"2.0","id":1,"error":{"message":"no"}}', 'bad-response'],
  ['in an array that is not JSON', '[{"jsonrpc":"2.0","id":1,"result":NaN},{"id":"7"}]', 'bad-response'],
  ['that is malformed, in an array', '[{"id":1,"result":1}]', 'bad-response'],
  [
    'in an array of 5000',
    `[${'{"jsonrpc":"2.0","id":"o","result":0},'.repeat(4999)}{"jsonrpc":"2.0","id":1,"result":5}]`,
    5,
  ],
  ['next to a call, in an array that is not accepted', JSON.stringify([result(1, 5), request(7, 'a')]), 5],
  ['that nests deeply', `{"jsonrpc":"2.0","id":1,"result":{"a":5,"b":${deep(20_000)}}}`, 5],
  ['that the method does not exist', '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}', 'rpc-32601'],
  ['with the id of the call in its data', errorText(-32600, { id: 1 }), 'rpc-32600'],
  ['with the rejected call in its data', errorText(-32600, request(1, 'a')), 'rpc-32600'],
  ['that does not identify the only pending call', errorText(-32600), 'rpc-32600'],
  ['that the only pending call cannot be parsed', errorText(-32700), 'rpc-32700'],
  ['without an id, in an array', `[${errorText(-32600, { id: 1 })}]`, 'rpc-32600'],
];

function errorText(code: number, data?: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message: 'no', data } });
}

const five = (value: unknown): unknown => (typeof value === 'object' ? (value as { a: unknown }).a : value);

describe('a call settles by a response', () => {
  test.each(RESPONSES)('%s: in memory', async (_, text, code) => {
    const { connection, send, receive, unreceived } = openWire({ batches: 'reject', handlers: { b: () => 'result' } });
    const call = outcome(connection.request('a'));
    await receive();
    send(text);
    expect(five(await call)).toBe(code);
    const pendingMessages = unreceived();
    // A response is never answered; a call next to it is.
    if (!text.includes('"method":"a"') || text.startsWith('{')) expect(pendingMessages).toBe(0);
    else await receive();
    send(request(9, 'b'));
    expect(await receive()).toEqual(result(9, 'result'));
  });

  /** The SDK writes a line to stderr for each response without a request. */
  const quiet = RESPONSES.filter(([name]) => name !== 'in an array of 5000');

  test.each(quiet)('%s: under the official client', async (_, text, code) => {
    const [ours, theirs] = memoryChannels();
    const requestId = new Promise<unknown>((resolve) => {
      theirs.start({
        text: (line) => resolve(JSON.parse(line).id),
        invalid: () => {},
        tooLong: () => {},
        ended: () => {},
      });
    });
    const call = client({ name: 'test' }).connectWith(toStream(ours, { batches: 'reject' }), (agent) =>
      officialCall(agent, {}),
    );
    cleanups.push(() => theirs.destroy());
    theirs.send(
      text
        .replaceAll('"id":1', `"id":${JSON.stringify(await requestId)}`)
        .replace('"id": 1', `"id": ${JSON.stringify(await requestId)}`),
    );
    const expected =
      typeof code === 'string' ? Number(code.replace('rpc', '').replace('bad-response', '-32603')) : code;
    expect(five(await outcome(call))).toBe(expected);
  });

  test.each([
    [
      'not JSON',
      `[${JSON.stringify(result(1, NaN)).replace('null', 'NaN')},${JSON.stringify(result(2, 2))}]`,
      ['bad-response', 'bad-response'],
    ],
    ['malformed in part', '[{"id":1,"result":1},{"jsonrpc":"2.0","id":2,"result":2}]', ['bad-response', 2]],
    [
      'an error that identifies one of them',
      `[${errorText(-32600, { id: 2 })},${JSON.stringify(result(1, 1))}]`,
      [1, 'rpc-32600'],
    ],
    ['an error that identifies none', `[${errorText(-32600)},${JSON.stringify(result(1, 1))}]`, [1, 'rpc-32600']],
    ['a single error', errorText(-32600), ['batches-refused', 'batches-refused']],
  ])('the calls of a batch settle by a response that is %s', async (_, text, expected) => {
    const { connection, send, receive } = openWire();
    const batch = outcomes(connection.batch([{ method: 'a' }, { method: 'b' }]));
    await receive();
    send(text);
    expect(await batch).toEqual(expected);
  });

  test('a call does not settle by an error that may be about something else', async () => {
    const { connection, send, receive } = openWire({ handlers: { b: () => 1 } });
    const first = outcome(connection.request('a'));
    await receive();
    await connection.notify('note');
    await receive();
    send(errorText(-32600), request(7, 'b'));
    await receive();
    const second = outcome(connection.request('a'));
    await receive();
    send(
      errorText(-32600),
      errorText(-32603),
      JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32600, message: '', data: result(1, 1) } }),
    );
    send(result(1, 'one'), result(2, 'two'));
    expect([await first, await second]).toEqual(['one', 'two']);
  });
});

/** Starts an agent that answers any input with the given bytes. */
const answering = (bytes: Uint8Array | string): Promise<Awaited<ReturnType<typeof spawnAgent>>> => {
  const hex = Buffer.from(bytes as string).toString('hex');
  const program = `process.stdin.once('data', () => process.stdout.write(Buffer.from('${hex}', 'hex')));process.stdin.resume();`;
  return spawnAgent(process.execPath, ['--eval', program], { maxLineBytes: 10_000 });
};

describe('a call to a child process settles by a response', () => {
  test.each([
    [
      'that is not UTF-8',
      Buffer.concat([Buffer.from('{"jsonrpc":"2.0","id":1,"result":"'), Buffer.from([0xff]), Buffer.from('"}\n')]),
      'bad-response',
    ],
    ['that is not JSON', '{"jsonrpc":"2.0","id":1,"result":NaN}\n', 'bad-response'],
    ['that is too long', `{"jsonrpc":"2.0","id":1,"result":"${long(20_000)}"}\n`, 'too-long'],
    ['that is too long, with its id at the end', `{"jsonrpc":"2.0","result":"${long(20_000)}","id":1}\n`, 'too-long'],
    ['that never ends', `{"jsonrpc":"2.0","id":1,"result":"${long(20_000)}`, 'too-long'],
    ['that rejects the call', `${errorText(-32600)}\n`, 'rpc-32600'],
  ])('%s', async (_, bytes, code) => {
    const agent = await answering(bytes);
    expect(await outcome(agent.request('a'))).toBe(code);
    await agent.close();
  });
});

/** Returns the ends of a pipe; the far one reads lines of at most 10,000 bytes. */
function pipe(): readonly [near: Channel, far: Channel, input: PassThrough] {
  const [there, back] = [new PassThrough(), new PassThrough()];
  return [byteChannel(back, there), byteChannel(there, back, { maxLineBytes: 10_000 }), there];
}

/** Returns the responses of a connection to the given bytes. */
async function responsesTo(bytes: Uint8Array | string, options: ConnectionOptions = {}): Promise<unknown[]> {
  const [near, far, input] = pipe();
  const responses: unknown[] = [];
  const over = new Promise<void>((resolve) => {
    near.start({
      text: (text) => responses.push(JSON.parse(text)),
      invalid: () => {},
      tooLong: () => {},
      ended: () => resolve(),
    });
  });
  const connection = createConnection(far, { handlers: { echo: (params) => params, big: () => 10n }, ...options });
  input.end(bytes);
  await Promise.all([connection.closed, over]);
  return responses;
}

const params = { a: long(20_000) };
const noVersion = { id: 3, method: 'echo' };

describe('an error response', () => {
  test.each([
    ['too long', JSON.stringify(request(3, 'echo', params)), { id: 3, error: { code: -32600 } }],
    [
      'too long, with a string as id',
      JSON.stringify(request('thr\u00e9e', 'echo', params)),
      { id: 'thr\u00e9e', error: { code: -32600 } },
    ],
    [
      'too long, with another id in its params',
      `{"params":{"id":4,"a":"${long(20_000)}`,
      { id: null, error: { code: -32600 } },
    ],
    [
      'too long, with a truncated id',
      `{"x":"${long(4084)}","id":34567,"params":"${long(20_000)}"}`,
      { id: null, error: { code: -32600 } },
    ],
    [
      'a notification that is too long',
      JSON.stringify(notification('echo', params)),
      { id: null, error: { code: -32600 } },
    ],
    ['a batch that is too long', JSON.stringify([request(3, 'echo', params)]), { id: null, error: { code: -32600 } }],
    [
      'not UTF-8',
      Buffer.from('{"jsonrpc":"2.0","id":3,"method":"echo","params":["\xff"]}\n', 'latin1'),
      { id: null, error: { code: -32700, data: { id: 3 } } },
    ],
    [
      'not JSON',
      '{"jsonrpc":"2.0","id":"3","method":echo}\n',
      { id: null, error: { code: -32700, data: { id: '3' } } },
    ],
    ['without a version', `${JSON.stringify(noVersion)}\n`, { id: null, error: { code: -32600, data: { id: 3 } } }],
    [
      'whose method is a number',
      JSON.stringify(request(3, 5 as never)),
      { id: null, error: { code: -32600, data: { id: 3 } } },
    ],
    [
      'whose params are a string',
      JSON.stringify(request(3, 'echo', 'x')),
      { id: null, error: { code: -32600, data: { id: 3 } } },
    ],
    ['whose id is an object', JSON.stringify(request({}, 'echo')), { id: null, error: { code: -32600 } }],
    [
      'a notification whose method is a number',
      JSON.stringify(notification(5 as never)),
      { id: null, error: { code: -32600 } },
    ],
    ['of an unknown method', JSON.stringify(request(3, 'none')), { id: 3, error: { code: -32601 } }],
    ['whose result cannot be serialized', JSON.stringify(request(3, 'big')), { id: 3, error: { code: -32603 } }],
    [
      'malformed in a batch',
      JSON.stringify([noVersion, request(4, 'big')]),
      [
        { id: null, error: { code: -32600, data: { id: 3 } } },
        { id: 4, error: { code: -32603 } },
      ],
    ],
  ])('identifies a call that is %s', async (_, text, error) => {
    expect(await responsesTo(text)).toMatchObject([error]);
  });

  test.each([
    ['a response that is too long', `{"jsonrpc":"2.0","id":3,"result":"${long(20_000)}"}`],
    ['responses that are too long', `[{"jsonrpc":"2.0","id":3,"result":0},{"id":4,"result":"${long(20_000)}"}]`],
    ['a response that is not JSON', '{"jsonrpc":"2.0","id":3,"result":NaN}\n'],
    ['5000 responses', JSON.stringify(Array(5000).fill(result(3, 1)))],
    ['a notification of an unknown method', JSON.stringify(notification('none'))],
  ])('is not sent for %s', async (_, text) => {
    expect(await responsesTo(text)).toEqual([]);
  });
});

describe('calls to a side with a lower limit', () => {
  const connect = (options: ConnectionOptions = {}): Connection => {
    const [near, far] = pipe();
    const agent = createConnection(far, {
      handlers: { echo: (given) => given, never: () => new Promise(() => {}) },
      graceMs: 100,
    });
    cleanups.push(() => agent.close());
    return createConnection(near, options);
  };

  test('a call that is too long is rejected, and the others end with the connection', async () => {
    const connection = connect();
    const calls = [connection.request('never'), connection.request('echo', params), connection.request('echo')];
    expect(await Promise.all(calls.map(outcome))).toEqual(['closed', 'rpc-32600', 'closed']);
    expect(await connection.closed).toBeUndefined();
  });

  test.each([
    [
      'a batch',
      (connection: Connection) => outcomes(connection.batch([{ method: 'echo', params }, { method: 'never' }])),
    ],
    [
      'a call after a notification',
      (connection: Connection) => connection.notify('echo', params).then(() => outcome(connection.request('echo'))),
    ],
  ])('%s that is too long leaves no call pending', async (_, send) => {
    const connection = connect();
    const others = outcome(connection.request('never'));
    expect(['closed', ['batches-refused', 'batches-refused']]).toContainEqual(await send(connection));
    expect(await others).toBe('closed');
  });

  test('a call that is too long is not sent if the limit is known', async () => {
    const connection = connect({ maxLineBytes: 10_000 });
    expect(await outcome(connection.request('echo', params))).toBe('too-long');
    expect(await outcome(connection.notify('echo', params))).toBe('too-long');
    expect(await outcome(connection.batch([{ method: 'echo', params }]))).toBe('too-long');
    expect(await connection.request('echo', { a: 1 })).toEqual({ a: 1 });
  });

  test('over a WebSocket', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    cleanups.push(() => new Promise((resolve) => server.close(resolve)));
    server.on('connection', (socket) => createConnection(webSocketChannel(socket, { maxLength: 10_000 })));
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    const connection = createConnection(webSocketChannel(new WebSocket(`ws://127.0.0.1:${port}`)));
    const calls = [connection.request('echo', params), connection.request('echo', params)];
    expect(await Promise.all(calls.map(outcome))).toEqual(['rpc-32600', 'closed']);
  });

  test('of the official client', async () => {
    const [there, back] = [new PassThrough(), new PassThrough()];
    const agent = createConnection(byteChannel(there, back, { maxLineBytes: 10_000 }));
    const stream = ndJsonStream(
      Writable.toWeb(there) as WritableStream<Uint8Array>,
      Readable.toWeb(back) as ReadableStream<Uint8Array>,
    );
    const call = client({ name: 'test' }).connectWith(stream, (side) => officialCall(side, params));
    expect(await outcome(call)).toBe(-32600);
    await agent.closed;
  });

  test('of a child process', async () => {
    const agent = await spawnAgent(process.execPath, [minimalAgent()]);
    const big = ['x'.repeat(32 * 1024 * 1024 - 80), 'é'.repeat(80)];
    expect(await outcome(agent.request('echo', big))).toBe('too-long');
    expect(await agent.request('echo', [1])).toEqual([1]);
    await agent.close();
    const sender = await spawnAgent(process.execPath, [minimalAgent()], { maxLineBytes: 64 * 1024 * 1024 });
    expect(await Promise.all([outcome(sender.request('echo', big)), outcome(sender.request('echo'))])).toEqual([
      'rpc-32600',
      'closed',
    ]);
    await sender.close();
  });
});

describe('on a pair of message streams', () => {
  const pair = () => {
    const [there, back] = [new TransformStream(), new TransformStream()];
    const connection = createConnection({ readable: there.readable, writable: back.writable } as never, {
      handlers: { echo: (given) => given },
    });
    return { connection, writer: there.writable.getWriter(), reader: back.readable.getReader() };
  };

  test('a request that cannot be serialized is rejected with its id', async () => {
    const { writer, reader } = pair();
    for (const method of ['echo', 5]) {
      void writer.write({ jsonrpc: '2.0', id: 3, method, params: [10n] });
      expect((await reader.read()).value).toMatchObject({ id: 3, error: { code: -32600 } });
    }
    void writer.write(request(4, 'echo', [1]));
    expect((await reader.read()).value).toEqual(result(4, [1]));
  });

  test('a response that cannot be serialized settles its call', async () => {
    const { connection, writer, reader } = pair();
    for (const [id, more] of [
      [1, { result: 10n }],
      [2, { error: { code: -1, message: 'no', data: 10n } }],
      [3, { result: 1n, error: 1n }],
    ] as const) {
      const call = outcome(connection.request('a'));
      await reader.read();
      void writer.write({ jsonrpc: '2.0', id, ...more });
      expect(await call).toBe('bad-response');
    }
  });
});

describe('under the official agent', () => {
  const serve = (): ReturnType<typeof pipe> => {
    const ends = pipe();
    const parser = { parse: (given: unknown) => given };
    agentApp({ name: 'test' })
      .onRequest('echo', parser, ({ params: given }) => given)
      .onRequest('ask', parser, async ({ client: other }) => {
        const answer = await outcome(officialCall(other, {}));
        return [answer];
      })
      .connect(toStream(ends[1]));
    return ends;
  };

  test('a request that is too long is rejected with its id', async () => {
    const connection = createConnection(serve()[0]);
    const calls = [connection.request('echo', params), connection.request('echo', {})];
    expect(await Promise.all(calls.map(outcome))).toEqual(['rpc-32600', 'closed']);
  });

  test('a call of a handler fails when the other side has ended, and its request is answered', async () => {
    const [near, , input] = serve();
    const responses: unknown[] = [];
    const answered = new Promise<void>((resolve) => {
      const text = (line: string): void => void (responses.push(JSON.parse(line)) === 2 && resolve());
      near.start({ text, invalid: () => {}, tooLong: () => {}, ended: () => {} });
    });
    input.end(`${JSON.stringify(request(3, 'ask', {}))}\n`);
    await answered;
    expect(responses[1]).toEqual(result(3, [-32603]));
  });
});
