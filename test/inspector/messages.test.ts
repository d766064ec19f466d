/** Records of logs, and the rows that the page makes of them. */
import { describe, expect, test } from 'vitest';
import type { FeedRecord } from '../../src/inspector/feed.js';
import { Activity } from '../../src/inspector/page/activity.js';
import { decisionText, envelopeText } from '../../src/inspector/page/answers.js';
import { filterTerm, parseFilter } from '../../src/inspector/page/filter.js';
import { explain, type Message, readContent, rowOf } from '../../src/inspector/page/message.js';
import { checkText, recordsOf } from '../../src/inspector/sources.js';
import { visible } from '../../src/text/visible.js';

let n = 0;
const record = (text: string, more: Partial<FeedRecord> = {}): FeedRecord => {
  const verdict = checkText(text);
  return { n: ++n, t: 1000 * n, side: 'server', session: 'c1', text, ...(verdict && { verdict }), ...more };
};
const row = (text: string, more?: Partial<FeedRecord>): Message => rowOf(record(text, more));

const ENVELOPE = { arcp: '1.0', timestamp: '2026-01-01T00:00:00Z', session_id: 'sess_1' };
const arcp = (type: string, payload: object, ids: object = {}): string =>
  JSON.stringify({ ...ENVELOPE, id: `msg_${++n}`, type, ...ids, payload });

describe('a line of a log', () => {
  test.each([
    [
      'an ARCP message of a client',
      arcp('tool.invoke', { tool: 'add' }, { source: 'client' }),
      { side: 'client', session: 'sess_1' },
    ],
    ['an ARCP message of a runtime', arcp('job.started', { attempt: 1 }, { job_id: 'j' }), { side: 'server' }],
    ['a frame', '@a>req:x{k:1}', { side: 'log', t: 0 }],
    ['JSON of another kind', '{"level":"info"}', { side: 'log' }],
    ['broken JSON', '{"level', { side: 'log', text: '{"level' }],
  ])('is %s', (_, line, expected) => {
    expect(recordsOf(line)).toMatchObject([expected]);
  });

  test('of pegwire acp run keeps the digits of its message', () => {
    const line =
      '{"at":"2026-01-01T00:00:00.000Z","connection":"2","from":"client","message":{"id":1.50,"jsonrpc":"2.0"}}';
    expect(recordsOf(line)).toEqual([
      { t: Date.UTC(2026, 0), side: 'client', session: '2', text: '{"id":1.50,"jsonrpc":"2.0"}' },
    ]);
    const rejected = '{"at":"2026-01-01T00:00:00.000Z","from":"agent","rejected":"not JSON","text":"hi"}';
    expect(recordsOf(rejected)).toMatchObject([{ kind: 'note', side: 'server', text: 'not a message: not JSON: hi' }]);
  });

  test('of a log of packets has the packet once, and then its events', () => {
    const entry = {
      packet: 'FETCH|HR|return:A|p:1|aacp:1.1',
      actor: 'ann',
      time: '2026-01-01T00:00:00.000Z',
      chain: 'c',
    };
    const records = [
      { ...entry, event: 'handed-over', reason: null, attempt: null },
      { ...entry, event: 'failed', reason: 'no disk', attempt: 1 },
      { ...entry, event: 'refused', reason: 'replayed', attempt: null },
    ].flatMap((one) => recordsOf(JSON.stringify(one)));
    expect(records.map(({ side, session, text }) => [side, session, text])).toEqual([
      ['client', 'ann', entry.packet],
      ['server', 'ann', 'record 1 is failed: no disk'],
      ['client', 'ann', entry.packet],
      ['server', 'ann', 'refused: replayed'],
    ]);
  });

  test('of an exported feed is the same record', () => {
    const { n: _, ...saved } = record('@a>req:x{k:1}', { isOwn: true });
    expect(recordsOf(JSON.stringify(saved))).toEqual([saved]);
  });

  test.each(['', '   ', '# comment'])('without a message has no record: %j', (line) => {
    expect(recordsOf(line)).toEqual([]);
  });
});

describe('a row', () => {
  test.each([
    [
      '@dev>done:plan{task:auth}[mid:m1,seq:2,cid:c7]',
      { language: 'accp', type: 'done:plan', tone: 'success', ids: { agent: 'dev', mid: 'm1', cid: 'c7' } },
    ],
    [
      '@bot>req:plan{nx:@strategy:plan}',
      { language: 'accp', type: 'req:plan', tone: 'failure', error: { code: 'E1001' } },
    ],
    ['@bot>', { language: 'accp', type: 'frame', tone: 'failure' }],
    ['FETCH|HR|return:HR-Agent|p:1|aacp:1.1', { language: 'aacp', type: 'FETCH HR', error: undefined }],
    ['FETCH|HR|p:1', { language: 'aacp', tone: 'failure' }],
    ['{"jsonrpc":"2.0","id":3,"method":"session/new"}', { language: 'jsonrpc', type: 'session/new', ids: { id: '3' } }],
    ['[{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","id":1,"result":1}]', { type: 'batch of 2', what: 'a, result' }],
    ['{"jsonrpc":"2.0","id":3,"error":{"code":-1,"message":"no"}}', { type: 'error', tone: 'failure', what: '-1: no' }],
    ['{"a":1', { language: 'text', tone: 'failure', error: { code: 'invalid-json' } }],
    ['hello', { language: 'text', type: 'text', what: 'hello' }],
  ])('of %s', (text, expected) => {
    expect(row(text)).toMatchObject(expected);
  });

  test('of an invalid ARCP message has the error of the check', () => {
    const { error, tone } = row(arcp('job.progress', { percent: 'half' }, { job_id: 'j' }));
    expect({ code: error?.code, tone }).toEqual({ code: 'INVALID_ARGUMENT', tone: 'failure' });
  });

  test.each([
    ['deep brackets', '['.repeat(200_000)],
    ['deep JSON-RPC', `{"jsonrpc":"2.0","method":"x","params":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['deep ARCP', `{"arcp":"1.0","type":"tool.invoke","payload":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`],
    ['a payload of another kind', '{"arcp":"1.0","type":"job.completed","payload":null}'],
    ['a long text', `@a>req:x{k:${'x'.repeat(2 ** 21)}}`],
    ['control characters', '\u0000\u202e\ud800<b>'],
  ])('of a hostile text is short and harmless: %s', (_, text) => {
    const message = rowOf({ n: 1, t: 0, side: 'client', session: '', text });
    expect(message.what.length).toBeLessThan(1000);
    expect(visible(message.what)).toBe(message.what);
  });
});

test('a message is explained in plain English', () => {
  const english = (text: string, more?: Partial<FeedRecord>): string => explain(row(text, more), readContent(text));
  expect(english('@planner>req:schedule{task:auth}')).toMatch(/planner/);
  expect(english('FETCH|HR|return:HR-Agent|p:1|aacp:1.1')).toMatch(/HR-Agent/);
  expect(english('{"jsonrpc":"2.0","id":3,"method":"session/new"}', { side: 'client' })).toBe(
    'The client calls session/new and expects a response with the id 3.',
  );
  expect(english(arcp('job.progress', { percent: 50 }, { job_id: 'job_1' }))).toBe(
    'The server sends job.progress about job job_1: 50 %.',
  );
});

describe('a filter', () => {
  const rows = [
    row('@dev>done:plan{task:auth}[mid:m1,seq:2,sid:s9]', { side: 'client' }),
    row('@bot>req:plan{nx:@strategy:plan}'),
    row(arcp('job.progress', { percent: 5 }, { job_id: 'job_1' })),
    row('hello world', { session: 'c2', isOwn: true }),
  ];
  test.each([
    ['', [0, 1, 2, 3]],
    ['AUTH', [0]],
    ['plan -auth', [1]],
    ['"hello world"', [3]],
    ['world hello', [3]],
    ['type:job.*', [2]],
    ['-type:job.*', [0, 1, 3]],
    ['session:c2', [3]],
    ['session:s9', [0]],
    ['side:client', [0]],
    ['id:job_1', [2]],
    ['language:accp', [0, 1]],
    ['is:error', [1]],
    ['is:own', [3]],
    ['task:auth', [0]],
    ['.* ( [', []],
  ])('%s', (query, expected) => {
    const filter = parseFilter(query);
    expect(rows.flatMap((one, index) => (filter(one) ? [index] : []))).toEqual(expected);
  });

  test('finds a property with any value that the page offers', () => {
    for (const value of ['a', 'two words', 'a"b', '*', '(', '']) {
      const found = parseFilter(filterTerm('session', value))(row('x', { session: value }));
      expect({ value, found }).toEqual({ value, found: value !== '' || found });
    }
  });
});

describe('the activity', () => {
  const collect = (...all: Message[]): Activity => {
    const activity = new Activity();
    for (const message of all) activity.add(message);
    return activity;
  };
  const states = (activity: Activity) =>
    activity.nodes().map(({ depth, kind, name, state, note }) => [depth, kind, name, state, note]);

  test('is a tree of jobs that grows with the messages', () => {
    const invoke = arcp('tool.invoke', { tool: 'count' });
    const { id } = JSON.parse(invoke) as { id: string };
    const ids = { job_id: 'job_1' };
    const activity = collect(
      row(invoke, { side: 'client' }),
      row(arcp('job.accepted', { job_id: 'job_1', state: 'accepted', tool: 'count' }, { ...ids, correlation_id: id })),
      row(arcp('job.started', { attempt: 2 }, ids)),
      row(arcp('job.progress', { percent: 40 }, ids)),
    );
    expect(states(activity)[1]).toEqual([1, 'job', 'count', 'running', '40 %, attempt 2']);
    activity.add(row(arcp('job.completed', { result: 1 }, ids)));
    expect(states(activity)[1]).toEqual([1, 'job', 'count', 'completed', 'attempt 2']);
  });

  test('has the chains of frames and the calls of JSON-RPC, which both sides number', () => {
    const activity = collect(
      row('@a>req:plan{k:1}[mid:m1,seq:1,cid:c1,sid:s]', { side: 'client' }),
      row('@b>fail:plan{code:E1003}[mid:m2,seq:1,cid:c1,sid:s]'),
      row('{"jsonrpc":"2.0","id":1,"method":"session/prompt"}', { side: 'client' }),
      row('{"jsonrpc":"2.0","id":1,"method":"fs/read"}'),
      row('{"jsonrpc":"2.0","id":1,"result":{}}', { side: 'client' }),
    );
    expect(states(activity).map(([, kind, name, state]) => [kind, name, state])).toEqual([
      ['session', 's', 'open'],
      ['call', 'plan', 'failed'],
      ['session', 'c1', 'open'],
      ['call', 'session/prompt', 'running'],
      ['call', 'fs/read', 'completed'],
    ]);
    expect(activity.sequences.get('s')).toBe(1);
  });

  test('has the permission requests and their decisions', () => {
    const request = row(arcp('permission.request', { permission: 'x.write', resource: 'r' }, { job_id: 'job_1' }));
    const other = row(arcp('permission.request', { permission: 'y.write' }, { job_id: 'job_2' }));
    const activity = collect(request, other);
    expect(activity.permissions().map(({ permission, state }) => [permission, state])).toEqual([
      ['y.write', 'pending'],
      ['x.write', 'pending'],
    ]);
    activity.add(row(decisionText(request, 'grant', { lease_seconds: 60 }), { side: 'client' }));
    activity.add(row(arcp('job.cancelled', { cause: 'client' }, { job_id: 'job_2' })));
    expect(activity.permissions().map(({ permission, state }) => [permission, state])).toEqual([
      ['y.write', 'ended'],
      ['x.write', 'granted'],
    ]);
  });

  test('survives a flood of hostile connections and sessions', () => {
    const activity = new Activity();
    for (let n = 0; n < 3000; n++) {
      activity.add(row('', { kind: 'opened', session: `h${n}` }));
      activity.add(row('', { kind: 'closed', session: `h${n}` }));
      activity.add(row(`@a>req:x{k:1}[mid:m${n}a,seq:1,sid:s${n}]`));
    }
    expect(activity.connections.size).toBeLessThan(1000);
    expect(activity.nodes().length).toBeLessThan(4000);
  });
});

test('drafts of messages are valid', () => {
  const request = row(arcp('permission.request', { permission: 'x.write' }, { job_id: 'job_1' }));
  for (const text of [
    decisionText(request, 'grant', { lease_seconds: 5 }),
    decisionText(request, 'deny', { reason: 'no' }),
    envelopeText('tool.invoke', { tool: 'add', arguments: { a: 1 } }, { session_id: undefined }),
  ])
    expect(checkText(text)).toBeUndefined();
});
