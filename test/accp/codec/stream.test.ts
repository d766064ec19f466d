import { describe, expect, test } from 'vitest';
import { createSession, streamMessages } from '../../../src/accp/codec/index.js';
import { sqliteStore } from '../../../src/accp/store/sqlite.js';
import { freshFiles } from '../../storage/folder.js';
import { endpoints } from './endpoints.js';

const fresh = freshFiles();

async function collect(chunks: AsyncIterable<{ readonly data: unknown }>): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const { data } of chunks) all.push(data);
  return all;
}

describe('a stream through a session', () => {
  test('arrives unchanged, and ends', async () => {
    const { codec, a, b } = endpoints({ text: 'transliterate' });
    const read = collect(b.stream('c1'));
    const kinds: string[] = [];
    for await (const message of streamMessages(['one', { two: 2 }, null, 'four five'], {
      correlationId: 'c1',
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
      for await (const message of streamMessages(source(), { correlationId: 'c1', operation: 'infer' })) {
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

  test('that stalls fails at the next tick', async () => {
    const { codec, a, b, clock } = endpoints({}, { streamTimeoutMs: 30_000 });
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

  test('chunks after its end are rejected', () => {
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
    expect(() => codec.encode(message(1, false), a)).toThrow(expect.objectContaining({ code: 'E3003' }));
    const late = '@a>stream:infer{idx:1|d:x|schema:ST}[mid:late,seq:3,cid:c1]';
    expect(codec.decode(late, b)).toMatchObject({ outcome: 'rejected', error: { code: 'E3003' } });
  });
});

describe('the end of a stream', () => {
  test('may be its final chunk', async () => {
    const { codec, a, b } = endpoints();
    const envelope = { correlation_id: 'c1' };
    const common = { operation: 'infer', schema: 'ST', envelope };
    const read = collect(b.stream('c1'));
    const frames = [
      { ...common, intent: 'stream', payload: { chunk_index: 0, data: 'Hello' } },
      { ...common, intent: 'end', payload: { chunk_index: 1, data: 'World', is_final: true } },
    ].map((message) => codec.encode(message, a).frames[0]!);
    expect(frames.map((frame) => codec.decode(frame, b).outcome)).toEqual(['pending', 'message']);
    expect(await read).toEqual(['Hello', 'World']);
  });
});

describe('the chunks of a reader', () => {
  test('are not shared with the outcome of decoding', async () => {
    const { codec, a, b } = endpoints();
    const envelope = { correlation_id: 'c1' };
    const payload = { chunk_index: 0, data: { list: [1] }, is_final: true };
    const { frames } = codec.encode({ intent: 'stream', operation: 'infer', schema: 'ST', payload, envelope }, a);
    const outcome = codec.decode(frames[0]!, b);
    if (outcome.outcome !== 'pending' || outcome.message === undefined) throw new Error(outcome.outcome);
    const { list } = outcome.message.payload['data'] as { list: number[] };
    list.push(2);
    const [data] = await collect(b.stream('c1'));
    expect(data).toEqual({ list: [1] });
  });

  test('are stored as read when the next one is requested, however the process ends', async () => {
    const file = fresh();
    const store = await sqliteStore(file);
    const { codec, a, b } = endpoints({}, { store });
    for (let index = 0; index < 5; index++) {
      const payload = { chunk_index: index, data: `c${index}`, ...(index === 4 ? { is_final: true } : {}) };
      const message = {
        intent: 'stream',
        operation: 'infer',
        schema: 'ST',
        payload,
        envelope: { correlation_id: 'c1' },
      };
      codec.decode(codec.encode(message, a).frames[0]!, b);
    }
    const chunks = b.stream('c1')[Symbol.asyncIterator]();
    for (const index of [0, 1, 2, 3]) expect(await chunks.next()).toMatchObject({ value: { data: `c${index}` } });
    // The session is not closed, as if its process had ended.
    const again = await sqliteStore(file);
    const resumed = createSession({ agent: 'b', id: 's', store: again });
    expect(await collect(resumed.stream('c1'))).toEqual(['c3', 'c4']);
    // To its end, too.
    const last = createSession({ agent: 'b', id: 's', store: again });
    expect(last.pendingStreams).toEqual([]);
    again.close();
    store.close();
  });
});
