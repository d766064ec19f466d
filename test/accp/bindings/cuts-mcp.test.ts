/** The end of a transport is not the end of the answer: MCP's Streamable HTTP with the official SDKs, through a proxy that cuts it. */
import { createServer } from 'node:http';
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { callTool, createEndpoint, failFastFetch, tcTool } from '../../../src/accp/bindings/mcp/index.js';
import { createCodec, createSession } from '../../../src/accp/codec/index.js';
import { cuttingHttpProxy, ENDINGS, type Ending } from '../../helpers/cutting-http-proxy.js';
import type { ConnectedClient } from './mcp-wiring.js';

const INFO = { name: 'test', version: '1.0.0' };
const codec = createCodec();

/** Starts an official server with one tool. @returns its port */
async function serve(enableJsonResponse: boolean): Promise<number> {
  const endpoint = createEndpoint({ codec, agent: 'tools', handle: () => null });
  const server = new McpServer(INFO);
  server.registerTool(
    'now',
    {},
    tcTool(() => ({ time: '12.30h' }), { name: 'now', endpoint }),
  );
  const transport = new StreamableHTTPServerTransport({
    ...{ sessionIdGenerator: () => crypto.randomUUID(), enableJsonResponse },
  });
  await server.connect(transport as Transport);
  const http = createServer((request, response) => void transport.handleRequest(request, response));
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    await server.close();
    endpoint.close();
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  });
  return (http.address() as { port: number }).port;
}

type Connect = (url: URL) => Promise<ConnectedClient & { close: () => Promise<void> }>;

const SDK_1: Connect = async (url) => {
  const client = new Client1(INFO);
  await client.connect(new Transport1(url, { fetch: failFastFetch() }) as Transport);
  return client;
};
const SDK_2: Connect = async (url) => {
  const client = new Client2(INFO, { capabilities: {}, versionNegotiation: { mode: 'legacy' } });
  await client.connect(new Transport2(url, { fetch: failFastFetch() }));
  return client;
};

/** Returns the outcome of a call whose answer is cut at the position that `cut` returns. */
async function call(connect: Connect, ending: Ending, cut: (answer: string) => number, isJson = false) {
  const proxy = await cuttingHttpProxy(await serve(isJson), ending, (body) =>
    body.includes('application/accp') || body.includes('accp') ? cut(body) : -1,
  );
  onTestFinished(proxy.close);
  const client = await connect(new URL(`http://127.0.0.1:${proxy.port}`));
  onTestFinished(() => client.close());
  const session = createSession({ agent: 'planner', sequence: 'sender' });
  return callTool(client, { tool: 'now' }, { codec, session }).then(
    ({ message }) => message.intent,
    () => 'rejected',
  );
}

describe.each([
  ['SDK 1', SDK_1],
  ['SDK 2', SDK_2],
])('%s: the events of an answer', (_, connect) => {
  describe.each(ENDINGS)('that are cut (%s)', (ending) => {
    test.each<[string, (body: string) => number]>([
      ['before the first', () => 0],
      ['inside one', (body) => body.indexOf('accp')],
    ])('%s: the call rejects at once', { timeout: 5000 }, async (_where, cut) => {
      expect(await call(connect, ending, cut)).toBe('rejected');
    });

    test('after the answer: the call has its result', async () => {
      const whole = (body: string): number => body.indexOf('\n\n') + 2;
      const outcome = await call(connect, ending, (body) => (whole(body) > 1 ? whole(body) : -1));
      if (ending !== 'reset') expect(outcome).toBe('done');
    });
  });

  test('as JSON that ends properly in the middle: the call rejects at once', { timeout: 5000 }, async () => {
    expect(await call(connect, 'closed', (body) => body.indexOf('accp'), true)).toBe('rejected');
  });
});

test('an answer in several lines of data that end with CRLF is complete, in whatever chunks it arrives', async () => {
  const events = 'data: {"jsonrpc":"2.0",\r\ndata: "id":1,"result":{}}\r\n\r\n';
  const failFast = failFastFetch(async () => {
    const pieces = [...events].map((character) => new TextEncoder().encode(character));
    const body = new ReadableStream({
      pull(controller) {
        const piece = pieces.shift();
        if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  });
  const response = await failFast('http://tools/mcp', { body: '{"jsonrpc":"2.0","id":1,"method":"tools/call"}' });
  expect(await response.text()).toBe(events);
});
