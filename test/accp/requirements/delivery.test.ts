/** Delivery semantics (draft-benzing-accp-00, section 3.7). */
import { describe, expect, test } from 'vitest';
import { accepted, endpoints, rejected, taken } from './endpoints.js';

const RUN = { intent: 'req', operation: 'run' };

describe('1. idempotency', () => {
  test('a frame whose mid was seen before is rejected with E3002, and the sender is informed', () => {
    const { codec, planner, worker } = endpoints();
    const { frames, msgId } = codec.encode(RUN, planner);
    accepted(codec.decode(frames[0]!, worker));
    const { error, reply } = rejected(codec.decode(frames[0]!, worker), 'E3002');
    expect(error.codeName).toBe('DUPLICATE');
    expect(reply).toContain('{code:E3002|');
    expect(taken(reply!).metadata['aid']).toBe(msgId);
  });

  test('a known mid is a duplicate under a new number and with another payload, too', () => {
    const { codec, worker } = endpoints({ session: { sequence: 'sender' } });
    accepted(codec.decode('@planner>req:run{n:1}[mid:m1,seq:1]', worker));
    rejected(codec.decode('@planner>req:run{n:2}[mid:m1,seq:2]', worker), 'E3002');
    accepted(codec.decode('@planner>req:run{n:2}[mid:m2,seq:2]', worker));
  });

  test('seen identifiers are those of one session: another session takes the same one', () => {
    const one = endpoints({ session: { id: 's1' } });
    const two = endpoints({ session: { id: 's2' } });
    accepted(one.codec.decode('@planner>req:run{}[mid:m1,seq:1]', one.worker));
    accepted(one.codec.decode('@planner>req:run{}[mid:m1,seq:1]', two.worker));
  });

  test('a frame that was rejected for its content counts as seen', () => {
    const { codec, worker } = endpoints();
    rejected(codec.decode('@planner>nap:run{}[mid:m1,seq:1]', worker), 'E1002');
    rejected(codec.decode('@planner>req:run{}[mid:m1,seq:2]', worker), 'E3002');
  });

  test('a frame whose mid was evicted is caught by its number', () => {
    const { codec, worker } = endpoints({ session: { maxSeen: 2 } });
    for (let n = 1; n <= 5; n++) accepted(codec.decode(`@planner>req:run{}[mid:m${n},seq:${n}]`, worker));
    expect(codec.decode('@planner>req:run{}[mid:m1,seq:1]', worker)).toMatchObject({
      outcome: 'rejected',
      error: { code: 'E3003' },
    });
  });
});

describe('2. ordering', () => {
  test('frames are processed in ascending order only: an early one is not processed', () => {
    const { codec, planner, worker } = endpoints();
    const frames = [1, 2, 3].map((n) => codec.encode({ ...RUN, payload: { n } }, planner).frames[0]!);
    const processed: unknown[] = [];
    for (const frame of [frames[0]!, frames[2]!, frames[1]!]) {
      const outcome = codec.decode(frame, worker);
      if (outcome.outcome === 'message') processed.push(outcome.message.payload['n']);
    }
    expect(processed).toEqual([1]);
  });

  test('a gap is answered with E3003, which names the number that is expected', () => {
    const { codec, planner, worker } = endpoints();
    codec.encode(RUN, planner);
    const { frames } = codec.encode(RUN, planner);
    const { error, reply } = rejected(codec.decode(frames[0]!, worker), 'E3003');
    expect(error).toMatchObject({ codeName: 'SEQUENCE_GAP', retryable: true, details: { expected: 1 } });
    expect(reply).toMatch(/\{code:E3003\|.*\|expected:1\|schema:ER\}/);
  });

  test('a number at or below the last one is an error, too', () => {
    const { codec, worker } = endpoints();
    accepted(codec.decode('@planner>req:run{}[mid:m1,seq:1]', worker));
    accepted(codec.decode('@planner>req:run{}[mid:m2,seq:2]', worker));
    rejected(codec.decode('@planner>req:run{}[mid:m3,seq:2]', worker), 'E3003');
    rejected(codec.decode('@planner>req:run{}[mid:m4,seq:1]', worker), 'E3003');
  });

  test.each(['session', 'sender'] as const)(
    'after a gap, lost frames are sent again in order: counting by %s',
    (sequence) => {
      const { codec, planner, worker } = endpoints({ session: { sequence } });
      const send = (n: number): string => codec.encode({ ...RUN, payload: { n } }, planner).frames[0]!;
      accepted(codec.decode(send(1), worker));
      send(2);
      send(3);
      const { reply } = rejected(codec.decode(send(4), worker), 'E3003');
      const { replies } = accepted(codec.decode(reply!, planner));
      const again = replies.map((frame) => accepted(codec.decode(frame, worker)).message);
      expect(again.map(({ operation }) => operation)).toEqual(['resync', 'run', 'run', 'run']);
      expect(again.slice(1).map(({ payload }) => payload['n'])).toEqual([2, 3, 4]);
      expect(accepted(codec.decode(send(5), worker)).message.payload['n']).toBe(5);
    },
  );

  test('each sender has its own order where the session counts by sender', () => {
    const { codec, worker } = endpoints({ session: { sequence: 'sender' } });
    accepted(codec.decode('@planner>req:run{}[mid:m1,seq:1]', worker));
    accepted(codec.decode('@critic>req:run{}[mid:m2,seq:1]', worker));
    rejected(codec.decode('@critic>req:run{}[mid:m3,seq:3]', worker), 'E3003');
    accepted(codec.decode('@planner>req:run{}[mid:m4,seq:2]', worker));
  });
});

describe('3. retries', () => {
  test('a retryable failure can be sent again with the same cid and a new mid and seq', () => {
    const { codec, planner, worker } = endpoints();
    const first = codec.encode({ ...RUN, envelope: { correlation_id: 'c1' } }, planner);
    const { message } = accepted(codec.decode(first.frames[0]!, worker));
    const failed = codec.fail(message, new Error('the disk is full'), worker);
    expect(accepted(codec.decode(failed, planner)).message.payload).toMatchObject({ code: 'E9999', retryable: true });
    const again = codec.encode({ ...RUN, envelope: { correlation_id: 'c1' } }, planner);
    expect(again.msgId).not.toBe(first.msgId);
    expect(accepted(codec.decode(again.frames[0]!, worker)).message.envelope).toMatchObject({
      correlation_id: 'c1',
      msg_id: again.msgId,
      sequence: 3,
    });
  });

  test('a frame that is sent again after a gap keeps its cid, with a new mid and seq', () => {
    const { codec, planner, worker } = endpoints();
    const lost = codec.encode({ ...RUN, envelope: { correlation_id: 'c1' } }, planner);
    const next = codec.encode(RUN, planner);
    const { reply } = rejected(codec.decode(next.frames[0]!, worker), 'E3003');
    const [, copy] = accepted(codec.decode(reply!, planner)).replies;
    const { metadata } = taken(copy!);
    expect(metadata['cid']).toBe('c1');
    expect(metadata['mid']).not.toBe(lost.msgId);
    expect(Number(metadata['seq'])).toBeGreaterThan(2);
  });
});

describe('4. cancellation', () => {
  test('cancel stops the work under its cid, and nothing else', () => {
    const { codec, planner, worker } = endpoints();
    const { frames, correlationId } = codec.encode(RUN, planner);
    accepted(codec.decode(frames[0]!, worker));
    const signals = [worker.signal(correlationId), worker.signal('another')];
    const cancel = codec.encode(
      { intent: 'cancel', operation: 'run', envelope: { correlation_id: correlationId } },
      planner,
    );
    accepted(codec.decode(cancel.frames[0]!, worker));
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    expect(signals[0]!.reason).toMatchObject({ code: 'E5001' });
    expect(planner.signal(correlationId).aborted).toBe(true);
  });

  test('a signal of a chain that was cancelled before is aborted', () => {
    const { codec, worker } = endpoints();
    accepted(codec.decode('@planner>cancel:run{}[mid:m1,seq:1,cid:c1]', worker));
    expect(worker.signal('c1').aborted).toBe(true);
  });

  test('later frames of a cancelled chain are rejected, others continue', () => {
    const { codec, worker } = endpoints();
    accepted(codec.decode('@planner>req:run{}[mid:m1,seq:1,cid:c1]', worker));
    accepted(codec.decode('@planner>cancel:run{}[mid:m2,seq:2,cid:c1]', worker));
    rejected(codec.decode('@planner>req:run{}[mid:m3,seq:3,cid:c1]', worker), 'E5001');
    accepted(codec.decode('@planner>req:run{}[mid:m4,seq:5,cid:c2]', worker));
  });

  test('a stream of a cancelled chain ends for its reader at once', async () => {
    const { codec, worker } = endpoints();
    codec.decode('@planner>stream:infer{idx:0|d:a|schema:ST}[mid:m1,seq:1,cid:c1]', worker);
    accepted(codec.decode('@planner>cancel:infer{}[mid:m2,seq:2,cid:c1]', worker));
    const reading = async (): Promise<void> => {
      for await (const chunk of worker.stream('c1')) expect(chunk).toBeUndefined();
    };
    await expect(reading()).rejects.toMatchObject({ code: 'E5001' });
  });

  test('cancel without a cid is an error', () => {
    const { codec, planner, worker } = endpoints();
    expect(() => codec.encode({ intent: 'cancel', operation: 'run' }, planner)).toThrow(/correlation_id/);
    rejected(codec.decode('@planner>cancel:run{}[mid:m1,seq:1]', worker), 'E1004');
  });
});

describe('5. TTL enforcement', () => {
  test('an expired frame is rejected silently: nothing is sent, and only the debug log has an event', () => {
    const { codec, worker, clock, events } = endpoints();
    clock.now += 100;
    const outcome = codec.decode('@planner>req:run{}[mid:m1,seq:1,ts:1714000000,ttl:10]', worker);
    expect(outcome).toEqual({ outcome: 'dropped', reason: 'expired' });
    expect(events.map(({ type }) => type)).toEqual(['dropped']);
    expect(codec.encode(RUN, worker).frames).toHaveLength(1);
  });

  test.each([
    ['a duplicate', '@planner>req:run{}[mid:m1,seq:1,ts:1714000000,ttl:10]'],
    ['out of order', '@planner>req:run{}[mid:m2,seq:9,ts:1714000000,ttl:10]'],
    ['of an unknown intent', '@planner>nap:run{}[mid:m2,seq:2,ts:1714000000,ttl:10]'],
    ['of an unknown schema', '@planner>req:run{schema:ZZ}[mid:m2,seq:2,ts:1714000000,ttl:10]'],
    ['of a cancelled chain', '@planner>req:run{}[mid:m2,seq:2,ts:1714000000,ttl:10,cid:c9]'],
  ])('an expired frame is dropped as silently when it is %s', (_what, frame) => {
    const { codec, worker, clock } = endpoints();
    accepted(codec.decode('@planner>cancel:run{}[mid:m1,seq:1,cid:c9]', worker));
    clock.now += 100;
    expect(codec.decode(frame, worker)).toEqual({ outcome: 'dropped', reason: 'expired' });
  });

  test('an expired frame uses up its number: the next one causes no gap', () => {
    const { codec, worker, clock } = endpoints();
    clock.now += 100;
    codec.decode('@planner>req:run{}[mid:m1,seq:1,ts:1714000000,ttl:10]', worker);
    accepted(codec.decode('@planner>req:run{}[mid:m2,seq:2]', worker));
  });
});
