/** ACCP over MCP with line 1 of the official SDK: in memory, and over HTTP. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type {
  CallToolResult,
  EmbeddedResource as OfficialEmbeddedResource,
  ReadResourceResult,
} from '@modelcontextprotocol/sdk/types.js';
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

function build(serve: (capabilities: () => unknown) => ServerParts): McpServer {
  const parts = serve(() => server.server.getClientCapabilities());
  const server: McpServer = new McpServer(INFO, { ...(parts.instructions === undefined ? {} : parts) });
  for (const { name, input, output, handler } of parts.tools ?? []) {
    server.registerTool(
      name,
      {
        ...(input === undefined ? {} : { inputSchema: input.shape }),
        ...(output === undefined ? {} : { outputSchema: output.shape }),
      },
      handler,
    );
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
  experimental: ExperimentalCapabilities,
  end: () => Promise<void>,
): Promise<McpFixture> {
  const client = new Client(INFO, { capabilities: { experimental } });
  await client.connect(transport);
  return {
    client,
    callAndAbort: (name, signal, _meta) => client.callTool({ name, _meta }, undefined, { signal }),
    close: async () => {
      await client.close();
      await end();
    },
  };
}

const IN_MEMORY: Wiring = {
  name: 'SDK 1, in memory',
  connect: async (serve, experimental = {}) => {
    const [clientTransport, serverTransport] = InMemoryTransport.createLinkedPair();
    const server = build(serve);
    await server.connect(serverTransport);
    return connected(clientTransport, experimental, () => server.close());
  },
};

const HTTP: Wiring = {
  name: 'SDK 1, over HTTP',
  connect: async (serve, experimental = {}) => {
    const server = build(serve);
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => crypto.randomUUID() });
    await server.connect(transport as Transport);
    const http = createServer((request, response) => void transport.handleRequest(request, response));
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    const url = new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}`);
    return connected(new StreamableHTTPClientTransport(url) as Transport, experimental, async () => {
      await server.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    });
  },
};

testMcp(IN_MEMORY);
testMcp(HTTP);

describe('types', () => {
  test('the values that the binding creates and accepts have the types of SDK 1', () => {
    expectTypeOf<EmbeddedResource>().toExtend<OfficialEmbeddedResource>();
    expectTypeOf<ResourceResult>().toExtend<ReadResourceResult>();
    expectTypeOf<ToolResult>().toExtend<CallToolResult>();
    expectTypeOf<Client>().toExtend<ToolClient & RegistryClient>();
  });
});
