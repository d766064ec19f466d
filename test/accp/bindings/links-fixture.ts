/** The same endpoint behind each binding that has a link, and a network between them that can be cut. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRequestListener } from '@remix-run/node-fetch-server';
import { afterEach } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { accpExecutor, connectA2A } from '../../../src/accp/bindings/a2a/index.js';
import { connectHttp, createHandler, FRAMES_PATH, type FrameHandler } from '../../../src/accp/bindings/http/index.js';
import {
  connectWebSocket,
  createEndpoint,
  createWebSocketEndpoint,
  type Endpoint,
  type EndpointOptions,
  type Link,
  type LinkOptions,
} from '../../../src/accp/bindings/websocket/index.js';
import {
  type Codec,
  type CodecOptions,
  createCodec,
  createSession,
  type SessionEvent,
  type SessionOptions,
} from '../../../src/accp/codec/index.js';
import { channelSocket } from '../../../src/channels/channel-socket.js';
import { connectSocket, listenSocket } from '../../../src/channels/node/socket.js';
import { type CuttingProxy, cuttingProxy } from '../../helpers/cutting-proxy.js';
import { connect as serveA2A } from './a2a-fixture.js';

export interface LinkFixture {
  /** Opens a link through the network. */
  readonly connect: (options?: Partial<LinkOptions>, session?: Partial<SessionOptions>) => Promise<Link>;
  readonly proxy: CuttingProxy;
  /** Restarts the server at the same address, without its sessions. */
  readonly restart: () => Promise<void>;
  /** Frames that the server has received. */
  readonly received: () => readonly string[];
}

type Connect = (options: LinkOptions) => Promise<Link>;

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** The endpoint that is currently served. */
interface Served {
  endpoint: Endpoint;
  /** Ends the connections of an endpoint that is replaced. */
  replaced: () => Promise<void>;
}

const current =
  (served: Served): FrameHandler =>
  (frame, context) =>
    served.endpoint.handler(frame, context);

async function proxied(port: number, onProxy: (proxy: CuttingProxy) => void): Promise<number> {
  const proxy = await cuttingProxy({ target: port });
  cleanups.push(() => proxy.close());
  onProxy(proxy);
  return proxy.port;
}

/** The functions with which each binding serves an endpoint and connects to it. */
export const BINDINGS: Readonly<
  Record<string, (served: Served, onProxy: (proxy: CuttingProxy) => void) => Promise<Connect>>
> = {
  WebSocket: async (served, onProxy) => {
    let sockets = createWebSocketEndpoint(served.endpoint);
    served.replaced = async () => {
      await sockets.close();
      sockets = createWebSocketEndpoint(served.endpoint);
    };
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await new Promise((resolve) => server.once('listening', resolve));
    server.on('connection', (socket) => sockets.accept(socket));
    cleanups.push(async () => {
      await sockets.close();
      for (const client of server.clients) client.terminate();
      await new Promise((resolve) => server.close(resolve));
    });
    const port = await proxied((server.address() as AddressInfo).port, onProxy);
    return (options) => connectWebSocket(`ws://127.0.0.1:${port}`, { ...options, WebSocket });
  },
  'a channel': async (served, onProxy) => {
    let sockets = createWebSocketEndpoint(served.endpoint);
    served.replaced = async () => {
      await sockets.close();
      sockets = createWebSocketEndpoint(served.endpoint);
    };
    const { address, close } = await listenSocket({ port: 0 }, (channel) => sockets.accept(channelSocket(channel)));
    cleanups.push(async () => {
      await sockets.close();
      await close();
    });
    const port = await proxied((address as { readonly port: number }).port, onProxy);
    return (options) => connectWebSocket(() => channelSocket(connectSocket({ port })), options);
  },
  HTTP: async (served, onProxy) => {
    const server = createServer(createRequestListener(createHandler(current(served))));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanups.push(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    const port = await proxied((server.address() as AddressInfo).port, onProxy);
    return (options) => connectHttp(`http://127.0.0.1:${port}${FRAMES_PATH}`, options);
  },
  A2A: async (served, onProxy) => {
    const { client } = await serveA2A(accpExecutor(current(served)), { through: (port) => proxied(port, onProxy) });
    return (options) => connectA2A(client, options);
  },
};

export async function openLinkFixture(
  binding: string,
  handle: EndpointOptions['handle'],
  codecOptions: CodecOptions = {},
): Promise<LinkFixture> {
  const events: SessionEvent[] = [];
  const codec: Codec = createCodec({ state: false, log: (event) => events.push(event), ...codecOptions });
  const begin = (): Endpoint => {
    const endpoint = createEndpoint({ codec, agent: 'server', handle });
    cleanups.push(() => endpoint.close());
    return endpoint;
  };
  const served: Served = { endpoint: begin(), replaced: async () => undefined };
  let proxy!: CuttingProxy;
  const connect = await BINDINGS[binding]!(served, (made) => {
    proxy = made;
  });
  return {
    proxy,
    restart: async () => {
      served.endpoint.close();
      served.endpoint = begin();
      await served.replaced();
    },
    received: () => events.filter(({ type }) => type === 'received').map(({ frame }) => frame ?? ''),
    connect: async (options = {}, sessionOptions = {}) => {
      const session = options.session ?? createSession({ agent: 'client', sequence: 'sender', ...sessionOptions });
      const link = await connect({
        ...{ codec: createCodec({ state: false }), session, reconnect: { minDelayMs: 10, maxDelayMs: 50 } },
        ...options,
      });
      cleanups.push(() => link.close());
      return link;
    },
  };
}
