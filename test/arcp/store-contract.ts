/** The contract of stores: tests that each implementation runs. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ArcpStore, JobRow, NewEvent } from '../../src/arcp/store/store.js';

export interface StoreUnderTest {
  readonly open: () => Promise<ArcpStore>;
  /** Sets the clock of the stores, in milliseconds since 1970. */
  readonly setNow: (now: number) => void;
}

let made = 0;

export function event(more: Partial<NewEvent> = {}): NewEvent {
  const id = more.id ?? `msg_${++made}`;
  return { id, type: 'log', sessionId: 's', body: `{"id":"${id}"}`, ...more };
}

export function job(more: Partial<JobRow> = {}): JobRow {
  return {
    ...{ jobId: `job_${++made}`, sessionId: 's', principal: 'alice', queue: 'default', priority: 0, state: 'queued' },
    ...{ attempt: 0, dueAt: 0, leaseOwner: null, leaseExpiresAt: null, spec: '{}', status: '{}', createdAt: 0 },
    ...{ endedAt: null, ...more },
  };
}

const ids = (events: readonly { readonly id: string }[]): string[] => events.map(({ id }) => id);
const jobIds = (jobs: readonly { readonly jobId: string }[]): string[] => jobs.map(({ jobId }) => jobId);

export function describeStore(name: string, { open, setNow }: StoreUnderTest): void {
  describe(name, () => {
    async function withStore(body: (store: ArcpStore) => Promise<void>): Promise<void> {
      setNow(1000);
      const store = await open();
      try {
        await body(store);
      } finally {
        await store.close();
      }
    }

    const storeTest = (title: string, body: (store: ArcpStore) => Promise<void>): void =>
      test(title, () => withStore(body));

    describe('events', () => {
      storeTest('are read unchanged, in order of their commits', async (store) => {
        const one = event({
          jobId: 'j',
          streamId: 'st',
          traceId: 't',
          type: 'stream.chunk',
          body: '{"ü":"\\u0000😀"}',
        });
        const other = event();
        const first = await store.commit({ events: [one] });
        const second = await store.commit({ events: [other] });
        const all = await store.readEvents({ sessionId: 's', limit: 10 });
        expect(all).toEqual([
          { ...one, sequence: all[0]!.sequence, storedAt: 1000 },
          { ...other, sequence: all[1]!.sequence, storedAt: 1000 },
        ]);
        expect([first, second]).toEqual([
          { outcome: 'done', sequences: [all[0]!.sequence] },
          { outcome: 'done', sequences: [all[1]!.sequence] },
        ]);
        expect(all[1]!.sequence).toBeGreaterThan(all[0]!.sequence);
        expect(await store.lastSequence()).toBe(all[1]!.sequence);
        expect(await store.findEvent(one.id)).toEqual(all[0]);
        expect(await store.findEvent('nobody')).toBeUndefined();
      });

      storeTest('are found by session, by job, by both, and by trace, page by page', async (store) => {
        const events = Array.from({ length: 60 }, (_, n) =>
          event({ sessionId: `s${n % 3}`, jobId: `j${n % 4}`, traceId: `t${n % 5}` }),
        );
        for (const one of events) await store.commit({ events: [one] });
        const where = (is: (n: number) => boolean): string[] => ids(events.filter((_, n) => is(n)));
        expect(ids(await store.readEvents({ sessionId: 's1', limit: 99 }))).toEqual(where((n) => n % 3 === 1));
        expect(ids(await store.readEvents({ jobIds: ['j2'], limit: 99 }))).toEqual(where((n) => n % 4 === 2));
        expect(ids(await store.readEvents({ traceId: 't3', limit: 99 }))).toEqual(where((n) => n % 5 === 3));
        expect(ids(await store.readEvents({ limit: 99 }))).toEqual(where(() => true));
        expect(ids(await store.readEvents({ jobIds: [], limit: 99 }))).toEqual([]);
        expect(ids(await store.readEvents({ sessionId: 's0', traceId: 't0', limit: 99 }))).toEqual(
          where((n) => n % 3 === 0 || n % 5 === 0),
        );
        expect(ids(await store.readEvents({ sessionId: 'none', limit: 99 }))).toEqual([]);
        const both = where((n) => n % 3 === 1 || n % 4 === 2 || n % 4 === 3);
        const query = { sessionId: 's1', jobIds: ['j2', 'j3'] };
        expect(ids(await store.readEvents({ ...query, limit: 99 }))).toEqual(both);
        const paged: string[] = [];
        for (let after = 0; ; ) {
          const page = await store.readEvents({ ...query, after, limit: 7 });
          if (page.length === 0) break;
          expect(page.length).toBeLessThanOrEqual(7);
          paged.push(...ids(page));
          after = page.at(-1)!.sequence;
        }
        expect(paged).toEqual(both);
      });

      storeTest('are read up to a sequence number', async (store) => {
        await store.commit({ events: [event(), event(), event()] });
        const sequences = (await store.readEvents({ sessionId: 's', limit: 9 })).map(({ sequence }) => sequence);
        const some = await store.readEvents({ sessionId: 's', after: sequences[0], upTo: sequences[1], limit: 9 });
        expect(some.map(({ sequence }) => sequence)).toEqual([sequences[1]]);
      });

      storeTest('have unique ids; a commit that repeats one changes nothing', async (store) => {
        await store.commit({ events: [event({ id: 'twice' })] });
        const second = { events: [event({ id: 'new' }), event({ id: 'twice' })], newJobs: [job({ jobId: 'never' })] };
        await expect(store.commit(second)).rejects.toMatchObject({ name: 'StoreError', reason: 'failed' });
        expect(ids(await store.readEvents({ sessionId: 's', limit: 9 }))).toEqual(['twice']);
        expect(await store.readJob('never')).toBeUndefined();
      });

      storeTest('of a job include one terminal event, whichever process writes', async (store) => {
        const last = (): NewEvent => event({ jobId: 'j', isTerminal: true });
        const results = await Promise.allSettled([1, 2, 3, 4].map(() => store.commit({ events: [last()] })));
        expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected']);
        await expect(
          store.commit({ events: [event({ jobId: 'k', isTerminal: true }), event({ jobId: 'k', isTerminal: true })] }),
        ).rejects.toThrow();
        expect(await store.readEvents({ jobIds: ['k'], limit: 9 })).toEqual([]);
        expect(await store.readEvents({ jobIds: ['j'], limit: 9 })).toMatchObject([{ isTerminal: true }]);
      });
    });

    describe('commits', () => {
      storeTest('that are made at once are applied in order, each atomically', async (store) => {
        const taken = event({ id: 'taken' });
        const order: number[] = [];
        const commits = Array.from({ length: 40 }, (_, n) =>
          store.commit({ events: [n % 10 === 7 ? taken : event({ id: `e${n}` })] }).then(
            () => order.push(n),
            () => order.push(-n),
          ),
        );
        await Promise.all(commits);
        expect(order).toEqual(Array.from({ length: 40 }, (_, n) => (n % 10 === 7 && n > 7 ? -n : n)));
        const kept = ids(await store.readEvents({ sessionId: 's', limit: 99 }));
        expect(kept).toEqual(
          Array.from({ length: 40 }, (_, n) => (n === 7 ? 'taken' : `e${n}`)).filter(
            (id) => !['e17', 'e27', 'e37'].includes(id),
          ),
        );
      });

      storeTest('with an unexpected record change nothing, and return the stored record', async (store) => {
        const put = { scope: 'command:alice', key: 'm1', value: 'one', expect: 0 };
        expect(await store.commit({ records: [put], events: [event({ id: 'answer' })] })).toMatchObject({
          outcome: 'done',
        });
        const again = await store.commit({
          records: [put],
          events: [event({ id: 'never' })],
          newJobs: [job({ jobId: 'no' })],
        });
        const found = { scope: 'command:alice', key: 'm1', value: 'one', version: 1, owner: null };
        expect(again).toEqual({ outcome: 'conflict', scope: 'command:alice', key: 'm1', found });
        expect(await store.findEvent('never')).toBeUndefined();
        expect(await store.readJob('no')).toBeUndefined();
        expect(await store.commit({ records: [{ ...put, expect: 2 }] })).toMatchObject({ outcome: 'conflict' });
        expect(await store.commit({ records: [{ scope: 'x', key: 'y', value: 'z', expect: 3 }] })).toEqual({
          ...{ outcome: 'conflict', scope: 'x', key: 'y', found: undefined },
        });
        expect(await store.commit({ records: [{ ...put, value: 'two', expect: 1 }] })).toMatchObject({
          outcome: 'done',
        });
        expect(await store.readRecord('command:alice', 'm1')).toMatchObject({ value: 'two', version: 2 });
      });

      storeTest('of the same command at the same time: one is applied', async (store) => {
        const records = [{ scope: 'command:alice', key: 'm1', value: '', expect: 0 }];
        const results = await Promise.all(
          Array.from({ length: 100 }, () => store.commit({ records, events: [event()] })),
        );
        expect(results.filter(({ outcome }) => outcome === 'done')).toHaveLength(1);
        expect(await store.readEvents({ sessionId: 's', limit: 999 })).toHaveLength(1);
      });

      storeTest('for a job with a later attempt are fenced, and return the stored job', async (store) => {
        const one = job({ state: 'running', attempt: 2, leaseOwner: 'w', leaseExpiresAt: 5000 });
        await store.commit({ newJobs: [one] });
        const change = { jobId: one.jobId, attempt: 1, set: { state: 'completed', endedAt: 1 } } as const;
        const stale = await store.commit({ jobs: [change], events: [event({ id: 'never', jobId: one.jobId })] });
        expect(stale).toEqual({ outcome: 'fenced', jobId: one.jobId, found: one });
        expect(await store.findEvent('never')).toBeUndefined();
        expect(await store.commit({ jobs: [{ jobId: 'nobody', set: {} }] })).toEqual({
          ...{ outcome: 'fenced', jobId: 'nobody', found: undefined },
        });
        const states = ['queued'] as const;
        expect(await store.commit({ jobs: [{ jobId: one.jobId, states, set: {} }] })).toMatchObject({
          outcome: 'fenced',
        });
        expect(await store.commit({ jobs: [{ ...change, attempt: 2 }] })).toMatchObject({ outcome: 'done' });
        expect(await store.readJob(one.jobId)).toEqual({ ...one, state: 'completed', endedAt: 1 });
        // A job that has ended does not change.
        expect(await store.commit({ jobs: [{ jobId: one.jobId, set: { state: 'running' } }] })).toMatchObject({
          outcome: 'fenced',
        });
      });

      storeTest('for a job whose status has changed are fenced if they expect the earlier status', async (store) => {
        const one = job({ status: 'a' });
        await store.commit({ newJobs: [one] });
        const change = (from: string, status: string) =>
          store.commit({ jobs: [{ jobId: one.jobId, status: from, set: { status } }] });
        const outcomes = await Promise.all([change('a', 'b'), change('a', 'c'), change('b', 'd')]);
        expect(outcomes.map(({ outcome }) => outcome)).toEqual(['done', 'fenced', 'done']);
        expect(outcomes[1]).toMatchObject({ found: { status: 'b' } });
        expect(await store.readJob(one.jobId)).toMatchObject({ status: 'd' });
      });

      storeTest('of jobs for a full queue change nothing, however many are made at once', async (store) => {
        const outcomes = await Promise.all(
          Array.from({ length: 9 }, () =>
            store.commit({ newJobs: [job({ queue: 'small' })], events: [event()], maxQueued: 3 }),
          ),
        );
        expect(outcomes.filter(({ outcome }) => outcome === 'done')).toHaveLength(3);
        expect(outcomes.slice(3)).toEqual(Array.from({ length: 6 }, () => ({ outcome: 'full', queued: 3 })));
        expect(await store.countQueued(['small'])).toBe(3);
        expect(await store.readEvents({ sessionId: 's', limit: 99 })).toHaveLength(3);
        expect(await store.commit({ newJobs: [job({ queue: 'other' })], maxQueued: 3 })).toMatchObject({
          outcome: 'done',
        });
      });

      storeTest('change only the named columns', async (store) => {
        const one = job({ spec: 'a', status: 'b', leaseOwner: 'w', leaseExpiresAt: 9 });
        await store.commit({ newJobs: [one] });
        await store.commit({
          jobs: [{ jobId: one.jobId, set: { status: 'c', leaseOwner: null, leaseExpiresAt: null } }],
        });
        expect(await store.readJob(one.jobId)).toEqual({ ...one, status: 'c', leaseOwner: null, leaseExpiresAt: null });
      });
    });

    describe('jobs', () => {
      storeTest('are claimed once, by priority and then by time, and only when they are due', async (store) => {
        const jobs = [
          job({ jobId: 'later', dueAt: 5001 }),
          job({ jobId: 'second', dueAt: 20 }),
          job({ jobId: 'first', dueAt: 10 }),
          job({ jobId: 'urgent', dueAt: 30, priority: 5 }),
          job({ jobId: 'elsewhere', queue: 'other' }),
          job({ jobId: 'blocked', state: 'blocked' }),
          job({ jobId: 'done', state: 'completed', endedAt: 1 }),
        ];
        await store.commit({ newJobs: jobs });
        expect(await store.countQueued(['default'])).toBe(4);
        const claim = { worker: 'w1', queues: ['default'], now: 5000, leaseExpiresAt: 6000 };
        const claimed = await store.claimJobs({ ...claim, limit: 2 });
        expect(claimed).toEqual([
          { ...jobs[3], state: 'running', attempt: 1, leaseOwner: 'w1', leaseExpiresAt: 6000 },
          { ...jobs[2], state: 'running', attempt: 1, leaseOwner: 'w1', leaseExpiresAt: 6000 },
        ]);
        expect(await store.readJob('urgent')).toEqual(claimed[0]);
        expect(jobIds(await store.claimJobs({ ...claim, worker: 'w2', limit: 9 }))).toEqual(['second']);
        expect(await store.claimJobs({ ...claim, limit: 9 })).toEqual([]);
        expect(await store.nextDue(['default'])).toBe(5001);
        expect(await store.nextDue(['nothing'])).toBeUndefined();
        expect(
          jobIds(await store.claimJobs({ ...claim, queues: ['other', 'default'], now: 5001, limit: 9 })).toSorted(),
        ).toEqual(['elsewhere', 'later']);
      });

      storeTest('that are blocked are also claimed again when their lease has expired', async (store) => {
        await store.commit({
          newJobs: [job({ jobId: 'j', state: 'blocked', attempt: 1, leaseOwner: 'w1', leaseExpiresAt: 2000 })],
        });
        const claim = { worker: 'w2', queues: ['default'], leaseExpiresAt: 9000, limit: 1 };
        expect(await store.nextDue(['default'])).toBe(2000);
        expect(await store.claimJobs({ ...claim, now: 1999 })).toEqual([]);
        expect(await store.claimJobs({ ...claim, now: 2000 })).toMatchObject([
          { jobId: 'j', state: 'running', attempt: 2 },
        ]);
      });

      storeTest('whose lease has expired are claimed again, and the previous worker is fenced off', async (store) => {
        await store.commit({ newJobs: [job({ jobId: 'j' })] });
        const claim = { queues: ['default'], limit: 9 };
        await store.claimJobs({ ...claim, worker: 'w1', now: 1000, leaseExpiresAt: 2000 });
        expect(await store.nextDue(['default'])).toBe(2000);
        expect(await store.claimJobs({ ...claim, worker: 'w2', now: 1999, leaseExpiresAt: 9000 })).toEqual([]);
        const taken = await store.claimJobs({ ...claim, worker: 'w2', now: 2000, leaseExpiresAt: 9000 });
        expect(taken).toMatchObject([{ jobId: 'j', attempt: 2, leaseOwner: 'w2' }]);
        const late = await store.commit({
          jobs: [{ jobId: 'j', attempt: 1, set: { state: 'completed' } }],
          events: [event({ jobId: 'j' })],
        });
        expect(late).toMatchObject({ outcome: 'fenced', found: { attempt: 2 } });
        expect(
          await store.renewLeases({ worker: 'w1', leaseExpiresAt: 9999, jobs: [{ jobId: 'j', attempt: 1 }] }),
        ).toEqual([]);
        const renewed = await store.renewLeases({
          worker: 'w2',
          leaseExpiresAt: 9999,
          jobs: [{ jobId: 'j', attempt: 2 }],
        });
        expect(renewed).toMatchObject([{ jobId: 'j', leaseExpiresAt: 9999 }]);
        expect(await store.readJob('j')).toEqual(renewed[0]);
      });

      storeTest('are claimed by one of many concurrent workers', async (store) => {
        await store.commit({ newJobs: Array.from({ length: 30 }, () => job()) });
        const claims = await Promise.all(
          Array.from({ length: 20 }, (_, n) =>
            store.claimJobs({ worker: `w${n}`, queues: ['default'], now: 1, leaseExpiresAt: 9, limit: 2 }),
          ),
        );
        const all = jobIds(claims.flat());
        expect(all).toHaveLength(30);
        expect(new Set(all).size).toBe(30);
      });

      storeTest('are listed in order of creation, page by page', async (store) => {
        const jobs = [
          job({ sessionId: 'a', principal: 'alice' }),
          job({ sessionId: 'b', principal: 'bob' }),
          job({ sessionId: 'a', principal: 'alice', state: 'failed', endedAt: 5 }),
          job({ sessionId: 'c', principal: 'alice' }),
        ];
        await store.commit({ newJobs: jobs });
        const list = async (query: object): Promise<string[]> => jobIds(await store.listJobs({ limit: 9, ...query }));
        expect(await store.listJobs({ limit: 9 })).toEqual(jobs);
        expect(await list({ sessionId: 'a' })).toEqual(jobIds([jobs[0]!, jobs[2]!]));
        expect(await list({ principal: 'alice', states: ['queued'] })).toEqual(jobIds([jobs[0]!, jobs[3]!]));
        expect(await list({ limit: 1, after: jobs[0]!.jobId })).toEqual([jobs[1]!.jobId]);
      });

      storeTest('that wait are counted correctly after each change', async (store) => {
        const states = ['queued', 'running', 'blocked', 'completed'] as const;
        const change = fc.record({
          of: fc.nat(9),
          state: fc.constantFrom(...states),
          queue: fc.constantFrom('a', 'b'),
        });
        let round = 0;
        await fc.assert(
          fc.asyncProperty(fc.array(change, { maxLength: 20 }), async (changes) => {
            const prefix = `${++round}-`;
            for (const { of, state, queue } of changes) {
              const jobId = `${prefix}${of}`;
              const endedAt = state === 'completed' ? 1 : null;
              if ((await store.readJob(jobId)) === undefined)
                await store.commit({ newJobs: [job({ jobId, state, queue, endedAt })] });
              else await store.commit({ jobs: [{ jobId, states, set: { state, endedAt } }] });
              if (of === 9) await store.claimJobs({ worker: 'w', queues: ['a'], now: 1, leaseExpiresAt: 9, limit: 1 });
            }
            await store.trim({ endedBefore: 2 });
            const waiting = await store.listJobs({ states: ['queued'], limit: Number.POSITIVE_INFINITY });
            for (const queues of [['a'], ['b'], ['a', 'b'], ['c'], []])
              expect(await store.countQueued(queues)).toBe(
                waiting.filter(({ queue }) => queues.includes(queue)).length,
              );
          }),
          { numRuns: 25 },
        );
      });

      storeTest('have unique ids', async (store) => {
        await store.commit({ newJobs: [job({ jobId: 'j', spec: 'first' })] });
        await expect(store.commit({ newJobs: [job({ jobId: 'j' })] })).rejects.toMatchObject({ reason: 'failed' });
        expect(await store.readJob('j')).toMatchObject({ spec: 'first' });
      });
    });

    describe('records', () => {
      storeTest('are listed in order of their keys, page by page', async (store) => {
        const keys = ['b', 'a', 'c', '', 'ä', 'B'].filter((key) => key !== '');
        await store.commit({ records: keys.map((key) => ({ scope: 'x', key, value: key, owner: 'o' })) });
        await store.commit({ records: [{ scope: 'y', key: 'a', value: 'other' }] });
        expect((await store.listRecords('x', { limit: 9 })).map(({ key }) => key)).toEqual(['B', 'a', 'b', 'c', 'ä']);
        expect((await store.listRecords('x', { limit: 2, after: 'a' })).map(({ key }) => key)).toEqual(['b', 'c']);
        expect(await store.listRecords('z', { limit: 2 })).toEqual([]);
      });

      storeTest('keep their owner, and can be removed', async (store) => {
        const put = (value: string | null, owner?: string) =>
          store.commit({ records: [{ scope: 'x', key: 'k', value, ...(owner === undefined ? {} : { owner }) }] });
        await put('1', 'job_1');
        await put('2');
        expect(await store.readRecord('x', 'k')).toEqual({
          scope: 'x',
          key: 'k',
          value: '2',
          version: 2,
          owner: 'job_1',
        });
        await put(null);
        expect(await store.readRecord('x', 'k')).toBeUndefined();
        await put('3');
        expect(await store.readRecord('x', 'k')).toMatchObject({ version: 1, owner: null });
      });
    });

    describe('trimming', () => {
      storeTest('removes jobs that ended earlier, with their events and records', async (store) => {
        const old = job({ state: 'completed', endedAt: 100 });
        const recent = job({ state: 'completed', endedAt: 200 });
        const live = job();
        for (const { jobId } of [old, recent, live])
          await store.commit({
            events: [event({ jobId, id: `of-${jobId}` }), event({ jobId, isTerminal: jobId !== live.jobId })],
            records: [{ scope: 'step', key: jobId, value: '', owner: jobId }],
          });
        await store.commit({ newJobs: [old, recent, live] });
        expect(await store.trim({ endedBefore: 200 })).toEqual({ jobs: 1, events: 2, records: 1 });
        expect(jobIds(await store.listJobs({ limit: 9 }))).toEqual(jobIds([recent, live]));
        expect(await store.readEvents({ jobIds: [old.jobId], limit: 9 })).toEqual([]);
        expect(await store.findEvent(`of-${old.jobId}`)).toBeUndefined();
        expect((await store.listRecords('step', { limit: 9 })).map(({ key }) => key)).toEqual(
          jobIds([recent, live]).toSorted(),
        );
        expect(await store.trim({ endedBefore: 200 })).toEqual({ jobs: 0, events: 0, records: 0 });
      });

      storeTest('removes old data without a job, and the data of a session except its jobs', async (store) => {
        const records = [{ scope: 'command', key: 'old', value: '' }];
        await store.commit({ events: [event({ id: 'old' }), event({ id: 'job', jobId: 'j' })], records });
        setNow(2000);
        await store.commit({
          events: [event({ id: 'new' }), event({ id: 'other', sessionId: 's2' })],
          records: [
            { scope: 'command', key: 'new', value: '' },
            { scope: 'memory', key: 'k', value: '', owner: 's2' },
          ],
        });
        expect(await store.trim({ storedBefore: 2000 })).toEqual({ jobs: 0, events: 1, records: 1 });
        expect(ids(await store.readEvents({ sessionId: 's', limit: 9 }))).toEqual(['job', 'new']);
        expect(await store.trim({ sessionId: 's2' })).toEqual({ jobs: 0, events: 1, records: 1 });
        expect(await store.readRecord('memory', 'k')).toBeUndefined();
      });

      storeTest('never decreases sequence numbers', async (store) => {
        await store.commit({ events: [event(), event()] });
        const last = await store.lastSequence();
        await store.trim({ sessionId: 's' });
        expect(await store.lastSequence()).toBe(last);
        expect(await store.commit({ events: [event()] })).toEqual({ outcome: 'done', sequences: [last + 1] });
      });
    });

    test('after closing it rejects calls, and completes earlier ones', async () => {
      const store = await open();
      const last = store.commit({ events: [event()] });
      await store.close();
      await expect(last).resolves.toMatchObject({ outcome: 'done' });
      await expect(store.commit({})).rejects.toMatchObject({ reason: 'closed' });
      await expect(store.readEvents({ sessionId: 's', limit: 1 })).rejects.toMatchObject({ reason: 'closed' });
      await store.close();
    });
  });
}
