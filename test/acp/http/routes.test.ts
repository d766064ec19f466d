/** The routes of the endpoint, and its refusals, as data. */
import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:http2';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcpListener, listenAcp } from '../../../src/acp/http/index.js';
import { REFUSALS } from '../../../src/acp/http/node/refusals.js';
import { servePrompts } from './turn.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const STREAM = { accept: 'text/event-stream' };
const INITIALIZE = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}';
const NEW = '{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}';
const PROMPT = '{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"a","prompt":[]}}';

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly path?: string;
}

/** Sends a request over HTTP/1.1; the body of a stream is read until its first bytes. */
function http1(url: string, method: string, { headers = {}, body = '', path }: Sent = {}): Promise<Reply> {
  const target = new URL(path ?? '/acp', url);
  return new Promise((resolve, reject) => {
    const sent = httpRequest(target, { method, headers, agent: false }, (response) => {
      let text = '';
      const done = (): void => {
        resolve({ status: response.statusCode!, headers: response.headers, body: text });
        response.destroy();
      };
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        if (response.headers['content-type'] === 'text/event-stream') done();
      });
      response.on('end', done);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Sends a request over HTTP/2. */
async function http2(
  url: string,
  method: string,
  { headers = {}, body = '', path = '/acp' }: Sent = {},
): Promise<Reply> {
  const session = connect(url);
  try {
    return await new Promise((resolve, reject) => {
      session.on('error', reject);
      const stream = session.request({ ':method': method, ':path': path, ...headers }, { endStream: body === '' });
      let text = '';
      let answer: Record<string, unknown> = {};
      const done = (): void =>
        resolve({ status: answer[':status'] as number, headers: answer as Reply['headers'], body: text });
      stream.on('response', (given) => {
        answer = given;
      });
      stream.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        if (answer['content-type'] === 'text/event-stream') done();
      });
      stream.on('end', done).on('error', reject);
      if (body !== '') stream.end(body);
    });
  } finally {
    session.destroy();
  }
}

let server: AcpListener;
let id: string;

describe.each([
  ['HTTP/1.1', http1],
  ['HTTP/2', http2],
] as const)('over %s', (_, send) => {
  beforeAll(async () => {
    server = await listenAcp((channel) => servePrompts(channel), { maxMessageBytes: 2000, closeGraceMs: 50 });
    id = (await send(server.http, 'POST', { headers: JSON_TYPE, body: INITIALIZE })).headers[
      'acp-connection-id'
    ] as string;
  });
  afterAll(() => server.close());

  /** Replaces `ID` by the identifier of the connection. */
  const named = (headers: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value === 'ID' ? id : value]));

  const ofConnection = { ...JSON_TYPE, 'acp-connection-id': 'ID' };
  const ofSession = { ...ofConnection, 'acp-session-id': 'a' };
  const refusals: readonly [name: string, method: string, sent: Sent, status: number, code: string][] = [
    ['a body without a media type', 'POST', { body: INITIALIZE }, 415, 'unsupported-media-type'],
    [
      'a body of another media type',
      'POST',
      { headers: { 'content-type': 'text/plain' }, body: INITIALIZE },
      415,
      'unsupported-media-type',
    ],
    ['a body that is not JSON', 'POST', { headers: JSON_TYPE, body: '{' }, 400, 'not-json'],
    [
      'a body that is not UTF-8',
      'POST',
      { headers: JSON_TYPE, body: Buffer.from([0x22, 0xff, 0x22]) },
      400,
      'not-json',
    ],
    ['a body that is not a message', 'POST', { headers: JSON_TYPE, body: '{"id":1}' }, 400, 'not-a-message'],
    ['a body that is too long', 'POST', { headers: JSON_TYPE, body: `"${'x'.repeat(3000)}"` }, 413, 'too-long'],
    ['a batch', 'POST', { headers: JSON_TYPE, body: `[${INITIALIZE}]` }, 501, 'batch'],
    ['a second initialize', 'POST', { headers: ofConnection, body: INITIALIZE }, 400, 'initialized'],
    ['a message without a connection', 'POST', { headers: JSON_TYPE, body: NEW }, 400, 'no-connection'],
    [
      'a message of an unknown connection',
      'POST',
      { headers: { ...JSON_TYPE, 'acp-connection-id': 'x' }, body: NEW },
      404,
      'unknown-connection',
    ],
    ['a message of a session without its header', 'POST', { headers: ofConnection, body: PROMPT }, 400, 'no-session'],
    [
      'a message of another session',
      'POST',
      { headers: { ...ofSession, 'acp-session-id': 'b' }, body: PROMPT },
      400,
      'other-session',
    ],
    [
      'a session without a name',
      'POST',
      { headers: { ...ofSession, 'acp-session-id': '' }, body: PROMPT },
      400,
      'wrong-session',
    ],
    [
      'a request with a long id',
      'POST',
      { headers: ofConnection, body: NEW.replace('"id":2', `"id":"${'x'.repeat(1025)}"`) },
      400,
      'long-id',
    ],
    [
      'a session whose name is not ASCII',
      'POST',
      { headers: { ...ofSession, 'acp-session-id': 'é' }, body: PROMPT },
      400,
      'wrong-session',
    ],
    ['a stream that is not accepted', 'GET', { headers: named({ accept: 'text/html' }) }, 406, 'not-acceptable'],
    ['a stream that is excluded', 'GET', { headers: { accept: 'text/event-stream;q=0' } }, 406, 'not-acceptable'],
    ['a stream without a connection', 'GET', { headers: STREAM }, 400, 'no-connection'],
    [
      'a stream of an unknown connection',
      'GET',
      { headers: { ...STREAM, 'acp-connection-id': 'x' } },
      404,
      'unknown-connection',
    ],
    [
      'a continuation that was not agreed',
      'GET',
      { headers: { ...STREAM, 'acp-connection-id': 'ID', 'last-event-id': '1' } },
      400,
      'unknown-event',
    ],
    ['an end without a connection', 'DELETE', {}, 400, 'no-connection'],
    ['an end of an unknown connection', 'DELETE', { headers: { 'acp-connection-id': 'x' } }, 404, 'unknown-connection'],
    ['another method', 'PUT', {}, 405, 'unknown-method'],
    ['another path', 'POST', { path: '/other', headers: JSON_TYPE, body: INITIALIZE }, 404, 'unknown-path'],
    [
      'a page of another origin',
      'POST',
      { headers: { ...JSON_TYPE, origin: 'http://evil.example' }, body: INITIALIZE },
      403,
      'wrong-origin',
    ],
  ];

  test.each(refusals)('refuses %s', async (_name, method, { headers = {}, ...rest }, status, code) => {
    const reply = await send(server.http, method, { headers: named(headers), ...rest });
    expect({ status: reply.status, code: (JSON.parse(reply.body) as { error: { code: string } }).error.code }).toEqual({
      status,
      code,
    });
  });

  test('answers initialize with the identifier in the header and the result', async () => {
    const reply = await send(server.http, 'POST', { headers: JSON_TYPE, body: INITIALIZE });
    const connectionId = reply.headers['acp-connection-id'];
    expect(reply.status).toBe(200);
    expect(reply.headers['content-type']).toBe('application/json');
    expect(JSON.parse(reply.body)).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: { protocolVersion: 1, agentCapabilities: {}, connectionId },
    });
  });

  test('accepts messages with 202, opens streams with 200, and ends with 202, after which the connection is unknown', async () => {
    const first = await send(server.http, 'POST', { headers: JSON_TYPE, body: INITIALIZE });
    const connection = { 'acp-connection-id': first.headers['acp-connection-id'] as string };
    const posted = await send(server.http, 'POST', { headers: { ...JSON_TYPE, ...connection }, body: NEW });
    expect([posted.status, posted.body]).toEqual([202, '']);
    const own = await send(server.http, 'GET', { headers: { ...STREAM, ...connection } });
    expect([own.status, own.headers['content-type']]).toEqual([200, 'text/event-stream']);
    const session = await send(server.http, 'GET', { headers: { ...STREAM, ...connection, 'acp-session-id': 's' } });
    expect(session.status).toBe(200);
    expect((await send(server.http, 'DELETE', { headers: connection })).status).toBe(202);
    expect((await send(server.http, 'GET', { headers: { ...STREAM, ...connection } })).status).toBe(404);
  });

  test('lets the pages of its own origin, and those that are named, use it', async () => {
    const named = await listenAcp((channel) => servePrompts(channel), { origins: ['https://example.org'] });
    const headers = { origin: 'https://example.org' };
    const preflight = await send(named.http, 'OPTIONS', { headers });
    expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([204, 'https://example.org']);
    for (const name of ['acp-session-id', 'acp-protocol-version'])
      expect(String(preflight.headers['access-control-allow-headers'])).toContain(name);
    const posted = await send(named.http, 'POST', { headers: { ...headers, ...JSON_TYPE }, body: INITIALIZE });
    expect(posted.status).toBe(200);
    expect(String(posted.headers['access-control-expose-headers'])).toContain('acp-connection-id');
    await named.close();
  });

  test('requires the token', async () => {
    const guarded = await listenAcp((channel) => servePrompts(channel), { token: 'secret' });
    const wrong = { ...JSON_TYPE, authorization: 'Bearer other' };
    const right = { ...JSON_TYPE, authorization: 'Bearer secret' };
    const refused = await send(guarded.http, 'POST', { headers: wrong, body: INITIALIZE });
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([401, 'Bearer']);
    expect((await send(guarded.http, 'POST', { headers: right, body: INITIALIZE })).status).toBe(200);
    await guarded.close();
  });

  test('refuses connections beyond the maximum, and agents that cannot be started', async () => {
    const full = await listenAcp(
      (channel, { id: connection }) => {
        if (connection === '') throw new Error('unreachable');
        servePrompts(channel);
      },
      { maxConnections: 1 },
    );
    expect((await send(full.http, 'POST', { headers: JSON_TYPE, body: INITIALIZE })).status).toBe(200);
    expect((await send(full.http, 'POST', { headers: JSON_TYPE, body: INITIALIZE })).status).toBe(503);
    await full.close();
    const errors: string[] = [];
    const broken = await listenAcp(() => Promise.reject(new Error('no program')), {
      onError: (error) => errors.push(error.message),
    });
    const refused = await send(broken.http, 'POST', { headers: JSON_TYPE, body: INITIALIZE });
    expect([refused.status, JSON.parse(refused.body)]).toMatchObject([502, { error: { code: 'no-agent' } }]);
    expect(errors).toEqual(['no program']);
    expect(broken.connections()).toBe(0);
    await broken.close();
  });

  test('sets the cookie of the option', async () => {
    const sticky = await listenAcp((channel) => servePrompts(channel), { affinityCookie: 'backend=3; Path=/acp' });
    const reply = await send(sticky.http, 'POST', { headers: JSON_TYPE, body: INITIALIZE });
    expect([reply.headers['set-cookie']].flat()).toEqual(['backend=3; Path=/acp']);
    await sticky.close();
  });
});

test('the response to initialize keeps its text, with the identifier in the last result', async () => {
  const before = '{"jsonrpc":"2.0","id":1,"result":{"a":{"result":{}}},"x":"\\"result\\":{","res\\u0075lt" : ';
  const results = ['{ }', '{"n":12345678901234567890.10, "n":1e400,"t":"\\u00e9"}', '[1.0]', '{"connectionId":"mine"}'];
  for (const result of results) {
    const raw = await listenAcp((channel) => {
      channel.start({ text: () => channel.send(`${before}${result}}`), invalid() {}, tooLong() {}, ended() {} });
    });
    const { body, headers } = await http1(raw.http, 'POST', { headers: JSON_TYPE, body: INITIALIZE });
    const inserted = `"connectionId":"${headers['acp-connection-id'] as string}"`;
    const expected = result.replace(/^\{(?!"c)(?= ?(\}?))/, (_, end) => `{${inserted}${end === '}' ? '' : ','}`);
    expect(body).toBe(`${before}${expected}}`);
    await raw.close();
  }
});

test('HTTP/1.1 is refused if it is not allowed, but HTTP/2 is not', async () => {
  const strict = await listenAcp((channel) => servePrompts(channel), { allowHttp1: false });
  const sent = { headers: JSON_TYPE, body: INITIALIZE };
  expect((await http1(strict.http, 'POST', sent)).status).toBe(505);
  expect((await http2(strict.http, 'POST', sent)).status).toBe(200);
  await strict.close();
});

test('every refusal has a section on the page of errors, with its status', () => {
  const page = readFileSync(new URL('../../../src/acp/ERRORS.md', import.meta.url), 'utf8');
  const sections = page.split('\n## HTTP refusals\n')[1]!.split('\n## ')[0]!;
  const codes = [...sections.matchAll(/^### (.+)$/gm)].map(([, code]) => code);
  expect(codes.toSorted()).toEqual(Object.keys(REFUSALS).toSorted());
  for (const [code, [status]] of Object.entries(REFUSALS))
    expect(sections).toContain(`\n### ${code}\n\nStatus ${status}. `);
});

test('a server that other machines can reach requires a token and TLS', async () => {
  const listen = (options: object) => listenAcp(servePrompts, { host: '0.0.0.0', ...options });
  await expect(listen({})).rejects.toMatchObject({ code: 'no-token' });
  await expect(listen({ token: 'secret' })).rejects.toMatchObject({ code: 'no-tls' });
  await (await listen({ token: 'secret', insecure: true })).close();
});

test.each([
  ['path', { path: 'acp' }],
  ['maxConnections', { maxConnections: 0 }],
  ['idleTimeoutMs', { idleTimeoutMs: 0 }],
  ['affinityCookie', { affinityCookie: 'none' }],
])('an invalid %s is rejected', async (name, options) => {
  await expect(listenAcp(() => undefined, options)).rejects.toThrow(name);
});

test.each(['HTTP/1.1', 'HTTP/2'])('a body that does not end is refused in time over %s', async (version) => {
  const { http, close } = await listenAcp(servePrompts, { requestTimeoutMs: 50, closeGraceMs: 50 });
  const session = version === 'HTTP/2' ? connect(http) : undefined;
  const { status, text } = await new Promise<{ status?: number | undefined; text: string }>((resolve, reject) => {
    let status: number | undefined;
    let text = '';
    if (session === undefined) {
      const request = httpRequest(`${http}`, { method: 'POST', headers: JSON_TYPE, agent: false }, (response) => {
        response.on('data', (chunk) => (text += String(chunk)));
        response.once('end', () => resolve({ status: response.statusCode, text }));
      });
      request.on('error', reject).write('{');
    } else {
      const stream = session.request({ ':method': 'POST', ':path': '/acp', ...JSON_TYPE }, { endStream: false });
      stream.once('response', (headers) => {
        status = headers[':status'];
      });
      stream.on('data', (chunk) => (text += String(chunk)));
      // The server ends the stream, whose body is still open.
      stream.once('close', () => resolve({ status, text }));
      stream.on('error', reject).write('{');
    }
  });
  expect([status, JSON.parse(text)]).toMatchObject([408, { error: { code: 'body-timeout' } }]);
  session?.destroy();
  await close();
});

test('an upgrade to anything but WebSocket is ignored, as that to h2c, which some clients offer', async () => {
  const server = await listenAcp((channel) => servePrompts(channel));
  const headers = { ...JSON_TYPE, connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': '' };
  const reply = await http1(server.http, 'POST', { headers, body: INITIALIZE });
  expect([reply.status, JSON.parse(reply.body)]).toMatchObject([200, { id: 1, result: { protocolVersion: 1 } }]);
  await server.close();
});

test('a body of many small pieces arrives whole', async () => {
  const server = await listenAcp((channel) => servePrompts(channel));
  const status = await new Promise((resolve, reject) => {
    const sent = httpRequest(server.http, { method: 'POST', headers: JSON_TYPE, agent: false }, (response) => {
      resolve(response.statusCode);
      response.destroy();
    });
    sent.on('error', reject);
    for (const character of INITIALIZE) sent.write(character);
    sent.end();
  });
  expect(status).toBe(200);
  await server.close();
});
