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
import { createCodec, createSession } from '../../../src/accp/session/index.js';

import { connect, talkTo } from './a2a-world.js';

describe('cancelling', () => {
  /** Sends one chunk, and works until it is told to stop. */
  function slow(): { handler: FrameHandler; stopped: Promise<string>; told: string[] } {
    const told: string[] = [];
    let stop: (why: string) => void = () => undefined;
    const stopped = new Promise<string>((resolve) => {
      stop = resolve;
    });
    const handler: FrameHandler = (frame, { signal }) => {
      told.push(frame);
      if (!frame.includes('>req:')) return null;
      return (async function* () {
        yield '@w>stream:x{idx:0|d:a|schema:ST}[mid:w1,seq:1,cid:q1]';
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        stop('aborted');
        yield '@w>done:x{}[mid:w2,seq:2,cid:q1]';
      })();
    };
    return { handler, stopped, told };
  }

  const CANCEL = '@p>cancel:x{}[mid:q2,seq:2,cid:q1,sid:s1]';

  test('a cancel frame is told to the handler, aborts what is under way, and cancels the task', async () => {
    const { handler, stopped, told } = slow();
    const { client } = await talkTo(handler);
    const streamed: string[] = [];
    for await (const frame of streamFrame(client, '@p>req:x{}[mid:q1,seq:1,sid:s1]')) {
      streamed.push(frame);
      expect(await sendFrame(client, CANCEL)).toEqual([]);
    }
    expect(await stopped).toBe('aborted');
    expect(streamed).toHaveLength(1);
    expect(told).toEqual(['@p>req:x{}[mid:q1,seq:1,sid:s1]', CANCEL]);
    const { tasks } = await client.listTasks({ contextId: 's1', status: 0 } as never);
    expect(tasks.map(({ status }) => status?.state)).toEqual([TaskState.TASK_STATE_CANCELED]);
  });

  test('an answer to the cancel frame goes to who sent it: the stream that it ends has not failed', async () => {
    const codec = createCodec();
    const endpoint = createEndpoint({
      codec,
      agent: 'worker',
      // Asked about the cancel frame, it says the same once more.
      handle: async (_, { signal }) => {
        signal.throwIfAborted();
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    });
    const { client } = await talkTo(endpoint.handler);
    const session = createSession({ agent: 'planner', sequence: 'sender' });
    const { frames, correlationId } = codec.encode({ intent: 'req', operation: 'x', payload: {} }, session);
    const streamed: string[] = [];
    const envelope = { correlation_id: correlationId };
    const streaming = (async () => {
      for await (const frame of streamFrame(client, frames)) streamed.push(frame);
    })();
    const { frames: cancel } = codec.encode({ intent: 'cancel', operation: 'x', payload: {}, envelope }, session);
    let answers: readonly string[] | null = null;
    // Only once the agent has said so is it known that there is a task.
    while (answers === null) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      answers = await sendFrame(client, cancel).catch((error) => {
        if (error.code !== 'unknown-task') throw error;
        return null;
      });
    }
    await streaming;
    expect([...streamed, ...answers]).toEqual([expect.stringContaining('code:E5001')]);
    endpoint.close();
  });

  test('cancelTask of the A2A client aborts the signal, and cancels the task', async () => {
    const { handler, stopped } = slow();
    const { client } = await talkTo(handler);
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

  test('a task that waits is cancelled, too', async () => {
    const { client } = await talkTo((frame) =>
      frame.includes('>req:') ? '@w>wait:x{}[mid:w1,seq:1,cid:q1]' : '@w>ack:x{}[mid:w2,seq:2,cid:q1]',
    );
    await sendFrame(client, '@p>req:x{}[mid:q1,seq:1,sid:s1]');
    expect(await sendFrame(client, CANCEL)).toEqual(['@w>ack:x{}[mid:w2,seq:2,cid:q1]']);
    const { tasks } = await client.listTasks({ contextId: 's1', status: 0 } as never);
    expect(tasks.map(({ status }) => status?.state)).toEqual([TaskState.TASK_STATE_CANCELED]);
  });

  test('an agent that goes on is stopped by cancelTask', async () => {
    const { client } = await connect(STUBBORN_AGENT);
    const waiting = await sendFrame(client, '@p>req:x{}[mid:q1,seq:1,sid:s1]');
    expect(waiting).toEqual(['@w>wait:x{}[mid:w1,seq:1,cid:q1]']);
    expect(await sendFrame(client, CANCEL)).toEqual([]);
    const { tasks } = await client.listTasks({ contextId: 's1', status: 0 } as never);
    expect(tasks.map(({ status }) => status?.state)).toEqual([TaskState.TASK_STATE_CANCELED]);
  });

  test('a cancel frame for a chain without a task is an error', async () => {
    const { client } = await talkTo(() => null);
    await expect(sendFrame(client, CANCEL)).rejects.toMatchObject({ code: 'unknown-task' });
  });
});

/** Waits, whatever it is told. */
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
