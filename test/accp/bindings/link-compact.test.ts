/** Compact frames over links: used where both sides exchange frames, and not where a binding reads them itself. */
import { expect, test } from 'vitest';
import { createCodec, type MessageInput, streamMessages } from '../../../src/accp/codec/index.js';
import { openLinkFixture } from './links-fixture.js';

const PAYLOAD = { task: 'impl_auth_module', owner: 'dev_team', deps: ['db_migration', 'oauth_client'] };
const REQUEST: MessageInput = { intent: 'req', operation: 'plan_sprint', payload: PAYLOAD };

test.each([
  ['WebSocket', true],
  ['HTTP', false],
  ['A2A', false],
])('are sent over %s: %s', async (binding, isCompact) => {
  const { connect, received, proxy } = await openLinkFixture(
    binding,
    ({ intent, operation, payload, envelope }) => {
      const correlationId = envelope.correlation_id ?? envelope.msg_id;
      if (operation === 'infer') return streamMessages(['Hello', ',_', 'world!'], { correlationId, operation });
      return intent === 'req' ? { intent: 'done', operation, payload } : null;
    },
    { compact: true },
  );
  const link = await connect({ codec: createCodec({ compact: true, state: false }) });
  for (let round = 0; round < 4; round++) {
    expect((await link.request(REQUEST)).payload).toEqual(PAYLOAD);
    // The frames in transit are sent again.
    if (round === 2) proxy.cut();
  }
  const chunks: unknown[] = [];
  for await (const chunk of link.stream({ intent: 'req', operation: 'infer' })) chunks.push(chunk.data);
  expect(chunks).toEqual(['Hello', ',_', 'world!']);
  const requests = received().filter((frame) => frame.startsWith('@client>req:'));
  expect(requests.some((frame) => /^@client>req:\d+\{0:\[/.test(frame))).toBe(isCompact);
  expect(requests.some((frame) => frame.includes('tbl:'))).toBe(isCompact);
});
