/** The reference server of MCP from npm, which pegwire does not control, behind a runtime. */
import { createRequire } from 'node:module';
import path from 'node:path';
import process from 'node:process';
import { Client as Client2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Client, connect } from '../../../src/arcp/client/index.js';
import { type WrappedMcp, wrapMcp } from '../../../src/arcp/mcp/index.js';
import { createRuntime, listenWebSocket } from '../../../src/arcp/runtime/index.js';

const SERVER = path.join(
  path.dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json')),
  'dist/index.js',
);
const INFO = { name: 'test', version: '1.0.0' };
const COMMAND = { command: process.execPath, args: [SERVER, 'stdio'], stderr: 'ignore' } as const;

const LINES = {
  1: async () => {
    const client = new Client1(INFO);
    await client.connect(new Stdio1(COMMAND));
    return client;
  },
  2: async () => {
    const client = new Client2(INFO);
    await client.connect(new Stdio2(COMMAND));
    return client;
  },
};

describe.each([1, 2] as const)('with line %s of the SDK', (line) => {
  let client: Client;
  let wrapped: WrappedMcp;
  const ending: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    const mcp = await LINES[line]();
    const runtime = createRuntime();
    wrapped = await wrapMcp(runtime, mcp);
    const { url, close } = await listenWebSocket(runtime, { port: 0 });
    client = await connect(url);
    ending.push(() => mcp.close(), close, () => runtime.close(), () => client.close());
  });
  afterAll(async () => {
    for (const end of ending.splice(0).toReversed()) await end();
  });

  test('its tools are listed with their JSON Schemas', () => {
    const sum = client.session.tools!.find(({ name }) => name === 'get-sum')!;
    console.log(wrapped.names, JSON.stringify(sum));
    expect(sum.input_schema).toMatchObject({ type: 'object', properties: { a: { type: 'number' } } });
  });

  test('a tool returns its content', async () => {
    console.log(JSON.stringify(await client.invoke('get-sum', { a: 2, b: 3 }).result()));
  });
});
