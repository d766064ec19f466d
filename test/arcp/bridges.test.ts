import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { afterAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { createConnection } from '../../src/acp/portable.js';
import {
  answerJsonRpc,
  jsonRpcMethod,
  runAnthropicToolUses,
  runOpenAiFunctionCalls,
  runOpenAiToolCalls,
  toAnthropicTools,
  toOpenAiResponseTools,
  toOpenAiTools,
} from '../../src/arcp/bridges/index.js';
import { openClient } from '../../src/arcp/client/client.js';
import { ArcpError } from '../../src/arcp/index.js';
import { createRuntime } from '../../src/arcp/runtime/index.js';
import { memoryChannels } from '../../src/channels/memory.js';

let calls = 0;
const runtime = createRuntime()
  .tool('math.add', { description: 'Adds', input: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => ({
    sum: a + b,
  }))
  .tool('count', {}, () => String(++calls))
  .tool('limited', {}, () => {
    throw new ArcpError('RATE_LIMITED', 'slow down', { details: { retry_after_seconds: 3 } });
  })
  .tool(
    'remote',
    {},
    jsonRpcMethod('remote', async (_, params) => {
      if ((params as { readonly ok?: boolean }).ok === true) return 'remote result';
      throw Object.assign(new Error('Invalid params'), { code: -32602, data: { path: 'ok' } });
    }),
  );
const client = await openClient(() => {
  const [here, there] = memoryChannels();
  void runtime.accept(there);
  return here;
});
afterAll(async () => {
  await client.close();
  await runtime.close();
});
const tools = client.session.tools!;

describe('tools for OpenAI', () => {
  test('are described with allowed names', () => {
    // The SDK accepts them.
    const listed: OpenAI.ChatCompletionTool[] = toOpenAiTools(tools).map((tool) => ({
      ...tool,
      function: { ...tool.function },
    }));
    expect(listed.map((tool) => tool.type === 'function' && tool.function.name)).toEqual([
      'math_add',
      'count',
      'limited',
      'remote',
    ]);
    expect(toOpenAiTools(tools)[0]).toMatchObject({
      type: 'function',
      function: {
        description: 'Adds',
        parameters: { type: 'object', required: ['a', 'b'], properties: { a: { type: 'number' } } },
      },
    });
    expect(toOpenAiResponseTools(tools)[1]).toEqual({
      ...{ type: 'function', name: 'count', parameters: { type: 'object', properties: {} }, strict: false },
    });
  });

  test('have unique names, whatever the tools are called', () => {
    const names = ['a.b', 'a_b', 'a/b', 'x'.repeat(100), `${'x'.repeat(100)}y`, 'ü'];
    const told = toOpenAiTools(names.map((name) => ({ name }))).map((tool) => tool.function.name);
    expect(new Set(told).size).toBe(names.length);
    for (const name of told) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(told[1]).toBe('a_b');
  });

  test('are called for a message, in its order', async () => {
    const asked = [
      { id: 'c1', type: 'function', function: { name: 'math_add', arguments: '{"a":1,"b":2}' } },
      { id: 'c2', type: 'function', function: { name: 'limited', arguments: '' } },
      { id: 'c3', type: 'function', function: { name: 'nothing', arguments: '{}' } },
      { id: 'c4', type: 'function', function: { name: 'math_add', arguments: '{"a":1' } },
      { id: 'c5', type: 'function', function: { name: 'math_add', arguments: '[1]' } },
    ] satisfies OpenAI.ChatCompletionMessageToolCall[];
    const said: OpenAI.ChatCompletionToolMessageParam[] = (await runOpenAiToolCalls(client, asked)).map((one) => ({
      ...one,
    }));
    expect(said.map(({ tool_call_id: id }) => id)).toEqual(['c1', 'c2', 'c3', 'c4', 'c5']);
    expect(said[0]!.content).toBe('{"sum":3}');
    const codes = said
      .slice(1)
      .map(({ content }) => (JSON.parse(String(content)) as { error: { code: string } }).error.code);
    expect(codes).toEqual(['RATE_LIMITED', 'NOT_FOUND', 'INVALID_ARGUMENT', 'INVALID_ARGUMENT']);
  });

  test('are called once if a message is handled twice', async () => {
    const asked = [{ id: 'once', function: { name: 'count', arguments: '{}' } }];
    const of = { conversation: 'a' };
    const [first] = await runOpenAiToolCalls(client, asked, of);
    const [second] = await runOpenAiToolCalls(client, asked, of);
    const [other] = await runOpenAiToolCalls(client, asked, { conversation: 'b' });
    const [unnamed] = await runOpenAiToolCalls(client, asked);
    expect([other!.content, unnamed!.content]).toEqual(['2', '3']);
    expect([first!.content, second!.content]).toEqual(['1', '1']);
  });

  test('are called for a response', async () => {
    const output = [
      { type: 'reasoning' },
      { type: 'function_call', call_id: 'r1', name: 'math_add', arguments: '{"a":2,"b":2}' },
    ] as const;
    expect(await runOpenAiFunctionCalls(client, output)).toEqual([
      { type: 'function_call_output', call_id: 'r1', output: '{"sum":4}' },
    ]);
  });

  test('are cancelled by the signal', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    const asked = [{ id: 'x', function: { name: 'count', arguments: '{}' } }];
    await expect(runOpenAiToolCalls(client, asked, { signal })).rejects.toThrow('enough');
  });
});

test('a result or an error that is not JSON fails only its call, and suggests no retry', async () => {
  const thrown = new ArcpError('UNAVAILABLE', 'not now', { details: { since: 10n } });
  const odd = {
    session: {},
    invoke: (tool: string) => ({
      result: async () => {
        if (tool === 'failing') throw thrown;
        return tool === 'big' ? { n: 10n } : 'fine';
      },
    }),
  };
  const asked = ['big', 'failing', 'other'].map((name) => ({ id: name, function: { name, arguments: '{}' } }));
  const said = (await runOpenAiToolCalls(odd, asked)).map(({ content }) => content);
  expect(said.slice(0, 2).map((content) => JSON.parse(content) as unknown)).toMatchObject([
    { error: { code: 'INTERNAL', retryable: false } },
    { error: { code: 'UNAVAILABLE', message: 'not now' } },
  ]);
  expect(said[2]).toBe('fine');
});

describe('tools for Anthropic', () => {
  test('are described', () => {
    const listed: Anthropic.Tool[] = toAnthropicTools(tools).map((tool) => ({ ...tool }));
    expect(listed[0]).toMatchObject({ name: 'math_add', description: 'Adds', input_schema: { type: 'object' } });
    expect(listed[1]).toEqual({ name: 'count', input_schema: { type: 'object', properties: {} } });
  });

  test('are called for a message', async () => {
    const content = [
      { type: 'text', text: 'I will add.' },
      { type: 'tool_use', id: 't1', name: 'math_add', input: { a: 2, b: 3 } },
      { type: 'tool_use', id: 't2', name: 'math_add', input: { a: 'two' } },
    ] as const;
    const said: Anthropic.ToolResultBlockParam[] = (await runAnthropicToolUses(client, content)).map((one) => ({
      ...one,
    }));
    expect(said[0]).toEqual({ type: 'tool_result', tool_use_id: 't1', content: '{"sum":5}' });
    expect(said[1]).toMatchObject({
      tool_use_id: 't2',
      is_error: true,
      content: expect.stringContaining('INVALID_ARGUMENT'),
    });
  });
});

describe('JSON-RPC', () => {
  const answer = async (text: string): Promise<unknown> => {
    const said = await answerJsonRpc(client, text);
    return said === undefined ? undefined : JSON.parse(said);
  };
  const request = (id: unknown, method: string, params: unknown): object => ({ jsonrpc: '2.0', id, method, params });

  test('calls tools by name', async () => {
    const said = await answer(JSON.stringify(request(1, 'math.add', { a: 1, b: 2 })));
    expect(said).toEqual({ jsonrpc: '2.0', id: 1, result: { sum: 3 } });
  });

  test.each([
    ['no such method', request(1, 'nothing', {}), -32601],
    ['params that do not fit', request(1, 'math.add', { a: 1 }), -32602],
    ['params by position', request(1, 'math.add', [1, 2]), -32602],
    ['an error of the tool', request(1, 'limited', {}), -32000],
    ['no request', { id: 1 }, -32600],
    ['an empty batch', [], -32600],
  ])('reports %s', async (_, said, code) => {
    expect(await answer(JSON.stringify(said))).toMatchObject({ error: { code } });
  });

  test('answers a batch, but not notifications', async () => {
    const batch = [request(1, 'math.add', { a: 1, b: 1 }), { jsonrpc: '2.0', method: 'count' }, 7];
    expect(await answer(JSON.stringify(batch))).toEqual([
      { jsonrpc: '2.0', id: 1, result: { sum: 2 } },
      { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'Invalid Request' } },
    ]);
    expect(await answer(JSON.stringify({ jsonrpc: '2.0', method: 'limited' }))).toBeUndefined();
    expect(await answer('{')).toMatchObject({ id: null, error: { code: -32700 } });
  });

  test('answers each request of a batch if one result is not JSON', async () => {
    const odd = { session: {}, invoke: (tool: string) => ({ result: async () => (tool === 'big' ? 10n : 1) }) };
    const batch = JSON.stringify([request(1, 'big', {}), request(2, 'small', {})]);
    expect(JSON.parse((await answerJsonRpc(odd, batch))!)).toEqual([
      { jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'The result is not JSON' } },
      { jsonrpc: '2.0', id: 2, result: 1 },
    ]);
  });

  test('refuses an identifier that would be changed', async () => {
    for (const id of ['9007199254740993', '1e999'])
      expect(await answer(`{"jsonrpc":"2.0","id":${id},"method":"count"}`)).toMatchObject({
        ...{ id: null, error: { code: -32600 } },
      });
  });

  test('makes methods of a connection tools, with their errors', async () => {
    const [here, there] = memoryChannels();
    createConnection(there, { handlers: { add: ({ a, b }: { a: number; b: number }) => a + b } });
    const { request: call, close } = createConnection(here);
    const tool = (method: string) => jsonRpcMethod(method, (name, params) => call(name, params as object));
    expect(await tool('add')({ a: 1, b: 2 })).toBe(3);
    await expect(tool('none')({})).rejects.toMatchObject({ code: 'NOT_FOUND', details: { json_rpc_code: -32601 } });
    await close();
  });

  test('makes methods tools, with their errors', async () => {
    expect(await client.invoke('remote', { ok: true }).result()).toBe('remote result');
    await expect(client.invoke('remote', {}).result()).rejects.toMatchObject({
      ...{ code: 'INVALID_ARGUMENT', details: { json_rpc_code: -32602, data: { path: 'ok' } } },
    });
  });
});
