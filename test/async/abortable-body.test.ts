/** Requests of which `fetch` forgets the signal: it does in Node 20 when garbage is collected while their bodies are read. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fetchRules } from '../../src/aacp/rules/index.js';
import { connectAcp, listenAcp } from '../../src/acp/http/index.js';
import { createConnection } from '../../src/acp/index.js';
import { dialOf } from '../../src/arcp/client/index.js';
import { createRuntime, listenHttp } from '../../src/arcp/runtime/index.js';
import { abortableBody } from '../../src/async/abort.js';
import { deferred } from '../../src/async/listeners.js';
import { collectGarbage } from '../helpers/memory.js';

describe('a body that does not end', () => {
  let begun = deferred();
  let closed = deferred();
  const server = createServer((_request, response) => {
    response.once('close', () => closed.resolve());
    response.write('[');
    begun.resolve();
  });
  let url: string;
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  test.each<[string, (signal: AbortSignal) => Promise<unknown>]>([
    [
      'of fetch',
      async (signal) => {
        const { body } = await fetch(url, { signal });
        for await (const _ of abortableBody(body!, signal));
      },
    ],
    ['of rules', (signal) => fetchRules(url, { signal, sha256: '0'.repeat(64) })],
  ])('%s fails with the reason of the signal, and its connection is closed', async (_, read) => {
    [begun, closed] = [deferred(), deferred()];
    const aborter = new AbortController();
    const reading = read(aborter.signal);
    await begun.promise;
    // The request is unreachable when its response has been received.
    await new Promise((resolve) => setTimeout(resolve, 50));
    collectGarbage();
    aborter.abort(new Error('enough'));
    await expect(reading).rejects.toThrow('enough');
    await closed.promise;
  });
});

test('a channel over server-sent events closes its connection when it is destroyed', async () => {
  const runtime = createRuntime();
  const { url, close } = await listenHttp(runtime, { port: 0 });
  const channel = await dialOf(`sse:${url}`)();
  collectGarbage();
  channel.destroy();
  await close();
  await runtime.close();
});

test('a channel of ACP closes its streams when it is destroyed', async () => {
  const server = await listenAcp((channel) => createConnection(channel, { handlers: { initialize: () => ({}) } }));
  const connection = createConnection(connectAcp(server.http, { fetch }));
  await connection.request('initialize', {});
  collectGarbage();
  await connection.close();
  await server.close();
});
