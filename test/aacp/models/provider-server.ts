/** A server on this machine that speaks what the test says, and remembers what it was asked. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SeenRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
}

export type Answer = (response: ServerResponse, request: SeenRequest) => void;

export interface ProviderServer {
  readonly url: string;
  /** What happened, in order: `request`, `answer 200`, `closed`. */
  readonly log: readonly string[];
  readonly requests: readonly SeenRequest[];
  /** Sets the answers to come; the last one stays. */
  readonly answers: (...answers: Answer[]) => void;
  readonly close: () => Promise<void>;
}

export async function startServer(): Promise<ProviderServer> {
  let log: string[] = [];
  let requests: SeenRequest[] = [];
  let script: Answer[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as SeenRequest['body'];
      const seen = { path: request.url ?? '', headers: request.headers, body };
      requests.push(seen);
      log.push('request');
      response.on('finish', () => log.push(`answer ${response.statusCode}`));
      const answer = script.length > 1 ? script.shift()! : script[0]!;
      answer(response, seen);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get log() {
      return log;
    },
    get requests() {
      return requests;
    },
    answers(...answers) {
      script = answers;
      log = [];
      requests = [];
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Answers with JSON, or with a text as it is. */
export function answer(body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

/** Says nothing, and keeps the connection. */
export const silence: Answer = () => {};

/** Closes the connection without a word. */
export const reset: Answer = (response) => {
  response.socket?.destroy();
};

/** Begins a reply that never ends. */
export const endless: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"model": ');
};

/** Breaks off in the middle of a reply. */
export const broken: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"model": ', () => response.socket?.destroy());
};
