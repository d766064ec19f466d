import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ArcpError,
  checkLog,
  type Envelope,
  ExecutionGraph,
  type LogRule,
  mermaidText,
  parseEnvelope,
  svgText,
  treeText,
} from '../../src/arcp/index.js';
import { createRuntime, type Runtime } from '../../src/arcp/runtime/index.js';
import { connectTo } from './runtime/wire.js';

let runtime: Runtime;
/** All messages of the incident scenario, in order. */
let log: Envelope[] = [];

beforeAll(async () => {
  runtime = createRuntime()
    .tool('metrics', {}, async (_, { stream }) => {
      const out = stream({ kind: 'event', name: 'samples' });
      for (let n = 0; n < 5; n++) await out.write({ n });
      await out.close();
      return 'high';
    })
    .agent('observability', {}, async (_, { call, progress }) => {
      await progress({ percent: 50 });
      return call('metrics');
    })
    .agent('logs', { retry: { maxAttempts: 2, backoffMs: 0 } }, (_, { attempt }) => {
      if (attempt === 1) throw new ArcpError('UNAVAILABLE', 'not yet');
      return 'errors';
    })
    .agent('on-call', { permissions: ['deploy.rollback'] }, async (_, { permission }) => {
      await (await permission({ permission: 'deploy.rollback', resource: 'service:checkout' })).use();
      return 'rolled back';
    })
    .agent('coordinator', {}, async (_, { delegate, handOff }) => {
      const jobs = [await delegate('observability', 'look'), await delegate('logs', 'read')];
      for (const { result } of jobs) await result();
      return handOff('on-call', { reason: 'a rollback is needed' });
    });
  const wire = connectTo(runtime);
  const sent: object[] = [];
  const send = (type: string, payload: object, more: object = {}): { readonly id: string } => {
    const message = wire.send(type, { ...payload }, { source: 'client', ...more });
    sent.push(message);
    return message;
  };
  await wire.open();
  const { payload } = await wire.answer(
    'job.accepted',
    send('agent.delegate', { target: 'coordinator', task: 'incident' }),
  );
  const request = await wire.until(({ type }) => type === 'permission.request');
  send('permission.grant', {}, { correlation_id: request.id, job_id: payload.job_id! });
  await wire.untilEnded(payload.job_id!);
  const said = sent.map((message) => parseEnvelope(JSON.stringify(message)));
  // In causal order: each command precedes its answer.
  log = wire.heard.flatMap((message) => {
    const cause = said.find(({ id }) => id === message.correlation_id && !log.some((one) => one.id === id));
    return cause === undefined || wire.heard.find((one) => one.correlation_id === cause.id) !== message
      ? [message]
      : [cause, message];
  });
});
afterAll(() => runtime.close());

/** Returns kinds and names as an indented list. */
function outline(graph: ExecutionGraph): string {
  return treeText(graph)
    .split('\n')
    .map((line) => line.replace(/(?:,| ) [0-9.]+ (?:ms|s)\b.*$/, '').replace(/sess_\w+/, 'S'))
    .join('\n');
}

describe('an execution graph', () => {
  test('has a parent for each node', () => {
    expect(outline(ExecutionGraph.from(log))).toMatchInlineSnapshot(`
      "○ session S
      └─ ✓ job coordinator → on-call  completed, attempt 2
         ├─ ✓ job observability  completed
         │  ├─ ✓ call metrics  completed
         │  └─ ✓ stream samples  completed, 5 chunks
         ├─ ✓ job logs  completed, attempt 2
         └─ ✓ permission deploy.rollback service:checkout  granted"
    `);
  });

  test.each([
    ['in order', () => log],
    ['all in one millisecond', () => log.map((message) => ({ ...message, timestamp: log[0]!.timestamp }))],
  ])('does not depend on the order and repetition of messages: %s', (_, messages) => {
    const whole = outline(ExecutionGraph.from(log));
    const told = messages();
    fc.assert(
      fc.property(fc.shuffledSubarray(told, { minLength: told.length }), fc.subarray(told), (shuffled, again) => {
        expect(outline(ExecutionGraph.from([...again, ...shuffled]))).toBe(whole);
      }),
      { numRuns: 50 },
    );
  });

  test('finds nodes by ids', () => {
    const graph = ExecutionGraph.from(log);
    const job = [...graph].find(({ name }) => name === 'coordinator')!;
    expect(graph.get(job.id)).toBe(job);
    expect(job).toMatchObject({ kind: 'job', state: 'completed', attempt: 2, handoffs: ['on-call'] });
    expect(job.children.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      ...['job observability', 'job logs', 'permission deploy.rollback service:checkout'],
    ]);
    expect(new Set([...graph].filter(({ kind }) => kind !== 'session').map(({ traceId }) => traceId)).size).toBe(1);
    expect(graph.get('nothing')).toBeUndefined();
  });

  test('handles messages that refer to each other in a cycle', () => {
    const accepted = (job: string, parent: string): Envelope =>
      parseEnvelope(
        JSON.stringify({
          ...{ arcp: '1.0', id: `m-${job}`, type: 'job.accepted', timestamp: '2026-05-07T21:30:00Z', job_id: job },
          payload: { job_id: job, state: 'accepted', accepted_at: '2026-05-07T21:30:00Z', parent_job_id: parent },
        }),
      );
    const graph = ExecutionGraph.from([accepted('a', 'b'), accepted('b', 'c'), accepted('c', 'a'), accepted('d', 'd')]);
    expect([...graph]).toHaveLength(4);
    const deep = Array.from({ length: 20_000 }, (_, n) => accepted(`j${n}`, `j${n - 1}`));
    expect(treeText(ExecutionGraph.from(deep)).split('\n')).toHaveLength(20_000);
  });

  test('is rendered without control sequences or markup of messages', () => {
    const evil = '"><script>\u001b[31m';
    const graph = ExecutionGraph.from(
      log.map((message) =>
        message.type === 'job.accepted' ? { ...message, payload: { ...message.payload, agent: evil } } : message,
      ),
    );
    expect(treeText(graph)).not.toContain('\u001b');
    for (const text of [svgText(graph), mermaidText(graph)]) expect(text).not.toContain('<script>');
    expect(svgText(graph).match(/<rect /g)).toHaveLength([...graph].length);
    expect(mermaidText(graph).match(/ --> /g)).toHaveLength([...graph].length - 1);
    expect(svgText(ExecutionGraph.from([]))).toContain('</svg>');
  });
});

describe('a log', () => {
  const rules = (messages: readonly Envelope[], isComplete = false): LogRule[] => [
    ...new Set(checkLog(messages, { isComplete }).map(({ rule }) => rule)),
  ];
  const where = (type: string, nth = 0): number => {
    const found = log.flatMap((message, at) => (message.type === type ? [at] : []))[nth];
    if (found === undefined) throw new Error(`no ${type}`);
    return found;
  };
  const without = (at: number): Envelope[] => log.toSpliced(at, 1);
  const moved = (from: number, to: number): Envelope[] => log.toSpliced(from, 1).toSpliced(to, 0, log[from]!);

  test('of a runtime has no violations, also with repeated messages', () => {
    expect(checkLog(log, { isComplete: true })).toEqual([]);
    expect(checkLog([...log, ...log], { isComplete: true })).toEqual([]);
  });

  test.each<[LogRule, () => Envelope[]]>([
    ['unique-id', () => log.with(3, { ...log[3]!, id: log[2]!.id })],
    ['accepted-first', () => without(where('job.accepted'))],
    ['started-before', () => without(where('job.started', 1))],
    ['one-end', () => [...log, { ...log[where('job.completed')]!, id: 'msg_second' }]],
    ['end-is-last', () => moved(where('job.progress'), log.length - 1)],
    ['ends', () => without(where('job.completed'))],
    ['attempts-rise', () => [...log.slice(0, -1), { ...log[where('job.started')]!, id: 'msg_other' }, log.at(-1)!]],
    ['opened-first', () => without(where('stream.open'))],
    ['contiguous', () => without(where('stream.chunk', 2))],
    ['contiguous', () => moved(where('stream.chunk', 2), where('stream.chunk', 4))],
    ['closed-last', () => moved(where('stream.close'), where('stream.chunk', 3))],
    ['closes', () => without(where('stream.close'))],
    ['answered', () => [...log, { ...log[where('agent.delegate')]!, id: 'msg_other' }]],
    ['request-first', () => moved(where('permission.request'), log.length - 1)],
  ])('that violates %s is detected', (rule, broken) => {
    expect(rules(broken(), true)).toContain(rule);
  });
});
