/** Messages that exceed the limit of a transport: the client receives the refusal before the connection ends. */
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { dialOf } from '../../src/arcp/client/index.js';
import type { Dial } from '../../src/arcp/client/types.js';
import { createRuntime, listenHttp, listenUnix, listenWebSocket, type Runtime } from '../../src/arcp/runtime/index.js';
import { Wire } from './runtime/wire.js';

const LIMIT = 2000;

const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

const TRANSPORTS: Readonly<Record<string, (runtime: Runtime) => Promise<{ dial: Dial; close: () => unknown }>>> = {
  TCP: async (runtime) => {
    const { address, close } = await listenUnix(runtime, { port: 0 }, { maxLineBytes: LIMIT });
    return { dial: dialOf(`tcp://127.0.0.1:${(address as { readonly port: number }).port}`), close };
  },
  'a WebSocket': async (runtime) => {
    const { url, close } = await listenWebSocket(runtime, { port: 0, maxMessageBytes: LIMIT });
    return { dial: dialOf(url), close };
  },
  'HTTP/2': async (runtime) => {
    const { url, close } = await listenHttp(runtime, { port: 0, maxMessageBytes: LIMIT });
    return { dial: dialOf(url.replace('http:', 'http2:')), close };
  },
  'server-sent events and POST': async (runtime) => {
    const { url, close } = await listenHttp(runtime, { port: 0, maxMessageBytes: LIMIT });
    return { dial: dialOf(`sse:${url}`), close };
  },
};

describe.each(Object.keys(TRANSPORTS))('over %s, a message that is too long', (name) => {
  // The package of WebSockets reads no message that is far too long.
  const lengths = [LIMIT + 1, 100_000, ...(name === 'a WebSocket' ? [] : [8_000_000])];
  test.each(lengths)('by %d bytes is refused, and the connection ends', async (length) => {
    const runtime = createRuntime();
    const { dial, close } = await TRANSPORTS[name]!(runtime);
    ending.push(close, () => runtime.close());
    for (let n = 0; n < 3; n++) {
      const wire = new Wire(await dial());
      await wire.open();
      const { id } = wire.send('tool.invoke', { tool: 'echo', arguments: { text: 'x'.repeat(length) } });
      const { payload } = await wire.answer('nack', { id });
      expect(payload).toMatchObject({ code: 'PAYLOAD_TOO_LARGE', details: { reason: 'too_long' } });
      await wire.ended();
      wire.channel.destroy();
    }
    await expect.poll(() => runtime.counts().connections).toBe(0);
  });
});

test('over a WebSocket, a message that is far too long ends the connection with 1009', async () => {
  const runtime = createRuntime();
  const { url, close } = await listenWebSocket(runtime, { port: 0, maxMessageBytes: LIMIT });
  ending.push(close, () => runtime.close());
  const socket = new WebSocket(url, ['arcp']);
  const code = new Promise((resolve) => socket.once('close', resolve));
  socket.once('open', () => socket.send(JSON.stringify('x'.repeat(8_000_000))));
  expect(await code).toBe(1009);
});
