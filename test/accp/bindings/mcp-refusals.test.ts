/**
 * Calls over MCP whose arguments or results are too large, too deep or not JSON: each settles, no tool that has run is retried, and the
 * session continues.
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { callTool, createEndpoint, tcTool } from '../../../src/accp/bindings/mcp/index.js';
import { createCodec, createSession } from '../../../src/accp/codec/index.js';

const nest = (levels: number): unknown => {
  let value: unknown = 0;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
};
const cyclic = (): unknown => {
  const list: unknown[] = [];
  list.push(list);
  return list;
};

/** The result of a tool, and the code that its caller gets; `undefined` for a result. */
const RESULTS: { readonly [name: string]: readonly [make: () => unknown, code: string | undefined] } = {
  long: [() => 'x'.repeat(300_000), undefined],
  deepEnough: [() => nest(5), undefined],
  tooLong: [() => 'x'.repeat(5_000_000), 'E4003'],
  tooDeep: [() => nest(2000), 'E4003'],
  deeperThanTheStack: [() => nest(50_000), 'E4003'],
  tooMany: [() => Array(150_000).fill(1), 'E4003'],
  cyclic: [cyclic, 'E4003'],
  function: [() => () => 1, 'E4003'],
  throwing: [() => ({ toJSON: () => Promise.reject }), 'E4003'],
};

const codec = createCodec();
const endpoint = createEndpoint({ codec, agent: 'tools', handle: () => null });
const server = new McpServer({ name: 'test', version: '1.0.0' });
const client = new Client({ name: 'test', version: '1.0.0' });
let runs = 0;

beforeAll(async () => {
  const inputSchema = { value: z.unknown().optional() };
  for (const [name, [make]] of Object.entries(RESULTS)) {
    const run = (): unknown => {
      runs++;
      return make();
    };
    server.registerTool(name, { inputSchema }, tcTool(run, { name, endpoint, structured: true }));
    server.registerTool(`plain-${name}`, { inputSchema }, async () => ({
      content: [],
      structuredContent: { value: run() },
    }));
  }
  const echo = ({ value }: { value?: unknown }): unknown => {
    runs++;
    return JSON.stringify(value)?.length ?? 'here';
  };
  server.registerTool('echo', { inputSchema }, tcTool(echo, { name: 'echo', endpoint }));
  const [one, other] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(one), client.connect(other)]);
});
afterAll(async () => {
  await client.close();
  await endpoint.close();
});

/** A session whose calls return the code of an error, or `undefined`; and the number of runs of the tool. */
function caller() {
  const session = createSession({ agent: 'planner', sequence: 'sender' });
  return async (tool: string, value?: unknown): Promise<readonly [code: unknown, retryable: unknown, runs: number]> => {
    const before = runs;
    const call = callTool(
      client,
      { tool, ...(value === undefined ? {} : { arguments: { value: value as never } }) },
      { codec, session },
    );
    const { code, retryable } = await call.then(
      ({ message }) => message.payload,
      (error: { code?: unknown; retryable?: unknown }) => ({ code: error.code, retryable: undefined }),
    );
    return [code, retryable, runs - before];
  };
}

describe('a result', () => {
  test.each(Object.keys(RESULTS).flatMap((name) => [name, `plain-${name}`]))('%s', async (name) => {
    const call = caller();
    const plain = name.startsWith('plain-');
    const [, code] = RESULTS[name.replace('plain-', '')]!;
    expect(await call(name)).toEqual([code, code === undefined ? undefined : false, 1]);
    expect(plain ? await call('plain-long') : await call('echo')).toEqual([undefined, undefined, 1]);
  });
});

describe('arguments', () => {
  test.each([
    ['that are long', 'x'.repeat(300_000), undefined, 1],
    ['that are too long', 'x'.repeat(5_000_000), 'E2003', 0],
    ['that take too many characters in their frames', 'x'.repeat(4_100_000), 'E2003', 0],
    ['that are too deep', nest(70), 'E1004', 0],
    ['that are deeper than the stack', nest(50_000), 'E1004', 0],
    ['with too many items', Array(150_000).fill(1), 'E1004', 0],
    ['that contain themselves', cyclic(), 'E1004', 0],
    ['that are a function', () => 1, 'E1004', 0],
  ])('%s', async (_, value, code, count) => {
    const call = caller();
    expect(await call('echo', value)).toEqual([code, undefined, count]);
    expect(await call('echo')).toEqual([undefined, undefined, 1]);
  });
});
