/** Endpoints with several agents, several endpoints, and operations within operations. */
import { describe, expect, test } from 'vitest';
import type { CodecOptions, DecodeOutcome, JsonObject, SequenceMode } from '../../../src/accp/codec/index.js';
import { createRegistry } from '../../../src/accp/registry/registry.js';
import { framesOf, introduced, type Side, send, side } from './compact-sides.js';
import { accepted, rejected } from './endpoints.js';

const MODES = ['sender', 'session'] as const satisfies readonly SequenceMode[];

const pair = (sequence: SequenceMode, options: CodecOptions = {}): readonly [Side, Side] =>
  introduced(side('a', options, { sequence }), side('b', options, { sequence }));

/** Delivers frames and all answers to them to each other side; returns the payloads that were read. */
function exchange(frames: readonly string[], from: Side, sides: readonly Side[]): JsonObject[] {
  const read: JsonObject[] = [];
  const queue = frames.map((frame) => [frame, from] as const);
  for (let count = 0; queue.length > 0; count++) {
    if (count > 300) throw new Error('the sides exchange frames without end');
    const [frame, source] = queue.shift()!;
    for (const to of sides) {
      if (to === source) continue;
      const outcome = to.codec.decode(frame, to.session);
      if (outcome.outcome === 'message' && outcome.message.operation === 'find') read.push(outcome.message.payload);
      for (const reply of repliesOf(outcome)) queue.push([reply, to]);
    }
  }
  return read;
}

function repliesOf(outcome: DecodeOutcome): readonly string[] {
  if (outcome.outcome === 'rejected') return outcome.reply === null ? [] : [outcome.reply];
  return outcome.outcome === 'dropped' ? [] : outcome.replies;
}

describe.each([true, false])('agents of one endpoint, compact: %s', (compact) => {
  test.each([
    ['a', 'helper'],
    ['helper', 'a'],
    ['helper', 'other'],
  ])('a lost frame of %s is sent again after one of %s, if all have one count', (lost, next) => {
    const [a, b] = pair('session', { compact });
    const read: unknown[] = [];
    const say = (agent: string, id: number): void => {
      read.push(...exchange(framesOf(a, { agent, payload: { id } }), a, [a, b]).map((payload) => payload['id']));
    };
    for (const [id, agent] of ['a', 'helper'].entries()) say(agent, id);
    framesOf(a, { agent: lost, payload: { id: 2 } });
    for (const [at, agent] of [next, 'a', 'helper'].entries()) say(agent, 3 + at);
    expect(read).toEqual([0, 1, 2, 3, 4, 5]);
  });

  test.each(MODES)('text of each of them is read, although the announcement was lost, in the mode %s', (sequence) => {
    const [a, b] = [side('a', { compact }, { sequence }), side('b', { compact }, { sequence })];
    const [announced] = b.codec.announce(b.session).frames;
    // The answer is lost.
    a.codec.decode(announced!, a.session);
    const text = 'zürich ü';
    const read = ['helper', 'helper', 'a', 'helper'].flatMap((agent) =>
      exchange(framesOf(a, { agent, payload: { text } }), a, [a, b]),
    );
    expect(read).toEqual(Array.from({ length: 4 }, () => ({ text })));
  });

  test.each(MODES)('an announcement is sent again, however many frames follow it, in the mode %s', (sequence) => {
    const session = { sequence, maxOutbox: 3 };
    const [a, b] = [side('a', { compact }, session), side('b', { compact }, session)];
    const [announced] = b.codec.announce(b.session).frames;
    // The answer is lost, and so are the next frames.
    a.codec.decode(announced!, a.session);
    for (let id = 0; id < 6; id++) framesOf(a, { payload: { id } });
    const text = 'zürich ü';
    const read = [0, 1].flatMap(() => exchange(framesOf(a, { payload: { text } }), a, [a, b]));
    expect(read.slice(-2)).toEqual([{ text }, { text }]);
  });

  test.each(MODES)('messages of each of them are read by the registry of the endpoint, in the mode %s', (sequence) => {
    const registry = (rows: number) =>
      createRegistry({
        schemas: { report: { code: 'RP', version: 1, fields: ['query', 'rows'], defaults: { rows } } },
      });
    const [a, b] = introduced(
      side('a', { compact, registry: registry(7) }, { sequence }),
      side('b', { compact, registry: registry(5) }, { sequence }),
    );
    for (const agent of ['a', 'helper']) {
      const payload = { query: 'x', rows: 7 };
      expect(accepted(send(a, b, { agent, schema: 'RP', payload })).message.payload).toEqual(payload);
    }
  });
});

describe('several endpoints', () => {
  test('with registries of their own do not mix up agents', () => {
    const endpoint = (agent: string, text: string): Side =>
      side(agent, {
        registry: createRegistry({ schemas: {}, compact: { agents: [agent], strings: [text] } }),
        state: false,
      });
    const a = endpoint('alice_long_agent_name', 'hello_world');
    const b = endpoint('bob_long_agent_name_x', 'other_words');
    const sides = [a, b, side('carol', { state: false })];
    for (const one of sides) exchange(one.codec.announce(one.session).frames, one, sides);
    for (let id = 0; id < 4; id++) {
      for (const [one, words] of [
        [a, 'hello_world'],
        [b, 'other_words'],
      ] as const) {
        const read = exchange(framesOf(one, { payload: { id, words } }), one, sides);
        expect(read.length).toBe(2);
        for (const payload of read) expect(payload).toEqual({ id, words });
      }
    }
  });

  test('a registry that both had is known after one side has registered more', () => {
    const report = { code: 'RP', version: 1, fields: ['query', 'rows'] };
    const registry = createRegistry({ schemas: { report } });
    const [a, b] = [side('a', { registry }), side('b', { registry })];
    const [announced] = b.codec.announce(b.session).frames;
    const { replies } = accepted(a.codec.decode(announced!, a.session));
    const payload = { query: 'x', rows: 7 };
    const frames = framesOf(a, { schema: 'RP', payload });
    // Before the answer is read.
    b.codec.registerSchema('audit', { code: 'AU', version: 1, fields: ['reader'] });
    for (const frame of replies) accepted(b.codec.decode(frame, b.session));
    expect(accepted(b.codec.decode(frames[0]!, b.session)).message.payload).toEqual(payload);
  });

  test('a delta that is given up after a collision is sent again', () => {
    const registry = createRegistry({ schemas: {}, compact: { strings: ['hello_world'] } });
    const z = side('zed', { registry, state: false }, { sequence: 'session' });
    const w = side('worker', { state: false }, { sequence: 'session' });
    const sides = [z, w];
    const [announced] = w.codec.announce(w.session).frames;
    const [own] = framesOf(w, { payload: { id: 0 } });
    // The answer with the delta has the same number as the frame of the other side.
    const { replies } = accepted(z.codec.decode(announced!, z.session));
    exchange([own!], w, sides);
    exchange(replies, z, sides);
    exchange(w.codec.announce(w.session).frames, w, sides);
    for (let id = 1; id < 5; id++) {
      const payload = { id, a: 'hello_world' };
      expect(exchange(framesOf(z, { payload }), z, sides)).toEqual([payload]);
      expect(exchange(framesOf(w, { payload }), w, sides)).toEqual([payload]);
    }
  });
});

describe('a plain frame whose operation and first key are numbers', () => {
  test.each([
    [true, false],
    [false, true],
    [true, true],
  ])('is read, if compact frames are announced by its sender: %s, and by the other side: %s', (ours, theirs) => {
    const sequence = 'session';
    const [a, b] = introduced(side('a', { compact: ours }, { sequence }), side('b', { compact: theirs }, { sequence }));
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      const { message } = accepted(send(from, to, { operation: '12', payload: { 5: [1] } }));
      expect(message).toMatchObject({ operation: '12', payload: { 5: [1] } });
    }
  });

  test('is a gap if the announcement and the frame that begins tables may be lost', () => {
    const [a, b] = [side('a', {}, { sequence: 'session' }), side('b', {}, { sequence: 'session' })];
    b.codec.announce(b.session);
    expect(rejected(b.codec.decode('@a>done:11{1:[7]}[mid:m1,seq:2]', b.session)).error.code).toBe('E3003');
    expect(a.session.agent).toBe('a');
  });
});

describe('operations within operations', () => {
  /** Runs one function, unless it is running. */
  function once(run: () => void): () => void {
    let isRunning = false;
    return () => {
      if (isRunning) return;
      isRunning = true;
      run();
      isRunning = false;
    };
  }

  const inOrder = (frames: readonly string[]): string[] =>
    [...frames].sort((x, y) => Number(/,seq:(\d+)/.exec(x)![1]) - Number(/,seq:(\d+)/.exec(y)![1]));

  test.each(MODES)('a listener of each sent frame can send others, in the mode %s', (sequence) => {
    let nested: (() => void) | undefined;
    const log: CodecOptions['log'] = ({ type }) => void (type === 'sent' && nested?.());
    const [a, b] = introduced(side('a', { log }, { sequence }), side('b', { state: false }, { sequence }));
    const sent: string[] = [];
    let count = 0;
    nested = once(() => sent.push(...framesOf(a, { operation: 'note', payload: { query: `nested_text_${++count}` } })));
    for (let at = 0; at < 40; at++) {
      const payload = { query: `outer_text_${at}`, prev: `outer_text_${at - 1}`, old: `nested_text_${count}` };
      const frames = framesOf(a, { payload: { ...payload, long: 'x '.repeat(at % 5 === 0 ? 400 : 1) } });
      const read = inOrder([...sent.splice(0), ...frames]).map((frame) => b.codec.decode(frame, b.session));
      const messages = read.flatMap((one) => (one.outcome === 'message' ? [one.message] : []));
      expect(messages.find(({ operation }) => operation === 'find')?.payload).toMatchObject(payload);
      expect(messages.filter(({ operation }) => operation === 'note').length).toBeGreaterThan(0);
    }
  });

  test.each(['authorize', 'log'] as const)(
    'a frame read while one is written is kept, if %s sends another one',
    (by) => {
      const incoming: string[] = [];
      const sent: string[] = [];
      const read: unknown[] = [];
      let count = 0;
      let isReading = false;
      const third = once(() => {
        if (isReading) sent.push(...framesOf(a, { operation: 'note', payload: { query: `third_${++count}` } }));
      });
      const a: Side = side('a', {
        checkpointTools: {
          summarize: () => {
            isReading = true;
            for (const frame of incoming.splice(0))
              read.push(accepted(a.codec.decode(frame, a.session)).message.payload);
            isReading = false;
            return 'short';
          },
        },
        ...(by === 'authorize'
          ? {
              authorize: () => {
                third();
                return true;
              },
            }
          : { log: ({ type }) => void (type === 'received' && third()) }),
      });
      const b = side('b', { state: false });
      introduced(a, b);
      const expected: unknown[] = [];
      for (let at = 0; at < 40; at++) {
        const payload = { query: `in_text_${at}`, prev: `in_text_${at - 1}` };
        expected.push(payload);
        incoming.push(...framesOf(b, { payload }));
        const own = { query: `outer_text_${at}`, prev: `outer_text_${at - 1}`, old: `third_${count}` };
        const frames = inOrder([...framesOf(a, { payload: own }), ...sent.splice(0)]);
        const messages = frames.map((frame) => accepted(b.codec.decode(frame, b.session)).message);
        expect(messages.find(({ operation }) => operation === 'find')!.payload).toEqual(own);
      }
      expect(read.length).toBeGreaterThan(3);
      expect(expected.slice(0, read.length)).toEqual(read);
      expect(count).toBeGreaterThan(0);
    },
  );

  test('an identifier that cannot be made leaves the session as it was, also for a later part', () => {
    let left = Number.POSITIVE_INFINITY;
    let made = 0;
    const createId = (): string => {
      if (left-- <= 0) throw new Error('no identifier');
      return `x${String(++made).padStart(11, '0')}`;
    };
    const [a, b] = introduced(side('a', { createId, state: false }), side('b', { state: false }));
    const payload = (at: number) => ({
      long: `${'word '.repeat(1500)}${at}`,
      old: `text_${at - 1}`,
      now: `text_${at}`,
    });
    for (let at = 0; at < 4; at++) {
      left = at;
      expect(() => framesOf(a, { payload: payload(at) })).toThrow('no identifier');
      left = Number.POSITIVE_INFINITY;
      const outcomes = framesOf(a, { payload: payload(at) }).map((frame) => b.codec.decode(frame, b.session));
      expect(accepted(outcomes.at(-1)!).message.payload).toEqual(payload(at));
    }
  });

  test('a token counter cannot send messages', () => {
    let isArmed = false;
    const counter = {
      exact: false,
      encoding: 'o200k_base',
      count: (text: string): number => {
        if (isArmed) framesOf(a, { payload: { query: 'nested' } });
        return Math.ceil(text.length / 4);
      },
    } as const;
    const a: Side = side('a', { counter, state: false });
    const b = side('b', { state: false });
    introduced(a, b);
    isArmed = true;
    expect(() => framesOf(a, { payload: { query: 'a_text_of_many_tokens' } })).toThrow(TypeError);
    isArmed = false;
    const payload = { query: 'a_text_of_many_tokens' };
    expect(accepted(send(a, b, { payload })).message.payload).toEqual(payload);
  });

  test.each(['checkpointTools', 'getter', 'createId'] as const)(
    'requests sent within one by %s have their own chains',
    (by) => {
      const sent: string[] = [];
      let isReady = false;
      const nested = once(() => {
        if (!isReady) return;
        const request = { intent: 'req', operation: 'note', payload: { nested: sent.length } };
        sent.push(...a.codec.encode(request, a.session).frames);
      });
      const tools = {
        summarize: () => {
          nested();
          return 'short';
        },
      };
      let made = 0;
      const createId = (): string => {
        if (by === 'createId') nested();
        return `x${String(++made).padStart(11, '0')}`;
      };
      const a: Side = side('a', by === 'checkpointTools' ? { checkpointTools: tools } : { createId });
      const b = side('b', { state: false });
      introduced(a, b);
      isReady = true;
      const member = {
        get z() {
          if (by === 'getter') nested();
          return 1;
        },
      };
      for (let at = 0; at < 30; at++) {
        const payload = { query: 'w '.repeat(40), member };
        const own = a.codec.encode({ intent: 'req', operation: 'find', payload }, a.session).frames;
        for (const frame of inOrder([...sent.splice(0), ...own])) accepted(b.codec.decode(frame, b.session));
      }
      const chains = b.session.pendingRequests.map(({ correlationId }) => correlationId);
      expect(new Set(chains).size).toBe(chains.length);
      const notes = b.session.pendingRequests.filter(({ message }) => message.operation === 'note');
      expect(notes.length).toBeGreaterThan(1);
      expect(chains.length).toBe(30 + notes.length);
    },
  );
});
