/** A server of frames over WebSocket, and its clients: all real, on the loopback. */
import { afterEach } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import {
  type AcceptOptions,
  type ConnectOptions,
  connectWebSocket,
  createEndpoint,
  createWebSocketEndpoint,
  type Endpoint,
  type EndpointOptions,
  type Link,
  type Message,
  type WebSocketEndpoint,
} from '../../../src/accp/bindings/websocket/index.js';
import { createCodec, createSession, type Session } from '../../../src/accp/codec/index.js';
import { type CuttingProxy, cuttingProxy } from '../../helpers/cutting-proxy.js';

export interface ServerFixture {
  readonly endpoint: Endpoint;
  readonly sockets: WebSocketEndpoint;
  readonly server: WebSocketServer;
  readonly port: number;
  readonly errors: Error[];
  /** Connects a new session, or an existing one. */
  readonly connect: (
    options?: Partial<ConnectOptions> & { readonly port?: number; readonly agent?: string },
  ) => Promise<Link>;
  readonly close: () => Promise<void>;
}

export const codec = createCodec({ state: false });

/** Answers requests with their payload. */
export const echo: EndpointOptions['handle'] = ({ intent, operation, payload }: Message) =>
  intent === 'req' ? { intent: 'done', operation, payload } : null;

export async function startServer(
  handle: EndpointOptions['handle'] = echo,
  options: AcceptOptions = {},
  endpointOptions: Partial<EndpointOptions> = {},
): Promise<ServerFixture> {
  const endpoint = createEndpoint({ codec, agent: 'server', handle, ...endpointOptions });
  const errors: Error[] = [];
  const sockets = createWebSocketEndpoint(endpoint, { onError: (error) => errors.push(error), ...options });
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', maxPayload: options.maxFrameBytes ?? 1_048_576 });
  await new Promise((resolve) => server.once('listening', resolve));
  server.on('connection', (socket) => sockets.accept(socket));
  const { port } = server.address() as { port: number };
  const links: Link[] = [];
  const sessions: Session[] = [];
  return {
    ...{ endpoint, sockets, server, port, errors },
    connect: async ({ port: other = port, agent = 'client', ...more } = {}) => {
      const session = more.session ?? createSession({ agent, sequence: 'sender' });
      sessions.push(session);
      const link = await connectWebSocket(`ws://127.0.0.1:${other}`, {
        ...{ codec, session, WebSocket, reconnect: { minDelayMs: 10, maxDelayMs: 50 } },
        ...more,
      });
      links.push(link);
      return link;
    },
    close: async () => {
      await Promise.all(links.map((link) => link.close()));
      await sockets.close();
      endpoint.close();
      for (const client of server.clients) client.terminate();
      await new Promise((resolve) => server.close(resolve));
      for (const session of sessions) session.close();
    },
  };
}

export const req = (payload: Record<string, string | number>) => ({ intent: 'req', operation: 'echo', payload });

/** Returns the numbers from 0 to `count - 1`. */
export const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

/** Servers behind a network that can be cut, for one file of tests; they are closed after each test. */
export function serversBehindProxies(): (
  ...args: Parameters<typeof startServer>
) => Promise<ServerFixture & { proxy: CuttingProxy }> {
  const open: { close: () => Promise<void> }[] = [];
  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one.close();
  });
  return async (...args) => {
    const fixture = await startServer(...args);
    open.push(fixture);
    const proxy = await cuttingProxy({ target: fixture.port });
    open.push(proxy);
    return { ...fixture, proxy };
  };
}
