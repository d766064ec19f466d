/** Faults of compact frames between two sides that were found and mended. */
import { expect, test } from 'vitest';
import { createCodec, type SequenceMode } from '../../../src/accp/codec/index.js';
import { type CompactDefinition, createRegistry } from '../../../src/accp/registry/registry.js';
import { deliver, framesOf, introduced, type Side, send, side } from './compact-sides.js';
import { accepted, NOON, rejected } from './endpoints.js';

function endpoint(agent: string, sequence: SequenceMode, compact?: CompactDefinition): Side {
  return side(agent, compact === undefined ? {} : { registry: createRegistry({ schemas: {}, compact }) }, { sequence });
}

function pair(sequence: SequenceMode, own?: CompactDefinition, other?: CompactDefinition): readonly [Side, Side] {
  return introduced(endpoint('a', sequence, own), endpoint('b', sequence, other));
}

const USERS = { query: 'users_all' };

test('a plain frame whose operation and only key are numbers is accepted, if no side uses compact frames', () => {
  const plain = { compact: false };
  const [a, b] = introduced(side('a', plain, { sequence: 'session' }), side('b', plain, { sequence: 'session' }));
  expect(accepted(send(a, b, { operation: '12', payload: { 5: [1] } })).message.payload).toEqual({ 5: [1] });
});

test('a plain frame after a reset has tbl:off, since the other side may still have tables', () => {
  const [a, b] = pair('sender');
  send(a, b, { payload: USERS });
  const lost = framesOf(a, { operation: '12', payload: { k: '##x' } });
  expect(lost[0]).toContain('tbl:off');
  const { reply } = rejected(b.codec.decode(framesOf(a, { payload: USERS })[0]!, b.session));
  const again = accepted(a.codec.decode(reply!, a.session));
  expect(again.replies[1]).toContain('tbl:off');
});

test('strings of plain frames are not changed after a reset', () => {
  const [a, b] = pair('sender');
  send(a, b, { payload: USERS });
  framesOf(a, { payload: USERS });
  // A gap; then the sender continues with a codec that sends plain frames.
  const plain: Side = { ...a, codec: createCodec({ now: () => NOON * 1000 }) };
  const { reply } = rejected(b.codec.decode(framesOf(plain, { payload: { k: '##x' } })[0]!, b.session));
  const again = accepted(plain.codec.decode(reply!, plain.session));
  expect(accepted(deliver(again.replies, plain, b)).message.payload).toEqual({ k: '##x' });
});

test('tbl:off of an agent that uses no tables does not end those of the others for the sender alone', () => {
  const [a, b] = pair('session');
  accepted(send(a, b, { payload: USERS }));
  accepted(send(a, b, { agent: 'helper', operation: '12', payload: USERS }));
  expect(accepted(send(a, b, { operation: '12', payload: USERS })).message.payload).toEqual(USERS);
});

test('the agents of frames are those of the registry with which the tables began', () => {
  const [a, b] = pair('sender', { agents: ['a', 'b'] }, { agents: ['b', 'a'] });
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const)
    accepted(send(from, to, { payload: USERS }));
  for (let round = 0; round < 2; round++) {
    expect(framesOf(a, { payload: USERS }).filter((frame) => deliverAs(frame, b) === 'a')).toHaveLength(1);
    expect(framesOf(b, { payload: USERS }).filter((frame) => deliverAs(frame, a) === 'b')).toHaveLength(1);
  }
});

/** Returns the agent of a frame, which must be written as a number. */
function deliverAs(frame: string, to: Side): string {
  expect(frame).toMatch(/^@[01]>/);
  return accepted(to.codec.decode(frame, to.session)).message.agent;
}

test('an agent whose name is a number is not taken for an agent of the registry', () => {
  const compact = { agents: ['x', 'y'] };
  const [a, b] = pair('sender', compact, compact);
  const [frame] = framesOf(a, { agent: '0', payload: USERS });
  const outcome = b.codec.decode(frame!, b.session);
  expect(outcome.outcome === 'rejected' ? outcome.error.message : outcome).toMatchObject({ message: { agent: '0' } });
});

test('tables that begin with a registry have that of the sender, for each agent of its endpoint', () => {
  const [a, b] = pair('sender', { strings: ['alpha_beta', 'gamma_delta'] }, { strings: ['gamma_delta', 'alpha_beta'] });
  const query = ['alpha_beta', 'gamma_delta'];
  for (const agent of ['a', 'helper', 'a']) {
    expect(accepted(send(a, b, { agent, payload: { query } })).message).toMatchObject({ agent, payload: { query } });
  }
});

test('tables that begin with a registry are rejected if the receiver does not have it', () => {
  const [a, b] = [endpoint('a', 'sender', { strings: ['alpha_beta'] }), endpoint('b', 'sender')];
  b.codec.decode('@a>sync:registry{v:2|hash:abcdef|profile:compact1}[mid:m1,seq:1]', b.session);
  expect(a.codec.registry.version).toBe(2);
  expect(rejected(b.codec.decode('@a>req:x{k:1}[mid:m2,seq:2,tbl:reg.abcdef]', b.session)).error.code).toBe('E2001');
});

test('the number of agents that share tables is bounded', () => {
  const [, b] = pair('session');
  b.codec.decode('@a>req:x{k:1}[mid:m1,seq:3,tbl:new.0]', b.session);
  const outcomes = Array.from({ length: 1200 }, (_, at) => {
    return b.codec.decode(`@a${at}>done:x{k:1}[mid:n${at},seq:${at + 4},tbl:as.a.${(at + 1) % 1000}]`, b.session);
  });
  expect(outcomes.some(({ outcome }) => outcome === 'rejected')).toBe(true);
});

test('the number of senders whose tables are stored is bounded, without those of this side and those that were refused', () => {
  const [a, b] = pair('sender');
  for (let at = 0; at < 10; at++) accepted(send(b, a, { agent: `own${at}`, payload: USERS }));
  for (let at = 0; at < 64; at++) accepted(send(a, b, { agent: `a${at}`, payload: USERS }));
  const first = (agent: string) => b.codec.decode(`@${agent}>done:x{k:1}[mid:${agent},seq:1,tbl:new]`, b.session);
  for (const agent of ['c1', 'c2', 'c3']) {
    const { error } = rejected(first(agent));
    expect([error.code, error.details]).toEqual(['E2003', { want: 'plain' }]);
  }
  // A frame without a compact form ends the tables of its agent, and makes room.
  accepted(send(a, b, { agent: 'a0', operation: '7', payload: USERS }));
  accepted(first('c4'));
  rejected(first('c5'));
});

test('a compact frame does not expand to one that is always plain', () => {
  const [, b] = pair('sender');
  // Rejected for its form. For its content, it must not be answered, as error frames are not.
  const { error } = rejected(b.codec.decode('@a>fail:4{0:[E9999,boom,5]}[mid:m1,seq:2,tbl:new]', b.session));
  expect(error.code).toBe('E1001');
});

test('an error frame says which frame could not be read, so that only the tables of its agent begin anew', () => {
  const [a, b] = pair('sender');
  for (const agent of ['a', 'helper']) accepted(send(a, b, { agent, payload: USERS }));
  const [unreadable] = framesOf(a, { agent: 'helper', payload: USERS });
  const { error } = rejected(deliver([unreadable!.replace(/done:\d+/, 'done:400')], a, b));
  expect(error.details).toEqual({ want: 'tables' });
  expect(framesOf(a, { payload: USERS })[0]).toMatch(/^@a>done:\d+\{0:\[\$0\]\}\[(?!.*tbl:)/);
  expect(framesOf(a, { agent: 'helper', payload: USERS })[0]).toMatch(/tbl:new\]$/);
});

test('a request under the short identifier of the unanswered request of another agent is refused', () => {
  const [a, b] = pair('sender');
  const { message } = accepted(send(a, b, { intent: 'req', payload: USERS }));
  const cid = message.envelope.correlation_id!;
  expect(cid).toMatch(/^\d{1,6}$/);
  const request = (agent: string, mid: string): string =>
    `@${agent}>req:find{q:x}[mid:${mid},seq:1,ts:${NOON},cid:${cid}]`;
  const refused = rejected(b.codec.decode(request('c', 'c1'), b.session));
  expect(refused.error.code).toBe('E5001');
  deliver([refused.reply!], b, a);
  const answer = { payload: USERS, envelope: { correlation_id: cid } };
  accepted(send(b, a, answer));
  accepted(b.codec.decode(request('d', 'd1'), b.session));
});
