/** AACP over MCP with line 1 of the official SDK. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { CallToolResult, ReadResourceResult } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, expectTypeOf, test } from 'vitest';
import {
  callPacketTool,
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
import { ACK, guarded, PACKET } from './fixture.js';
import { packetCaller } from './mcp-caller.js';
import { testBinding } from './suite.js';

const INFO = { name: 'test', version: '1.0.0' };

async function connect(dispatcher: Dispatcher<unknown>, options?: PacketToolOptions) {
  const server = new McpServer(INFO);
  const config = { description: PACKET_TOOL_DESCRIPTION, inputSchema: PACKET_INPUT.shape };
  server.registerTool(PACKET_TOOL, config, createPacketTool(dispatcher, options));
  server.registerResource('vocabulary', VOCABULARY_URI, {}, () => vocabularyResource());
  const [clientTransport, serverTransport] = InMemoryTransport.createLinkedPair();
  await server.connect(serverTransport);
  const client = new Client(INFO);
  await client.connect(clientTransport);
  return { client, server };
}

testBinding({
  name: 'MCP, SDK 1, in memory',
  connect: async (dispatcher, onError) => {
    const { client, server } = await connect(dispatcher, { onError });
    return {
      send: packetCaller(client),
      close: async () => {
        await client.close();
        await server.close();
      },
    };
  },
});

describe('a host of MCP', () => {
  test('sends a packet, as the sender that the server has authenticated', async () => {
    const { dispatcher, audit } = guarded();
    const { client } = await connect(dispatcher, { authenticate: () => ({ actor: 'host' }) });
    expect(await callPacketTool(client, PACKET)).toMatchObject({ ok: true, packet: ACK });
    expect(audit.records().map(({ actor }) => actor)).toEqual(['host', 'host']);
  });

  test.each([
    ['returns null', () => null],
    [
      'throws',
      () => {
        throw new Error('no directory');
      },
    ],
  ])('is refused if authentication %s', async (_, authenticate) => {
    const { dispatcher, audit, handled } = guarded();
    const { client } = await connect(dispatcher, { authenticate });
    expect(await callPacketTool(client, PACKET)).toMatchObject({ ok: false, reason: 'unauthenticated' });
    expect([handled, audit.records()]).toEqual([[], []]);
  });

  test('gets a packet that answers as a resource, and a refusal as an error with its findings as text', async () => {
    const { client } = await connect(guarded().dispatcher);
    const call = (packet: string, nonce: string) =>
      client.callTool({ name: PACKET_TOOL, arguments: { packet, nonce, sentAt: Date.now() } });
    const answer = (await call(PACKET, 'n1')) as CallToolResult;
    expect(answer.isError).toBeUndefined();
    expect(answer.content[0]).toMatchObject({
      type: 'resource',
      resource: { mimeType: 'application/aacp', text: ACK },
    });
    const refusal = (await call('FETCH|HR|p:2|aacp:1.1', 'n2')) as CallToolResult;
    expect(refusal.isError).toBe(true);
    expect(refusal.content).toEqual([{ type: 'text', text: expect.stringContaining('missing-return') as unknown }]);
  });

  test('does not send a packet that is not valid', async () => {
    const { dispatcher, audit } = guarded();
    const { client } = await connect(dispatcher);
    const sent = callPacketTool(client, 'FETCH|HR|p:2|aacp:1.1');
    await expect(sent).rejects.toMatchObject({ name: 'AacpBindingError', code: 'invalid-packet' });
    expect(audit.records()).toEqual([]);
  });

  test('reads the vocabulary', async () => {
    const { client } = await connect(guarded().dispatcher);
    const { contents } = await client.readResource({ uri: VOCABULARY_URI });
    const { text } = contents[0] as { text: string };
    expect(JSON.parse(text)).toMatchObject({ version: '1.1', tasks: { FETCH: expect.any(String) as unknown } });
  });

  test('is not misled by a tool that answers in another way', async () => {
    const client: PacketToolClient = { callTool: async () => ({ content: [{ type: 'text', text: 'ok' }] }) };
    await expect(callPacketTool(client, PACKET)).rejects.toMatchObject({ code: 'not-aacp' });
  });

  test('has the types of the binding', () => {
    expectTypeOf<ResourceResult>().toExtend<ReadResourceResult>();
    expectTypeOf<PacketToolResult>().toExtend<CallToolResult>();
    expectTypeOf<Client>().toExtend<PacketToolClient>();
  });
});
