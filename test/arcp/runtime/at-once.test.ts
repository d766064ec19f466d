/** Guarantees for concurrent calls: in one attempt, across clients, and across runtimes on one file. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { ArcpError, type Envelope } from '../../../src/arcp/index.js';
import {
  type ArcpStore,
  createRuntime,
  type JobContext,
  memoryStore,
  type Runtime,
  type RuntimeOptions,
  sqliteStore,
} from '../../../src/arcp/runtime/index.js';
import { passingTime } from '../../helpers/passing-time.js';
import { connectTo, deferred, type Wire } from './wire.js';

const ending: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

interface World {
  readonly runtimes: readonly Runtime[];
  readonly store: ArcpStore;
  /** Opens sessions with each runtime in turn. */
  readonly open: (count: number) => Promise<Wire[]>;
}

type Furnish = (runtime: Runtime) => unknown;

/** One runtime with a store in memory, or two on one file. */
const WORLDS: readonly (readonly [string, (furnish: Furnish, options?: RuntimeOptions) => Promise<World>])[] = [
  ['one runtime', (furnish, options) => worldOf([memoryStore()], furnish, options)],
  [
    'two runtimes on one file',
    async (furnish, options) => {
      const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-at-once-'));
      ending.push(() => rmSync(folder, { recursive: true, force: true }));
      const file = path.join(folder, 'arcp.db');
      return worldOf([await sqliteStore(file), await sqliteStore(file)], furnish, options);
    },
  ],
];

async function worldOf(stores: readonly ArcpStore[], furnish: Furnish, options: RuntimeOptions = {}): Promise<World> {
  const runtimes = stores.map((store) => createRuntime({ ...options, store }));
  for (const runtime of runtimes) {
    furnish(runtime);
    ending.push(() => runtime.close());
  }
  const open = (count: number) =>
    Promise.all(
      Array.from({ length: count }, async (_, n) => {
        const wire = connectTo(runtimes[n % runtimes.length]!);
        await wire.open();
        return wire;
      }),
    );
  return { runtimes, store: stores[0]!, open };
}

const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
const answerTo = (wire: Wire, { id }: { readonly id: string }): Promise<Envelope> =>
  wire.until(({ type, correlation_id }) => correlation_id === id && type !== 'event.emit' && type !== 'log');
const several = fc.integer({ min: 2, max: 6 });

/** Runs a handler as a durable job of an agent, and returns its messages. */
async function inOneAttempt(
  handler: (context: JobContext, count: number) => Promise<unknown>,
  count: number,
  heard: (wire: Wire, jobId: string) => Promise<unknown> | unknown = () => {},
): Promise<{ readonly wire: Wire; readonly jobId: string; readonly end: Envelope; readonly ran: () => number }> {
  let ran = 0;
  const { open } = await worldOf([memoryStore()], (runtime) =>
    runtime
      .agent('main', { permissions: ['a.b'], retry: { maxAttempts: 2, backoffMs: 1 } }, (_, context) =>
        handler(context, count),
      )
      .agent('child', {}, () => ++ran)
      .tool('count', {}, () => ++ran),
  );
  const [wire] = (await open(1)) as [Wire];
  const accepted = await wire.answer('job.accepted', wire.send('agent.delegate', { target: 'main', task: '' }));
  const jobId = accepted.payload.job_id!;
  await heard(wire, jobId);
  return { wire, jobId, end: await wire.untilEnded(jobId), ran: () => ran };
}

const grantAll =
  (payload: object = {}) =>
  async (wire: Wire): Promise<void> => {
    const request = await wire.until(({ type }) => type === 'permission.request');
    await wire.answer('ack', wire.send('permission.grant', { ...payload }, { correlation_id: request.id }));
  };

describe('several calls in one attempt', () => {
  const property = (check: (count: number) => Promise<void>) => () =>
    fc.assert(fc.asyncProperty(several, check), { numRuns: 4 });

  test(
    'a step, a call, a child: executed once',
    property(async (count) => {
      const { end, ran, wire } = await inOneAttempt(async ({ step, call, delegate }, n) => {
        let steps = 0;
        const all = await Promise.all([
          Promise.all(times(n, () => step('s', () => ++steps))),
          Promise.all(times(n, () => call('count', {}, { key: 'c' }))),
          Promise.all(times(n, () => delegate('child', 'x', { key: 'k' }))).then(async (children) => [
            new Set(children.map(({ jobId }) => jobId)).size,
            await children[0]!.result(),
          ]),
        ]);
        return [new Set(all[0]).size, new Set(all[1]).size, all[2][0], steps];
      }, count);
      expect(end.payload).toMatchObject({ result: [1, 1, 1, 1] });
      expect(ran()).toBe(2);
      expect(wire.types().filter((type) => type === 'agent.delegate')).toHaveLength(1);
    }),
  );

  test(
    'a permission: requested once',
    property(async (count) => {
      const { end, wire } = await inOneAttempt(
        async ({ permission }, n) => {
          const leases = await Promise.all(times(n, () => permission({ permission: 'a.b' })));
          return new Set(leases.map(({ leaseId }) => leaseId)).size;
        },
        count,
        grantAll(),
      );
      expect(end.payload).toMatchObject({ result: 1 });
      expect(wire.types().filter((type) => type === 'permission.request')).toHaveLength(1);
    }),
  );

  test.each([
    ['for the job', {}],
    ['for the session', { constraints: { scope: 'session' } }],
  ])('a grant %s: the number of uses holds', (_, more) =>
    property(async (count) => {
      const { end } = await inOneAttempt(
        async ({ permission }, n) => {
          const use = async (): Promise<number> => {
            const { use: take } = await permission({ permission: 'a.b' });
            const taken = await Promise.allSettled(times(n, () => take()));
            return taken.filter(({ status }) => status === 'fulfilled').length;
          };
          const used = await use();
          // Uses the remaining count, if any: no client answers a second request.
          const again = await Promise.race([use(), new Promise<number>((resolve) => setTimeout(resolve, 30, 0))]);
          return used + again;
        },
        count + 2,
        grantAll({ max_uses: 2, ...more }),
      );
      expect(end.payload).toMatchObject({ result: 2 });
    })(),
  );

  test(
    'checkpoints: each has its own number, and the job continues from the last',
    property(async (count) => {
      const { end, wire, jobId } = await inOneAttempt(async ({ checkpoint, attempt, restored }, n) => {
        if (attempt === 2) return restored;
        await Promise.all(times(n, (data) => checkpoint(data)));
        throw new ArcpError('UNAVAILABLE', 'once more');
      }, count);
      expect(end.payload).toMatchObject({ result: count - 1 });
      const told = wire.ofJob(jobId).flatMap((one) => (one.type === 'job.checkpoint' ? [one.payload.sequence] : []));
      expect(told).toEqual(times(count, (n) => n + 1));
    }),
  );

  test(
    'a handoff: one agent receives the job',
    property(async (count) => {
      const { wire, jobId } = await inOneAttempt(
        async ({ handOff, handoff }, n) =>
          handoff ?? Promise.all(times(n, (m) => handOff(m % 2 === 0 ? 'child' : 'main'))),
        count,
      );
      expect(wire.types(wire.ofJob(jobId)).filter((type) => type === 'agent.handoff')).toHaveLength(1);
    }),
  );
});

describe.each(WORLDS)('several clients of %s', (_, world) => {
  test('the same command, and the same operation key: executed once', async () => {
    let ran = 0;
    const { open } = await world((runtime) => runtime.tool('work', { durable: true }, () => ++ran));
    const wires = await open(6);
    for (const [payload, more] of [
      [{}, { id: 'msg_same' }],
      [{ operation_key: 'k' }, {}],
    ] as const) {
      const sent = wires.map((wire) => wire.send('tool.invoke', { tool: 'work', ...payload }, more));
      const accepted = await Promise.all(wires.map((wire, n) => wire.answer('job.accepted', sent[n]!)));
      expect(new Set(accepted.map(({ payload: { job_id } }) => job_id)).size).toBe(1);
    }
    await expect.poll(() => ran).toBe(2);
  });

  test('jobs: the queue limit holds', async () => {
    const options = { limits: { maxJobs: 5 } };
    const { open, store } = await world(
      (runtime) => runtime.tool('work', { durable: true, queue: 'nobody' }, () => 1),
      options,
    );
    const wires = await open(4);
    const sent = times(20, (n) => [wires[n % 4]!, wires[n % 4]!.send('tool.invoke', { tool: 'work' })] as const);
    const answers = await Promise.all(sent.map(([wire, message]) => answerTo(wire, message)));
    expect(answers.filter(({ type }) => type === 'job.accepted')).toHaveLength(5);
    const refused = answers.flatMap((one) => (one.type === 'nack' ? [one.payload.code] : []));
    expect(refused).toEqual(times(15, () => 'RESOURCE_EXHAUSTED'));
    expect(await store.countQueued('nobody', 99)).toBe(5);
  });

  test('answers to one request: one is accepted', async () => {
    const { open } = await world((runtime) =>
      runtime.tool('asks', { durable: true, permissions: ['a.b'] }, async (_input, { permission }) => {
        await permission({ permission: 'a.b' });
        return 'granted';
      }),
    );
    const wires = await open(6);
    const { jobId } = await wires[0]!.startJob('asks');
    const request = await wires[0]!.until(({ type }) => type === 'permission.request');
    const sent = wires.map((wire, n) =>
      wire.send(n % 3 === 0 ? 'permission.deny' : 'permission.grant', {}, { correlation_id: request.id }),
    );
    const answers = await Promise.all(wires.map((wire, n) => answerTo(wire, sent[n]!)));
    const taken = answers.flatMap(({ type }, n) => (type === 'ack' ? [n] : []));
    expect(taken).toHaveLength(1);
    const end = await wires[0]!.untilEnded(jobId);
    expect(end.type).toBe(taken[0]! % 3 === 0 ? 'job.failed' : 'job.completed');
  });

  test('checkpoints of a waiting job: each has its own number, and none is lost', async () => {
    const { open, store } = await world((runtime) =>
      runtime.tool('waits', { durable: true, queue: 'nobody' }, () => 1),
    );
    const wires = await open(6);
    const { jobId } = await wires[0]!.startJob('waits');
    for (const wire of wires) wire.send('checkpoint.create', {}, { job_id: jobId });
    const told = async (): Promise<number[]> =>
      (await store.readEvents({ jobId: jobId, limit: 99 })).flatMap(({ type, body }) =>
        type === 'job.checkpoint' ? [(JSON.parse(body) as Envelope<'job.checkpoint'>).payload.sequence!] : [],
      );
    await expect.poll(told).toEqual([1, 2, 3, 4, 5, 6]);
    expect(JSON.parse((await store.readJob(jobId))!.status)).toMatchObject({ checkpoints: 6 });
  });

  test('resuming a paused job: once', async () => {
    const { open, store } = await world((runtime) =>
      runtime.tool('waits', { durable: true, queue: 'nobody' }, () => 1),
    );
    const wires = await open(6);
    const { jobId } = await wires[0]!.startJob('waits');
    wires[0]!.send('checkpoint.create', Object.fromEntries([['then', 'pause']]), { job_id: jobId });
    await wires[0]!.until(({ type }) => type === 'job.checkpoint');
    const sent = wires.map((wire) => wire.send('resume', {}, { job_id: jobId }));
    await Promise.all(wires.map((wire, n) => wire.answer('ack', sent[n]!)));
    expect(await store.readJob(jobId)).toMatchObject({ state: 'queued' });
    const moved = (await store.readEvents({ jobId: jobId, limit: 99 })).filter(({ body }) =>
      /"from":"paused"/.test(body),
    );
    expect(moved).toHaveLength(1);
  });

  test('a cancellation, and the end of the handler: the job ends once', async () => {
    const gate = deferred();
    const { open, store } = await world((runtime) =>
      runtime.tool('ends', { durable: true }, async () => {
        await gate.promise;
        return 1;
      }),
    );
    const wires = await open(4);
    const jobs = await Promise.all(times(8, () => wires[0]!.startJob('ends')));
    for (const { jobId } of jobs)
      await wires[0]!.until(({ type, job_id }) => type === 'job.started' && job_id === jobId);
    const sent = jobs.flatMap(({ jobId }, n) =>
      wires.map((wire) => {
        if (n === 4) gate.resolve();
        return [wire, wire.send('cancel', { deadline_ms: 50 }, { job_id: jobId })] as const;
      }),
    );
    await Promise.all(sent.map(([wire, message]) => answerTo(wire, message)));
    for (const { jobId } of jobs) {
      const { type } = await wires[0]!.untilEnded(jobId);
      expect(await store.readJob(jobId)).toMatchObject({ state: type.slice('job.'.length) });
      const all = await store.readEvents({ jobId: jobId, limit: 99 });
      expect(all.filter(({ isTerminal }) => isTerminal === true)).toHaveLength(1);
    }
  });

  test('memory: no change is lost', async () => {
    const { open } = await world((runtime) =>
      runtime
        .tool('add', { durable: true }, (_input, { sharedContext }) =>
          Promise.all(times(5, () => sharedContext('c').update<number>('n', (n = 0) => n + 1))),
        )
        .tool('read', {}, (_input, { sharedContext }) => sharedContext('c').get('n')),
    );
    const wires = await open(4);
    const jobs = await Promise.all(wires.map((wire) => wire.startJob('add')));
    await Promise.all(wires.map((wire, n) => wire.untilEnded(jobs[n]!.jobId)));
    expect(
      (await wires[0]!.answer('tool.result', wires[0]!.send('tool.invoke', { tool: 'read' }))).payload.result,
    ).toBe(20);
  });

  test('opening and resuming a session: one connection has it', async () => {
    const { runtimes, store } = await world((runtime) => runtime.tool('echo', {}, () => 1));
    const [first] = runtimes as [Runtime];
    const connect = (payload: object, more: object) =>
      times(5, () => {
        const wire = connectTo(first);
        const sent = wire.send('session.open', { capabilities: {}, ...payload }, { ...more });
        return { wire, sent };
      });
    const settle = async (all: ReturnType<typeof connect>): Promise<Wire[]> => {
      await Promise.all(all.map(({ wire, sent }) => answerTo(wire, sent)));
      await expect.poll(() => all.filter(({ wire }) => !wire.hasEnded).length).toBe(1);
      return all.filter(({ wire }) => !wire.hasEnded).map(({ wire }) => wire);
    };
    const [one] = (await settle(connect({ mode: 'durable' }, { id: 'msg_open' }))) as [Wire];
    expect(await store.listRecords('session', { limit: 9 })).toHaveLength(1);
    const accepted = one.heard.find(({ type }) => type === 'session.accepted') as Envelope<'session.accepted'>;
    const { session_id, resume_token } = accepted.payload;
    const [other] = (await settle(connect({ resume_token }, { session_id }))) as [Wire];
    await one.ended();
    other.sessionId = session_id;
    await other.answer('tool.result', other.send('tool.invoke', { tool: 'echo' }));
  });
});

test('one command of several clients does not change the running job', async () => {
  let isAnswered = false;
  const { open } = await worldOf([memoryStore()], (runtime) =>
    runtime.tool(
      'work',
      { durable: true, retry: { maxAttempts: 2, backoffMs: 1 } },
      async (_, { attempt, restored, onCheckpoint, progress }) => {
        if (attempt === 2) return restored;
        onCheckpoint(() => 'snapshot');
        // The job changes in between.
        for (let n = 0; !isAnswered; n++) await progress({ current: n });
        throw new ArcpError('UNAVAILABLE', 'once more');
      },
    ),
  );
  const wires = await open(6);
  const { jobId } = await wires[0]!.startJob('work');
  await wires[0]!.until(({ type }) => type === 'job.started');
  const sent = wires.map((wire) => wire.send('checkpoint.create', {}, { id: 'msg_checkpoint', job_id: jobId }));
  const answers = await Promise.all(wires.map((wire, n) => wire.until((one) => one.correlation_id === sent[n]!.id)));
  isAnswered = true;
  expect(new Set(answers.map(({ id, type }) => `${type} ${id}`)).size).toBe(1);
  expect((await wires[0]!.untilEnded(jobId)).payload).toMatchObject({ result: 'snapshot' });
});

test('trimming and resuming a session: it is complete, or refused', async () => {
  const clock = passingTime(Date.now());
  const now = () => clock.now;
  await fc.assert(
    fc.asyncProperty(fc.nat(3), fc.nat(3), async (before, after) => {
      const store = memoryStore({ now });
      const { runtimes } = await worldOf([store], (runtime) => runtime.tool('echo', {}, () => 1), {
        now,
        retentionMs: 12 * 60 * 60_000,
        resumeWindowMs: 24 * 60 * 60_000,
      });
      const [runtime] = runtimes as [Runtime];
      const wire = connectTo(runtime);
      const { payload } = await wire.open();
      wire.channel.destroy();
      await new Promise((resolve) => setTimeout(resolve, 5));
      clock.now += 24 * 60 * 60 * 1000;
      const trims = times(before, () => runtime.trim());
      const again = connectTo(runtime);
      const { session_id, resume_token } = payload;
      const sent = again.send('session.open', { capabilities: {}, resume_token }, { session_id });
      clock.now += 1;
      trims.push(...times(after, () => runtime.trim()));
      const { type } = await answerTo(again, sent);
      await Promise.all(trims);
      await runtime.trim();
      expect((await store.readRecord('session', session_id)) !== undefined).toBe(type === 'session.accepted');
    }),
    { numRuns: 10 },
  );
});

test('cancelling and closing with many jobs does not block the event loop', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-at-once-'));
  ending.push(() => rmSync(folder, { recursive: true, force: true }));
  const store = await sqliteStore(path.join(folder, 'arcp.db'));
  const { open } = await worldOf([store], (runtime) =>
    runtime.tool('work', { durable: true, queue: 'nobody' }, () => 1),
  );
  const ways: readonly (readonly [string, object])[] = [
    ['cancel', { target: 'session' }],
    ['session.close', { jobs: 'cancel' }],
  ];
  for (const [type, payload] of ways) {
    const [wire] = (await open(1)) as [Wire];
    const { sessionId } = wire;
    const jobs = times(1200, () => wire.send('tool.invoke', { tool: 'work' }));
    await Promise.all(jobs.map((job) => wire.answer('job.accepted', job)));
    let [turns, isOver] = [0, false];
    const count = (): void => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const from = turns;
    wire.send(type, { ...payload });
    const states = ['queued'] as const;
    while ((await store.listJobs({ sessionId, states, limit: 1 })).length > 0)
      await new Promise((resolve) => setTimeout(resolve, 5));
    isOver = true;
    expect(await store.countQueued('nobody', 99)).toBe(0);
    // At most 100 jobs are read and cancelled in one turn of the event loop.
    expect(turns - from).toBeGreaterThanOrEqual(12);
  }
});
