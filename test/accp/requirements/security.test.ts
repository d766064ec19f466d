/** Security considerations (draft-benzing-accp-00, section 9). */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { memoryStore } from '../../../src/accp/codec/index.js';
import { accepted, endpoints, rejected } from './endpoints.js';

describe('1. opacity', () => {
  test('the debug log has every frame in plain English, both ways', () => {
    const { codec, planner, worker, events } = endpoints({ codec: { explain: true } });
    const { frames } = codec.encode({ intent: 'req', operation: 'schedule', payload: { task: 'auth' } }, planner);
    accepted(codec.decode(frames[0]!, worker));
    const told = events.filter(({ frame }) => frame === frames[0]);
    expect(told.map(({ type, agent }) => [type, agent])).toEqual([
      ['sent', 'planner'],
      ['received', 'worker'],
    ]);
    for (const { message } of told) {
      expect(message).toMatch(/planner/);
      expect(message).toMatch(/requests/);
      expect(message).toMatch(/auth/);
    }
  });

  test('the debug log reports rejections, drops and checkpoints', () => {
    const { codec, worker, clock, events } = endpoints({ codec: { explain: true } });
    clock.now += 100;
    codec.decode('nonsense', worker);
    codec.decode('@planner>req:run{}[mid:m1,seq:2,ts:1714000000,ttl:10]', worker);
    codec.decode('@planner>done:run{}[mid:m2,seq:3]', worker);
    expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(['rejected', 'dropped', 'checkpoint']));
    for (const { message, session } of events) {
      expect(message.length).toBeGreaterThan(10);
      expect(session).toBe('s1');
    }
  });
});

describe('2. injection', () => {
  const WHOLE = '@planner>done:analyze{d:q3|f:[rev,{k:1}]|nx:\\@a}[mid:m1,seq:1,cid:c1]';

  test('a frame that is cut short anywhere is rejected, and nothing of it is processed', () => {
    for (let length = 0; length < WHOLE.length; length++) {
      const { codec, worker } = endpoints();
      rejected(codec.decode(WHOLE.slice(0, length), worker), 'E1001');
      expect(codec.getBudget(worker)).toMatchObject({ hot: { used: 0 }, warm: { checkpoints: [] } });
    }
    const { codec, worker } = endpoints();
    accepted(codec.decode(WHOLE, worker));
  });

  test('a frame with something before, after or beside it is rejected', () => {
    for (const text of [
      ` ${WHOLE}`,
      `${WHOLE}\n`,
      `${WHOLE}${WHOLE}`,
      `x${WHOLE}`,
      `${WHOLE}\u0000`,
      `Here: ${WHOLE}`,
    ]) {
      const { codec, worker } = endpoints();
      rejected(codec.decode(text, worker), 'E1001');
    }
  });

  test('the strict grammar is the default: the syntax that only the examples use is rejected', () => {
    const { codec, worker } = endpoints();
    rejected(codec.decode('@a>req:run{who:@dev}[mid:m1,seq:1]', worker), 'E1001');
    const lenient = endpoints({ codec: { dialect: 'lenient' } });
    accepted(lenient.codec.decode('@a>req:run{who:@dev}[mid:m1,seq:1]', lenient.worker));
  });

  test('no text in a value can add a key, a field or a frame', () => {
    const hostile = fc.string({ unit: fc.constantFrom(...'@>:{}[]|$,~\\ab1 .'), minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(hostile, hostile, (value, other) => {
        const { codec, planner, worker } = endpoints({ codec: { text: 'transliterate' } });
        const payload = { value, other: { list: [other] } };
        const { frames } = codec.encode({ intent: 'req', operation: 'run', payload }, planner);
        expect(frames).toHaveLength(1);
        const { message } = accepted(codec.decode(frames[0]!, worker));
        expect(JSON.parse(JSON.stringify(message.payload))).toEqual(payload);
        expect(Object.keys(message.envelope)).toEqual(['msg_id', 'sequence', 'timestamp', 'session_id']);
      }),
      { numRuns: 80 },
    );
  });

  test.each([
    ['__proto__:{polluted:yes}'],
    ['constructor:{prototype:{polluted:yes}}'],
    ['m:{__proto__:{polluted:yes}}'],
    ['toString:x|hasOwnProperty:y|valueOf:z'],
  ])('hostile keys are ordinary keys: %s', (payload) => {
    const { codec, worker } = endpoints();
    const { message } = accepted(codec.decode(`@a>req:run{${payload}}[mid:__proto__,seq:1,cid:constructor]`, worker));
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(Object.keys(message.payload)).toEqual(payload.match(/^\w+|(?<=\|)\w+/g));
    expect(worker.signal('toString').aborted).toBe(false);
  });
});

describe('3. access to the state store', () => {
  test('cold state belongs to its session: another one cannot refer to it', () => {
    const store = memoryStore();
    const one = endpoints({ session: { id: 's1', store } });
    const two = endpoints({ session: { id: 's2', store } });
    one.codec.getBudget(one.worker);
    one.worker.state.set('cold', 'secret', 'launch_codes');
    one.codec.getBudget(one.worker);
    rejected(two.codec.decode('@planner>req:run{v1:$cold.secret}[mid:m1,seq:1]', two.worker), 'E5002');
    accepted(one.codec.decode('@planner>req:run{v1:$cold.secret}[mid:m1,seq:1]', one.worker));
  });

  test.each(['when the session is opened', 'later'])('a session that was granted explicitly is open: %s', (moment) => {
    const store = memoryStore();
    const one = endpoints({ session: { id: 's1', store } });
    one.codec.getBudget(one.worker);
    one.worker.state.set('cold', 'secret', 'launch_codes');
    one.codec.getBudget(one.worker);
    const grants = moment === 'later' ? [] : ['s1'];
    const two = endpoints({ session: { id: 's2', store, grants } });
    if (moment === 'later') two.worker.state.grant('s1');
    const { message } = accepted(two.codec.decode('@planner>req:run{v1:$cold.secret}[mid:m1,seq:1]', two.worker));
    expect(message.payload['v1']).toBe('launch_codes');
  });

  test('data that looks like a reference remains data', () => {
    const { codec, planner, worker } = endpoints({ codec: { text: 'transliterate' } });
    codec.getBudget(worker);
    worker.state.set('cold', 'secret', 'launch_codes');
    const payload = { a: '$cold.secret', b: { $ref: 'cold.secret' }, c: { path: 'cold.secret' } };
    const { frames } = codec.encode({ intent: 'req', operation: 'run', payload }, planner);
    const { message } = accepted(codec.decode(frames[0]!, worker));
    expect(JSON.parse(JSON.stringify(message.payload))).toEqual(payload);
  });
});

describe('5. exhaustion', () => {
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

  test('values nest five levels deep and no deeper', () => {
    const { codec, worker } = endpoints();
    accepted(codec.decode(`@a>req:run{v1:${nested(5)}}[mid:m1,seq:1]`, worker));
    const { error } = rejected(codec.decode(`@a>req:run{v1:${nested(6)}}[mid:m2,seq:2]`, worker), 'E1001');
    expect(error.message).toMatch(/5|deep/);
  });

  test('nesting of any depth is rejected, in the metadata as well', () => {
    for (const frame of [
      `@a>req:run{v1:${nested(300_000)}}[mid:m1,seq:1]`,
      `@a>req:run{v1:${'['.repeat(500_000)}`,
      `@a>req:run{v1:${'{a:'.repeat(100_000)}`,
      `@a>req:run{}[mid:m1,seq:1,x:${nested(6)}]`,
    ]) {
      const { codec, worker } = endpoints();
      rejected(codec.decode(frame, worker), 'E1001');
    }
  });

  test('deep values cannot be sent either, unless as text', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 50; level++) deep = [deep];
    const message = { intent: 'req', operation: 'run', payload: { deep: deep as never } };
    const strict = endpoints({ codec: { text: 'reject' } });
    expect(() => strict.codec.encode(message, strict.planner)).toThrow(/payload\.deep/);
    const spelled = endpoints({ codec: { text: 'transliterate' } });
    const { frames } = spelled.codec.encode(message, spelled.planner);
    expect(accepted(spelled.codec.decode(frames[0]!, spelled.worker)).message.payload).toEqual({ deep });
  });

  test('a payload of a million keys is rejected', () => {
    const { codec, worker } = endpoints();
    const keys = Array.from({ length: 1_000_000 }, (_, at) => `k${at}:1`).join('|');
    rejected(codec.decode(`@a>req:run{${keys}}[mid:m1,seq:1]`, worker), 'E1001');
    const some = keys.slice(0, 1_000_000).replace(/\|[^|]*$/, '');
    rejected(codec.decode(`@a>req:run{v1:{${some.replaceAll('|', ',')}}}[mid:m1,seq:1]`, worker), 'E1001');
  });

  test('a number of a thousand digits is read, a longer one is rejected', () => {
    const { codec, worker } = endpoints();
    accepted(codec.decode(`@a>req:run{v1:${'9'.repeat(1000)}}[mid:m1,seq:1]`, worker));
    rejected(codec.decode(`@a>req:run{v1:${'9'.repeat(1001)}}[mid:m2,seq:2]`, worker), 'E1001');
  });

  test('stored data is bounded, however many senders, chains and streams there are', () => {
    const { codec, worker } = endpoints({
      codec: { state: false },
      session: { sequence: 'sender', maxSenders: 8, maxChains: 8, maxSeen: 8, maxOutbox: 8 },
    });
    const outcomes = Array.from({ length: 40 }, (_, at) =>
      codec.decode(`@a${at}>req:run{}[mid:m${at},seq:1,cid:c${at}]`, worker),
    );
    expect(outcomes.filter(({ outcome }) => outcome === 'message')).toHaveLength(8);
    const streams = Array.from({ length: 100 }, (_, at) =>
      codec.decode(`@a0>stream:run{idx:0|d:x|schema:ST}[mid:s${at},seq:${at + 2},cid:d${at}]`, worker),
    );
    expect(streams.at(-1)).toMatchObject({ outcome: 'rejected', error: { code: 'E2003' } });
    expect(worker.pendingStreams).toHaveLength(64);
  });
});
