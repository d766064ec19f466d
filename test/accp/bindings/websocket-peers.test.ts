/** Peers that misbehave: late, without their state, renamed, unauthorized, or not endpoints at all. */
import { once } from 'node:events';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { connectWebSocket, type LinkState, type WebSocketLike } from '../../../src/accp/bindings/websocket/index.js';
import { createCodec, createSession, type Message } from '../../../src/accp/codec/index.js';
import { codec, numbers, req, type ServerFixture, serversBehindProxies, startServer } from './websocket-fixture.js';

const open: { close: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function openServer(...args: Parameters<typeof startServer>): Promise<ServerFixture> {
  const opened = await startServer(...args);
  open.push(opened);
  return opened;
}

/** Behaves like browsers: a program may close with 1000 and with codes >= 3000. */
class StandardWebSocket extends WebSocket {
  override close(code?: number, reason?: string): void {
    if (code !== undefined && code !== 1000 && !(code >= 3000 && code <= 4999))
      throw new DOMException('invalid code', 'InvalidAccessError');
    super.close(code, reason);
  }
}

describe('a connection that is abandoned', () => {
  test.each([
    ['a binary message', Buffer.from('abc'), 1003, 4103],
    ['a frame that is too long', `@server>sync:note{t:${'x'.repeat(2000)}}[mid:a1,seq:9]`, 1009, 4109],
  ])('for %s is closed by a standard WebSocket, too', async (_, data, code, sent) => {
    const { connect, server } = await openServer();
    const closes: number[] = [];
    server.on('connection', (socket) => socket.on('close', (closed) => closes.push(closed)));
    const link = await connect({ WebSocket: StandardWebSocket, maxFrameBytes: 1000 });
    for (const client of server.clients) client.send(data);
    expect(await link.closed).toMatchObject({ code: 'refused', closeCode: code });
    while (closes.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(closes).toEqual([sent]);
  });
});

describe('a client that connects to an existing session', () => {
  test('with a late registry does not take over the session', async () => {
    const { connect, server, port } = await openServer();
    const session = createSession({ agent: 'client', sequence: 'sender' });
    const states: LinkState[] = [];
    const link = await connect({ session, onState: (state) => states.push(state) });
    const late = codec.announce(session).frames;
    for (const client of server.clients) client.terminate();
    await link.request(req({ n: 1 }));
    const socket = new WebSocket(`ws://127.0.0.1:${port}`);
    await once(socket, 'open');
    for (const frame of late) socket.send(frame);
    const [code] = await once(socket, 'close');
    expect(code).toBe(1008);
    expect((await link.request(req({ n: 2 }))).payload).toEqual({ n: 2 });
    expect(states).toEqual(['open', 'reconnecting', 'open']);
  });

  test('and has lost it is rejected', async () => {
    const { connect } = await openServer();
    const first = await connect({ session: createSession({ agent: 'client', id: 'mine', sequence: 'sender' }) });
    await first.request(req({ n: 1 }));
    const session = createSession({ agent: 'client', id: 'mine', sequence: 'sender' });
    await expect(connect({ session })).rejects.toMatchObject({ code: 'refused', closeCode: 1008 });
    expect((await first.request(req({ n: 2 }))).payload).toEqual({ n: 2 });
  });

  test('is admitted if the host authorizes it, and can be disconnected', async () => {
    const { sockets } = await openServer();
    const joined: string[] = [];
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    open.push({ close: () => new Promise((resolve) => server.close(() => resolve())) });
    server.on('connection', (socket, { headers }) =>
      sockets.accept(socket, {
        authorize: (sid) => sid === headers['x-user'],
        onJoin: (sid) => {
          joined.push(sid);
          // This is the listener's own failure.
          throw new Error('of the host');
        },
      }),
    );
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const as = (user: string, id: string) =>
      connectWebSocket(
        () =>
          new WebSocket(`ws://127.0.0.1:${port}`, 'accp', {
            headers: { 'x-user': user },
          }) as unknown as WebSocketLike,
        { codec, session: createSession({ agent: 'client', id, sequence: 'sender' }) },
      );
    await expect(as('mallory', 'alice')).rejects.toMatchObject({ code: 'refused' });
    const link = await as('alice', 'alice');
    expect(joined).toEqual(['alice']);
    expect(sockets.disconnect('alice', 'go away')).toBe(true);
    expect(await link.closed).toMatchObject({ code: 'refused', closeCode: 1008 });
    expect(sockets.disconnect('alice')).toBe(false);
  });
});

describe('a session that is disconnected', () => {
  test('stays disconnected if it has no connection at the time', async () => {
    const { sockets, server, connect } = await openServer();
    const session = createSession({ agent: 'client', sequence: 'sender' });
    const link = await connect({ session, reconnect: { minDelayMs: 300, maxDelayMs: 300 } });
    await link.request(req({ n: 1 }));
    for (const client of server.clients) client.terminate();
    await expect.poll(() => sockets.connected()).toEqual([]);
    expect(sockets.disconnect(session.id, 'out')).toBe(true);
    expect(await link.closed).toMatchObject({ code: 'refused', message: expect.stringContaining('out') });
  });
});

describe('a reconnection to a server', () => {
  test('with another name means that the session is lost: nothing is repeated', async () => {
    const done: string[] = [];
    const one =
      (name: string) =>
      ({ intent, payload, operation }: Message) => {
        if (intent !== 'req') return null;
        done.push(`${name}${payload['n']}`);
        return { intent: 'done', operation, payload };
      };
    const a = await openServer(one('a'), {}, { agent: 'server-a' });
    const b = await openServer(one('b'), {}, { agent: 'server-b' });
    let { port } = a;
    const session = createSession({ agent: 'client', sequence: 'sender' });
    const link = await connectWebSocket(() => new WebSocket(`ws://127.0.0.1:${port}`) as unknown as WebSocketLike, {
      ...{ codec, session, reconnect: { minDelayMs: 10, maxDelayMs: 50 } },
    });
    for (const n of numbers(3)) await link.request(req({ n }));
    port = b.port;
    for (const client of a.server.clients) client.terminate();
    expect(await link.closed).toMatchObject({ code: 'session-lost' });
    expect(done).toEqual(['a0', 'a1', 'a2']);
  });

  test('that drops each connection at once uses up the attempts', async () => {
    const { connect, server } = await openServer();
    let connections = 0;
    server.on('connection', (socket) => {
      connections++;
      // The connection is established as soon as the registry that answers the first frame has arrived.
      socket.once('message', () => setTimeout(() => socket.terminate(), 50));
    });
    const link = await connect({ reconnect: { minDelayMs: 10, maxDelayMs: 1000, maxAttempts: 3 } });
    expect(await link.closed).toMatchObject({ code: 'unreachable' });
    expect(connections).toBe(4);
  });

  test.each([
    ['hello'],
    ['{"jsonrpc":"2.0"}'],
    ['@x>req:y{}[mid:a1,seq:1]'],
    ['@client>sync:registry{v:1}[mid:a1,seq:1]'],
  ])('that begins with %s is refused', async (first) => {
    const { server, connect } = await openServer();
    server.removeAllListeners('connection');
    server.on('connection', (socket) => socket.send(first));
    await expect(connect()).rejects.toMatchObject({ code: 'refused' });
  });
});

describe('sessions without a connection', () => {
  test('are kept up to a limit, for reconnections', async () => {
    const ended: string[] = [];
    const started: string[] = [];
    const handle = ({ envelope }: Message, { signal }: { readonly signal: AbortSignal }) => {
      started.push(envelope.session_id!);
      return new Promise<null>((resolve) =>
        signal.addEventListener('abort', () => {
          ended.push(envelope.session_id!);
          resolve(null);
        }),
      );
    };
    const { connect, server } = await openServer(handle, { maxDetached: 2 });
    for (const id of ['one', 'two', 'three', 'four']) {
      const session = createSession({ agent: 'client', id, sequence: 'sender' });
      const link = await connect({ session, reconnect: false });
      await link.send(req({}));
      while (started.at(-1) !== id) await new Promise((resolve) => setTimeout(resolve, 5));
      for (const client of server.clients) client.terminate();
      await link.closed;
    }
    while (ended.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(ended).toEqual(['one', 'two']);
  });

  test('a host whose listener throws continues', async () => {
    const { connect, port } = await openServer(undefined, {
      handshakeTimeoutMs: 500,
      onError: () => {
        throw new Error('of the host');
      },
    });
    const silent = new WebSocket(`ws://127.0.0.1:${port}`);
    const [code] = await once(silent, 'close');
    expect(code).toBe(1008);
    expect((await (await connect()).request(req({ n: 1 }))).payload).toEqual({ n: 1 });
  });
});

describe('a side that pings and does not read', () => {
  test('gets an answer once it reads, to the last of its pings', async () => {
    const { server, connect } = await openServer();
    const pongs: string[] = [];
    server.on('connection', (socket) =>
      socket.on('message', (data) => {
        if (String(data).includes('>pong:')) pongs.push(String(data));
      }),
    );
    let isStuck = false;
    let pings = 0;
    class Stuck extends WebSocket {
      constructor(url: string, protocols?: string | string[]) {
        super(url, protocols);
        Object.defineProperty(this, 'bufferedAmount', { get: () => (isStuck ? 10_000_000 : 0) });
        this.addEventListener('message', ({ data }) => void (String(data).includes('>ping:') && pings++));
      }
    }
    const link = await connect({ WebSocket: Stuck });
    isStuck = true;
    const { id } = link.session;
    const [client] = server.clients;
    for (const n of numbers(50)) client!.send(`@server>ping:heartbeat{}[mid:p${n},seq:${n + 2},sid:${id}]`);
    while (pings < 50) await new Promise((resolve) => setTimeout(resolve, 5));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(pongs).toEqual([]);
    isStuck = false;
    while (pongs.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(pongs).toEqual([expect.stringContaining('cid:p49')]);
  });
});

describe('durations', () => {
  const session = createSession({ agent: 'client', sequence: 'sender' });

  test.each([
    ['heartbeatMs', { heartbeatMs: -1 }],
    ['heartbeatMs', { heartbeatMs: 0 }],
    ['handshakeTimeoutMs', { handshakeTimeoutMs: Number.NaN }],
    ['handshakeTimeoutMs', { handshakeTimeoutMs: 0 }],
    ['reconnect.maxDelayMs', { reconnect: { maxDelayMs: -1 } }],
    ['reconnect.maxAttempts', { reconnect: { maxAttempts: Number.NaN } }],
  ])('of %s that are invalid are rejected: %j', async (name, options) => {
    const connecting = connectWebSocket('ws://127.0.0.1:9', { codec, session, WebSocket, ...options });
    await expect(connecting).rejects.toThrow(name);
    await expect(connecting).rejects.toBeInstanceOf(TypeError);
  });

  test('may be infinite', async () => {
    const { connect, server } = await openServer(undefined, {
      ...{ resumeWindowMs: Number.POSITIVE_INFINITY, heartbeatMs: Number.POSITIVE_INFINITY },
      handshakeTimeoutMs: Number.POSITIVE_INFINITY,
    });
    const link = await connect({ heartbeatMs: Number.POSITIVE_INFINITY, handshakeTimeoutMs: Number.POSITIVE_INFINITY });
    for (const client of server.clients) client.terminate();
    expect((await link.request(req({ n: 1 }))).payload).toEqual({ n: 1 });
  });
});

describe('a request that is abandoned', () => {
  const behind = serversBehindProxies();

  /** Abandons a request while nothing arrives, and expects that it is never executed. */
  async function abandon(abortMs: number | undefined, error: object): Promise<void> {
    const payments: unknown[] = [];
    const { proxy, connect } = await behind(({ intent, operation, payload }: Message) => {
      if (intent !== 'req') return null;
      payments.push(payload['n']);
      return { intent: 'done', operation, payload };
    });
    const session = createSession({ agent: 'client', sequence: 'sender', timeoutMs: 300 });
    const link = await connect({ session, port: proxy.port, reconnect: { minDelayMs: 4000, maxDelayMs: 4000 } });
    await link.request(req({ n: 1 }));
    // Nothing arrives any more, and the client does not know it yet.
    proxy.freeze();
    const lost = link.request(req({ n: 2 }), abortMs === undefined ? {} : { signal: AbortSignal.timeout(abortMs) });
    await new Promise((resolve) => setTimeout(resolve, 50));
    proxy.cut();
    proxy.thaw();
    await expect(lost).rejects.toMatchObject(error);
    expect(await link.request(req({ n: 3 })).catch(({ code }) => code)).toBe('E3001');
    await expect.poll(() => link.state, { timeout: 9000 }).toBe('open');
    await link.request(req({ n: 4 }));
    expect(payments).toEqual([1, 4]);
  }

  test('times out or is aborted before it arrives: it is not executed after the reconnection', async () => {
    // Each takes seconds, most of which it waits.
    await Promise.all([abandon(undefined, { code: 'E3001' }), abandon(100, { name: 'TimeoutError' })]);
  });

  test('the rejection of a request without a cid names it', () => {
    const codec = createCodec();
    const session = createSession({ agent: 'server', sequence: 'sender' });
    for (const [text, code] of [
      ['@client>nonsense:pay{n:1}[mid:abc123,seq:1]', 'E1002'],
      ['@client>req:pay{n:$hot.nothing}[mid:abc124,seq:2]', 'E2001'],
      ['@client>req:pay{n:1}[mid:abc125]', 'E1001'],
      ['@client>req:pay{n:1}[mid:007,seq:x]', 'E1004'],
    ] as const) {
      const outcome = codec.decode(text, session);
      expect(outcome).toMatchObject({ outcome: 'rejected', error: { code } });
      const mid = /mid:(\w+)/.exec(text)![1];
      expect(outcome.outcome === 'rejected' && outcome.reply).toContain(`cid:${mid},aid:${mid}`);
    }
    // An identifier that this side cannot encode is left out.
    for (const mid of ['x'.repeat(300), '7'.repeat(300), `-${'7'.repeat(300)}`]) {
      const outcome = codec.decode(`@client>req:pay{n:1}[mid:${mid}]`, session);
      expect(outcome).toMatchObject({ outcome: 'rejected', reply: expect.not.stringContaining('cid:') });
    }
  });
});
