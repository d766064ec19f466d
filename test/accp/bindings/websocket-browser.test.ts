/** Web pages as clients: a real browser, with its own WebSocket. */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { beforeAll, describe, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { createEndpoint, createWebSocketEndpoint } from '../../../src/accp/bindings/websocket/index.js';
import { createCodec, type Message, streamMessages } from '../../../src/accp/codec/index.js';
import { parseFrame } from '../../../src/accp/index.js';
import { compileProgram } from '../../helpers/bundled-program.js';
import { listen } from './http-server.js';
import type { Transcript } from './programs/browser-page.js';
import { browse, chromium, chromiumHint } from './programs/chromium.js';

const PATIENCE = 90_000;

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of request.setEncoding('utf8')) text += part;
  return text;
}

/** The answers of the server, which drops connections and sends messages on its own when it is requested to. */
async function runPage(): Promise<{ transcript: Transcript; handled: Map<string, number>; connections: number }> {
  const handled = new Map<string, number>();
  let connections = 0;
  const endpoint = createEndpoint({
    codec: createCodec(),
    agent: 'server',
    handle: async ({ intent, operation, payload, envelope }: Message, { session }) => {
      if (intent !== 'req') return null;
      const key = `${operation} ${payload['n'] ?? ''}`.trim();
      handled.set(key, (handled.get(key) ?? 0) + 1);
      if (operation === 'count') {
        const numbers = Array.from({ length: Number(payload['to']) }, (_, n) => `${n} `);
        return streamMessages(numbers, { correlationId: envelope.correlation_id ?? envelope.msg_id, operation });
      }
      if (operation === 'drop') for (const client of webSockets.clients) client.terminate();
      if (operation === 'note') {
        const note = (n: number) => ({ intent: 'sync', operation: 'note', payload: { n } });
        for (let n = 0; n < Number(payload['times']); n++) void sockets.send(session.id, note(n));
      }
      return { intent: 'done', operation, payload };
    },
  });
  const sockets = createWebSocketEndpoint(endpoint);
  const program = await compileProgram(new URL('programs/browser-page.ts', import.meta.url), { platform: 'browser' });
  const script = readFileSync(program.file, 'utf8');
  program.remove();
  let posted: (text: string) => void = () => undefined;
  const transcript = new Promise<string>((resolve) => {
    posted = resolve;
  });
  const server = createServer(async (request, response) => {
    if (request.url === '/transcript') posted(await bodyOf(request));
    const isScript = request.url === '/page.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html; charset=utf-8');
    response.end(
      isScript ? script : '<!doctype html><title>frames</title><script type="module" src="/page.js"></script>',
    );
  });
  const webSockets = new WebSocketServer({ server, path: '/accp/v1/frames' });
  webSockets.on('connection', (socket) => {
    connections++;
    sockets.accept(socket);
  });
  const { port, close } = await listen(server);
  const browser = browse(`http://127.0.0.1:${port}/`);
  let timer: NodeJS.Timeout | undefined;
  try {
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`The page has said nothing. ${browser.log()}`)), PATIENCE);
    });
    const result = JSON.parse(await Promise.race([transcript, late])) as Transcript | { readonly error: string };
    if ('error' in result) throw new Error(`The page has failed: ${result.error}`);
    return { transcript: result, handled, connections };
  } finally {
    clearTimeout(timer);
    await browser.close();
    await sockets.close();
    endpoint.close();
    webSockets.close();
    await close();
  }
}

describe.skipIf(chromium === undefined)(`a page in Chromium${chromiumHint}`, () => {
  let ran: Awaited<ReturnType<typeof runPage>>;
  beforeAll(async () => {
    ran = await runPage();
  }, 2 * PATIENCE);

  test('exchanges frames over its own WebSocket', () => {
    const { protocol, frames, closeCode } = ran.transcript.plain;
    expect(protocol).toBe('accp');
    const [registry, answer] = frames.map((frame) => parseFrame(frame));
    expect(registry).toMatchObject({ agent: 'server', intent: 'sync', operation: 'registry' });
    expect(answer).toMatchObject({ agent: 'server', intent: 'done', operation: 'echo' });
    expect(closeCode).toBe(1000);
  });

  test('connects a session: any text is returned unchanged, and a stream in order', () => {
    const { echo, text } = ran.transcript.link;
    expect(echo).toEqual({ text: 'Grüße, {|} 42' });
    expect(text).toBe('0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 ');
  });

  test('continues over another connection when the server drops it: all requests are answered, and were handled once', () => {
    const { answers, states, notes } = ran.transcript.link;
    expect(answers).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    expect(states).toEqual(['open', 'reconnecting', 'open', 'closed']);
    expect(ran.connections).toBe(3);
    for (const key of ['echo 1', 'drop 2', 'echo 3']) expect([key, ran.handled.get(key)]).toEqual([key, 1]);
    // The server sends messages, too.
    expect(notes).toEqual([0, 1, 2]);
  });
});
