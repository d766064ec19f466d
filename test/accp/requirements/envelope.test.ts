/** The standard message envelope (draft-benzing-accp-00, section 3.5, Table 4). */
import { describe, expect, test } from 'vitest';
import { accepted, endpoints, NOON, rejected, taken, thrownBy } from './endpoints.js';

const PING = { intent: 'req', operation: 'run' };
/** Too long for one frame. */
const LONG = { ...PING, payload: { words: Array.from({ length: 70 }, (_, at) => `word_${at}`) } };

describe('the envelope of sent frames (Table 4)', () => {
  test('mid: 12 hexadecimal digits, unique, and never all digits', () => {
    const { codec, planner } = endpoints({ codec: { state: false } });
    const ids = Array.from({ length: 500 }, () => taken(codec.encode(PING, planner).frames[0]!).metadata['mid']);
    for (const id of ids) expect(id).toMatch(/^(?=.*[a-f])[0-9a-f]{12}$/);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('mid: one that the session has seen is not sent again', () => {
    const { codec, planner, worker } = endpoints();
    const named = { ...PING, envelope: { msg_id: 'a00000000001' } };
    codec.decode(codec.encode(named, planner).frames[0]!, worker);
    expect(thrownBy(() => codec.encode(named, planner)).code).toBe('E3002');
    expect(thrownBy(() => codec.encode(named, worker)).code).toBe('E3002');
  });

  test('mid: a source that repeats itself is called again', () => {
    const ids = ['a1', 'a1', 'a1', 'a2'];
    const { codec, planner } = endpoints({ codec: { createId: () => ids.shift()! } });
    const sent = [codec.encode(PING, planner), codec.encode(PING, planner)];
    expect(sent.map(({ msgId }) => msgId)).toEqual(['a1', 'a2']);
  });

  test('seq: rises by one with each frame of the session, of any sender', () => {
    const { codec, planner, worker } = endpoints();
    const numbers: unknown[] = [];
    for (let turn = 0; turn < 6; turn++) {
      const [from, to] = turn % 3 === 2 ? [worker, planner] : [planner, worker];
      const { frames } = codec.encode(PING, from);
      numbers.push(taken(frames[0]!).metadata['seq']);
      accepted(codec.decode(frames[0]!, to));
    }
    expect(numbers).toEqual(['1', '2', '3', '4', '5', '6']);
  });

  test('seq: a number that is not the next one cannot be sent', () => {
    const { codec, planner } = endpoints();
    expect(thrownBy(() => codec.encode({ ...PING, envelope: { sequence: 2 } }, planner)).code).toBe('E3003');
    expect(codec.encode({ ...PING, envelope: { sequence: 1 } }, planner).frames).toHaveLength(1);
  });

  test('ts: the time of sending in seconds since 1970', () => {
    const { codec, planner, clock } = endpoints();
    const sent = (): unknown => taken(codec.encode(PING, planner).frames[0]!).metadata['ts'];
    expect(sent()).toBe(String(NOON));
    clock.now += 90;
    expect(sent()).toBe(String(NOON + 90));
  });

  test('every frame has mid, seq and ts: messages, parts of messages, announcements, state, copies and errors', () => {
    const { codec, planner, worker, clock } = endpoints();
    const frames = [
      ...codec.encode(PING, planner).frames,
      ...codec.encode(LONG, planner).frames,
      ...codec.announce(planner).frames,
      ...codec.syncState({ goal: 'launch' }, planner).frames,
      ...codec.resync(1, planner),
      rejected(codec.decode('nonsense', worker), 'E1001').reply!,
    ];
    expect(frames.length).toBeGreaterThan(9);
    for (const frame of frames) {
      const { mid, seq, ts } = taken(frame).metadata;
      expect([mid, seq, ts]).toEqual([
        expect.stringMatching(/^[0-9a-f]{12}$/),
        expect.stringMatching(/^[0-9]+$/),
        String(clock.now),
      ]);
    }
  });

  test('cid: an answer has that of its request', () => {
    const { codec, planner, worker } = endpoints();
    const { frames, correlationId } = codec.encode(PING, planner);
    accepted(codec.decode(frames[0]!, worker));
    const envelope = { correlation_id: correlationId };
    const answer = codec.encode({ intent: 'done', operation: 'run', envelope }, worker);
    expect(taken(answer.frames[0]!).metadata['cid']).toBe(correlationId);
    expect(accepted(codec.decode(answer.frames[0]!, planner)).message.envelope.correlation_id).toBe(correlationId);
  });

  test('cid: an error frame has that of the frame that it answers', () => {
    const { codec, worker } = endpoints();
    const refused = rejected(codec.decode('@planner>nap:run{}[mid:m1,seq:1,cid:c7]', worker), 'E1002');
    expect(taken(refused.reply!).metadata['cid']).toBe('c7');
  });

  test('aid: names the message that caused this one', () => {
    const { codec, planner, worker } = endpoints();
    const { frames } = codec.encode({ ...PING, envelope: { causation_id: 'b4' } }, planner);
    expect(taken(frames[0]!).metadata['aid']).toBe('b4');
    expect(accepted(codec.decode(frames[0]!, worker)).message.envelope.causation_id).toBe('b4');
    const refused = rejected(codec.decode('@planner>nap:run{}[mid:m9,seq:2]', worker), 'E1002');
    expect(taken(refused.reply!).metadata['aid']).toBe('m9');
  });

  test('sid: every message, announcement and error has it', () => {
    const { codec, planner, worker } = endpoints();
    const frames = [
      ...codec.encode(PING, planner).frames,
      ...codec.announce(planner).frames,
      ...codec.syncState({ goal: 'launch' }, planner).frames,
      rejected(codec.decode('nonsense', worker), 'E1001').reply!,
    ];
    for (const frame of frames) expect(taken(frame).metadata['sid']).toBe('s1');
  });

  test('sid: all frames of a split message have it, and the cid', () => {
    const { codec, planner } = endpoints();
    const { frames, correlationId } = codec.encode(LONG, planner);
    expect(frames.length).toBeGreaterThan(1);
    expect(frames.map((frame) => taken(frame).metadata['sid'])).toEqual(frames.map(() => 's1'));
    for (const frame of frames) expect(taken(frame).metadata['cid']).toBe(correlationId);
    const short = endpoints({ codec: { sessionId: 'first' } });
    const parts = short.codec.encode(LONG, short.planner).frames;
    expect(parts.map((frame) => taken(frame).metadata['sid'])).toEqual(
      parts.map((_, at) => (at === 0 ? 's1' : undefined)),
    );
  });

  test('sid: to save tokens, a host can have it in the first frame of the session only', () => {
    const { codec, planner } = endpoints({ codec: { sessionId: 'first' } });
    const ids = [1, 2, 3].map(() => taken(codec.encode(PING, planner).frames[0]!).metadata['sid']);
    expect(ids).toEqual(['s1', undefined, undefined]);
  });

  test('ttl: seconds until the frame expires', () => {
    const { codec, planner, worker } = endpoints();
    const { frames } = codec.encode({ ...PING, envelope: { ttl: 30 } }, planner);
    expect(taken(frames[0]!).metadata['ttl']).toBe('30');
    expect(accepted(codec.decode(frames[0]!, worker)).message.envelope.ttl).toBe(30);
  });

  test('the fields are in the order of the table', () => {
    const { codec, planner } = endpoints();
    const envelope = { ttl: 5, session_id: 's1', causation_id: 'a', correlation_id: 'c', timestamp: 9, msg_id: 'f1' };
    const { frames } = codec.encode({ ...PING, envelope }, planner);
    expect(frames[0]).toContain('[mid:f1,seq:1,ts:9,cid:c,aid:a,sid:s1,ttl:5]');
  });

  test.each([
    ['timestamp', { timestamp: 1.5 }],
    ['timestamp', { timestamp: -1 }],
    ['ttl', { ttl: 0.5 }],
    ['msg_id', { msg_id: 'two words' }],
    ['correlation_id', { correlation_id: '' }],
  ])('a value for %s that a frame cannot hold is rejected, and uses up no number', (field, envelope) => {
    const { codec, planner } = endpoints();
    expect(thrownBy(() => codec.encode({ ...PING, envelope }, planner))).toMatchObject({
      code: 'E1004',
      path: `envelope.${field}`,
    });
    expect(taken(codec.encode(PING, planner).frames[0]!).metadata['seq']).toBe('1');
  });
});

describe('the envelope of received frames', () => {
  test.each([
    ['mid', '@planner>req:run{}[seq:1,ts:1714000000]'],
    ['seq', '@planner>req:run{}[mid:m1,ts:1714000000]'],
    ['mid', '@planner>req:run{}'],
  ])('a frame without %s is rejected: %s', (field, frame) => {
    const { codec, worker } = endpoints();
    const { error } = rejected(codec.decode(frame, worker), 'E1001');
    expect(error.path).toBe(`metadata.${field}`);
  });

  test('a frame without ts is accepted, and its ttl never runs out', () => {
    const { codec, worker, clock } = endpoints();
    clock.now += 1_000_000;
    const { message } = accepted(codec.decode('@planner>req:run{}[mid:m1,seq:1,ttl:1]', worker));
    expect(message.envelope).toEqual({ msg_id: 'm1', sequence: 1, ttl: 1 });
  });

  test('all fields come with their full names', () => {
    const { codec, worker } = endpoints({ session: { id: 'abc-session', firstSequence: 3 } });
    const frame = '@planner>req:run{}[mid:49679033e07c,seq:3,ts:1714000000,cid:corr123,aid:b4,sid:abc-session,ttl:60]';
    expect(accepted(codec.decode(frame, worker)).message.envelope).toEqual({
      msg_id: '49679033e07c',
      sequence: 3,
      timestamp: 1_714_000_000,
      correlation_id: 'corr123',
      causation_id: 'b4',
      session_id: 'abc-session',
      ttl: 60,
    });
  });

  test('identifiers are text, even if numeric', () => {
    const { codec, worker } = endpoints();
    const frame = '@planner>req:run{}[mid:001234567890,seq:1,cid:007,aid:1.50]';
    expect(accepted(codec.decode(frame, worker)).message.envelope).toMatchObject({
      msg_id: '001234567890',
      correlation_id: '007',
      causation_id: '1.50',
    });
  });

  test.each(['seq:x1', 'seq:1.0', 'seq:-1', 'seq:1,ts:soon', 'seq:1,ts:1.5', 'seq:1,ttl:~', 'seq:1,ttl:-5'])(
    'a field of another type is an error: %s',
    (fields) => {
      const { codec, worker } = endpoints();
      rejected(codec.decode(`@planner>req:run{}[mid:m1,${fields}]`, worker), 'E1004');
    },
  );

  test('a frame of another session is rejected', () => {
    const { codec, worker } = endpoints({ session: { sequence: 'sender' } });
    rejected(codec.decode('@planner>req:run{}[mid:m1,seq:1,sid:s2]', worker), 'E5001');
    accepted(codec.decode('@planner>req:run{}[mid:m2,seq:1,sid:s1]', worker));
  });

  test('a frame whose ttl has run out is not delivered', () => {
    const { codec, planner, worker, clock } = endpoints();
    const { frames } = codec.encode({ ...PING, envelope: { ttl: 30 } }, planner);
    clock.now += 31;
    expect(codec.decode(frames[0]!, worker)).toEqual({ outcome: 'dropped', reason: 'expired' });
  });

  test('a frame whose ttl has not run out is delivered, up to its last second', () => {
    const { codec, planner, worker, clock } = endpoints();
    const { frames } = codec.encode({ ...PING, envelope: { ttl: 30 } }, planner);
    clock.now += 30;
    accepted(codec.decode(frames[0]!, worker));
  });

  test('a ttl of 0 never runs out', () => {
    const { codec, planner, worker, clock } = endpoints();
    const { frames } = codec.encode({ ...PING, envelope: { ttl: 0 } }, planner);
    clock.now += 1_000_000_000;
    accepted(codec.decode(frames[0]!, worker));
  });
});
