/** AACP over MCP with line 2 of the official SDK: with the old protocol in memory, with revision 2026-07-28 over HTTP. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type CallToolResult,
  Client,
  InMemoryTransport,
  type ReadResourceResult,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { createRequestListener } from '@remix-run/node-fetch-server';
import { describe, expectTypeOf, test } from 'vitest';
import {
  createPacketTool,
  PACKET_INPUT,
  PACKET_TOOL,
  PACKET_TOOL_DESCRIPTION,
  type PacketToolClient,
  type PacketToolOptions,
  type PacketToolResult,
  type ResourceResult,
  VOCABULARY_URI,
  vocabularyResource,
} from '../../../src/aacp/bindings/mcp/index.js';
import type { Dispatcher } from '../../../src/aacp/dispatch/index.js';
import { packetCaller } from './mcp-caller.js';
import { testBinding } from './suite.js';

const INFO = { name: 'test', version: '1.0.0' };

function build(dispatcher: Dispatcher<unknown>, options: PacketToolOptions): McpServer {
  const server = new McpServer(INFO);
  const config = { description: PACKET_TOOL_DESCRIPTION, inputSchema: PACKET_INPUT };
  server.registerTool(PACKET_TOOL, config, createPacketTool(dispatcher, options));
  server.registerResource('vocabulary', VOCABULARY_URI, {}, () => vocabularyResource());
  return server;
}

testBinding({
  name: 'MCP, SDK 2, the old protocol, in memory',
  connect: async (dispatcher, onError) => {
    const [clientTransport, serverTransport] = InMemoryTransport.createLinkedPair();
    const server = build(dispatcher, { onError });
    await server.connect(serverTransport);
    const client = new Client(INFO, { versionNegotiation: { mode: 'legacy' } });
    await client.connect(clientTransport);
    return {
      send: packetCaller(client),
      close: async () => {
        await client.close();
        await server.close();
      },
    };
  },
});

testBinding({
  name: 'MCP, SDK 2, revision 2026-07-28, over HTTP',
  connect: async (dispatcher, onError) => {
    const handler = createMcpHandler(() => build(dispatcher, { onError }));
    const http = createServer(createRequestListener((request) => handler.fetch(request)));
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    const url = new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}`);
    const client = new Client(INFO, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    await client.connect(new StreamableHTTPClientTransport(url));
    return {
      send: packetCaller(client),
      close: async () => {
        await client.close();
        await handler.close();
        http.closeAllConnections();
        await new Promise((resolve) => http.close(resolve));
      },
    };
  },
});

describe('types', () => {
  test('the values that the binding creates and accepts have the types of SDK 2', () => {
    expectTypeOf<ResourceResult>().toExtend<ReadResourceResult>();
    expectTypeOf<PacketToolResult>().toExtend<CallToolResult>();
    expectTypeOf<Client>().toExtend<PacketToolClient>();
  });
});
