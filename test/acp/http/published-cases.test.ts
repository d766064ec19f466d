/** The cases that the tests of the official SDK have for its transports, beside those of `routes.test.ts` and `cookies.test.ts`. */
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { type AcpListener, type ConnectAcpOptions, connectAcp, listenAcp } from '../../../src/acp/http/index.js';
import { type Channel, type Connection, createConnection } from '../../../src/acp/index.js';
import { deferred } from '../../../src/async/listeners.js';
import { serverSentEvent } from '../../../src/channels/event-stream.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const INITIALIZE = { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} };
const request = (id: unknown, method: string, params: object = {}) => ({ jsonrpc: '2.0', id, method, params });
const update = (sessionId: string, n: number) => ({
  jsonrpc: '2.0',
  method: 'session/update',
  params: { sessionId, n },
});

/** Reads messages of an event stream, and cancels it after `count` of them. */
async function messagesOf(response: Response, count: number): Promise<unknown[]> {
  const messages: unknown[] = [];
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const data = /^data: (.*)$/m.exec(text.slice(0, end))?.[1];
      text = text.slice(end + 2);
      if (data !== undefined) messages.push(JSON.parse(data));
      if (messages.length === count) return messages;
    }
  }
  return messages;
}

describe('the server', () => {
  /** An agent with the methods of the cases. */
  function serve(channel: Channel): Connection {
    let sessions = 0;
    return createConnection(channel, {
      handlers: {
        initialize: () => ({}),
        'session/new': () => ({ sessionId: `s${++sessions}` }),
        'session/load': async ({ sessionId }: { sessionId: string }, { connection }) => {
          await connection.notify('session/update', { sessionId, n: 1 });
          return {};
        },
        'session/prompt': async ({ sessionId }: { sessionId: string }, { connection }) => {
          await connection.notify('session/update', { sessionId, n: 1 });
          return { stopReason: 'end_turn' };
        },
        ask: async ({ sessionId }: { sessionId: string }, { connection }) => {
          const answer = await connection.request('elicitation/create', { sessionId });
          await connection.notify('elicitation/complete', { answer });
          return (await connection.request('ping', {})) as object;
        },
      },
    });
  }

  async function served(agent: (channel: Channel) => unknown = serve): Promise<AcpListener> {
    const server = await listenAcp(agent, { closeGraceMs: 50 });
    closing.push(server.close);
    return server;
  }

  const post = (server: AcpListener, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(server.http, {
      ...{ method: 'POST', body: JSON.stringify(body) },
      headers: { 'content-type': 'application/json', ...headers },
    });

  const stream = (server: AcpListener, headers: Record<string, string>): Promise<Response> =>
    fetch(server.http, { headers: { accept: 'text/event-stream', ...headers } });

  async function initialized(server: AcpListener): Promise<Record<string, string>> {
    const response = await post(server, INITIALIZE);
    await response.text();
    return { 'acp-connection-id': response.headers.get('acp-connection-id')! };
  }

  test('accepts parameters of the media type, and no other type', async () => {
    const server = await served();
    const statusOf = async (type: string) => (await post(server, INITIALIZE, { 'content-type': type })).status;
    expect(await statusOf('application/json; charset=utf-8')).toBe(200);
    expect(await statusOf('application/jsonfoobar')).toBe(415);
    expect(await statusOf('application/json-patch+json')).toBe(415);
  });

  test.each([null, 'initialize', 1, {}, { jsonrpc: '1.0', id: 1, method: 'initialize' }])(
    'refuses the body %j, which is not a message',
    async (body) => {
      expect((await post(await served(), body)).status).toBe(400);
    },
  );

  test('answers with the error of initialize, and a connection', async () => {
    const server = await served((channel) =>
      createConnection(channel, { handlers: { initialize: () => Promise.reject(new Error('no')) } }),
    );
    const response = await post(server, INITIALIZE);
    expect([response.status, await response.json()]).toMatchObject([200, { id: 1, error: { code: -32603 } }]);
    expect(response.headers.get('acp-connection-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('ends the agent if the client leaves before initialize is answered', async () => {
    const [started, finish] = [deferred(), deferred()];
    let agent!: Connection;
    const server = await served((channel) => {
      agent = createConnection(channel, {
        handlers: {
          initialize: async () => {
            started.resolve();
            await finish.promise;
            return {};
          },
        },
      });
    });
    const leaving = new AbortController();
    const sent = fetch(server.http, {
      ...{ method: 'POST', body: JSON.stringify(INITIALIZE), signal: leaving.signal },
      headers: { 'content-type': 'application/json' },
    });
    await started.promise;
    leaving.abort();
    await expect(sent).rejects.toThrow();
    await expect.poll(server.connections, { interval: 5 }).toBe(0);
    finish.resolve();
    await agent.closed;
  });

  test('keeps the messages of a connection and of a session until their streams are opened', async () => {
    const server = await served();
    const connection = await initialized(server);
    const session = { ...connection, 'acp-session-id': 's1' };
    const ids = [2, 3].map((id) => post(server, request(id, 'session/new'), connection));
    expect((await Promise.all(ids)).map(({ status }) => status)).toEqual([202, 202]);
    await post(server, request(4, 'session/prompt', { sessionId: 's1' }), session);
    const own = await messagesOf(await stream(server, connection), 2);
    expect(new Set(own.map((message) => (message as { id: number }).id))).toEqual(new Set([2, 3]));
    expect(await messagesOf(await stream(server, session), 2)).toMatchObject([
      update('s1', 1),
      { id: 4, result: { stopReason: 'end_turn' } },
    ]);
  });

  test('delivers the posts of a client that waits for each in their order', async () => {
    const order: number[] = [];
    const server = await served((channel) =>
      createConnection(channel, {
        handlers: { initialize: () => ({}), n: ({ n }: { n: number }) => void order.push(n) },
      }),
    );
    const connection = await initialized(server);
    for (let n = 0; n < 50; n++) await post(server, { jsonrpc: '2.0', method: 'n', params: { n } }, connection);
    expect(order).toEqual(Array.from({ length: 50 }, (_, n) => n));
  });

  test('answers session/load on the stream of the connection, and its history on that of the session', async () => {
    const server = await served();
    const connection = await initialized(server);
    const session = { ...connection, 'acp-session-id': 'old' };
    await post(server, request(2, 'session/load', { sessionId: 'old' }), session);
    expect(await messagesOf(await stream(server, session), 1)).toEqual([update('old', 1)]);
    expect(await messagesOf(await stream(server, connection), 1)).toMatchObject([{ id: 2, result: {} }]);
  });

  test('answers a request with the identifier null on the stream of its session', async () => {
    const server = await served();
    const connection = await initialized(server);
    const session = { ...connection, 'acp-session-id': 's1' };
    await post(server, request(null, 'session/prompt', { sessionId: 's1' }), session);
    expect(await messagesOf(await stream(server, session), 2)).toMatchObject([
      update('s1', 1),
      { id: null, result: {} },
    ]);
  });

  test('separates the messages of two sessions', async () => {
    const server = await served();
    const connection = await initialized(server);
    for (const [id, sessionId] of [[3, 'a'] as const, [4, 'b'] as const])
      await post(server, request(id, 'session/prompt', { sessionId }), { ...connection, 'acp-session-id': sessionId });
    for (const [id, sessionId] of [[3, 'a'] as const, [4, 'b'] as const]) {
      const of = await stream(server, { ...connection, 'acp-session-id': sessionId });
      expect(await messagesOf(of, 2)).toMatchObject([update(sessionId, 1), { id }]);
    }
  });

  test.each(['session/prompt', 'session/cancel', 'session/fork', 'nes/suggest', 'document/didOpen', '_vendor/method'])(
    'refuses %s of a session without its header, and of another session',
    async (method) => {
      const server = await served();
      const connection = await initialized(server);
      const message = request(5, method, { sessionId: 'a' });
      expect((await post(server, message, connection)).status).toBe(400);
      expect((await post(server, message, { ...connection, 'acp-session-id': 'b' })).status).toBe(400);
      expect((await post(server, message, { ...connection, 'acp-session-id': 'a' })).status).toBe(202);
    },
  );

  test('routes requests of the agent by their session, not their method, and demands the same of responses', async () => {
    const server = await served();
    const connection = await initialized(server);
    const session = { ...connection, 'acp-session-id': 's1' };
    await post(server, request(2, 'ask', { sessionId: 's1' }), session);
    const [asked] = (await messagesOf(await stream(server, session), 1)) as [{ id: string; method: string }];
    expect(asked.method).toBe('elicitation/create');
    const answer = { jsonrpc: '2.0', id: asked.id, result: 'Alice' };
    expect((await post(server, answer, connection)).status).toBe(400);
    expect((await post(server, answer, { ...connection, 'acp-session-id': 'other' })).status).toBe(400);
    expect((await post(server, answer, session)).status).toBe(202);
    const [complete, ping] = (await messagesOf(await stream(server, connection), 2)) as [object, { id: string }];
    expect(complete).toMatchObject({ method: 'elicitation/complete', params: { answer: 'Alice' } });
    expect((await post(server, { jsonrpc: '2.0', id: ping.id, result: { pong: 1 } }, connection)).status).toBe(202);
    expect(await messagesOf(await stream(server, session), 1)).toMatchObject([{ id: 2, result: { pong: 1 } }]);
  });

  /** Opens a WebSocket. `closed` resolves with the code and reason. */
  async function webSocket(server: AcpListener) {
    const socket = new WebSocket(server.ws);
    closing.push(() => socket.terminate());
    const closed = new Promise<[number, string]>((resolve) => {
      socket.once('close', (code, reason) => resolve([code, reason.toString()]));
    });
    const received: unknown[] = [];
    socket.on('message', (data) => received.push(JSON.parse(String(data))));
    const id = await new Promise<string>((resolve, reject) => {
      socket.once('error', reject);
      socket.once('upgrade', ({ headers }) => resolve(String(headers['acp-connection-id'])));
    });
    if (socket.readyState === WebSocket.CONNECTING) await new Promise((resolve) => socket.once('open', resolve));
    const next = async (): Promise<unknown> => {
      while (received.length === 0) await new Promise((resolve) => socket.once('message', resolve));
      return received.shift();
    };
    return { socket, id, closed, next };
  }

  test('does not let requests over HTTP use the connection of a WebSocket', async () => {
    const server = await served();
    const { id } = await webSocket(server);
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    const named = { 'acp-connection-id': id };
    expect((await stream(server, named)).status).toBe(404);
    expect((await post(server, request(2, 'session/new'), named)).status).toBe(404);
    expect((await fetch(server.http, { method: 'DELETE', headers: named })).status).toBe(404);
  });

  test('closes a WebSocket whose first message is not initialize, and delivers nothing of it', async () => {
    const methods: string[] = [];
    const server = await served((channel) =>
      channel.start({ text: (text) => methods.push(text), invalid: () => {}, tooLong: () => {}, ended: () => {} }),
    );
    const { socket, closed } = await webSocket(server);
    socket.send(Buffer.from(JSON.stringify(INITIALIZE)), { binary: true });
    socket.send(JSON.stringify(request(2, 'session/new')));
    socket.send(JSON.stringify(INITIALIZE));
    expect(await closed).toEqual([1002, 'the first message must be initialize']);
    expect(methods).toEqual([]);
  });

  test('accepts messages over a WebSocket while initialize is not answered', async () => {
    const answer = deferred();
    const server = await served((channel) =>
      createConnection(channel, {
        handlers: {
          initialize: async () => {
            await answer.promise;
            return {};
          },
          'session/new': () => ({ sessionId: 'queued' }),
        },
      }),
    );
    const { socket, next } = await webSocket(server);
    socket.send(JSON.stringify(INITIALIZE));
    socket.send(JSON.stringify(request(2, 'session/new')));
    expect(await next()).toMatchObject({ id: 2, result: { sessionId: 'queued' } });
    answer.resolve();
    expect(await next()).toMatchObject({ id: 1, result: {} });
  });

  test('closes WebSockets before initialize when it closes', async () => {
    const server = await served();
    const { closed } = await webSocket(server);
    await server.close();
    expect((await closed)[0]).toBe(1000);
  });
});

describe('the client', () => {
  interface Sent {
    readonly method: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: unknown;
    readonly signal: AbortSignal;
  }

  /** A stream of events that the test writes. */
  class Events {
    readonly response: Response;
    #controller!: ReadableStreamDefaultController<Uint8Array>;

    constructor(signal: AbortSignal) {
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          this.#controller = controller;
        },
      });
      this.response = new Response(body, { headers: { 'content-type': 'text/event-stream' } });
      signal.addEventListener('abort', () => this.#controller.error(signal.reason));
    }

    readonly send = (message: object): void =>
      this.#controller.enqueue(new TextEncoder().encode(serverSentEvent(JSON.stringify(message))));
    readonly end = (): void => this.#controller.close();
    readonly break = (): void => this.#controller.error(new Error('the connection was lost'));
  }

  const RESULT = { jsonrpc: '2.0', id: 0, result: {} };
  const answered = (body: object, init: ResponseInit = {}): Response =>
    new Response(JSON.stringify(body), { headers: { 'acp-connection-id': 'c1' }, ...init });

  /** A server whose requests are recorded. `answer` may answer some of them itself. */
  function scripted(
    options: ConnectAcpOptions = {},
    answer: (sent: Sent, sequence: number) => Response | Promise<Response> | undefined = () => undefined,
  ) {
    const sent: Sent[] = [];
    const streams: Events[] = [];
    const received: unknown[] = [];
    const waiting: (() => void)[] = [];
    const changed = (): void => {
      for (const resolve of waiting.splice(0)) resolve();
    };
    const until = async (isTrue: () => boolean): Promise<void> => {
      while (!isTrue()) await new Promise<void>((resolve) => void waiting.push(resolve));
    };
    const channel = connectAcp('http://127.0.0.1:9/acp', {
      ...options,
      fetch: async (_url, { method, headers, body, signal }) => {
        signal.throwIfAborted();
        const one = { method, headers, signal, body: body === undefined ? undefined : (JSON.parse(body) as unknown) };
        sent.push(one);
        changed();
        const given = answer(one, sent.length - 1);
        if (given !== undefined) return given;
        if (method === 'GET') {
          const events = new Events(signal);
          streams.push(events);
          changed();
          return events.response;
        }
        return headers['acp-connection-id'] === undefined ? answered(RESULT) : new Response(null, { status: 202 });
      },
    });
    const ended = new Promise<Error | undefined>((resolve) => {
      channel.start({
        text: (text) => {
          received.push(JSON.parse(text));
          changed();
        },
        ...{ invalid: () => {}, tooLong: () => {}, ended: resolve },
      });
    });
    closing.push(() => channel.destroy());
    const send = (message: object): void => channel.send(JSON.stringify(message));
    const sentMethods = (): string[] => sent.map(({ method }) => method);
    /** Exchanges `initialize`, and opens the stream of the session `s1`. */
    const withSession = async (): Promise<void> => {
      send(request(0, 'initialize'));
      await until(() => streams.length === 1);
      streams[0]!.send({ jsonrpc: '2.0', id: 1, result: { sessionId: 's1' } });
      await until(() => streams.length === 2);
    };
    return { ...{ channel, sent, streams, received, until, ended, send, sentMethods, withSession } };
  }

  test('sends its headers with all requests, and opens the stream of the connection', async () => {
    const headers = { Authorization: 'Bearer own', 'X-Test': '1', 'Content-Type': 'text/plain' };
    const { sent, until, send } = scripted({ headers, resumable: false });
    send(request(0, 'initialize'));
    await until(() => sent.length === 2);
    const own = { authorization: 'Bearer own', 'x-test': '1' };
    expect(sent[0]!.headers).toEqual({ ...own, 'content-type': 'application/json', accept: 'application/json' });
    expect(sent[1]!.headers).toMatchObject({ ...own, accept: 'text/event-stream', 'acp-connection-id': 'c1' });
    expect(sent[1]!.headers['acp-session-id']).toBeUndefined();
  });

  test('ends with the refusal of initialize', async () => {
    const { ended, send, sentMethods } = scripted({}, () => new Response('expired', { status: 401 }));
    send(request(0, 'initialize'));
    expect((await ended)?.message).toContain('401: expired');
    expect(sentMethods()).toEqual(['POST']);
  });

  test.each([
    ['a request', { jsonrpc: '2.0', id: 0, method: 'session/new', params: {} }],
    ['a response with another identifier', { jsonrpc: '2.0', id: 999, result: {} }],
    ['no message', { hello: 1 }],
  ])('ends the connection if the response of initialize is %s', async (_, body) => {
    const { ended, send, sent, until, received } = scripted({}, ({ method }, n) =>
      n === 0
        ? answered(body, { headers: { 'acp-connection-id': 'c1', 'set-cookie': 'transport=alpha; Path=/' } })
        : method === 'GET'
          ? new Response(null, { status: 500 })
          : undefined,
    );
    send(request(0, 'initialize'));
    expect(await ended).toMatchObject({ code: 'bad-response' });
    await until(() => sent.length === 2);
    expect(sent[1]).toMatchObject({
      method: 'DELETE',
      headers: { 'acp-connection-id': 'c1', cookie: 'transport=alpha' },
    });
    expect(received).toEqual([]);
  });

  test('ends a connection whose identifier arrives after the channel was destroyed', async () => {
    const late = deferred<Response>();
    const { channel, send, sent, until } = scripted({}, (_, n) => (n === 0 ? late.promise : undefined));
    send(request(0, 'initialize'));
    await until(() => sent.length === 1);
    channel.destroy();
    await new Promise((resolve) => setImmediate(resolve));
    expect(sent[0]!.signal.aborted).toBe(true);
    late.resolve(answered(RESULT));
    await until(() => sent.length === 2);
    expect(sent[1]).toMatchObject({ method: 'DELETE', headers: { 'acp-connection-id': 'c1' } });
  });

  test('opens the stream of a session before its first message', async () => {
    const { sent, streams, until, send } = scripted();
    send(request(0, 'initialize'));
    await until(() => streams.length === 1);
    send(request(3, 'session/load', { sessionId: 'old' }));
    await until(() => sent.length === 4);
    expect(sent.slice(2)).toMatchObject([
      { method: 'GET', headers: { 'acp-connection-id': 'c1', 'acp-session-id': 'old' } },
      { method: 'POST', headers: { 'acp-connection-id': 'c1', 'acp-session-id': 'old' } },
    ]);
  });

  test('opens the stream of a session that a response names', async () => {
    const { sent, withSession, send, until } = scripted();
    await withSession();
    expect(sent[2]).toMatchObject({ method: 'GET', headers: { 'acp-session-id': 's1' } });
    send(request(2, 'session/prompt', { sessionId: 's1' }));
    await until(() => sent.length === 4);
    expect(sent[3]).toMatchObject({ method: 'POST', headers: { 'acp-session-id': 's1' } });
  });

  test('names the session in responses to requests of a session only', async () => {
    const { sent, streams, received, withSession, send, until } = scripted();
    await withSession();
    const response = { jsonrpc: '2.0', id: 99, result: {} };
    streams[1]!.send(request(99, 'session/request_permission', { sessionId: 's1' }));
    await until(() => received.length === 3);
    send(response);
    await until(() => sent.length === 4);
    expect(sent[3]).toMatchObject({ body: response, headers: { 'acp-session-id': 's1' } });
    streams[0]!.send(request(99, 'connection/example'));
    await until(() => received.length === 4);
    send(response);
    await until(() => sent.length === 5);
    expect(sent[4]!.headers['acp-session-id']).toBeUndefined();
  });

  test('returns cookies besides those of the program, which it does not replace', async () => {
    const cookies = ({ method }: Sent, n: number): Response | undefined =>
      n === 0
        ? answered(RESULT, { headers: { 'acp-connection-id': 'c1', 'set-cookie': 'transport=alpha; Path=/' } })
        : method === 'DELETE'
          ? new Response(null, { status: 202 })
          : undefined;
    const { channel, sent, streams, until, send } = scripted(
      { headers: { Cookie: 'caller=custom; transport=caller' } },
      cookies,
    );
    send(request(0, 'initialize'));
    await until(() => streams.length === 1);
    await channel.end();
    expect(sent.map(({ headers }) => headers['cookie'])).toEqual([
      'caller=custom; transport=caller',
      ...['transport=caller; caller=custom', 'transport=caller; caller=custom'],
    ]);
  });

  test('sends DELETE when it ends, and aborts its streams', async () => {
    const { channel, sent, streams, until, send, ended } = scripted();
    send(request(0, 'initialize'));
    await until(() => streams.length === 1);
    await channel.end();
    expect(await ended).toBeUndefined();
    expect(sent.at(-1)).toMatchObject({ method: 'DELETE', headers: { 'acp-connection-id': 'c1' } });
    expect(sent[1]!.signal.aborted).toBe(true);
  });

  test('ends if DELETE fails', async () => {
    const { channel, sent, streams, until, send, ended } = scripted({}, ({ method }) =>
      method === 'DELETE' ? Promise.reject(new Error('Network dropped')) : undefined,
    );
    send(request(0, 'initialize'));
    await until(() => streams.length === 1);
    await channel.end();
    expect(await ended).toBeUndefined();
    expect(sent[1]!.signal.aborted).toBe(true);
  });

  test('aborts a message in flight when it is destroyed, and ends the connection', async () => {
    const { channel, sent, streams, until, send } = scripted({}, ({ method, body, signal }, n) =>
      n > 0 && method === 'POST' && body !== undefined
        ? new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
        : undefined,
    );
    send(request(0, 'initialize'));
    await until(() => streams.length === 1);
    send(request(1, 'session/new'));
    await until(() => sent.length === 3);
    channel.destroy();
    await until(() => sent.length === 4);
    expect(sent[3]!.method).toBe('DELETE');
    while (!sent[2]!.signal.aborted) await new Promise((resolve) => setImmediate(resolve));
  });

  test('ends with the refusal of a message with 401, and ends the connection', async () => {
    const { ended, streams, sent, until, send, sentMethods } = scripted({}, ({ method, headers }) =>
      method === 'POST' && 'acp-connection-id' in headers ? new Response('expired', { status: 401 }) : undefined,
    );
    send(request(0, 'initialize'));
    await until(() => streams.length === 1);
    send(request(1, 'session/new'));
    expect((await ended)?.message).toContain('401: expired');
    await until(() => sent.length === 4);
    expect(sentMethods()).toEqual(['POST', 'GET', 'POST', 'DELETE']);
  });

  test('opens the stream of a session that ended alone again, before the next message of it', async () => {
    const reopened = deferred();
    const { ended, streams, sent, until, send, withSession, received } = scripted({}, ({ method, signal }, n) =>
      method === 'GET' && n === 3 ? reopened.promise.then(() => new Events(signal).response) : undefined,
    );
    await withSession();
    streams[1]!.end();
    await until(() => sent.length === 4);
    expect(sent[3]).toMatchObject({ method: 'GET', headers: { 'acp-session-id': 's1' } });
    send(request(2, 'session/prompt', { sessionId: 's1' }));
    await new Promise((resolve) => setImmediate(resolve));
    expect(sent.length).toBe(4);
    reopened.resolve();
    await until(() => sent.some(({ method, headers }) => method === 'POST' && headers['acp-session-id'] === 's1'));
    streams[0]!.send({ jsonrpc: '2.0', id: 7, result: {} });
    await until(() => received.length === 3);
    const isOpen = await Promise.race([ended.then(() => false), Promise.resolve(true)]);
    expect(isOpen).toBe(true);
  });

  test('ends when the stream of a session is lost', async () => {
    const { ended, streams, send, withSession } = scripted();
    await withSession();
    send(request(2, 'session/prompt', { sessionId: 's1' }));
    streams[1]!.break();
    expect((await ended)?.message).toContain('A stream is lost');
  });

  test('ends when the stream of the connection cannot be opened', async () => {
    const { ended, send, received } = scripted({}, ({ method }) =>
      method === 'GET' ? new Response('down', { status: 500 }) : undefined,
    );
    send(request(0, 'initialize'));
    expect((await ended)?.message).toContain('500: down');
    expect(received).toEqual([RESULT]);
  });
});
