/** The `fetch` of Node: which version it uses, and when its connections close. */
import { createServer as createHttp1 } from 'node:http';
import { createServer as createHttp2, type ServerHttp2Session } from 'node:http2';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { connectAcp, listenAcp } from '../../../src/acp/http/index.js';
import { createServerFetch } from '../../../src/acp/http/node/http2-fetch.js';
import { createConnection } from '../../../src/acp/index.js';
import { deferred } from '../../../src/async/listeners.js';
import { cuttingProxy } from '../../helpers/cutting-proxy.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const close of closing.splice(0).reverse()) await close();
});

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const get = () => ({ method: 'GET', headers: {}, signal: new AbortController().signal, credentials: 'omit' }) as const;

test.each([
  ['answers', undefined],
  ['closes the connection', (socket: Socket) => void socket.destroy()],
])('a server of HTTP/1.1 that %s is sent HTTP/1.1', async (_, refuse) => {
  const server = createHttp1((request, response) => void response.end(request.httpVersion));
  if (refuse !== undefined) server.once('connection', refuse);
  const url = `http://${await listening(server)}/`;
  const { fetch, close } = createServerFetch(url, {}, 60_000);
  expect(await (await fetch(url, get())).text()).toBe('1.1');
  close();
});

test('a server that has accepted HTTP/2 is sent no other, although its connections fail', async () => {
  const handlers = { initialize: () => ({}), other: () => 'answered' };
  const server = await listenAcp((channel) => createConnection(channel, { handlers }), { allowHttp1: false });
  const bytes: number[] = [];
  const proxy = await cuttingProxy({ target: server.port, bytes: () => bytes.shift() ?? Number.POSITIVE_INFINITY });
  closing.push(server.close, proxy.close);
  const reconnect = { minDelayMs: 1, maxDelayMs: 5 };
  const connection = createConnection(connectAcp(`http://127.0.0.1:${proxy.port}/acp`, { reconnect }));
  closing.push(connection.close);
  await connection.request('initialize', {});
  await expect.poll(server.connections).toBe(1);
  bytes.push(1, 1);
  proxy.cut();
  await expect.poll(proxy.connections, { interval: 1 }).toBe(4);
  expect(await connection.request('other', {})).toBe('answered');
});

test.each(['http', 'https'])(
  'a server that says nothing is left in time, or with the channel, over %s',
  async (scheme) => {
    const sockets: Promise<unknown>[] = [];
    const connected = [deferred(), deferred()];
    const server = createServer((socket) => {
      sockets.push(
        new Promise((resolve) =>
          socket
            .on('error', () => {})
            .resume()
            .once('close', resolve),
        ),
      );
      connected[sockets.length - 1]!.resolve();
    });
    const url = `${scheme}://${await listening(server)}/acp`;
    const channel = connectAcp(url);
    const destroyed = createConnection(channel).request('initialize', {});
    await connected[0]!.promise;
    channel.destroy();
    await expect(destroyed).rejects.toMatchObject({ code: 'closed' });
    await sockets[0];
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const late = createConnection(connectAcp(url)).request('initialize', {});
    late.catch(() => undefined);
    await connected[1]!.promise;
    await vi.advanceTimersByTimeAsync(10_000);
    await expect(late).rejects.toThrow('10000 ms');
    await sockets[1];
  },
);

test('all connections are closed, also the last one after an older one', async () => {
  const sessions: ServerHttp2Session[] = [];
  const sockets: Socket[] = [];
  const server = createHttp2((_, response) => {
    response.on('error', () => undefined).writeHead(200);
    // The first response does not end.
    if (sessions.length === 1) response.write('begun');
    else response.end();
  });
  server.on('session', (session) => sessions.push(session.on('error', () => undefined)));
  server.on('connection', (socket: Socket) => sockets.push(socket));
  const url = `http://${await listening(server)}/`;
  const { fetch, close } = createServerFetch(url, {}, 60_000);
  const first = await fetch(url, get());
  sessions[0]!.goaway(0);
  // A request that crosses GOAWAY is refused.
  while (sessions.length === 1) await fetch(url, get()).catch(() => undefined);
  const ended = new Promise((resolve) => sessions[1]!.once('close', resolve));
  sockets[0]!.destroy();
  await expect(first.text()).rejects.toThrow();
  close();
  await ended;
});
