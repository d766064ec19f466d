import { TaskState } from '@a2a-js/sdk';
import { AgentEvent, type AgentExecutor } from '@a2a-js/sdk/server';
import { describe, expect, test } from 'vitest';
import {
  createEndpoint,
  type FrameHandler,
  frameMessage,
  sendFrame,
  streamFrame,
} from '../../../src/accp/bindings/a2a/index.js';
import { createSession, type Session } from '../../../src/accp/codec/index.js';
import { codec, connect, endpointOf, startConversation } from './a2a-fixture.js';
import { createSignal } from './http-server.js';

describe('cancellation', () => {
  /** Sends one chunk, and works until its signal is aborted. */
  function slow(): { handler: FrameHandler; stopped: Promise<string>; received: string[] } {
    const received: string[] = [];
    let stop: (why: string) => void = () => undefined;
    const stopped = new Promise<string>((resolve) => {
      stop = resolve;
    });
    const handler: FrameHandler = (frame, { signal }) => {
      received.push(frame);
      if (!frame.includes('>req:')) return null;
      return (async function* () {
        yield '@w>stream:x{idx:0|d:a|schema:ST}[mid:w1,seq:1,cid:q1]';
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        stop('aborted');
        yield '@w>done:x{}[mid:w2,seq:2,cid:q1]';
      })();
    };
    return { handler, stopped, received };
  }

  const CANCEL = '@p>cancel:x{}[mid:q2,seq:2,cid:q1,sid:s1]';

  test('a cancel frame reaches the handler, aborts its work, and cancels the task', async () => {
    const { handler, stopped, received } = slow();
    const { client } = await startConversation(handler);
    const returned: string[] = [];
    let answers: readonly string[] = [];
    for await (const frame of streamFrame(client, '@p>req:x{}[mid:q1,seq:1,sid:s1]')) {
      returned.push(frame);
      if (frame.includes('>stream:')) answers = await sendFrame(client, CANCEL);
    }
    expect(await stopped).toBe('aborted');
    // Each numbered frame of the handler is returned once, to the first of the two readers.
    expect([...returned, ...answers].map((frame) => frame.slice(0, 10))).toEqual(['@w>stream:', '@w>done:x{']);
    expect(received).toEqual(['@p>req:x{}[mid:q1,seq:1,sid:s1]', CANCEL]);
    const { tasks } = await client.listTasks({ contextId: 's1', status: 0 } as never);
    expect(tasks.map(({ status }) => status?.state)).toEqual([TaskState.TASK_STATE_CANCELED]);
  });

  test('the answers to the request and to the cancel frame are returned in the order of their numbers', async () => {
    const endpoint = createEndpoint({
      codec,
      agent: 'worker',
      // Answers the cancel frame with the same frame again.
      handle: async (_, { signal }) => {
        signal.throwIfAborted();
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    });
    const { client } = await startConversation(endpoint.handler);
    const session = createSession({ agent: 'planner', sequence: 'sender' });
    const { frames, correlationId } = codec.encode({ intent: 'req', operation: 'x', payload: {} }, session);
    const streamed: string[] = [];
    const envelope = { correlation_id: correlationId };
    const streaming = (async () => {
      for await (const frame of streamFrame(client, frames)) streamed.push(frame);
    })();
    const { frames: cancel } = codec.encode({ intent: 'cancel', operation: 'x', payload: {}, envelope }, session);
    let answers: readonly string[] | null = null;
    // The client does not know that there is a task before the agent has reported it.
    while (answers === null) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      answers = await sendFrame(client, cancel).catch((error) => {
        if (error.code !== 'unknown-task') throw error;
        return null;
      });
    }
    await streaming;
    const all = [...streamed, ...answers];
    expect(all).toEqual([expect.stringContaining('code:E5001'), expect.stringContaining('code:E5001')]);
    expect(all.map((frame) => codec.decode(frame, session).outcome)).toEqual(['message', 'message']);
    endpoint.close();
  });

  test('cancelTask of the A2A client aborts the signal and cancels the task', async () => {
    const { handler, stopped } = slow();
    const { client } = await startConversation(handler);
    const states: (number | undefined)[] = [];
    let id = '';
    for await (const { payload } of client.sendMessageStream(frameMessage('@p>req:x{}[mid:q1,seq:1,sid:s1]'))) {
      if (payload?.$case === 'task') id = payload.value.id;
      if (payload?.$case === 'artifactUpdate') await client.cancelTask({ tenant: '', id, metadata: undefined });
      if (payload?.$case === 'statusUpdate') states.push(payload.value.status?.state);
    }
    expect(await stopped).toBe('aborted');
    expect(states).toEqual([TaskState.TASK_STATE_CANCELED]);
    expect((await client.getTask({ tenant: '', id })).status?.state).toBe(TaskState.TASK_STATE_CANCELED);
  });

  test('a task that waits can be cancelled', async () => {
    const { client } = await startConversation((frame) =>
      frame.includes('>req:') ? '@w>wait:x{}[mid:w1,seq:1,cid:q1]' : '@w>ack:x{}[mid:w2,seq:2,cid:q1]',
    );
    await sendFrame(client, '@p>req:x{}[mid:q1,seq:1,sid:s1]');
    expect(await sendFrame(client, CANCEL)).toEqual(['@w>ack:x{}[mid:w2,seq:2,cid:q1]']);
    const { tasks } = await client.listTasks({ contextId: 's1', status: 0 } as never);
    expect(tasks.map(({ status }) => status?.state)).toEqual([TaskState.TASK_STATE_CANCELED]);
  });

  test('cancelTask stops an agent that ignores the cancel frame', async () => {
    const { client } = await connect(STUBBORN_AGENT);
    const waiting = await sendFrame(client, '@p>req:x{}[mid:q1,seq:1,sid:s1]');
    expect(waiting).toEqual(['@w>wait:x{}[mid:w1,seq:1,cid:q1]']);
    expect(await sendFrame(client, CANCEL)).toEqual([]);
    const { tasks } = await client.listTasks({ contextId: 's1', status: 0 } as never);
    expect(tasks.map(({ status }) => status?.state)).toEqual([TaskState.TASK_STATE_CANCELED]);
  });

  test('a cancel frame for a chain without a task is sent, since it has a number', async () => {
    const received: string[] = [];
    const { client } = await startConversation((frame) => {
      received.push(frame);
      return null;
    });
    expect(await sendFrame(client, CANCEL)).toEqual([]);
    expect(received).toEqual([CANCEL]);
  });
});

describe('cancellation of a request whose answer is awaited', () => {
  const envelope = { correlation_id: 'chain1' };
  const ask = (operation: string) => ({ intent: 'req', operation, payload: {}, envelope });

  interface Waited {
    readonly client: Awaited<ReturnType<typeof startConversation>>['client'];
    readonly session: Session;
    /** The outcome of the pending request. */
    readonly answer: Promise<readonly string[]>;
  }

  /** A request whose handler ends only when its signal is aborted, or never. */
  async function waiting(operation: 'heeds' | 'ignores' | 'streams'): Promise<Waited> {
    const started = createSignal();
    const handler = endpointOf(({ intent, operation: asked }, { signal }) => {
      if (intent !== 'req') return null;
      if (asked === 'echo') return { intent: 'done', operation: asked };
      started.done();
      const over = new Promise<null>((_, reject) => {
        if (asked !== 'ignores') signal.addEventListener('abort', () => reject(signal.reason));
      });
      if (asked !== 'streams') return over;
      return (async function* () {
        yield { intent: 'stream', operation: asked, schema: 'ST', payload: { chunk_index: 0, data: 'a' } };
        await over;
      })();
    });
    const { client, session } = await startConversation(handler);
    const answer = sendFrame(client, codec.encode(ask(operation), session).frames);
    await started.promise;
    return { client, session, answer };
  }

  /** The next request and its answer: neither side has missed a frame. */
  async function proveWhole({ client, session }: Waited, frames: readonly string[]): Promise<void> {
    for (const frame of frames) {
      const outcome = codec.decode(frame, session);
      if (outcome.outcome !== 'rejected') continue;
      // A chunk of a cancelled chain is rejected, and has used its number.
      expect(outcome.error.code).toBe('E5001');
      await sendFrame(client, outcome.reply!);
    }
    const { frames: next } = codec.encode({ intent: 'req', operation: 'echo', payload: {} }, session);
    const [echo, ...more] = await sendFrame(client, next);
    expect(more).toEqual([]);
    expect(codec.decode(echo!, session)).toMatchObject({ outcome: 'message', message: { intent: 'done' } });
  }

  for (const operation of ['heeds', 'ignores', 'streams'] as const) {
    test(`by a cancel frame: the request ends with E5001, and no number is missing (the handler ${operation})`, async () => {
      const waited = await waiting(operation);
      const { frames } = codec.encode({ ...ask(operation), intent: 'cancel' }, waited.session);
      const cancelled = await sendFrame(waited.client, frames);
      const answers = await waited.answer;
      expect(answers.at(-1)).toContain('code:E5001');
      await proveWhole(waited, [...answers, ...cancelled]);
    });

    test(`by tasks/cancel: the request ends with E5001, and no number is missing (the handler ${operation})`, async () => {
      const waited = await waiting(operation);
      const { tasks } = await waited.client.listTasks({ contextId: waited.session.id, status: 0 } as never);
      await waited.client.cancelTask({ tenant: '', id: tasks[0]!.id, metadata: undefined });
      const answers = await waited.answer;
      expect(answers.at(-1)).toContain('code:E5001');
      await proveWhole(waited, answers);
    });
  }

  test('a cancel frame that arrives after the end of its task is sent nevertheless', async () => {
    const { client, session } = await startConversation(
      endpointOf(({ intent }) => (intent === 'req' ? 'Done.' : null)),
    );
    const request = codec.encode(ask('echo'), session);
    for (const frame of await sendFrame(client, request.frames)) codec.decode(frame, session);
    const late = await sendFrame(client, codec.encode({ ...ask('echo'), intent: 'cancel' }, session).frames);
    const next = await sendFrame(client, codec.encode({ intent: 'req', operation: 'echo' }, session).frames);
    expect([...late, ...next].map((frame) => codec.decode(frame, session).outcome)).toEqual(['message']);
  });
});

/** Waits, and ignores its signal. */
const STUBBORN_AGENT: AgentExecutor = {
  execute: async ({ contextId, taskId, task }, bus) => {
    const { message } = frameMessage('@w>wait:x{}[mid:w1,seq:1,cid:q1]', { taskId, contextId });
    const status = {
      state: TaskState.TASK_STATE_INPUT_REQUIRED,
      message: { ...message, role: 2 },
      timestamp: undefined,
    };
    bus.publish(
      AgentEvent.task(
        task ?? { id: taskId, contextId, status: undefined, artifacts: [], history: [], metadata: undefined },
      ),
    );
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status, metadata: undefined }));
  },
  cancelTask: async (taskId, bus) => {
    const status = { state: TaskState.TASK_STATE_CANCELED, message: undefined, timestamp: undefined };
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId: '', status, metadata: undefined }));
  },
};
