/** ACCP over WebSocket: both sides of pegwire, and raw sockets where the wire itself is looked at. */
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { CLOSE, type Link, LinkError } from '../../../src/accp/bindings/websocket/index.js';
import { createSession, type Message, streamMessages } from '../../../src/accp/codec/index.js';
import { parseFrame } from '../../../src/accp/index.js';
import { codec, openWorld, req, type World } from './websocket-world.js';

const open: World[] = [];
const world = async (...args: Parameters<typeof openWorld>): Promise<World> => {
  const made = await openWorld(...args);
  open.push(made);
  return made;
};
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

/** A socket with nothing of ours around it. */
async function raw(port: number): Promise<{ socket: WebSocket; next: () => Promise<string>; closed: Promise<number> }> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`, 'accp');
  const heard: string[] = [];
  const waiting: ((frame: string) => void)[] = [];
  socket.on('message', (data) => {
    const next = waiting.shift();
    if (next === undefined) heard.push(String(data));
    else next(String(data));
  });
  socket.on('error', () => {});
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  await new Promise((resolve) => socket.once('open', resolve));
  const next = (): Promise<string> =>
    heard.length > 0 ? Promise.resolve(heard.shift()!) : new Promise((resolve) => waiting.push(resolve));
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
    const { port } = await world();
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

  test('requests are answered, in parallel, whichever is done first', async () => {
    const wake: (() => void)[] = [];
    const { connect } = await world(async ({ payload }: Message) => {
      if (payload['n'] === 1) await new Promise<void>((resolve) => wake.push(resolve));
      else for (const one of wake) one();
      return { intent: 'done', operation: 'echo', payload };
    });
    const link = await connect();
    const answers = await Promise.all([link.request(req({ n: 1 })), link.request(req({ n: 2 }))]);
    expect(answers.map(({ payload }) => payload['n'])).toEqual([1, 2]);
  });

  test('any text comes back, spaces and all: both sides have announced how they write it', async () => {
    const { connect } = await world();
    const link = await connect();
    const { payload } = await link.request(req({ text: 'Grüße, 42 Leute\n{|}' }));
    expect(payload['text']).toBe('Grüße, 42 Leute\n{|}');
  });

  test('a failure rejects with its code', async () => {
    const { connect } = await world(() => {
      throw new Error('the password is 1234');
    });
    const link = await connect();
    const failure = await link.request(req({ n: 1 })).catch((error) => error);
    expect(failure).toMatchObject({ name: 'AccpError', code: 'E9999' });
    expect(failure.message).not.toContain('1234');
  });

  test('a stream comes in its order, and a failing one fails', async () => {
    const { connect } = await world(({ envelope, payload }: Message) => {
      async function* source(): AsyncGenerator<string> {
        yield 'Hello';
        yield ' wide';
        if (payload['fail'] === 1) throw new Error('no');
        yield ' world';
      }
      return streamMessages(source(), { cid: envelope.correlation_id ?? envelope.msg_id, operation: 'infer' });
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

  test('a plain answer to what was to be a stream ends it', async () => {
    const { connect } = await world();
    const link = await connect();
    for await (const _ of link.stream(req({ n: 1 }))) throw new Error('there is none');
  });

  test('the server speaks first, too', async () => {
    const { connect, sockets } = await world();
    const link = await connect();
    expect(sockets.connected()).toEqual([link.session.id]);
    expect(await sockets.send(link.session.id, { intent: 'sync', operation: 'note', payload: { n: 7 } })).toBe(true);
    expect(await sockets.send('nobody', { intent: 'sync', operation: 'note', payload: {} })).toBe(false);
    for await (const { payload } of link.messages) {
      expect(payload).toEqual({ n: 7 });
      break;
    }
  });

  test('giving a request up tells the other side', async () => {
    const told: string[] = [];
    let started!: () => void;
    const start = new Promise<void>((resolve) => {
      started = resolve;
    });
    let stopped!: () => void;
    const stop = new Promise<void>((resolve) => {
      stopped = resolve;
    });
    const { connect } = await world((message, { signal }) => {
      told.push(message.intent);
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
    expect(told[0]).toBe('req');
  });
});

describe('what is refused', () => {
  test.each([
    ['another frame', () => codec.encode(req({ n: 1 }), createSession({ agent: 'raw' })).frames[0]!, 'E1002'],
    ['no frame at all', () => 'hello', 'E1001'],
  ])('%s as the first one: an error frame, and close 1008', async (_, frame, code) => {
    const { port } = await world();
    const { socket, next, closed } = await raw(port);
    socket.send(frame());
    expect(await next()).toContain(`code:${code}`);
    expect(await closed).toBe(CLOSE.noRegistry);
  });

  test('nothing at all, for too long', async () => {
    const { port, errors } = await world(undefined, { handshakeTimeoutMs: 50 });
    expect(await (await raw(port)).closed).toBe(CLOSE.noRegistry);
    expect(errors).toMatchObject([{ name: 'LinkError', code: 'unreachable' }]);
  });

  test.each([
    ['a binary message', (socket: WebSocket) => socket.send(Buffer.from('@a>b:c{}')), CLOSE.binary],
    ['a frame that is too long', (socket: WebSocket) => socket.send('x'.repeat(2000)), CLOSE.tooBig],
    [
      'bytes that are no UTF-8',
      (socket: WebSocket) => socket.send(Buffer.from([0xc3, 0x28]), { binary: false }),
      CLOSE.notUtf8,
    ],
  ])('%s closes the connection, and nothing else', async (_, send, code) => {
    const { port, connect } = await world(undefined, { maxFrameBytes: 1000 });
    const other = await connect();
    const { socket, next, closed } = await raw(port);
    socket.send(hello().frame);
    await next();
    send(socket);
    expect(await closed).toBe(code);
    expect((await other.request(req({ n: 1 }))).payload).toEqual({ n: 1 });
  });

  test('a malformed frame is answered by E1001, and the connection lives', async () => {
    const { port } = await world();
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

  test('a session that counts otherwise', async () => {
    const { connect } = await world();
    await expect(connect({ session: createSession({ agent: 'client' }) })).rejects.toThrow(TypeError);
  });

  test.each([
    ['nobody listens', 'ws://127.0.0.1:1', 'unreachable'],
    ['the address is none', 'ws://', 'unreachable'],
  ])('a connection where %s', async (_, url, code) => {
    const { connectWebSocket } = await import('../../../src/accp/bindings/websocket/index.js');
    const session = createSession({ agent: 'client', sequence: 'sender' });
    await expect(connectWebSocket(url, { codec, session, WebSocket })).rejects.toMatchObject({ code });
  });
});

describe('a second connection of a session', () => {
  test('takes the place of the first, which is told', async () => {
    const { connect, sockets } = await world();
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
  test('is frames of their own, answered by pong under their identifier', async () => {
    const { port } = await world(undefined, { heartbeatMs: 50 });
    const { socket, next } = await raw(port);
    const { frame, session } = hello();
    socket.send(frame);
    codec.decode(await next(), session);
    const ping = await next();
    expect(headOf(ping)).toBe('ping:heartbeat');
    // And the other way round, with any operation.
    const asked = codec.encode({ intent: 'ping', operation: 'are_you_there', payload: {} }, session);
    socket.send(asked.frames[0]!);
    let pong = await next();
    while (headOf(pong).startsWith('ping')) pong = await next();
    expect(headOf(pong)).toBe('pong:are_you_there');
    expect(pong).toContain(`cid:${asked.msgId}`);
  });

  test('keeps a quiet connection', async () => {
    const { connect } = await world(undefined, { heartbeatMs: 20, maxMissed: 1 });
    const states: string[] = [];
    const link = await connect({ heartbeatMs: 20, maxMissed: 5, onState: (state) => states.push(state) });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await link.request(req({ n: 1 }))).payload).toEqual({ n: 1 });
    expect(states[0]).toBe('open');
  });
});

describe('the end', () => {
  test('closed here: requests that wait reject, and the server knows', async () => {
    const { connect, sockets } = await world(() => new Promise(() => {}));
    const link = await connect();
    const waiting = link.request(req({ n: 1 })).catch((error) => error);
    await link.send(req({ n: 2 }));
    await link.close();
    expect(await waiting).toMatchObject({ code: 'closed' });
    expect(await link.closed).toBeUndefined();
    while (sockets.connected().length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  test('a server that ends is waited for as often as was asked for', async () => {
    const { connect, sockets, server } = await world();
    const states: string[] = [];
    const onState = (state: string): void => void states.push(state);
    const link: Link = await connect({ onState, reconnect: { minDelayMs: 10, maxDelayMs: 20, maxAttempts: 3 } });
    await sockets.close();
    server.close();
    expect(await link.closed).toMatchObject({ code: 'unreachable' });
    expect(states).toEqual(['open', 'reconnecting', 'closed']);
  });

  test('a server that has forgotten the session is no place to go on', async () => {
    const before = await world();
    const link = await before.connect();
    await link.request(req({ n: 1 }));
    await link.close();
    // As after a restart without a store.
    const after = await world();
    await expect(after.connect({ session: link.session })).rejects.toMatchObject({ code: 'session-lost' });
  });
});
