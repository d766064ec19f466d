/** ACCP over MCP with line 2 of the official SDK: with the old protocol in memory, with revision 2026-07-28 in memory and over HTTP. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type CallToolResult,
  Client,
  InMemoryTransport,
  type EmbeddedResource as OfficialEmbeddedResource,
  type ReadResourceResult,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createRequestListener } from '@remix-run/node-fetch-server';
import { describe, expectTypeOf, test } from 'vitest';
import type {
  EmbeddedResource,
  RegistryClient,
  ResourceResult,
  ToolClient,
  ToolResult,
} from '../../../src/accp/bindings/mcp/index.js';
import { testMcp } from './mcp-suite.js';
import type { ExperimentalCapabilities, McpFixture, ServerParts, Wiring } from './mcp-wiring.js';

const INFO = { name: 'test', version: '1.0.0' };
const MODERN = { mode: { pin: '2026-07-28' } } as const;
const LEGACY = { mode: 'legacy' } as const;

function build(serve: (capabilities: () => unknown) => ServerParts): McpServer {
  const parts = serve(() => server.server.getClientCapabilities());
  const server: McpServer = new McpServer(INFO, { ...(parts.instructions === undefined ? {} : parts) });
  for (const { name, input, output, handler } of parts.tools ?? []) {
    const config = {
      ...(input === undefined ? {} : { inputSchema: input }),
      ...(output === undefined ? {} : { outputSchema: output }),
    };
    server.registerTool(name, config, handler);
  }
  for (const { uri, read } of parts.resources ?? []) {
    server.registerResource(uri, uri, { mimeType: 'application/accp' }, read);
  }
  for (const { name, content } of parts.prompts ?? []) {
    server.registerPrompt(name, {}, () => ({ messages: [{ role: 'user', content }] }));
  }
  return server;
}

async function connected(
  transport: Transport,
  versionNegotiation: typeof MODERN | typeof LEGACY,
  experimental: ExperimentalCapabilities,
  end: () => Promise<unknown>,
): Promise<McpFixture> {
  const client = new Client(INFO, { capabilities: { experimental }, versionNegotiation });
  await client.connect(transport);
  return {
    client,
    callAndAbort: (name, signal, _meta) => client.callTool({ name, _meta }, { signal }),
    close: async () => {
      await client.close();
      await end();
    },
  };
}

const LEGACY_IN_MEMORY: Wiring = {
  name: 'SDK 2, the old protocol, in memory',
  connect: async (serve, experimental = {}) => {
    const [clientTransport, serverTransport] = InMemoryTransport.createLinkedPair();
    const server = build(serve);
    await server.connect(serverTransport);
    return connected(clientTransport, LEGACY, experimental, () => server.close());
  },
};

const MODERN_IN_MEMORY: Wiring = {
  name: 'SDK 2, revision 2026-07-28, in memory',
  connect: async (serve, experimental = {}) => {
    const [clientTransport, serverTransport] = InMemoryTransport.createLinkedPair();
    const served = serveStdio(() => build(serve), { transport: serverTransport });
    return connected(clientTransport, MODERN, experimental, async () => (await served).close());
  },
};

const MODERN_OVER_HTTP: Wiring = {
  name: 'SDK 2, revision 2026-07-28, over HTTP',
  connect: async (serve, experimental = {}) => {
    const handler = createMcpHandler(() => build(serve));
    const http = createServer(createRequestListener((request) => handler.fetch(request)));
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    const url = new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}`);
    return connected(new StreamableHTTPClientTransport(url), MODERN, experimental, async () => {
      await handler.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    });
  },
};

testMcp(LEGACY_IN_MEMORY);
testMcp(MODERN_IN_MEMORY);
testMcp(MODERN_OVER_HTTP);

describe('types', () => {
  test('the values that the binding creates and accepts have the types of SDK 2', () => {
    expectTypeOf<EmbeddedResource>().toExtend<OfficialEmbeddedResource>();
    expectTypeOf<ResourceResult>().toExtend<ReadResourceResult>();
    expectTypeOf<ToolResult>().toExtend<CallToolResult>();
    expectTypeOf<Client>().toExtend<ToolClient & RegistryClient>();
  });
});
