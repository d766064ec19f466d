import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { Cookies } from '../../../src/acp/http/cookies.js';
import { connectAcp, listenAcp } from '../../../src/acp/http/index.js';
import { ourTurn, servePrompts, TURN } from './turn.js';

const headers = (...cookies: string[]) => ({ getSetCookie: () => cookies });

test.each([
  ['nothing', [], undefined],
  ['a value', ['a=1'], 'a=1'],
  ['several', ['a=1; Path=/acp', 'b=2; HttpOnly; Max-Age=60'], 'a=1; b=2'],
  ['the last of a name', ['a=1', 'a=2'], 'a=2'],
  ['a value with "="', ['a=b=c'], 'a=b=c'],
  ['only those of the path', ['a=1; Path=/other', 'b=2; Path=/', 'c=3; Path=/ac'], 'b=2'],
  ['none that is deleted', ['a=1', 'a=; Max-Age=0', 'b=1', 'b=; Expires=Thu, 01 Jan 1970 00:00:00 GMT'], undefined],
  ['none without a name', ['=1', 'x'], undefined],
])('cookies return %s', (_, given, expected) => {
  const cookies = new Cookies('/acp');
  for (const one of given) cookies.store(headers(one));
  expect(cookies.header()).toBe(expected);
});

test('the client returns cookies with all later requests of the connection', async () => {
  const server = await listenAcp((channel) => servePrompts(channel), { affinityCookie: 'backend=3; Path=/acp' });
  const seen: string[] = [];
  // A load balancer, which has the cookies of the requests.
  const balancer = createServer((request, response) => {
    seen.push(`${request.method} ${request.headers.cookie ?? '-'}`);
    const { host: _, ...rest } = request.headers;
    const body = new ReadableStream({
      start: (controller) => {
        request.on('data', (chunk) => controller.enqueue(chunk)).on('end', () => controller.close());
      },
    });
    const isPost = request.method === 'POST';
    const { connection: __, 'transfer-encoding': ___, 'content-length': ____, ...sent } = rest;
    fetch(server.http, {
      ...{ method: request.method!, headers: sent as Record<string, string> },
      ...(isPost ? { body, duplex: 'half' } : {}),
    } as RequestInit)
      .then(async (answer) => {
        response.writeHead(
          answer.status,
          [...answer.headers].filter(([name]) => !/^(connection|keep-alive|transfer-encoding)$/.test(name)).flat(),
        );
        for await (const chunk of answer.body ?? []) response.write(chunk);
        response.end();
      })
      .catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => balancer.listen(0, '127.0.0.1', resolve));
  const { port } = balancer.address() as AddressInfo;
  expect(await ourTurn(connectAcp(`http://127.0.0.1:${port}/acp`, { fetch }))).toEqual(TURN);
  const [first, ...rest] = seen;
  expect(first).toBe('POST -');
  expect(rest.length).toBeGreaterThan(4);
  expect(rest.filter((request) => !request.endsWith(' backend=3'))).toEqual([]);
  balancer.closeAllConnections();
  await new Promise((resolve) => balancer.close(resolve));
  await server.close();
});
