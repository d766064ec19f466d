import { afterEach, describe, expect, test } from 'vitest';
import { openClient } from '../../../src/arcp/client/client.js';
import { ArcpError } from '../../../src/arcp/index.js';
import { bearer, createRuntime, type Runtime, type RuntimeOptions } from '../../../src/arcp/runtime/index.js';
import { memoryChannels } from '../../../src/channels/memory.js';
import { connectTo, deferred, type Wire } from './wire.js';

const ending: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

/** A runtime whose tools return how often they were executed. */
function counting(options: RuntimeOptions = {}, work: (n: number) => unknown = (n) => n): Runtime {
  const runtime = createRuntime(options);
  ending.push(() => runtime.close());
  let jobs = 0;
  let calls = 0;
  return runtime
    .tool('job', { durable: true }, () => work(++jobs))
    .tool('call', {}, () => work(++calls))
    .workflow('flow', {}, () => work(++jobs));
}

async function opened(runtime: Runtime, payload: Readonly<Record<string, unknown>> = {}): Promise<Wire> {
  const wire = connectTo(runtime);
  await wire.open(payload);
  return wire;
}

const KEY = { operation_key: 'op-1', arguments: { a: 1 } };

describe('two commands with one operation key', () => {
  test('are one job, which the answer to the second names', async () => {
    const wire = await opened(counting());
    const first = await wire.startJob('job', KEY);
    await wire.untilEnded(first.jobId);
    const second = wire.send('tool.invoke', { tool: 'job', ...KEY });
    expect(await wire.answer('job.accepted', second)).toMatchObject({
      ...{ job_id: first.jobId, payload: { job_id: first.jobId, duplicate: true, tool: 'job' } },
    });
    const replayed = wire.send('resume', {}, { job_id: first.jobId });
    await wire.answer('ack', replayed);
    expect(wire.heard.at(-2)).toMatchObject({ type: 'job.completed', payload: { result: 1 } });
  });

  test('receive the same answer when they are repeated', async () => {
    const wire = await opened(counting());
    const first = await wire.startJob('job', KEY);
    await wire.untilEnded(first.jobId);
    const second = wire.send('tool.invoke', { tool: 'job', ...KEY });
    const told = await wire.answer('job.accepted', second);
    wire.channel.send(JSON.stringify(second));
    const again = await wire.until(({ id }) => id === told.id, wire.heard.indexOf(told) + 1);
    expect(again).toEqual(told);
  });

  test('are one job regardless of the order of their members', async () => {
    const wire = await opened(counting());
    const first = await wire.startJob('job', {
      operation_key: 'op-1',
      arguments: { a: 1, b: { c: [{ d: 1, e: 2 }], f: 3 } },
    });
    const again = { operation_key: 'op-1', arguments: { b: { f: 3, c: [{ e: 2, d: 1 }] }, a: 1 } };
    const second = await wire.answer('job.accepted', wire.send('tool.invoke', { tool: 'job', ...again }));
    expect(second).toMatchObject({ job_id: first.jobId, payload: { duplicate: true } });
  });

  test('are executed once, however many arrive at once', async () => {
    const wire = await opened(counting());
    const sent = Array.from({ length: 50 }, () => wire.send('tool.invoke', { tool: 'job', ...KEY }));
    const answers = await Promise.all(sent.map((one) => wire.answer('job.accepted', one)));
    expect(new Set(answers.map(({ payload }) => payload.job_id!)).size).toBe(1);
    expect(answers.filter(({ payload }) => payload.duplicate !== true)).toHaveLength(1);
    expect(await wire.untilEnded(answers[0]!.payload.job_id!)).toMatchObject({ payload: { result: 1 } });
  });

  test('can be direct calls: each receives the outcome of the first', async () => {
    const held = deferred();
    const runtime = counting({}, async (n) => {
      await held.promise;
      return n;
    });
    const wire = await opened(runtime);
    const sent = Array.from({ length: 20 }, () => wire.send('tool.invoke', { tool: 'call', ...KEY }));
    await wire.answer('ack', sent.at(-1)!);
    held.resolve();
    const results = await Promise.all(sent.map((one) => wire.answer('tool.result', one)));
    expect(results.map(({ payload }) => payload.result)).toEqual(sent.map(() => 1));
  });

  test('wait for each other without using slots', async () => {
    const wire = await opened(counting({ workers: { concurrency: 1 } }));
    const sent = Array.from({ length: 5 }, () => wire.send('tool.invoke', { tool: 'call', ...KEY }));
    for (const one of sent) expect((await wire.answer('tool.result', one)).payload.result).toBe(1);
  });

  test('fail together', async () => {
    const runtime = counting({}, (n) => {
      throw new ArcpError('FAILED_PRECONDITION', `no ${n}`);
    });
    const wire = await opened(runtime);
    for (let n = 0; n < 2; n++) {
      const failed = await wire.answer('tool.error', wire.send('tool.invoke', { tool: 'call', ...KEY }));
      expect(failed.payload).toMatchObject({ code: 'FAILED_PRECONDITION', message: 'no 1' });
    }
  });

  test('are two if the first failed with a retryable error', async () => {
    const runtime = counting({}, (n) => {
      if (n === 1) throw new ArcpError('UNAVAILABLE', 'not now');
      return n;
    });
    const wire = await opened(runtime);
    const first = await wire.startJob('job', KEY);
    expect(await wire.untilEnded(first.jobId)).toMatchObject({ type: 'job.failed' });
    const second = await wire.startJob('job', KEY);
    expect(second.jobId).not.toBe(first.jobId);
    expect(await wire.untilEnded(second.jobId)).toMatchObject({ payload: { result: 2 } });
    const third = await wire.startJob('job', KEY);
    expect(third.jobId).toBe(second.jobId);
  });

  test.each([
    ['other arguments', { tool: 'job', operation_key: 'op-1', arguments: { a: 2 } }],
    ['another mode', { tool: 'job', ...KEY, mode: 'direct' }],
  ])('and %s are refused', async (_, payload) => {
    const wire = await opened(counting());
    await wire.startJob('job', KEY);
    const refused = await wire.answer('nack', wire.send('tool.invoke', payload));
    expect(refused.payload.code).toBe('ALREADY_EXISTS');
  });

  test('are two if tools or principals differ', async () => {
    const auth = bearer((token) => ({ principal: token, trust: 'constrained' }));
    const runtime = counting({ auth });
    const wire = await opened(runtime, { auth: { scheme: 'bearer', token: 'a' } });
    const other = await opened(runtime, { auth: { scheme: 'bearer', token: 'b' } });
    const ids = [
      (await wire.startJob('job', KEY)).jobId,
      (await other.startJob('job', KEY)).jobId,
      (await wire.answer('job.accepted', wire.send('workflow.start', { workflow: 'flow', operation_key: 'op-1' })))
        .payload.job_id!,
    ];
    expect(new Set(ids).size).toBe(3);
  });

  test('can have it in the envelope, as a later revision does', async () => {
    const wire = await opened(counting());
    const first = await wire.startJob('job', KEY);
    const second = wire.send('tool.invoke', { tool: 'job', arguments: { a: 1 } }, { idempotency_key: 'op-1' });
    expect((await wire.answer('job.accepted', second)).payload.job_id!).toBe(first.jobId);
  });
});

test.each([
  [['x', () => 1], 'as tool(name, options, handler)'],
  [['x', {}], 'Register the tool "x"'],
  [['', {}, () => 1], 'must be a non-empty string'],
])('registering a tool as %j is an error', (args, message) => {
  const runtime = createRuntime();
  expect(() => Reflect.apply(runtime.tool, runtime, args)).toThrow(new RegExp(message.replace(/[()]/g, '\\$&')));
});

describe('a client', () => {
  test('receives the first outcome, and all messages', async () => {
    const runtime = counting();
    const client = await openClient(() => {
      const [here, there] = memoryChannels();
      void runtime.accept(there);
      return here;
    });
    ending.push(() => client.disconnect());
    const options = { operationKey: 'op-1' };
    expect(await client.invoke('job', {}, options).result()).toBe(1);
    const second = client.invoke('job', {}, options);
    const types: string[] = [];
    for await (const { type } of second.events()) types.push(type);
    expect(await second.result()).toBe(1);
    expect(types.slice(-2)).toEqual(['job.started', 'job.completed']);
    // This includes a job that was started in the same session.
    expect(await client.job((await second.accepted)!).result()).toBe(1);
    expect(await Promise.all([1, 2, 3].map(() => client.invoke('call', {}, options).result()))).toEqual([1, 1, 1]);
  });
});
