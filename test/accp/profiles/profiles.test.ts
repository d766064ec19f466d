/** Rules of the profiles (section 10), each when sending and when receiving. */
import { describe, expect, test } from 'vitest';
import { ref } from '../../../src/accp/message/json.js';
import { PROFILES, type ProfileMessage } from '../../../src/accp/profiles/profiles.js';
import { checkDefinition } from '../../../src/accp/registry/definition.js';
import { ALL, DIRECTIONS, message, verdict } from './cases.js';

/** A message, and the verdict on it in both directions. */
type Case = readonly [name: string, checked: ProfileMessage, expected: string];

function check(cases: readonly Case[], context: Parameters<typeof verdict>[2] = {}): void {
  describe.each(DIRECTIONS)('%s', (direction) => {
    test.each(cases)('%s', (_, checked, expected) => {
      expect(verdict(checked, direction, context)).toBe(expected);
    });
  });
}

describe('the profiles', () => {
  test('have the fields and defaults of the draft', () => {
    const told = PROFILES.map(({ code, schema }) => [code, schema.fields.join(' '), { ...schema.defaults }]);
    expect(told).toEqual([
      ['CH', 'role content turn lang reply_to', { role: 'assistant', lang: 'en' }],
      ['TC', 'tool_name arguments result status error_code', { status: 'ok' }],
      [
        'TX',
        'transaction_id amount currency account reference status retryable',
        { currency: 'USD', status: 'pending', retryable: false },
      ],
      ['ST', 'chunk_index total_chunks data is_final', { is_final: false }],
      ['TA', 'assignee task priority deadline deps', { priority: 'medium', deps: [] }],
      ['ER', 'code message retryable', {}],
    ]);
  });

  test.each(PROFILES.map((profile) => [profile.code, profile] as const))('%s has a valid schema', (code, profile) => {
    expect(profile.schema.code).toBe(code);
    expect(checkDefinition(profile.schemaName, profile.schema)).toEqual(profile.schema);
    expect(Object.keys(profile.schema.types ?? {})).toEqual(profile.schema.fields);
  });

  const task = message('req:schedule', 'TA', { task: 'x' });
  test.each(DIRECTIONS)('that are not active reject their schema: %s', (direction) => {
    expect(verdict(task, direction, {}, new Set(['CH', 'TC']))).toBe('E1003 at schema');
    expect(verdict(task, direction, {}, new Set(['TA']))).toBe('fine');
    expect(verdict(task, direction, {}, new Set(['TA', 'TX']))).toBe('fine');
  });

  test.each(DIRECTIONS)('leave other messages alone: %s', (direction) => {
    expect(verdict(message('req:analyze', 'SR', { amount: 'x', code: 7 }), direction)).toBe('fine');
    expect(verdict(message('stream:x', undefined), direction, {}, new Set(['TA']))).toBe('fine');
    expect(verdict(message('req:analyze', 'constructor'), direction)).toBe('fine');
  });

  test.each(DIRECTIONS)('always check errors: %s', (direction) => {
    expect(verdict(message('fail:error', 'ER', { code: 'E1001', message: 'x' }), direction, {}, new Set())).toBe(
      'fine',
    );
    expect(verdict(message('fail:error', 'ER', { message: 'x' }), direction, {}, new Set())).toBe(
      'E1004 at payload.code',
    );
  });
});

describe('CH and TA: fields and defaults only', () => {
  check([
    ['a question', message('req:chat', 'CH', { content: 'What?', role: 'user', turn: 1 }), 'fine'],
    ['an answer', message('done:chat', 'CH', { content: '12%.', turn: 2 }, 'm1'), 'fine'],
    ['a task', message('req:schedule', 'TA', { assignee: '@dev', task: 'impl_auth', deadline: 'sprint_14' }), 'fine'],
    [
      'progress',
      message('done:schedule', 'TA', { task: 'impl_auth', status: 'complete', progress: 100 }, 'm1'),
      'fine',
    ],
  ]);
});

describe('TC: calls and results', () => {
  check([
    ['a call', message('req:tool', 'TC', { tool_name: 'web_search', arguments: { q: 'ACCP', max: 5 } }), 'fine'],
    ['a call without arguments', message('req:tool', 'TC', { tool_name: 'now' }), 'fine'],
    ['a call by another operation', message('qry:lookup', 'TC', { tool_name: 'now' }), 'fine'],
    ['a call of nothing', message('req:tool', 'TC', { arguments: {} }), 'E1004 at payload.tool_name'],
    ['a call of no text', message('req:tool', 'TC', { tool_name: 7 }), 'E1004 at payload.tool_name'],
    ['a call of empty text', message('qry:tool', 'TC', { tool_name: '' }), 'E1004 at payload.tool_name'],
    [
      'arguments in a list',
      message('req:tool', 'TC', { tool_name: 'a', arguments: [1] }),
      'E1004 at payload.arguments',
    ],
    ['arguments as text', message('req:tool', 'TC', { tool_name: 'a', arguments: '{}' }), 'E1004 at payload.arguments'],
    ['a result', message('done:tool', 'TC', { tool_name: 'a', result: { hits: [] }, status: 'ok' }, 'm1'), 'fine'],
    ['a result that tells of failures', message('done:tool', 'TC', { status: 'failed', failed: 3 }, 'm1'), 'fine'],
    ["a result with the tool's own code", message('done:tool', 'TC', { error_code: 'ENOENT' }, 'm1'), 'fine'],
    ['a result without a cid', message('done:tool', 'TC', { result: 1 }), 'E1004 at envelope.correlation_id'],
    ['a failure without a cid', message('fail:tool', 'TC', {}), 'E1004 at envelope.correlation_id'],
    ['a failure by TC', message('fail:tool', 'TC', { error_code: 'E4002' }, 'm1'), 'E1004 at schema'],
    [
      'a failure disguised as a result',
      message('done:tool', 'TC', { error_code: 'E4002' }, 'm1'),
      'E1004 at payload.error_code',
    ],
    ['a cancellation', message('cancel:tool', 'TC', {}, 'm1'), 'fine'],
  ]);

  test.each(['error', 'failed', 'fail', 'Error'])('a result with the status %s is not sent, but received', (status) => {
    for (const more of [{}, { result: null }, { message: 'timed out' }, { error_code: 'ENOENT' }]) {
      const result = message('done:tool', 'TC', { tool_name: 'a', status, ...more }, 'm1');
      expect(verdict(result, 'send')).toBe('E1004 at payload.status');
      expect(verdict(result, 'receive')).toBe('warned: tool-status at payload.status');
    }
    const call = message('req:tool', 'TC', { tool_name: 'a', status }, 'm1');
    expect(verdict(call, 'send')).toBe('fine');
  });

  test('no result has the status error, with any other members', () => {
    const result = message('done:tool', 'TC', { status: 'error', result: { hits: [] } }, 'm1');
    expect(verdict(result, 'send')).toBe('E1004 at payload.status');
  });

  test('arguments in state are sent as a reference', () => {
    expect(verdict(message('req:tool', 'TC', { tool_name: 'a', arguments: ref('cold.args') }), 'send')).toBe('fine');
  });
});

describe('TC: failures of a call', () => {
  const error = (code: string): ProfileMessage => message('fail:error', 'ER', { code, message: 'x' }, 'm1');
  check(
    [
      ['E4002', error('E4002'), 'fine'],
      ['an unknown tool', error('E4001'), 'fine'],
      ['bad arguments', error('E4003'), 'fine'],
      ['a call that was not readable', error('E1004'), 'fine'],
      ['a call that was refused by policy', error('E5001'), 'fine'],
      ['a call out of order', error('E3003'), 'fine'],
      ['an error of no range', error('E9999'), 'E1004 at payload.code'],
      ['no error frame', message('fail:tool', undefined, { err: 'timeout' }, 'm1'), 'E1004 at schema'],
      ['a failure without the code', message('fail:fetch', 'SR', {}, 'm1'), 'E1004 at schema'],
      ['a result', message('done:tool', 'TC', { result: 1 }, 'm1'), 'fine'],
      ['an answer without a schema', message('done:tool', undefined, { result: 1 }, 'm1'), 'fine'],
    ],
    { request: { schema: 'TC' } },
  );

  test('are not sent with a tool code that Table 6 lacks, but received', () => {
    const request = { schema: 'TC' };
    for (const code of ['E4777', 'E4000', 'E4004']) {
      expect(verdict(error(code), 'send', { request })).toBe('E1004 at payload.code');
      expect(verdict(error(code), 'receive', { request })).toBe('fine');
    }
  });

  test.each(DIRECTIONS)('are unrestricted in answer to other messages: %s', (direction) => {
    for (const request of [undefined, {}, { schema: 'TA' }]) {
      expect(verdict(error('E9999'), direction, { request })).toBe('fine');
      expect(verdict(error('E4777'), direction, { request })).toBe('fine');
      expect(verdict(message('fail:fetch', undefined, { err: 'x' }, 'm1'), direction, { request })).toBe('fine');
    }
    const others = new Set(['CH']);
    expect(verdict(error('E9999'), direction, { request: { schema: 'TC' } }, others)).toBe('fine');
  });
});

describe('TX: transactions', () => {
  check([
    ['a request', message('req:transaction', 'TX', { transaction_id: 't1', amount: 142.5, account: 'a1' }), 'fine'],
    ['a whole amount', message('req:transaction', 'TX', { transaction_id: 't1', amount: 1899 }), 'fine'],
    ['a big amount', message('req:transaction', 'TX', { transaction_id: 't1', amount: 2n ** 64n }), 'fine'],
    ['an answer', message('done:transaction', 'TX', { transaction_id: 't1', status: 'settled' }, 'm1'), 'fine'],
    ['another operation', message('req:refund', 'TX', { transaction_id: 't1', amount: -39.9 }), 'fine'],
    ['no identifier', message('req:transaction', 'TX', { amount: 1.5 }), 'E1004 at payload.transaction_id'],
    ['an answer without identifier', message('done:transaction', 'TX', {}, 'm1'), 'E1004 at payload.transaction_id'],
    [
      'a cancellation without identifier',
      message('cancel:transaction', 'TX', {}, 'm1'),
      'E1004 at payload.transaction_id',
    ],
    [
      'an identifier of digits',
      message('req:transaction', 'TX', { transaction_id: 7 }),
      'E1004 at payload.transaction_id',
    ],
    [
      'an empty identifier',
      message('req:transaction', 'TX', { transaction_id: '' }),
      'E1004 at payload.transaction_id',
    ],
    [
      'an amount as text',
      message('req:transaction', 'TX', { transaction_id: 't1', amount: '1.5' }),
      'E1004 at payload.amount',
    ],
    [
      'an amount of null',
      message('req:transaction', 'TX', { transaction_id: 't1', amount: null }),
      'E1004 at payload.amount',
    ],
    ['a currency', message('req:transaction', 'TX', { transaction_id: 't1', currency: 'EUR' }), 'fine'],
    [
      'a currency in small letters',
      message('req:transaction', 'TX', { transaction_id: 't1', currency: 'eur' }),
      'warned: currency at payload.currency',
    ],
    [
      'a currency that there is not',
      message('req:transaction', 'TX', { transaction_id: 't1', currency: 'ZZZ' }),
      'warned: currency at payload.currency',
    ],
  ]);

  test('an amount cannot be a reference', () => {
    const checked = message('req:transaction', 'TX', { transaction_id: 't1', amount: ref('warm.total') });
    expect(verdict(checked, 'send')).toBe('E1004 at payload.amount');
  });

  test.each([
    ['decimal', 'strict', 'fine'],
    ['integer', 'strict', 'E1004 at payload.amount'],
    ['string', 'strict', 'E1004 at payload.amount'],
    ['ref', 'strict', 'E1004 at payload.amount'],
    ['decimal', 'lenient', 'fine'],
    ['integer', 'lenient', 'fine'],
    ['string', 'lenient', 'E1004 at payload.amount'],
  ] as const)('an amount received as %s in the %s dialect', (kind, dialect, expected) => {
    const checked = message('req:transaction', 'TX', { transaction_id: 't1', amount: 142 });
    const wireKind = (key: string): string | undefined => (key === 'amount' ? kind : undefined);
    expect(verdict(checked, 'receive', { dialect, wireKind })).toBe(expected);
  });
});

describe('TX: a retry keeps its identifier', () => {
  const retry = (id: string): ProfileMessage =>
    message('req:transaction', 'TX', { transaction_id: id, amount: 1.5 }, 'c1');
  const answer = (id: string): ProfileMessage => message('done:transaction', 'TX', { transaction_id: id }, 'c1');
  check(
    [
      ['a retry', retry('t1'), 'fine'],
      ['a retry under another one', retry('t2'), 'E1004 at payload.transaction_id'],
      ['an answer', answer('t1'), 'fine'],
      ['an answer about another one', answer('t2'), 'E1004 at payload.transaction_id'],
    ],
    { request: { schema: 'TX', transactionId: 't1' } },
  );

  test.each(DIRECTIONS)('whatever was requested since: %s', (direction) => {
    const request = { schema: 'TA', transactionId: 't1' };
    expect(verdict(retry('t1'), direction, { request })).toBe('fine');
    expect(verdict(retry('t2'), direction, { request })).toBe('E1004 at payload.transaction_id');
    for (const none of [{ schema: 'TA' }, { schema: 'TX' }, {}, undefined]) {
      expect(verdict(retry('t2'), direction, { request: none })).toBe('fine');
    }
  });

  test.each(DIRECTIONS)('which is not too long to be stored: %s', (direction) => {
    expect(verdict(retry('t'.repeat(256)), direction)).toBe('fine');
    expect(verdict(retry('t'.repeat(257)), direction)).toBe('E1004 at payload.transaction_id');
  });
});

describe('ST: streams', () => {
  const chunk = (payload: ProfileMessage['payload'], cid: string | undefined = 's1'): ProfileMessage =>
    message('stream:infer', 'ST', payload, cid);
  check([
    ['a chunk', chunk({ chunk_index: 0, total_chunks: 3, data: 'Hello' }), 'fine'],
    ['a chunk of unknown total', chunk({ chunk_index: 7, data: { any: ['thing'] } }), 'fine'],
    ['the final chunk', chunk({ chunk_index: 2, total_chunks: 3, data: '!', is_final: true }), 'fine'],
    ['the only chunk', chunk({ chunk_index: 0, total_chunks: 1, is_final: true }), 'fine'],
    ['the final chunk of unknown total', chunk({ chunk_index: 2, is_final: true }), 'fine'],
    ['the end', message('end:infer', 'ST', {}, 's1'), 'fine'],
    ['the end with the defaults filled in', message('end:infer', 'ST', { is_final: false }, 's1'), 'fine'],
    ['the end with the last chunk', message('end:infer', 'ST', { chunk_index: 1, is_final: true }, 's1'), 'fine'],
    [
      'the end with data of no index',
      message('end:infer', 'ST', { data: 'x', is_final: true }, 's1'),
      'E1004 at payload.chunk_index',
    ],
    ['the end without a schema', message('end:infer', undefined, {}, 's1'), 'fine'],
    ['a chunk without a cid', message('stream:infer', 'ST', { chunk_index: 0 }), 'E1004 at envelope.correlation_id'],
    ['an end without a cid', message('end:infer', undefined), 'E1004 at envelope.correlation_id'],
    ['a stream without schema and cid', message('stream:infer', undefined), 'E1004 at envelope.correlation_id'],
    ['no index', chunk({ data: 'x' }), 'E1004 at payload.chunk_index'],
    ['a negative index', chunk({ chunk_index: -1 }), 'E1004 at payload.chunk_index'],
    ['half an index', chunk({ chunk_index: 0.5 }), 'E1004 at payload.chunk_index'],
    ['an index as text', chunk({ chunk_index: '0' }), 'E1004 at payload.chunk_index'],
    ['a big index', chunk({ chunk_index: 2n ** 64n }), 'E1004 at payload.chunk_index'],
    ['an index beyond the total', chunk({ chunk_index: 3, total_chunks: 3 }), 'E1004 at payload.chunk_index'],
    ['no chunk at all', chunk({ chunk_index: 0, total_chunks: 0 }), 'E1004 at payload.total_chunks'],
    ['a total as text', chunk({ chunk_index: 0, total_chunks: '3' }), 'E1004 at payload.total_chunks'],
    ['a last chunk that is not final', chunk({ chunk_index: 2, total_chunks: 3 }), 'E1004 at payload.is_final'],
    [
      'a last chunk that says so',
      chunk({ chunk_index: 2, total_chunks: 3, is_final: false }),
      'E1004 at payload.is_final',
    ],
    [
      'a final chunk before the last',
      chunk({ chunk_index: 1, total_chunks: 3, is_final: true }),
      'E1004 at payload.is_final',
    ],
    ['final as text', chunk({ chunk_index: 2, is_final: 'true' }), 'E1004 at payload.is_final'],
  ]);
});

describe('ER: errors', () => {
  const error = (payload: ProfileMessage['payload']): ProfileMessage => message('fail:error', 'ER', payload, 'm1');
  check([
    ['an error', error({ code: 'E3001', message: 'timed_out', retryable: true }), 'fine'],
    ['an error that leaves open whether to retry', error({ code: 'E3001', message: 'x' }), 'fine'],
    ['an error with more to say', error({ code: 'E2001', message: 'x', source: 'api', retry_count: 3 }), 'fine'],
    ['a code that is not in Table 6', error({ code: 'E1234', message: 'x', retryable: true }), 'fine'],
    ['a code of no range', error({ code: 'E7001', message: 'x' }), 'warned: error-range at payload.code'],
    ['no code', error({ message: 'x' }), 'E1004 at payload.code'],
    ['a code of another form', error({ code: 'E42', message: 'x' }), 'E1004 at payload.code'],
    ['a code in small letters', error({ code: 'e1001', message: 'x' }), 'E1004 at payload.code'],
    ['a code with more behind it', error({ code: 'E1001x', message: 'x' }), 'E1004 at payload.code'],
    ['a code of digits', error({ code: 1001, message: 'x' }), 'E1004 at payload.code'],
    ['retry as text', error({ code: 'E3001', message: 'x', retryable: 'yes' }), 'E1004 at payload.retryable'],
    ['another intent', message('done:error', 'ER', { code: 'E1001', message: 'x' }), 'E1004 at intent'],
    ['another operation', message('fail:fetch', 'ER', { code: 'E1001', message: 'x' }), 'E1004 at operation'],
    ['another schema', message('fail:error', 'TA', { code: 'E1001', message: 'x' }), 'E1004 at schema'],
    ['a failure of an operation', message('fail:fetch', undefined, { source: 'api.crm', error: 'timeout' }), 'fine'],
  ]);

  test.each([
    [
      'that Table 6 contradicts',
      error({ code: 'E3001', message: 'x', retryable: false }),
      'payload.retryable',
      'retryable',
    ],
    ['that Table 6 forbids', error({ code: 'E1001', message: 'x', retryable: true }), 'payload.retryable', 'retryable'],
    ['without the schema', message('fail:error', undefined, { code: 'E1001' }), 'schema', 'error-schema'],
  ])('is not sent, and received with a warning, one %s', (_, checked, path, warning) => {
    expect(verdict(checked, 'send')).toBe(`E1004 at ${path}`);
    expect(verdict(checked, 'receive')).toBe(`warned: ${warning} at ${path}`);
  });

  test('is not sent without a message, but received', () => {
    expect(verdict(error({ code: 'E1001' }), 'send')).toBe('E1004 at payload.message');
    expect(verdict(error({ code: 'E1001', message: '' }), 'send')).toBe('E1004 at payload.message');
    expect(verdict(error({ code: 'E1001' }), 'receive')).toBe('fine');
  });

  test('is checked whichever profiles are active', () => {
    expect(ALL.has('ER')).toBe(true);
    expect(verdict(error({ code: 'E42' }), 'receive', {}, new Set(['CH']))).toBe('E1004 at payload.code');
  });
});
