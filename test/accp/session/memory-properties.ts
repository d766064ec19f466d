/** The memory of an endless session, which stores only the last entries of everything. */
import { expect } from 'vitest';
import { createCodec, createSession, memoryStore } from '../../../src/accp/codec/index.js';

/**
 * Passes frames between two ends: questions, answers, and everything that leaves something behind.
 *
 * @param compact whether both ends send compact frames, with new keys and strings in each
 * @param onFrame a function that is called before each frame is sent, with the number of frames so far
 * @returns how many entries each end would keep, by collection
 */
export function passFrames(
  count: number,
  compact: boolean,
  onFrame: (frames: number) => void = () => {},
): Map<string, number> {
  let now = 1_714_000_000;
  const codec = createCodec({ now: () => now * 1000, text: 'transliterate', compact });
  // Cold state is bounded by characters; with less of it, the bound is reached sooner.
  const store = memoryStore({ maxCold: 1_000_000 });
  const open = (agent: string) =>
    createSession({ agent, id: 's', sequence: 'sender', store, maxSeen: 256, maxOutbox: 64, maxChains: 128 });
  const [asks, answers] = [open('a'), open('b')];
  if (compact) {
    const [announced] = codec.announce(asks).frames;
    const outcome = codec.decode(announced!, answers);
    if (outcome.outcome !== 'message') throw new Error('the announcement was rejected');
    codec.decode(outcome.replies[0]!, asks);
  }
  for (let frames = 0; frames < count; frames += 2) {
    onFrame(frames);
    if (frames % 100 === 0) now++;
    const cid = `c${frames}`;
    const question = {
      intent: 'req',
      operation: 'x',
      payload: { n: frames, q: 'what is it', ...(compact ? { [`key_${frames % 998}`]: `item_${frames}` } : {}) },
      envelope: { correlation_id: cid },
    };
    const answer = { intent: 'ack', operation: 'x', payload: { n: frames }, envelope: { correlation_id: cid } };
    const received = codec.decode(codec.encode(question, asks).frames[0]!, answers);
    if (received.outcome !== 'message' || received.message.payload['n'] !== frames) throw new Error(received.outcome);
    expect(codec.decode(codec.encode(answer, answers).frames[0]!, asks).outcome).toBe('message');
  }
  asks.close();
  answers.close();
  const kept = new Map<string, number>();
  for (const agent of ['a', 'b']) {
    for (const { collection } of store.claim('s', agent).entries()) {
      kept.set(`${agent}.${collection}`, (kept.get(`${agent}.${collection}`) ?? 0) + 1);
    }
  }
  return kept;
}
