/** AACP over HTTP, on a socket. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRequestListener } from '@remix-run/node-fetch-server';
import { afterEach, describe, expect, test } from 'vitest';
import { createPacketHandler, type PacketHandlerOptions, postPacket } from '../../../src/aacp/bindings/http/index.js';
import { packetHash } from '../../../src/aacp/build/index.js';
import type { Dispatcher } from '../../../src/aacp/dispatch/index.js';
import { ACK, freshEnvelope, guarded, PACKET, REFUSED } from './fixture.js';

const cleanups: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function listen(handler: (request: Request) => Promise<Response>): Promise<{ url: string; port: number }> {
  const server = createServer(createRequestListener((request) => handler(request)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/aacp/v1/packets`, port };
}

const serve = (dispatcher: Dispatcher<unknown>, options?: PacketHandlerOptions) =>
  listen(createPacketHandler(dispatcher, options));

function request(
  url: string,
  body: string | Uint8Array<ArrayBuffer> | null,
  headers: Record<string, string> = {},
): Promise<Response> {
  const { nonce, sentAt } = freshEnvelope();
  const own = { 'content-type': 'application/aacp', 'aacp-nonce': nonce, 'aacp-sent-at': String(sentAt) };
  return fetch(url, { method: 'POST', body, headers: { ...own, ...headers } });
}

describe('a packet over HTTP', () => {
  test('is handled, recorded, and answered with the packet of the handler', async () => {
    const { dispatcher, audit, handled } = guarded();
    const { url } = await serve(dispatcher, { authenticate: () => ({ actor: 'planner' }) });
    const answer = await postPacket(url, PACKET, { envelope: { nonce: 'n1', sentAt: Date.now() } });
    expect(answer).toEqual({ ok: true, hash: packetHash(PACKET), packet: ACK, warnings: [] });
    expect(handled).toEqual([PACKET]);
    expect(audit.records().map(({ event, actor, nonce }) => [event, actor, nonce])).toEqual([
      ['handed-over', 'planner', 'n1'],
      ['done', 'planner', 'n1'],
    ]);
  });

  test('is answered with the JSON value of the handler, with warnings', async () => {
    const { dispatcher } = guarded({ handlers: { '*|*': () => ({ rows: [1, 2] }) } });
    const { url } = await serve(dispatcher);
    expect(await postPacket(url, 'FETCH|HR|return:A|aacp:1.1')).toMatchObject({
      ok: true,
      value: { rows: [1, 2] },
      warnings: ['missing-p'],
    });
  });

  test.each(REFUSED)('is refused with %s', async (_, text, reason) => {
    const { dispatcher, audit, handled } = guarded();
    const { url } = await serve(dispatcher);
    const response = await request(url, text);
    expect(await response.json()).toMatchObject({ ok: false, reason, status: response.status });
    expect(response.status).toBe(reason === 'no-handler' ? 501 : 422);
    expect(handled).toEqual([]);
    expect(audit.records().map(({ event, reason: logged }) => [event, logged])).toEqual([['refused', reason]]);
  });
});
