/** Endpoints: the sessions that they keep open. */

import { describe, expect, test } from 'vitest';
import { readHead } from '../../../src/accp/bindings/frames.js';
import { type Message, memoryStore, type SessionStore, StoreError } from '../../../src/accp/codec/index.js';
import { passingTime } from '../../helpers/passing-time.js';
import { answersOf, endpointOf, numberOf, peer } from './endpoint-peer.js';
import { createSignal, echo } from './http-server.js';

describe('sessions', () => {
  test('two messages in one session are answered with consecutive numbers', async () => {
    const endpoint = endpointOf();
    const { say, hear } = peer();
    for (const seq of [1, 2, 3]) {
      const [answer] = await answersOf(endpoint, say({ intent: 'req', operation: 'add', payload: { a: seq } }));
      expect(hear(answer!)).toMatchObject({ agent: 'server', payload: { a: seq }, envelope: { sequence: seq } });
    }
  });

  test('a frame that names no session opens one, and the answer has its id', async () => {
    const endpoint = endpointOf();
    const [first] = await answersOf(endpoint, '@a>req:x{q:1}[mid:m1,seq:1]');
    const sid = readHead(first!)!.sid!;
    expect(sid).toMatch(/./);
    const [second] = await answersOf(endpoint, `@a>req:x{q:2}[mid:m2,seq:2,sid:${sid}]`);
    expect(readHead(second!)).toMatchObject({ intent: 'done', sid });
    expect(numberOf(second!, 'seq')).toBe(2);
    const [other] = await answersOf(endpoint, '@a>req:x{q:1}[mid:m1,seq:1]');
    expect(readHead(other!)!.sid).not.toBe(sid);
  });

  test('the least recently used session is closed for a new one', async () => {
    const endpoint = endpointOf({ maxSessions: 2 });
    const ask = async (sid: string, seq: number): Promise<unknown> =>
      readHead((await answersOf(endpoint, `@a>req:x{}[mid:m${seq},seq:${seq},sid:${sid}]`))[0]!)!.intent;
    expect(await ask('one', 1)).toBe('done');
    expect(await ask('two', 1)).toBe('done');
    expect(await ask('one', 2)).toBe('done');
    expect(await ask('three', 1)).toBe('done');
    expect(await ask('one', 3)).toBe('done');
    // Opened again, it has not seen number 1.
    expect(await ask('two', 2)).toBe('fail');
  });

  test('a session that was closed continues from its stored state', async () => {
    const endpoint = endpointOf({ maxSessions: 1, session: { store: memoryStore() } });
    const frames = ['one', 'two', 'one'].map((sid, at) => `@a>req:x{}[mid:m${at},seq:${at < 2 ? 1 : 2},sid:${sid}]`);
    for (const frame of frames) {
      expect(readHead((await answersOf(endpoint, frame))[0]!)).toMatchObject({ intent: 'done' });
    }
  });

  test('a session that is unused for long is closed when the next one is opened', async () => {
    const clock = passingTime(1000, 1000);
    const endpoint = endpointOf({ idleTimeoutMs: 60_000 });
    const old = endpoint.open('old');
    const held = endpoint.open('held');
    const end = endpoint.retain(held);
    clock.now += 59;
    expect(endpoint.open('old')).toBe(old);
    clock.now += 60;
    expect(endpoint.open('other')).not.toBe(old);
    expect(endpoint.open('held')).toBe(held);
    expect(endpoint.open('old')).not.toBe(old);
    expect(() => endpoint.codec.encode('hi', old)).toThrow(StoreError);
    end();
    clock.now += 61;
    expect(endpoint.open('held')).not.toBe(held);
  });

  test('a busy session is not closed', async () => {
    const release = createSignal();
    const endpoint = endpointOf({
      maxSessions: 1,
      handle: async (message) => {
        if (message.operation === 'slow') await release.promise;
        return echo(message);
      },
    });
    const slow = answersOf(endpoint, '@a>req:slow{}[mid:m1,seq:1,sid:one]');
    await answersOf(endpoint, '@a>req:x{}[mid:m1,seq:1,sid:two]');
    release.done();
    expect(readHead((await slow)[0]!)).toMatchObject({ intent: 'done', sid: 'one' });
    expect(readHead((await answersOf(endpoint, '@a>req:x{}[mid:m2,seq:2,sid:one]'))[0]!)).toMatchObject({
      intent: 'done',
    });
  });

  test('after a failure of the store, a session continues from its stored state', async () => {
    const inner = memoryStore();
    let fails = false;
    const store: SessionStore = {
      ...inner,
      durable: true,
      claim: (session, agent) => {
        const claimed = inner.claim(session, agent);
        return {
          ...claimed,
          check: undefined,
          commit: (changes, cold) => {
            if (fails) throw new StoreError('failed', 'no space is left');
            claimed.commit(changes, cold);
          },
        };
      },
    };
    const endpoint = endpointOf({ session: { store } });
    await answersOf(endpoint, '@a>req:x{}[mid:m1,seq:1,sid:one]');
    fails = true;
    await expect(answersOf(endpoint, '@a>req:x{}[mid:m2,seq:2,sid:one]')).rejects.toThrow('no space is left');
    fails = false;
    const [answer] = await answersOf(endpoint, '@a>req:x{}[mid:m2,seq:2,sid:one]');
    expect(readHead(answer!)).toMatchObject({ intent: 'done' });
    expect(numberOf(answer!, 'seq')).toBe(2);
  });

  test('all are closed with the endpoint', () => {
    const endpoint = endpointOf();
    const session = endpoint.open('one');
    endpoint.close();
    expect(() => endpoint.codec.encode('hi', session)).toThrow(StoreError);
    expect(() => endpoint.open('one')).toThrow(TypeError);
  });
});

describe('parts of a message that do not name their session', () => {
  const part = (sid: string | null, seq: number, idx: number, key: string): string =>
    `@me>req:x{${key}:${key}${seq}}[mid:${key}${idx}${sid ?? 'n'},seq:${seq},cid:job1${sid === null ? '' : `,sid:${sid}`},idx:${idx},tot:2]`;

  test('are rejected, so that a client cannot add to the message of another one and get the answer', async () => {
    const received: Message[] = [];
    const endpoint = endpointOf({
      handle: (message) => {
        received.push(message);
        return { intent: 'done', operation: 'x' };
      },
    });
    await answersOf(endpoint, part('A', 1, 0, 'p'));
    const [refused] = await answersOf(endpoint, part(null, 2, 1, 'q'));
    expect(refused).toContain('{code:E1004|');
    expect(readHead(refused!)!.sid).toBeUndefined();
    expect(received).toEqual([]);
    const [answer] = await answersOf(endpoint, part('A', 2, 1, 's'));
    expect(readHead(answer!)).toMatchObject({ intent: 'done', sid: 'A' });
    expect(received.map(({ payload }) => payload)).toEqual([{ p: 'p1', s: 's2' }]);
  });

  test('do not open a session: existing ones stay open', async () => {
    const endpoint = endpointOf({ maxSessions: 4 });
    await answersOf(endpoint, '@vic>req:x{}[mid:v1,seq:1,sid:V]');
    for (let idx = 1; idx < 10; idx++) {
      const [refused] = await answersOf(endpoint, `@a>req:x{}[mid:a${idx},seq:${idx},cid:job1,idx:${idx},tot:20]`);
      expect(refused).toContain('{code:E1004|');
    }
    const [answer] = await answersOf(endpoint, '@vic>req:x{}[mid:v2,seq:2,sid:V]');
    expect(readHead(answer!)).toMatchObject({ intent: 'done', sid: 'V' });
  });
});

describe('listeners that throw', () => {
  const broken = (): never => {
    throw new Error('of the listener');
  };

  test('of failures: the sender gets its error frame', async () => {
    const endpoint = endpointOf({ handle: broken, onError: broken });
    const [answer] = await answersOf(endpoint, '@a>req:x{}[mid:m1,seq:1]');
    expect(answer).toContain('{code:E9999|');
  });

  test('of losses: the answer is sent, and no number is lost', async () => {
    const endpoint = endpointOf({
      handle: () => ({ intent: 'done', operation: 'x', payload: { a: 1.23456789 } }),
      onNotice: () => Promise.reject(new Error('of the listener')),
    });
    const [first] = await answersOf(endpoint, '@a>req:x{}[mid:m1,seq:1,sid:S]');
    const [second] = await answersOf(endpointOf({ onNotice: broken }), '@a>req:x{a:1.23456789}[mid:m1,seq:1,sid:S]');
    expect([readHead(first!), readHead(second!)]).toMatchObject([
      { intent: 'done', seq: 1 },
      { intent: 'done', seq: 1 },
    ]);
  });
});
