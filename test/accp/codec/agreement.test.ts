/** Agreement of both ends, also if frames cross on the way. */
import { describe, expect, test } from 'vitest';
import {
  type Codec,
  createCodec,
  createSession,
  type SchemaDefinition,
  type Session,
} from '../../../src/accp/codec/index.js';
import { accepted, endpoints, NOON, rejected } from './endpoints.js';

/** Sends the frames of both sides at once, and then all answers, until there are none. */
function cross(codec: Codec, fromA: readonly string[], fromB: readonly string[], a: Session, b: Session): void {
  let [toB, toA] = [fromA, fromB];
  for (let round = 0; toA.length + toB.length > 0; round++) {
    expect(round).toBeLessThan(12);
    const answers = (frames: readonly string[], session: Session): string[] =>
      frames.flatMap((frame) => {
        const outcome = codec.decode(frame, session);
        if (outcome.outcome === 'rejected') return outcome.reply ?? [];
        return outcome.outcome === 'dropped' ? [] : outcome.replies;
      });
    [toA, toB] = [answers(toB, b), answers(toA, a)];
  }
}

describe.each(['session', 'sender'] as const)('two sides that send at once, with the sequence %s', (sequence) => {
  test('know each other after both have announced', () => {
    const { codec, a, b } = endpoints({}, { sequence });
    cross(codec, codec.announce(a).frames, codec.announce(b).frames, a, b);
    expect([a.peers.has('b'), b.peers.has('a')]).toEqual([true, true]);
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      const message = { intent: 'req', operation: 'x', payload: { text: 'Hello big world' } };
      const { frames } = codec.encode(message, from);
      expect(accepted(codec.decode(frames[0]!, to)).message.payload).toEqual(message.payload);
    }
  });
});

describe('two states that were created at once', () => {
  test('become one', () => {
    const { codec, a, b } = endpoints({}, { sequence: 'sender' });
    cross(codec, codec.syncState({ x: 1 }, a).frames, codec.syncState({ y: 2 }, b).frames, a, b);
    expect(a.state.values()).toEqual(b.state.values());
    expect(a.state.version).toBe(b.state.version);
  });

  test('an older one does not replace a newer one, and its owner is informed', () => {
    const { codec, a, b } = endpoints({}, { sequence: 'sender' });
    b.state.applyFull(5, { phase: 'five' });
    const old = '@a>sync:state{v:2|phase:two}[mid:m1,seq:1]';
    const { replies } = accepted(codec.decode(old, b));
    expect(b.state.values()).toEqual({ phase: 'five' });
    accepted(codec.decode(replies[0]!, a));
    expect(a.state.values()).toEqual({ phase: 'five' });
    const message = { intent: 'sync', operation: 'state', payload: { version: 3, phase: 'three' } };
    expect(() => codec.encode(message, b)).toThrow(expect.objectContaining({ code: 'E2001' }));
  });

  test('contain the values of the frame, with its rounding', () => {
    const { codec, a, b } = endpoints({}, { sequence: 'sender' });
    const { frames, losses } = codec.syncState({ third: 1 / 3, five: 5n }, a);
    accepted(codec.decode(frames[0]!, b));
    expect(losses.map(({ kind }) => kind).sort()).toEqual(['narrowed', 'rounded']);
    expect(a.state.values()).toEqual({ third: 0.333333, five: 5 });
    expect(b.state.values()).toEqual(a.state.values());
  });
});

describe('a schema that has changed', () => {
  const report = (version: number): SchemaDefinition => ({
    code: 'SR',
    version,
    fields: ['n'],
    types: { n: 'string' },
  });

  test('is not used before it is announced', () => {
    const codec = createCodec();
    const session = createSession({ agent: 'a' });
    codec.registerSchema('report', report(1));
    const message = { intent: 'req', operation: 'x', schema: 'SR', payload: { n: '42' } };
    expect(codec.encode(message, session).warnings.map(({ code }) => code)).toContain('not-announced');
    codec.announce(session);
    expect(codec.encode(message, session).warnings.map(({ code }) => code)).not.toContain('not-announced');
    codec.registerSchema('report', report(2));
    expect(() => codec.encode(message, session)).toThrow(expect.objectContaining({ code: 'E1003', path: 'schema' }));
    codec.announce(session);
    expect(codec.encode(message, session).frames).toHaveLength(1);
  });
});

describe('decoding any frame has an outcome', () => {
  test.each(['$42', '$1.5', '$true', `$${'x'.repeat(5000)}`])(
    'a reference that could be mistaken for another value: %.20s',
    (reference) => {
      const { codec, b } = endpoints();
      const { error, reply } = rejected(codec.decode(`@a>req:x{k:${reference}}[mid:m1,seq:1]`, b));
      expect(error.code).toBe('E2001');
      expect(reply!.length).toBeLessThan(600);
    },
  );

  test.each([null, 42, Object.create(null), { toString: () => 1 }])('an input that is not a string', (value) => {
    const { codec, b } = endpoints();
    expect(rejected(codec.decode(value as unknown as string, b)).error.code).toBe('E1001');
  });

  test('many references to a large value are rejected quickly', () => {
    const { codec, a, b } = endpoints();
    b.state.set('cold', 'large', ['x'.repeat(1_000_000)]);
    for (let index = 0; index < 9; index++) b.state.set('cold', `copy${index}`, ['x'.repeat(1_000_000)]);
    const once = Array.from({ length: 4 }, (_, index) => `k${index}:$cold.large`).join('|');
    accepted(codec.decode(`@a>req:x{${once}}[mid:m1,seq:1]`, b));
    const each = Array.from({ length: 9 }, (_, index) => `k${index}:$cold.copy${index}`).join('|');
    expect(rejected(codec.decode(`@a>req:x{${each}}[mid:m2,seq:2]`, b)).error.code).toBe('E2003');
    void a;
  });

  test('an expired frame of another session is dropped silently, too', () => {
    const { codec, b } = endpoints();
    const text = `@a>req:x{}[mid:m1,seq:1,ts:${NOON - 9},sid:other,ttl:1]`;
    expect(codec.decode(text, b)).toEqual({ outcome: 'dropped', reason: 'expired' });
    expect(codec.decode('@a>req:x{}[mid:m1,seq:1]', b).outcome).toBe('message');
  });

  test('expired frames do not fill the list of senders', () => {
    const { codec, b } = endpoints({}, { sequence: 'sender', maxSenders: 4 });
    for (let index = 0; index < 9; index++) codec.decode(`@p${index}>req:x{}[mid:m${index},seq:1,ts:1,ttl:1]`, b);
    expect(rejected(codec.decode('@late>req:x{}[mid:l1,seq:1]', b)).error.code).toBe('E5001');
    expect(codec.decode('@p0>req:x{}[mid:l2,seq:2]', b).outcome).toBe('message');
  });
});

describe('chains with a pending answer', () => {
  test('are not evicted in favour of finished ones', () => {
    const { codec, b } = endpoints({}, { sequence: 'sender', maxChains: 4 });
    codec.decode('@a>req:x{}[mid:m1,seq:1,cid:job]', b);
    const signal = b.signal('job');
    for (let index = 2; index < 9; index++) codec.decode(`@a>req:x{}[mid:m${index},seq:${index},cid:c${index}]`, b);
    codec.decode('@a>cancel:x{}[mid:m9,seq:9,cid:job]', b);
    expect(signal.aborted).toBe(true);
  });
});

test('a message that full hot state rejects has no effect', () => {
  const { codec, a } = endpoints({ checkpoints: 'manual' }, { budgets: { hot: 40, hotTrigger: 30 } });
  const fill = (): void => {
    for (;;) codec.encode({ intent: 'req', operation: 'x', payload: { text: 'some_words_of_text' } }, a);
  };
  expect(fill).toThrow(expect.objectContaining({ code: 'E2003' }));
  expect(() => codec.syncState({ phase: 'a_phase_with_a_long_name' }, a)).toThrow(
    expect.objectContaining({ code: 'E2003' }),
  );
  expect(a.state.version).toBe(0);
});

describe('invalid options', () => {
  test.each([
    ['sequence', 'foo'],
    ['timeoutMs', 0],
    ['maxSeen', Number.NaN],
    ['maxOutbox', 0],
    ['firstSequence', 1.5],
  ])('%s: %s', (name, value) => {
    expect(() => createSession({ agent: 'a', [name]: value })).toThrow(TypeError);
  });

  test('a payload that is not a plain object', () => {
    const { codec, a } = endpoints();
    for (const payload of [[1], 'text', new Map([['k', 1]])]) {
      const message = { intent: 'req', operation: 'x', payload: payload as never };
      expect(() => codec.encode(message, a)).toThrow(expect.objectContaining({ code: 'E1004', path: 'payload' }));
    }
    expect(() => codec.encode(null as never, a)).toThrow(TypeError);
  });

  test('a clock with fractions is accepted', () => {
    const { codec, a, b } = endpoints({ now: () => NOON * 1000 + 700 });
    const { frames } = codec.encode({ intent: 'req', operation: 'x' }, a);
    expect(frames[0]).toContain(`,ts:${NOON},`);
    expect(codec.decode(frames[0]!, b).outcome).toBe('message');
  });
});
