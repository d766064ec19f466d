/** Intents, keys and operations (draft-benzing-accp-00, section 4). */
import { describe, expect, test } from 'vitest';
import { createRegistry, registerOperation } from '../../../src/accp/codec/index.js';
import { accepted, endpoints, rejected, taken, thrownBy } from './endpoints.js';

const INTENTS = ['req', 'done', 'fail', 'wait', 'esc', 'comp', 'sync', 'qry', 'ack', 'cancel', 'stream', 'end'];

/** Short and full names. */
const KEYS: readonly (readonly [string, string])[] = [
  ['d', 'data'],
  ['f', 'findings'],
  ['nx', 'next_action'],
  ['src', 'source'],
  ['dst', 'destination'],
  ['q', 'query'],
  ['fmt', 'format'],
  ['pri', 'priority'],
  ['err', 'error'],
  ['v', 'version'],
  ['ts', 'timestamp'],
  ['ttl', 'ttl'],
  ['ctx', 'context'],
  ['who', 'target'],
  ['when', 'when'],
  ['why', 'reason'],
];

describe('core intents (Table 7)', () => {
  test.each(INTENTS)('%s is written and read', (intent) => {
    const { codec, planner, worker } = endpoints();
    const { frames } = codec.encode({ intent, operation: 'execute', envelope: { correlation_id: 'c1' } }, planner);
    expect(taken(frames[0]!).body).toBe(`@planner>${intent}:execute{}`);
    expect(accepted(codec.decode(frames[0]!, worker)).message).toMatchObject({ intent, operation: 'execute' });
  });

  test.each(['nap', 'REQ', 'request', 'toString'])('%s is not an intent: it is neither written nor read', (intent) => {
    const { codec, planner, worker } = endpoints();
    expect(thrownBy(() => codec.encode({ intent, operation: 'run' }, planner)).code).toBe('E1002');
    rejected(codec.decode(`@planner>${intent}:run{}[mid:m1,seq:1]`, worker), 'E1002');
  });

  test('comp triggers a checkpoint', () => {
    const { codec, planner } = endpoints();
    expect(codec.encode({ intent: 'comp', operation: 'run' }, planner).checkpoint).toMatchObject({ trigger: 'comp' });
  });

  test('req, qry and esc request: done, fail, end and cancel answer, and wait, ack and stream extend the time', () => {
    for (const [intent, overdue] of [
      ['done', false],
      ['fail', false],
      ['end', false],
      ['cancel', false],
      ['wait', false],
      ['ack', false],
      ['stream', false],
      ['sync', true],
    ] as const) {
      for (const ask of ['req', 'qry', 'esc']) {
        const { codec, planner, worker, clock } = endpoints({ session: { timeoutMs: 60_000 } });
        const { frames, correlationId } = codec.encode({ intent: ask, operation: 'run' }, planner);
        accepted(codec.decode(frames[0]!, worker));
        clock.now += 40;
        const envelope = { correlation_id: correlationId };
        const answer = codec.encode({ intent, operation: 'run', envelope }, worker);
        accepted(codec.decode(answer.frames[0]!, planner));
        clock.now += 40;
        expect([intent, ask, planner.tick().length]).toEqual([intent, ask, overdue ? 1 : 0]);
      }
    }
  });
});

describe('key abbreviations (Table 8)', () => {
  test.each(KEYS)('%s means %s: written short, read in full', (short, full) => {
    const { codec, planner, worker } = endpoints();
    const { frames } = codec.encode({ intent: 'req', operation: 'run', payload: { [full]: 'x1' } }, planner);
    expect(taken(frames[0]!).body).toBe(`@planner>req:run{${short}:x1}`);
    expect({ ...accepted(codec.decode(frames[0]!, worker)).message.payload }).toEqual({ [full]: 'x1' });
  });

  test.each(KEYS)('%s and %s are the same key, in messages as in frames', (short, full) => {
    const { codec, planner, worker } = endpoints();
    const { frames } = codec.encode({ intent: 'req', operation: 'run', payload: { [short]: 'x1' } }, planner);
    expect(taken(frames[0]!).body).toBe(`@planner>req:run{${short}:x1}`);
    const written = accepted(codec.decode(`@planner>req:run{${full}:x1}[mid:m1,seq:1]`, worker));
    expect({ ...written.message.payload }).toEqual({ [full]: 'x1' });
  });

  test.each(KEYS.filter(([short, full]) => short !== full))('%s and %s together are an error', (short, full) => {
    const { codec, planner, worker } = endpoints();
    const payload = { [short]: 1, [full]: 2 };
    expect(thrownBy(() => codec.encode({ intent: 'req', operation: 'run', payload }, planner)).code).toBe('E1004');
    rejected(codec.decode(`@planner>req:run{${short}:1|${full}:2}[mid:m1,seq:1]`, worker), 'E1001');
  });

  test('the keys of maps belong to the user, and are not changed', () => {
    const { codec, planner, worker } = endpoints();
    const payload = { filter: { source: 'crm', d: 1, data: 2 } };
    const { frames } = codec.encode({ intent: 'req', operation: 'run', payload }, planner);
    expect(frames[0]).toContain('{filter:{d:1,data:2,source:crm}}');
    expect(accepted(codec.decode(frames[0]!, worker)).message.payload['filter']).toEqual(payload.filter);
  });

  test('a frame is shorter with the table than without it, and never longer', () => {
    for (const [short, full] of KEYS) expect(short.length).toBeLessThanOrEqual(full.length);
    expect(KEYS.filter(([short, full]) => short.length < full.length)).toHaveLength(14);
  });
});

describe('operations (section 4.3)', () => {
  const CORE =
    'analyze plan execute review approve reject fetch transform summarize classify generate validate schedule notify merge split route cache purge';

  test('the core operations are in every registry, and can be sent', () => {
    const { codec, planner, worker } = endpoints();
    expect(createRegistry().operations).toEqual(expect.arrayContaining(CORE.split(' ')));
    for (const operation of CORE.split(' ')) {
      const { frames } = codec.encode({ intent: 'req', operation }, planner);
      expect(accepted(codec.decode(frames[0]!, worker)).message.operation).toBe(operation);
    }
  });

  test('custom operations can be registered: by themselves, and with a schema', () => {
    const registry = registerOperation(createRegistry(), 'deploy');
    expect(registry.operations).toContain('deploy');
    expect(registry.hash).not.toBe(createRegistry().hash);
    const { codec } = endpoints({ codec: { registry } });
    codec.registerSchema('release', { code: 'RL', version: 1, fields: ['tag'], operations: ['release'] });
    expect(codec.registry.operations).toEqual(expect.arrayContaining(['deploy', 'release', 'plan']));
  });

  test('an unregistered operation is not an error', () => {
    const { codec, planner, worker } = endpoints();
    const { frames } = codec.encode({ intent: 'req', operation: 'frobnicate' }, planner);
    expect(accepted(codec.decode(frames[0]!, worker)).message.operation).toBe('frobnicate');
  });
});
