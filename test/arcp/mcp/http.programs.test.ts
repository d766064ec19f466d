/** MCP servers over HTTP, which can be away while their client is connected. */
import { createServer, type Server as HttpServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { afterEach, describe, expect, test } from 'vitest';
import { connect } from '../../../src/arcp/client/index.js';
import { type McpClient, wrapMcp } from '../../../src/arcp/mcp/index.js';
import { createRuntime, listenWebSocket } from '../../../src/arcp/runtime/index.js';
import { deferred } from '../runtime/wire.js';

const ending: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

const INFO = { name: 'test', version: '1.0.0' };

const LINES: Readonly<Record<1 | 2, (url: URL) => Promise<McpClient & { close(): Promise<void> }>>> = {
  1: async (url) => {
    const client = new Client1(INFO);
    await client.connect(new Transport1(url) as Transport);
    return client;
  },
  2: async (url) => {
    const client = new Client2(INFO);
    await client.connect(new Transport2(url));
    return client;
  },
};

/** Serves on a port, which is free again after `stop`. */
async function serve(listener: RequestListener, port = 0): Promise<{ port: number; stop: () => Promise<void> }> {
  const http: HttpServer = createServer(listener);
  await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve));
  const stop = async (): Promise<void> => {
    const closed = new Promise((resolve) => http.close(resolve));
    http.closeAllConnections();
    await closed;
  };
  ending.push(stop);
  return { port: (http.address() as AddressInfo).port, stop };
}

describe.each([1, 2] as const)('over HTTP with line %s of the SDK', (line) => {
  async function wrapped(
    work: (calls: number, response: ServerResponse) => Promise<string>,
    idempotentHint: boolean,
    idleTimeoutMs?: number,
  ) {
    let calls = 0;
    // Without sessions, which would end with the server.
    const listener: RequestListener = async (request, response) => {
      const server = new McpServer(INFO);
      server.registerTool('work', { annotations: { idempotentHint } }, async () => ({
        content: [{ type: 'text', text: await work(++calls, response) }],
      }));
      const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined } as never);
      await server.connect(transport as Transport);
      await transport.handleRequest(request, response);
    };
    const { port, stop } = await serve(listener);
    const mcp = await LINES[line](new URL(`http://127.0.0.1:${port}/mcp`));
    ending.push(() => mcp.close());
    const runtime = createRuntime();
    ending.push(() => runtime.close());
    await wrapMcp(runtime, mcp, { idleTimeoutMs, tools: { retry: { maxAttempts: 100, backoffMs: 20, factor: 1 } } });
    const { url, close } = await listenWebSocket(runtime, { port: 0 });
    ending.push(close);
    const client = await connect(url);
    ending.push(() => client.close());
    return { client, stop, restart: () => serve(listener, port), calls: () => calls };
  }

  test('a job waits for a server that is away, and calls its tool once', async () => {
    const { client, stop, restart, calls } = await wrapped(async (n) => `call ${n}`, false);
    expect(await client.invoke('work').result()).toMatchObject({ content: [{ text: 'call 1' }] });
    await stop();
    const call = client.invoke('work');
    for await (const { type, payload } of call.events())
      if (type === 'tool.error') {
        expect(payload).toMatchObject({ code: 'UNAVAILABLE', will_retry: true });
        break;
      }
    await restart();
    expect(await call.result()).toMatchObject({ content: [{ text: 'call 2' }] });
    expect(calls()).toBe(2);
  });

  test.each([
    ['is not repeated', false, 1],
    ['is repeated if the tool is idempotent', true, 2],
  ])('a call whose answer is lost %s', async (_, isIdempotent, expected) => {
    const begun = deferred();
    const { client, stop, restart, calls } = await wrapped((n) => {
      begun.resolve();
      return n === 1 ? new Promise(() => {}) : Promise.resolve('again');
    }, isIdempotent);
    const call = client.invoke('work');
    await begun.promise;
    await stop();
    await restart();
    const outcome = await call.result().catch((thrown: unknown) => thrown);
    expect(outcome).toMatchObject(
      isIdempotent
        ? { content: [{ text: 'again' }] }
        : { code: 'ABORTED', retryable: false, details: { outcome: 'unknown' } },
    );
    expect(calls()).toBe(expected);
  });

  test('a call whose answer stream ends without an answer is repeated if the tool is idempotent', async () => {
    const silent = async (n: number, response: ServerResponse): Promise<string> => {
      if (n > 1) return 'again';
      while (!response.headersSent) await new Promise((resolve) => setImmediate(resolve));
      response.end();
      return new Promise(() => {});
    };
    const { client, calls } = await wrapped(silent, true, 200);
    expect(await client.invoke('work').result()).toMatchObject({ content: [{ text: 'again' }] });
    expect(calls()).toBe(2);
  });
});
