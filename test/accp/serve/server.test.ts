/** One port for HTTP and WebSocket: responses, limits, and shutdown. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { connectWebSocket } from '../../../src/accp/bindings/websocket/index.js';
import { chatMessage, createCodec, createSession } from '../../../src/accp/codec/index.js';
import {
  accessLine,
  createEndpoint,
  demoAgent,
  type EndpointOptions,
  startServer,
} from '../../../src/accp/serve/index.js';
import { ask, busyAgent, open, REGISTRY, REQUEST, type ServerFixture, sendBytes, serve } from './fixture.js';

async function linkTo({ ws }: ServerFixture) {
  const session = createSession({ agent: 'me', sequence: 'sender' });
  return connectWebSocket(ws, { codec: createCodec(), session, WebSocket, reconnect: false });
}

function post(url: string, body: string, signal: AbortSignal | null = null): Promise<Response> {
  return fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/accp' }, signal });
}

const call = (tool_name: string, args: Record<string, string | number> = {}) => ({
  ...{ intent: 'req', operation: 'tool', schema: 'TC', payload: { tool_name, arguments: args } },
});

describe('demo agents', () => {
  test.each([
    ['echo', REQUEST, 200, '@echo>done:x{a:1}['],
    ['echo', '@me>qry:x{}[mid:m1,seq:1]', 200, '@echo>done:x{}['],
    [
      'echo',
      '@me>req:tool{tool:add|args:{a:1}|schema:TC}[mid:m1,seq:1]',
      200,
      '@echo>done:tool{tool:add|args:{a:1}|schema:TC}[',
    ],
    ['echo', '@me>done:x{}[mid:m1,seq:1,cid:c1]', 204, ''],
    ['tools', '@me>req:tool{tool:add|args:{a:1|b:2}|schema:TC}[mid:m1,seq:1]', 400, '@accp>fail:error{code:E1001'],
    [
      'tools',
      '@me>req:tool{tool:add|args:{a:1,b:2}|schema:TC}[mid:m1,seq:1]',
      200,
      '@tools>done:tool{tool:add|res:3|schema:TC}[',
    ],
    ['tools', '@me>req:tool{tool:ad|args:{}|schema:TC}[mid:m1,seq:1]', 400, '@tools>fail:error{code:E4001'],
    ['tools', '@me>req:tool{tool:add|args:{a:x}|schema:TC}[mid:m1,seq:1]', 400, '@tools>fail:error{code:E4003'],
    ['tools', REQUEST, 400, '@tools>fail:error{code:E1003'],
    ['both', REQUEST, 200, '@pegwire>done:x{a:1}['],
    [
      'both',
      '@me>req:tool{tool:upper|args:{text:abc}|schema:TC}[mid:m1,seq:1]',
      200,
      '@pegwire>done:tool{tool:upper|res:ABC|schema:TC}[',
    ],
    ['both', '@me>req:tool{tool:now|args:{}|schema:TC}[mid:m1,seq:1]', 200, '@pegwire>done:tool{tool:now|res:20'],
  ] as const)('%s: %s', async (agent, body, status, begin) => {
    const answered = await ask((await serve({}, agent)).http, { body });
    expect({ status: answered.status, begin: answered.body.slice(0, begin.length) }).toEqual({ status, begin });
  });

  test('a tool that counts streams over HTTP, one frame per line', async () => {
    const { http } = await serve();
    const { body } = await ask(http, { body: '@me>req:tool{tool:count|args:{to:3}|schema:TC}[mid:m1,seq:1]' });
    const heads = body
      .trimEnd()
      .split('\n')
      .map((frame) => frame.slice(0, frame.indexOf('[')));
    expect(heads).toEqual([
      '@pegwire>stream:tool{idx:0|d:1|schema:ST}',
      '@pegwire>stream:tool{idx:1|d:2|schema:ST}',
      '@pegwire>stream:tool{idx:2|d:3|done:true|schema:ST}',
      '@pegwire>end:tool{}',
    ]);
  });

  test('the same over a WebSocket, in one session', async () => {
    const link = await linkTo(await serve());
    expect((await link.request(call('upper', { text: 'any text' }))).payload['result']).toBe('ANY TEXT');
    const data: unknown[] = [];
    for await (const chunk of link.stream(call('count', { to: 3 }))) data.push(chunk.data);
    expect(data).toEqual([1, 2, 3]);
    expect((await link.request(chatMessage('hello there', { role: 'user' }))).payload['content']).toBe('hello there');
    await link.close();
  });
});

describe('paths', () => {
  test.each([
    ['POST', '/', 404],
    ['POST', '/accp/v1/frames/', 404],
    ['GET', '/accp/v1/frames', 405],
    ['PUT', '/accp/v1/frames', 405],
    ['POST', '/healthz', 405],
    ['GET', '/healthz?verbose', 200],
    ['POST', '/accp/v1/frames?x=1', 200],
  ])('%s %s', async (method, path, status) => {
    const { port } = await serve();
    expect((await ask(`http://127.0.0.1:${port}${path}`, { method })).status).toBe(status);
  });

  test('can be changed, for WebSockets as well', async () => {
    const { http, ws, port } = await serve({ path: '/agents/accp' });
    expect(http).toBe(`http://127.0.0.1:${port}/agents/accp`);
    expect((await ask(http)).status).toBe(200);
    expect(await open(ws)).toBeInstanceOf(WebSocket);
    expect(await open(`ws://127.0.0.1:${port}/accp/v1/frames`)).toBe(404);
  });

  test('the state of the server counts sessions and connections', async () => {
    const fixture = await serve();
    await linkTo(fixture);
    const { body } = await ask(`http://127.0.0.1:${fixture.port}/healthz`, { method: 'GET' });
    expect(JSON.parse(body)).toEqual({ status: 'ok', sessions: 1, connections: 2 });
  });
});

describe('limits', () => {
  test('a frame that is too long is rejected over HTTP, and closes a WebSocket', async () => {
    const { http, ws } = await serve({ maxFrameBytes: 100 });
    const body = `@me>req:x{a:${'x'.repeat(100)}}`;
    expect((await ask(http, { body })).status).toBe(413);
    const socket = (await open(ws)) as WebSocket;
    socket.send(body);
    expect(await once(socket, 'close')).toEqual([1009, expect.anything()]);
  });

  test('headers beyond 16 KiB are rejected', async () => {
    const { http } = await serve();
    expect((await ask(http, { 'x-long': 'x'.repeat(17_000) })).status).toBe(431);
  });

  test('an incomplete request is ended', async () => {
    const { port } = await serve({ requestTimeoutMs: 200 });
    const head = 'POST /accp/v1/frames HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/accp\r\n';
    expect(await sendBytes(port, `${head}Content-Length: 10\r\n\r\n@me`)).toMatch(/^HTTP\/1\.1 408 /);
    expect(await sendBytes(port, head)).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('connections beyond the limit are closed and logged', async () => {
    const { ws, port, entries, logged } = await serve({ maxConnections: 1 });
    const first = await open(ws);
    expect(first).toBeInstanceOf(WebSocket);
    expect(await sendBytes(port, 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')).toBe('');
    await logged(1);
    expect(entries).toMatchObject([{ status: 0, note: 'too many connections' }]);
  });
});

describe('the access log', () => {
  test('has an entry for each request and each WebSocket', async () => {
    const { http, ws, entries, logged } = await serve();
    await ask(`${http}?a=1`);
    await logged(1);
    await ask(http, { origin: 'https://evil.example' });
    await logged(2);
    const socket = (await open(ws)) as WebSocket;
    socket.close(1000);
    await logged(3);
    const common = {
      startedAt: expect.any(Number),
      remoteAddress: '127.0.0.1',
      durationMs: expect.any(Number),
      path: '/accp/v1/frames',
    };
    expect(entries).toEqual([
      { ...common, method: 'POST', status: 200, bytes: expect.any(Number) },
      { ...common, method: 'POST', status: 403, bytes: expect.any(Number), note: 'origin' },
      { ...common, method: 'GET', status: 101, bytes: expect.any(Number), note: 'close 1000' },
    ]);
    for (const { bytes } of entries) expect(bytes).toBeGreaterThan(50);
  });

  test('has an entry for a client that disconnects before the answer', async () => {
    const { agent, started } = busyAgent();
    const { http, logged, entries } = await serve({}, agent);
    const controller = new AbortController();
    const aborted = expect(post(http, REQUEST, controller.signal)).rejects.toThrow();
    await started;
    controller.abort();
    await logged(1);
    expect(entries).toMatchObject([{ status: 0, note: 'cut off' }]);
    await aborted;
  });

  test('shows control characters as visible symbols', () => {
    const entry = {
      ...{ startedAt: 0, remoteAddress: 'r', method: 'GET', path: '/\u001b[31m' },
      ...{ status: 404, durationMs: 1, bytes: 2 },
    };
    expect(accessLine(entry)).toBe('1970-01-01T00:00:00.000Z r GET /␛[31m 404 1ms 2B');
    expect(accessLine({ ...entry, path: `/${'x'.repeat(1000)}`, note: 'host' })).toMatch(
      /^1970-01-01T00:00:00.000Z r GET \/x{199}\.\.\. 404 1ms 2B \(host\)$/,
    );
  });
});

describe('shutdown', () => {
  test('lets a running stream end, and closes WebSockets', async () => {
    const fixture = await serve();
    const link = await linkTo(fixture);
    const silent = sendBytes(fixture.port, '');
    const idle = await fetch(`http://127.0.0.1:${fixture.port}/healthz`);
    await idle.text();
    const response = await post(fixture.http, '@me>req:tool{tool:count|args:{to:4,ms:100}|schema:TC}[mid:m1,seq:1]');
    const closed = fixture.close();
    expect(await link.closed).toMatchObject({ closeCode: 1001 });
    await expect(ask(fixture.http)).rejects.toThrow('ECONNREFUSED');
    expect((await response.text()).trimEnd().split('\n')).toHaveLength(5);
    await closed;
    expect(await silent).toBe('');
  });

  test('cuts off requests after the grace period', async () => {
    const { agent, started } = busyAgent();
    const { http, close } = await serve({ closeGraceMs: 100 }, agent);
    const cut = expect(post(http, REQUEST)).rejects.toThrow();
    await started;
    await close();
    await cut;
  });

  test.each([3_000_000_000, Number.POSITIVE_INFINITY])(
    'waits for the whole grace period: %d ms',
    async (closeGraceMs) => {
      let answer: () => void = () => undefined;
      let begin: () => void = () => undefined;
      const started = new Promise<void>((resolve) => {
        begin = resolve;
      });
      const handle: EndpointOptions['handle'] = () => {
        begin();
        return new Promise((resolve) => {
          answer = () => resolve({ intent: 'done', operation: 'x' });
        });
      };
      const { http, close } = await serve({ closeGraceMs }, { ...demoAgent('echo'), handle });
      const asked = post(http, REQUEST);
      await started;
      const closed = close();
      await new Promise((resolve) => setTimeout(resolve, 30));
      answer();
      expect((await asked).status).toBe(200);
      await closed;
    },
  );

  test('can be immediate', async () => {
    const { agent, started } = busyAgent();
    const { http, ws, close, terminate } = await serve({ closeGraceMs: 600_000 }, agent);
    const socket = (await open(ws)) as WebSocket;
    socket.send(REGISTRY);
    await once(socket, 'message');
    const cut = expect(post(http, REQUEST)).rejects.toThrow();
    await started;
    const closed = close();
    terminate();
    await closed;
    await cut;
  });
});

test('a port that is in use, and an address of another machine, are errors', async () => {
  const { port } = await serve();
  const endpoint = createEndpoint(demoAgent('echo'));
  await expect(startServer(endpoint, { port })).rejects.toMatchObject({
    ...{ name: 'ServeError', code: 'in-use', message: `127.0.0.1:${port} is already in use` },
  });
  await expect(startServer(endpoint, { port: 0, host: '192.0.2.1', token: 'a' })).rejects.toMatchObject({
    code: 'cannot-listen',
  });
  await expect(startServer(endpoint, { port: 0, host: 'no-such-host.invalid' })).rejects.toMatchObject({
    code: 'cannot-listen',
  });
});

describe('requests that offer another protocol', () => {
  const offered = (method: string, target: string, offer: string, body = ''): string =>
    `${method} ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: ${offer}\r\n` +
    `HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\nContent-Type: application/accp\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

  test.each(['h2c', 'TLS/1.2'])('are answered without an upgrade: %s', async (offer) => {
    const { port, entries, logged } = await serve();
    const answer = await sendBytes(port, offered('POST', '/accp/v1/frames', offer, REQUEST));
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toContain('@pegwire>done:x{a:1}');
    expect(await sendBytes(port, offered('GET', '/healthz', offer))).toMatch(/^HTTP\/1\.1 200 /);
    await logged(2);
    expect(entries.map(({ status }) => status)).toEqual([200, 200]);
  });

  test('are read completely, however their bodies arrive', async () => {
    const { port } = await serve();
    const text = offered('POST', '/accp/v1/frames', 'h2c', REQUEST);
    const answer = await new Promise<string>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(text.slice(0, -10)));
      setTimeout(() => socket.write(text.slice(-10)), 30);
      let all = '';
      socket.on('data', (piece) => {
        all += piece;
      });
      socket.on('close', () => resolve(all));
    });
    expect(answer).toContain('@pegwire>done:x{a:1}');
  });
});

test('a target that begins with two slashes is an unknown path', async () => {
  const { port, entries, logged } = await serve();
  const asked = (target: string): Promise<string> =>
    sendBytes(port, `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  expect(await asked('//x/healthz')).toMatch(/^HTTP\/1\.1 404 /);
  expect(await asked('//x/accp/v1/frames')).toMatch(/^HTTP\/1\.1 404 /);
  await logged(2);
  expect(entries.map(({ path }) => path)).toEqual(['//x/healthz', '//x/accp/v1/frames']);
});

test('a listener that throws does not end the server', async () => {
  const { http } = await serve({
    onAccess: () => {
      throw new Error('of the host');
    },
  });
  expect((await post(http, REQUEST)).status).toBe(200);
  expect((await post(http, REQUEST.replace('m1', 'm2'))).status).toBe(200);
});

test('the demo agents accept any number of streams in a session', async () => {
  const { http } = await serve({}, 'echo');
  let seq = 0;
  for (let stream = 0; stream < 70; stream++) {
    for (const chunk of ['idx:0|d:a', 'idx:1|d:b|done:true']) {
      seq++;
      const frame = `@me>stream:x{${chunk}|schema:ST}[mid:m${seq},seq:${seq},cid:c${stream},sid:s1]`;
      expect((await post(http, frame)).status).toBe(204);
    }
  }
});

describe('pipelined requests', () => {
  const posted = (seq: number, more = ''): string => {
    const frame = `@me>req:x{n:${seq}}[mid:p${seq},seq:1,sid:pipelined${seq}]`;
    return `POST /accp/v1/frames HTTP/1.1\r\nHost: localhost\r\n${more}Content-Type: application/accp\r\nContent-Length: ${frame.length}\r\n\r\n${frame}`;
  };
  const H2C = 'Upgrade: h2c\r\nConnection: Upgrade\r\n';

  test.each([
    ['alone', ''],
    ['with the offer of another protocol', H2C],
  ])('are all answered, in order: %s', async (_, more) => {
    const { port } = await serve();
    const all = [1, 2, 3, 4].map((seq) => posted(seq, more)).join('');
    const last = posted(5, 'Connection: close\r\n');
    const received = await sendBytes(port, all + last);
    expect([...received.matchAll(/done:x\{n:(\d)\}/g)].map(([, seq]) => seq)).toEqual(['1', '2', '3', '4', '5']);
  });

  test('do not outlive the client: their sources end, and each is logged', async () => {
    let started = 0;
    let ended = 0;
    const fixture = await serve(
      {},
      {
        codec: createCodec(),
        agent: 'srv',
        async *handle(message, { signal }) {
          started++;
          try {
            yield { intent: 'stream', operation: 'x', schema: 'ST', payload: { chunk_index: 0, data: 'a' } };
            await new Promise((resolve) => signal.addEventListener('abort', resolve));
          } finally {
            ended++;
          }
          return message;
        },
      },
    );
    const socket = connect(fixture.port, '127.0.0.1');
    socket.write([1, 2, 3].map((seq) => posted(seq)).join(''));
    while (started < 3) await new Promise((resolve) => setTimeout(resolve, 5));
    socket.destroy();
    while (ended < 3) await new Promise((resolve) => setTimeout(resolve, 5));
    await fixture.logged(3);
    expect(fixture.entries).toHaveLength(3);
  });
});

test('a method that the platform cannot represent is rejected, and is not an error of the server', async () => {
  const errors: unknown[] = [];
  const { port } = await serve({ onError: (error) => errors.push(error) });
  const received = await sendBytes(
    port,
    'TRACE /accp/v1/frames HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
  );
  expect(received).toMatch(/^HTTP\/1\.1 405 /);
  expect(received).toMatch(/allow: POST/i);
  expect(errors).toEqual([]);
});

test('a server that waits for all requests does not wait for one that never arrives', async () => {
  const { port, close } = await serve({ closeGraceMs: Number.POSITIVE_INFINITY, requestTimeoutMs: 200 });
  const socket = connect(port, '127.0.0.1');
  socket.write(
    'POST /accp/v1/frames HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/accp\r\nContent-Length: 50\r\n\r\nabc',
  );
  await once(socket, 'connect');
  await new Promise((resolve) => setTimeout(resolve, 50));
  socket.resume().on('error', () => undefined);
  await close();
});

describe('further routes', () => {
  const route = async (request: Request): Promise<Response> =>
    new Response(`${request.method} ${await request.text()}`, { status: 201 });

  test('answer requests on the same port, with the same control of access', async () => {
    const { http } = await serve({ routes: { '/other': route }, token: 'open-sesame' });
    const url = http.replace('/accp/v1/frames', '/other');
    expect((await fetch(url, { method: 'POST', body: 'a' })).status).toBe(401);
    const headers = { authorization: 'Bearer open-sesame' };
    const response = await fetch(url, { method: 'POST', body: 'a', headers });
    expect([response.status, await response.text()]).toEqual([201, 'POST a']);
    expect((await fetch(`${url}/more`, { method: 'POST', headers })).status).toBe(404);
    expect((await fetch(url, { method: 'POST', headers: { ...headers, origin: 'https://a.example' } })).status).toBe(
      403,
    );
  });

  test('do not end the server if they throw', async () => {
    const errors: Error[] = [];
    const broken = (): Promise<Response> => Promise.reject(new Error('broken'));
    const { http } = await serve({ routes: { '/other': broken }, onError: (error) => errors.push(error) });
    const url = http.replace('/accp/v1/frames', '/other');
    expect((await fetch(url, { method: 'POST' })).status).toBe(500);
    expect((await fetch(url, { method: 'POST' })).status).toBe(500);
    expect(errors).toEqual([new Error('broken'), new Error('broken')]);
  });

  test.each([
    ['without a slash', { other: route }, /path must begin with "\/"/],
    ['of the state', { '/healthz': route }, /path must not be \/healthz/],
    ['of frames', { '/accp/v1/frames': route }, /path must not be \/accp\/v1\/frames/],
    ['without a function', { '/other': 'x' as never }, /routes must be functions/],
  ])('cannot have a path %s', async (_, routes, message) => {
    await expect(serve({ routes })).rejects.toThrow(message);
  });
});
