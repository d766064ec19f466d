/** The same conversation over every transport. */
import { mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import {
  type Channel,
  type ConnectionError,
  connectSocket,
  createConnection,
  listenSocket,
  memoryChannels,
  type WebSocketLike,
  webSocketChannel,
} from '../../src/acp/index.js';

const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-transports-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Ends {
  readonly here: Channel;
  readonly there: Channel;
  readonly close: () => Promise<void>;
}

async function overSocket(address: string | { port: number }): Promise<Ends> {
  let onConnection!: (channel: Channel) => void;
  const there = new Promise<Channel>((resolve) => {
    onConnection = resolve;
  });
  const listener = await listenSocket(address, onConnection);
  const here = await connectSocket(listener.address);
  return { here, there: await there, close: listener.close };
}

async function overWebSocket(): Promise<Ends> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await new Promise((resolve) => server.once('listening', resolve));
  const accepted = new Promise<WebSocket>((resolve) => server.once('connection', resolve));
  const { port } = server.address() as { port: number };
  // The channel accepts a socket that is still connecting.
  const here = webSocketChannel(new WebSocket(`ws://127.0.0.1:${port}`));
  const there = webSocketChannel(await accepted);
  return { here, there, close: () => new Promise((resolve) => server.close(() => resolve())) };
}

let sockets = 0;
const TRANSPORTS: Readonly<Record<string, () => Promise<Ends>>> = {
  memory: async () => {
    const [here, there] = memoryChannels();
    return { here, there, close: async () => {} };
  },
  'a Unix domain socket': () => overSocket(path.join(folder, `${++sockets}.sock`)),
  TCP: () => overSocket({ port: 0 }),
  'a WebSocket': overWebSocket,
};

describe.each(Object.keys(TRANSPORTS))('over %s', (name) => {
  const open = TRANSPORTS[name]!;

  test('both sides send requests, batches and large messages', async () => {
    const { here, there, close } = await open();
    const agent = createConnection(there, {
      handlers: { echo: (params) => params, ask: (_, { connection }) => connection.request('name') },
    });
    const client = createConnection(here, { handlers: { name: () => 'client' } });
    expect(await client.request('ask')).toBe('client');
    expect(await client.batch([{ method: 'echo', params: ['é\n\u2028'] }, { method: 'nope' }])).toMatchObject([
      { value: ['é\n\u2028'] },
      { reason: { rpcCode: -32601 } },
    ]);
    const big = 'x'.repeat(3 * 1024 * 1024);
    expect(await client.request('echo', [big])).toEqual([big]);
    await client.close();
    expect(await agent.closed).toBeUndefined();
    await close();
  });

  test('messages that are sent at once are delivered in order', async () => {
    const { here, there, close } = await open();
    const seen: unknown[] = [];
    const agent = createConnection(there, {
      handlers: { note: ([n]: [number]) => void seen.push(n), count: () => seen.length },
    });
    const client = createConnection(here);
    const numbers = Array.from({ length: 5000 }, (_, n) => n);
    await Promise.all(numbers.map((n) => client.notify('note', [n])));
    expect(await client.request('count')).toBe(5000);
    expect(seen).toEqual(numbers);
    await client.close();
    await agent.closed;
    await close();
  });

  test('invalid JSON is answered, and the connection stays open', async () => {
    const { here, there, close } = await open();
    const agent = createConnection(there, { handlers: { a: () => 1 } });
    const received: unknown[] = [];
    const twice = new Promise<void>((resolve) => {
      here.start({
        text: (text) => {
          received.push(JSON.parse(text));
          if (received.length === 2) resolve();
        },
        ...{ invalid: () => {}, tooLong: () => {}, ended: () => {} },
      });
    });
    here.send('{"jsonrpc"');
    here.send('{"jsonrpc":"2.0","id":1,"method":"a"}');
    await twice;
    expect(received).toMatchObject([
      { id: null, error: { code: -32700 } },
      { id: 1, result: 1 },
    ]);
    here.destroy();
    await agent.closed;
    await close();
  });

  test('calls reject when the other side closes the channel', async () => {
    const { here, there, close } = await open();
    const client = createConnection(here);
    there.start({ text: () => there.destroy(), invalid: () => {}, tooLong: () => {}, ended: () => {} });
    await expect(client.request('a')).rejects.toMatchObject({ code: 'closed' });
    await client.closed;
    await close();
  });

  // A WebSocket cannot be half-closed.
  if (name !== 'a WebSocket') {
    test('one side can end its output while the other handles its requests', async () => {
      const { here, there, close } = await open();
      const agent = createConnection(there, {
        handlers: { slow: () => new Promise((resolve) => setTimeout(resolve, 30, 'done')) },
      });
      const received: string[] = [];
      const ended = new Promise<void>((resolve) => {
        here.start({
          text: (text) => received.push(text),
          invalid: () => {},
          tooLong: () => {},
          ended: () => resolve(),
        });
      });
      here.send('{"jsonrpc":"2.0","id":1,"method":"slow"}');
      await here.end();
      await ended;
      expect(received.map((text) => JSON.parse(text))).toEqual([{ jsonrpc: '2.0', id: 1, result: 'done' }]);
      expect(await agent.closed).toBeUndefined();
      here.destroy();
      await close();
    });
  }

  test('a destroyed channel delivers no more texts', async () => {
    const { here, there, close } = await open();
    const received: string[] = [];
    const destroyed = new Promise<void>((resolve) => {
      there.start({
        text: (text) => {
          received.push(text);
          there.destroy();
        },
        ...{ invalid: () => {}, tooLong: () => {} },
        ended: () => {
          received.push('ended');
          resolve();
        },
      });
    });
    const gone = new Promise<unknown>((resolve) => {
      here.start({ text: () => {}, invalid: () => {}, tooLong: () => {}, ended: resolve });
    });
    for (let n = 0; n < 10; n++) here.send(String(n));
    await destroyed;
    await gone;
    await new Promise((resolve) => setImmediate(resolve));
    expect(received).toEqual(['0', 'ended']);
    here.destroy();
    await close();
  });

  test('a sender waits for a slow reader, and no text is lost', async () => {
    const { here, there, close } = await open();
    let seen = 0;
    // The reader is paused until `resume`.
    there.start({ text: () => void seen++, invalid: () => {}, tooLong: () => {}, ended: () => {} });
    there.pause();
    here.start({ text: () => {}, invalid: () => {}, tooLong: () => {}, ended: () => {} });
    const piece = JSON.stringify('x'.repeat(100_000));
    let sent = 0;
    while (here.ready() === undefined && sent < 1000) {
      here.send(piece);
      sent++;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(sent).toBeLessThan(1000);
    expect(here.backlog()).toBeGreaterThan(0);
    there.resume();
    await here.ready();
    await here.end();
    while (seen < sent) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(seen).toBe(sent);
    there.destroy();
    await close();
  });
});

describe('a Unix domain socket', () => {
  const destroy = (channel: Channel): void => channel.destroy();

  test('is accessible to its owner only', async () => {
    const file = path.join(folder, 'private.sock');
    const listener = await listenSocket(file, destroy);
    expect(statSync(file).mode & 0o077).toBe(0);
    await listener.close();
  });

  test('of a process that exited is replaced; one in use, and any other file, is not', async () => {
    const file = path.join(folder, 'stale.sock');
    const first = await listenSocket(file, destroy);
    await expect(listenSocket(file, destroy)).rejects.toMatchObject({ code: 'closed', cause: { code: 'EADDRINUSE' } });
    await first.close();
    // A socket that its process did not remove.
    const stale = createServer().listen(file);
    await new Promise((resolve) => stale.once('listening', resolve));
    const again = path.join(folder, 'moved.sock');
    renameSync(file, again);
    await new Promise((resolve) => stale.close(resolve));
    const second = await listenSocket(again, destroy);
    await second.close();
    const text = path.join(folder, 'file.txt');
    writeFileSync(text, 'mine');
    await expect(listenSocket(text, destroy)).rejects.toMatchObject({ code: 'closed' });
    expect(statSync(text).size).toBe(4);
  });

  test('without a listener rejects connections', async () => {
    await expect(connectSocket(path.join(folder, 'none.sock'))).rejects.toMatchObject({ code: 'closed' });
  });
});

test('a socket that is reset before its channel is used ends the connection', async () => {
  let onConnection!: (channel: Channel) => void;
  const channel = new Promise<Channel>((resolve) => {
    onConnection = resolve;
  });
  const listener = await listenSocket({ port: 0 }, onConnection);
  const socket = connect(listener.address as { port: number });
  socket.on('error', () => {});
  await new Promise((resolve) => socket.once('connect', resolve));
  const there = await channel;
  socket.resetAndDestroy();
  there.send('"text"');
  await new Promise((resolve) => setTimeout(resolve, 50));
  const connection = createConnection(there);
  expect(await connection.closed).toMatchObject({ code: 'closed' });
  await listener.close();
});

test('an error of one connection does not affect the others', async () => {
  const errors: ConnectionError[] = [];
  const listener = await listenSocket(
    { port: 0 },
    (channel) => createConnection(channel, { handlers: { a: () => 1 } }),
    {
      maxLineBytes: 100,
      onError: (error) => errors.push(error),
    },
  );
  const bad = createConnection(await connectSocket(listener.address));
  await expect(bad.request('a', ['x'.repeat(200)])).rejects.toMatchObject({ rpcCode: -32600 });
  expect(await bad.closed).toBeUndefined();
  const good = createConnection(await connectSocket(listener.address));
  expect(await good.request('a')).toBe(1);
  await good.close();
  await listener.close();
  expect(errors).toEqual([]);
});

/** Creates a WebSocket whose events the test emits. Like those of browsers, it cannot be paused. */
function scriptedSocket(readyState = 1): { socket: WebSocketLike; emit: (type: string, event: object) => void } {
  const listeners = new Map<string, (event: never) => void>();
  const socket = {
    readyState,
    bufferedAmount: 0,
    send: () => {},
    close: () => {},
    addEventListener: (type: string, listener: (event: never) => void) => listeners.set(type, listener),
  };
  const emit = (type: string, event: object): void => {
    if (type === 'close') socket.readyState = 3;
    listeners.get(type)?.(event as never);
  };
  return { socket: socket as WebSocketLike, emit };
}

describe('a WebSocket that cannot be paused', () => {
  const start = (channel: Channel): { received: unknown[]; ended: Promise<Error | undefined> } => {
    const received: unknown[] = [];
    const ended = new Promise<Error | undefined>((resolve) => {
      channel.start({
        text: (text) => received.push(text),
        invalid: () => received.push('invalid'),
        tooLong: () => received.push('too long'),
        ended: (error) => {
          received.push('ended');
          resolve(error);
        },
      });
    });
    return { received, ended };
  };

  test('buffers messages and the end before the start and while it is paused', async () => {
    const { socket, emit } = scriptedSocket();
    const channel = webSocketChannel(socket);
    emit('message', { data: 'early' });
    const { received, ended } = start(channel);
    await Promise.resolve();
    expect(received).toEqual(['early']);
    channel.pause();
    emit('message', { data: 'paused' });
    emit('message', { data: new ArrayBuffer(1) });
    emit('close', { code: 1000, reason: '' });
    expect(received).toEqual(['early']);
    channel.resume();
    expect(await ended).toBeUndefined();
    expect(received).toEqual(['early', 'paused', 'invalid', 'ended']);
  });

  test.each([
    [1000, undefined],
    [1001, undefined],
    [1005, undefined],
    [1006, '1006'],
    [1009, '1009: too big'],
  ])('closed with %i ends with an error if the code is not normal', async (code, message) => {
    const { socket, emit } = scriptedSocket();
    const { ended } = start(webSocketChannel(socket));
    emit('close', { code, reason: code === 1009 ? 'too big' : '' });
    const error = await ended;
    if (message === undefined) expect(error).toBeUndefined();
    else expect(error?.message).toContain(message);
  });

  test('that failed before the start ends with its error', async () => {
    const { socket, emit } = scriptedSocket();
    const channel = webSocketChannel(socket);
    emit('error', { message: 'refused' });
    emit('close', { code: 1006, reason: '' });
    expect(await start(channel).ended).toMatchObject({ message: 'refused' });
  });

  test('that is already closed ends the channel', async () => {
    const { socket } = scriptedSocket(3);
    expect(await start(webSocketChannel(socket)).ended).toBeUndefined();
  });

  test('with a message that is too long ends the channel', async () => {
    const { socket, emit } = scriptedSocket();
    const { received, ended } = start(webSocketChannel(socket, { maxLength: 3 }));
    await Promise.resolve();
    for (const data of ['abc', 'abcd', 'abc']) emit('message', { data });
    await ended;
    expect(received).toEqual(['abc', 'too long', 'ended']);
  });

  test.each(['maxLength', 'highWaterMark'])('rejects an invalid %s', (name) => {
    expect(() => webSocketChannel(scriptedSocket().socket, { [name]: 0 })).toThrow(TypeError);
  });
});

test('a binary message of a WebSocket is invalid', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await new Promise((resolve) => server.once('listening', resolve));
  const answer = new Promise<string>((resolve) => {
    server.once('connection', (socket) => {
      socket.on('message', (data) => resolve(String(data)));
      socket.send(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"a"}'));
    });
  });
  const { port } = server.address() as { port: number };
  const client = createConnection(webSocketChannel(new WebSocket(`ws://127.0.0.1:${port}`)), {
    handlers: { a: () => 1 },
  });
  expect(JSON.parse(await answer)).toMatchObject({ id: null, error: { code: -32700 } });
  await client.close();
  await new Promise((resolve) => server.close(resolve));
});

test('an error of the connection listener closes that connection, is reported, and the next one is accepted', async () => {
  const errors: string[] = [];
  let isFirst = true;
  const { address, close } = await listenSocket(
    { port: 0 },
    (channel) => {
      if (!isFirst) {
        createConnection(channel, { handlers: { echo: (params) => params } });
        return;
      }
      isFirst = false;
      throw new Error('not ready');
    },
    { onError: (error) => void errors.push(error.message) },
  );
  const first = createConnection(await connectSocket(address));
  await first.closed;
  const second = createConnection(await connectSocket(address));
  expect(await second.request('echo', [1])).toEqual([1]);
  await second.close();
  await close();
  expect(errors).toEqual(['The connection listener threw an error.']);
});
