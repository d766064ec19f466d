import { expect, test } from 'vitest';
import { createCodec, createSession, streamMessages } from '../../../src/accp/codec/index.js';

test('a report of a gap does not end the stream whose request it names: the request is sent again', async () => {
  const codec = createCodec({ state: false });
  const client = createSession({ agent: 'client', sequence: 'sender' });
  const server = createSession({ agent: 'server', id: client.id, sequence: 'sender' });
  codec.encode({ intent: 'sync', operation: 'note' }, client);
  const envelope = { correlation_id: 'c1' };
  const { frames } = codec.encode({ intent: 'req', operation: 'infer', envelope }, client);
  const chunks = client.stream('c1')[Symbol.asyncIterator]();
  const first = chunks.next();
  const refused = codec.decode(frames[0]!, server);
  expect(refused).toMatchObject({ outcome: 'rejected', error: { code: 'E3003' } });
  const report = codec.decode((refused as { reply: string }).reply, client);
  for (const frame of (report as { replies: readonly string[] }).replies) codec.decode(frame, server);
  for await (const message of streamMessages(['a'], { correlationId: 'c1', operation: 'infer' }))
    for (const frame of codec.encode(message, server).frames) codec.decode(frame, client);
  expect((await first).value).toMatchObject({ data: 'a' });
});
