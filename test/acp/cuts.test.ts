/** Connections over sockets that are cut between two messages or inside one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { connectSocket, createConnection, listenSocket } from '../../src/acp/index.js';
import { behind, cuttingProxy, lineEnds, SOCKET_ENDINGS, type SocketEnding } from '../helpers/cutting-proxy.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of cleanups.splice(0).toReversed()) await end();
});

/** Returns the updates and the outcome that a client receives if the connection is cut after the message that contains `text`. */
async function prompt(isUnix: boolean, ending: SocketEnding, text: string, more: number) {
  const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-acp-cuts-'));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  const server = await listenSocket(isUnix ? path.join(folder, 'agent') : { port: 0 }, (channel) => {
    const agent = createConnection(channel, {
      handlers: {
        prompt: async () => {
          for (let n = 0; n < 5; n++) await agent.notify('update', { n, filler: 'x'.repeat(50) });
          return { stopReason: 'end_turn' };
        },
      },
    });
    cleanups.push(() => agent.close());
  });
  cleanups.push(server.close);
  const { address } = server;
  const proxy = await cuttingProxy({
    target: typeof address === 'string' ? address : address.port,
    listen: isUnix ? path.join(folder, 'proxy') : 0,
    ending,
    cut: behind(lineEnds, text, more),
  });
  cleanups.push(proxy.close);
  const { place } = proxy;
  const updates: unknown[] = [];
  const client = createConnection(await connectSocket(typeof place === 'string' ? place : { port: place }), {
    handlers: { update: ({ n }: { n: number }) => void updates.push(n) },
  });
  cleanups.push(() => client.close());
  const end = await client.request('prompt').then(
    (answer) => answer,
    ({ code }: { code: string }) => code,
  );
  return { updates, end };
}

describe.each([
  ['a Unix domain socket', true],
  ['TCP', false],
])('over %s', (_, isUnix) => {
  describe.each(SOCKET_ENDINGS)('a connection that ends by %s', (ending) => {
    test.each([
      ['between two messages', 0],
      ['inside a message', 40],
      ['before the line end of a message', -1],
    ])('%s: the request rejects, and the partial message is not delivered', async (_where, more) => {
      const { updates, end } = await prompt(isUnix, ending, '"n":2', more);
      expect(end).toBe('closed');
      expect(updates).toEqual([0, 1, 2].slice(0, updates.length));
      if (ending === 'fin') expect(updates).toHaveLength(3);
    });

    test('after the response: the request resolves', async () => {
      const { updates, end } = await prompt(isUnix, ending, 'end_turn', 0);
      if (ending === 'fin')
        expect({ updates, end }).toEqual({ updates: [0, 1, 2, 3, 4], end: { stopReason: 'end_turn' } });
    });
  });
});
