/** Revision 2026-07-28 of MCP, in which clients request notifications. */
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { openClient } from '../../../src/arcp/client/client.js';
import type { Client as ArcpClient } from '../../../src/arcp/client/index.js';
import { type WrappedMcp, wrapMcp } from '../../../src/arcp/mcp/index.js';
import { createRuntime } from '../../../src/arcp/runtime/index.js';
import { memoryChannels } from '../../../src/channels/memory.js';

/** Machines that run tests can be slow. */
const PATIENT = { timeout: 20_000 };
const INFO = { name: 'test', version: '1.0.0' };
const ending: (() => Promise<unknown>)[] = [];
let server!: McpServer;
let wrapped: WrappedMcp;
let client: ArcpClient;

beforeAll(async () => {
  const [here, there] = InMemoryTransport.createLinkedPair();
  let reads = 0;
  const serve = (): McpServer => {
    server = new McpServer(INFO, {
      capabilities: { tools: { listChanged: true }, resources: { listChanged: true, subscribe: true } },
    });
    server.registerTool('echo', { inputSchema: z.object({ say: z.string() }) }, ({ say }) => ({
      content: [{ type: 'text', text: say }],
    }));
    server.registerResource('one', 'a:1', {}, (uri) => ({
      contents: [{ uri: uri.href, text: `read ${++reads}` }],
    }));
    return server;
  };
  const served = await serveStdio(serve, { transport: there });
  const mcp = new Client(INFO, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await mcp.connect(here);
  const runtime = createRuntime();
  wrapped = await wrapMcp(runtime, mcp);
  client = await openClient(() => {
    const [mine, its] = memoryChannels();
    void runtime.accept(its);
    return mine;
  });
  ending.push(
    () => served.close(),
    () => mcp.close(),
    () => runtime.close(),
    () => client.close(),
  );
});
afterAll(async () => {
  for (const end of ending.toReversed()) await end();
});

test('tools, resources and prompts are wrapped', async () => {
  expect(await client.invoke('echo', { say: 'hello' }).result()).toMatchObject({ content: [{ text: 'hello' }] });
  expect(wrapped.names).toEqual(['echo', 'resources/read', 'resources/subscribe', 'resources/a:1']);
});

test('changed lists are read again', async () => {
  server.registerTool('late', {}, () => ({ content: [] }));
  await expect.poll(() => wrapped.names, PATIENT).toContain('late');
});

test('subscriptions stream updates', async () => {
  const call = client.invoke('resources/subscribe', { uri: 'a:1' });
  const events = call.stream('event');
  expect((await events.next()).value).toMatchObject({ contents: [{ text: 'read 1' }] });
  await server.server.sendResourceUpdated({ uri: 'a:1' });
  expect((await events.next()).value).toMatchObject({ contents: [{ text: 'read 2' }] });
  await call.cancel();
  await expect(call.result()).rejects.toMatchObject({ code: 'CANCELLED' });
});
