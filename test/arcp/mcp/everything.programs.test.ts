/** The reference server of MCP from npm, as its authors published it, behind a runtime. */
import { randomBytes } from 'node:crypto';
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
/** Machines that run tests can be slow. */
const PATIENT = { timeout: 20_000 };
const INFO = { name: 'test', version: '1.0.0' };
const COMMAND = { command: process.execPath, args: [SERVER, 'stdio'], stderr: 'ignore' as const };

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
    ending.push(
      () => mcp.close(),
      close,
      () => runtime.close(),
      () => client.close(),
    );
  });
  afterAll(async () => {
    for (const end of ending.splice(0).toReversed()) await end();
  });

  test('its tools are described with their JSON Schemas and annotations', () => {
    const weather = client.session.tools!.find(({ name }) => name === 'get-structured-content')!;
    expect(weather).toMatchObject({
      description: 'Returns structured content along with an output schema for client data validation',
      input_schema: { $schema: expect.any(String), required: ['location'] },
      output_schema: { properties: { structuredContent: { required: ['temperature', 'conditions', 'humidity'] } } },
      annotations: { readOnlyHint: true },
      durable: true,
    });
  });

  test('a tool returns its contents and its structured content', async () => {
    const weather = { temperature: 36, conditions: 'Light rain / drizzle', humidity: 82 };
    expect(await client.invoke('get-structured-content', { location: 'Chicago' }).result()).toEqual({
      content: [{ type: 'text', text: JSON.stringify(weather) }],
      structuredContent: weather,
    });
    expect(await client.invoke('get-tiny-image').result()).toMatchObject({
      content: [{ type: 'text' }, { type: 'image', mimeType: 'image/png', data: expect.any(String) }, { type: 'text' }],
    });
  });

  test('a tool that refuses its arguments fails the job', async () => {
    await expect(client.invoke('get-sum', { a: 'one' }).result()).rejects.toMatchObject({
      code: 'TOOL_ERROR',
      retryable: false,
      message: expect.stringContaining('Input validation error'),
    });
  });

  test('a long call is a job with progress', async () => {
    const call = client.invoke('trigger-long-running-operation', { duration: 0.3, steps: 3 });
    const progress: unknown[] = [];
    for await (const { type, payload } of call.events()) if (type === 'job.progress') progress.push(payload);
    // The SDK drops the last one if it arrives together with the result.
    expect(progress.slice(0, 2)).toEqual([1, 2].map((current) => ({ current, total: 3 })));
    expect(await call.accepted).toMatch(/^job_/);
    expect(await call.result()).toMatchObject({ content: [{ text: expect.stringContaining('completed') }] });
  });

  test('a job is cancelled during its call', async () => {
    const call = client.invoke('trigger-long-running-operation', { duration: 600, steps: 6000 });
    for await (const { type } of call.events()) if (type === 'job.progress') break;
    await call.cancel();
    await expect(call.result()).rejects.toMatchObject({ code: 'CANCELLED' });
  });

  // It takes four seconds.
  test.runIf(line === 1)('a tool that the server executes as a task returns the result of the task', async () => {
    expect(await client.invoke('simulate-research-query', { topic: 'bees' }).result()).toMatchObject({
      content: [{ text: expect.stringContaining('# Research Report: bees') }],
    });
  });

  test('a resource is a stream of its content', async () => {
    const call = client.invoke<{ contents: object[] }>('resources/demo://resource/static/document/features.md');
    const stream = call.stream('text');
    let text = '';
    for await (const chunk of stream) text += chunk;
    expect(text).toContain('# Everything Server');
    expect((await call.result()).contents).toMatchObject([{ mimeType: 'text/markdown', text }]);
  });

  test('the arguments of a template make the URI of a resource, whose bytes are a binary stream', async () => {
    const call = client.invoke('resources/demo://resource/dynamic/blob/{resourceId}', { resourceId: 7 });
    const bytes: Uint8Array[] = [];
    for await (const chunk of call.stream('binary')) bytes.push(chunk);
    expect(Buffer.concat(bytes).toString()).toContain('Resource 7: This is a base64 blob');
    const [uri] = ((await call.result()) as { contents: { uri: string }[] }).contents.map((one) => one.uri);
    expect(uri).toBe('demo://resource/dynamic/blob/7');
  });

  test('a subscription streams the contents now and after each update, until it is cancelled', async () => {
    const uri = 'demo://resource/dynamic/text/1';
    const call = client.invoke('resources/subscribe', { uri });
    const events = call.stream('event');
    const contents = { contents: [{ uri, text: expect.stringContaining('Resource 1: ') }] };
    expect(await events.next()).toEqual({
      done: false,
      value: expect.objectContaining({ contents: expect.anything() }),
    });
    await client.invoke('toggle-subscriber-updates').result();
    expect((await events.next()).value).toMatchObject(contents);
    await call.cancel();
    await expect(call.result()).rejects.toMatchObject({ code: 'CANCELLED' });
    await client.invoke('toggle-subscriber-updates').result();
  });

  test('a prompt returns messages for a model', async () => {
    const prompt = client.session.tools!.find(({ name }) => name === 'prompts/args-prompt')!;
    expect(prompt.input_schema).toMatchObject({ properties: { city: { type: 'string' } }, required: ['city'] });
    expect(await client.invoke('prompts/args-prompt', { city: 'Oslo', state: 'Norway' }).result()).toMatchObject({
      messages: [{ role: 'user', content: { type: 'text', text: expect.stringContaining('Oslo, Norway') } }],
    });
  });

  test('large binary content is streamed, and a resource that a tool adds becomes a tool of the runtime', async () => {
    const data = `data:application/octet-stream;base64,${randomBytes(300_000).toString('base64')}`;
    const call = client.invoke('gzip-file-as-resource', { name: 'noise.gz', data, outputType: 'resource' });
    let size = 0;
    for await (const chunk of call.stream('binary')) size += chunk.length;
    expect(size).toBeGreaterThan(300_000);
    const { content } = (await call.result()) as { content: { resource: object }[] };
    expect(content[0]!.resource).toEqual({
      uri: 'demo://resource/session/noise.gz',
      mimeType: 'application/gzip',
      _meta: { 'arcp/stream_id': expect.stringMatching(/^str_/) },
    });
    await expect.poll(() => wrapped.names, PATIENT).toContain('resources/demo://resource/session/noise.gz');
  });
});
