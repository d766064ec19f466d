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
  let connected!: (channel: Channel) => void;
  const there = new Promise<Channel>((resolve) => {
    connected = resolve;
  });
  const listener = await listenSocket(address, connected);
  const here = await connectSocket(listener.address);
  return { here, there: await there, close: listener.close };
}

async function overWebSocket(): Promise<Ends> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await new Promise((resolve) => server.once('listening', resolve));
  const accepted = new Promise<WebSocket>((resolve) => server.once('connection', resolve));
  const { port } = server.address() as { port: number };
  // The channel takes it while it is still connecting.
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
  'a Unix-domain socket': () => overSocket(path.join(folder, `${++sockets}.sock`)),
  TCP: () => overSocket({ port: 0 }),
  'a WebSocket': overWebSocket,
};

describe.each(Object.keys(TRANSPORTS))('over %s', (name) => {
  const open = TRANSPORTS[name]!;

  test('both sides call, in batches too, and large messages pass', async () => {
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

  test('messages keep their order and none is lost, when all are sent at once', async () => {
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

  test('what is no JSON is answered, and the connection lives', async () => {
    const { here, there, close } = await open();
    const agent = createConnection(there, { handlers: { a: () => 1 } });
    const heard: unknown[] = [];
    const twice = new Promise<void>((resolve) => {
      here.start({
        text: (text) => {
          heard.push(JSON.parse(text));
          if (heard.length === 2) resolve();
        },
        ...{ invalid: () => {}, tooLong: () => {}, ended: () => {} },
      });
    });
    here.send('{"jsonrpc"');
    here.send('{"jsonrpc":"2.0","id":1,"method":"a"}');
    await twice;
    expect(heard).toMatchObject([
      { id: null, error: { code: -32700 } },
      { id: 1, result: 1 },
    ]);
    here.destroy();
    await agent.closed;
    await close();
  });

  test('when one side is gone, calls of the other reject', async () => {
    const { here, there, close } = await open();
    const client = createConnection(here);
    there.start({ text: () => there.destroy(), invalid: () => {}, tooLong: () => {}, ended: () => {} });
    await expect(client.request('a')).rejects.toMatchObject({ code: 'closed' });
    await client.closed;
    await close();
  });

  // A WebSocket is closed from both sides or from none.
  if (name !== 'a WebSocket') {
    test('one side may end what it sends while the other still works on its requests', async () => {
      const { here, there, close } = await open();
      const agent = createConnection(there, {
        handlers: { slow: () => new Promise((resolve) => setTimeout(resolve, 30, 'done')) },
      });
      const heard: string[] = [];
      const over = new Promise<void>((resolve) => {
        here.start({ text: (text) => heard.push(text), invalid: () => {}, tooLong: () => {}, ended: () => resolve() });
      });
      here.send('{"jsonrpc":"2.0","id":1,"method":"slow"}');
      await here.end();
      await over;
      expect(heard.map((text) => JSON.parse(text))).toEqual([{ jsonrpc: '2.0', id: 1, result: 'done' }]);
      expect(await agent.closed).toBeUndefined();
      here.destroy();
      await close();
    });
  }

  test('who drops the channel is told nothing more of what came before', async () => {
    const { here, there, close } = await open();
    const heard: string[] = [];
    const dropped = new Promise<void>((resolve) => {
      there.start({
        text: (text) => {
          heard.push(text);
          there.destroy();
        },
        ...{ invalid: () => {}, tooLong: () => {} },
        ended: () => {
          heard.push('ended');
          resolve();
        },
      });
    });
    const gone = new Promise<unknown>((resolve) => {
      here.start({ text: () => {}, invalid: () => {}, tooLong: () => {}, ended: resolve });
    });
    for (let n = 0; n < 10; n++) here.send(String(n));
    await dropped;
    await gone;
    await new Promise((resolve) => setImmediate(resolve));
    expect(heard).toEqual(['0', 'ended']);
    here.destroy();
    await close();
  });

  test('who sends faster than the other side reads has to wait, and nothing is lost', async () => {
    const { here, there, close } = await open();
    let seen = 0;
    // Nothing is taken until somebody says so.
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

describe('a Unix-domain socket', () => {
  const nobody = (channel: Channel): void => channel.destroy();

  test('is its owner alone to use', async () => {
    const file = path.join(folder, 'private.sock');
    const listener = await listenSocket(file, nobody);
    expect(statSync(file).mode & 0o077).toBe(0);
    await listener.close();
  });

  test('of a process that died makes place; one that is listened on, and any other file, does not', async () => {
    const file = path.join(folder, 'stale.sock');
    const first = await listenSocket(file, nobody);
    await expect(listenSocket(file, nobody)).rejects.toMatchObject({ code: 'closed', cause: { code: 'EADDRINUSE' } });
    await first.close();
    // What is left when nobody unlinks it.
    const left = createServer().listen(file);
    await new Promise((resolve) => left.once('listening', resolve));
    const again = path.join(folder, 'moved.sock');
    renameSync(file, again);
    await new Promise((resolve) => left.close(resolve));
    const second = await listenSocket(again, nobody);
    await second.close();
    const text = path.join(folder, 'file.txt');
    writeFileSync(text, 'mine');
    await expect(listenSocket(text, nobody)).rejects.toMatchObject({ code: 'closed' });
    expect(statSync(text).size).toBe(4);
  });

  test('that nobody listens on refuses', async () => {
    await expect(connectSocket(path.join(folder, 'none.sock'))).rejects.toMatchObject({ code: 'closed' });
  });
});

test('a socket whose other side is reset before anybody takes the channel does no harm', async () => {
  let taken!: (channel: Channel) => void;
  const channel = new Promise<Channel>((resolve) => {
    taken = resolve;
  });
  const listener = await listenSocket({ port: 0 }, taken);
  const socket = connect(listener.address as { port: number });
  socket.on('error', () => {});
  await new Promise((resolve) => socket.once('connect', resolve));
  const there = await channel;
  socket.resetAndDestroy();
  there.send('"nobody"');
  await new Promise((resolve) => setTimeout(resolve, 50));
  const connection = createConnection(there);
  expect(await connection.closed).toMatchObject({ code: 'closed' });
  await listener.close();
});

test('what serves a socket fails one connection and not all', async () => {
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

/** A WebSocket of which the test says what happens when: as browsers have them, which cannot be told to read nothing. */
function scriptedSocket(readyState = 1): { socket: WebSocketLike; say: (type: string, event: object) => void } {
  const listeners = new Map<string, (event: never) => void>();
  const socket = {
    readyState,
    bufferedAmount: 0,
    send: () => {},
    close: () => {},
    addEventListener: (type: string, listener: (event: never) => void) => listeners.set(type, listener),
  };
  const say = (type: string, event: object): void => {
    if (type === 'close') socket.readyState = 3;
    listeners.get(type)?.(event as never);
  };
  return { socket: socket as WebSocketLike, say };
}

describe('a WebSocket that cannot be paused', () => {
  const told = (channel: Channel): { heard: unknown[]; over: Promise<Error | undefined> } => {
    const heard: unknown[] = [];
    const over = new Promise<Error | undefined>((resolve) => {
      channel.start({
        text: (text) => heard.push(text),
        invalid: () => heard.push('garbage'),
        tooLong: () => heard.push('too long'),
        ended: (error) => {
          heard.push('ended');
          resolve(error);
        },
      });
    });
    return { heard, over };
  };

  test('keeps what comes before the start, and while it is paused, the end included', async () => {
    const { socket, say } = scriptedSocket();
    const channel = webSocketChannel(socket);
    say('message', { data: 'early' });
    const { heard, over } = told(channel);
    await Promise.resolve();
    expect(heard).toEqual(['early']);
    channel.pause();
    say('message', { data: 'held' });
    say('message', { data: new ArrayBuffer(1) });
    say('close', { code: 1000, reason: '' });
    expect(heard).toEqual(['early']);
    channel.resume();
    expect(await over).toBeUndefined();
    expect(heard).toEqual(['early', 'held', 'garbage', 'ended']);
  });

  test.each([
    [1000, undefined],
    [1001, undefined],
    [1005, undefined],
    [1006, '1006'],
    [1009, '1009: too big'],
  ])('closed with %i says so where that is a fault', async (code, message) => {
    const { socket, say } = scriptedSocket();
    const { over } = told(webSocketChannel(socket));
    say('close', { code, reason: code === 1009 ? 'too big' : '' });
    const error = await over;
    if (message === undefined) expect(error).toBeUndefined();
    else expect(error?.message).toContain(message);
  });

  test('that failed before the start ends with that', async () => {
    const { socket, say } = scriptedSocket();
    const channel = webSocketChannel(socket);
    say('error', { message: 'refused' });
    say('close', { code: 1006, reason: '' });
    expect(await told(channel).over).toMatchObject({ message: 'refused' });
  });

  test('that was closed before there was a channel is an end', async () => {
    const { socket } = scriptedSocket(3);
    expect(await told(webSocketChannel(socket)).over).toBeUndefined();
  });

  test('with a message that is too long ends', async () => {
    const { socket, say } = scriptedSocket();
    const { heard, over } = told(webSocketChannel(socket, { maxLength: 3 }));
    await Promise.resolve();
    for (const data of ['abc', 'abcd', 'abc']) say('message', { data });
    await over;
    expect(heard).toEqual(['abc', 'too long', 'ended']);
  });

  test.each(['maxLength', 'highWaterMark'])('refuses a bad %s', (name) => {
    expect(() => webSocketChannel(scriptedSocket().socket, { [name]: 0 })).toThrow(TypeError);
  });
});

test('a binary message of a WebSocket is no message', async () => {
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

test('whoever takes connections may fail: the one is dropped, it is told, and the next is taken', async () => {
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
  expect(errors).toEqual(['Whoever was to take a connection has failed.']);
});
