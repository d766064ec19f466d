import { afterEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { openClient } from '../../../src/arcp/client/client.js';
import type { Client } from '../../../src/arcp/client/types.js';
import { ArcpError, type Envelope } from '../../../src/arcp/index.js';
import {
  type ArcpStore,
  createRuntime,
  definePolicy,
  type JobContext,
  memoryStore,
  type Runtime,
  type RuntimeOptions,
} from '../../../src/arcp/runtime/index.js';
import { memoryChannels } from '../../../src/channels/memory.js';
import { connectTo, deferred, type Wire } from './wire.js';

const runtimes: Runtime[] = [];
afterEach(async () => {
  await Promise.all(runtimes.splice(0).map((runtime) => runtime.close()));
});

function start(options: RuntimeOptions = {}): Runtime {
  const runtime = createRuntime(options);
  runtimes.push(runtime);
  return runtime;
}

async function opened(runtime: Runtime, payload: Readonly<Record<string, unknown>> = {}): Promise<Wire> {
  const wire = connectTo(runtime);
  await wire.open(payload);
  return wire;
}

async function clientOf(runtime: Runtime): Promise<Client> {
  return openClient(() => {
    const [here, there] = memoryChannels();
    void runtime.accept(there);
    return here;
  });
}

async function begin(wire: Wire, type: string, payload: Readonly<Record<string, unknown>>): Promise<string> {
  const accepted = await wire.answer('job.accepted', wire.send(type, payload));
  return accepted.payload.job_id!;
}

const emitted = (wire: Wire, name: string): Envelope<'event.emit'>[] =>
  wire.heard.filter(
    (message): message is Envelope<'event.emit'> => message.type === 'event.emit' && message.payload.name === name,
  );

// biome-ignore lint/suspicious/noThenProperty: it is called so on the wire.
const PAUSE = { then: 'pause' };

/** Fails once with a retryable error. */
const unavailable = (): never => {
  throw new ArcpError('UNAVAILABLE', 'not now');
};

describe('a call within a job', () => {
  const lookup = { input: z.object({ id: z.string() }), output: z.string() };

  test('is reported as a call, and does not end the job', async () => {
    const runtime = start()
      .tool('lookup', lookup, async ({ id }, { log, progress }) => {
        await log('info', 'looking');
        await progress({ percent: 50 });
        return `order ${id}`;
      })
      .tool('refund', { durable: true }, async (_, { call }) => `refunded ${await call('lookup', { id: '1' })}`);
    const wire = await opened(runtime);
    const { jobId } = await wire.startJob('refund');
    expect(await wire.untilEnded(jobId)).toMatchObject({ payload: { result: 'refunded order 1' } });
    const said = wire.ofJob(jobId);
    expect(wire.types(said)).toEqual([
      ...['job.accepted', 'job.started', 'tool.invoke', 'log', 'event.emit', 'tool.result', 'job.completed'],
    ]);
    const invoked = said[2]!;
    for (const one of said.slice(3, 6))
      expect(one).toMatchObject({ correlation_id: invoked.id, trace_id: said[0]!.trace_id, span_id: invoked.span_id });
    expect(invoked).toMatchObject({
      payload: { tool: 'lookup', arguments: { id: '1' } },
      parent_span_id: said[1]!.span_id,
    });
  });

  test.each([
    ['the tool does not exist', 'missing', {}, 'NOT_FOUND'],
    ['its arguments are invalid', 'lookup', { id: 1 }, 'INVALID_ARGUMENT'],
    ['it fails', 'failing', {}, 'FAILED_PRECONDITION'],
    ['its result does not match its schema', 'lying', {}, 'INTERNAL'],
  ])('fails if %s', async (_, tool, args, code) => {
    const runtime = start()
      .tool('lookup', lookup, () => '')
      .tool('lying', { output: z.string() }, () => 1)
      .tool('failing', {}, () => {
        throw new ArcpError('FAILED_PRECONDITION', 'no');
      })
      .tool('work', { durable: true }, (__, { call }) => call(tool, args));
    const wire = await opened(runtime);
    const { jobId } = await wire.startJob('work');
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.failed', payload: { code } });
  });

  test('with a key is executed once over all attempts', async () => {
    let calls = 0;
    const runtime = start()
      .tool('count', {}, () => ++calls)
      .tool('work', { durable: true, retry: { maxAttempts: 2, backoffMs: 0 } }, async (_, { call, attempt }) => {
        const counted = [await call('count', {}, { key: 'a' }), await call('count', {}, { key: 'b' })];
        if (attempt === 1) unavailable();
        return counted;
      });
    const wire = await opened(runtime);
    const { jobId } = await wire.startJob('work');
    expect(await wire.untilEnded(jobId)).toMatchObject({ payload: { result: [1, 2], attempt: 2 } });
    expect(calls).toBe(2);
  });

  test('has its own steps and permissions, also in direct calls', async () => {
    const steps: string[] = [];
    const runtime = start({ policy: definePolicy({ rules: { constrained: { '*': 'auto' } } }) })
      .tool('inner', { permissions: ['network.fetch'] }, async (_, { step, permission, jobId }) => {
        await (await permission({ permission: 'network.fetch' })).use();
        steps.push(await step('once', (key) => key));
        return jobId ?? 'direct';
      })
      .tool('outer', {}, async (_, { call, step }) => {
        await step('once', () => 'outer');
        return [await call('inner', {}, { key: 'a' }), await call('inner', {}, { key: 'b' })];
      });
    const wire = await opened(runtime);
    const invoked = wire.send('tool.invoke', { tool: 'outer' });
    expect((await wire.answer('tool.result', invoked)).payload.result).toEqual(['direct', 'direct']);
    expect(new Set(steps).size).toBe(2);
  });
});

describe('an agent', () => {
  test('receives a task', async () => {
    const runtime = start().agent('research-agent', {}, ({ task, depth }) => `${task}, ${depth}`);
    const wire = await opened(runtime);
    const jobId = await begin(wire, 'agent.delegate', {
      ...{ target: 'research-agent', task: 'Summarize RFCs', arguments: { depth: 2 } },
    });
    expect(await wire.untilEnded(jobId)).toMatchObject({ payload: { result: 'Summarize RFCs, 2' } });
  });

  test('accepts the example of the specification', async () => {
    const wire = await opened(start().agent('research-agent', {}, ({ task }) => task));
    const jobId = await begin(wire, 'agent.delegate', { target: 'research-agent', task: 'Summarize RFCs' });
    expect(await wire.untilEnded(jobId)).toMatchObject({ payload: { result: 'Summarize RFCs' } });
    expect((await wire.answer('nack', wire.send('agent.delegate', { target: 'nobody', task: '' }))).payload.code).toBe(
      'NOT_FOUND',
    );
  });

  test('is listed in session.accepted', async () => {
    const wire = connectTo(
      start()
        .agent('research-agent', { description: 'reads' }, () => 1)
        .workflow('ingest', {}, () => 1),
    );
    const { payload } = await wire.open();
    expect(payload.agents).toEqual([{ name: 'research-agent', description: 'reads' }]);
    expect(payload.workflows).toMatchObject([{ name: 'ingest' }]);
  });

  test('delegates a task as a child job in its trace', async () => {
    const runtime = start({ workers: { concurrency: 1 } })
      .agent('reader', {}, async ({ task }, { shared }) => {
        await shared.set(task, task.length);
        return `read ${task}`;
      })
      .agent('lead', {}, async (_, { delegate, shared }) => {
        const jobs = await Promise.all(['a', 'bc'].map((task) => delegate<string>('reader', task)));
        return [...(await Promise.all(jobs.map(({ result }) => result()))), await shared.entries()];
      });
    const wire = await opened(runtime);
    const jobId = await begin(wire, 'agent.delegate', { target: 'lead', task: 'all' });
    expect(await wire.untilEnded(jobId)).toMatchObject({
      payload: {
        result: [
          'read a',
          'read bc',
          [
            ['a', 1],
            ['bc', 2],
          ],
        ],
      },
    });
    const children = wire.heard.filter(
      (message) => message.type === 'job.accepted' && message.payload.parent_job_id === jobId,
    );
    expect(children).toHaveLength(2);
    expect(new Set(wire.heard.slice(1).map(({ trace_id }) => trace_id)).size).toBe(1);
    expect(emitted(wire, 'arcp.context.changed')).toHaveLength(2);
    // While it waits, others use its slot, of which there is only one.
    expect(emitted(wire, 'arcp.job.state').map(({ payload }) => payload.attributes?.['reason'])).toContain('child');
  });

  test('delegates the same task once over all attempts', async () => {
    let read = 0;
    const runtime = start()
      .agent('reader', {}, () => ++read)
      .agent('lead', { retry: { maxAttempts: 2, backoffMs: 0 } }, async (_, { delegate, attempt }) => {
        const first = await (await delegate('reader', 'a')).result();
        const second = await (await delegate('reader', 'a', { key: 'again' })).result();
        if (attempt === 1) unavailable();
        return [first, second];
      });
    const wire = await opened(runtime);
    const jobId = await begin(wire, 'agent.delegate', { target: 'lead', task: 'all' });
    expect(await wire.untilEnded(jobId)).toMatchObject({ payload: { result: [1, 2], attempt: 2 } });
    expect(read).toBe(2);
  });

  test('fails with the error of its child, unless it handles it', async () => {
    const runtime = start()
      .agent('failing', {}, () => {
        throw new ArcpError('OUT_OF_RANGE', 'too far');
      })
      .agent('lead', {}, async (_, { delegate }) => (await delegate('failing', 'a')).result());
    const wire = await opened(runtime);
    const jobId = await begin(wire, 'agent.delegate', { target: 'lead', task: 'all' });
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.failed', payload: { code: 'OUT_OF_RANGE' } });
  });

  test('is cancelled with all its children', async () => {
    const begun = deferred();
    const runtime = start()
      .agent('slow', {}, (_, { signal }) => {
        begun.resolve();
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      })
      .agent('lead', {}, async (_, { delegate }) => (await delegate('slow', 'a')).result());
    const wire = await opened(runtime);
    const jobId = await begin(wire, 'agent.delegate', { target: 'lead', task: 'all' });
    await begun.promise;
    wire.send('cancel', {}, { job_id: jobId });
    const child = await wire.until(({ type, job_id }) => type === 'job.cancelled' && job_id !== jobId);
    expect(child.payload).toMatchObject({ cause: 'runtime' });
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.cancelled', payload: { cause: 'client' } });
  });

  test('passes on only the permissions that it names', async () => {
    const asked: string[] = [];
    const options = { permissions: ['deploy.rollback', 'payment.refund.create'] };
    const runtime = start()
      .agent('helper', options, async ({ task }, { permission }) => {
        asked.push((await permission({ permission: 'deploy.rollback' })).leaseId, task);
        return (await permission({ permission: 'payment.refund.create' })).leaseId;
      })
      .agent('lead', options, async (_, { permission, delegate }) => {
        asked.push((await permission({ permission: 'deploy.rollback' })).leaseId);
        await permission({ permission: 'payment.refund.create' });
        return (await delegate('helper', 'help', { permissions: ['deploy.rollback', 'shell.execute'] })).result();
      });
    const wire = await opened(runtime);
    const answered = new Set<string>();
    const jobId = await begin(wire, 'agent.delegate', { target: 'lead', task: 'all' });
    for (let n = 0; n < 3; n++) {
      const { id } = await wire.until((one) => one.type === 'permission.request' && !answered.has(one.id));
      answered.add(id);
      wire.send('permission.grant', {}, { correlation_id: id });
    }
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.completed' });
    // The rollback is requested once, the refund twice.
    expect(answered.size).toBe(3);
    expect(asked).toEqual([asked[0], asked[0], 'help']);
  });
});

describe('a handoff', () => {
  const team = (): Runtime =>
    start()
      .agent('first', {}, async (_, { handOff, checkpoint, step }) => {
        await step('look', () => 'looked');
        await checkpoint({ found: 7 });
        return handOff('second', { reason: 'knows more' });
      })
      .agent('second', {}, async ({ task }, { restored, handoff, step, attempt }) => [
        ...[task, restored, handoff, attempt],
        await step('look', () => 'looked again'),
      ]);

  test('moves the job to another agent, which continues from the checkpoint', async () => {
    const wire = await opened(team());
    const jobId = await begin(wire, 'agent.delegate', { target: 'first', task: 'look' });
    expect(await wire.untilEnded(jobId)).toMatchObject({
      type: 'job.completed',
      payload: { result: ['look', { found: 7 }, { from: 'first', reason: 'knows more' }, 2, 'looked'] },
    });
    const handoff = await wire.until(({ type }) => type === 'agent.handoff');
    expect(handoff).toMatchObject({ job_id: jobId, payload: { target: 'second', job_id: jobId, permissions: [] } });
    expect(emitted(wire, 'arcp.agent.transferred')[0]?.payload.attributes).toEqual({
      ...{ from: 'first', to: 'second', reason: 'knows more' },
    });
    expect(
      wire.types(wire.ofJob(jobId)).filter((type) => /^job\.(completed|failed|cancelled)$/.test(type)),
    ).toHaveLength(1);
  });

  test('keeps only the permissions that it names', async () => {
    const options = { permissions: ['a.read', 'b.read'] };
    const runtime = start()
      .agent('first', options, async (_, { permission, handOff }) => {
        await permission({ permission: 'a.read' });
        await permission({ permission: 'b.read' });
        return handOff('second', { permissions: ['b.read'] });
      })
      .agent('second', options, async (_, { permission }) => {
        await permission({ permission: 'b.read' });
        await permission({ permission: 'a.read', key: 'once more' });
        return 'done';
      });
    const wire = await opened(runtime);
    const answered: string[] = [];
    const jobId = await begin(wire, 'agent.delegate', { target: 'first', task: '' });
    for (let n = 0; n < 3; n++) {
      const request = await wire.until((one) => one.type === 'permission.request' && !answered.includes(one.id));
      answered.push(request.id);
      wire.send('permission.grant', {}, { correlation_id: request.id });
    }
    expect(await wire.untilEnded(jobId)).toMatchObject({ payload: { result: 'done' } });
    const asked = wire.heard.flatMap((one) => (one.type === 'permission.request' ? [one.payload.permission] : []));
    expect(asked).toEqual(['a.read', 'b.read', 'a.read']);
  });

  test('can be requested by the client', async () => {
    const begun = deferred();
    const runtime = start()
      .agent('first', {}, (_, { signal }) => {
        begun.resolve();
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      })
      .agent('second', {}, (_, { handoff }) => handoff);
    const wire = await opened(runtime);
    const jobId = await begin(wire, 'agent.delegate', { target: 'first', task: '' });
    await begun.promise;
    const handoff = wire.send('agent.handoff', { target: 'second', reason: 'stuck' }, { job_id: jobId });
    await wire.answer('ack', handoff);
    expect(await wire.untilEnded(jobId)).toMatchObject({ payload: { result: { from: 'first', reason: 'stuck' } } });
  });

  test.each([
    ['to an unknown agent', { target: 'nobody' }, 'NOT_FOUND'],
    ['to another runtime', { to_runtime: { kind: 'other' } }, 'UNIMPLEMENTED'],
  ])('%s is refused', async (_, payload, code) => {
    const held = deferred();
    const wire = await opened(start().agent('first', {}, () => held.promise));
    const jobId = await begin(wire, 'agent.delegate', { target: 'first', task: '' });
    const refused = await wire.answer('nack', wire.send('agent.handoff', payload, { job_id: jobId }));
    expect(refused.payload.code).toBe(code);
    held.resolve();
  });

  test('requires its capability and an agent', async () => {
    const runtime = team().tool('tool', { durable: true }, (_, { handOff }) => handOff('second'));
    const without = await opened(runtime, { capabilities: { durable_jobs: true } });
    const refused = await begin(without, 'agent.delegate', { target: 'first', task: '' });
    expect(await without.untilEnded(refused)).toMatchObject({ payload: { code: 'UNIMPLEMENTED' } });
    const nacked = await without.answer(
      'nack',
      without.send('agent.handoff', { target: 'second' }, { job_id: refused }),
    );
    expect(nacked.payload.code).toBe('UNIMPLEMENTED');
    const wire = await opened(runtime);
    const { jobId } = await wire.startJob('tool');
    expect(await wire.untilEnded(jobId)).toMatchObject({ payload: { code: 'FAILED_PRECONDITION' } });
  });
});

describe('memory', () => {
  const remembering = (): Runtime =>
    start()
      .tool('remember', {}, (input, { memory }) => memory.set('it', input))
      .tool('recall', {}, (_, { memory }) => memory.get('it'))
      .tool('forget', {}, (_, { memory }) => memory.delete('it'))
      .tool('count', {}, (_, { memory }) => memory.update<number>('n', (n = 0) => n + 1));
  const call = async (wire: Wire, tool: string, args = {}): Promise<unknown> =>
    (await wire.answer('tool.result', wire.send('tool.invoke', { tool, arguments: args }))).payload.result;

  test('belongs to the session', async () => {
    const runtime = remembering();
    const [wire, other] = [await opened(runtime), await opened(runtime)];
    await call(wire, 'remember', { a: 1 });
    expect(await call(wire, 'recall')).toEqual({ a: 1 });
    expect(await call(other, 'recall')).toBeUndefined();
    await call(wire, 'forget');
    expect(await call(wire, 'recall')).toBeUndefined();
  });

  test('loses no concurrent update', async () => {
    const wire = await opened(remembering());
    await Promise.all(Array.from({ length: 30 }, () => call(wire, 'count')));
    expect(await call(wire, 'count')).toBe(31);
  });
});

describe('initial values of an agent', () => {
  const agent = async ({ task }: { readonly task: string }, { shared }: JobContext): Promise<unknown> => {
    const first = await shared.get('a');
    if (task === 'change') {
      await shared.update<number>('a', (n) => (n ?? 0) + 1);
      await shared.delete('b');
    }
    return [first, await shared.entries(), (await shared.get('b')) ?? null];
  };

  test.each(['a job', 'a client'])('from %s can be read, changed and deleted', async (who) => {
    const runtime = start()
      .agent('agent', {}, agent)
      .tool('lead', { durable: true }, async (input, { delegate, shared }) => {
        const child = await delegate('agent', String(input['task']), { values: { a: 1, b: 2 } });
        return [await child.result(), await shared.entries()];
      });
    const client = await clientOf(runtime);
    const given = async (task: string): Promise<unknown> =>
      who === 'a client'
        ? client.delegate('agent', task, { context: { values: { a: 1, b: 2 } } }).result()
        : ((await client.invoke('lead', { task }).result()) as unknown[])[0];
    const both = [
      ['a', 1],
      ['b', 2],
    ];
    expect(await given('read')).toEqual([1, both, 2]);
    expect(await given('change')).toEqual([1, [['a', 2]], null]);
  });

  test('yield to values of the shared context', async () => {
    const runtime = start()
      .agent('agent', {}, agent)
      .tool('lead', { durable: true }, async (_, { delegate, shared }) => {
        await shared.set('a', 'set');
        const child = await delegate('agent', 'read', { values: { a: 1, b: 2 } });
        return [await child.result(), await shared.entries()];
      });
    const client = await clientOf(runtime);
    expect(await client.invoke('lead').result()).toEqual([
      [
        'set',
        [
          ['a', 'set'],
          ['b', 2],
        ],
        2,
      ],
      [['a', 'set']],
    ]);
  });
});

describe('a shared context', () => {
  test('belongs to the principal, under the id that the client chooses', async () => {
    const runtime = start({ auth: (auth) => ({ principal: auth?.token ?? 'p', trust: 'constrained' }) }).agent(
      'note',
      {},
      async ({ task }, { shared }) => {
        if (task !== '') await shared.set('note', task);
        return (await shared.get('note')) ?? 'nothing';
      },
    );
    const context = { shared_context_id: 'ctx_incident' };
    const result = async (wire: Wire, task: string): Promise<unknown> => {
      const jobId = await begin(wire, 'agent.delegate', { target: 'note', task, context });
      return ((await wire.untilEnded(jobId)) as Envelope<'job.completed'>).payload.result;
    };
    const wire = await opened(runtime, { auth: { scheme: 'bearer', token: 'a' } });
    const later = await opened(runtime, { auth: { scheme: 'bearer', token: 'a' } });
    const other = await opened(runtime, { auth: { scheme: 'bearer', token: 'b' } });
    expect(await result(wire, 'found')).toBe('found');
    expect(await result(later, '')).toBe('found');
    expect(await result(other, '')).toBe('nothing');
  });
});

describe('a workflow', () => {
  test('is a job, with its outputs as the result', async () => {
    const runtime = start().workflow('ingest', { input: z.object({ n: z.number() }) }, ({ n }) => ({ rows: n }));
    const wire = await opened(runtime);
    const jobId = await begin(wire, 'workflow.start', { workflow: 'ingest', inputs: { n: 3 } });
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.completed', payload: { result: { rows: 3 } } });
  });

  test('ends with workflow.complete if there are no jobs', async () => {
    const runtime = start()
      .workflow('ingest', {}, () => ({ rows: 3 }))
      .workflow('broken', {}, () => {
        throw new ArcpError('OUT_OF_RANGE', 'no');
      });
    const wire = await opened(runtime, { capabilities: {} });
    const completed = await wire.answer('workflow.complete', wire.send('workflow.start', { workflow: 'ingest' }));
    expect(completed.payload).toMatchObject({ status: 'completed', outputs: { rows: 3 } });
    const failed = await wire.answer('workflow.complete', wire.send('workflow.start', { workflow: 'broken' }));
    expect(failed.payload).toMatchObject({ status: 'failed', error: { code: 'OUT_OF_RANGE' } });
  });

  test('starts another workflow and waits for it', async () => {
    const runtime = start()
      .workflow('inner', {}, ({ n }) => Number(n) * 2)
      .workflow('outer', {}, async (_, { startWorkflow }) => (await startWorkflow('inner', { n: 4 })).result());
    const wire = await opened(runtime);
    const jobId = await begin(wire, 'workflow.start', { workflow: 'outer' });
    expect(await wire.untilEnded(jobId)).toMatchObject({ payload: { result: 8 } });
  });

  const toolbox = (): Runtime =>
    start()
      .tool('add', { input: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => ({ sum: a + b }))
      .tool('fail', {}, () => {
        throw new ArcpError('OUT_OF_RANGE', 'no', { details: { at: 3 } });
      })
      .agent('writer', {}, ({ task, sum }) => `${task}: ${sum}`)
      .workflow('double', {}, ({ n }) => Number(n) * 2);
  const run = async (steps: unknown, inputs = {}): Promise<Envelope> => {
    const wire = await opened(toolbox());
    const jobId = await begin(wire, 'workflow.start', { workflow: 'of steps', inputs, steps });
    return wire.untilEnded(jobId);
  };

  test('can be part of the command: steps start when their dependencies have ended', async () => {
    const steps = [
      { id: 'report', agent: 'writer', needs: ['twice'], arguments: { task: 'Report', sum: { $from: 'steps.twice' } } },
      { id: 'twice', workflow: 'double', needs: ['sum'], arguments: { n: { $from: 'steps.sum.sum' } } },
      { id: 'sum', tool: 'add', arguments: { a: { $from: 'inputs.a' }, b: 2 } },
    ];
    expect(await run(steps, { a: 1 })).toMatchObject({
      type: 'job.completed',
      payload: { result: { sum: { sum: 3 }, twice: 6, report: 'Report: 6' } },
    });
  });

  test('skips steps whose condition is false, and those that depend on them', async () => {
    const steps = [
      { id: 'a', tool: 'add', arguments: { a: 1, b: 1 }, when: { $from: 'inputs.go' } },
      { id: 'b', tool: 'add', arguments: { a: 1, b: 1 }, needs: ['a'] },
      { id: 'c', tool: 'add', arguments: { a: 1, b: 1 } },
    ];
    expect(await run(steps, { go: false })).toMatchObject({ payload: { result: { c: { sum: 2 } } } });
  });

  test('fails with the failed step, and starts no later ones', async () => {
    const steps = [
      { id: 'bad', tool: 'fail' },
      { id: 'after', tool: 'add', arguments: { a: 1, b: 1 }, needs: ['bad'] },
    ];
    expect(await run(steps)).toMatchObject({
      type: 'job.failed',
      payload: { code: 'OUT_OF_RANGE', message: 'Step bad: no', details: { at: 3, step: 'bad' } },
    });
    expect(await run([{ id: 'x', tool: 'add', arguments: { a: { $from: 'inputs.missing' }, b: 1 } }])).toMatchObject({
      payload: { code: 'INVALID_ARGUMENT', message: expect.stringContaining('inputs.missing') },
    });
  });

  test.each([
    [
      'a repeated step id',
      [
        { id: 'a', tool: 'add' },
        { id: 'a', tool: 'add' },
      ],
    ],
    ['an unknown dependency', [{ id: 'a', tool: 'add', needs: ['b'] }]],
    [
      'a cycle',
      [
        { id: 'a', tool: 'add', needs: ['b'] },
        { id: 'b', tool: 'add', needs: ['a'] },
      ],
    ],
    ['a dependency on itself', [{ id: 'a', tool: 'add', needs: ['a'] }]],
    ['too many steps', Array.from({ length: 1001 }, (_, n) => ({ id: `s${n}`, tool: 'add' }))],
  ])('with %s is refused', async (_, steps) => {
    const wire = await opened(toolbox());
    const refused = await wire.answer('nack', wire.send('workflow.start', { workflow: 'of steps', steps }));
    expect(refused.payload.code).toBe('INVALID_ARGUMENT');
  });

  test('that is registered accepts no steps, and an unknown one requires them', async () => {
    const wire = await opened(toolbox());
    const steps = [{ id: 'a', tool: 'add' }];
    const known = await wire.answer('nack', wire.send('workflow.start', { workflow: 'double', steps }));
    expect(known.payload.code).toBe('INVALID_ARGUMENT');
    const unknown = await wire.answer('nack', wire.send('workflow.start', { workflow: 'nothing' }));
    expect(unknown.payload.code).toBe('NOT_FOUND');
  });
});

describe('a checkpoint that a client requests', () => {
  /** Runs until it is cancelled, and reports its start position. */
  const working = (
    options: RuntimeOptions = {},
  ): { readonly runtime: Runtime; readonly begun: () => Promise<void> } => {
    const began: (() => void)[] = [];
    const runtime = start(options).tool('work', { durable: true }, async (_, context) => {
      let at = Number((context.restored as { readonly at?: number } | undefined)?.at ?? 0);
      context.onCheckpoint(() => ({ at }));
      for (const resolve of began.splice(0)) resolve();
      if (at >= 10) return at;
      at = 5;
      await new Promise((_resolve, reject) =>
        context.signal.addEventListener('abort', () => reject(context.signal.reason)),
      );
      return at;
    });
    return { runtime, begun: () => new Promise((resolve) => began.push(resolve)) };
  };

  test('stores the position of the job, which continues', async () => {
    const { runtime, begun } = working();
    const wire = await opened(runtime);
    const started = begun();
    const { jobId } = await wire.startJob('work');
    await started;
    const asked = wire.send('checkpoint.create', { label: 'now' }, { job_id: jobId });
    const told = await wire.answer('job.checkpoint', asked);
    expect(told).toMatchObject({ job_id: jobId, payload: { label: 'now', sequence: 1, size_bytes: 8 } });
    wire.channel.send(JSON.stringify(asked));
    await wire.until(({ id }) => id === told.id, wire.heard.indexOf(told) + 1);
    const second = await wire.answer('job.checkpoint', wire.send('checkpoint.create', {}, { job_id: jobId }));
    expect(second.payload.sequence).toBe(2);
  });

  test('can pause the job until resume', async () => {
    const { runtime, begun } = working();
    const wire = await opened(runtime);
    let started = begun();
    const { jobId } = await wire.startJob('work');
    await started;
    await wire.answer('job.checkpoint', wire.send('checkpoint.create', PAUSE, { job_id: jobId }));
    await wire.until((one) => one.type === 'event.emit' && one.payload.attributes?.['to'] === 'paused');
    // A replay does not resume it.
    await wire.answer('ack', wire.send('resume', { mode: 'replay' }, { job_id: jobId }));
    // A paused job accepts a checkpoint and a resumption.
    const idle = await wire.answer('job.checkpoint', wire.send('checkpoint.create', {}, { job_id: jobId }));
    expect(idle.payload.sequence).toBe(2);
    started = begun();
    wire.send('resume', {}, { job_id: jobId });
    await started;
    wire.send('cancel', {}, { job_id: jobId });
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.cancelled' });
    const moves = emitted(wire, 'arcp.job.state').map(({ payload }) => payload.attributes?.['to']);
    expect([...new Set(moves)]).toEqual(['paused', 'queued']);
  });

  test('pauses a queued job, which can be cancelled', async () => {
    const { runtime, begun } = working({ workers: { concurrency: 1 } });
    const wire = await opened(runtime);
    const started = begun();
    await wire.startJob('work');
    await started;
    const { jobId } = await wire.startJob('work');
    await wire.answer('job.checkpoint', wire.send('checkpoint.create', PAUSE, { job_id: jobId }));
    wire.send('cancel', {}, { job_id: jobId });
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.cancelled' });
  });

  test('with the same id over two connections is created once, and both receive the same answer', async () => {
    // Both read before either is stored.
    const memory = memoryStore();
    const readRecord: ArcpStore['readRecord'] = async (scope, key) => {
      const found = await memory.readRecord(scope, key);
      if (scope.startsWith('command:')) await new Promise((resolve) => setTimeout(resolve, 20));
      return found;
    };
    const { runtime, begun } = working({ store: { ...memory, durable: false, readRecord } as ArcpStore });
    const [wire, other] = [await opened(runtime), await opened(runtime)];
    const started = begun();
    const { jobId } = await wire.startJob('work');
    await started;
    await other.answer('ack', other.send('resume', { mode: 'replay' }, { job_id: jobId }));
    const id = 'msg_the_same_over_both';
    for (const one of [wire, other]) one.send('checkpoint.create', {}, { job_id: jobId, id });
    const [first, second] = await Promise.all([wire, other].map((one) => one.answer('job.checkpoint', { id })));
    expect(second).toEqual(first);
    const { payload } = await wire.answer('job.checkpoint', wire.send('checkpoint.create', {}, { job_id: jobId }));
    expect(payload.sequence).toBe(2);
    wire.send('cancel', {}, { job_id: jobId });
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.cancelled' });
  });

  test('can be restored: the job starts again from it', async () => {
    const attempts: unknown[] = [];
    const held = deferred();
    const runtime = start().tool('work', { durable: true }, async (_, { restored, checkpoint, signal }) => {
      attempts.push(restored);
      if (attempts.length === 1) {
        await checkpoint({ at: 1 });
        await checkpoint({ at: 2 });
        held.resolve();
        await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      }
      return restored;
    });
    const wire = await opened(runtime);
    const { jobId } = await wire.startJob('work');
    await held.promise;
    const told = (await wire.until(({ type }) => type === 'job.checkpoint')) as Envelope<'job.checkpoint'>;
    const { checkpoint_id } = told.payload;
    await wire.answer('ack', wire.send('checkpoint.restore', { checkpoint_id }, { job_id: jobId }));
    expect(await wire.untilEnded(jobId)).toMatchObject({ payload: { result: { at: 1 }, attempt: 2 } });
    const begun = wire.ofJob(jobId).filter(({ type }) => type === 'job.started');
    expect(begun[1]).toMatchObject({ payload: { restored_from: checkpoint_id } });
    // It has ended: only a new job can continue from there.
    const refused = await wire.answer('nack', wire.send('checkpoint.restore', { checkpoint_id }));
    expect(refused.payload.code).toBe('FAILED_PRECONDITION');
    const anew = await wire.answer('job.accepted', wire.send('checkpoint.restore', { checkpoint_id, new_job: true }));
    expect(anew.payload.job_id!).not.toBe(jobId);
    expect(await wire.untilEnded(anew.payload.job_id!)).toMatchObject({ payload: { result: { at: 1 }, attempt: 1 } });
  });

  test.each([
    ['without a job', 'checkpoint.create', {}, {}, 'INVALID_ARGUMENT'],
    ['of an unknown job', 'checkpoint.create', {}, { job_id: 'job_none' }, 'NOT_FOUND'],
    ['that does not exist', 'checkpoint.restore', { checkpoint_id: 'chk_none' }, {}, 'NOT_FOUND'],
  ])('%s is refused', async (_, type, payload, more, code) => {
    const wire = await opened(working().runtime);
    expect((await wire.answer('nack', wire.send(type, payload, more))).payload.code).toBe(code);
  });

  test('requires its capability and a job of the principal', async () => {
    const runtime = start({ auth: (auth) => ({ principal: auth?.token ?? 'p', trust: 'constrained' }) }).tool(
      ...([
        'work',
        { durable: true },
        (_: unknown, { checkpoint }: { checkpoint: (data: unknown) => Promise<string> }) => checkpoint(1),
      ] as const),
    );
    const wire = await opened(runtime, { capabilities: { durable_jobs: true } });
    const { jobId } = await wire.startJob('work');
    const last = (await wire.untilEnded(jobId)) as Envelope<'job.completed'>;
    const checkpoint_id = last.payload.result as string;
    for (const [type, payload] of [
      ['checkpoint.create', {}],
      ['checkpoint.restore', { checkpoint_id, new_job: true }],
    ] as const)
      expect((await wire.answer('nack', wire.send(type, payload, { job_id: jobId }))).payload.code).toBe(
        'UNIMPLEMENTED',
      );
    const other = await opened(runtime, { auth: { scheme: 'bearer', token: 'other' } });
    const refused = await other.answer('nack', other.send('checkpoint.restore', { checkpoint_id, new_job: true }));
    expect(refused.payload.code).toBe('NOT_FOUND');
  });
});

describe('a span', () => {
  const W3C = { trace_id: 'a'.repeat(32), span_id: 'b'.repeat(16) };

  test('is reported when it ends, with its parent span', async () => {
    const runtime = start().tool('work', { durable: true }, (_, { span, traceparent }) =>
      span('outer', async (outer) => {
        outer.set({ rows: 3 });
        outer.event('half', { at: 1 });
        const inner = await outer.span('inner', ({ traceparent: own }) => own, {
          kind: 'client',
          attributes: { url: 'x' },
        });
        return [traceparent, outer.traceparent, inner];
      }),
    );
    const wire = await opened(runtime);
    const accepted = await wire.answer('job.accepted', wire.send('tool.invoke', { tool: 'work' }, W3C));
    const last = (await wire.untilEnded(accepted.payload.job_id!)) as Envelope<'job.completed'>;
    const spans = wire.heard.filter((one): one is Envelope<'trace.span'> => one.type === 'trace.span');
    expect(spans.map(({ payload }) => payload.name)).toEqual(['inner', 'outer']);
    const [inner, outer] = spans;
    expect(outer).toMatchObject({
      ...{ trace_id: W3C.trace_id, parent_span_id: accepted.span_id, job_id: accepted.payload.job_id! },
      payload: {
        status: 'ok',
        kind: 'internal',
        attributes: { rows: 3 },
        start_time: expect.any(String),
        end_time: expect.any(String),
        events: [{ name: 'half', time: expect.any(String), attributes: { at: 1 } }],
      },
    });
    expect(inner).toMatchObject({
      parent_span_id: outer!.span_id,
      payload: { kind: 'client', attributes: { url: 'x' } },
    });
    expect(last.payload.result).toEqual(
      [accepted.span_id, outer!.span_id, inner!.span_id].map((id) => `00-${W3C.trace_id}-${id}-01`),
    );
  });

  test('that fails is reported as failed, and the error is rethrown', async () => {
    const runtime = start().tool('work', { durable: true }, (_, { span }) => span('bad', () => unavailable()));
    const wire = await opened(runtime);
    const { jobId } = await wire.startJob('work');
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.failed', payload: { code: 'UNAVAILABLE' } });
    const span = await wire.until(({ type }) => type === 'trace.span');
    expect(span.payload).toMatchObject({ status: 'error', attributes: { 'error.type': 'UNAVAILABLE' } });
  });

  test('of a trace with another form of id has no traceparent', async () => {
    const runtime = start().tool('work', {}, (_, { traceparent }) => String(traceparent));
    const wire = await opened(runtime);
    const invoked = wire.send('tool.invoke', { tool: 'work' }, { trace_id: 'mine', span_id: 's' });
    expect((await wire.answer('tool.result', invoked)).payload.result).toBe('undefined');
  });
});

test('untrusted sessions cannot reach non-public handlers by a handoff or a restored checkpoint', async () => {
  const runtime = start({
    auth: (auth) => ({ principal: 'p', trust: auth?.token === 'weak' ? 'untrusted' : 'constrained' }),
  })
    .tool('closed', { durable: true }, (_, { checkpoint }) => checkpoint(1))
    .agent('open', { isPublic: true }, (_, { handOff }) => handOff('hidden'))
    .agent('hidden', {}, () => 'reached');
  const wire = await opened(runtime);
  const { jobId } = await wire.startJob('closed');
  const last = (await wire.untilEnded(jobId)) as Envelope<'job.completed'>;
  const weak = await opened(runtime, { auth: { scheme: 'bearer', token: 'weak' } });
  const payload = { checkpoint_id: last.payload.result, new_job: true };
  expect((await weak.answer('nack', weak.send('checkpoint.restore', payload))).payload.code).toBe('PERMISSION_DENIED');
  const delegated = await begin(weak, 'agent.delegate', { target: 'open', task: '' });
  expect(await weak.untilEnded(delegated)).toMatchObject({
    type: 'job.failed',
    payload: { code: 'PERMISSION_DENIED' },
  });
});

describe('unlimited recursion', () => {
  test.each(['delegates', 'calls', 'hands over'])('that %s to itself fails', async (how) => {
    const runtime = createRuntime()
      .agent('delegates', {}, async (_, { delegate }) => (await delegate('delegates', 'go on')).result())
      .agent('calls', {}, (_, { call }) => call('calls'))
      .tool('calls', {}, (_, { call }) => call('calls'))
      .agent('hands over', {}, (_, { handOff }) => handOff('hands over'));
    runtimes.push(runtime);
    const wire = connectTo(runtime);
    await wire.open();
    const accepted = await wire.answer('job.accepted', wire.send('agent.delegate', { target: how, task: '' }));
    const end = await wire.untilEnded(accepted.payload.job_id!);
    expect(end).toMatchObject({ type: 'job.failed', payload: { code: 'RESOURCE_EXHAUSTED', retryable: false } });
  });
});

test('an agent with a delegated task can hand it off if the client supports handoffs', async () => {
  const runtime = createRuntime()
    .agent('first', {}, async (_, { delegate }) => (await delegate('second', 'Do it')).result())
    .agent('second', {}, (_, { handOff }) => handOff('third'))
    .agent('third', {}, () => 'done by the third');
  runtimes.push(runtime);
  const wire = connectTo(runtime);
  await wire.open();
  const accepted = await wire.answer('job.accepted', wire.send('agent.delegate', { target: 'first', task: '' }));
  const end = await wire.untilEnded(accepted.payload.job_id!);
  expect(end).toMatchObject({ type: 'job.completed', payload: { result: 'done by the third' } });
});
