/** A server with the Chat Completions API, for `--model URL#NAME`. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from 'vitest';

export interface ChatRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: { readonly model: string; readonly messages: readonly { readonly content: string }[] };
}

export interface ChatServer {
  /** The value of `--model` for a model. */
  readonly model: (name: string) => string;
  /** The requests so far. */
  readonly requests: ChatRequest[];
  /** The reply: the text of an answer, or a status. */
  reply: string | number;
}

/** Runs during the tests of a module. Each reply is billed with 100 input and 10 output tokens. */
export function chatServer(): ChatServer {
  const requests: ChatRequest[] = [];
  let port = 0;
  const chat: ChatServer = { requests, reply: 500, model: (name) => `http://127.0.0.1:${port}/v1#${name}` };
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = JSON.parse(Buffer.concat(pieces).toString()) as ChatRequest['body'];
    requests.push({ headers: request.headers, body });
    const { reply } = chat;
    const status = typeof reply === 'number' ? reply : 200;
    // Clients must not wait until they give up.
    response.writeHead(status, { 'content-type': 'application/json', 'x-should-retry': 'false' });
    const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: reply } }];
    const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
    const completion = { id: 'c', object: 'chat.completion', created: 0, model: body.model, choices, usage };
    response.end(JSON.stringify(status === 200 ? completion : { error: { message: 'out of order' } }));
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  return chat;
}
