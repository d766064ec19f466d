/** Tests that are specific to links over A2A: agents that do not stream, use A2A 0.3, or do not support ACCP. */
import { AgentEvent, type AgentExecutor } from '@a2a-js/sdk/server';
import { afterEach, describe, expect, test } from 'vitest';
import { accpExecutor, connectA2A, type Link } from '../../../src/accp/bindings/a2a/index.js';
import { createSession, streamMessages } from '../../../src/accp/codec/index.js';
import { codec, connect, endpointOf, REQUEST } from './a2a-fixture.js';

const links: Link[] = [];
afterEach(async () => {
  for (const link of links.splice(0)) await link.close();
});

async function linkTo(executor: AgentExecutor, served: Parameters<typeof connect>[1], legacy = false): Promise<Link> {
  const { client } = await connect(executor, served);
  const link = await connectA2A(client, {
    ...{ codec, session: createSession({ agent: 'planner', sequence: 'sender' }), legacy },
    reconnect: { minDelayMs: 10, maxDelayMs: 20, maxAttempts: 2 },
  });
  links.push(link);
  return link;
}

const handler = () =>
  endpointOf(({ intent, operation, payload, envelope }) => {
    if (intent !== 'req') return null;
    if (operation !== 'infer') return { intent: 'done', operation, payload };
    return streamMessages(['a', 'b', 'c'], { correlationId: envelope.correlation_id ?? envelope.msg_id, operation });
  });

describe.each([
  ['that streams', {}, false],
  ['that does not stream', { streaming: false }, false],
  ['of A2A 0.3', { protocolVersion: '0.3' }, true],
] as const)('a link to an agent %s', (_, served, legacy) => {
  test('sends requests and reads streams', async () => {
    const link = await linkTo(accpExecutor(handler()), served, legacy);
    expect((await link.request(REQUEST)).payload).toEqual(expect.objectContaining(REQUEST.payload));
    const pieces: unknown[] = [];
    for await (const { data } of link.stream({ intent: 'req', operation: 'infer' })) pieces.push(data);
    expect(pieces).toEqual(['a', 'b', 'c']);
    expect((await link.request(REQUEST)).intent).toBe('done');
  });
});

test('a link rejects an agent that does not answer in frames', async () => {
  const plain: AgentExecutor = {
    execute: async ({ contextId, taskId }, bus) => {
      const message = { messageId: 'm', contextId, taskId: '', role: 2, metadata: undefined, extensions: [] };
      const parts = [{ content: { $case: 'text', value: 'Hi!' }, mediaType: 'text/plain', filename: '', metadata: {} }];
      bus.publish(AgentEvent.message({ ...message, parts, referenceTaskIds: [] } as never));
      void taskId;
    },
    cancelTask: async () => undefined,
  };
  await expect(linkTo(plain, {})).rejects.toMatchObject({ name: 'LinkError', code: 'refused' });
});
