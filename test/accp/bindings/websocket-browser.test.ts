/** Web pages as clients: a real browser, with its own WebSocket. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { createEndpoint, createWebSocketEndpoint } from '../../../src/accp/bindings/websocket/index.js';
import { createCodec, type Message, streamMessages } from '../../../src/accp/codec/index.js';
import { parseFrame } from '../../../src/accp/index.js';
import { chromium, chromiumHint, PAGE_MS, servePage } from '../../helpers/chromium.js';
import type { Transcript } from './programs/browser-page.js';

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
  const webSockets = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  webSockets.on('connection', (socket) => {
    connections++;
    sockets.accept(socket);
  });
  await once(webSockets, 'listening');
  const page = await servePage<Transcript>(new URL('programs/browser-page.ts', import.meta.url));
  try {
    const url = `ws://127.0.0.1:${(webSockets.address() as AddressInfo).port}`;
    return { transcript: await page.run({ url }), handled, connections };
  } finally {
    await page.close();
    await sockets.close();
    endpoint.close();
    webSockets.close();
  }
}

describe.skipIf(chromium === undefined)(`a page in Chromium${chromiumHint}`, () => {
  let ran: Awaited<ReturnType<typeof runPage>>;
  beforeAll(async () => {
    ran = await runPage();
  }, 2 * PAGE_MS);

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
