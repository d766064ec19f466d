import { TaskState } from '@a2a-js/sdk';
import { describe, expect, test } from 'vitest';
import {
  type FrameHandler,
  frameMessage,
  framePart,
  framesIn,
  sendFrame,
  streamFrame,
} from '../../../src/accp/bindings/a2a/index.js';
import { streamMessages } from '../../../src/accp/codec/index.js';

import { codec, endpointOf, REQUEST, startConversation } from './a2a-fixture.js';

describe('streams', () => {
  const WORDS = ['Hello', '_world', '!', '_And', '_more.'];
  const streaming = (): FrameHandler =>
    endpointOf((message) => {
      async function* words(): AsyncGenerator<string> {
        yield* WORDS;
      }
      return streamMessages(words(), { correlationId: message.envelope.msg_id, operation: 'infer' });
    });

  test('each ST frame is one artifact update, in order, and the task keeps one part for each', async () => {
    const { client, session } = await startConversation(streaming());
    const { frames, msgId } = codec.encode(REQUEST, session);
    const updates = [];
    let taskId = '';
    for await (const { payload } of client.sendMessageStream(frameMessage(frames))) {
      if (payload?.$case === 'artifactUpdate') updates.push(payload.value);
      if (payload?.$case === 'task') taskId = payload.value.id;
    }
    const chunks = updates.map(({ artifact }) => framesIn(artifact!.parts));
    expect(chunks.every(({ length }) => length === 1)).toBe(true);
    expect(chunks.flat().every((frame) => frame.includes('schema:ST'))).toBe(true);
    expect(updates.map(({ append }) => append)).toEqual(updates.map((_, index) => index > 0));
    expect(updates.map(({ lastChunk }) => lastChunk)).toEqual(updates.map((_, index) => index === updates.length - 1));
    const task = await client.getTask({ tenant: '', id: taskId });
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(task.artifacts).toHaveLength(1);
    expect(task.artifacts[0]).toMatchObject({ artifactId: msgId });
    expect(framesIn(task.artifacts[0]!.parts)).toEqual(chunks.flat());
  });

  test.each([
    ['an agent that streams', true],
    ['an agent that does not stream', false],
  ])('streamFrame yields the frames in order, and a session reads them as the stream: %s', async (_, isStreaming) => {
    const { client, session } = await startConversation(streaming(), { streaming: isStreaming });
    const { frames, msgId } = codec.encode(REQUEST, session);
    const heads: string[] = [];
    for await (const frame of streamFrame(client, frames)) {
      heads.push(frame.slice(0, frame.indexOf('{')));
      expect(codec.decode(frame, session).outcome).not.toBe('rejected');
    }
    expect(heads.at(-1)).toBe('@worker>end:infer');
    const chunks: unknown[] = [];
    for await (const { data } of session.stream(msgId)) chunks.push(data);
    expect(chunks.join('')).toBe(WORDS.join(''));
  });

  test('sendFrame returns the frames of a stream in the order in which they were sent', async () => {
    const answers = [
      '@w>ack:x{}[mid:w1,seq:1,cid:q1]',
      '@w>stream:x{idx:0|d:a|schema:ST}[mid:w2,seq:2,cid:q1]',
      '@w>wait:x{for:b}[mid:w3,seq:3,cid:q1]',
      '@w>stream:x{idx:1|d:b|done:true|schema:ST}[mid:w4,seq:4,cid:q1]',
      '@w>end:x{}[mid:w5,seq:5,cid:q1]',
      '@w>done:x{v:1}[mid:w6,seq:6,cid:q1]',
    ];
    const { client } = await startConversation(async function* handler() {
      yield* answers;
    } as unknown as FrameHandler);
    expect(await sendFrame(client, '@p>req:x{}[mid:q1,seq:1]')).toEqual(answers);
    const streamed: string[] = [];
    for await (const frame of streamFrame(client, '@p>req:x{}[mid:q2,seq:2]')) streamed.push(frame);
    expect(streamed).toEqual(answers);
  });

  test('a source that fails after its first chunk fails the task', async () => {
    const { client } = await startConversation(async function* handler() {
      yield '@w>stream:x{idx:0|d:a|schema:ST}[mid:w1,seq:1,cid:q1]';
      throw new Error('gone');
    } as unknown as FrameHandler);
    const streamed: string[] = [];
    for await (const frame of streamFrame(client, '@p>req:x{}[mid:q1,seq:1]')) streamed.push(frame);
    expect(streamed).toEqual([
      '@w>stream:x{idx:0|d:a|schema:ST}[mid:w1,seq:1,cid:q1]',
      expect.stringContaining('fail:error{code:E9999'),
    ]);
  });
});

describe('A2A 0.3', () => {
  test('frames are sent as files, in both directions', async () => {
    const { client, session } = await startConversation(
      endpointOf(() => ({ intent: 'done', operation: 'analyze', payload: { findings: 'up' } })),
      { protocolVersion: '0.3' },
    );
    const { frames } = codec.encode(REQUEST, session);
    const [answer] = await sendFrame(client, frames, { legacy: true });
    expect(codec.decode(answer!, session)).toMatchObject({ message: { intent: 'done', payload: { findings: 'up' } } });
  });

  test('streams are sent as files, too', async () => {
    const answers = [
      '@w>stream:x{idx:0|d:a|schema:ST}[mid:w1,seq:1,cid:q1]',
      '@w>stream:x{idx:1|d:b|done:true|schema:ST}[mid:w2,seq:2,cid:q1]',
      '@w>done:x{}[mid:w3,seq:3,cid:q1]',
    ];
    const { client } = await startConversation(
      async function* handler() {
        yield* answers;
      } as unknown as FrameHandler,
      { protocolVersion: '0.3' },
    );
    const streamed: string[] = [];
    for await (const frame of streamFrame(client, '@p>req:x{}[mid:q1,seq:1]', { legacy: true })) streamed.push(frame);
    expect(streamed).toEqual(answers);
  });

  test('a file that is not UTF-8 is rejected with E1001', () => {
    const part = { ...framePart('x'), content: { $case: 'raw' as const, value: Buffer.from([0xff, 0xfe]) } };
    expect(() => framesIn([part])).toThrow(expect.objectContaining({ code: 'E1001' }));
  });
});
