/** Compact frames between two sides: when they are used, what they look like, and what happens to those that cannot be read. */
import { describe, expect, test } from 'vitest';
import {
  type CodecOptions,
  createRegistry,
  type JsonObject,
  type MessageInput,
  type SessionOptions,
} from '../../../src/accp/codec/index.js';
import { loadTokenCounter } from '../../../src/tokens/load-counter.js';
import { deliver, framesOf, introduced, type Side, side as sideOf } from './compact-sides.js';
import { accepted, rejected } from './endpoints.js';

const counter = await loadTokenCounter('o200k_base');

function side(agent: string, options: CodecOptions = {}, session: Partial<SessionOptions> = {}): Side {
  return sideOf(agent, { text: 'transliterate', counter, ...options }, session);
}

function agreed(options: CodecOptions = {}, session: Partial<SessionOptions> = {}): { a: Side; b: Side } {
  const [a, b] = introduced(side('a', options, session), side('b', options, session));
  return { a, b };
}

function send(from: Side, message: MessageInput): string {
  return framesOf(from, message)[0]!;
}

function receive({ codec, session }: Side, frame: string): JsonObject {
  return accepted(codec.decode(frame, session)).message.payload;
}

const PLAN = { task: 'impl_auth_module', owner: 'dev_team', deps: ['db_migration', 'oauth_client'] };
const ASK: MessageInput = { intent: 'req', operation: 'plan_sprint', payload: PLAN };

/** Frames without identifiers and time. */
function shown(frame: string): string {
  return frame
    .replace(/mid:[a-f]+\d+/, 'mid:M')
    .replace(/ts:\d+/, 'ts:T')
    .replace(/reg\.[0-9a-f]+/, 'reg.H');
}

describe('the profile', () => {
  test('is announced, and used once both sides have announced it', () => {
    const a = side('a');
    const b = side('b');
    const early = send(a, ASK);
    expect(early).toContain('>req:plan_sprint{task:impl_auth_module');
    receive(b, early);
    expect(receive(b, send(a, ASK))).toEqual(PLAN);
    const announced = a.codec.announce(a.session).frames;
    expect(announced[0]).toContain('|profile:compact1}');
    deliver(announced, a, b);
    expect(shown(send(a, ASK))).toMatch(/^@a>req:plan_sprint\{task:.*\}\[mid:M,seq:4,ts:T,cid:1,tbl:new\]$/);
    expect(shown(send(a, ASK))).toBe('@a>req:11{0:[$0,$1,[$2,$3]]}[mid:M,seq:5,ts:T,cid:3]');
  });

  test.each([
    ['the reader', {}, { compact: false }],
    ['the writer', { compact: false }, {}],
  ])('is not used if %s has not announced it', (_who, mine, theirs) => {
    const a = side('a', mine);
    const b = side('b', theirs);
    deliver(a.codec.announce(a.session).frames, a, b);
    for (const frame of [send(a, ASK), send(a, ASK)]) {
      expect(frame).toContain('{task:impl_auth_module|owner:dev_team|');
      expect(frame).not.toContain('tbl:');
    }
  });

  test('ends when another agent joins that does not read compact frames, and begins again without it', () => {
    const { a, b } = agreed();
    receive(b, send(a, ASK));
    expect(receive(b, send(a, ASK))).toEqual(PLAN);
    const stranger = side('c', { compact: false });
    accepted(a.codec.decode(stranger.codec.announce(stranger.session).frames[0]!, a.session));
    const last = send(a, ASK);
    expect(last).toMatch(/\{task:impl_auth_module\|.*,tbl:off\]$/);
    expect(receive(b, last)).toEqual(PLAN);
    const plain = send(a, { intent: 'ack', operation: '7', payload: { 0: [1] } });
    expect(plain).toMatch(/>ack:7\{0:\[1\]\}\[.*ts:\d+,sid:s\]$/);
    expect(receive(b, plain)).toEqual({ 0: [1] });
  });

  test('leaves frames plain whose operation is a number, and begins new tables afterwards', () => {
    const { a, b } = agreed();
    receive(b, send(a, ASK));
    const numbered = send(a, { intent: 'ack', operation: '7', payload: { 0: [1] } });
    expect(numbered).toMatch(/^@a>ack:7\{0:\[1\]\}\[.*,tbl:off\]$/);
    expect(receive(b, numbered)).toEqual({ 0: [1] });
    const next = send(a, ASK);
    expect(next).toMatch(/\{task:impl_auth_module\|.*,tbl:new\]$/);
    expect(receive(b, next)).toEqual(PLAN);
  });

  test('leaves error frames and frames about the session plain', () => {
    const { a, b } = agreed();
    for (let round = 0; round < 2; round++) {
      const error = { code: 'E4002', message: 'The tool failed.', retryable: true };
      const frame = send(a, { intent: 'fail', operation: 'error', schema: 'ER', payload: error });
      expect(frame).toContain("{code:E4002|msg:'TheToolFailed.|retry:true|schema:ER}");
      receive(b, frame);
      const announced = a.codec.announce(a.session).frames;
      expect(announced[0]).toContain('>sync:registry{');
      deliver(announced, a, b);
    }
  });
});

test('the log explains the plain frame', () => {
  const events: string[] = [];
  const { a, b } = agreed({ explain: true, log: ({ type, message }) => events.push(`${type}: ${message}`) });
  for (let round = 0; round < 2; round++) receive(b, send(a, ASK));
  const last = events.slice(-2);
  expect(last[0]).toMatch(/^sent: .*impl_auth_module/);
  expect(last[1]).toMatch(/^received: .*impl_auth_module/);
});

describe('the tables', () => {
  test('begin with the registry if the other side has it', () => {
    const registry = createRegistry({
      schemas: {},
      compact: {
        shapes: [{ operation: 'plan_sprint', fields: ['task', 'owner', 'deps'] }],
        strings: ['dev_team'],
        agents: ['b', 'a'],
      },
    });
    const { a, b } = agreed({ registry });
    const frame = send(a, ASK);
    expect(shown(frame)).toBe(
      '@a>req:11{0:[impl_auth_module,$0,[db_migration,oauth_client]]}[mid:M,seq:2,ts:T,cid:1,tbl:reg.H]',
    );
    const { message } = accepted(b.codec.decode(frame, b.session));
    expect(message).toMatchObject({ agent: 'a', operation: 'plan_sprint', payload: PLAN });
    const next = send(a, ASK);
    expect(shown(next)).toMatch(/^@1>req:11\{0:\[.*cid:3\]$/);
    expect(accepted(b.codec.decode(next, b.session)).message.agent).toBe('a');
  });

  test('begin with a registry that the other side has received', () => {
    const registry = createRegistry({
      schemas: {},
      compact: { shapes: [{ operation: 'plan_sprint', fields: ['task', 'owner', 'deps'] }], agents: ['b', 'a'] },
    });
    const a = side('a', { registry });
    const b = side('b');
    deliver(a.codec.announce(a.session).frames, a, b);
    expect(b.session.peers.get('a')).not.toHaveProperty('compact');
    const frame = send(a, ASK);
    expect(frame).toMatch(/^@a>req:11\{0:\[impl_auth_module,.*,tbl:reg\.[0-9a-f]{6,}\]$/);
    expect(receive(b, frame)).toEqual(PLAN);
    expect(receive(a, send(b, ASK))).toEqual(PLAN);
  });

  test('are shared by the agents of one endpoint if all parties share one count', () => {
    const { a, b } = agreed({}, { sequence: 'session' });
    const frames = ['a', 'a2', 'a2', 'a'].map((agent) => shown(send(a, { ...ASK, agent })));
    expect(frames.map((frame) => frame.replace(/.*ts:T(?:,cid:\d+)?/, ''))).toEqual([
      ',tbl:new.0]',
      ',tbl:as.a]',
      ']',
      ']',
    ]);
    expect(frames[3]).toContain('>req:11{3:[$0,$1,[$2,$3]]}');
    const again = agreed({}, { sequence: 'session' });
    for (const agent of ['a', 'a2', 'a2', 'a']) {
      expect(receive(again.b, send(again.a, { ...ASK, agent }))).toEqual(PLAN);
    }
    expect(b.session.peers.size).toBe(1);
  });

  test('are not changed by a message that is refused', () => {
    const { a, b } = agreed();
    receive(b, send(a, ASK));
    const refused = {
      intent: 'ack',
      operation: 'x',
      payload: { note: 'a_new_string' },
      envelope: { correlation_id: 'no space' },
    };
    expect(() => send(a, refused)).toThrow(expect.objectContaining({ code: 'E1004' }));
    expect(() => send(a, { ...ASK, payload: { note: 'a_new_string', bad: Number.NaN } })).toThrow();
    for (let round = 0; round < 3; round++) {
      expect(receive(b, send(a, { intent: 'ack', operation: 'x', payload: { note: 'a_new_string', round } }))).toEqual({
        note: 'a_new_string',
        round,
      });
    }
  });

  test('begin anew after a frame that the other side could not read', () => {
    const { a, b } = agreed();
    receive(b, send(a, ASK));
    const foreign = send(a, ASK).replace(/req:\d+/, 'req:400');
    const { error, reply } = rejected(b.codec.decode(foreign, b.session));
    expect([error.code, error.details]).toEqual(['E2001', { want: 'tables' }]);
    // Frames that were sent meanwhile cannot be read either.
    expect(rejected(b.codec.decode(send(a, ASK), b.session)).error.code).toBe('E2001');
    deliver([reply!], b, a);
    const next = send(a, ASK);
    expect(next).toMatch(/,tbl:new\]$/);
    expect(receive(b, next)).toEqual(PLAN);
  });

  test('do not grow beyond their bounds, and stay equal on both sides', () => {
    const { a, b } = agreed({ state: false });
    for (let round = 0; round < 3000; round++) {
      const payload = {
        [`key_${round % 700}`]: `string_${round}`,
        known: `string_${round - (round % 600)}`,
        x: round % 7,
      };
      const frame = send(a, {
        intent: 'ack',
        operation: `op_${round % 40}`,
        payload,
        envelope: { correlation_id: 'c' },
      });
      expect(receive(b, frame)).toEqual(payload);
      for (const [, number] of frame.replace(/\[mid.*/, '').matchAll(/\$(\d+)/g))
        expect(Number(number)).toBeLessThan(512);
    }
  });
});

test('a message of several frames has fewer of them than in plain form, each within the limits', () => {
  const rows = Array.from({ length: 60 }, (_, at) => ({
    region: `region_${at % 4}`,
    status: at % 3 === 0 ? 'in_progress' : 'waiting_for_review',
    owner: `owner_${at}`,
    count: 17 * at,
  }));
  const message: MessageInput = { intent: 'done', operation: 'list_all', payload: { rows } };
  const frames = [true, false].map((compact) => {
    const { a, b } = agreed({ compact });
    const sent = framesOf(a, message);
    expect(accepted(deliver(sent, a, b)).message.payload).toEqual({ rows });
    return sent;
  });
  expect(frames[0]!.length).toBeLessThan(0.7 * frames[1]!.length);
  for (const frame of frames[0]!) {
    const body = frame.slice(frame.indexOf(':'), frame.lastIndexOf('['));
    expect(counter.count(body)).toBeLessThanOrEqual(200);
  }
});

describe('the envelope', () => {
  test('of an answer has at most 22 tokens', () => {
    const { a, b } = agreed();
    let tokens = 0;
    for (let round = 0; round < 3; round++) {
      const asked = a.codec.encode(ASK, a.session);
      const { message } = accepted(b.codec.decode(asked.frames[0]!, b.session));
      expect(message.envelope.correlation_id).toBe(String(2 * round + 1));
      const envelope = { correlation_id: message.envelope.correlation_id, causation_id: message.envelope.msg_id };
      const answer = b.codec.encode(
        { intent: 'done', operation: 'plan_sprint', payload: { ok: true }, envelope },
        b.session,
      );
      expect(receive(a, answer.frames[0]!)).toEqual({ ok: true });
      ({ metadata: tokens } = answer.tokens);
    }
    expect(tokens).toBeLessThanOrEqual(22);
  });

  test('keeps what it does not imply', () => {
    const { a, b } = agreed();
    receive(b, send(a, ASK));
    const envelope = { correlation_id: 'mine', causation_id: 'other', ttl: 60 };
    const frame = send(a, { ...ASK, envelope });
    expect(frame).toMatch(/,cid:mine,aid:other,ttl:60\]$/);
    expect(accepted(b.codec.decode(frame, b.session)).message.envelope).toMatchObject(envelope);
  });

  test('gives the requests of both sides different identifiers', () => {
    const { a, b } = agreed();
    const mine = [1, 2, 3].map(() => a.codec.encode(ASK, a.session).correlationId);
    const theirs = [1, 2, 3].map(() => b.codec.encode(ASK, b.session).correlationId);
    expect([mine, theirs]).toEqual([
      ['1', '3', '5'],
      ['2', '4', '6'],
    ]);
  });
});
