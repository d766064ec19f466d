/** Peers and callers who mean harm, or do it: the right error, bounded memory, and a session that works afterwards. */

import { describe, expect, test } from 'vitest';
import {
  AccpError,
  createCodec,
  createSession,
  type DecodeOutcome,
  type MessageInput,
  memoryStore,
  ref,
  type SessionOptions,
} from '../../../src/accp/codec/index.js';
import { passingTime } from '../../helpers/passing-time.js';
import { sized } from '../../helpers/runs.js';
import { ends, NOW, pass } from './exchange.js';

/** One end that decodes handmade frames, with consecutive numbers and identifiers. */
function victim(options: Partial<SessionOptions> = {}) {
  const clock = passingTime(NOW, 1000);
  const codec = createCodec({ now: () => clock.now * 1000, text: 'transliterate' });
  const session = createSession({ agent: 'b', id: 's', sequence: 'sender', ...options });
  let seq = 0;
  return {
    codec,
    session,
    wait: (seconds: number) => {
      clock.now += seconds;
    },
    /** @param body `@a>req:x{...}` @param more further metadata, with its comma */
    feed: (body: string, more = ''): DecodeOutcome =>
      codec.decode(`${body}[mid:m${++seq},seq:${seq},ts:${NOW}${more}]`, session),
    raw: (frame: string): DecodeOutcome => codec.decode(frame, session),
  };
}

function codeOf(outcome: DecodeOutcome): string {
  return outcome.outcome === 'rejected' ? outcome.error.code : outcome.outcome;
}

function refusalOf(message: MessageInput, session = createSession({ agent: 'a', id: 's' })): unknown {
  const codec = createCodec({ now: () => NOW * 1000, text: 'transliterate' });
  try {
    codec.encode(message, session);
  } catch (thrown) {
    if (!(thrown instanceof AccpError)) throw thrown;
    expect(codec.encode({ intent: 'ack', operation: 'x' }, session).frames[0]).toContain(',seq:1,');
    return thrown.code;
  }
  throw new Error('nothing was refused');
}

describe('payloads', () => {
  test('too many keys are rejected on both sides, at once', () => {
    const count = sized(150_000, 1_000_000);
    const payload: Record<string, number> = Object.create(null);
    for (let index = 0; index < count; index++) payload[`k${index}`] = index;
    expect(refusalOf({ intent: 'ack', operation: 'x', payload })).toBe('E1004');
    expect(refusalOf({ intent: 'ack', operation: 'x', payload: { deep: payload } })).toBe('E1004');
    expect(codeOf(victim().feed(`@a>ack:x{${'k:1|'.repeat(count)}}`))).toBe('E1001');
    expect(codeOf(victim().feed(`@a>ack:x{deep:[${'1,'.repeat(400_000)}1]}`))).toBe('E1001');
  });

  test.each([
    ['arrays', (inner: unknown) => [inner]],
    ['maps', (inner: unknown) => ({ k: inner })],
  ])('endlessly nested %s are rejected, and no stack overflows', (_what, around) => {
    let value: unknown = 1;
    for (let depth = 0; depth < 50_000; depth++) value = around(value);
    expect(refusalOf({ intent: 'ack', operation: 'x', payload: { value } as MessageInput['payload'] })).toBe('E1004');
  });

  test('endlessly nested frames are rejected', () => {
    expect(codeOf(victim().feed(`@a>ack:x{v:${'['.repeat(100_000)}${']'.repeat(100_000)}}`))).toBe('E1001');
    expect(codeOf(victim().feed(`@a>ack:x{v:${'{k:'.repeat(100_000)}1${'}'.repeat(100_000)}}`))).toBe('E1001');
  });

  test('an object that contains itself is rejected with its path', () => {
    const self: Record<string, unknown> = {};
    self['self'] = self;
    const list: unknown[] = [];
    list.push(list);
    for (const value of [self, list]) {
      expect(refusalOf({ intent: 'ack', operation: 'x', payload: { value } as MessageInput['payload'] })).toBe('E1004');
    }
  });

  test('an error of a getter is passed on, and the session is unchanged', () => {
    const payload = {
      get fine(): string {
        throw new RangeError('not today');
      },
    };
    const { codec, sender, receiver } = ends();
    expect(() => codec.encode({ intent: 'ack', operation: 'x', payload }, sender)).toThrow(RangeError);
    const next = pass({ intent: 'ack', operation: 'x', payload: { n: 1 } }, { codec, sender, receiver });
    expect(next.received.message.envelope.sequence).toBe(1);
  });

  test('values that are not JSON are rejected', () => {
    for (const value of [() => 1, Symbol('s'), new Date(0), new Map(), Number.NaN, Number.POSITIVE_INFINITY]) {
      const payload = { value } as unknown as MessageInput['payload'];
      expect(refusalOf({ intent: 'ack', operation: 'x', payload })).toBe('E1004');
    }
  });

  test.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf'])(
    'the key %s is an ordinary key at any place',
    (key) => {
      const { codec, session, feed } = victim();
      const inherited = ({} as Record<string, unknown>)[key];
      const outcome = feed(`@${key}>req:${key}{${key}:1|m:{${key}:{${key}:2}}}`, `,cid:${key}`);
      if (outcome.outcome !== 'message') throw new Error(codeOf(outcome));
      const { payload, agent } = outcome.message;
      expect(agent).toBe(key);
      expect(Object.getPrototypeOf(payload)).toBe(null);
      expect(Object.entries(payload)).toEqual([
        [key, 1],
        ['m', { __proto__: null, [key]: { __proto__: null, [key]: 2 } }],
      ]);
      expect(({} as Record<string, unknown>)[key]).toBe(inherited);
      session.state.set('hot', key, 'held');
      expect(session.state.resolve(`hot.${key}`)).toBe('held');
      const state = feed(`@${key}>sync:state{v:1|state:{${key}:1}}`);
      expect([codeOf(state), session.state.values()[key]]).toEqual(['message', 1]);
      expect(codec.encode({ intent: 'done', operation: 'x', payload: { [key]: 1 } }, session).frames).toHaveLength(1);
    },
  );

  test('a frame of 1 MiB is decoded, and a longer one is rejected', () => {
    const { feed } = victim();
    expect(codeOf(feed(`@a>ack:x{d:${'x'.repeat(1_040_000)}}`))).toBe('message');
    expect(codeOf(feed(`@a>ack:x{d:${'x'.repeat(1_100_000)}}`))).toBe('E1001');
    // The number of the long frame was not read.
    expect(codeOf(feed('@a>ack:x{d:fine}'))).toBe('E3003');
  });

  test('a message of more frames than receivers join is not sent', () => {
    const payload = Object.fromEntries(Array.from({ length: 90_000 }, (_, at) => [`k${at}`, 'x'.repeat(9)]));
    expect(refusalOf({ intent: 'ack', operation: 'x', payload })).toBe('E2003');
  });
});

describe('identifiers and numbers', () => {
  test('long identifiers are rejected, since they would be stored', () => {
    const long = 'x'.repeat(100_000);
    for (const key of ['cid', 'aid', 'sid'])
      expect(codeOf(victim().feed('@a>ack:x{}', `,${key}:${long}`))).toBe('E1004');
    expect(codeOf(victim().raw(`@a>ack:x{}[mid:${long},seq:1]`))).toBe('E1004');
  });

  test.each(['9007199254740992', '9'.repeat(900), '-1', '1.5', 'x', 'true', '[1]', '~'])(
    'the number %s is rejected',
    (seq) => {
      const { raw } = victim();
      expect(codeOf(raw(`@a>ack:x{}[mid:m1,seq:${seq}]`))).toBe('E1004');
      expect(codeOf(raw('@a>ack:x{}[mid:m2,seq:1]'))).toBe('message');
    },
  );

  test.each(['ts:9007199254740992', 'ttl:9007199254740992', 'ttl:-1', 'ttl:1.5', 'ts:x'])('%s is rejected', (field) => {
    expect(codeOf(victim().raw(`@a>ack:x{}[mid:m1,seq:1,${field}]`))).toBe('E1004');
  });

  test('a time to live beyond all numbers never ends', () => {
    const { raw, wait } = victim();
    wait(1e9);
    expect(codeOf(raw(`@a>ack:x{}[mid:m1,seq:1,ts:${NOW},ttl:9007199254740991]`))).toBe('message');
  });

  test.each(['session', 'sender'] as const)(
    'no peer can use up the numbers of a session with the sequence %s',
    (sequence) => {
      const { codec, session, raw } = victim({ sequence });
      const last = Number.MAX_SAFE_INTEGER;
      const report = (mid: string, seq: number) =>
        raw(`@a>fail:error{code:E3003|msg:m|retry:true|expected:${last}|schema:ER}[mid:${mid},seq:${seq}]`);
      report('m1', 1);
      report('m2', last);
      raw(`@a>sync:resync{from:1}[mid:m3,seq:${last}]`);
      const { frames } = codec.encode({ intent: 'ack', operation: 'x' }, session);
      const seq = Number(/seq:([0-9]+)/.exec(frames[0]!)![1]);
      expect(seq).toBeLessThan(2 ** 52 + 100);
      const peer = createSession({ agent: 'c', id: 's', sequence, firstSequence: seq });
      expect(codeOf(codec.decode(frames[0]!, peer))).toBe('message');
    },
  );

  test.each([-1, 1.5, Number.NaN, 2 ** 53])('a session cannot begin with the number %s', (firstSequence) => {
    expect(() => createSession({ agent: 'a', firstSequence })).toThrow(TypeError);
  });

  test.each([undefined, null, 5, '', 'a b', ['a']])('an invalid agent: %j', (agent) => {
    expect(() => createSession({ agent: agent as string })).toThrow(
      /^Invalid agent name .*; use 1 to 256 letters, digits/,
    );
  });

  test.each([null, 5, '', 'a b', ['a']])('an invalid identifier: %j', (id) => {
    expect(() => createSession({ agent: 'a', id: id as string })).toThrow(
      /^id must be 1 to 256 visible ASCII characters/,
    );
  });
});

describe('floods', () => {
  test('senders beyond the bound are rejected, and known ones continue', () => {
    const { raw } = victim();
    let taken = 0;
    for (let index = 0; index < 3_000; index++) {
      const outcome = raw(`@agent${index}>ack:x{}[mid:m${index},seq:1]`);
      if (outcome.outcome === 'message') taken++;
      else expect(codeOf(outcome)).toBe('E5001');
    }
    expect(taken).toBe(1024);
    expect(codeOf(raw('@agent7>ack:x{}[mid:more,seq:2]'))).toBe('message');
  });

  test('chains, endless parts and unread streams stay within their bounds', () => {
    const { session, feed } = victim();
    const codes = new Set<string>();
    for (let index = 0; index < 2_000; index++) {
      feed('@a>req:x{}', `,cid:c${index}`);
      codes.add(codeOf(feed('@a>ack:x{d:part}', `,cid:p${index},idx:0,tot:9`)));
      codes.add(codeOf(feed('@a>stream:x{idx:0|d:x|schema:ST}', `,cid:s${index}`)));
    }
    expect(codes).toEqual(new Set(['pending', 'E2003']));
    expect(session.pendingStreams).toHaveLength(64);
    expect(codeOf(feed('@a>ack:x{d:fine}'))).toBe('message');
  });

  test('one stream without end fails when its buffer is full', () => {
    const { feed } = victim({ maxBuffered: 100 });
    const codes = Array.from({ length: 200 }, (_, at) =>
      codeOf(feed(`@a>stream:x{idx:${at}|d:x|schema:ST}`, ',cid:c')),
    );
    expect(codes.slice(0, 100)).toEqual(Array(100).fill('pending'));
    expect(codes[100]).toBe('E2003');
    expect(new Set(codes.slice(101))).toEqual(new Set(['E3003']));
  });

  test('an error frame is never answered by another, whatever its errors', () => {
    const { feed, raw } = victim();
    const wrong = [
      feed('@a>fail:error{code:E9999|msg:m|retry:true|schema:XX}'),
      feed('@a>fail:error{}'),
      feed('@a>fail:error{code:[1]|schema:ER}', ',ttl:x'),
      feed('@a>fail:error{code:E1001|msg:m|schema:ER}', ',sid:other'),
      raw('@a>fail:error{code:E1001|msg:m|schema:ER}'),
      raw('@a>fail:error{code:E1001|msg:m|schema:ER}[mid:m1,seq:1]'),
      raw('@a>fail:error{code:E1001|msg:m|schema:ER}[mid:m9,seq:900]'),
    ];
    for (const outcome of wrong) expect(outcome).toMatchObject({ outcome: expect.stringMatching(/rejected|message/) });
    for (const outcome of wrong) if (outcome.outcome === 'rejected') expect(outcome.reply).toBe(null);
    expect(wrong.filter(({ outcome }) => outcome === 'rejected').length).toBeGreaterThan(4);
  });
});

describe('state and registry of others', () => {
  test('references that lead to themselves end', () => {
    const { session, feed } = victim();
    session.state.set('hot', 'one', ref('hot.two'));
    session.state.set('hot', 'two', ref('hot.one'));
    expect(codeOf(feed('@a>ack:x{d:$hot.one}'))).toBe('E2001');
  });

  test('cold state of another session is not accessible, not even by a reference in a frame', () => {
    const store = memoryStore();
    const secret = createSession({ agent: 'x', id: 'secret', store });
    secret.state.set('cold', 'plan', 'attack');
    createCodec().encode({ intent: 'ack', operation: 'x' }, secret);
    secret.close();
    const { feed } = victim({ store });
    expect(codeOf(feed('@a>ack:x{d:$cold.plan}'))).toBe('E5002');
    const granted = victim({ store, id: 's2', grants: ['secret'] });
    expect(granted.feed('@a>ack:x{d:$cold.plan}')).toMatchObject({
      outcome: 'message',
      message: { payload: { data: 'attack' } },
    });
  });

  test('schemas that were changed in transit are rejected completely', () => {
    const codec = createCodec({ text: 'transliterate', now: () => NOW * 1000 });
    codec.registerSchema('note', { code: 'NT', version: 1, fields: ['text'] });
    const sender = createSession({ agent: 'a', id: 's', sequence: 'sender' });
    const announced = codec.announce(sender).frames[0]!;
    const other = victim();
    const answer = other.raw(announced);
    if (answer.outcome !== 'message') throw new Error(codeOf(answer));
    const delta = codec.decode(answer.replies[0]!, sender);
    if (delta.outcome !== 'message') throw new Error(codeOf(delta));
    expect(delta.replies.join('')).toContain('NT');
    const forged = delta.replies.map((frame) => frame.replace('NT', 'NX'));
    expect(forged).not.toEqual(delta.replies);
    const codes = forged.map((frame) => codeOf(other.raw(frame)));
    expect(codes.at(-1)).toBe('E5001');
    expect(codeOf(other.raw(`@a>ack:x{d:x|schema:NX}[mid:m1,seq:${2 + forged.length}]`))).toBe('E1003');
  });
});
