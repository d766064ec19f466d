import { describe, expect, test } from 'vitest';
import { streamMessages } from '../../../src/accp/session/index.js';
import { endpoints } from './endpoints.js';

async function collect(chunks: AsyncIterable<{ readonly data: unknown }>): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const { data } of chunks) all.push(data);
  return all;
}

describe('a stream through a session', () => {
  test('comes out as it went in, and ends', async () => {
    const { codec, a, b } = endpoints({ text: 'transliterate' });
    const read = collect(b.stream('c1'));
    const kinds: string[] = [];
    for await (const message of streamMessages(['one', { two: 2 }, null, 'four five'], {
      cid: 'c1',
      operation: 'infer',
    })) {
      for (const frame of codec.encode(message, a).frames) kinds.push(codec.decode(frame, b).outcome);
    }
    expect(kinds).toEqual(['pending', 'pending', 'pending', 'pending', 'message']);
    expect(await read).toEqual(['one', { two: 2 }, null, 'four five']);
    expect(b.pendingStreams).toEqual([]);
  });

  test('fails for its reader when the sender fails, and when it is cancelled', async () => {
    const failing = endpoints({ text: 'transliterate' });
    async function* source(): AsyncGenerator<string> {
      yield 'one';
      yield 'two';
      throw new Error('out of paper');
    }
    const read = collect(failing.b.stream('c1'));
    read.catch(() => undefined);
    const send = async (): Promise<void> => {
      for await (const message of streamMessages(source(), { cid: 'c1', operation: 'infer' })) {
        for (const frame of failing.codec.encode(message, failing.a).frames) failing.codec.decode(frame, failing.b);
      }
    };
    await expect(send()).rejects.toThrow('out of paper');
    await expect(read).rejects.toMatchObject({ code: 'E9999' });

    const { codec, a, b } = endpoints();
    const cancelled = collect(b.stream('c2'));
    cancelled.catch(() => undefined);
    const envelope = { correlation_id: 'c2' };
    const chunk = {
      intent: 'stream',
      operation: 'infer',
      schema: 'ST',
      payload: { chunk_index: 0, data: 'x' },
      envelope,
    };
    codec.decode(codec.encode(chunk, a).frames[0]!, b);
    codec.decode(codec.encode({ intent: 'cancel', operation: 'infer', envelope }, a).frames[0]!, b);
    await expect(cancelled).rejects.toMatchObject({ code: 'E5001' });
  });

  test('that stalls fails when somebody looks at the clock', async () => {
    const { codec, a, b, clock } = endpoints({}, { streamTimeout: 30 });
    const chunk = { chunk_index: 0, data: 'x' };
    const envelope = { correlation_id: 'c1' };
    const message = { intent: 'stream', operation: 'infer', schema: 'ST', payload: chunk, envelope };
    codec.decode(codec.encode(message, a).frames[0]!, b);
    const read = collect(b.stream('c1'));
    read.catch(() => undefined);
    clock.now += 31;
    b.tick();
    await expect(read).rejects.toMatchObject({ code: 'E3001' });
  });

  test('chunks after its end are refused', () => {
    const { codec, a, b } = endpoints();
    const envelope = { correlation_id: 'c1' };
    const message = (index: number, final: boolean) => ({
      intent: 'stream',
      operation: 'infer',
      schema: 'ST',
      payload: { chunk_index: index, data: 'x', is_final: final },
      envelope,
    });
    codec.decode(codec.encode(message(0, true), a).frames[0]!, b);
    codec.decode(codec.encode({ intent: 'end', operation: 'infer', envelope }, a).frames[0]!, b);
    const late = codec.encode(message(1, false), a).frames[0]!;
    expect(codec.decode(late, b)).toMatchObject({ outcome: 'rejected', error: { code: 'E3003' } });
  });
});
