/** A local server that sends the responses of the test, and records its requests. */
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
  /** The events in order: `request`, `answer 200`, `closed`. */
  readonly log: readonly string[];
  readonly requests: readonly SeenRequest[];
  /** Sets the next answers; the last one is repeated. */
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

/** Answers with JSON, or with a given text. */
export function answer(body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

/** Does not answer, and keeps the connection open. */
export const silence: Answer = () => {};

/** Closes the connection without an answer. */
export const reset: Answer = (response) => {
  response.socket?.destroy();
};

/** Starts a reply that never ends. */
export const endless: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"model": ');
};

/** Closes the connection in the middle of a reply. */
export const broken: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"model": ', () => response.socket?.destroy());
};
