/** The HTTP listener: refusals, event streams as browsers use them, encryption, and hostile clients. */
import { readFileSync } from 'node:fs';
import { request as http1, type IncomingMessage, type RequestOptions } from 'node:http';
import { type ClientHttp2Session, connect as connectSession, constants, type IncomingHttpHeaders } from 'node:http2';
import { connect as connectSocket, createServer, type Socket } from 'node:net';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { afterEach, describe, expect, test } from 'vitest';
import { connect } from '../../src/arcp/client/index.js';
import type { Envelope } from '../../src/arcp/index.js';
import { createRuntime, type ListenHttpOptions, listenHttp, type Runtime } from '../../src/arcp/runtime/index.js';
import { REFUSALS, upgradeRequired } from '../../src/arcp/runtime/node/http-answers.js';
import { connectHttp2 } from '../../src/channels/node/http2.js';
import { connectEventStream } from '../../src/channels/sse.js';
import { addDemoTools } from '../../src/cli/commands/arcp/demo-tools.js';
import { cuttingProxy } from '../helpers/cutting-proxy.js';
import { certificate } from '../helpers/tls-proxy.js';
import { Wire } from './runtime/wire.js';

const key = readFileSync(new URL('../fixtures/tls/key.pem', import.meta.url), 'utf8');
const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

async function served(
  options: ListenHttpOptions = {},
): Promise<{ runtime: Runtime; url: string; port: number; close: () => Promise<void> }> {
  const runtime = addDemoTools(createRuntime());
  const { url, port, close } = await listenHttp(runtime, { port: 0, ...options });
  ending.push(async () => {
    const closed = close();
    await runtime.close();
    await closed;
  });
  return { runtime, url, port, close };
}

interface Answer {
  readonly status: number;
  readonly code: unknown;
  readonly headers: IncomingHttpHeaders;
}

const codeOf = (body: string): unknown =>
  body === '' ? undefined : (JSON.parse(body) as { readonly error?: { readonly code: string } }).error?.code;

/** Sends a request over HTTP/1.1. */
function ask(
  url: string,
  { body, ...options }: RequestOptions & { readonly body?: string | Buffer } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http1(url, { agent: false, ...options }, async (response) => {
      let text = '';
      for await (const part of response) text += String(part);
      resolve({ status: response.statusCode!, code: codeOf(text), headers: response.headers });
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** Opens a connection of HTTP/2. */
async function session(port: number): Promise<ClientHttp2Session> {
  const opened = connectSession(`http://127.0.0.1:${port}`);
  opened.on('error', () => {});
  ending.push(() => opened.destroy());
  await new Promise<void>((resolve) => opened.once('remoteSettings', () => resolve()));
  return opened;
}

/** Sends a request over HTTP/2. */
async function askHttp2(url: string, headers: Record<string, string>): Promise<Answer> {
  const { origin, pathname } = new URL(url);
  const session = connectSession(origin);
  session.on('error', () => {});
  const stream = session.request({ ':path': pathname, ...headers }, { endStream: true });
  const answered = new Promise<IncomingHttpHeaders & { ':status'?: number }>((resolve) =>
    stream.once('response', resolve),
  );
  let text = '';
  for await (const part of stream) text += String(part);
  session.destroy();
  const answer = await answered;
  return { status: answer[':status']!, code: codeOf(text), headers: answer };
}

/** An event stream as a page has it: the events of `EventSource`, and requests of `fetch`. */
class Page {
  readonly events: EventSourceMessage[] = [];
  readonly #url: string;
  readonly #response: IncomingMessage;
  #wake: (() => void)[] = [];

  private constructor(url: string, response: IncomingMessage) {
    this.#url = url;
    this.#response = response;
    const parser = createParser({
      onEvent: (event) => {
        this.events.push(event);
        for (const wake of this.#wake.splice(0)) wake();
      },
    });
    response.setEncoding('utf8').on('data', (text: string) => parser.feed(text));
    response.on('error', () => {});
  }

  static async open(url: string, headers: Record<string, string> = {}): Promise<Page> {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { agent: false, headers: { accept: 'text/event-stream', ...headers } } as const;
      http1(url, options, resolve).on('error', reject).end();
    });
    const page = new Page(url, response);
    ending.push(() => page.close());
    await page.until(({ event }) => event === 'connection');
    return page;
  }

  get id(): string {
    return (JSON.parse(this.events[0]!.data) as { readonly connection_id: string }).connection_id;
  }

  get messages(): readonly Envelope[] {
    return this.events.filter(({ event }) => event === undefined).map(({ data }) => JSON.parse(data) as Envelope);
  }

  async until(is: (event: EventSourceMessage) => boolean): Promise<EventSourceMessage> {
    for (;;) {
      const found = this.events.find(is);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  async message(is: (message: Envelope) => boolean): Promise<Envelope> {
    const { data } = await this.until(({ event, data }) => event === undefined && is(JSON.parse(data) as Envelope));
    return JSON.parse(data) as Envelope;
  }

  post(body: string | Buffer, more: Record<string, string> = {}): Promise<Answer> {
    const headers = { 'content-type': 'application/json', 'arcp-connection-id': this.id, ...more };
    return ask(this.#url, { method: 'POST', headers, body });
  }

  close(): void {
    this.#response.destroy();
  }
}

let ids = 0;
function message(
  type: string,
  payload: object = {},
  more: object = {},
): { readonly id: string } & Record<string, unknown> {
  return { arcp: '1.0', id: `msg_test${++ids}`, type, timestamp: new Date().toISOString(), ...more, payload };
}
const DUPLEX = { 'content-type': 'application/x-ndjson' };
const EVENTS = { accept: 'text/event-stream' };

describe('a request that is refused', () => {
  test('has a status and a code, over HTTP/1.1', async () => {
    const { url } = await served({ token: 'secret', origins: ['https://example.org'] });
    const refusals: [RequestOptions & { body?: string }, string, number, string][] = [
      [{ headers: { host: 'evil.example' } }, url, 403, 'host'],
      [{ headers: { origin: 'https://evil.example' } }, url, 403, 'origin'],
      [{}, url.replace('/arcp', '/other'), 404, 'not-found'],
      [{ headers: { ...EVENTS, authorization: 'Bearer wrong' } }, url, 401, 'token'],
      [{}, url, 426, 'upgrade-required'],
      [{ method: 'POST', headers: DUPLEX }, url, 426, 'upgrade-required'],
      [{ method: 'PUT' }, url, 405, 'method-not-allowed'],
      [{ method: 'POST', headers: { 'arcp-connection-id': 'none' } }, url, 404, 'no-connection'],
      [{ method: 'DELETE' }, url, 404, 'no-connection'],
    ];
    for (const [options, to, status, code] of refusals) expect(await ask(to, options)).toMatchObject({ status, code });
    const { headers } = await ask(url);
    expect([headers.upgrade, headers.connection]).toEqual(['h2c', 'upgrade']);
  });

  test('has a status and a code, over HTTP/2', async () => {
    const { url } = await served({ token: 'secret' });
    const refusals: [Record<string, string>, number, string][] = [
      [{ ':authority': 'evil.example' }, 403, 'host'],
      [{ origin: 'https://evil.example' }, 403, 'origin'],
      [{ ':path': '/other' }, 404, 'not-found'],
      [{ ':method': 'POST', ...DUPLEX, authorization: 'Bearer wrong' }, 401, 'token'],
      [{ ':method': 'POST', 'content-type': 'text/plain' }, 415, 'unsupported-media-type'],
      [{ ':method': 'PUT' }, 405, 'method-not-allowed'],
      [{}, 406, 'not-acceptable'],
    ];
    for (const [headers, status, code] of refusals)
      expect(await askHttp2(url, headers)).toMatchObject({ status, code });
    await expect(connectHttp2(new URL(url), { token: 'wrong' })).rejects.toThrow('the server answered 401');
    await expect(connectEventStream(url, { protocol: 'arcp', token: 'wrong' })).rejects.toThrow('answered 401');
  });

  test('of a connection: body, sequence and size', async () => {
    const { url } = await served({ maxMessageBytes: 1000 });
    const page = await Page.open(url);
    expect(await page.post('{}', { 'content-type': 'text/plain' })).toMatchObject({ status: 415 });
    for (const wrong of ['0', '-1', '1.5', 'x'])
      expect(await page.post('{}', { 'arcp-sequence': wrong })).toMatchObject({
        status: 400,
        code: 'invalid-sequence',
      });
    expect(await page.post('{}', { 'arcp-sequence': '1000' })).toMatchObject({ status: 429, code: 'too-early' });
    const long = JSON.stringify(message('session.open', { capabilities: {}, text: 'x'.repeat(5000) }));
    expect(await page.post(long)).toMatchObject({ status: 413, code: 'too-long' });
    // It breaks the order of the texts, and with it the connection.
    await expect.poll(async () => (await page.post('{}')).code).toBe('no-connection');
  });

  test('has a code with a section on the page of errors', () => {
    const page = readFileSync(new URL('../../src/arcp/ERRORS.md', import.meta.url), 'utf8');
    const refusals = page.slice(page.indexOf('\n## HTTP refusals\n')).split('\n## ')[1]!;
    for (const { status, code } of [...Object.values(REFUSALS), upgradeRequired(false)])
      expect(refusals).toContain(`\n### ${code}\n\nStatus ${status}. `);
  });

  test('by the limit of connections has a code, and none is counted twice', async () => {
    const { url } = await served({ maxConnections: 2 });
    const first = await connectHttp2(new URL(url));
    const second = await connectHttp2(new URL(url));
    await expect(connectHttp2(new URL(url))).rejects.toThrow('answered 503');
    first.start({ text: () => {}, invalid: () => {}, tooLong: () => {}, ended: () => {} });
    first.destroy();
    await expect
      .poll(() => connectHttp2(new URL(url)).then((third) => third.destroy(), String), { timeout: 5000 })
      .toBeUndefined();
    second.destroy();
  });

  test('by the limit of connections over HTTP/1.1 is answered, and the others continue', async () => {
    const { url } = await served({ maxConnections: 1 });
    const page = await Page.open(url);
    expect(await ask(url, { headers: EVENTS })).toMatchObject({ status: 503, code: 'too-many-connections' });
    expect((await page.post(JSON.stringify(message('ping', { nonce: 'n' })))).status).toBe(202);
    await page.message(({ type }) => type === 'pong');
  });
});

describe('a listener', () => {
  test('on a public address needs a token, and a certificate or `insecure`', async () => {
    const listen = (options: ListenHttpOptions): Promise<unknown> => served({ host: '0.0.0.0', ...options });
    await expect(listen({})).rejects.toMatchObject({ code: 'no-token' });
    await expect(listen({ token: 'secret' })).rejects.toMatchObject({ code: 'no-tls' });
    await listen({ token: 'secret', insecure: true });
    await listen({ token: 'secret', tls: { key, cert: certificate } });
  });

  test('encrypts, and serves both versions of HTTP on the same port', async () => {
    const { url, port } = await served({ tls: { key, cert: certificate } });
    expect(url).toBe(`https://127.0.0.1:${port}/arcp`);
    await expect(connect(url, { reconnect: false })).rejects.toThrow(/certificate/);
    const client = await connect(url, { ca: certificate });
    ending.push(() => client.disconnect());
    expect(await client.invoke('add', { a: 1, b: 2 }).result()).toBe(3);
    const { request } = await import('node:https');
    const status = await new Promise((resolve, reject) => {
      const options = { ca: certificate, agent: false };
      request(`https://127.0.0.1:${port}/healthz`, options, (response) => resolve(response.statusCode))
        .on('error', reject)
        .end();
    });
    expect(status).toBe(200);
  });

  test('accepts the token in session.open', async () => {
    const { url } = await served({ token: 'secret' });
    for (const target of [url.replace('http:', 'http2:'), `sse:${url}`]) {
      const opened = (token: string): Promise<unknown> =>
        connect(target, { auth: { scheme: 'bearer', token }, reconnect: false }).then(
          async (client) => {
            await client.close();
            return 'open';
          },
          ({ code }: { readonly code: string }) => code,
        );
      expect([await opened('secret'), await opened('wrong')]).toEqual(['open', 'UNAUTHENTICATED']);
    }
  });

  test('does not count sessions that are closed as resets of their connection', async () => {
    const { url } = await served();
    const address = url.replace('http:', 'http2:');
    const kept = await connect(address, { reconnect: false });
    const visits = [
      async () => (await connect(address, { reconnect: false })).close(),
      async () => {
        const wire = new Wire(await connectHttp2(new URL(url)));
        await wire.open();
        await wire.channel.end();
        await wire.ended();
      },
    ];
    // More than the limit, in rounds, since a connection has at most 128 streams.
    for (let round = 0; round < 3; round++)
      await Promise.all(Array.from({ length: 100 }, (_, n) => visits[n % visits.length]!()));
    expect(await kept.invoke('add', { a: 1, b: 2 }).result()).toBe(3);
    await kept.close();
  });

  test('announces its end to clients, whose open sessions continue', async () => {
    const { url, close } = await served();
    const wire = new Wire(await connectHttp2(new URL(url)));
    await wire.open();
    const closed = close();
    const sent = wire.send('tool.invoke', { tool: 'add', arguments: { a: 1, b: 1 } });
    expect((await wire.answer('tool.result', sent)).payload.result).toBe(2);
    await expect(connectHttp2(new URL(url))).rejects.toThrow('Cannot connect');
    await wire.channel.end();
    await closed;
  });
});

describe('an event stream', () => {
  test('takes requests in the order of their numbers, and each once', async () => {
    const { url } = await served();
    const page = await Page.open(url);
    await page.post(JSON.stringify(message('session.open', { capabilities: {} })), { 'arcp-sequence': '1' });
    const { payload } = await page.message(({ type }) => type === 'session.accepted');
    const { session_id } = payload as { readonly session_id: string };
    const calls = [1, 2, 3].map((a) => message('tool.invoke', { tool: 'add', arguments: { a, b: 0 } }, { session_id }));
    const posts = [4, 3, 2].map((sequence) =>
      page.post(JSON.stringify(calls[sequence - 2], null, 2), { 'arcp-sequence': String(sequence) }),
    );
    for (const { status } of await Promise.all(posts)) expect(status).toBe(202);
    // As if the answers had been lost.
    for (const sequence of ['1', '2', '4'])
      expect((await page.post(JSON.stringify(calls[0]), { 'arcp-sequence': sequence })).status).toBe(202);
    const last = message('ping', { nonce: 'n' });
    await page.post(JSON.stringify(last), { 'arcp-sequence': '5' });
    await page.message(({ type }) => type === 'pong');
    for (const { id } of calls) await page.message((one) => one.correlation_id === id);
    const results = page.messages.filter(({ type }) => type === 'tool.result');
    expect(results.map(({ correlation_id }) => correlation_id)).toEqual(calls.map(({ id }) => id));
  });

  test('limits the requests that wait in number and in total length, but not the one that comes next', async () => {
    const { url } = await served();
    const page = await Page.open(url);
    const ping = (n: number, filler = ''): string => JSON.stringify(message('ping', { nonce: `${n}${filler}` }));
    const filler = 'x'.repeat(4_000_000);
    let waiting = 0;
    const posts = [2, 3, 4, 5, 6, 7].map(async (sequence) => {
      waiting++;
      const { status, code } = await page.post(ping(sequence, filler), { 'arcp-sequence': String(sequence) });
      waiting--;
      return { sequence, status, code };
    });
    // Four of them fit into 16 MiB.
    await expect.poll(() => waiting).toBe(4);
    expect((await page.post(ping(1, filler), { 'arcp-sequence': '1' })).status).toBe(202);
    const answers = await Promise.all(posts);
    const taken = answers.filter(({ status }) => status === 202);
    const refused = answers.filter(({ code }) => code === 'too-early');
    expect([taken.length, refused.length]).toEqual([4, 2]);
    // All memory is free again.
    for (const { sequence } of refused) {
      const again = await page.post(ping(sequence, filler), { 'arcp-sequence': String(sequence) });
      expect(again.status).toBe(202);
    }
    await expect.poll(() => page.messages.filter(({ type }) => type === 'pong').length).toBe(7);
  });

  const posting = (page: Page, sequence: number): Record<string, string> => ({
    ...{ ':method': 'POST', ':path': '/arcp', 'content-type': 'application/x-ndjson' },
    ...{ 'arcp-connection-id': page.id, 'arcp-sequence': String(sequence) },
  });

  test('frees the memory of a body that does not end, over both versions of HTTP', async () => {
    const { url, port } = await served({ requestTimeoutMs: 50 });
    const page = await Page.open(url);
    const http2 = await session(port);
    const begin = async (sequence: number) => {
      const stream = http2.request(posting(page, sequence), { endStream: false });
      const closed = new Promise((resolve) => stream.once('close', () => resolve(stream.rstCode)));
      const status = new Promise<number>((resolve) =>
        stream.once('response', (headers) => resolve(headers[':status']!)),
      );
      const text = new Promise<string>((resolve) => stream.once('data', (data) => resolve(String(data))));
      stream.on('error', () => {}).write('{');
      const answered = { status: await status, code: codeOf(await text) };
      return answered.status === 408 ? { ...answered, reset: await closed } : answered;
    };
    const late = { status: 408, code: 'body-timeout', reset: constants.NGHTTP2_NO_ERROR };
    // Three of them have the memory that they may need.
    const answers = await Promise.all([2, 3, 4, 5].map(begin));
    expect(answers.toSorted((a, b) => a.status - b.status)).toEqual([
      late,
      late,
      late,
      { status: 429, code: 'too-early' },
    ]);
    expect(await Promise.all([2, 3, 4].map(begin))).toEqual([late, late, late]);
    const headers = { 'arcp-connection-id': page.id, 'content-type': 'application/json', 'content-length': '99' };
    const answered = await new Promise((resolve) => {
      const request = http1(url, { method: 'POST', agent: false, headers }, ({ statusCode }) => {
        resolve(statusCode);
        request.destroy();
      });
      request.on('error', () => {}).write('{');
    });
    expect(answered).toBe(408);
    expect((await page.post(JSON.stringify(message('ping', { nonce: 'n' })), { 'arcp-sequence': '1' })).status).toBe(
      202,
    );
    await page.message(({ type }) => type === 'pong');
  });

  test('takes nothing of a body that is cut, and all of it when it is repeated', async () => {
    const { url, port } = await served();
    const page = await Page.open(url);
    const [first, second] = ['first', 'second'].map((nonce) => `${JSON.stringify(message('ping', { nonce }))}\n`);
    const stream = (await session(port)).request(posting(page, 1), { endStream: false });
    const closed = new Promise((resolve) => stream.once('close', resolve));
    stream.on('error', () => {}).write(first!, () => stream.destroy(new Error('cut')));
    await closed;
    const again = await page.post(`${first}${second}`, {
      'content-type': 'application/x-ndjson',
      'arcp-sequence': '1',
    });
    expect(again.status).toBe(202);
    await expect.poll(() => page.messages.filter(({ type }) => type === 'pong').length).toBe(2);
  });

  test('continues after Last-Event-ID, without a cursor of the page', async () => {
    const { url } = await served();
    const page = await Page.open(url);
    await page.post(JSON.stringify(message('session.open', { capabilities: { streaming: true, durable_jobs: true } })));
    const accepted = await page.message(({ type }) => type === 'session.accepted');
    const { session_id, resume_token } = accepted.payload as {
      readonly session_id: string;
      readonly resume_token: string;
    };
    await page.post(
      JSON.stringify(message('tool.invoke', { tool: 'count', arguments: { to: 8, ms: 20 } }, { session_id })),
    );
    await page.message(({ type }) => type === 'job.progress');
    page.close();
    const lastId = page.events.findLast(({ id }) => id !== undefined)!.id!;
    const again = await Page.open(url, { 'last-event-id': lastId });
    await again.post(JSON.stringify(message('session.open', { capabilities: {}, resume_token }, { session_id })));
    await again.message(({ type }) => type === 'job.completed');
    expect(again.messages.filter(({ type }) => type === 'ack' || type === 'nack')).toEqual([]);
    const seen = [...page.messages, ...again.messages].filter(({ type }) => type === 'job.progress');
    expect(seen.map(({ payload }) => (payload as { readonly current: number }).current)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8,
    ]);
  });

  test('is open to pages of allowed origins', async () => {
    const { url } = await served({ origins: ['https://example.org'] });
    const headers = { origin: 'https://example.org', 'access-control-request-method': 'POST' };
    const preflight = await ask(url, { method: 'OPTIONS', headers });
    expect(preflight).toMatchObject({ status: 204, headers: { 'access-control-allow-origin': 'https://example.org' } });
    expect(preflight.headers['access-control-allow-headers']).toContain('arcp-connection-id');
    expect((await ask(url, { method: 'OPTIONS', headers: { origin: 'https://evil.example' } })).status).toBe(403);
  });

  test('opened with a token requires it of each request', async () => {
    const { url } = await served({ token: 'secret' });
    const page = await Page.open(url, { authorization: 'Bearer secret' });
    expect(await page.post('{}')).toMatchObject({ status: 401, code: 'token' });
    expect((await page.post('{}', { authorization: 'Bearer secret' })).status).toBe(202);
  });
});

describe('a client loses nothing and receives nothing twice', () => {
  test.each(['http2:', 'sse:http:'])('over %s, although its connection is cut again and again', async (scheme) => {
    const { url, port } = await served();
    const sockets = new Set<Socket>();
    const relay = createServer((socket) => {
      const upstream = connectSocket(port, '127.0.0.1');
      for (const one of [socket, upstream]) {
        sockets.add(one);
        one
          .on('error', () => {})
          .on('close', () => {
            sockets.delete(one);
            socket.destroy();
            upstream.destroy();
          });
      }
      socket.pipe(upstream).pipe(socket);
    });
    await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
    ending.push(() => relay.close());
    const { port: relayPort } = relay.address() as { readonly port: number };
    const heard: number[] = [];
    const client = await connect(url.replace('http:', scheme).replace(`:${port}`, `:${relayPort}`), {
      reconnect: { minDelayMs: 5, maxDelayMs: 20 },
      onMessage: ({ type, payload }) => {
        if (type !== 'job.progress') return;
        const { current } = payload as { readonly current: number };
        heard.push(current);
        if (current % 5 === 0) for (const socket of sockets) socket.destroy();
      },
    });
    ending.push(() => client.disconnect());
    await client.invoke('count', { to: 30, ms: 10 }).result();
    expect(heard).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
  });
});

describe('a hostile client', () => {
  async function stillServes(url: string): Promise<void> {
    const client = await connect(url.replace('http:', 'http2:'));
    expect(await client.invoke('add', { a: 1, b: 2 }).result()).toBe(3);
    await client.close();
  }

  test('that resets its streams is closed with ENHANCE_YOUR_CALM', async () => {
    const { url, port } = await served();
    const hostile = await session(port);
    const code = new Promise<number>((resolve) => hostile.once('goaway', resolve));
    const flood = (): void => {
      for (let n = 0; n < 50 && !hostile.destroyed && !hostile.closed; n++) {
        const stream = hostile.request({ ':method': 'POST', ':path': '/arcp', ...DUPLEX }, { endStream: false });
        stream.on('error', () => {});
        // Without the end of its body, which `close` would send.
        stream.once('response', () => stream.destroy(new Error('reset')));
      }
    };
    const timer = setInterval(flood, 10);
    expect(await code).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    clearInterval(timer);
    await stillServes(url);
  });

  test('that sends no HTTP, or half of it, only ends its own connection', async () => {
    const { url, port } = await served();
    const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
    const inputs = [
      '\0\0\0',
      'GET',
      'PRI * HT',
      'PRI * HTTP/2.0\r\nX: y\r\n\r\n',
      `${preface}${'\xff'.repeat(100)}`,
      '',
    ];
    for (const input of inputs) {
      const socket = connectSocket(port, '127.0.0.1');
      socket.on('error', () => {}).resume();
      const over = new Promise((resolve) => socket.once('close', resolve));
      socket.end(Buffer.from(input, 'latin1'));
      await over;
    }
    // The preface in two segments.
    const socket = connectSocket(port, '127.0.0.1');
    const answered = new Promise<Buffer>((resolve) => socket.once('data', resolve));
    socket.write(preface.slice(0, 5), () =>
      setTimeout(() => socket.write(`${preface.slice(5)}\0\0\0\x04\0\0\0\0\0`), 20),
    );
    // A frame of type SETTINGS.
    expect((await answered)[3]).toBe(4);
    socket.destroy();
    await stillServes(url);
  });

  test('that sends too many headers is refused', async () => {
    const { url, port } = await served();
    const hostile = await session(port);
    const stream = hostile.request({ ':path': '/arcp', big: 'x'.repeat(60_000) });
    await new Promise((resolve) => stream.on('error', resolve).on('close', resolve).on('response', resolve).resume());
    await stillServes(url);
  });
});

describe('a side that answers nothing', () => {
  /** Serves a runtime behind a proxy, which can be frozen. */
  async function behindProxy(heartbeatMs?: number) {
    const runtime = createRuntime({ heartbeatMs });
    const { port, close } = await listenHttp(runtime, { port: 0 });
    const proxy = await cuttingProxy({ target: port });
    ending.push(() => runtime.close(), close, proxy.close);
    return { runtime, proxy, url: new URL(`http://127.0.0.1:${proxy.port}/arcp`) };
  }

  test('is noticed with pings by a client of HTTP/2', async () => {
    const { proxy, url } = await behindProxy();
    const wire = new Wire(await connectHttp2(url, { pingMs: 50 }));
    await wire.open();
    proxy.freeze();
    await wire.ended();
  });

  test('is noticed while a client of HTTP/2 connects, and not shared with the next one', async () => {
    const { port } = await served({ tls: { key, cert: certificate } });
    const proxy = await cuttingProxy({ target: port });
    ending.push(proxy.close);
    const url = new URL(`https://127.0.0.1:${proxy.port}/arcp`);
    proxy.freeze();
    const silent = connectHttp2(url, { ca: certificate, handshakeMs: 200 });
    await expect.poll(proxy.connections).toBe(1);
    proxy.thaw();
    const wire = new Wire(await connectHttp2(url, { ca: certificate }));
    await expect(silent).rejects.toThrow('the server does not answer');
    const next = new Wire(await connectHttp2(url, { ca: certificate }));
    expect(proxy.connections()).toBe(2);
    for (const { channel } of [wire, next]) channel.destroy();
  });

  test('is noticed by a client of an event stream, since it sends no comments', async () => {
    const { proxy, url } = await behindProxy();
    const wire = new Wire(await connectEventStream(url, { protocol: 'arcp', silenceMs: 50 }));
    proxy.freeze();
    await wire.ended();
  });

  test.each(['http2:', 'sse:http:'])('is noticed with pings by a runtime over %s', async (scheme) => {
    const { runtime, proxy, url } = await behindProxy(50);
    await connect(url.href.replace('http:', scheme), { reconnect: false });
    expect(runtime.counts().connections).toBe(1);
    proxy.freeze();
    await expect.poll(() => runtime.counts().connections, { timeout: 10_000 }).toBe(0);
  });
});

test('a refused request over HTTP/2 whose body does not end does not keep the listener open', async () => {
  const { url, close } = await served();
  const session = connectSession(new URL(url).origin);
  session.on('error', () => {});
  const stream = session.request({ ':method': 'POST', ':path': '/other' }, { endStream: false });
  stream.on('error', () => {}).resume();
  const closed = new Promise((resolve) => stream.once('close', resolve));
  expect(await new Promise((resolve) => stream.once('response', (headers) => resolve(headers[':status'])))).toBe(404);
  await closed;
  await close();
  session.destroy();
});
