/** Tools and context in LangGraph, with its own agent, tool node and test model. */
import { AIMessage, type BaseMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { createReactAgent, ToolNode } from '@langchain/langgraph/prebuilt';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  accpTools,
  arcpTools,
  CONTEXT_RULE,
  contextMessage,
  type ToolProgress,
} from '../../src/frameworks/langgraph.js';
import { type Remote, startRemote } from './remote.js';

let remote: Remote;
beforeAll(async () => {
  remote = await startRemote();
});
afterAll(() => remote.close());

const toolMessages = (messages: readonly BaseMessage[]) =>
  messages.filter((message) => ToolMessage.isInstance(message)).map(({ status, content }) => ({ status, content }));

/** A graph of a tool node alone, which is given the calls of a model. */
async function toolGraph(tools: Awaited<ReturnType<typeof arcpTools>>) {
  return new StateGraph(MessagesAnnotation).addNode('tools', new ToolNode(tools)).addEdge(START, 'tools').compile();
}

function calling(name: string, args: Record<string, unknown>, id = 'call-1') {
  return { messages: [new AIMessage({ content: '', tool_calls: [{ name, args, id, type: 'tool_call' }] })] };
}

test('an agent calls tools of a runtime and of an ACCP peer', async () => {
  const { client, link, registry } = remote;
  const tools = [...(await arcpTools(client)), ...(await accpTools(link, { registry }))];
  const model = fakeModel()
    .respondWithTools([
      { name: 'add', args: { a: 2, b: 3 } },
      { name: 'sales_report_analyze', args: { region: 'north', amount: 1.5 } },
    ])
    .respond((messages) => new AIMessage(`The sum is ${messages.at(-2)?.content}`));
  const agent = createReactAgent({ llm: model, tools });
  const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'Add 2 and 3' }] });
  expect(toolMessages(messages)).toEqual([
    { status: 'success', content: '5' },
    { status: 'success', content: '{"region":"north","amount":3,"currency":"EUR"}' },
  ]);
  expect(messages.at(-1)?.content).toBe('The sum is 5');
});

test('a model sees names, descriptions and schemas', async () => {
  const { client, link, registry } = remote;
  const tools = [...(await arcpTools(client)), ...(await accpTools(link, { registry }))];
  expect(tools.map(({ name }) => name)).toEqual([
    ...['add', 'ingest', 'order_find', 'bigint', 'wait'],
    ...['sales_report_analyze', 'sales_report_review', 'sales_report_wait'],
  ]);
  expect(tools[0]).toMatchObject({ description: 'Adds two numbers', schema: { required: ['a', 'b'] } });
  expect(tools[5]?.schema).toEqual({
    type: 'object',
    properties: {
      region: { type: 'string' },
      amount: { type: 'number' },
      currency: { type: 'string', default: 'EUR' },
    },
    additionalProperties: false,
  });
});

test('progress of a job is in the stream of the graph', async () => {
  const graph = await toolGraph(await arcpTools(remote.client));
  const written: ToolProgress[] = [];
  for await (const chunk of await graph.stream(calling('ingest', {}), { streamMode: 'custom' }))
    written.push(chunk as ToolProgress);
  expect(written).toEqual(
    [50, 100].map((percent) => ({ tool: 'ingest', callId: 'call-1', progress: { percent, message: `${percent} %` } })),
  );
});

test.each([
  ['order_find', { id: 7 }, 'NOT_FOUND: There is no order 7'],
  ['sales_report_review', { region: 'north' }, 'E2001: sales: The report is unknown.'],
] as const)('the model sees the code of an error of %s', async (name, args, message) => {
  const { client, link, registry } = remote;
  const graph = await toolGraph([...(await arcpTools(client)), ...(await accpTools(link, { registry }))]);
  const { messages } = await graph.invoke(calling(name, args));
  expect(toolMessages(messages)).toEqual([{ status: 'error', content: expect.stringContaining(message) }]);
});

test('arguments that do not match the schema do not reach the runtime', async () => {
  const graph = await toolGraph(await arcpTools(remote.client));
  const count = remote.calls.length;
  const { messages } = await graph.invoke(calling('add', { a: 'two', b: 3 }));
  expect(toolMessages(messages)).toMatchObject([{ status: 'error' }]);
  expect(remote.calls).toHaveLength(count);
});

test.each(['wait', 'sales_report_wait'])('aborting a run cancels %s', async (name) => {
  const { client, link, registry } = remote;
  const graph = await toolGraph([...(await arcpTools(client)), ...(await accpTools(link, { registry }))]);
  const controller = new AbortController();
  const run = graph.invoke(calling(name, {}), { signal: controller.signal });
  const ended = expect(run).rejects.toThrow(/abort/i);
  await remote.waiting();
  controller.abort();
  await ended;
  await remote.aborted();
});

test('a repeated call of a conversation is executed once', async () => {
  const graph = await toolGraph(await arcpTools(remote.client, { conversation: 'thread-9' }));
  const count = remote.calls.length;
  for (const id of ['call-1', 'call-1', 'call-2']) {
    const { messages } = await graph.invoke(calling('add', { a: 1, b: 1 }, id));
    expect(toolMessages(messages)).toEqual([{ status: 'success', content: '2' }]);
  }
  expect(remote.calls).toHaveLength(count + 2);
});

test('results and conversations are rendered as text', async () => {
  const graph = await toolGraph(await arcpTools(remote.client, { only: ['ingest'], render: true }));
  const { messages } = await graph.invoke(calling('ingest', {}));
  expect(toolMessages(messages)).toEqual([{ status: 'success', content: expect.stringContaining('1 Ann Lee') }]);

  const heard = { agent: 'planner', intent: 'req', operation: 'plan', payload: { goal: 'launch' } };
  const model = fakeModel().respond(new AIMessage('ok'));
  const agent = createReactAgent({ llm: model, tools: [], prompt: CONTEXT_RULE });
  await agent.invoke({ messages: [contextMessage([heard])] });
  const [system, user] = model.calls[0]!.messages;
  expect(SystemMessage.isInstance(system) && system.content).toBe(CONTEXT_RULE);
  expect(user?.content).toBe('```data\n@planner req plan goal=launch\n```');
});

test('an unknown tool in only is refused', async () => {
  await expect(arcpTools(remote.client, { only: ['ad'] })).rejects.toMatchObject({
    name: 'FrameworkError',
    code: 'unknown-tool',
  });
  const { link, registry } = remote;
  await expect(accpTools(link, { registry, only: ['sales_report_sell'] })).rejects.toMatchObject({
    code: 'unknown-tool',
  });
});
