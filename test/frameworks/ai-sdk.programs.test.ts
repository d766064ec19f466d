/** Tools and context in the AI SDK, with its own functions and test models. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { generateText, stepCountIs, streamText } from 'ai';
import { convertArrayToReadableStream, MockLanguageModelV3 } from 'ai/test';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sqliteStore } from '../../src/accp/store/sqlite.js';
import {
  accpTools,
  arcpTools,
  CONTEXT_RULE,
  contextMessage,
  storedMessages,
  type ToolError,
} from '../../src/frameworks/ai-sdk.js';
import { type Remote, startRemote } from './remote.js';

let remote: Remote;
beforeAll(async () => {
  remote = await startRemote();
});
afterAll(() => remote.close());

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
};
const toolCall = (toolName: string, input: unknown, toolCallId: string) =>
  ({ type: 'tool-call', toolCallId, toolName, input: JSON.stringify(input) }) as const;

/** A model that calls the given tools in its first answer, and then ends. */
function modelWith(...calls: readonly ReturnType<typeof toolCall>[]): MockLanguageModelV3 {
  let isFirst = true;
  return new MockLanguageModelV3({
    async doGenerate() {
      const content = isFirst ? [...calls] : [{ type: 'text' as const, text: 'done' }];
      const unified = isFirst ? 'tool-calls' : 'stop';
      isFirst = false;
      return { content, finishReason: { unified, raw: undefined }, usage, warnings: [] };
    },
    async doStream() {
      const parts = isFirst
        ? [...calls]
        : ([
            { type: 'text-start', id: 't' },
            { type: 'text-delta', id: 't', delta: 'done' },
            { type: 'text-end', id: 't' },
          ] as const);
      const unified = isFirst ? 'tool-calls' : 'stop';
      isFirst = false;
      const end = { type: 'finish', finishReason: { unified, raw: undefined }, usage } as const;
      return { stream: convertArrayToReadableStream([{ type: 'stream-start', warnings: [] } as const, ...parts, end]) };
    },
  });
}

async function allTools() {
  const { client, link, registry } = remote;
  return { ...(await arcpTools(client)), ...(await accpTools(link, { registry })) };
}

const stopWhen = stepCountIs(3);

test('a model calls tools of a runtime and of an ACCP peer', async () => {
  const model = modelWith(
    toolCall('add', { a: 2, b: 3 }, '1'),
    toolCall('sales_report_analyze', { region: 'north', amount: 1.5 }, '2'),
  );
  const { text, steps } = await generateText({ model, tools: await allTools(), stopWhen, prompt: 'Add 2 and 3' });
  expect(text).toBe('done');
  expect(steps[0]?.toolResults.map(({ output }) => output)).toEqual([
    5,
    { region: 'north', amount: 3, currency: 'EUR' },
  ]);
  const [first, second] = model.doGenerateCalls;
  expect(first?.tools?.[0]).toMatchObject({
    name: 'add',
    description: 'Adds two numbers',
    inputSchema: { required: ['a', 'b'] },
  });
  expect(second?.prompt.at(-1)).toMatchObject({ role: 'tool', content: [{ output: { type: 'json', value: 5 } }, {}] });
});

test('a stream has the results', async () => {
  const { fullStream, text } = streamText({
    model: modelWith(toolCall('add', { a: 4, b: 3 }, '1')),
    tools: await allTools(),
    stopWhen,
    prompt: 'go',
  });
  const results: unknown[] = [];
  for await (const part of fullStream) if (part.type === 'tool-result') results.push(part.output);
  expect(results).toEqual([7]);
  expect(await text).toBe('done');
});

test.each([
  ['order_find', { id: 7 }, { tool: 'order.find', code: 'NOT_FOUND', retryable: false, details: { id: 7 } }],
  ['add', { a: 'two', b: 3 }, { tool: 'add', code: 'INVALID_ARGUMENT' }],
  ['sales_report_review', {}, { tool: 'sales_report_review', code: 'E2001', retryable: false }],
] as const)('an error of %s is a tool error with its code', async (name, input, expected) => {
  const model = modelWith(toolCall(name, input, '1'));
  const { steps } = await generateText({ model, tools: await allTools(), stopWhen, prompt: 'go' });
  const errors = steps[0]!.content.flatMap((part) => (part.type === 'tool-error' ? [part.error as ToolError] : []));
  expect(errors).toMatchObject([{ name: 'ToolError', ...expected }]);
  // The model sees the code, too.
  const answer = model.doGenerateCalls[1]?.prompt.at(-1);
  expect(answer).toMatchObject({
    content: [{ output: { type: 'error-text', value: expect.stringContaining(`${expected.code}: `) } }],
  });
});

test('wrong use is an error with a code', async () => {
  const { client, link, registry } = remote;
  const attempts: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['duplicate-tool', () => arcpTools(client, { only: ['add', 'add'] })],
    ['unknown-tool', () => arcpTools(client, { only: ['sub'] })],
    ['invalid-argument', () => arcpTools({} as never)],
    ['invalid-argument', () => arcpTools(undefined as never)],
    ['invalid-argument', () => arcpTools(client, { only: 'add' as never })],
    ['invalid-argument', () => arcpTools(client, { conversation: '' })],
    ['invalid-argument', () => accpTools({} as never, { registry })],
    ['invalid-argument', () => accpTools(link, {} as never)],
    ['invalid-argument', () => accpTools(link, undefined as never)],
  ];
  for (const [code, attempt] of attempts)
    await expect(attempt()).rejects.toMatchObject({ name: 'FrameworkError', code });
});

test('integers of an ACCP peer keep their digits', async () => {
  const { registry } = remote;
  const request = async () => ({ payload: { region: 'north', amount: 90071992547409931n } });
  const resultOf = async (render: boolean) => {
    const tools = await accpTools({ request } as never, { registry, render });
    const model = modelWith(toolCall('sales_report_analyze', {}, '1'));
    return (await generateText({ model, tools, stopWhen, prompt: 'go' })).steps[0]?.toolResults[0]?.output;
  };
  expect(await resultOf(false)).toEqual({ region: 'north', amount: '90071992547409931' });
  expect(await resultOf(true)).toContain('90071992547409931');
});

test('a runtime that refuses a bigint tells what to return', async () => {
  const tools = await arcpTools(remote.client, { only: ['bigint'] });
  const { steps } = await generateText({
    model: modelWith(toolCall('bigint', {}, '1')),
    tools,
    stopWhen,
    prompt: 'go',
  });
  expect(steps[0]!.content.at(-1)).toMatchObject({
    error: {
      message: 'INVALID_ARGUMENT: JSON cannot represent the result: $.id is a bigint; write its digits as a string',
    },
  });
});

test.each(['wait', 'sales_report_wait'])('aborting a call cancels %s', async (name) => {
  const controller = new AbortController();
  const tools = await allTools();
  const run = generateText({
    model: modelWith(toolCall(name, {}, '1')),
    tools,
    prompt: 'go',
    stopWhen,
    abortSignal: controller.signal,
  });
  const ended = expect(run).rejects.toMatchObject({ name: 'AbortError' });
  await remote.waiting();
  controller.abort();
  await ended;
  await remote.aborted();
});

test('progress reaches the listener, and a repeated call is executed once', async () => {
  const seen: unknown[] = [];
  const tools = await arcpTools(remote.client, {
    conversation: 'chat-3',
    onProgress: (progress) => seen.push(progress),
  });
  const count = remote.calls.length;
  for (const _ of [1, 2]) {
    const model = modelWith(toolCall('ingest', {}, 'a'), toolCall('add', { a: 1, b: 1 }, 'b'));
    await generateText({ model, tools, stopWhen, prompt: 'go' });
  }
  expect(seen.slice(0, 2)).toMatchObject(
    [50, 100].map((percent) => ({ tool: 'ingest', callId: 'a', progress: { percent } })),
  );
  expect(remote.calls).toHaveLength(count + 1);
});

test('results and conversations are rendered as text', async () => {
  const tools = await arcpTools(remote.client, { only: ['ingest'], render: true });
  const heard = { agent: 'planner', intent: 'req', operation: 'plan', payload: { goal: 'launch' } };
  const model = modelWith(toolCall('ingest', {}, 'a'));
  const { steps } = await generateText({
    model,
    tools,
    stopWhen,
    system: CONTEXT_RULE,
    messages: [contextMessage([heard])],
  });
  expect(steps[0]?.toolResults[0]?.output).toContain('1 Ann Lee');
  expect(model.doGenerateCalls[0]?.prompt).toMatchObject([
    { role: 'system', content: CONTEXT_RULE },
    { role: 'user', content: [{ type: 'text', text: '```data\n@planner req plan goal=launch\n```' }] },
  ]);
});

test('a conversation continues in another store on the same file', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-chats-'));
  const [one, two] = [
    await sqliteStore(path.join(folder, 'chats.db')),
    await sqliteStore(path.join(folder, 'chats.db')),
  ];
  const [first, second] = [one, two].map((store) => storedMessages(store, { id: 'chat-3' }));
  const image = { type: 'image' as const, image: new Uint8Array([1, 2, 250]), mediaType: 'image/png' };
  await first!.add([{ role: 'user', content: [{ type: 'text', text: 'Add 2 and 3' }, image] }]);
  const model = modelWith(toolCall('add', { a: 2, b: 3 }, '1'));
  const { response } = await generateText({
    model,
    tools: await allTools(),
    stopWhen,
    messages: await first!.messages(),
  });
  await first!.add(response.messages);

  await second!.add([{ role: 'user', content: 'And now?' }]);
  const next = modelWith();
  await generateText({ model: next, messages: await second!.messages() });
  const [prompt] = next.doGenerateCalls.map((call) => call.prompt);
  expect(prompt?.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'user']);
  // The bytes of the image are those that were added.
  const [, file] = prompt![0]!.content as readonly { readonly data?: string | Uint8Array }[];
  expect(Buffer.from(file!.data as string, 'base64')).toEqual(Buffer.from([1, 2, 250]));
  await second!.clear();
  expect(await first!.messages()).toEqual([]);
  one.close();
  two.close();
  rmSync(folder, { recursive: true, force: true });
});
