/** AACP over HTTP, on a socket. */
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { createRequestListener } from '@remix-run/node-fetch-server';
import { afterEach, describe, expect, test } from 'vitest';
import {
  createPacketHandler,
  type Fetch,
  type PacketHandlerOptions,
  postPacket,
} from '../../../src/aacp/bindings/http/index.js';
import { packetHash } from '../../../src/aacp/build/index.js';
import type { Dispatcher, Envelope } from '../../../src/aacp/dispatch/index.js';
import { deferred } from '../../../src/async/listeners.js';
import { ACK, freshEnvelope, guarded, PACKET } from './fixture.js';
import { testBinding } from './suite.js';

const cleanups: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function listen(handler: (request: Request) => Promise<Response>) {
  const server = createServer(createRequestListener((request) => handler(request)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${port}/aacp/v1/packets`, port, close };
}

async function serve(dispatcher: Dispatcher<unknown>, options?: PacketHandlerOptions) {
  const server = await listen(createPacketHandler(dispatcher, options));
  cleanups.push(server.close);
  return server;
}

type Body = string | Uint8Array<ArrayBuffer> | null;

function request(url: string, body: Body, init: RequestInit = {}, envelope: Partial<Envelope> = freshEnvelope()) {
  const headers = new Headers({ 'content-type': 'application/aacp' });
  if (envelope.nonce !== undefined) headers.set('aacp-nonce', envelope.nonce);
  if (envelope.sentAt !== undefined) headers.set('aacp-sent-at', String(envelope.sentAt));
  for (const [name, value] of new Headers(init.headers)) headers.set(name, value);
  return fetch(url, { method: 'POST', body, ...init, headers });
}

testBinding({
  name: 'HTTP',
  connect: async (dispatcher, onError) => {
    const { url, close } = await listen(createPacketHandler(dispatcher, { onError }));
    return {
      send: async (text, envelope = {}) => {
        // The answers of the client, for texts that the client would not send.
        const fetchText: Fetch = () => request(url, text, {}, envelope);
        return postPacket(url, ACK, { fetch: fetchText });
      },
      close,
    };
  },
});

describe('a server', () => {
  const chunked = (...parts: readonly string[]) => ({
    duplex: 'half' as const,
    body: new ReadableStream({
      start(controller) {
        for (const part of parts) controller.enqueue(new TextEncoder().encode(part));
        controller.close();
      },
    }),
  });

  test.each<[string, Body, RequestInit, number, string?]>([
    ['another method', null, { method: 'GET' }, 405],
    ['another media type', PACKET, { headers: { 'content-type': 'text/plain' } }, 415],
    ['no media type', PACKET, { headers: { 'content-type': '' } }, 415],
    ['another encoding', PACKET, { headers: { 'content-type': 'application/aacp; charset=latin1' } }, 415],
    ['a content coding', PACKET, { headers: { 'content-encoding': 'gzip' } }, 415],
    ['an answer in HTML', PACKET, { headers: { accept: 'text/html, application/json;q=0' } }, 406],
    ['no body', null, {}, 400, 'no-packet'],
    ['an empty body', '\n', {}, 400, 'no-packet'],
    ['bytes that are not UTF-8', new Uint8Array([0x41, 0xff]), {}, 400, 'not-utf8'],
    ['a body that declares too many bytes', 'x'.repeat(203), {}, 413, 'too-large'],
    ['a body with too many bytes', null, chunked('x'.repeat(150), 'x'.repeat(60)), 413, 'too-large'],
    ['a packet with one byte too many', `${PACKET}|subj:${'x'.repeat(145)}`.slice(0, 201), {}, 413, 'too-large'],
  ])('refuses %s', async (_, body, init, status, reason) => {
    const { dispatcher, audit } = guarded();
    const { url } = await serve(dispatcher, { maxPacketBytes: 200 });
    const response = await request(url, body, init);
    expect(response.status).toBe(status);
    if (reason !== undefined) expect(await response.json()).toMatchObject({ ok: false, reason });
    expect(audit.records()).toEqual([]);
  });

  test('refuses another path', async () => {
    const { url } = await serve(guarded().dispatcher);
    expect((await request(`${url}/more`, PACKET)).status).toBe(404);
  });

  test.each([
    ['invalid', 'FETCH|HR|p:2|aacp:1.1', undefined, 422],
    ['surrounding-text', `"${PACKET}"`, undefined, 422],
    ['no-handler', 'CALC|FIN|return:F|p:2|aacp:1.1', undefined, 501],
    ['failed', 'LOG|HR|return:A|p:2|aacp:1.1', undefined, 500],
    ['no-envelope', PACKET, {}, 400],
    ['too-old', PACKET, { nonce: 'n', sentAt: 0 }, 409],
  ])('refuses as %s with its status', async (reason, text, envelope, status) => {
    const { url } = await serve(guarded().dispatcher);
    const response = await request(url, text, {}, envelope);
    expect([response.status, response.headers.get('content-type')]).toEqual([status, 'application/problem+json']);
    expect(await response.json()).toMatchObject({ ok: false, reason, status, title: expect.any(String) as unknown });
  });

  test('accepts one line end after the packet, and any case and parameters of the media type', async () => {
    const { dispatcher, handled } = guarded();
    const { url } = await serve(dispatcher);
    const headers = { 'content-type': 'Application/AACP; charset="UTF-8"' };
    for (const end of ['', '\n', '\r\n']) expect((await request(url, PACKET + end, { headers })).status).toBe(200);
    expect(await (await request(url, `${PACKET}\n\n`)).json()).toMatchObject({ reason: 'several-lines' });
    expect(handled).toHaveLength(3);
  });

  test('answers with the packet itself, its hash and the codes of the warnings', async () => {
    const { url } = await serve(guarded().dispatcher);
    const response = await request(url, 'FETCH|HR|return:A|aacp:1.1');
    expect(await response.text()).toBe(ACK);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/aacp',
      'cache-control': 'no-store',
      'aacp-hash': packetHash('FETCH|HR|return:A|aacp:1.1'),
      'aacp-warnings': 'missing-p',
    });
  });

  test('dispatches nothing if the connection is cut in the middle of the packet', async () => {
    const { dispatcher, audit } = guarded();
    const arrived = deferred();
    const handled = deferred();
    const handler = createPacketHandler(dispatcher, {
      authenticate: () => {
        arrived.resolve();
        return { actor: 'a' };
      },
    });
    const server = await listen((received) => handler(received).finally(handled.resolve));
    cleanups.push(server.close);
    const socket = connect(server.port, '127.0.0.1');
    socket.on('error', () => undefined);
    const head = 'POST /aacp/v1/packets HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/aacp\r\n';
    // What has arrived is a valid packet by itself.
    socket.write(`${head}Content-Length: ${PACKET.length + 20}\r\n\r\n${PACKET}`);
    await arrived.promise;
    socket.resetAndDestroy();
    await handled.promise;
    expect(audit.records()).toEqual([]);
  });

  test('passes the authenticated sender to the log and its data to the handler', async () => {
    const seen: unknown[] = [];
    const { dispatcher, audit } = guarded({ handlers: { '*|*': (_, { context }) => void seen.push(context.data) } });
    const { url } = await serve(dispatcher, {
      authenticate: ({ headers }) =>
        headers.get('authorization') === 'Bearer t' ? { actor: 'planner', data: { tenant: 7 } } : null,
    });
    const refused = await request(url, PACKET);
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(audit.records()).toEqual([]);
    expect(await postPacket(url, PACKET, { headers: { authorization: 'Bearer t' } })).toMatchObject({ ok: true });
    expect(seen).toEqual([{ tenant: 7 }]);
    expect(audit.records()[0]).toMatchObject({ actor: 'planner' });
  });

  test('sends the response of the authentication, and 500 if it throws', async () => {
    const errors: unknown[] = [];
    const teapot = await serve(guarded().dispatcher, { authenticate: () => new Response('no', { status: 418 }) });
    expect((await request(teapot.url, PACKET)).status).toBe(418);
    const broken = await serve(guarded().dispatcher, {
      onError: (thrown) => errors.push(thrown),
      authenticate: () => {
        throw new Error('no directory');
      },
    });
    expect((await request(broken.url, PACKET)).status).toBe(500);
    expect(errors).toEqual([new Error('no directory')]);
  });

  test.each([
    ['dispatcher', () => createPacketHandler(undefined as never)],
    ['path', () => createPacketHandler(guarded().dispatcher, { path: 'packets' })],
    ['maxPacketBytes', () => createPacketHandler(guarded().dispatcher, { maxPacketBytes: 0 })],
    ['authenticate', () => createPacketHandler(guarded().dispatcher, { authenticate: 'x' as never })],
  ])('rejects an invalid option: %s', (name, create) => {
    expect(create).toThrow(new RegExp(name));
  });
});

describe('a client', () => {
  const reply = (status: number, body: string | null, headers: Record<string, string> = {}): Fetch => {
    return () => new Response(body, { status, headers });
  };
  const JSON_TYPE = { 'content-type': 'application/json' };

  test.each<[string, Fetch, string]>([
    ['a page', reply(200, '<p>', { 'content-type': 'text/html' }), 'not-aacp'],
    ['JSON of another service', reply(200, '{}', JSON_TYPE), 'not-aacp'],
    ['a problem of another service', reply(400, '{}', { 'content-type': 'application/problem+json' }), 'not-aacp'],
    ['another status', reply(404, null), 'http-status'],
    ['a redirect', reply(307, null, { location: 'http://127.0.0.1/' }), 'redirected'],
    ['a long answer', reply(200, `"${'x'.repeat(100)}"`, { ...JSON_TYPE, 'aacp-hash': 'h' }), 'too-large'],
    ['no connection', () => Promise.reject(new TypeError('fetch failed')), 'unreachable'],
    ['silence', () => new Promise(() => undefined), 'timeout'],
  ])('reports %s', async (_, send, code) => {
    const options = { fetch: send, timeoutMs: 50, maxAnswerBytes: 100 };
    await expect(postPacket('http://127.0.0.1/', PACKET, options)).rejects.toMatchObject({
      name: 'AacpBindingError',
      code,
    });
  });

  test('sends nothing that is not valid', async () => {
    const send: Fetch = () => {
      throw new Error('sent');
    };
    for (const text of ['FETCH|HR|p:1|aacp:1.1', `Do: ${PACKET}`, `${PACKET}\n`])
      await expect(postPacket('http://127.0.0.1/', text, { fetch: send })).rejects.toMatchObject({
        code: 'invalid-packet',
      });
  });

  test('throws the reason of its signal', async () => {
    const { url } = await serve(guarded({ handlers: { '*|*': () => new Promise(() => undefined) } }).dispatcher);
    const controller = new AbortController();
    const sent = postPacket(url, PACKET, { signal: controller.signal });
    controller.abort(new Error('stop'));
    await expect(sent).rejects.toThrow('stop');
  });

  const RETRY = { maxAttempts: 3, minDelayMs: 0, maxDelayMs: 0 };

  test('sends a packet again with the same nonce if no answer arrives', async () => {
    const { dispatcher, handled } = guarded();
    const { url } = await serve(dispatcher);
    const nonces: (string | null)[] = [];
    const send: Fetch = (target, init) => {
      nonces.push(new Headers(init.headers).get('aacp-nonce'));
      return nonces.length < 3 ? Promise.reject(new TypeError('fetch failed')) : fetch(target, init);
    };
    expect(await postPacket(url, PACKET, { fetch: send, retry: RETRY })).toMatchObject({ ok: true });
    expect(nonces).toHaveLength(3);
    expect(new Set(nonces).size).toBe(1);
    expect(handled).toEqual([PACKET]);
  });

  test('reports that the answer is lost if the packet was handled at an earlier attempt', async () => {
    const { dispatcher, handled } = guarded();
    const { url } = await serve(dispatcher);
    let count = 0;
    const send: Fetch = async (target, init) => {
      const response = await fetch(target, init);
      count++;
      if (count === 1) throw new TypeError('the connection was reset');
      return response;
    };
    const sent = postPacket(url, PACKET, { fetch: send, retry: RETRY });
    await expect(sent).rejects.toMatchObject({ code: 'answer-lost' });
    expect(handled).toEqual([PACKET]);
  });

  test('sends a packet again that could not be recorded, but not one that was refused or failed', async () => {
    let failures = 2;
    const { dispatcher, audit, handled } = guarded();
    const flaky = guarded({
      audit: {
        append: (entry) => {
          failures--;
          return failures >= 0 ? Promise.reject(new Error('disk full')) : audit.append(entry);
        },
      },
    });
    const { url } = await serve(flaky.dispatcher);
    expect(await postPacket(url, PACKET, { retry: RETRY })).toMatchObject({ ok: true });
    expect(flaky.handled).toEqual([PACKET]);

    const other = await serve(dispatcher);
    let count = 0;
    const send: Fetch = (target, init) => {
      count++;
      return fetch(target, init);
    };
    const answer = await postPacket(other.url, 'LOG|HR|return:A|p:2|aacp:1.1', { fetch: send, retry: RETRY });
    expect(answer).toMatchObject({ ok: false, reason: 'failed' });
    expect([count, handled]).toEqual([1, []]);
  });
});
