/** The four scenarios of the specification, compared with their recorded messages. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { checkLog, type Envelope, ExecutionGraph, parseEnvelope } from '../../src/arcp/index.js';
import { perform, transcript } from '../examples/arcp/stage.js';
import { scenario as refund } from '../examples/customer-support-refund.js';
import { INDEX, scenario as ingestion } from '../examples/data-ingestion-workflow.js';
import { scenario as incident } from '../examples/incident-response.js';
import { denied, FILES, scenario as review } from '../examples/local-code-review.js';
import { ended, start } from '../helpers/child.js';
import { SCENARIOS } from './scenarios.js';

const written = (name: string): string => readFileSync(`test/examples/${name}.jsonl`, 'utf8');
const types = (log: readonly Envelope[]): string[] => log.map(({ type }) => type);

describe.each(Object.entries(SCENARIOS))('%s', (name, scenario) => {
  test('sends the recorded messages', async () => {
    expect(transcript(await perform(scenario))).toBe(written(name));
  });

  test('has valid messages in a valid order, and one trace for each command', () => {
    const lines = written(name).trimEnd().split('\n');
    const log = lines.map((line) => parseEnvelope(line));
    expect(checkLog(log, { isComplete: true })).toEqual([]);
    for (const node of ExecutionGraph.from(log)) expect(['completed', 'granted', 'open']).toContain(node.state);
  });

  test('is a readable program', async () => {
    const { code, stdout } = await ended(start(['npx', 'tsx', `test/examples/${name}.ts`], { stdin: '' }));
    expect(code).toBe(0);
    expect(stdout.startsWith(`${scenario.title}\n\n${scenario.story}\n\n— `)).toBe(true);
    expect(stdout).toMatch(/\n✓ session [\s\S]*└─ ✓ /);
  });
});

test('the refund is requested, granted and paid once', async () => {
  const log = await perform(refund);
  const order = ['permission.request', 'permission.grant', 'job.completed'].map((type) => types(log).indexOf(type));
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  expect(new Set(log.filter(({ type }) => type === 'job.completed').map(({ id }) => id)).size).toBe(1);
});

test('a review without write permission does not change files', async () => {
  const log = await perform(denied);
  expect(FILES.get('src/sum.ts')).toContain('a - b');
  expect(types(log).at(-2)).not.toBe('job.completed');
  expect(log.find(({ type }) => type === 'job.failed')).toMatchObject({ payload: { code: 'PERMISSION_DENIED' } });
  await perform(review);
  expect(FILES.get('src/sum.ts')).toContain('a + b');
});

test('the ingestion is rate limited, crashes, resumes from its checkpoint, and repeats no batch', async () => {
  const log = await perform(ingestion);
  expect(INDEX).toEqual(['2026-01', '2026-02', '2026-03', '2026-04']);
  expect(log.find(({ type }) => type === 'tool.error')).toMatchObject({
    payload: { code: 'RATE_LIMITED', retryable: true },
  });
  expect(log.find(({ type }) => type === 'resume')).toMatchObject({
    payload: { after_message_id: expect.any(String) },
  });
  const [, , third] = log.filter((message) => message.type === 'job.started');
  expect(third).toMatchObject({ payload: { attempt: 3, restored_from: expect.stringMatching(/^chk_/) } });
});

test('the incident is one trace across a delegation, a handoff and a grant', async () => {
  const log = await perform(incident);
  const ofWork = log.filter(
    ({ job_id, type }) => job_id !== undefined && !type.startsWith('permission.') && type !== 'ack',
  );
  expect(new Set(ofWork.map(({ trace_id }) => trace_id)).size).toBe(1);
  expect(types(log)).toEqual(
    expect.arrayContaining(['agent.delegate', 'agent.handoff', 'permission.request', 'permission.grant']),
  );
});
