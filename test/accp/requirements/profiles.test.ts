/** Domain profiles (draft-benzing-accp-00, section 10): fields, defaults, examples and rules, both ways. */
import { describe, expect, test } from 'vitest';
import { type Json, type MessageInput, PROFILES, type StreamChunk } from '../../../src/accp/codec/index.js';
import { accepted, endpoints, rejected, taken, thrownBy } from './endpoints.js';

/** A message of the other side. */
const body = (text: string, rest = ''): string => `@peer>${text}[mid:m1,seq:1${rest}]`;

/** Decodes an example in the lenient dialect. */
function read(text: string, before: readonly string[] = []): { readonly [key: string]: Json } {
  const { codec, worker } = endpoints({ codec: { dialect: 'lenient' }, session: { sequence: 'sender' } });
  for (const frame of before) accepted(codec.decode(frame, worker));
  return accepted(codec.decode(text, worker)).message.payload;
}

/** The code of the refusal when a message is sent, and when it is received. */
function verdicts(message: MessageInput, wire: string): readonly [string, string] {
  const { codec, planner, worker } = endpoints();
  const received = codec.decode(wire, worker);
  return [
    thrownBy(() => codec.encode(message, planner)).code,
    received.outcome === 'rejected' ? received.error.code : received.outcome,
  ];
}

describe('schemas: the fields and defaults of the draft, and the keys of its examples', () => {
  test.each<readonly [string, string, string, { readonly [field: string]: Json }]>([
    ['CH', 'Chat', 'role content turn lang reply_to', { role: 'assistant', lang: 'en' }],
    ['TC', 'Tool / MCP', 'tool_name arguments result status error_code', { status: 'ok' }],
    [
      'TX',
      'Transaction',
      'transaction_id amount currency account reference status retryable',
      { currency: 'USD', status: 'pending', retryable: false },
    ],
    ['ST', 'Streaming', 'chunk_index total_chunks data is_final', { is_final: false }],
    ['TA', 'Workflow', 'assignee task priority deadline deps', { priority: 'medium', deps: [] }],
  ])('%s (%s) has the fields %s', (code, name, fields, defaults) => {
    const profile = PROFILES.find((one) => one.code === code)!;
    expect(profile.name).toBe(name);
    expect(profile.schema.fields).toEqual(fields.split(' '));
    expect({ ...profile.schema.defaults }).toEqual(defaults);
    const { codec } = endpoints();
    expect(codec.registry.byCode(code)).toBe(profile.schema);
  });

  test.each([
    ['CH', 'done:chat{content:hi|schema:CH}', { content: 'hi', role: 'assistant', lang: 'en' }],
    ['TC', 'req:tool{tool:web|schema:TC}', { tool_name: 'web', status: 'ok' }],
    [
      'TX',
      'req:transaction{txn:t1|schema:TX}',
      { transaction_id: 't1', currency: 'USD', status: 'pending', retryable: false },
    ],
    ['TA', 'req:schedule{task:auth|schema:TA}', { task: 'auth', priority: 'medium', deps: [] }],
  ])('%s: absent fields get their defaults, and fields that hold them are not sent', (schema, text, payload) => {
    const { codec, planner, worker } = endpoints();
    const received = accepted(codec.decode(body(text), worker)).message;
    expect({ ...received.payload }).toEqual(payload);
    const { intent, operation } = received;
    const { frames } = codec.encode({ intent, operation, schema, payload }, planner);
    expect(taken(frames[0]!).body).toBe(`@planner>${text}`);
  });

  test('ST: a chunk is not final by default', () => {
    const { codec, worker } = endpoints();
    expect(codec.decode(body('stream:infer{idx:0|d:a|schema:ST}', ',cid:c1'), worker)).toMatchObject({
      outcome: 'pending',
      message: { payload: { is_final: false } },
    });
  });

  test('several profiles are active at once, and those that a host omits are rejected', () => {
    const wires = [body('done:chat{content:hi|schema:CH}'), '@peer>req:schedule{task:x|schema:TA}[mid:m2,seq:2]'];
    const all = endpoints();
    for (const wire of wires) accepted(all.codec.decode(wire, all.worker));
    const one = endpoints({ codec: { profiles: ['CH'] } });
    accepted(one.codec.decode(wires[0]!, one.worker));
    rejected(one.codec.decode(wires[1]!, one.worker), 'E1003');
  });
});

describe('CH (section 10.1)', () => {
  test('the examples are read', () => {
    expect({
      ...read('@user>req:chat{content:What_are_Q3_findings?|role:user|turn:1|schema:CH}[mid:m1,seq:1]'),
    }).toEqual({
      content: 'What_are_Q3_findings?',
      role: 'user',
      turn: 1,
      lang: 'en',
    });
    const answer = '@assistant>done:chat{content:Revenue_declined_12%.|turn:2|schema:CH}[mid:m2,seq:1,cid:m1]';
    expect(read(answer)).toMatchObject({ content: 'Revenue_declined_12%.', role: 'assistant', turn: 2 });
  });

  test('a plain string is a message of the assistant', () => {
    const { codec, planner, worker } = endpoints();
    const { frames } = codec.encode('done', planner);
    expect(accepted(codec.decode(frames[0]!, worker)).message).toMatchObject({
      intent: 'done',
      operation: 'chat',
      schema: 'CH',
      payload: { role: 'assistant', content: 'done' },
    });
  });
});

describe('TC (section 10.2)', () => {
  const CALL: MessageInput = {
    intent: 'req',
    operation: 'tool',
    schema: 'TC',
    payload: { tool_name: 'web', arguments: {} },
  };

  test('the examples are read', () => {
    const call = '@orchestrator>req:tool{tool:web_search|args:{q:ACCP,max:5}|schema:TC}[mid:m1,seq:1]';
    expect(read(call)).toMatchObject({ tool_name: 'web_search', arguments: { q: 'ACCP', max: 5 } });
    const result = '@tool_agent>done:tool{tool:web_search|res:{hits:[a]}|stat:ok|schema:TC}[mid:m2,seq:1,cid:m1]';
    expect(read(result, [call])).toMatchObject({ tool_name: 'web_search', result: { hits: ['a'] }, status: 'ok' });
  });

  test('a result without a correlation_id is rejected, both ways', () => {
    const result: MessageInput = { intent: 'done', operation: 'tool', schema: 'TC', payload: { result: 7 } };
    expect(verdicts(result, body('done:tool{res:7|schema:TC}'))).toEqual(['E1004', 'E1004']);
    const { codec, planner, worker } = endpoints();
    const { frames } = codec.encode({ ...result, envelope: { correlation_id: 'm1' } }, planner);
    expect(accepted(codec.decode(frames[0]!, worker)).message.envelope.correlation_id).toBe('m1');
  });

  test('a tool error has the schema ER and the code E4002', () => {
    const { codec, planner, worker } = endpoints();
    const { frames, correlationId } = codec.encode(CALL, planner);
    const call = accepted(codec.decode(frames[0]!, worker)).message;
    const reply = codec.fail(call, new Error('no network'), worker);
    expect(accepted(codec.decode(reply, planner)).message).toMatchObject({
      intent: 'fail',
      operation: 'error',
      schema: 'ER',
      payload: { code: 'E4002', retryable: true },
      envelope: { correlation_id: correlationId },
    });
  });

  test.each<readonly [string, MessageInput, string]>([
    [
      'the schema TC',
      { intent: 'fail', operation: 'tool', schema: 'TC', payload: { tool_name: 'web' } },
      '@worker>fail:tool{tool:web|schema:TC}[mid:m2,seq:2,cid:c1]',
    ],
    [
      'no schema',
      { intent: 'fail', operation: 'tool', payload: { error: 'x' } },
      '@worker>fail:tool{err:x}[mid:m2,seq:2,cid:c1]',
    ],
    [
      'an internal code',
      { intent: 'fail', operation: 'error', schema: 'ER', payload: { code: 'E9999', message: 'x' } },
      '@worker>fail:error{code:E9999|msg:x|schema:ER}[mid:m2,seq:2,cid:c1]',
    ],
    [
      'a code inside of a result',
      { intent: 'done', operation: 'tool', schema: 'TC', payload: { error_code: 'E4002' } },
      '@worker>done:tool{error_code:E4002|schema:TC}[mid:m2,seq:2,cid:c1]',
    ],
  ])('a tool error with %s is rejected, both ways', (_what, failure, wire) => {
    const { codec, planner, worker } = endpoints();
    const { frames } = codec.encode({ ...CALL, envelope: { correlation_id: 'c1' } }, planner);
    accepted(codec.decode(frames[0]!, worker));
    expect(thrownBy(() => codec.encode({ ...failure, envelope: { correlation_id: 'c1' } }, worker)).code).toBe('E1004');
    rejected(codec.decode(wire, planner), 'E1004');
  });
});

describe('TX (section 10.3)', () => {
  const pay = (payload: { readonly [key: string]: Json }, cid?: string): MessageInput => ({
    intent: 'req',
    operation: 'transaction',
    schema: 'TX',
    payload,
    envelope: cid === undefined ? {} : { correlation_id: cid },
  });

  test('the examples are read', () => {
    expect({
      ...read('@payments>req:transaction{txn:txn_001|amt:142.5|acc:acct_9876|schema:TX}[mid:m1,seq:1]'),
    }).toEqual({
      transaction_id: 'txn_001',
      amount: 142.5,
      account: 'acct_9876',
      currency: 'USD',
      status: 'pending',
      retryable: false,
    });
    const settled = '@payments>done:transaction{txn:txn_001|stat:settled|schema:TX}[mid:m2,seq:1,cid:m1]';
    expect(read(settled)).toMatchObject({ transaction_id: 'txn_001', status: 'settled' });
  });

  test('a transaction without a transaction_id is rejected, both ways', () => {
    expect(verdicts(pay({ amount: 1.5 }), body('req:transaction{amt:1.5|schema:TX}'))).toEqual(['E1004', 'E1004']);
  });

  test('another transaction_id under the same correlation_id is rejected, both ways', () => {
    const { codec, planner, worker } = endpoints({ session: { sequence: 'sender' } });
    accepted(codec.decode(codec.encode(pay({ transaction_id: 't1', amount: 1.5 }, 'c1'), planner).frames[0]!, worker));
    expect(thrownBy(() => codec.encode(pay({ transaction_id: 't2', amount: 1.5 }, 'c1'), planner)).code).toBe('E1004');
    rejected(codec.decode('@planner>req:transaction{txn:t2|amt:1.5|schema:TX}[mid:m2,seq:2,cid:c1]', worker), 'E1004');
  });

  test('a retry has the same transaction_id, and a new msg_id and number', () => {
    const { codec, planner, worker } = endpoints();
    const first = codec.encode(pay({ transaction_id: 't1', amount: 1.5 }, 'c1'), planner);
    const second = codec.encode(pay({ transaction_id: 't1', amount: 1.5 }, 'c1'), planner);
    expect(second.msgId).not.toBe(first.msgId);
    const messages = [first, second].map(({ frames }) => accepted(codec.decode(frames[0]!, worker)).message);
    expect(messages.map(({ payload }) => payload['transaction_id'])).toEqual(['t1', 't1']);
    rejected(codec.decode(second.frames[0]!, worker), 'E3002');
  });

  test('a retry after a gap has the same transaction_id, and a new msg_id', () => {
    const { codec, planner, worker } = endpoints();
    const lost = codec.encode(pay({ transaction_id: 't1', amount: 1.5 }), planner);
    const next = codec.encode({ intent: 'req', operation: 'run' }, planner);
    const { reply } = rejected(codec.decode(next.frames[0]!, worker), 'E3003');
    const [resync, copy] = accepted(codec.decode(reply!, planner)).replies;
    accepted(codec.decode(resync!, worker));
    const { message } = accepted(codec.decode(copy!, worker));
    expect(message.payload['transaction_id']).toBe('t1');
    expect(message.envelope.msg_id).not.toBe(lost.msgId);
  });

  test.each([
    [142.5, '142.5'],
    [142, '142.0'],
    [0.1, '0.1'],
  ])('an amount of %s is written as the decimal %s', (amount, wire) => {
    const { codec, planner, worker } = endpoints();
    const { frames } = codec.encode(pay({ transaction_id: 't1', amount }), planner);
    expect(taken(frames[0]!).body).toContain(`|amt:${wire}|`);
    expect(Number(accepted(codec.decode(frames[0]!, worker)).message.payload['amount'])).toBe(Number(amount));
  });

  test('an amount that a decimal cannot keep exactly is rejected', () => {
    const { codec, planner } = endpoints();
    const message = pay({ transaction_id: 't1', amount: 9007199254740993n });
    expect(thrownBy(() => codec.encode(message, planner)).code).toBe('E1004');
  });

  test('an amount as text is rejected, both ways, and as an integer by the strict reader', () => {
    const text = body('req:transaction{txn:t1|amt:x142\\:5|schema:TX}');
    expect(verdicts(pay({ transaction_id: 't1', amount: '142.5' }), text)).toEqual(['E1004', 'E1004']);
    const { codec, worker } = endpoints();
    rejected(codec.decode(body('req:transaction{txn:t1|amt:142|schema:TX}'), worker), 'E1004');
  });

  test('a currency that is not in ISO 4217 causes a warning, both ways', () => {
    for (const [currency, codes] of [
      ['EUR', []],
      ['euros', ['currency']],
      ['ZZZ', ['currency']],
    ] as const) {
      const { codec, planner, worker } = endpoints();
      const { frames, warnings } = codec.encode(pay({ transaction_id: 't1', currency }), planner);
      const told = warnings.map(({ code }) => code).filter((code) => !code.startsWith('over-'));
      expect([told, accepted(codec.decode(frames[0]!, worker)).warnings.map(({ code }) => code)]).toEqual([
        codes,
        codes,
      ]);
    }
  });
});

describe('ST (section 10.4)', () => {
  const chunk = (n: number, seq: number, rest = '', cid = 'c1'): string =>
    `@streamer>stream:infer{idx:${n}|d:d${n}${rest}|schema:ST}[mid:m${seq},seq:${seq},cid:${cid}]`;

  async function data(stream: AsyncIterable<StreamChunk>): Promise<readonly Json[]> {
    const all: Json[] = [];
    for await (const one of stream) all.push(one.data);
    return all;
  }

  test('the examples are read as one stream', async () => {
    const { codec, worker } = endpoints();
    for (const frame of [
      '@streamer>stream:infer{idx:0|tot:3|d:Hello|schema:ST}[mid:m1,seq:1,cid:stream_abc]',
      '@streamer>stream:infer{idx:1|tot:3|d:_world|schema:ST}[mid:m2,seq:2,cid:stream_abc]',
      '@streamer>stream:infer{idx:2|tot:3|d:!|done:true|schema:ST}[mid:m3,seq:3,cid:stream_abc]',
    ]) {
      expect(codec.decode(frame, worker)).toMatchObject({ outcome: 'pending', part: 'stream' });
    }
    expect(await data(worker.stream('stream_abc'))).toEqual(['Hello', '_world', '!']);
  });

  test('a chunk without a correlation_id is rejected, both ways', () => {
    const message: MessageInput = {
      intent: 'stream',
      operation: 'infer',
      schema: 'ST',
      payload: { chunk_index: 0, data: 'x' },
    };
    expect(verdicts(message, body('stream:infer{idx:0|d:x|schema:ST}'))).toEqual(['E1004', 'E1004']);
  });

  test('chunks belong together by their correlation_id: two streams do not mix', async () => {
    const { codec, worker } = endpoints();
    const frames = [
      chunk(0, 1, '', 'a'),
      chunk(0, 2, '', 'b'),
      chunk(1, 3, '|done:true', 'b'),
      chunk(1, 4, '', 'a'),
      chunk(2, 5, '|done:true', 'a'),
    ];
    for (const frame of frames) codec.decode(frame, worker);
    expect(await data(worker.stream('a'))).toEqual(['d0', 'd1', 'd2']);
    expect(await data(worker.stream('b'))).toEqual(['d0', 'd1']);
  });

  test('the final chunk has is_final: a last chunk without it is rejected, both ways', () => {
    const payload = { chunk_index: 2, total_chunks: 3, data: 'x' };
    const message: MessageInput = {
      intent: 'stream',
      operation: 'infer',
      schema: 'ST',
      payload,
      envelope: { correlation_id: 'c1' },
    };
    expect(verdicts(message, body('stream:infer{idx:2|tot:3|d:x|schema:ST}', ',cid:c1'))).toEqual(['E1004', 'E1004']);
    const { codec, planner } = endpoints();
    const final = codec.encode({ ...message, payload: { ...payload, is_final: true } }, planner);
    expect(taken(final.frames[0]!).body).toContain('|done:true|');
  });

  test('a stream without a final chunk is an error for its reader', async () => {
    const { codec, worker } = endpoints();
    codec.decode(chunk(0, 1), worker);
    accepted(codec.decode('@streamer>end:infer{}[mid:m2,seq:2,cid:c1]', worker));
    await expect(data(worker.stream('c1'))).rejects.toMatchObject({ code: 'E3003' });
  });

  test('chunks in another order are buffered, and read by their index', async () => {
    const { codec, worker } = endpoints();
    const reading = data(worker.stream('c1'));
    const order = [3, 0, 2, 1];
    for (const [at, n] of order.entries()) {
      expect(codec.decode(chunk(n, at + 1, n === 3 ? '|done:true' : ''), worker).outcome).toBe('pending');
    }
    expect(await reading).toEqual(['d0', 'd1', 'd2', 'd3']);
  });

  test('a chunk after the final one is rejected', async () => {
    const { codec, worker } = endpoints();
    codec.decode(chunk(0, 1, '|done:true'), worker);
    rejected(codec.decode(chunk(1, 2), worker), 'E3003');
    expect(await data(worker.stream('c1'))).toEqual(['d0']);
  });

  test('a stream whose chunks stop coming fails for its reader with E3001', async () => {
    const { codec, worker, clock } = endpoints({ session: { streamTimeoutMs: 60_000 } });
    codec.decode(chunk(0, 1), worker);
    const reading = data(worker.stream('c1'));
    clock.now += 60;
    worker.tick();
    await expect(reading).rejects.toMatchObject({ code: 'E3001' });
  });

  test('a stream that is too long for its buffer fails with E2003', async () => {
    const { codec, worker } = endpoints({ session: { maxBuffered: 3 } });
    const outcomes = [1, 2, 3, 4].map((n) => codec.decode(chunk(n, n), worker));
    expect(outcomes.slice(0, 3).map(({ outcome }) => outcome)).toEqual(['pending', 'pending', 'pending']);
    rejected(outcomes[3]!, 'E2003');
    await expect(data(worker.stream('c1'))).rejects.toMatchObject({ code: 'E2003' });
  });
});

describe('TA (section 10.5)', () => {
  test('the examples are read', () => {
    const task = '@planner>req:schedule{asgn:@dev|task:impl_auth|dead:sprint_14|pri:high|schema:TA}[mid:m1,seq:1]';
    expect({ ...read(task) }).toEqual({
      assignee: '@dev',
      task: 'impl_auth',
      deadline: 'sprint_14',
      priority: 'high',
      deps: [],
    });
    const done = '@dev>done:schedule{task:impl_auth|stat:complete|prog:100|schema:TA}[mid:m2,seq:1,cid:m1]';
    expect(read(done)).toMatchObject({ task: 'impl_auth', status: 'complete', progress: 100 });
  });
});
