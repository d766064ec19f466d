/** Delivery: random courses of events, and those from which something was learned. */
import { describe, expect, test } from 'vitest';
import { createCodec, createSession } from '../../../src/accp/codec/index.js';
import { testDelivery } from './delivery-properties.js';
import { flush, flushTurns } from './steps.js';
import { World } from './world.js';

testDelivery(30);

describe('known scenarios', () => {
  test('a gap before many frames is repaired by one resend', () => {
    const world = new World({ sequence: 'sender' });
    for (let count = 0; count < 40; count++) world.say('a');
    world.ends.b.incoming.drop(0);
    // 39 refusals, one resync, and the forty messages.
    expect(world.drain(200)).toBe(39 + 39 + 1 + 40);
    expect(world.unaccounted()).toEqual([]);
  });

  test('gaps in both directions at once are repaired', () => {
    const world = new World({ sequence: 'sender' });
    for (let count = 0; count < 10; count++) {
      world.say('a');
      world.say('b');
    }
    world.ends.b.incoming.drop(0);
    world.ends.a.incoming.drop(4);
    expect(world.drain(300)).toBeLessThan(100);
    expect(world.unaccounted()).toEqual([]);
  });

  test('lost reports, lost announcements and their repetitions are tolerated', () => {
    const world = new World({ sequence: 'sender' });
    world.say('a');
    world.ends.b.incoming.drop(0);
    world.say('a');
    world.deliver('b');
    world.ends.a.incoming.drop(0);
    world.say('a');
    world.deliver('b');
    world.deliver('a');
    // The announcement comes twice, and once more when all is over.
    world.ends.b.incoming.repeat(0);
    world.ends.b.incoming.repeat(0);
    world.ends.b.incoming.drop(0);
    expect(flush(world, 300)).toBeLessThan(60);
    expect(world.unaccounted()).toEqual([]);
  });

  test('with one count and simultaneous frames, no exchange of rejections continues for ever', () => {
    const world = new World({ sequence: 'session' });
    world.say('a', { intent: 'req', cid: 'q1' });
    world.deliver('b');
    world.say('b', { intent: 'done', cid: 'q1' });
    world.say('a', { intent: 'req', cid: 'q1' });
    expect(world.drain(50)).toBeLessThan(20);
    // The message of one side is lost, and that side is informed.
    expect(world.unaccounted()).toHaveLength(1);
    expect(world.ends.b.lost).toBe(1);
    flushTurns(world, 100);
    expect(world.unaccounted()).toHaveLength(1);
  });

  test('with one count, the error about an unreadable frame takes the number of that frame', () => {
    const world = new World({ sequence: 'session' });
    world.say('a', { intent: 'req', cid: 'q1' });
    world.ends.b.incoming.spoil(0, 'blank', 3);
    world.drain(10);
    // Neither side knows which message it was; only the time-out tells.
    expect(world.unaccounted()).toHaveLength(1);
    world.wait(61);
    expect([...world.ends.a.overdue]).toEqual(['q1']);
    flushTurns(world, 100);
    expect(world.messages.at(-1)).toMatchObject({ from: 'b', processed: 1 });
  });

  test('with a count for each sender, the same scenario loses nothing', () => {
    const world = new World({ sequence: 'sender' });
    world.say('a', { intent: 'req', cid: 'q1' });
    world.ends.b.incoming.spoil(0, 'blank', 3);
    flush(world, 100);
    expect(world.unaccounted()).toEqual([]);
  });

  test('messages that were evicted before their resend are reported as lost', () => {
    const world = new World({ sequence: 'sender', session: { maxOutbox: 40 } });
    const { codec, session } = world.ends.a;
    let seq = 0;
    const ask = (expected: number) => {
      seq++;
      const error = `code:E3003|msg:gap|retry:true|expected:${expected}|schema:ER`;
      const outcome = codec.decode(`@b>fail:error{${error}}[mid:x${seq},seq:${seq},ts:1714000000]`, session);
      if (outcome.outcome !== 'message') throw new Error(outcome.outcome);
      return outcome;
    };
    for (let count = 0; count < 40; count++) world.say('a');
    const [first, second, third] = [ask(1).replies, ask(1).replies, ask(1).replies];
    // Twice all of them; then the first ones, and what makes the other side ask for the rest.
    expect([first.length, second.length]).toEqual([41, 41]);
    expect(third.length).toBeLessThan(20);
    const sent = third.length - 2;
    const next = Number(/seq:(\d+)/.exec(third.at(-1)!)![1]);
    for (let count = 0; count < 39; count++) world.say('a');
    const { warnings } = ask(next);
    expect(warnings).toMatchObject([{ code: 'lost', message: expect.stringMatching(`^${39 - sent} frames`) }]);
    expect(ask(next).warnings).toEqual([]);
  });

  test('an endpoint that requests the same frames again and again gets them a limited number of times', () => {
    const world = new World({ sequence: 'sender' });
    world.say('a');
    world.ends.b.incoming.drop(0);
    const { codec, session } = world.ends.a;
    let refused = 'none';
    let resent = 0;
    for (let seq = 1; seq <= 200; seq++) {
      const report = `@b>fail:error{code:E3003|msg:gap|retry:true|expected:1|schema:ER}[mid:x${seq},seq:${seq},ts:1714000000,aid:${refused}]`;
      const outcome = codec.decode(report, session);
      if (outcome.outcome !== 'message') throw new Error(outcome.outcome);
      resent += outcome.replies.length - 1;
      refused = /mid:([^,]+)/.exec(outcome.replies.at(-1)!)![1]!;
      if (outcome.warnings.length > 0) break;
    }
    expect(resent).toBe(63);
  });
});

test('the answer to a request that was sent again names its first identifier', () => {
  const codec = createCodec();
  const here = createSession({ agent: 'a', sequence: 'sender' });
  const there = createSession({ agent: 'b', id: here.id, sequence: 'sender' });
  const request = { intent: 'req', operation: 'x', payload: {} };
  const lost = codec.encode(request, here);
  const refused = codec.decode(codec.encode(request, here).frames[0]!, there);
  if (refused.outcome !== 'rejected') throw new Error(refused.outcome);
  const told = codec.decode(refused.reply!, here);
  if (told.outcome !== 'message') throw new Error(told.outcome);
  const requests = told.replies.map((frame) => codec.decode(frame, there)).slice(1);
  const answers = requests.map((outcome) => {
    if (outcome.outcome !== 'message') throw new Error(outcome.outcome);
    const { correlation_id } = outcome.message.envelope;
    return codec.encode({ intent: 'done', operation: 'x', payload: {}, envelope: { correlation_id } }, there);
  });
  expect(answers).toHaveLength(2);
  expect(answers[0]!.correlationId).toBe(lost.correlationId);
  expect(codec.decode(answers[0]!.frames[0]!, here)).toMatchObject({
    outcome: 'message',
    message: { envelope: { correlation_id: lost.msgId } },
  });
});
