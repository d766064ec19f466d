/** Closing WebSockets: standard ones take few codes, and none takes a reason of more than 123 bytes. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { closeWebSocket, publicCode } from '../../src/bindings/web-socket.js';
import { ended, start } from '../helpers/child.js';
import { compiled } from '../helpers/cli.js';
import { runs } from '../helpers/runs.js';

const servers: WebSocketServer[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    for (const client of server.clients) client.terminate();
    server.close();
  }
});

async function serve(): Promise<{ readonly server: WebSocketServer; readonly url: string }> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  servers.push(server);
  await once(server, 'listening');
  return { server, url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const REASONS = [
  '',
  'gone',
  'x'.repeat(123),
  'x'.repeat(124),
  'é'.repeat(62),
  `${'x'.repeat(121)}\u{1f600}`,
  '\ud800'.repeat(50),
];

test('a socket of ws sends the code, and as much of the reason as fits', async () => {
  const { server, url } = await serve();
  for (const code of [1000, 1001, 1003, 1008, 1009, 1011, 3000, 4999]) {
    const [reason] = REASONS.slice(code % REASONS.length);
    const socket = new WebSocket(url);
    const [peer] = (await Promise.all([once(server, 'connection'), once(socket, 'open')]))[0] as [WebSocket];
    closeWebSocket(socket, code, reason);
    const [got, text] = (await once(peer, 'close')) as [number, Buffer];
    expect(got).toBe(code);
    expect(Buffer.from(reason!).toString().startsWith(text.toString())).toBe(true);
    expect(text.length).toBeGreaterThan(Math.min(119, Buffer.byteLength(reason!) - 1));
  }
});

test('a reason is cut at the border of a character, to 123 bytes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (reason) => {
      let sent = '';
      const close = (_: unknown, text = ''): void => {
        sent = text;
      };
      closeWebSocket({ close }, 1000, reason);
      expect(reason.startsWith(sent)).toBe(true);
      expect(Buffer.byteLength(sent)).toBeLessThanOrEqual(123);
      const next = reason.slice(sent.length, sent.length + 2);
      if (next !== '') expect(Buffer.byteLength(sent + next)).toBeGreaterThan(121);
    }),
    runs(300),
  );
});

describe("Node's own WebSocket", () => {
  /** Runs a program of an ES module on a standard WebSocket; it prints JSON. */
  async function standard(program: string, ...args: readonly string[]): Promise<unknown> {
    const flags = ['--experimental-websocket', '--no-warnings', '--input-type=module', '--eval', program];
    const { code, stdout, stderr } = await ended(start([process.execPath, ...flags, ...args], { stdin: '' }));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return JSON.parse(stdout);
  }

  test('a message that is too long ends the connection with 1009 as 4109, and the call that waits', async () => {
    const { server, url } = await serve();
    const closed = new Promise<unknown>((resolve) => {
      server.on('connection', (socket) => {
        socket.on('message', (text) => {
          const { id } = JSON.parse(String(text)) as { readonly id: number };
          socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: 'x'.repeat(5000) }));
        });
        socket.on('close', (code) => resolve([code, publicCode(code)]));
      });
    });
    const seen = await standard(
      `const [library, url] = process.argv.slice(1);
       const { createConnection, webSocketChannel } = await import(library);
       const connection = createConnection(webSocketChannel(new WebSocket(url), { maxLength: 1000 }));
       const outcome = await connection.request('report').then(() => 'a value', ({ code }) => code);
       console.log(JSON.stringify({ outcome, closed: (await connection.closed)?.code }));
       process.exit();`,
      compiled('src/acp/index.ts'),
      url,
    );
    expect(seen).toEqual({ outcome: 'too-long', closed: 'too-long' });
    expect(await closed).toEqual([4109, 1009]);
  });
});
