/** The echo of small requests over the transports of ACP, and over bare WebSockets. Both ends are in this process. */
import { PassThrough } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import { connectAcp, listenAcp } from '../../src/acp/http/index.js';
import { type Channel, createConnection, memoryChannels } from '../../src/acp/portable.js';
import type { AsyncRunner } from '../../src/bench/race.js';
import { byteChannel } from '../../src/channels/node/byte-channel.js';

/** WebSockets that exchange the same texts without reading them: what the socket costs. */
export const TEXTS = 'bare WebSocket, texts only';
/** WebSockets with the least that a program must do: parse, look up the method or the pending request, stringify. It checks nothing. */
export const JSON_RPC = 'bare WebSocket, parsed and printed';
export const CHANNELS = 'pegwire channels over WebSocket, texts only';
export const WEBSOCKET = 'ACP over WebSocket';
export const HTTP2 = 'ACP over HTTP/2';
export const STDIO = 'ACP over pipes';
export const MEMORY = 'ACP in memory';

/** The requests of one pass, and the number of concurrent ones. */
export const REQUESTS = 256;
const PARALLEL = 32;
const PARAMS = { sessionId: 'sess_0123456789abcdef', prompt: [{ type: 'text', text: 'x'.repeat(100) }] };

/** Sends one request, and resolves when its response has arrived. */
type Call = () => Promise<unknown>;

interface Opened {
  readonly call: Call;
  readonly close: () => unknown;
}

const TRANSPORTS: Readonly<Record<string, () => Promise<Opened>>> = {
  [TEXTS]: bareTexts,
  [JSON_RPC]: bareJson,
  [CHANNELS]: channels,
  [WEBSOCKET]: () => served('ws'),
  [HTTP2]: () => served('http'),
  [STDIO]: async () => {
    const [requests, responses] = [new PassThrough(), new PassThrough()];
    return connected(byteChannel(responses, requests), byteChannel(requests, responses));
  },
  [MEMORY]: async () => connected(...memoryChannels()),
};

/** Opens connections, by default over all transports. */
export async function openTransports(
  names: readonly string[] = Object.keys(TRANSPORTS),
): Promise<{ readonly runners: readonly AsyncRunner[]; readonly close: () => Promise<void> }> {
  const opened = await Promise.all(names.map((name) => TRANSPORTS[name]!()));
  return {
    runners: opened.map(({ call }, at) => ({ name: names[at]!, pass: () => pass(call) })),
    close: async () => {
      for (const { close } of opened) await close();
    },
  };
}

async function pass(call: Call): Promise<void> {
  let left = REQUESTS;
  const work = async (): Promise<void> => {
    while (left-- > 0) await call();
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
}

interface Request {
  readonly id: number;
  readonly method: string;
  readonly params: unknown;
}

const requestText = (id: number): string => JSON.stringify({ jsonrpc: '2.0', id, method: 'echo', params: PARAMS });
const responseText = (id: number, result: unknown): string => JSON.stringify({ jsonrpc: '2.0', id, result });

/** Texts that are prepared, so that nothing but sockets and promises is measured. Responses arrive in the order of requests. */
function prepared(send: (text: string) => void): { readonly call: Call; readonly received: () => void } {
  const texts = Array.from({ length: REQUESTS }, (_, id) => requestText(id));
  const waiting = new Set<() => void>();
  let next = 0;
  return {
    call: () =>
      new Promise<void>((resolve) => {
        waiting.add(resolve);
        send(texts[next++ % REQUESTS]!);
      }),
    received: () => {
      const [first] = waiting;
      waiting.delete(first!);
      first!();
    },
  };
}

/** Returns a function that answers requests in order. */
function answering(send: (text: string) => void): () => void {
  const texts = Array.from({ length: REQUESTS }, (_, id) => responseText(id, PARAMS));
  let next = 0;
  return () => send(texts[next++ % REQUESTS]!);
}

async function bareTexts(): Promise<Opened> {
  const { server, url } = await bareServer((socket) => {
    const answer = answering((text) => socket.send(text));
    socket.addEventListener('message', answer);
  });
  const socket = await bareClient(url);
  const { call, received } = prepared((text) => socket.send(text));
  socket.addEventListener('message', received);
  return { call, close: closing(socket, server) };
}

async function bareJson(): Promise<Opened> {
  const handlers = new Map([['echo', (params: unknown) => params]]);
  const { server, url } = await bareServer((socket) =>
    socket.addEventListener('message', ({ data }) => {
      const { id, method, params } = JSON.parse(data as string) as Request;
      socket.send(responseText(id, handlers.get(method)!(params)));
    }),
  );
  const socket = await bareClient(url);
  const pending = new Map<number, (result: unknown) => void>();
  let lastId = 0;
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(data as string) as { readonly id: number; readonly result: unknown };
    pending.get(id)!(result);
    pending.delete(id);
  });
  const call = (): Promise<unknown> =>
    new Promise((resolve) => {
      const id = ++lastId;
      pending.set(id, resolve);
      socket.send(requestText(id));
    });
  return { call, close: closing(socket, server) };
}

async function bareServer(
  accept: (socket: WebSocket) => void,
): Promise<{ readonly server: WebSocketServer; readonly url: string }> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  server.on('connection', accept);
  await new Promise((resolve) => server.once('listening', resolve));
  return { server, url: `ws://127.0.0.1:${(server.address() as { readonly port: number }).port}` };
}

async function bareClient(url: string): Promise<WebSocket> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  await new Promise((resolve) => socket.once('open', resolve));
  return socket;
}

function closing(socket: WebSocket, server: WebSocketServer): () => Promise<void> {
  return () => {
    socket.terminate();
    return new Promise((resolve) => server.close(() => resolve()));
  };
}

async function channels(): Promise<Opened> {
  const ignored = { invalid: () => {}, tooLong: () => {}, ended: () => {} };
  const server = await listenAcp((channel) => {
    channel.start({ text: answering(channel.send), ...ignored });
  });
  const channel = connectAcp(server.ws);
  const { call, received } = prepared(channel.send);
  await new Promise<void>((initialized) => {
    let take = (): void => {
      take = received;
      initialized();
    };
    channel.start({ text: () => take(), ...ignored });
    channel.send('{"jsonrpc":"2.0","id":0,"method":"initialize"}');
  });
  return {
    call,
    close: async () => {
      channel.destroy();
      await server.close();
    },
  };
}

const HANDLERS = { initialize: () => ({ protocolVersion: 1 }), echo: (params: unknown) => params };

async function served(scheme: 'ws' | 'http'): Promise<Opened> {
  const server = await listenAcp((channel) => createConnection(channel, { handlers: HANDLERS }));
  const opened = await connected(connectAcp(server[scheme]));
  return {
    call: opened.call,
    close: async () => {
      await opened.close();
      await server.close();
    },
  };
}

/** Creates a connection, and that of the other end, if it is given. */
async function connected(client: Channel, agent?: Channel): Promise<Opened> {
  if (agent !== undefined) createConnection(agent, { handlers: HANDLERS });
  const connection = createConnection(client);
  await connection.request('initialize', { protocolVersion: 1 });
  return { call: () => connection.request('echo', PARAMS), close: connection.close };
}
