import { describe, expect, test } from 'vitest';
import { ref } from '../../../src/accp/message/json.js';
import { extractFacts } from '../../../src/accp/state/facts/extract.js';
import type { FactSource } from '../../../src/accp/state/facts/text-facts.js';

function facts(...messages: Partial<FactSource>[]): string[] {
  const whole = messages.map((one) => ({ agent: 'dev', intent: 'done', operation: 'execute', payload: {}, ...one }));
  return extractFacts(whole).map(({ entity, relation, value }) => `${entity} | ${relation} | ${value}`);
}

describe('the facts of a payload', () => {
  test.each<[string, Partial<FactSource>, string[]]>([
    [
      'are about what it names',
      { payload: { priority: 'high', task: 'impl_auth', progress: 100 } },
      ['impl_auth | progress | 100', 'impl_auth | priority | high'],
    ],
    [
      'in a container are told of what the payload is about',
      { payload: { data: 'q3_sales', findings: { churn: '+3.2%', segment: { size: 4 } } } },
      ['q3_sales | churn | +3.2%', 'segment | size | 4'],
    ],
    [
      'in a map of another name keep that name',
      { payload: { candidate: 'c_1', scores: { coding: 4.5 } } },
      ['c_1 | scores_coding | 4.5'],
    ],
    [
      'in a list of maps are told of what tells these apart',
      {
        payload: {
          data: 'stock',
          items: [
            { on_hand: 36, sku: 'B-1' },
            { on_hand: 40, sku: 'S-2' },
          ],
        },
      },
      ['B-1 | on_hand | 36', 'S-2 | on_hand | 40'],
    ],
    ['in a list stand side by side', { payload: { task: 'a', deps: ['b', 'c'] } }, ['a | deps | b', 'a | deps | c']],
    [
      'of a tool are told of the tool, or of what it has found',
      {
        schema: 'TC',
        operation: 'tool',
        payload: { tool_name: 'search', result: { total: 41, hits: [{ id: 'd7', year: 2024 }] } },
      },
      ['search | total | 41', 'd7 | year | 2024'],
    ],
    [
      'of an error have its code between what failed and why',
      {
        intent: 'fail',
        operation: 'error',
        schema: 'ER',
        payload: { code: 'E4002', msg: 'http_403', retry: false, tool_name: 'fetch' },
      },
      ['fetch | E4002 | http_403'],
    ],
    [
      'of an error have its reason and no more under their full names, as they are decoded',
      {
        intent: 'fail',
        operation: 'error',
        schema: 'ER',
        payload: { code: 'E4002', message: 'http_403', retryable: false, tool_name: 'fetch' },
      },
      ['fetch | E4002 | http_403'],
    ],
    [
      'of an error of nothing in particular are told of who failed',
      { intent: 'fail', operation: 'error', schema: 'ER', payload: { code: 'E3001', msg: 'timeout', after_s: 30 } },
      ['dev | E3001 | timeout', 'dev | after_s | 30'],
    ],
    [
      'of a transaction are amount and status',
      { schema: 'TX', payload: { transaction_id: 't1', amount: 142.5, status: 'settled' } },
      ['t1 | amount | 142.5', 't1 | status | settled'],
    ],
    [
      'of an assignment are assignee and deadline',
      {
        schema: 'TA',
        intent: 'req',
        payload: { assignee: 'qa', task: 'load_test', deadline: 's_14', priority: 'medium' },
      },
      ['load_test | assignee | qa', 'load_test | deadline | s_14'],
    ],
    [
      'of a delta are the state, and what was removed',
      {
        intent: 'sync',
        operation: 'state',
        payload: { version: 8, delta: { task_4: 'done', bay: { temp: 31 }, old: null } },
      },
      ['state | task_4 | done', 'bay | temp | 31', 'state | removed | old'],
    ],
    [
      'of a verdict are who gave it',
      { operation: 'approve', payload: { task: 'release' } },
      ['release | approve | dev'],
    ],
    [
      'of an escalation are to whom',
      { intent: 'esc', payload: { target: 'boss', task: 'deploy', reason: 'blocked' } },
      ['deploy | esc | boss', 'deploy | reason | blocked'],
    ],
    ['may be big integers', { payload: { task: 'a', rows: 2n ** 64n } }, ['a | rows | 18446744073709551616']],
  ])('%s', (_name, source, expected) => {
    expect(facts(source)).toEqual(expect.arrayContaining(expected));
  });

  test.each([
    ['full', { message: 'acquirer_timed_out', retryable: true }],
    ['short', { msg: 'acquirer_timed_out', retry: true }],
  ])('of an error are one, under %s names', (_names, payload) => {
    const error = { intent: 'fail', operation: 'error', schema: 'ER', payload: { code: 'E3001', ...payload } };
    expect(facts(error)).toEqual(['dev | E3001 | acquirer_timed_out']);
  });

  test.each(['E3002', 'E3003'])('of an error of delivery are none: %s', (code) => {
    const payload = { code, message: 'sequence_gap', retryable: true, expected: 7 };
    expect(facts({ intent: 'fail', operation: 'error', schema: 'ER', payload })).toEqual([]);
  });

  test('omit parameters about the form of the answer first', () => {
    const all = facts({ payload: { task: 'a', format: 'table', total: 3, status: 'ok' } });
    expect(all.at(-1)).toBe('a | format | table');
  });

  test('contain no references and no empty values', () => {
    expect(
      facts({ intent: 'ack', payload: { task: 'a', source: ref('cold.db'), x: '', y: [], z: {}, w: null } }),
    ).toEqual(['execute | task | a']);
  });

  test('are those of the last message with the relation', () => {
    const task = (status: string): Partial<FactSource> => ({ payload: { task: 'a', status } });
    expect(facts(task('accepted'), task('blocked'), task('complete'))).toEqual([
      'a | status | complete',
      'a | execute | dev',
    ]);
  });

  test('are not overwritten by defaults of a schema', () => {
    const of = (priority: string, intent: string): Partial<FactSource> => ({
      intent,
      schema: 'TA',
      payload: { task: 'a', priority },
    });
    expect(facts(of('high', 'req'), of('medium', 'ack'))).toEqual(['a | priority | high']);
  });
});

describe('the facts of a sentence', () => {
  const said = (content: string): string[] =>
    facts({ operation: 'chat', schema: 'CH', payload: { content, role: 'user', turn: 3 } });

  test.each([
    ['numbers', 'Revenue declined 12%.', 'Revenue | declined | 12%'],
    ['dates', 'The launch moves to May 12, and nobody objects.', 'launch | moves | May 12'],
    ['days', 'The review is on Thursday.', 'review | is | Thursday'],
    ['versions, which hold full stops', 'We roll back to 7.14.1 now.', 'roll | back | 7.14.1 now'],
    ['names', 'Priya Raman will tell the customers.', 'Priya Raman | tell | customers'],
    ['identifiers', 'TP531 flies direct for 268 euros.', 'TP531 | flies direct | 268 euros'],
    ['decisions', 'We decided to keep the old vendor.', 'dev | says | decided to keep the old vendor'],
    ['words joined by underscores', 'Revenue_declined_12%.', 'Revenue | declined | 12%'],
  ])('are %s', (_name, content, expected) => {
    expect(said(content)).toContain(expected);
  });

  test('are taken clause by clause', () => {
    expect(said('My budget is 1400 euros, and the hotel costs 139. Thanks!')).toEqual([
      'budget | is | 1400 euros',
      'hotel | costs | 139',
    ]);
  });

  test('come first in decisions, and last in questions', () => {
    expect(said('Is the limit 300? The pool has 200 users. We agreed on 400 connections.')).toEqual(
      ['dev | says | agreed on 400 connections', 'pool | is | 200 users', 'limit | is | 300'].map((fact) =>
        fact.replace('dev | says | agreed on 400 connections', 'agreed | is | 400 connections'),
      ),
    );
  });

  test('do not exist without content', () => {
    expect(said('Thanks!')).toEqual([]);
    expect(said('... ?! , ;')).toEqual([]);
  });

  test('are found in a long text of any payload', () => {
    expect(facts({ intent: 'ack', payload: { task: 'a', note: 'It went well. The cluster has 12 nodes.' } })).toContain(
      'cluster | is | 12 nodes',
    );
  });
});
