import { describe, expect, test } from 'vitest';
import { AccpError, ERROR_CODES } from '../../../src/accp/codec/index.js';
import { parseFrame } from '../../../src/accp/index.js';
import { accepted, endpoints, NOON, rejected } from './endpoints.js';

/** A frame with an envelope, of agent `a`. */
function frame(payload = '', metadata = `mid:m1,seq:1,ts:${NOON}`, head = '@a>req:x'): string {
  return `${head}{${payload}}[${metadata}]`;
}

describe('rejected frames and their codes', () => {
  const cases: readonly [name: string, text: string, code: string, path?: string][] = [
    ['what is no frame', '@a>req', 'E1001'],
    ['a frame without metadata', '@a>req:x{k:1}', 'E1001', 'metadata.mid'],
    ['a frame without mid', frame('', 'seq:1'), 'E1001', 'metadata.mid'],
    ['a frame without seq', frame('', 'mid:m1'), 'E1001', 'metadata.seq'],
    ['a number that is none', frame('', 'mid:m1,seq:one'), 'E1004', 'metadata.seq'],
    ['a negative number', frame('', 'mid:m1,seq:-1'), 'E1004', 'metadata.seq'],
    ['an identifier that is a map', frame('', 'mid:{a:1},seq:1'), 'E1004', 'metadata.mid'],
    ['a time stamp that is none', frame('', 'mid:m1,seq:1,ts:noon'), 'E1004', 'metadata.ts'],
    ['a ttl that is none', frame('', 'mid:m1,seq:1,ttl:soon'), 'E1004', 'metadata.ttl'],
    ['a frame of another session', frame('', 'mid:m1,seq:1,sid:other'), 'E5001', 'metadata.sid'],
    ['a number ahead of its turn', frame('', 'mid:m1,seq:2'), 'E3003', 'metadata.seq'],
    ['a number that is past', frame('', 'mid:m1,seq:0'), 'E3003', 'metadata.seq'],
    ['an unknown intent', frame('', undefined, '@a>beg:x'), 'E1002', 'intent'],
    ['an unknown schema', frame('schema:XX'), 'E1003', 'payload.schema'],
    ['a schema that is a list', frame('schema:[TC]'), 'E1004', 'payload.schema'],
    ['a value of another type than the schema has', frame('turn:three|schema:CH'), 'E1004', 'payload.turn'],
    ['a reference to nothing', frame('k:$nothing'), 'E2001', 'payload.k'],
    ['a key and its abbreviation', frame('data:1|d:2'), 'E1001', 'payload.d'],
    ['cancel without a chain', frame('', undefined, '@a>cancel:x'), 'E1004', 'metadata.cid'],
  ];
  test.each(cases)('%s', (_name, text, code, path) => {
    const { codec, b } = endpoints();
    const { error, reply } = rejected(codec.decode(text, b));
    expect({ code: error.code, path: error.path }).toEqual({ code, path });
    const answer = parseFrame(reply!);
    expect(answer).toMatchObject({ agent: 'b', intent: 'fail', operation: 'error' });
    const payload = Object.fromEntries(answer.payload.map(({ key, value }) => [key, value]));
    expect(payload['code']).toEqual({ kind: 'string', value: code });
    expect(payload['retry']).toEqual({ kind: 'boolean', value: ERROR_CODES[error.code].retryable });
    expect(payload['schema']).toEqual({ kind: 'string', value: 'ER' });
  });

  test('an expired frame is never answered, not even a duplicate', () => {
    const { codec, b, clock } = endpoints();
    const text = frame('', `mid:m1,seq:1,ts:${NOON},ttl:5`);
    expect(codec.decode(text, b).outcome).toBe('message');
    clock.now += 6;
    expect(codec.decode(text, b)).toEqual({ outcome: 'dropped', reason: 'expired' });
  });

  test('a frame is valid up to its last second, and for ever with a ttl of 0 or without a time stamp', () => {
    const { codec, b, clock } = endpoints();
    clock.now += 5;
    expect(codec.decode(frame('', `mid:m1,seq:1,ts:${NOON},ttl:5`), b).outcome).toBe('message');
    clock.now += 1e9;
    expect(codec.decode(frame('', `mid:m2,seq:2,ts:${NOON},ttl:0`), b).outcome).toBe('message');
    expect(codec.decode(frame('', 'mid:m3,seq:3,ttl:1'), b).outcome).toBe('message');
  });
});

describe('the order of the checks', () => {
  test('expiry comes before duplicate, duplicate before sequence', () => {
    const { codec, b } = endpoints();
    accepted(codec.decode(frame(), b));
    expect(rejected(codec.decode(frame(), b)).error.code).toBe('E3002');
    expect(codec.decode(frame('', `mid:m1,seq:1,ts:${NOON - 9},ttl:1`), b).outcome).toBe('dropped');
  });

  test('sequence comes before intent, intent before schema, schema before references', () => {
    const { codec, b } = endpoints();
    expect(rejected(codec.decode('@a>beg:x{schema:XX|k:$no}[mid:m1,seq:7]', b)).error.code).toBe('E3003');
    const next = endpoints();
    expect(rejected(next.codec.decode('@a>beg:x{schema:XX|k:$no}[mid:m1,seq:1]', next.b)).error.code).toBe('E1002');
    const third = endpoints();
    expect(rejected(third.codec.decode('@a>req:x{schema:XX|k:$no}[mid:m1,seq:1]', third.b)).error.code).toBe('E1003');
  });

  test('a rejected frame uses up its number and its identifier', () => {
    const { codec, b } = endpoints({}, { sequence: 'sender' });
    rejected(codec.decode('@a>beg:x{}[mid:m1,seq:1]', b));
    rejected(codec.decode('@a>req:x{schema:XX}[mid:m2,seq:2]', b));
    rejected(codec.decode('@a>req:x{}[mid:m3,seq:3,ts:noon]', b));
    expect(codec.decode('@a>req:x{}[mid:m4,seq:4]', b).outcome).toBe('message');
    expect(rejected(codec.decode('@a>req:x{}[mid:m2,seq:5]', b)).error.code).toBe('E3002');
  });
});

describe('error frames', () => {
  test('are never answered by error frames', () => {
    const { codec, b } = endpoints();
    for (const text of [
      '@a>fail:error{code:E1001|schema:ER}[mid:m1,seq:9]',
      '@a>fail:error{code:E1001|schema:XX}[mid:m2,seq:1]',
      '@a>fail:error{code:E1001|schema:ER}',
    ]) {
      expect(rejected(codec.decode(text, b)).reply).toBeNull();
    }
  });

  test('name the frame that they answer', () => {
    const { codec, b } = endpoints();
    const { reply } = rejected(codec.decode('@a>req:x{k:$no}[mid:m1,seq:1,cid:c1]', b));
    expect(reply).toMatch(/,cid:c1,aid:m1,/);
  });

  test('the error of a handler is sent as E9999, that of a tool as E4002, and an AccpError with its own code', () => {
    const { codec, a, b } = endpoints();
    const plain = accepted(codec.decode(codec.encode({ intent: 'req', operation: 'x' }, a).frames[0]!, b)).message;
    const reply = codec.fail(plain, new Error('connect ECONNREFUSED 10.0.0.3'), b);
    expect(reply).toContain('{code:E9999|msg:The_handler_failed|retry:true|schema:ER}');
    accepted(codec.decode(reply, a));
    const call = { intent: 'req', operation: 'tool', schema: 'TC', payload: { tool_name: 'search', arguments: {} } };
    const called = accepted(codec.decode(codec.encode(call, a).frames[0]!, b)).message;
    const told = codec.fail(called, new Error('no network'), b, { reason: 'no network' });
    expect(told).toContain('{code:E4002|msg:no_network|retry:true|');
    accepted(codec.decode(told, a));
    const denied = accepted(codec.decode(codec.encode({ intent: 'req', operation: 'x' }, a).frames[0]!, b)).message;
    const error = new AccpError({ code: 'E5001', message: 'not today' });
    expect(codec.fail(denied, error, b)).toContain('{code:E5001|msg:not_today|retry:false|');
  });
});

describe('cancellation', () => {
  test('aborts the work of the chain, and rejects later frames', () => {
    const { codec, a, b } = endpoints();
    const { frames, correlationId } = codec.encode({ intent: 'req', operation: 'x' }, a);
    accepted(codec.decode(frames[0]!, b));
    const running = b.signal(correlationId);
    expect(running.aborted).toBe(false);
    const envelope = { correlation_id: correlationId };
    accepted(codec.decode(codec.encode({ intent: 'cancel', operation: 'x', envelope }, a).frames[0]!, b));
    expect(running.aborted).toBe(true);
    expect(b.signal(correlationId).aborted).toBe(true);
    expect(() => codec.encode({ intent: 'done', operation: 'x', envelope }, b)).toThrow(/was cancelled/);
    const late = `@a>req:x{}[mid:late,seq:3,cid:${correlationId}]`;
    expect(rejected(codec.decode(late, b)).error.code).toBe('E5001');
  });
});

describe('overdue answers', () => {
  test('are reported once, as E3001', () => {
    const { codec, a, clock } = endpoints({}, { timeoutMs: 30_000 });
    const { correlationId } = codec.encode({ intent: 'req', operation: 'x' }, a);
    clock.now += 29;
    expect(a.tick()).toEqual([]);
    clock.now += 1;
    expect(a.tick().map(({ error, ...rest }) => ({ ...rest, code: error.code }))).toEqual([
      { correlationId, code: 'E3001' },
    ]);
    expect(a.tick()).toEqual([]);
  });

  test('are not reported once they have arrived, and later if the other side asks for time', () => {
    const { codec, a, b, clock } = endpoints({}, { timeoutMs: 30_000, sequence: 'sender' });
    const asked = codec.encode({ intent: 'req', operation: 'x' }, a);
    accepted(codec.decode(asked.frames[0]!, b));
    const envelope = { correlation_id: asked.correlationId };
    clock.now += 29;
    accepted(codec.decode(codec.encode({ intent: 'wait', operation: 'x', envelope }, b).frames[0]!, a));
    clock.now += 29;
    expect(a.tick()).toEqual([]);
    accepted(codec.decode(codec.encode({ intent: 'done', operation: 'x', envelope }, b).frames[0]!, a));
    clock.now += 100;
    expect(a.tick()).toEqual([]);
  });
});

test('a frame that the host does not authorize is rejected with its reason', () => {
  const { codec, b } = endpoints({ authorize: ({ agent }) => agent === 'c' || 'only c may speak' });
  const { error } = rejected(codec.decode(frame(), b));
  expect(error).toMatchObject({ code: 'E5001', message: 'only c may speak' });
});

test('an error of the check of the host is sent as E9999 without its message, and is the cause for the host', () => {
  const thrown = new Error('database password wrong');
  const { codec, b } = endpoints({
    authorize: () => {
      throw thrown;
    },
  });
  const { error, reply } = rejected(codec.decode(frame(), b));
  expect(error).toMatchObject({ code: 'E9999', cause: thrown });
  expect(reply).not.toContain('password');
});

test('a log that throws changes nothing', () => {
  const { codec, a, b } = endpoints({
    log: () => {
      throw new Error('disk full');
    },
  });
  expect(codec.decode(codec.encode({ intent: 'req', operation: 'x' }, a).frames[0]!, b).outcome).toBe('message');
});
