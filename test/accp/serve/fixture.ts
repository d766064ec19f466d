/** A server of frames on a free port, and raw clients. */
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { afterEach } from 'vitest';
import { WebSocket } from 'ws';
import {
  type AccessEntry,
  createEndpoint,
  type DemoAgentName,
  demoAgent,
  type EndpointOptions,
  type RunningServer,
  type ServeOptions,
  startServer,
} from '../../../src/accp/serve/index.js';

export const REQUEST = '@me>req:x{a:1}[mid:m1,seq:1]';
export const REGISTRY = '@me>sync:registry{v:1}[mid:m1,seq:1]';

export interface ServerFixture extends RunningServer {
  readonly entries: AccessEntry[];
  /** Resolves when a number of entries have been logged. */
  readonly logged: (count: number) => Promise<void>;
}

const opened: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

export async function serve(
  options: ServeOptions = {},
  agent: DemoAgentName | EndpointOptions = 'both',
): Promise<ServerFixture> {
  const endpoint = createEndpoint(typeof agent === 'string' ? demoAgent(agent) : agent);
  const entries: AccessEntry[] = [];
  let wake: () => void = () => undefined;
  const onAccess = (entry: AccessEntry): void => {
    entries.push(entry);
    wake();
  };
  const server = await startServer(endpoint, { port: 0, onAccess, ...options });
  opened.push(async () => {
    server.terminate();
    await server.close();
    endpoint.close();
  });
  const logged = async (count: number): Promise<void> => {
    while (entries.length < count) await new Promise<void>((resolve) => (wake = resolve));
  };
  return { ...server, entries, logged };
}

/** An agent that works on a request until its signal is aborted. */
export function busyAgent(): { readonly agent: EndpointOptions; readonly started: Promise<void> } {
  let begin: () => void = () => undefined;
  const started = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const handle: EndpointOptions['handle'] = (_, { signal }) => {
    begin();
    return new Promise<null>((resolve) => signal.addEventListener('abort', () => resolve(null)));
  };
  return { agent: { ...demoAgent('echo'), handle }, started };
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Sends a request with exactly these headers, including those that `fetch` would set. */
export function ask(
  url: string,
  { method = 'POST', body = REQUEST, ...headers }: Readonly<Record<string, string>> = {},
): Promise<HttpResponse> {
  const type = method === 'POST' ? { 'content-type': 'application/accp' } : {};
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method, agent: false, headers: { ...type, ...headers } }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body: text }));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(method === 'POST' ? body : undefined);
  });
}

/** Opens a WebSocket. @returns the socket, or the status with which it was rejected */
export function open(
  url: string,
  { protocols = ['accp'], headers = {} }: { protocols?: string[]; headers?: Record<string, string> } = {},
): Promise<WebSocket | number> {
  const socket = new WebSocket(url, protocols, { headers });
  opened.push(async () => socket.terminate());
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve(socket));
    socket.once('unexpected-response', (_request, response) => {
      response.resume();
      resolve(response.statusCode!);
    });
    socket.on('error', reject);
  });
}

/** Sends bytes on a connection. @returns all bytes until it is closed */
export function sendBytes(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
  });
}
