/** Faults of compact frames between two sides that were found and mended. */
import { expect, test } from 'vitest';
import {
  type Accepted,
  type Codec,
  type CodecOptions,
  createCodec,
  createSession,
  type DecodeOutcome,
  type MessageInput,
  type Session,
} from '../../../src/accp/codec/index.js';
import { type CompactDefinition, createRegistry } from '../../../src/accp/registry/registry.js';

interface Side {
  readonly codec: Codec;
  readonly session: Session;
}

function side(
  agent: string,
  sequence: 'sender' | 'session',
  compact?: CompactDefinition,
  options?: CodecOptions,
): Side {
  const registry = compact === undefined ? createRegistry() : createRegistry({ schemas: {}, compact });
  const codec = createCodec({ compact: true, registry, now: () => 1_714_000_000_000, ...options });
  return { codec, session: createSession({ agent, id: 's', sequence }) };
}

/** Delivers frames and the answers to them, and returns the outcome of the last frame. */
function deliver(frames: readonly string[], to: Side, from: Side): DecodeOutcome {
  let last: DecodeOutcome = { outcome: 'dropped', reason: 'expired' } as DecodeOutcome;
  for (const frame of frames) {
    last = to.codec.decode(frame, to.session);
    if (last.outcome === 'rejected') deliver(last.reply === null ? [] : [last.reply], from, to);
    else if (last.outcome !== 'dropped') deliver(last.replies, from, to);
  }
  return last;
}

function framesOf(from: Side, message: Partial<MessageInput>): readonly string[] {
  return from.codec.encode({ intent: 'done', operation: 'find', ...message }, from.session).frames;
}

function send(from: Side, to: Side, message: Partial<MessageInput>): DecodeOutcome {
  return deliver(framesOf(from, message), to, from);
}

function pair(
  sequence: 'sender' | 'session',
  own?: CompactDefinition,
  other?: CompactDefinition,
): readonly [Side, Side] {
  const [a, b] = [side('a', sequence, own), side('b', sequence, other)];
  deliver(a.codec.announce(a.session).frames, b, a);
  return [a, b];
}

const messageOf = (outcome: DecodeOutcome): object => (outcome as Accepted).message;

test('a plain frame whose operation and only key are numbers is accepted, if no side uses compact frames', () => {
  const [a, b] = [
    side('a', 'session', undefined, { compact: false }),
    side('b', 'session', undefined, { compact: false }),
  ];
  expect(send(a, b, { operation: '12', payload: { 5: [1] } })).toMatchObject({ outcome: 'message' });
});

test('a plain frame after a reset has tbl:off, since the other side may still have tables', () => {
  const [a, b] = pair('sender');
  send(a, b, { payload: { query: 'users_all' } });
  const lost = framesOf(a, { operation: '12', payload: { k: '##x' } });
  expect(lost[0]).toContain('tbl:off');
  const outcome = b.codec.decode(framesOf(a, { payload: { query: 'users_all' } })[0]!, b.session);
  if (outcome.outcome !== 'rejected') throw new Error('There must be a gap');
  const again = a.codec.decode(outcome.reply!, a.session) as Accepted;
  expect(again.replies[1]).toContain('tbl:off');
});

test('strings of plain frames are not changed after a reset', () => {
  const [a, b] = pair('sender');
  send(a, b, { payload: { query: 'users_all' } });
  framesOf(a, { payload: { query: 'users_all' } });
  // A gap; then the sender continues with a codec that sends plain frames.
  const plain: Side = { ...a, codec: createCodec({ now: () => 1_714_000_000_000 }) };
  const outcome = b.codec.decode(framesOf(plain, { payload: { k: '##x' } })[0]!, b.session);
  if (outcome.outcome !== 'rejected') throw new Error('There must be a gap');
  const again = plain.codec.decode(outcome.reply!, plain.session) as Accepted;
  const messages = again.replies.map((frame) => b.codec.decode(frame, b.session));
  expect(messageOf(messages.at(-1)!)).toMatchObject({ payload: { k: '##x' } });
});

test('tbl:off of an agent that uses no tables does not end those of the others for the sender alone', () => {
  const [a, b] = pair('session');
  send(a, b, { payload: { query: 'users_all' } });
  send(a, b, { agent: 'helper', operation: '12', payload: { query: 'users_all' } });
  expect(send(a, b, { operation: '12', payload: { query: 'users_all' } })).toMatchObject({ outcome: 'message' });
});

test('an agent whose name is a number is not taken for an agent of the registry', () => {
  const compact = { agents: ['x', 'y'] };
  const [a, b] = pair('sender', compact, compact);
  const outcome = send(a, b, { agent: '0', payload: { query: 'users_all' } });
  expect(outcome.outcome === 'message' ? outcome.message.agent : '0').toBe('0');
});

test('tables that begin with a registry have that of the sender, for each agent of its endpoint', () => {
  const [a, b] = pair('sender', { strings: ['alpha_beta', 'gamma_delta'] }, { strings: ['gamma_delta', 'alpha_beta'] });
  const query = ['alpha_beta', 'gamma_delta'];
  const outcome = send(a, b, { agent: 'helper', payload: { query } });
  expect(outcome.outcome === 'message' ? outcome.message.payload : { query }).toEqual({ query });
});

test('tables that begin with a registry are rejected if the receiver does not have it', () => {
  const [a, b] = [side('a', 'sender', { strings: ['alpha_beta'] }), side('b', 'sender')];
  b.codec.decode('@a>sync:registry{v:2|hash:abcdef|profile:compact1}[mid:m1,seq:1]', b.session);
  expect(a.codec.registry.version).toBe(2);
  const outcome = b.codec.decode('@a>req:x{k:1}[mid:m2,seq:2,tbl:reg.abcdef]', b.session);
  expect(outcome.outcome).toBe('rejected');
});

test('the number of agents that share tables is bounded', () => {
  const [, b] = pair('session');
  b.codec.decode('@a>req:x{k:1}[mid:m1,seq:3,tbl:new.0]', b.session);
  const outcomes = Array.from({ length: 1200 }, (_, at) => {
    return b.codec.decode(`@a${at}>done:x{k:1}[mid:n${at},seq:${at + 4},tbl:as.a.${(at + 1) % 1000}]`, b.session);
  });
  expect(outcomes.some(({ outcome }) => outcome === 'rejected')).toBe(true);
});

test('a compact frame does not expand to one that is always plain', () => {
  const [, b] = pair('sender');
  const outcome = b.codec.decode('@a>fail:4{0:[E9999,boom,5]}[mid:m1,seq:2,tbl:new]', b.session);
  // Rejected for its form. For its content, it must not be answered, as error frames are not.
  expect(outcome.outcome === 'rejected' ? outcome.error.code : undefined).toBe('E1001');
});
