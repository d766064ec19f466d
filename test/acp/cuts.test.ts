/** A transport's end is not the answer's end: JSON-RPC over sockets, cut between two messages and inside one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { connectSocket, createConnection, listenSocket } from '../../src/acp/index.js';
import { behind, cuttingProxy, lineEnds, SOCKET_ENDINGS, type SocketEnding } from '../helpers/cutting-proxy.js';

const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

/** What a client hears of five updates and an answer, cut behind the message that holds `what`. */
async function prompt(isUnix: boolean, how: SocketEnding, what: string, more: number) {
  const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-acp-cuts-'));
  ending.push(() => rmSync(folder, { recursive: true, force: true }));
  const server = await listenSocket(isUnix ? path.join(folder, 'agent') : { port: 0 }, (channel) => {
    const agent = createConnection(channel, {
      handlers: {
        prompt: async () => {
          for (let n = 0; n < 5; n++) await agent.notify('update', { n, filler: 'x'.repeat(50) });
          return { stopReason: 'end_turn' };
        },
      },
    });
    ending.push(() => agent.close());
  });
  ending.push(server.close);
  const { address } = server;
  const proxy = await cuttingProxy({
    target: typeof address === 'string' ? address : address.port,
    listen: isUnix ? path.join(folder, 'proxy') : 0,
    ending: how,
    cut: behind(lineEnds, what, more),
  });
  ending.push(proxy.close);
  const { place } = proxy;
  const updates: unknown[] = [];
  const client = createConnection(await connectSocket(typeof place === 'string' ? place : { port: place }), {
    handlers: { update: ({ n }: { n: number }) => void updates.push(n) },
  });
  ending.push(() => client.close());
  const end = await client.request('prompt').then(
    (answer) => answer,
    ({ code }: { code: string }) => code,
  );
  return { updates, end };
}

describe.each([
  ['a Unix-domain socket', true],
  ['TCP', false],
])('over %s', (_, isUnix) => {
  describe.each(SOCKET_ENDINGS)('a connection that ends by %s', (how) => {
    test.each([
      ['between two messages', 0],
      ['inside a message', 40],
      ['before the line end of a message', -1],
    ])('%s: the request rejects at once, and half a message is none', async (_where, more) => {
      const { updates, end } = await prompt(isUnix, how, '"n":2', more);
      expect(end).toBe('closed');
      expect(updates).toEqual([0, 1, 2].slice(0, updates.length));
      if (how === 'fin') expect(updates).toHaveLength(3);
    });

    test('behind the answer: the request has it', async () => {
      const { updates, end } = await prompt(isUnix, how, 'end_turn', 0);
      if (how === 'fin')
        expect({ updates, end }).toEqual({ updates: [0, 1, 2, 3, 4], end: { stopReason: 'end_turn' } });
    });
  });
});
