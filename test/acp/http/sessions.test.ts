/** Sessions and their streams: which identifiers they can have, who reads them, and when they end. */
import { getEventListeners } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type ConnectAcpOptions, connectAcp, type ListenAcpOptions, listenAcp } from '../../../src/acp/http/index.js';
import { outlineOf } from '../../../src/acp/http/protocol.js';
import { ServerConnection } from '../../../src/acp/http/server-connection.js';
import { type Channel, type Connection, type ConnectionOptions, createConnection } from '../../../src/acp/index.js';
import { deferred } from '../../../src/async/listeners.js';
import { serverSentEvent } from '../../../src/channels/event-stream.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const close of closing.splice(0).reverse()) await close();
});

type Handlers = NonNullable<ConnectionOptions['handlers']>;

interface Session {
  readonly sessionId: string;
}

/** Serves an agent whose sessions are `s1`, `s2` and so on. */
async function served(handlers: Handlers = {}, options: ListenAcpOptions = {}) {
  let count = 0;
  const agents: Connection[] = [];
  const all: Handlers = {
    initialize: () => ({}),
    'session/new': () => ({ sessionId: `s${++count}` }),
    'session/prompt': ({ sessionId }: Session) => `of ${sessionId}`,
    'session/close': () => ({}),
    other: () => 'answered',
    ...handlers,
  };
  const server = await listenAcp((channel) => agents.push(createConnection(channel, { handlers: all })), {
    closeGraceMs: 50,
    ...options,
  });
  closing.push(server.close);
  return { server, agents };
}

async function connected(url: string, options: ConnectAcpOptions = {}, handlers: Handlers = {}): Promise<Connection> {
  const connection = createConnection(connectAcp(url, options), { handlers });
  closing.push(connection.close);
  await connection.request('initialize', {});
  return connection;
}

/** Sends a request of a connection by hand, which the first call opens. */
async function byHand(http: string) {
  const post = (message: object, headers: Record<string, string>): Promise<Response> =>
    fetch(http, {
      ...{ method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', ...message }) },
      headers: { 'content-type': 'application/json', 'acp-resumable': '1', ...headers },
    });
  const { headers } = await post({ id: 0, method: 'initialize' }, {});
  const connection = { 'acp-connection-id': headers.get('acp-connection-id')! };
  return {
    post: (message: object, more: Record<string, string> = {}) => post(message, { ...connection, ...more }),
    get: (more: Record<string, string> = {}) =>
      fetch(http, { headers: { accept: 'text/event-stream', ...connection, ...more } }),
  };
}

const UNUSABLE = ['', ' s', 's ', 'é', '会話', 'a\nb', 'a\0b', 'x'.repeat(1025)].map(
  (id) => [id.slice(0, 5), id] as const,
);

describe.each([
  ['HTTP/2', {}],
  ['HTTP/1.1', { fetch }],
])('over %s', (_, options) => {
  test.each(UNUSABLE)('a session that the agent calls %j is an error of session/new alone', async (_, sessionId) => {
    const { server, agents } = await served({ 'session/new': () => ({ sessionId }) });
    const updated = deferred<unknown>();
    const connection = await connected(server.http, options, { 'session/update': updated.resolve });
    await expect(connection.request('session/new', {})).rejects.toMatchObject({
      rpcCode: -32603,
      message: expect.stringContaining('cannot be used over HTTP'),
    });
    await agents[0]!.notify('session/update', { sessionId });
    expect(await updated.promise).toMatchObject({ sessionId });
    expect(await connection.request('other', {})).toBe('answered');
  });

  test.each(UNUSABLE)('a session that the client calls %j is an error of its calls alone', async (_, sessionId) => {
    const { server } = await served();
    const connection = await connected(server.http, options);
    await connection.notify('session/cancel', { sessionId });
    await expect(connection.request('session/prompt', { sessionId })).rejects.toThrow('no header can have it');
    expect(await connection.request('other', {})).toBe('answered');
  });

  test.each(['a,b', 'a b', '~', 'x'.repeat(1024)])('a session can be called %.5s', async (sessionId) => {
    const { server } = await served({ 'session/new': () => ({ sessionId }) });
    const connection = await connected(server.http, options);
    await connection.request('session/new', {});
    expect(await connection.request('session/prompt', { sessionId })).toBe(`of ${sessionId}`);
  });

  test('a session that is closed leaves its place to another', async () => {
    const { server } = await served({}, { maxSessions: 2 });
    const connection = await connected(server.http, options);
    for (let n = 0; n < 5; n++) {
      const { sessionId } = (await connection.request('session/new', {})) as Session;
      expect(await connection.request('session/prompt', { sessionId })).toBe(`of ${sessionId}`);
      expect(await connection.request('session/close', { sessionId })).toEqual({});
    }
    expect(await connection.request('other', {})).toBe('answered');
  });

  test('a session that is closed receives the responses to its other requests, and can be used again', async () => {
    const closed = deferred();
    const { server } = await served({ 'session/prompt': () => closed.promise.then(() => 'cancelled') });
    const connection = await connected(server.http, options);
    const { sessionId } = (await connection.request('session/new', {})) as Session;
    for (let n = 0; n < 3; n++) {
      const answered = connection.request('session/prompt', { sessionId });
      await connection.request('session/close', { sessionId });
      closed.resolve();
      expect(await answered).toBe('cancelled');
    }
  });

  test('a session beyond the maximum fails alone', async () => {
    const { server } = await served({}, { maxSessions: 1 });
    const connection = await connected(server.http, options);
    const create = async () => (await connection.request('session/new', {})) as Session;
    const [first, second] = [await create(), await create()];
    await expect(connection.request('session/prompt', second)).rejects.toThrow('503');
    expect(await connection.request('session/prompt', first)).toBe('of s1');
    await connection.request('session/close', first);
    expect(await connection.request('session/prompt', second)).toBe('of s2');
  });
});

test('messages of more sessions than there are streams arrive on that of the connection', async () => {
  const { server, agents } = await served({}, { maxSessions: 1 });
  const seen: string[] = [];
  const three = deferred();
  const connection = await connected(
    server.http,
    {},
    {
      'session/update': ({ sessionId }: Session) => {
        if (seen.push(sessionId) === 3) three.resolve();
      },
    },
  );
  await connection.request('session/new', {});
  for (const sessionId of ['s1', 's2', 's3']) await agents[0]!.notify('session/update', { sessionId });
  await three.promise;
  expect(seen.toSorted()).toEqual(['s1', 's2', 's3']);
});

test('a header that names a session takes its place', async () => {
  const { server } = await served({}, { maxSessions: 2 });
  const { post, get } = await byHand(server.http);
  const statuses: number[] = [];
  for (let id = 1; id <= 3; id++)
    statuses.push((await post({ id, method: 'other' }, { 'acp-session-id': `s${id}` })).status);
  expect(statuses).toEqual([202, 202, 503]);
  expect((await get({ 'acp-session-id': 's2' })).status).toBe(200);
  expect((await get({ 'acp-session-id': 's3' })).status).toBe(503);
});

test('a stream is taken over by the reader that continues it, and by no other', async () => {
  const { server } = await served();
  const { get } = await byHand(server.http);
  const first = await get();
  expect((await get()).status).toBe(409);
  expect((await get({ 'last-event-id': '0' })).status).toBe(200);
  await expect(first.text()).rejects.toThrow();
});

test('a client that reads one stream, and not another for which the agent waits, is cut off', async () => {
  const { server, agents } = await served({}, { stallTimeoutMs: 150, keepAliveMs: 10 });
  const { get } = await byHand(server.http);
  void (await get()).text().catch(() => undefined);
  await get({ 'acp-session-id': 's1' });
  const text = 'x'.repeat(64 * 1024);
  const sending = (async () => {
    for (;;) await agents[0]!.notify('session/update', { sessionId: 's1', text });
  })();
  await expect(sending).rejects.toThrow();
  expect((await agents[0]!.closed)?.message).toContain('does not read');
});

test('a body for an unknown connection is not awaited', async () => {
  const { server } = await served();
  const session = connectHttp2(server.http);
  const headers = { 'content-type': 'application/json', 'acp-connection-id': 'x' };
  const stream = session.request({ ':method': 'POST', ':path': '/acp', ...headers }, { endStream: false });
  const answer = await new Promise<{ ':status'?: number }>((r) => stream.on('error', () => {}).once('response', r));
  expect(answer[':status']).toBe(404);
  session.destroy();
});

test('the number of requests that the agent has not answered is limited', () => {
  const connection = new ServerConnection(
    'c1',
    {
      ...{ replayLength: 0, maxMessageBytes: 1000, highWaterMark: 1000, maxBacklog: 1000 },
      ...{ idleMs: 60_000, stallMs: 60_000, maxSessions: 1 },
    },
    () => undefined,
  );
  const texts = Array.from({ length: 65_537 }, (_, id) => JSON.stringify({ jsonrpc: '2.0', id, method: 'm' }));
  const refused = texts.map((text) => {
    const outline = outlineOf(text)!;
    const fault = connection.check(outline, undefined);
    if (fault === null) void connection.post(text, outline, undefined);
    return fault;
  });
  expect(refused.indexOf('too-many-requests')).toBe(65_536);
  connection.send('{"jsonrpc":"2.0","id":7,"result":null}');
  expect(connection.check(outlineOf(texts[0]!)!, undefined)).toBeNull();
  connection.destroy();
});

/** A client of a server that the test plays. */
function scripted(answer: (method: string, session: string | null) => Response | undefined, resumable = false) {
  const fetchLike: ConnectAcpOptions['fetch'] = (_, { method, headers, body }) => {
    const given = answer(method, new Headers(headers).get('acp-session-id'));
    if (given !== undefined) return Promise.resolve(given);
    if (body?.includes('"initialize"') !== true) return Promise.resolve(new Response(null, { status: 202 }));
    const { id } = JSON.parse(body) as { id: number };
    return Promise.resolve(
      new Response(JSON.stringify({ jsonrpc: '2.0', id, result: {} }), {
        headers: { 'acp-connection-id': 'c1', ...(resumable ? { 'acp-resumable': '1' } : {}) },
      }),
    );
  };
  return connectAcp('http://127.0.0.1/acp', { fetch: fetchLike });
}

function eventStream(start: (controller: ReadableStreamDefaultController<Uint8Array>) => void = () => {}): Response {
  return new Response(new ReadableStream({ start }), { headers: { 'content-type': 'text/event-stream' } });
}

describe('a client', () => {
  test('reads the rest of its streams after a message is refused with 404', async () => {
    let stream!: ReadableStreamDefaultController<Uint8Array>;
    let posts = 0;
    const channel = scripted((method) => {
      if (method === 'GET')
        return eventStream((controller) => {
          stream = controller;
        });
      return method === 'POST' && posts++ > 0 ? new Response('', { status: 404 }) : undefined;
    });
    const notes: unknown[] = [];
    const connection = createConnection(channel, {
      handlers: {
        note: (params: unknown) => {
          notes.push(params);
          if (notes.length === 2) stream.close();
        },
      },
    });
    await connection.request('initialize', {});
    const lost = connection.notify('lost', {});
    lost.catch(() => undefined);
    await expect.poll(() => posts, { interval: 1 }).toBe(2);
    for (const params of [[1], [2]])
      stream.enqueue(
        new TextEncoder().encode(
          serverSentEvent(JSON.stringify({ jsonrpc: '2.0', method: 'note', params }), undefined),
        ),
      );
    expect(await connection.closed).toBeUndefined();
    await expect(lost).rejects.toMatchObject({ code: 'closed' });
    expect(notes).toEqual([[1], [2]]);
    expect(posts).toBe(2);
  });

  test('does not take a page for a stream', async () => {
    const page = (): Response => new Response('<html>', { headers: { 'content-type': 'text/html' } });
    const connection = createConnection(scripted((method) => (method === 'GET' ? page() : undefined), true));
    await connection.request('initialize', {});
    expect((await connection.closed)?.message).toContain('text/html');
  });

  test('waits longer and longer to open a stream that ends at once', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
    let opened = 0;
    const channel: Channel = scripted((method, session) => {
      if (method !== 'GET') return undefined;
      if (session !== null) opened++;
      return session === null ? eventStream() : eventStream((controller) => controller.close());
    });
    const connection = createConnection(channel);
    await connection.request('initialize', {});
    await connection.notify('session/cancel', { sessionId: 's' });
    for (let n = 0; n < 120; n++) await vi.advanceTimersByTimeAsync(50);
    expect(opened).toBeGreaterThan(3);
    expect(opened).toBeLessThan(10);
    channel.destroy();
    await connection.closed;
    // Nothing keeps the process alive.
    await expect.poll(() => vi.getTimerCount(), { interval: 0 }).toBe(0);
  });

  test('leaves no listener on its signal', async () => {
    const { server } = await served();
    const { signal } = new AbortController();
    const connection = await connected(server.http, { signal });
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await connection.close();
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});
