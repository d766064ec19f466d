/** The codec's operations and its two pipelines (draft-benzing-accp-00, section 7). */
import { describe, expect, test } from 'vitest';
import { type Codec, type Json, type MessageInput, ref, type SchemaDefinition } from '../../../src/accp/codec/index.js';
import { loadTokenCounter } from '../../../src/tokens/index.js';
import { accepted, endpoints, rejected, taken } from './endpoints.js';

const EXACT = await loadTokenCounter('o200k_base');
const TICKET: SchemaDefinition = { code: 'TK', version: 1, fields: ['title', 'state'], defaults: { state: 'open' } };

/** The body of the one frame of a message. */
function written(codec: Codec, message: MessageInput, session = endpoints().planner): string {
  const { frames } = codec.encode(message, session);
  expect(frames).toHaveLength(1);
  return taken(frames[0]!).body;
}

describe('the interface (section 7.1)', () => {
  test('Encode makes a frame of a message, and Decode the message of the frame', () => {
    const { codec, planner, worker } = endpoints();
    const message: MessageInput = {
      intent: 'done',
      operation: 'analyze',
      payload: { data: 'q3_sales', findings: ['rev', { churn: 3.2 }], next_action: null, final: true },
    };
    const { frames } = codec.encode(message, planner);
    expect(taken(frames[0]!).body).toBe('@planner>done:analyze{d:q3_sales|f:[rev,{churn:3.2}]|nx:~|final:true}');
    expect(accepted(codec.decode(frames[0]!, worker)).message).toMatchObject({ ...message, agent: 'planner' });
  });

  test('Checkpoint compresses the session’s state', async () => {
    const { codec, planner } = endpoints();
    codec.encode({ intent: 'req', operation: 'plan', payload: { goal: 'launch' } }, planner);
    const { id, summary, tokensBefore, tokensAfter } = await codec.checkpoint(planner);
    expect(id).toBe('ckpt_1');
    expect(summary).toContain('launch');
    expect(tokensAfter).toBeLessThan(tokensBefore);
  });

  test('GetBudget returns the usage of each budget', async () => {
    const { codec, planner } = endpoints({ codec: { counter: EXACT } });
    expect(codec.getBudget(planner)).toMatchObject({ hot: { used: 0, max: 500 }, warm: { used: 0 }, exact: true });
    codec.encode({ intent: 'req', operation: 'plan', payload: { goal: 'launch' } }, planner);
    expect(codec.getBudget(planner).hot.used).toBe(EXACT.count('@planner>req:plan{goal:launch}'));
    const { warmTokens } = await codec.checkpoint(planner);
    expect(codec.getBudget(planner).warm).toEqual({
      used: warmTokens,
      perCheckpoint: 200,
      checkpoints: [{ id: 'ckpt_1', tokens: warmTokens }],
    });
  });

  test('RegisterSchema makes a schema that messages can name', () => {
    const { codec, planner } = endpoints();
    codec.registerSchema('ticket', TICKET);
    const payload = { title: 'x', state: 'open' };
    const body = written(codec, { intent: 'req', operation: 'notify', schema: 'TK', payload }, planner);
    expect(body).toBe('@planner>req:notify{title:x|schema:TK}');
  });
});

describe('the encoding pipeline (section 7.2)', () => {
  test('1. the schema is looked up, and its code goes into the frame', () => {
    const { codec } = endpoints();
    expect(written(codec, { intent: 'req', operation: 'chat', schema: 'CH', payload: { content: 'hi' } })).toBe(
      '@planner>req:chat{content:hi|schema:CH}',
    );
  });

  test('2. full keys are abbreviated, also by the profile', () => {
    const { codec } = endpoints();
    const payload = { transaction_id: 't1', amount: 142.5, source: 'web' };
    expect(written(codec, { intent: 'req', operation: 'transaction', schema: 'TX', payload })).toBe(
      '@planner>req:transaction{txn:t1|amt:142.5|src:web|schema:TX}',
    );
  });

  test('3. large values become references', () => {
    const { codec, planner } = endpoints({ shared: true });
    const long = 'y'.repeat(80);
    const body = written(codec, { intent: 'req', operation: 'run', payload: { data: long } }, planner);
    const path = /\{d:\$(cold\.[a-z0-9]+)\}/.exec(body)![1]!;
    expect(planner.state.resolve(path)).toBe(long);
  });

  test('4. fields with their default are omitted, and only these', () => {
    const { codec } = endpoints();
    const payload = { assignee: 'dev', priority: 'medium', deps: ['a'] };
    expect(written(codec, { intent: 'req', operation: 'schedule', schema: 'TA', payload })).toBe(
      '@planner>req:schedule{asgn:dev|deps:[a]|schema:TA}',
    );
  });

  test('5. the tokens of the frame and of its parts are counted with the BPE vocabulary', () => {
    const { codec, planner } = endpoints({ codec: { counter: EXACT } });
    const { frames, tokens } = codec.encode({ intent: 'req', operation: 'run', payload: { q: 'revenue' } }, planner);
    const { body } = taken(frames[0]!);
    expect(tokens).toEqual({
      header: EXACT.count('@planner>req'),
      body: EXACT.count(':run{q:revenue}'),
      metadata: EXACT.count(frames[0]!.slice(body.length)),
      total: EXACT.count(frames[0]!),
      exact: true,
    });
  });

  test('5. without a vocabulary the counts are estimates, and marked as such', () => {
    const { codec, planner } = endpoints();
    const { tokens } = codec.encode({ intent: 'req', operation: 'run' }, planner);
    expect(tokens.exact).toBe(false);
    expect(tokens.total).toBeGreaterThan(0);
  });

  test('6. within the limits a message is one frame, and beyond them a sequence', () => {
    const { codec, planner } = endpoints({ codec: { counter: EXACT } });
    const words = (count: number): MessageInput => ({
      intent: 'req',
      operation: 'run',
      payload: { words: Array.from({ length: count }, (_, at) => `word_${at}`) },
    });
    expect(codec.encode(words(20), planner).frames).toHaveLength(1);
    expect(codec.encode(words(90), planner).frames.length).toBeGreaterThan(1);
  });

  test('7. the result is the canonical text of a frame', () => {
    const { codec, planner, clock } = endpoints({ codec: { createId: () => 'f12345678901' } });
    const message: MessageInput = { intent: 'req', operation: 'run', payload: { b: [1, { d: 2, c: '@x' }] } };
    expect(codec.encode(message, planner).frames).toEqual([
      `@planner>req:run{b:[1,{c:\\@x,d:2}]}[mid:f12345678901,seq:1,ts:${clock.now},sid:s1]`,
    ]);
  });
});

describe('the decoding pipeline (section 7.3)', () => {
  const read = (payload: string, given = endpoints()): { readonly [key: string]: Json } =>
    accepted(given.codec.decode(`@planner>req:run{${payload}}[mid:m1,seq:1]`, given.worker)).message.payload;

  test('1. header, body and metadata are parsed, or the frame is rejected', () => {
    const { codec, worker } = endpoints();
    expect(accepted(codec.decode('@a-1>qry:look_up{k:1}[mid:m1,seq:1,cid:c]', worker)).message).toEqual({
      agent: 'a-1',
      intent: 'qry',
      operation: 'look_up',
      payload: { k: 1 },
      envelope: { msg_id: 'm1', sequence: 1, correlation_id: 'c' },
    });
    for (const bad of ['req:run{}', '@a>req{}', '@a>req:run', '@a>req:run{}[mid:m2,seq:2']) {
      rejected(codec.decode(bad, worker), 'E1001');
    }
  });

  test('2. references are replaced by their values, at any depth', () => {
    const given = endpoints();
    given.codec.getBudget(given.worker);
    given.worker.state.set('hot', 'goal', 'launch');
    given.worker.state.set('warm', 'plan', { steps: ['a', 'b'] });
    given.worker.state.set('cold', 'rows', [1, 2, 3]);
    expect({ ...read('k:$hot.goal|l:[$warm.plan.steps.1,{m:$cold.rows}]|n:$goal', given) }).toEqual({
      k: 'launch',
      l: ['b', { m: [1, 2, 3] }],
      n: 'launch',
    });
  });

  test('2. schema codes are looked up in the registry', () => {
    const given = endpoints();
    given.codec.registerSchema('ticket', { ...TICKET, types: { title: 'string', state: 'string' } });
    expect(read('title:42|schema:TK', given)['title']).toBe('42');
  });

  test('3. abbreviations become full keys, those of the profile in its frames only', () => {
    expect({ ...read('d:1|nx:2|res:3') }).toEqual({ data: 1, next_action: 2, res: 3 });
    expect(read('tool:web|res:3|args:{d:1}|schema:TC')).toMatchObject({
      tool_name: 'web',
      result: 3,
      arguments: { d: 1 },
    });
  });

  test('4. absent fields get the defaults of the schema', () => {
    expect({ ...read('content:hi|schema:CH') }).toEqual({ content: 'hi', role: 'assistant', lang: 'en' });
  });

  test('5. the message has plain values, exact ones, and objects without a prototype', () => {
    const payload = read('a:12345678901234567890|b:1.5|c:true|d:~|e:{__proto__:1,constructor:2}|f:x\\:y');
    expect(payload).toMatchObject({ a: 12345678901234567890n, b: 1.5, c: true, data: null, findings: 'x:y' });
    expect(Object.getPrototypeOf(payload)).toBeNull();
    expect(Object.getPrototypeOf(payload['e'])).toBeNull();
    expect(Object.entries(payload['e'] as object)).toEqual([
      ['__proto__', 1],
      ['constructor', 2],
    ]);
  });

  test('6. the message is returned with everything that a context needs', () => {
    const { codec, planner, worker } = endpoints();
    const message: MessageInput = {
      agent: 'planner',
      intent: 'req',
      operation: 'schedule',
      schema: 'TA',
      payload: { assignee: 'dev', task: 'auth', priority: 'high', deadline: 'sprint_14', deps: ['db'] },
      envelope: { correlation_id: 'c1', causation_id: 'b2', ttl: 60 },
    };
    const { frames, msgId } = codec.encode(message, planner);
    expect(accepted(codec.decode(frames[0]!, worker)).message).toEqual({
      ...message,
      envelope: {
        ...message.envelope,
        msg_id: msgId,
        sequence: 1,
        timestamp: 1_714_000_000,
        session_id: 's1',
      },
    });
  });

  test('an encoded reference is decoded as its value', () => {
    const { codec, planner, worker } = endpoints({ shared: true });
    codec.getBudget(planner);
    planner.state.set('cold', 'rows', [1, 2]);
    const { frames } = codec.encode({ intent: 'qry', operation: 'run', payload: { rows: ref('cold.rows') } }, planner);
    expect(accepted(codec.decode(frames[0]!, worker)).message.payload['rows']).toEqual([1, 2]);
  });
});
