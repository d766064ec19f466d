/** Faults of compact frames that a user found by hostile frames, nested operations, and lines that lose frames. */
import { describe, expect, test } from 'vitest';
import { createSession, type JsonObject, type SequenceMode } from '../../../src/accp/codec/index.js';
import { createRegistry } from '../../../src/accp/registry/registry.js';
import { loadTokenCounter } from '../../../src/tokens/load-counter.js';
import { memoryInUse } from '../../helpers/memory.js';
import { deliver, framesOf, introduced, type Side, send, side } from './compact-sides.js';
import { accepted, rejected } from './endpoints.js';

const MODES = ['sender', 'session'] as const satisfies readonly SequenceMode[];

const pair = (sequence: SequenceMode, options = {}): readonly [Side, Side] =>
  introduced(side('a', options, { sequence }), side('b', options, { sequence }));

const words = (count: number): string =>
  Array.from({ length: count }, (_, at) => `word${(at * 7919) % 1000}`).join(' ');

describe.each(MODES)('in the mode %s', (sequence) => {
  test.each<[string, JsonObject]>([
    ['a text', { m: { 2024: words(300), Total: 'x', Zed: 'y' } }],
    ['a list', { m: { 2024: Array.from({ length: 300 }, (_, at) => `item_${at}`), Total: 5 } }],
    [
      'rows',
      {
        rows: [
          { '1st': words(300), A: 1 },
          { '1st': words(200), A: 2 },
        ],
      },
    ],
    ['a parameter that a shape has elsewhere', { args: words(300), tool_name: 'x', note: 'y' }],
  ])('a message split within %s is joined, whatever its keys', (_what, payload) => {
    const [a, b] = pair(sequence, { text: 'transliterate' });
    for (let round = 0; round < 3; round++) {
      const schema = 'args' in payload ? { operation: 'tool', payload: { tool: 'x', args: 1, note: 'y' } } : {};
      accepted(send(a, b, { payload: { Total: 1, 2024: 2 }, ...schema }));
      const frames = framesOf(a, { payload });
      expect(frames.length).toBeGreaterThan(1);
      expect(accepted(deliver(frames, a, b)).message.payload).toEqual(payload);
    }
  });

  test('a frame that is sent again before an announcement does not need it', () => {
    const [a, b] = pair(sequence);
    accepted(send(a, b, { payload: { query: 'hello_world' } }));
    framesOf(a, { payload: { query: 'lost' } });
    a.codec.registerSchema('report', { code: 'RP', version: 1, fields: ['query', 'rows'] });
    const read: unknown[] = [];
    const deliverAll = (frames: readonly string[], from: Side, to: Side): void => {
      for (const frame of frames) {
        const outcome = to.codec.decode(frame, to.session);
        if (outcome.outcome === 'message') read.push(outcome.message.payload['query']);
        if (outcome.outcome === 'rejected') {
          expect(outcome.error.code).toBe('E3003');
          deliverAll([outcome.reply!], to, from);
        } else if (outcome.outcome !== 'dropped') deliverAll(outcome.replies, to, from);
      }
    };
    deliverAll(a.codec.announce(a.session).frames, a, b);
    expect(read).toContain('lost');
    // Then the new registry is in use.
    const [next] = framesOf(a, { operation: 'report', schema: 'RP', payload: { query: 'next' } });
    expect(next).toMatch(/tbl:reg\./);
    expect(accepted(b.codec.decode(next!, b.session)).message.payload).toEqual({ query: 'next' });
  });

  test.each(['log', 'checkpointTools'] as const)('a message sent by %s during another one is read', (by) => {
    let nested: (() => void) | undefined;
    const options =
      by === 'log'
        ? { log: ({ type }: { type: string }) => void (type === 'checkpoint' && nested?.()) }
        : {
            checkpointTools: {
              summarize: () => {
                nested?.();
                return 'short';
              },
            },
          };
    const [a, b] = introduced(side('a', options, { sequence }), side('b', { state: false }, { sequence }));
    const sent: string[] = [];
    let count = 0;
    let isNested = false;
    nested = () => {
      if (isNested) return;
      isNested = true;
      sent.push(...framesOf(a, { operation: 'note', payload: { query: `nested_text_${++count}` } }));
      isNested = false;
    };
    for (let at = 0; at < 60; at++) {
      const before = { prev: `outer_text_${at - 1}`, old: `nested_text_${count}` };
      const payload = { query: `outer_text_${at}`, ...before };
      const frames = framesOf(a, { payload });
      const inOrder = [...sent.splice(0), ...frames].sort((x, y) => numberOf(x) - numberOf(y));
      const read = inOrder.map((frame) => accepted(b.codec.decode(frame, b.session)).message);
      expect(read.find(({ operation }) => operation === 'find')!.payload).toEqual(payload);
      for (const { operation, payload: own } of read)
        if (operation === 'note') expect(own).toEqual({ query: `nested_text_${count}` });
    }
    expect(count).toBeGreaterThan(3);
  });

  test('a plain frame of more than 1048576 characters in plain form is rejected, alone and as a part', () => {
    const [, b] = pair(sequence);
    const list = Array.from({ length: 98_000 }, () => '#//aaaaaa').join(',');
    const first = sequence === 'session' ? 3 : 2;
    const read = (metadata: string) => b.codec.decode(`@a>done:find{k:[${list}]}[${metadata},tbl:new]`, b.session);
    for (const [at, part] of ['', ',cid:9,idx:0,tot:2'].entries()) {
      const { error } = rejected(read(`mid:m${at},seq:${first + 2 * at}${part}`));
      expect([error.code, error.details]).toEqual(['E1001', { want: 'tables' }]);
      // The answer has a number, too, where both sides share one count.
      if (sequence === 'sender')
        accepted(b.codec.decode(`@a>done:y{k:1}[mid:x${at},seq:${3 + 2 * at},tbl:new]`, b.session));
    }
  });

  test('transliterated text of every agent of an endpoint is read', () => {
    const [a, b] = pair(sequence, { compact: false });
    const payload = { query: 'users of Rome', year: '1975' };
    for (const agent of ['a', 'helper'])
      expect(accepted(send(a, b, { agent, payload })).message).toMatchObject({ agent, payload });
  });

  test.each(['[new]', '~', '$new', '{a:1}', 'x'.repeat(257), 'new.007', '007', 'as.a.', 'as.a.007'])(
    'tbl cannot be %s',
    (table) => {
      const [a, b] = pair(sequence);
      accepted(send(a, b, { payload: { query: 'hello_world' } }));
      const seq = sequence === 'session' ? 4 : 3;
      const outcome = b.codec.decode(`@a>done:11{1:[x]}[mid:m1,seq:${seq},tbl:${table}]`, b.session);
      const { error } = rejected(outcome);
      expect([error.code, error.details]).toEqual(['E1001', { want: 'tables' }]);
    },
  );
});

function numberOf(frame: string): number {
  return Number(/,seq:(\d+)/.exec(frame)![1]);
}

describe('counts', () => {
  test.each([true, false])('are compared, if the sender is known to send compact frames: %s', (isAnnounced) => {
    const b = side('b', {}, { sequence: 'session' });
    let seq = 1;
    const read = (body: string, table?: string) =>
      b.codec.decode(`@w>${body}[mid:m${seq},seq:${seq++}${table === undefined ? '' : `,tbl:${table}`}]`, b.session);
    if (isAnnounced) {
      const { replies } = accepted(read('sync:registry{v:1|hash:6bed90|profile:compact1|sequence:session}'));
      seq += replies.length;
    }
    accepted(read('done:x{k:old_string}', 'new.0'));
    // The frame with new_string was lost; this side has sent one with its number.
    seq += framesOf(b, { payload: { a: 1 } }).length;
    expect(rejected(read('done:x{k:$0}', '2')).error.code).toBe('E3003');
  });
});

describe('agents by number', () => {
  test('are those that share the tables, in the mode session', () => {
    const [a, b] = pair('session');
    for (const agent of ['document_reviewer', 'release_manager', 'document_reviewer', 'release_manager']) {
      const [frame] = framesOf(a, { agent, payload: { query: agent } });
      expect(accepted(b.codec.decode(frame!, b.session)).message).toMatchObject({ agent, payload: { query: agent } });
    }
    expect(framesOf(a, { agent: 'release_manager', payload: {} })[0]).toMatch(/^@1>/);
  });

  test('have names if there are several peers', () => {
    const [a, b] = pair('session');
    const c = side('c', {}, { sequence: 'session' });
    const [announced] = c.codec.announce(c.session).frames;
    const own = announced!.replace(/seq:\d+/, `seq:${numberOf(framesOf(a, { payload: {} })[0]!) + 1}`);
    accepted(a.codec.decode(own, a.session));
    const agent = 'document_reviewer';
    const frames = [0, 1].map(() => framesOf(a, { agent, payload: { query: 'x' } })[0]!);
    expect(frames.map((frame) => frame.startsWith(`@${agent}>`))).toEqual([true, true]);
    expect(b.session.agent).toBe('b');
  });

  test('are no names of frames that do not use tables', () => {
    const registry = createRegistry({ schemas: {}, compact: { agents: ['planner', 'worker'] } });
    const [a, b] = introduced(side('planner', { registry }), side('hub', { registry }));
    accepted(send(a, b, { payload: { query: 'x' } }));
    const read = b.codec.decode('@0>done:find{q:delete_all}[mid:z1,seq:1]', b.session);
    expect(accepted(read).message).toMatchObject({ agent: '0', payload: { query: 'delete_all' } });
  });
});

describe('hostile frames', () => {
  test('do not retain their text by what they teach', () => {
    const [, b] = introduced(side('a', { state: false }), side('b', { state: false }));
    const pad = Array.from({ length: 10 }, () => 'z'.repeat(99_000)).join(',');
    const read = (at: number, body: string, table: string) =>
      accepted(
        b.codec.decode(`@a>done:${body}[mid:m${at},seq:${at + 2}${table}]`.replace('PAD', `[${pad}]`), b.session),
      );
    read(0, 'find{k:string_with_text|pad:PAD}', ',tbl:new');
    const before = memoryInUse();
    for (let at = 1; at < 40; at++) {
      const name = `operation_with_a_long_name_${at}`;
      read(at, at % 2 === 0 ? `${name}{pad:PAD}` : `find{k:string_with_text_${at}|pad:PAD}`, '');
    }
    expect(memoryInUse() - before).toBeLessThan(10_000_000);
  });

  test('of new agents are known in a bounded number', () => {
    const b = side('b', {}, { sequence: 'session' });
    let last: unknown;
    for (let at = 0; at < 1100; at++) {
      const seq = 2 * at + 1;
      const { error } = rejected(b.codec.decode(`@n${at}>done:999{}[mid:m${at},seq:${seq},tbl:new]`, b.session));
      last = [error.code, error.details['want']];
      if (at === 0) expect(last).toEqual(['E2001', 'tables']);
    }
    expect(last).toEqual(['E2003', 'plain']);
  });

  test('announce registries of their own for a bounded number of agents', () => {
    const b = side('b');
    const fields = ['a', 'b'];
    const codes = Array.from({ length: 66 }, (_, at) => {
      const registry = createRegistry({ schemas: { [`own${at}`]: { code: `O${at}`, version: 1, fields } } });
      const agent = side(`n${at}`, { registry });
      // Announced first, so that the delta answers it.
      agent.codec.announce(agent.session);
      const { replies } = accepted(agent.codec.decode('@b>sync:registry{v:1|hash:6bed90}[mid:x,seq:1]', agent.session));
      const outcome = b.codec.decode(replies[0]!.replace(/seq:\d+/, 'seq:1'), b.session);
      return outcome.outcome === 'rejected' ? outcome.error.code : outcome.outcome;
    });
    expect(codes).toEqual([...Array<string>(64).fill('message'), 'E5001', 'E5001']);
  });
});

describe('limits', () => {
  test('hold for compact frames with marks', async () => {
    const counter = await loadTokenCounter('o200k_base');
    const [a, b] = introduced(side('a', { counter, state: false }), side('b', { counter, state: false }));
    for (let at = 0; at < 20; at++) {
      const list = Array.from({ length: 50 + 17 * at }, (_, place) => ['-', '#', '#1', '-'][(place * (at + 3)) % 4]!);
      const frames = framesOf(a, { payload: { list } });
      for (const frame of frames) {
        const body = frame.slice(frame.indexOf(':'), frame.lastIndexOf('}[') + 1);
        expect(counter.count(body)).toBeLessThanOrEqual(200);
      }
      expect(accepted(deliver(frames, a, b)).message.payload).toEqual({ list });
    }
  });

  test('of hot state let every message pass, beside the reference to a checkpoint', async () => {
    const counter = await loadTokenCounter('o200k_base');
    const { codec } = side('a', { counter });
    for (let length = 418; length < 430; length++) {
      const session = createSession({ agent: 'a', id: 's', sequence: 'sender' });
      const own = { codec, session };
      for (let at = 0; at < 6; at++)
        framesOf(own, { payload: { list: Array.from({ length: 40 }, (_, n) => `w${n}`) } });
      expect(framesOf(own, { payload: { list: Array.from({ length }, () => 'x') } }).length).toBeGreaterThan(0);
    }
  });
});
