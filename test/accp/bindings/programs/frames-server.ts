/** A server of frames in a process of its own: over HTTP and, on the same port, over WebSocket. It prints its port. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { createRequestListener } from '@remix-run/node-fetch-server';
import { WebSocketServer } from 'ws';
import { createEndpoint, createHandler, FRAMES_PATH } from '../../../../src/accp/bindings/http/index.js';
import { createWebSocketEndpoint } from '../../../../src/accp/bindings/websocket/index.js';
import { createCodec, type Message, streamMessages } from '../../../../src/accp/codec/index.js';
import { tell } from '../../../helpers/tell.js';

/** The figures that the server returns at `/figures`. */
export interface ServerFigures {
  /** Bytes in memory, currently and at most. */
  readonly rss: number;
  readonly peak: number;
  /** Number of handled requests, of chunks that were made, and of requests whose sender has disconnected. */
  readonly handled: number;
  readonly produced: number;
  readonly cancelled: number;
  /** Number of sessions that have a connection. */
  readonly connected: number;
}

let handled = 0;
let produced = 0;
let cancelled = 0;

async function* chunks(count: number, size: number, signal: AbortSignal): AsyncGenerator<string> {
  const text = 'x'.repeat(size);
  signal.addEventListener('abort', () => cancelled++, { once: true });
  for (let n = 0; n < count && !signal.aborted; n++) {
    produced++;
    yield text;
  }
}

/** Chunks until the stream is cancelled. */
async function* trickle(signal: AbortSignal): AsyncGenerator<string> {
  signal.addEventListener('abort', () => cancelled++, { once: true });
  while (!signal.aborted) {
    produced++;
    yield 'x';
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const endpoint = createEndpoint({
  codec: createCodec(),
  agent: 'server',
  handle: async ({ intent, operation, payload, envelope }: Message, { signal }) => {
    if (intent !== 'req') return null;
    handled++;
    const cid = envelope.correlation_id ?? envelope.msg_id;
    if (operation === 'flood')
      return streamMessages(chunks(Number(payload['count']), Number(payload['size']), signal), {
        correlationId: cid,
        operation,
      });
    if (operation === 'trickle') return streamMessages(trickle(signal), { correlationId: cid, operation });
    // Answered when the request is aborted.
    if (operation === 'hang') await new Promise((resolve) => signal.addEventListener('abort', resolve));
    return {
      intent: 'done',
      operation,
      payload: operation === 'measure' ? { length: String(payload['text']).length } : payload,
    };
  },
});
const sockets = createWebSocketEndpoint(endpoint);
const frames = createRequestListener(createHandler(endpoint));

const server = createServer((request, response) => {
  if (request.url !== '/figures') return void frames(request, response);
  const figures: ServerFigures = {
    rss: process.memoryUsage.rss(),
    peak: process.resourceUsage().maxRSS * 1024,
    ...{ handled, produced, cancelled },
    connected: sockets.connected().length,
  };
  response.end(JSON.stringify(figures));
});
new WebSocketServer({ server, path: FRAMES_PATH, maxPayload: 1_048_576 }).on('connection', (socket) =>
  sockets.accept(socket),
);
// Ends with the process that has started it.
process.stdin.on('end', () => process.exit()).resume();
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () =>
  tell(String((server.address() as AddressInfo).port)),
);
