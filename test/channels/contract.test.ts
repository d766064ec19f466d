/** The contract of channels, for the transports of this machine. */
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import type { Channel } from '../../src/channels/channel.js';
import { memoryChannels } from '../../src/channels/memory.js';
import { eventStreamChannel, type Inbox } from '../../src/channels/node/event-stream-channel.js';
import { connectFifo, fifoPair, listenFifo } from '../../src/channels/node/fifo.js';
import { type AnyRequest, type AnyResponse, httpServer } from '../../src/channels/node/http-server.js';
import { connectHttp2, http2Channel } from '../../src/channels/node/http2.js';
import { type Address, connectSocket, listenSocket } from '../../src/channels/node/socket.js';
import { connectEventStream } from '../../src/channels/sse.js';
import { webSocketChannel } from '../../src/channels/websocket.js';
import { channelContract, type Ends, type Open } from './contract.js';

const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-channels-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

/** Starts a relay, whose connections can be cut. */
async function relayTo(
  target: { port: number } | { path: string },
): Promise<{ port: number; cut: () => void; close: () => void }> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ ...target, allowHalfOpen: true });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    }
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const close = (): void => {
    cut();
    server.close();
  };
  return { port: (server.address() as { port: number }).port, cut, close };
}

const overMemory: Open = async () => {
  const [here, there] = memoryChannels();
  return { here, there, close: async () => {} };
};

const overSocket =
  (place: () => Address): Open =>
  async ({ maxTextBytes: maxLineBytes } = {}): Promise<Ends> => {
    let accept!: (channel: Channel) => void;
    const accepted = new Promise<Channel>((resolve) => {
      accept = resolve;
    });
    const listener = await listenSocket(place(), accept, { maxLineBytes });
    const { address } = listener;
    const relay = await relayTo(typeof address === 'string' ? { path: address } : address);
    const here = await connectSocket({ port: relay.port }, { maxLineBytes });
    const close = async (): Promise<void> => {
      relay.close();
      await listener.close();
    };
    return { here, there: await accepted, cut: relay.cut, close };
  };

const overPipes: Open = async ({ maxTextBytes: maxLineBytes } = {}) => {
  const pair = fifoPair(path.join(folder, String(++files)));
  let accept!: (channel: Channel) => void;
  const accepted = new Promise<Channel>((resolve) => {
    accept = resolve;
  });
  let release!: () => void;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const onConnection = (channel: Channel): Promise<void> => {
    accept(channel);
    return released;
  };
  const listener = await listenFifo(pair, onConnection, { maxLineBytes });
  const here = await connectFifo(pair, { maxLineBytes });
  const close = (): Promise<void> => {
    release();
    return listener.close();
  };
  return { here, there: await accepted, close };
};

const overWebSocket: Open = async ({ maxTextBytes: maxLength } = {}) => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await new Promise((resolve) => server.once('listening', resolve));
  const accepted = new Promise<WebSocket>((resolve) => server.once('connection', resolve));
  const relay = await relayTo(server.address() as { port: number });
  const here = webSocketChannel(new WebSocket(`ws://127.0.0.1:${relay.port}`, { perMessageDeflate: false }), {
    maxLength,
  });
  const there = webSocketChannel(await accepted, { maxLength });
  const close = async (): Promise<void> => {
    relay.close();
    server.close();
  };
  return { here, there, cut: relay.cut, close };
};

async function bodyOf(request: AnyRequest): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const overHttp =
  (kind: 'http2' | 'sse', connectTo: (url: URL, maxTextBytes?: number) => Promise<Channel>): Open =>
  async ({ maxTextBytes } = {}) => {
    let accept!: (channel: Channel) => void;
    const accepted = new Promise<Channel>((resolve) => {
      accept = resolve;
    });
    const inboxes = new Map<string, Inbox>();
    const { server, close } = httpServer({ maxConnections: 10 }, (request, response) => {
      void answer(request, response);
    });
    async function answer(request: AnyRequest, response: AnyResponse): Promise<void> {
      const inbox = inboxes.get(String(request.headers['test-connection-id']));
      if (request.method === 'GET' || kind === 'http2') {
        response.writeHead(200, { 'content-type': kind === 'sse' ? 'text/event-stream' : 'application/x-ndjson' });
        if ('stream' in response) accept(http2Channel(response.stream, { maxLineBytes: maxTextBytes }));
        else {
          const ends = eventStreamChannel(response, 'c1', { maxLineBytes: maxTextBytes });
          inboxes.set('c1', ends.inbox);
          response.once('close', () => inboxes.delete('c1'));
          accept(ends.channel);
        }
      } else if (request.method === 'POST') {
        const body = await bodyOf(request);
        const isTaken = inbox !== undefined && (await inbox.take(body, Number(request.headers['test-sequence'])));
        response.writeHead(isTaken ? 202 : 404).end();
      } else {
        inbox?.end();
        response.writeHead(204).end();
      }
    }
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const relay = await relayTo(server.address() as { port: number });
    const here = await connectTo(new URL(`http://127.0.0.1:${relay.port}/`), maxTextBytes);
    return {
      here,
      there: await accepted,
      cut: relay.cut,
      close: async () => {
        relay.close();
        await close();
      },
    };
  };

channelContract('memory', overMemory, { isLimited: false });
channelContract(
  'TCP',
  overSocket(() => ({ port: 0 })),
);
channelContract(
  'a Unix-domain socket',
  overSocket(() => path.join(folder, `${++files}.sock`)),
);
channelContract('two named pipes', overPipes);
channelContract('a WebSocket', overWebSocket);
channelContract(
  'HTTP/2',
  overHttp('http2', (url, maxLineBytes) => connectHttp2(url, { maxLineBytes })),
);
channelContract(
  'server-sent events and POST',
  overHttp('sse', (url, maxTextBytes) => connectEventStream(url, { protocol: 'test', maxTextBytes })),
);
