import { type Message, type SendMessageRequest, type Task, TaskState } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import { AgentEvent, type AgentExecutor } from '@a2a-js/sdk/server';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { parsePacket } from '../../../src/aacp/index.js';
import {
  accpCard,
  accpExecutor,
  FRAME_TYPE,
  type FrameClient,
  type FrameExecutor,
  type FrameHandler,
  frameMessage,
  framePart,
  framesIn,
  registryOfCard,
  sendFrame,
} from '../../../src/accp/bindings/a2a/index.js';
import { createCodec } from '../../../src/accp/codec/index.js';

import { codec, connect, endpointOf, REQUEST, startConversation } from './a2a-fixture.js';

describe('tasks', () => {
  test('a request creates a task, which the frame in its status completes', async () => {
    const { client, session } = await startConversation(
      endpointOf(() => ({ intent: 'done', operation: 'analyze', payload: { findings: 'up' } })),
    );
    const { frames, msgId } = codec.encode(REQUEST, session);
    const task = (await client.sendMessage(frameMessage(frames))) as Task;
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(task.contextId).toBe(session.id);
    expect(task.history[0]).toMatchObject({ messageId: msgId, contextId: session.id });
    expect(task.history[0]!.parts[0]).toMatchObject({
      mediaType: FRAME_TYPE,
      content: { $case: 'text', value: frames[0] },
    });
    const [answer] = framesIn(task.status!.message!.parts);
    expect(codec.decode(answer!, session)).toMatchObject({
      message: { agent: 'worker', intent: 'done', payload: { findings: 'up' }, envelope: { correlation_id: msgId } },
    });
  });

  test.each([
    ['done', 'done:x{v:1}', TaskState.TASK_STATE_COMPLETED],
    ['fail:error', 'fail:error{code:E4002|msg:broken|schema:ER}', TaskState.TASK_STATE_FAILED],
    ['another fail', 'fail:x{v:1}', TaskState.TASK_STATE_FAILED],
    ['E5001', 'fail:error{code:E5001|msg:no|schema:ER}', TaskState.TASK_STATE_REJECTED],
    ['E5002', 'fail:error{code:E5002|msg:no|schema:ER}', TaskState.TASK_STATE_REJECTED],
    ['wait', 'wait:x{v:1}', TaskState.TASK_STATE_INPUT_REQUIRED],
    ['ack', 'ack:x{v:1}', TaskState.TASK_STATE_WORKING],
    ['another intent', 'sync:state{v:1}', TaskState.TASK_STATE_COMPLETED],
    ['end', 'end:x{}', TaskState.TASK_STATE_COMPLETED],
  ])('%s sets the state of the task and is delivered', async (_, body, state) => {
    const answer = `@worker>${body}[mid:w1,seq:1,cid:q1]`;
    const { client } = await startConversation(() => answer);
    const request = '@planner>req:x{}[mid:q1,seq:1,sid:s1]';
    const task = (await client.sendMessage(frameMessage(request))) as Task;
    expect(task.status?.state).toBe(state);
    expect(await sendFrame(client, '@planner>req:x{}[mid:q2,seq:2,sid:s1]')).toEqual([answer]);
  });

  test('all frames of an answer arrive, including those of a long message and those before it', async () => {
    const text = 'All is well that ends well. '.repeat(120);
    const { client, session } = await startConversation(
      endpointOf(() => ({ intent: 'done', operation: 'analyze', payload: { findings: text } })),
    );
    const received = [];
    for (const message of [codec.announce(session).frames, codec.encode(REQUEST, session).frames]) {
      const frames = await sendFrame(client, message);
      for (const frame of frames) received.push(codec.decode(frame, session));
    }
    expect(received.length).toBeGreaterThan(3);
    expect(received.at(-1)).toMatchObject({ outcome: 'message', message: { payload: { findings: text } } });
    expect(received.some(({ outcome }) => outcome === 'rejected')).toBe(false);
  });

  test('a message in several frames is one A2A message', async () => {
    const seen: unknown[] = [];
    const { client, session } = await startConversation(
      endpointOf((message) => {
        seen.push(message.payload['goal']);
        return { intent: 'done', operation: 'plan' };
      }),
    );
    for (const frame of await sendFrame(client, codec.announce(session).frames)) codec.decode(frame, session);
    const goal = 'Say it again and again. '.repeat(80);
    const { frames } = codec.encode({ intent: 'req', operation: 'plan', payload: { goal } }, session);
    expect(frames.length).toBeGreaterThan(1);
    expect(await sendFrame(client, frames)).toHaveLength(1);
    expect(seen).toEqual([goal]);
  });

  test('a frame without an answer completes its task', async () => {
    const { client } = await startConversation(() => null);
    expect(await sendFrame(client, '@planner>ack:x{}[mid:q1,seq:1]')).toEqual([]);
  });

  test('a frame with the cid of a task that waits is sent to that task', async () => {
    const handler: FrameHandler = (frame) =>
      frame.includes('req:') ? '@w>wait:x{for:budget}[mid:w1,seq:1,cid:q1]' : '@w>done:x{v:1}[mid:w2,seq:2,cid:q1]';
    const { client } = await startConversation(handler);
    expect(await sendFrame(client, '@p>req:x{}[mid:q1,seq:1,sid:s1]')).toEqual([
      '@w>wait:x{for:budget}[mid:w1,seq:1,cid:q1]',
    ]);
    expect(await sendFrame(client, '@p>done:x{budget:5}[mid:q2,seq:2,cid:q1,sid:s1]')).toEqual([
      '@w>done:x{v:1}[mid:w2,seq:2,cid:q1]',
    ]);
    const { tasks } = await client.listTasks({ contextId: 's1', status: 0 } as never);
    expect(tasks).toHaveLength(1);
  });

  test('a handler that throws fails the task with E9999, and only the server sees the message', async () => {
    const failures: unknown[] = [];
    const failed = (thrown: unknown, frame: string) => void failures.push([(thrown as Error).message, frame]);
    const executor = accpExecutor(
      () => {
        throw new Error('the password is 1234');
      },
      { onError: failed, agent: 'worker' },
    );
    const { client } = await connect(executor);
    const request = '@planner>req:x{}[mid:q1,seq:1]';
    const [answer] = await sendFrame(client, request);
    expect(answer).toMatch(/^@worker>fail:error\{code:E9999\|.*cid:q1/);
    expect(answer).not.toContain('password');
    expect(failures).toEqual([['the password is 1234', request]]);
  });

  test('a message without a frame is answered with E1001', async () => {
    const { client } = await startConversation(() => null);
    const { configuration, metadata, tenant, message } = frameMessage('hello', { mimeType: 'text/plain' });
    const task = (await client.sendMessage({ configuration, metadata, tenant, message })) as Task;
    expect(framesIn(task.status!.message!.parts)).toEqual([expect.stringContaining('code:E1001')]);
  });

  test('an agent that does not answer in frames is an error', async () => {
    const { client } = await connect(PLAIN_AGENT);
    const sent = sendFrame(client, '@planner>req:x{}[mid:q1,seq:1]');
    await expect(sent).rejects.toMatchObject({ code: 'not-accp', message: expect.stringContaining('Hello') });
  });
});

/** Answers in plain text. */
const PLAIN_AGENT: AgentExecutor = {
  execute: async ({ contextId, taskId }, bus) => {
    const part = {
      content: { $case: 'text' as const, value: 'Hello' },
      mediaType: '',
      filename: '',
      metadata: undefined,
    };
    bus.publish(
      AgentEvent.message({
        messageId: 'm1',
        contextId,
        taskId,
        role: 2,
        parts: [part],
        metadata: undefined,
        extensions: [],
        referenceTaskIds: [],
      }),
    );
  },
  cancelTask: async () => undefined,
};

describe('messages of other protocols', () => {
  const PACKET = 'FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:emp_salary|period:2024-08';
  const mimeType = 'application/x.aacp';

  test('they have their own media type and are not frames', async () => {
    const echo: AgentExecutor = {
      execute: async ({ contextId, taskId, userMessage }, bus) => {
        const parts = [...userMessage.parts, framePart('@w>done:x{}[mid:w1,seq:1]')];
        bus.publish(AgentEvent.message({ ...userMessage, messageId: 'm1', contextId, taskId, role: 2, parts }));
      },
      cancelTask: async () => undefined,
    };
    const { client } = await connect(echo);
    const { parts } = (await client.sendMessage(frameMessage(PACKET, { mimeType }))) as Message;
    const packets = framesIn(parts, { mimeType }).map((text) => parsePacket(text));
    expect(packets).toMatchObject([{ task: 'FETCH', domain: 'HR' }]);
    expect(framesIn(parts)).toEqual(['@w>done:x{}[mid:w1,seq:1]']);
  });
});

describe('cards', () => {
  test('a card announces ACCP and the registry, and keeps its other members', async () => {
    const { card } = await connect(PLAIN_AGENT);
    expect(card.defaultInputModes).toEqual(['text/plain', FRAME_TYPE]);
    expect(card.capabilities?.streaming).toBe(true);
    expect(registryOfCard(card)).toMatchObject({ version: codec.registry.version, hash: codec.registry.hash });
    expect(registryOfCard(card)?.matches(createCodec().registry)).toBe(true);
    const again = accpCard(card, { registry: codec.registry });
    expect(again.capabilities.extensions).toHaveLength(1);
    expect(again.defaultInputModes).toEqual(card.defaultInputModes);
    expect(registryOfCard({})).toBeNull();
  });
});

describe('types', () => {
  test('the values that the binding creates and accepts have the types of the SDK', () => {
    expectTypeOf<FrameExecutor>().toExtend<AgentExecutor>();
    expectTypeOf<Client>().toExtend<FrameClient>();
    expectTypeOf(frameMessage('@a>done:x{}[mid:a1,seq:1]')).toExtend<SendMessageRequest>();
  });
});
