/** Tools, sessions and context in the OpenAI Agents SDK, with its own runner and a model of the test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  Agent,
  type AgentInputItem,
  type AgentOutputItem,
  MemorySession,
  type Model,
  type ModelRequest,
  RunContext,
  run,
  type Session,
  setTracingDisabled,
  Usage,
} from '@openai/agents';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { memoryStore } from '../../src/accp/codec/index.js';
import { sqliteStore } from '../../src/accp/store/sqlite.js';
import {
  accpTools,
  arcpTools,
  CONTEXT_RULE,
  contextMessage,
  storedSession,
  ToolError,
} from '../../src/frameworks/openai-agents.js';
import { type Remote, startRemote } from './remote.js';

setTracingDisabled(true);
const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-agents-'));
let remote: Remote;
beforeAll(async () => {
  remote = await startRemote();
});
afterAll(async () => {
  await remote.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A model that gives its answers in order, and keeps the requests. */
class ScriptedModel implements Model {
  readonly requests: ModelRequest[] = [];
  readonly #answers: AgentOutputItem[][];
  constructor(...answers: AgentOutputItem[][]) {
    this.#answers = answers;
  }
  async getResponse(request: ModelRequest) {
    this.requests.push(structuredClone({ ...request, signal: undefined, tracing: false }) as unknown as ModelRequest);
    return { usage: new Usage(), output: this.#answers.shift() ?? [] };
  }
  getStreamedResponse(): never {
    throw new Error('not used');
  }
}

const says = (text: string): AgentOutputItem[] => [
  { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text }] },
];
const calls = (name: string, args: unknown, callId = 'call-1'): AgentOutputItem[] => [
  { type: 'function_call', callId, name, status: 'completed', arguments: JSON.stringify(args) },
];
const outputs = (items: readonly AgentInputItem[]) =>
  items.flatMap((item) =>
    item.type === 'function_call_result' ? [(item.output as { readonly text: string }).text] : [],
  );

async function allTools() {
  const { client, link, registry } = remote;
  return [...(await arcpTools(client)), ...(await accpTools(link, { registry }))];
}

test('an agent calls tools of a runtime and of an ACCP peer', async () => {
  const model = new ScriptedModel(
    calls('add', { a: 2, b: 3 }),
    calls('sales_report_analyze', { region: 'north', amount: 1.5 }, 'call-2'),
    says('The sum is 5'),
  );
  const agent = new Agent({ name: 'Assistant', model, tools: await allTools() });
  const result = await run(agent, 'Add 2 and 3');
  expect(result.finalOutput).toBe('The sum is 5');
  expect(outputs(result.history)).toEqual(['5', '{"region":"north","amount":3,"currency":"EUR"}']);
  const [add] = model.requests[0]!.tools;
  expect(add).toMatchObject({
    name: 'add',
    description: 'Adds two numbers',
    strict: false,
    parameters: { required: ['a', 'b'] },
  });
});

test.each([
  ['order_find', { id: 7 }, { code: 'NOT_FOUND', retryable: false, details: { id: 7 } }],
  ['add', { a: 'two', b: 3 }, { code: 'INVALID_ARGUMENT', retryable: false }],
  ['sales_report_review', {}, { code: 'E2001', retryable: false }],
] as const)('the model sees the code of an error of %s', async (name, args, error) => {
  const model = new ScriptedModel(calls(name, args), says('ok'));
  const { history } = await run(new Agent({ name: 'Assistant', model, tools: await allTools() }), 'go');
  expect(outputs(history).map((text) => JSON.parse(text))).toMatchObject([{ error }]);
});

test.each([
  ['not JSON', '{"a": 1,', 'The arguments are not JSON'],
  ['no object', '[1, 2]', 'The arguments must be a JSON object'],
])('a call whose arguments are %s has a result that says so', async (_, args, message) => {
  const [add] = await arcpTools(remote.client, { only: ['add'] });
  const { error } = JSON.parse(await add!.invoke(new RunContext(), args));
  expect(error).toEqual({ code: 'INVALID_ARGUMENT', message: expect.stringContaining(message), retryable: false });
});

test('messages of errors do not repeat the code, also if they passed several tool sets', async () => {
  const inner = new ToolError('inner', new ToolError('innermost', new Error('broken')));
  expect(inner.message).toBe('INTERNAL: broken');
  const link = { request: () => Promise.reject(inner) };
  const tools = await accpTools(link, { registry: remote.registry });
  const model = new ScriptedModel(calls('sales_report_analyze', {}), says('ok'));
  const { history } = await run(new Agent({ name: 'Assistant', model, tools }), 'go');
  expect(JSON.parse(outputs(history)[0]!).error).toEqual({ code: 'INTERNAL', message: 'broken', retryable: false });
});

test.each(['wait', 'sales_report_wait'])('aborting a run cancels %s', async (name) => {
  const agent = new Agent({ name: 'Assistant', model: new ScriptedModel(calls(name, {})), tools: await allTools() });
  const controller = new AbortController();
  const ended = expect(run(agent, 'go', { signal: controller.signal })).rejects.toThrow(/abort/i);
  await remote.waiting();
  controller.abort();
  await ended;
  await remote.aborted();
});

test('progress reaches the listener, and a repeated call is executed once', async () => {
  const seen: unknown[] = [];
  const tools = await arcpTools(remote.client, {
    conversation: 'user-7',
    onProgress: (progress) => seen.push(progress),
  });
  const count = remote.calls.length;
  for (const _ of [1, 2]) {
    const model = new ScriptedModel(calls('ingest', {}, 'a'), calls('add', { a: 1, b: 1 }, 'b'), says('ok'));
    const { history } = await run(new Agent({ name: 'Assistant', model, tools }), 'go');
    expect(outputs(history)[1]).toBe('2');
  }
  expect(seen.slice(0, 2)).toMatchObject(
    [50, 100].map((percent) => ({ tool: 'ingest', callId: 'a', progress: { percent } })),
  );
  expect(remote.calls).toHaveLength(count + 1);
});

test('a conversation of agents is a message', async () => {
  const model = new ScriptedModel(says('ok'));
  const heard = { agent: 'planner', intent: 'req', operation: 'plan', payload: { goal: 'launch' } };
  await run(new Agent({ name: 'Assistant', model, instructions: CONTEXT_RULE }), [contextMessage([heard])]);
  expect(model.requests[0]).toMatchObject({
    systemInstructions: CONTEXT_RULE,
    input: [{ role: 'user', content: '```data\n@planner req plan goal=launch\n```' }],
  });
});

describe('sessions', () => {
  /** Two turns with a tool call, in two runs. */
  async function talk(first: Session, second: Session) {
    const tools = await arcpTools(remote.client);
    const one = new ScriptedModel(calls('add', { a: 2, b: 3 }), says('five'));
    await run(new Agent({ name: 'Assistant', model: one, tools }), 'Add 2 and 3', { session: first });
    const two = new ScriptedModel(says('still five'));
    await run(new Agent({ name: 'Assistant', model: two, tools }), 'And now?', { session: second });
    return two.requests[0]!.input;
  }

  test('a conversation continues in a file, as in the session of the SDK', async () => {
    const file = path.join(folder, 'history.db');
    const [one, two] = [await sqliteStore(file), await sqliteStore(file)];
    const input = await talk(storedSession(one, { id: 'user-7' }), storedSession(two, { id: 'user-7' }));
    const own = new MemorySession();
    expect(input).toHaveLength(5);
    expect(input).toEqual(await talk(own, own));
    expect(await storedSession(two, { id: 'user-8' }).getItems()).toEqual([]);
    one.close();
    two.close();
  });

  test('items are returned, removed and cleared as in the session of the SDK', async () => {
    const item = (content: string): AgentInputItem => ({ role: 'user', content });
    async function use(session: Session) {
      const seen: unknown[] = [await session.getItems(), await session.popItem()];
      await session.addItems(['a', 'b', 'c'].map(item));
      seen.push(await session.getItems(2), await session.popItem());
      await session.addItems([item('d')]);
      seen.push(await session.getItems(), await session.getItems(10));
      await session.clearSession();
      await session.addItems([item('e')]);
      seen.push(await session.getItems());
      return seen;
    }
    const stored = storedSession(memoryStore(), { id: 'x' });
    const plain = (value: unknown) => JSON.parse(JSON.stringify(value));
    expect(plain(await use(stored))).toEqual(plain(await use(new MemorySession())));
    expect(await stored.getSessionId()).toBe('x');
  });

  test('an empty id is refused', () => {
    expect(() => storedSession(memoryStore(), { id: '' })).toThrow(TypeError);
  });
});
