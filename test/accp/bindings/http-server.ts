/** A handler on a socket, mounted as programs do it. */
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRequestListener } from '@remix-run/node-fetch-server';
import { afterEach } from 'vitest';
import { createEndpoint, type Endpoint, type EndpointOptions } from '../../../src/accp/bindings/endpoint.js';
import type { FrameHandler } from '../../../src/accp/bindings/frames.js';
import { createHandler, FRAMES_PATH, type HandlerOptions } from '../../../src/accp/bindings/http/index.js';
import { createCodec, type Message, type MessageInput } from '../../../src/accp/codec/index.js';
import { parseFrame } from '../../../src/accp/index.js';

export const TYPE = { 'content-type': 'application/accp' };
export const REQUEST = '@a>req:x{q:1}[mid:m1,seq:1]';
export const ANSWER = '@b>done:x{}[mid:n1,seq:1]';
export const ERROR = '@b>fail:error{code:E9999|msg:m|retry:true|schema:ER}[mid:n1,seq:1]';
export const UNUSED_URL = `http://127.0.0.1:1${FRAMES_PATH}`;

export interface RunningServer {
  readonly url: string;
  readonly port: number;
  readonly close: () => Promise<void>;
}

/** Listens on a free port of this machine. */
export async function serve(handler: (request: Request) => Promise<Response>): Promise<RunningServer> {
  return listen(createServer(createRequestListener((request) => handler(request))));
}

export async function listen(server: Server): Promise<RunningServer> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${FRAMES_PATH}`,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export interface RawResponse {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Sends bytes without the headers that `fetch` adds, or with those that it forbids. */
export function send(
  url: string,
  body: string | Uint8Array,
  { method = 'POST', ...headers }: Record<string, string> = {},
): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body: text }));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** A promise, and the function that fulfils it. */
export function createSignal<T = void>(): { readonly promise: Promise<T>; readonly done: (value: T) => void } {
  let done: (value: T) => void = () => undefined;
  const promise = new Promise<T>((resolve) => {
    done = resolve;
  });
  return { promise, done };
}

export interface TestServers {
  readonly started: (server: Promise<RunningServer>) => Promise<string>;
  /** Returns the address of a server with a handler. */
  readonly serveHandler: (handle: FrameHandler | Endpoint, options?: HandlerOptions) => Promise<string>;
  /** Returns the address of a server that answers every request with these bytes. */
  readonly respondWith: (
    status: number,
    headers: Record<string, string>,
    body?: string | Uint8Array,
  ) => Promise<string>;
}

/** Servers that are closed after each test of a file. */
export function testServers(): TestServers {
  const running: RunningServer[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((server) => server.close()));
  });
  const started = async (server: Promise<RunningServer>): Promise<string> => {
    const one = await server;
    running.push(one);
    return one.url;
  };
  return {
    started,
    serveHandler: (handle, options) => started(serve(createHandler(handle, options))),
    respondWith: (status, headers, body = '') => {
      const server = createServer((request, response) => {
        request.resume();
        response.writeHead(status, headers).end(body);
      });
      return started(listen(server));
    },
  };
}

export function endpointOf(handle: EndpointOptions['handle'] = echo): Endpoint {
  return createEndpoint({ codec: createCodec(), agent: 'server', handle });
}

/** Answers each request with its payload. */
export function echo({ intent, operation, payload }: Message): MessageInput | null {
  return intent === 'req' ? { intent: 'done', operation, payload } : null;
}

/** Returns the code of an error frame. */
export function codeOf(frame: string): unknown {
  const value = parseFrame(frame).payload.find(({ key }) => key === 'code')?.value;
  return value?.kind === 'string' ? value.value : undefined;
}

export async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of source) all.push(one);
  return all;
}

export async function* each(frames: readonly string[]): AsyncGenerator<string> {
  yield* frames;
}

/** Yields these frames and then throws. */
export async function* failing(frames: readonly string[]): AsyncGenerator<string> {
  yield* frames;
  throw new Error('the line is dead');
}
