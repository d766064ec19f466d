/** Messages in state are isolated, although their payload is parsed only when needed. */
import { describe, expect, test } from 'vitest';
import { createCodec, createSession, type Json, ref, type Session } from '../../../src/accp/codec/index.js';

const codec = createCodec({ text: 'transliterate' });

function pair(): { readonly a: Session; readonly b: Session } {
  return { a: createSession({ agent: 'a', id: 's' }), b: createSession({ agent: 'b', id: 's' }) };
}

/** The payloads that cold state has of the last checkpoint. */
function kept(session: Session): Json[] {
  const raw = session.state.resolve('cold.ckpt_1') as unknown as { frames: { payload: Json }[] };
  return raw.frames.map(({ payload }) => payload);
}

const PAYLOAD = { note: 'two words', big: 2n ** 70n, list: [{ key: 'x y' }, null, 1.5], empty: '' };

describe('a message in state', () => {
  test('is not affected by changes of the sender', async () => {
    const { a } = pair();
    const list: Json[] = [1];
    codec.encode({ intent: 'req', operation: 'plan', payload: { list } }, a);
    list.push(2);
    await codec.checkpoint(a);
    list.push(3);
    expect(kept(a)).toEqual([{ list: [1] }]);
  });

  test('is not affected by changes of the receiver', async () => {
    const { a, b } = pair();
    const { frames } = codec.encode({ intent: 'req', operation: 'plan', schema: 'TA', payload: PAYLOAD }, a);
    const outcome = codec.decode(frames[0]!, b);
    if (outcome.outcome !== 'message') throw new Error(outcome.outcome);
    const payload = outcome.message.payload as Record<string, Json>;
    const before = { ...payload };
    (payload['list'] as Json[]).push('more');
    payload['note'] = 'changed';
    await codec.checkpoint(b);
    expect(kept(b)).toEqual([{ ...before, list: PAYLOAD.list }]);
    expect(kept(b)[0]).toMatchObject(PAYLOAD);
    expect(kept(b)[0]).toHaveProperty('priority', 'medium');
  });

  test('is stored by its sender with references and defaults, in whatever form it was sent', async () => {
    const payloads: Record<string, Json>[] = [
      { ...PAYLOAD, task: '42', source: ref('cold.k') },
      // Nested too deeply for a frame, and rounded.
      { task: 'deep', deps: [[[[[[['x']]]]]]] },
      { task: 'point', effort: 1.123_456_789 },
    ];
    const { a } = pair();
    for (const payload of payloads) {
      codec.encode({ intent: 'req', operation: 'plan', schema: 'TA', payload }, a);
    }
    await codec.checkpoint(a);
    expect(kept(a)).toEqual(payloads.map((payload) => ({ priority: 'medium', deps: [], ...payload })));
  });

  test('is stored by its sender, however long its frame is', async () => {
    const unlimited = { soft: Number.POSITIVE_INFINITY, hard: Number.POSITIVE_INFINITY };
    const limits = { header: unlimited, body: unlimited, metadata: unlimited, total: unlimited };
    const generous = createCodec({ text: 'transliterate', limits });
    const a = createSession({ agent: 'a', budgets: { hot: 1e6, hotTrigger: 1e6 } });
    const text = 'words '.repeat(300_000);
    expect(generous.encode({ intent: 'req', operation: 'plan', payload: { text } }, a).frames).toHaveLength(1);
    await generous.checkpoint(a);
    expect(kept(a)).toEqual([{ text }]);
  });

  test('keeps the values that its references had on receipt', async () => {
    const { a, b } = pair();
    b.state.set('hot', 'k', 'then');
    const { frames } = codec.encode({ intent: 'req', operation: 'plan', payload: { source: ref('hot.k') } }, a);
    expect(codec.decode(frames[0]!, b).outcome).toBe('message');
    b.state.set('hot', 'k', 'now');
    await codec.checkpoint(b);
    expect(kept(b)).toEqual([{ source: 'then' }]);
  });

  test('is complete if it was received in several frames', async () => {
    const { a, b } = pair();
    const text = 'many words '.repeat(200);
    const { frames } = codec.encode({ intent: 'req', operation: 'plan', payload: { text } }, a);
    expect(frames.length).toBeGreaterThan(1);
    for (const frame of frames) expect(codec.decode(frame, b).outcome).not.toBe('rejected');
    if (b.state.hotTokens() > 0) await codec.checkpoint(b);
    expect(JSON.stringify(b.state.resolve('cold.ckpt_1'))).toContain('many words many words');
  });

  test('is plain data to the tools of the host', async () => {
    const { a, b } = pair();
    const { frames } = codec.encode({ intent: 'req', operation: 'plan', payload: PAYLOAD }, a);
    const seen: unknown[] = [];
    const careful = createCodec({
      text: 'transliterate',
      checkpointTools: {
        summarize: ({ frames: given }) => {
          seen.push(...given.map((frame) => ({ ...frame })));
          return 'short';
        },
      },
    });
    careful.decode(frames[0]!, b);
    await careful.checkpoint(b);
    expect(seen).toMatchObject([{ agent: 'a', intent: 'req', operation: 'plan', payload: PAYLOAD }]);
  });
});
