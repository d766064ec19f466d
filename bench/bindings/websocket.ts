/** Frames over WebSocket on the loopback, with and without sessions at both ends. */
import { WebSocket, WebSocketServer } from 'ws';
import {
  connectWebSocket,
  createEndpoint,
  createWebSocketEndpoint,
  type Link,
} from '../../src/accp/bindings/websocket/index.js';
import { createCodec, createSession } from '../../src/accp/codec/index.js';
import { type BindingBench, CONNECTIONS, MESSAGE, RESULT, SESSIONS, TEXT_ONLY } from './work.js';

/** @param frames the number of frames of one pass, each with its answer */
export async function openWebSocket(frames: number): Promise<BindingBench> {
  const codec = createCodec({ state: false });
  const endpoint = createEndpoint({
    codec,
    agent: 'tools',
    handle: () => ({ intent: 'done', operation: 'tool', schema: 'TC', payload: RESULT }),
  });
  const sockets = createWebSocketEndpoint(endpoint);
  const answering = await listen((socket) => sockets.accept(socket));
  const echo = await listen((socket) => socket.on('message', (data) => socket.send(String(data))));
  const frame = codec.encode(MESSAGE, createSession({ agent: 'bench' })).frames[0]!;
  const plain = await Promise.all(Array.from({ length: CONNECTIONS }, () => connect(echo)));
  const links: Link[] = await Promise.all(
    Array.from({ length: CONNECTIONS }, () =>
      connectWebSocket(`ws://127.0.0.1:${portOf(answering)}`, {
        ...{ codec, WebSocket, heartbeatMs: Number.POSITIVE_INFINITY },
        session: createSession({ agent: 'bench', sequence: 'sender' }),
      }),
    ),
  );
  const each = Math.ceil(frames / CONNECTIONS);
  const onAll = <T>(all: readonly T[], once: (one: T) => Promise<unknown>): Promise<void> =>
    Promise.all(
      all.map(async (one) => {
        for (let done = 0; done < each; done++) await once(one);
      }),
    ).then(() => undefined);
  return {
    frames,
    runners: [
      { name: TEXT_ONLY, pass: () => onAll(plain, (socket) => exchange(socket, frame)) },
      { name: SESSIONS, pass: () => onAll(links, (link) => link.request(MESSAGE)) },
    ],
    close: async () => {
      await Promise.all(links.map((link) => link.close()));
      for (const socket of plain) socket.terminate();
      await sockets.close();
      endpoint.close();
      for (const server of [answering, echo]) await new Promise((resolve) => server.close(resolve));
    },
  };
}

function exchange(socket: WebSocket, frame: string): Promise<void> {
  return new Promise((resolve) => {
    socket.once('message', () => resolve());
    socket.send(frame);
  });
}

async function listen(accept: (socket: WebSocket) => void): Promise<WebSocketServer> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  server.on('connection', accept);
  await new Promise((resolve) => server.once('listening', resolve));
  return server;
}

async function connect(server: WebSocketServer): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${portOf(server)}`);
  await new Promise((resolve) => socket.once('open', resolve));
  return socket;
}

function portOf(server: WebSocketServer): number {
  return (server.address() as { port: number }).port;
}
