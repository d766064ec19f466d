/** Access to a server, by token and from web pages. */
import { describe, expect, test } from 'vitest';
import { createEndpoint, demoAgent, startServer } from '../../../src/accp/serve/index.js';
import { ask, open, REQUEST, type ServerFixture, sendBytes, serve } from './fixture.js';

/** Sends the same headers over HTTP and WebSocket. */
async function statuses(
  { http, ws }: ServerFixture,
  headers: Record<string, string>,
): Promise<readonly [number, number]> {
  const [{ status }, socket] = await Promise.all([ask(http, headers), open(ws, { headers })]);
  return [status, typeof socket === 'number' ? socket : 101];
}

const LET_IN = [200, 101];

describe('with a token', () => {
  const token = 'abc.DEF-123_~+/==';

  test.each([
    ['the token', `Bearer ${token}`, LET_IN],
    ['the token, the scheme in other letters', `bearer  ${token}`, LET_IN],
    ['another token', 'Bearer abc.DEF-123_~+/=', [401, 401]],
    ['a longer token', `Bearer ${token}x`, [401, 401]],
    ['another scheme', `Basic ${token}`, [401, 401]],
    ['the token alone', token, [401, 401]],
  ])('%s', async (_, authorization, expected) => {
    expect(await statuses(await serve({ token }), { authorization })).toEqual(expected);
  });

  test('clients without one are rejected, with the required scheme', async () => {
    const { http, ws } = await serve({ token });
    const { status, headers, body } = await ask(http);
    expect({ status, body, challenge: headers['www-authenticate'] }).toEqual({
      status: 401,
      body: '',
      challenge: 'Bearer',
    });
    expect(await open(ws)).toBe(401);
  });

  test('a WebSocket may send it as a subprotocol, which is not selected', async () => {
    const { ws } = await serve({ token });
    const socket = await open(ws, { protocols: ['accp', `bearer.${encodeURIComponent(token)}`] });
    expect(socket).toMatchObject({ protocol: 'accp' });
    for (const wrong of ['bearer.abc', 'bearer.%', 'bearer.'])
      expect(await open(ws, { protocols: ['accp', wrong] })).toBe(401);
  });

  test('over HTTP, a subprotocol is not accepted', async () => {
    const { http } = await serve({ token: 'abc' });
    expect((await ask(http, { 'sec-websocket-protocol': 'accp, bearer.abc' })).status).toBe(401);
  });

  test('it is not in the access log', async () => {
    const { http, entries, logged } = await serve({ token: 'sesame' });
    await ask(`${http}?token=sesame`, { authorization: 'Bearer sesame' });
    await logged(1);
    expect(JSON.stringify(entries)).not.toContain('sesame');
    expect(JSON.stringify(entries)).not.toContain('req:x');
  });

  test('the state of the server does not require it', async () => {
    const { port } = await serve({ token });
    const { status, body } = await ask(`http://127.0.0.1:${port}/healthz`, { method: 'GET' });
    expect(status).toBe(200);
    expect(JSON.parse(body)).toEqual({ status: 'ok', sessions: 0, connections: 1 });
  });
});

describe('web pages', () => {
  test.each([
    ['of another host', {}, 'https://evil.example', [403, 403]],
    ['of another port of this machine', {}, 'http://127.0.0.1:1', [403, 403]],
    ['without an origin', {}, 'null', [403, 403]],
    ['that are listed', { origins: ['https://good.example'] }, 'https://good.example', LET_IN],
    ['that are listed in other letters', { origins: ['https://Good.example'] }, 'https://good.example', LET_IN],
    [
      'of another port than the listed one',
      { origins: ['https://good.example'] },
      'https://good.example:8443',
      [403, 403],
    ],
    ['of another scheme than the listed one', { origins: ['https://good.example'] }, 'http://good.example', [403, 403]],
    ['of a subdomain of the listed one', { origins: ['https://good.example'] }, 'https://x.good.example', [403, 403]],
    ['without an origin, if that is listed', { origins: ['null'] }, 'null', LET_IN],
  ])('%s', async (_, options, origin, expected) => {
    expect(await statuses(await serve(options), { origin })).toEqual(expected);
  });

  test('of the server itself are admitted', async () => {
    const fixture = await serve();
    expect(await statuses(fixture, { origin: `http://127.0.0.1:${fixture.port}` })).toEqual(LET_IN);
  });

  test('that are admitted get the CORS headers', async () => {
    const { http } = await serve({ origins: ['https://good.example'], token: 'abc' });
    const origin = 'https://good.example';
    const responseTo = await ask(http, { method: 'OPTIONS', origin, 'access-control-request-method': 'POST' });
    expect(responseTo).toMatchObject({
      status: 204,
      headers: {
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': 'content-type, authorization',
        vary: 'origin',
      },
    });
    const { status, headers } = await ask(http, { origin, authorization: 'Bearer abc' });
    expect([status, headers['access-control-allow-origin']]).toEqual([200, origin]);
  });

  test('that are not admitted get no CORS headers', async () => {
    const { http } = await serve();
    const { status, headers } = await ask(http, {
      method: 'OPTIONS',
      origin: 'https://evil.example',
      'access-control-request-method': 'POST',
    });
    expect(status).toBe(403);
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

describe('host names, on a loopback address', () => {
  test.each([
    ['127.0.0.1:80', LET_IN],
    ['127.9.9.9', LET_IN],
    ['LocalHost', LET_IN],
    ['localhost.:1', LET_IN],
    ['app.localhost:1', LET_IN],
    ['[::1]:4711', LET_IN],
    ['evil.example', [403, 403]],
    ['evil.example:4711', [403, 403]],
    ['localhost.evil.example', [403, 403]],
    ['127.0.0.1.evil.example', [403, 403]],
    ['192.168.0.1', [403, 403]],
  ])('%j', async (host, expected) => {
    expect(await statuses(await serve(), { host })).toEqual(expected);
  });

  test('a request without one is rejected', async () => {
    const { port } = await serve();
    expect(await sendBytes(port, 'GET /healthz HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 403 /,
    );
    expect(await sendBytes(port, 'GET /healthz HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 403 /);
  });

  test('a request with an absolute target is for the host in it, whatever Host contains', async () => {
    const { port } = await serve();
    const responseTo = (target: string, host: string): Promise<string> =>
      sendBytes(port, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    const own = `127.0.0.1:${port}`;
    expect(await responseTo(`http://${own}/healthz?x`, 'evil.example')).toMatch(/^HTTP\/1\.1 200 /);
    expect(await responseTo(`http://${own}/accp/v1/frames`, own)).toMatch(/^HTTP\/1\.1 405 /);
    expect(await responseTo('http://evil.example/healthz', own)).toMatch(/^HTTP\/1\.1 403 /);
  });

  test('a page whose host name resolves to this machine is not a page of the server', async () => {
    const fixture = await serve();
    const host = `evil.example:${fixture.port}`;
    expect(await statuses(fixture, { host, origin: `http://${host}` })).toEqual([403, 403]);
  });
});

describe('an address that other machines can reach', () => {
  const endpoint = createEndpoint(demoAgent('echo'));

  test.each(['0.0.0.0', '::'])('%s is rejected without a token', async (host) => {
    await expect(startServer(endpoint, { host, port: 0 })).rejects.toMatchObject({
      name: 'ServeError',
      code: 'no-token',
    });
  });

  test('is accepted with a token or with insecure', async () => {
    const named = { host: 'agents.example', authorization: 'Bearer abc', body: REQUEST };
    for (const options of [{ token: 'abc' }, { insecure: true }]) {
      const { port } = await serve({ host: '0.0.0.0', ...options });
      expect((await ask(`http://127.0.0.1:${port}/accp/v1/frames`, named)).status).toBe(200);
    }
  });

  test('has no origin of its own', async () => {
    const { port } = await serve({ host: '0.0.0.0', insecure: true });
    const host = `agents.example:${port}`;
    expect((await ask(`http://127.0.0.1:${port}/accp/v1/frames`, { host, origin: `http://${host}` })).status).toBe(403);
  });
});

test('a request has no time limit if requestTimeoutMs is Infinity', async () => {
  const { http } = await serve({ requestTimeoutMs: Number.POSITIVE_INFINITY });
  expect((await ask(http)).status).toBe(200);
});

test.each([
  [{ token: '' }, 'token'],
  [{ token: 'with space' }, 'token'],
  [{ origins: ['https://a.example/path'] }, 'rigin'],
  [{ origins: ['*'] }, 'rigin'],
  [{ path: '/healthz' }, 'path must not'],
  [{ path: 'frames' }, 'path must'],
  [{ maxFrameBytes: 0 }, 'maxFrameBytes'],
  [{ maxConnections: 0 }, 'maxConnections'],
  [{ requestTimeoutMs: 0 }, 'requestTimeoutMs'],
  [{ closeGraceMs: -1 }, 'closeGraceMs'],
  [{ requestTimeoutMs: '5' as never }, 'requestTimeoutMs'],
  [{ closeGraceMs: '5' as never }, 'closeGraceMs'],
  [{ path: '/a b' }, 'path must'],
  [{ port: 70_000 }, 'port'],
  [{ port: 1.5 }, 'port'],
  [{ host: '' }, 'host'],
  [{ origins: 'https://a.example' as never }, 'origins must'],
])('invalid options are TypeErrors: %j', async (options, message) => {
  const endpoint = createEndpoint(demoAgent('echo'));
  await expect(startServer(endpoint, { port: 0, ...options })).rejects.toThrow(TypeError);
  await expect(startServer(endpoint, { port: 0, ...options })).rejects.toThrow(message);
});
