/** Every close code and reason, over the WebSockets of Chromium, of Node and of the package ws. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { createSession } from '../../../src/accp/codec/index.js';
import { publicCode } from '../../../src/channels/websocket.js';
import { type CompiledProgram, compileProgram } from '../../helpers/bundled-program.js';
import { browse, chromium, chromiumHint } from '../../helpers/chromium.js';
import { CLOSES, closeAll } from './programs/closing.js';
import { startServer } from './websocket-fixture.js';

let program: CompiledProgram;
beforeAll(async () => {
  program = await compileProgram(new URL('programs/closing-page.ts', import.meta.url), { platform: 'browser' });
});
afterAll(() => program.remove());

/** Returns the part of a reason that fits into 123 bytes of UTF-8, without half a character. */
function held(reason: string): string {
  let text = '';
  for (const character of Buffer.from(reason).toString()) {
    if (Buffer.byteLength(text + character) > 123) break;
    text += character;
  }
  return text;
}

const MEANT = CLOSES.map(({ code = 1000, reason }) => [code, held(reason)]);

/** @param run closes the sockets, given the server's address; its result is called at the end */
async function closesOf(run: (url: string) => Promise<() => unknown> | (() => unknown)) {
  const closes: [number, string][] = [];
  let settle!: (outcome: string) => void;
  const outcome = new Promise<string>((resolve) => {
    settle = resolve;
  });
  const server = createServer((request, response) => {
    const isScript = request.url === '/page.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? readFileSync(program.file) : '<script type="module" src="/page.js"></script>');
  });
  let open = 0;
  new WebSocketServer({ server }).on('connection', (socket, { url }) => {
    open++;
    socket.on('message', (text) => {
      if (url === '/outcome') settle(String(text));
      else if (url === '/long') {
        const { id } = JSON.parse(String(text)) as { id?: number | null };
        if (typeof id === 'number') socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: 'x'.repeat(5000) }));
      }
    });
    socket.on('close', (code, reason) => {
      open--;
      if (url !== '/outcome')
        closes[url === '/long' ? CLOSES.length : Number(url!.slice(1))] = [publicCode(code), String(reason)];
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const end = await run(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const failure = await outcome;
  await vi.waitFor(() => expect(open).toBe(0), { timeout: 20_000 });
  await end();
  server.close();
  return { failure, closes };
}

const EXPECTED = { failure: 'too-long, too-long', closes: [...MEANT, [1009, 'the message is too long']] };

test('of the package ws', async () => {
  const all = await closesOf(async (url) => {
    const failure = await closeAll((path) => new WebSocket(url + path));
    const last = new WebSocket(`${url}/outcome`);
    last.on('open', () => last.send(failure, () => last.close()));
    return () => undefined;
  });
  expect(all).toEqual(EXPECTED);
});

test('of Node', async () => {
  const all = await closesOf((url) => {
    const source = `globalThis.target = ${JSON.stringify(url)}; await import(${JSON.stringify(program.file)});`;
    const flags = ['--experimental-websocket', '--no-warnings', '--input-type=module', '--eval', source];
    const child = spawn(process.execPath, flags, { stdio: ['ignore', 'ignore', 'inherit'] });
    return () => child.kill();
  });
  expect(all).toEqual(EXPECTED);
});

test.skipIf(chromium === undefined)(`of Chromium${chromiumHint}`, { timeout: 90_000 }, async () => {
  const all = await closesOf((url) => browse(url.replace('ws:', 'http:')).close);
  expect(all).toEqual(EXPECTED);
});

test.each([
  ['short', 'gone'],
  ['empty', ''],
  ['of 123 bytes', 'x'.repeat(123)],
  ['of 124 bytes', 'x'.repeat(124)],
  ['of 62 characters of two bytes', 'é'.repeat(62)],
  ['of astral characters', '\u{1f600}'.repeat(40)],
  ['of lone surrogates', '\ud800'.repeat(60)],
  ['of many sentences', 'the quota of the plan is used up; '.repeat(100)],
])('a session that is disconnected stays disconnected: a reason %s', async (_, reason) => {
  const fixture = await startServer();
  const session = createSession({ agent: 'client', sequence: 'sender' });
  const link = await fixture.connect({ session });
  await vi.waitFor(() => expect(fixture.sockets.connected()).toContain(session.id), { timeout: 20_000 });
  expect(fixture.sockets.disconnect(session.id, reason)).toBe(true);
  const error = await link.closed;
  expect(error).toMatchObject({ code: 'refused', closeCode: 1008 });
  expect(error!.message).toContain(held(reason));
  // It cannot reconnect either, even if the close frame was lost.
  const again = fixture.connect({ session: createSession({ agent: 'client', sequence: 'sender', id: session.id }) });
  await expect(again).rejects.toMatchObject({ code: 'refused', closeCode: 1008 });
  expect(fixture.sockets.connected()).toEqual([]);
  await fixture.close();
});
