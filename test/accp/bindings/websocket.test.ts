/** ACCP over WebSocket: both sides of pegwire, and raw sockets for tests of the wire itself. */
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { CLOSE, type Link, LinkError } from '../../../src/accp/bindings/websocket/index.js';
import { createSession, type Message, streamMessages } from '../../../src/accp/codec/index.js';
import { parseFrame } from '../../../src/accp/index.js';
import { codec, req, type ServerFixture, startServer } from './websocket-fixture.js';

const open: ServerFixture[] = [];
const openServer = async (...args: Parameters<typeof startServer>): Promise<ServerFixture> => {
  const opened = await startServer(...args);
  open.push(opened);
  return opened;
};
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

/** A raw socket. */
async function raw(port: number): Promise<{ socket: WebSocket; next: () => Promise<string>; closed: Promise<number> }> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`, 'accp');
  const received: string[] = [];
  const waiting: ((frame: string) => void)[] = [];
  socket.on('message', (data) => {
    const next = waiting.shift();
    if (next === undefined) received.push(String(data));
    else next(String(data));
  });
  socket.on('error', () => {});
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  await new Promise((resolve) => socket.once('open', resolve));
  const next = (): Promise<string> =>
    received.length > 0 ? Promise.resolve(received.shift()!) : new Promise((resolve) => waiting.push(resolve));
  return { socket, next, closed };
}

/** The first frame of a session of its own. */
function hello(agent = 'raw', id?: string): { frame: string; session: ReturnType<typeof createSession> } {
  const session = createSession({ agent, sequence: 'sender', ...(id === undefined ? {} : { id }) });
  return { frame: codec.announce(session).frames[0]!, session };
}

const headOf = (frame: string): string => {
  const { intent, operation } = parseFrame(frame);
  return `${intent}:${operation}`;
};

describe('a conversation', () => {
  test('begins with the registries of both sides, each once', async () => {
    const { port } = await openServer();
    const { socket, next } = await raw(port);
    const { frame, session } = hello();
    socket.send(frame);
    const answer = await next();
    expect(headOf(answer)).toBe('sync:registry');
    expect(codec.decode(answer, session)).toMatchObject({ outcome: 'message' });
    socket.send(codec.encode(req({ n: 1 }), session).frames[0]!);
    const done = codec.decode(await next(), session);
    expect(done).toMatchObject({ outcome: 'message', message: { intent: 'done', payload: { n: 1 } } });
  });

  test('requests are answered concurrently, in whatever order they finish', async () => {
    const wake: (() => void)[] = [];
    const { connect } = await openServer(async ({ payload }: Message) => {
      if (payload['n'] === 1) await new Promise<void>((resolve) => wake.push(resolve));
      else for (const one of wake) one();
      return { intent: 'done', operation: 'echo', payload };
    });
    const link = await connect();
    const answers = await Promise.all([link.request(req({ n: 1 })), link.request(req({ n: 2 }))]);
    expect(answers.map(({ payload }) => payload['n'])).toEqual([1, 2]);
  });

  test('any text is returned unchanged, including spaces: both sides have announced their encoding', async () => {
    const { connect } = await openServer();
    const link = await connect();
    const { payload } = await link.request(req({ text: 'Grüße, 42 Leute\n{|}' }));
    expect(payload['text']).toBe('Grüße, 42 Leute\n{|}');
  });

  test('a failure rejects with its code', async () => {
    const { connect } = await openServer(() => {
      throw new Error('the password is 1234');
    });
    const link = await connect();
    const failure = await link.request(req({ n: 1 })).catch((error) => error);
    expect(failure).toMatchObject({ name: 'AccpError', code: 'E9999' });
    expect(failure.message).not.toContain('1234');
  });

  test('a stream arrives in order, and a failing one fails', async () => {
    const { connect } = await openServer(({ envelope, payload }: Message) => {
      async function* source(): AsyncGenerator<string> {
        yield 'Hello';
        yield ' wide';
        if (payload['fail'] === 1) throw new Error('no');
        yield ' world';
      }
      return streamMessages(source(), {
        correlationId: envelope.correlation_id ?? envelope.msg_id,
        operation: 'infer',
      });
    });
    const link = await connect();
    let text = '';
    for await (const { data } of link.stream(req({ n: 1 }))) text += data;
    expect(text).toBe('Hello wide world');
    const failing = (async () => {
      for await (const _ of link.stream(req({ fail: 1 })));
    })();
    await expect(failing).rejects.toMatchObject({ name: 'AccpError' });
  });

  test('a plain answer instead of a stream ends it', async () => {
    const { connect } = await openServer();
    const link = await connect();
    for await (const _ of link.stream(req({ n: 1 }))) throw new Error('there is none');
  });

  test('the server can send messages', async () => {
    const { connect, sockets } = await openServer();
    const link = await connect();
    expect(sockets.connected()).toEqual([link.session.id]);
    expect(await sockets.send(link.session.id, { intent: 'sync', operation: 'note', payload: { n: 7 } })).toBe(true);
    expect(await sockets.send('nobody', { intent: 'sync', operation: 'note', payload: {} })).toBe(false);
    for await (const { payload } of link.messages) {
      expect(payload).toEqual({ n: 7 });
      break;
    }
  });

  test('abandoning a request cancels it at the server', async () => {
    const reported: string[] = [];
    let started!: () => void;
    const start = new Promise<void>((resolve) => {
      started = resolve;
    });
    let stopped!: () => void;
    const stop = new Promise<void>((resolve) => {
      stopped = resolve;
    });
    const { connect } = await openServer((message, { signal }) => {
      reported.push(message.intent);
      if (message.intent !== 'req') return null;
      started();
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          stopped();
          reject(signal.reason);
        });
      });
    });
    const link = await connect();
    const controller = new AbortController();
    const answer = link.request(req({ n: 1 }), { signal: controller.signal });
    await start;
    controller.abort(new Error('enough'));
    await expect(answer).rejects.toThrow('enough');
    await stop;
    expect(reported[0]).toBe('req');
  });
});

describe('rejections', () => {
  test.each([
    ['another frame', () => codec.encode(req({ n: 1 }), createSession({ agent: 'raw' })).frames[0]!, 'E1002'],
    ['a text that is not a frame', () => 'hello', 'E1001'],
  ])('%s as the first one: an error frame, and close 1008', async (_, frame, code) => {
    const { port } = await openServer();
    const { socket, next, closed } = await raw(port);
    socket.send(frame());
    expect(await next()).toContain(`code:${code}`);
    expect(await closed).toBe(CLOSE.noRegistry);
  });

  test('no frame at all, for too long', async () => {
    const { port, errors } = await openServer(undefined, { handshakeTimeoutMs: 50 });
    expect(await (await raw(port)).closed).toBe(CLOSE.noRegistry);
    expect(errors).toMatchObject([{ name: 'LinkError', code: 'unreachable' }]);
  });

  test.each([
    ['a binary message', (socket: WebSocket) => socket.send(Buffer.from('@a>b:c{}')), CLOSE.binary],
    ['a frame that is too long', (socket: WebSocket) => socket.send('x'.repeat(2000)), CLOSE.tooBig],
    [
      'bytes that are not UTF-8',
      (socket: WebSocket) => socket.send(Buffer.from([0xc3, 0x28]), { binary: false }),
      CLOSE.notUtf8,
    ],
  ])('%s closes the connection only', async (_, send, code) => {
    const { port, connect } = await openServer(undefined, { maxFrameBytes: 1000 });
    const other = await connect();
    const { socket, next, closed } = await raw(port);
    socket.send(hello().frame);
    await next();
    send(socket);
    expect(await closed).toBe(code);
    expect((await other.request(req({ n: 1 }))).payload).toEqual({ n: 1 });
  });

  test('a malformed frame is answered with E1001, and the connection stays open', async () => {
    const { port } = await openServer();
    const { socket, next } = await raw(port);
    const { frame, session } = hello();
    socket.send(frame);
    await next();
    for (const bad of [
      '',
      '@',
      '@raw>req:echo{n:1',
      'x'.repeat(100),
      '@raw>req:echo{n:1}[mid:a]',
      '\u0000',
      '@raw>req:echo{n:1}\n@raw>req:echo{n:2}',
    ]) {
      socket.send(bad);
      expect(await next()).toMatch(/fail:error\{code:E100\d/);
    }
    socket.send(codec.encode(req({ n: 2 }), session).frames[0]!);
    expect(await next()).toContain('done:echo');
  });

  test('a session with another numbering', async () => {
    const { connect } = await openServer();
    await expect(connect({ session: createSession({ agent: 'client' }) })).rejects.toThrow(TypeError);
  });

  test.each([
    ['no server listens', 'ws://127.0.0.1:1', 'unreachable'],
    ['the address is invalid', 'ws://', 'unreachable'],
  ])('a connection because %s', async (_, url, code) => {
    const { connectWebSocket } = await import('../../../src/accp/bindings/websocket/index.js');
    const session = createSession({ agent: 'client', sequence: 'sender' });
    await expect(connectWebSocket(url, { codec, session, WebSocket })).rejects.toMatchObject({ code });
  });
});

describe('a second connection of a session', () => {
  test('replaces the first, which gets the reason', async () => {
    const { connect, sockets } = await openServer();
    const first = await connect({ reconnect: false });
    const session = createSession({ agent: 'client', id: first.session.id, sequence: 'sender', firstSequence: 2 });
    const second = await connect({ session });
    expect(await first.closed).toMatchObject({ name: 'LinkError', code: 'replaced', closeCode: CLOSE.replaced });
    expect((await second.request(req({ n: 1 }))).payload).toEqual({ n: 1 });
    expect(sockets.connected()).toHaveLength(1);
    await expect(first.send(req({ n: 2 }))).rejects.toBeInstanceOf(LinkError);
  });
});

describe('the heartbeat', () => {
  test('consists of frames, answered with pong under their identifier', async () => {
    const { port } = await openServer(undefined, { heartbeatMs: 50 });
    const { socket, next } = await raw(port);
    const { frame, session } = hello();
    socket.send(frame);
    codec.decode(await next(), session);
    const ping = await next();
    expect(headOf(ping)).toBe('ping:heartbeat');
    // The client sends one, too, with any operation.
    const asked = codec.encode({ intent: 'ping', operation: 'are_you_there', payload: {} }, session);
    socket.send(asked.frames[0]!);
    let pong = await next();
    while (headOf(pong).startsWith('ping')) pong = await next();
    expect(headOf(pong)).toBe('pong:are_you_there');
    expect(pong).toContain(`cid:${asked.msgId}`);
  });

  test('keeps a quiet connection open', async () => {
    const { connect } = await openServer(undefined, { heartbeatMs: 20, maxMissed: 1 });
    const states: string[] = [];
    const link = await connect({ heartbeatMs: 20, maxMissed: 5, onState: (state) => states.push(state) });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await link.request(req({ n: 1 }))).payload).toEqual({ n: 1 });
    expect(states[0]).toBe('open');
  });
});

describe('the end', () => {
  test('closed by the client: pending requests reject, and the server ends the session', async () => {
    const { connect, sockets } = await openServer(() => new Promise(() => {}));
    const link = await connect();
    const waiting = link.request(req({ n: 1 })).catch((error) => error);
    await link.send(req({ n: 2 }));
    await link.close();
    expect(await waiting).toMatchObject({ code: 'closed' });
    expect(await link.closed).toBeUndefined();
    while (sockets.connected().length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  test('a server that shuts down is awaited for the maximum number of attempts', async () => {
    const { connect, sockets, server } = await openServer();
    const states: string[] = [];
    const onState = (state: string): void => void states.push(state);
    const link: Link = await connect({ onState, reconnect: { minDelayMs: 10, maxDelayMs: 20, maxAttempts: 3 } });
    await sockets.close();
    server.close();
    expect(await link.closed).toMatchObject({ code: 'unreachable' });
    expect(states).toEqual(['open', 'reconnecting', 'closed']);
  });

  test('a server that has lost the session ends the link', async () => {
    const before = await openServer();
    const link = await before.connect();
    await link.request(req({ n: 1 }));
    await link.close();
    // As after a restart without a store.
    const after = await openServer();
    await expect(after.connect({ session: link.session })).rejects.toMatchObject({ code: 'session-lost' });
  });
});
