/** The contract of stores: tests that each implementation runs. */
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { newRow } from '../../src/arcp/store/rows.js';
import type { ArcpStore, EventQuery, NewEvent, NewJobRow, StoreChange } from '../../src/arcp/store/store.js';

export interface StoreUnderTest {
  /** Opens the store of an empty file, server or process. */
  readonly open: () => Promise<ArcpStore>;
  /** Opens the same data once more, as another process does; `undefined` if that is not possible. */
  readonly openAgain?: (() => Promise<ArcpStore>) | undefined;
  /** Sets the clock of the stores, in milliseconds since 1970. */
  readonly setNow: (now: number) => unknown;
}

let made = 0;

export function event(more: Partial<NewEvent> = {}): NewEvent {
  const id = more.id ?? `msg_${++made}`;
  return { id, type: 'log', sessionId: 's', body: `{"id":"${id}"}`, ...more };
}

export function job(more: Partial<NewJobRow> = {}): NewJobRow {
  return {
    ...{ jobId: `job_${++made}`, sessionId: 's', principal: 'alice', queue: 'default', priority: 0, state: 'queued' },
    ...{ attempt: 0, spec: '{}', status: '{}', ...more },
  };
}

const ids = (events: readonly { readonly id: string }[]): string[] => events.map(({ id }) => id);
const jobIds = (jobs: readonly { readonly jobId: string }[]): string[] => jobs.map(({ jobId }) => jobId);

/**
 * Lets each writer make 50 commits with an event each, and reads them meanwhile, each time after the last one that was read.
 *
 * @param sessionOf returns the session of a writer
 * @returns the ids of the events in the order of reading
 */
export async function readWhileWriting(
  reader: ArcpStore,
  writers: readonly ArcpStore[],
  query: EventQuery,
  sessionOf: (writer: number) => string,
): Promise<string[]> {
  await reader.commit({ newJobs: [job({ jobId: 'j' })] });
  const writing = writers.map(async (writer, w) => {
    for (let n = 0; n < 50; n++) {
      // Transactions of different lengths end in another order than they begin in.
      const records = Array.from({ length: (n * 7 + w * 5) % 20 }, (_, key) => ({
        ...{ scope: `w${w}`, key: `${key}`, value: 'x'.repeat(100) },
      }));
      await writer.commit({ records, events: [event({ id: `${w}-${n}`, sessionId: sessionOf(w), jobId: 'j' })] });
    }
  });
  const read: string[] = [];
  let after = 0;
  const take = async (): Promise<void> => {
    for (;;) {
      const page = await reader.readEvents({ ...query, after });
      if (page.length === 0) return;
      read.push(...ids(page));
      after = page.at(-1)!.sequence;
    }
  };
  let isWriting = true;
  const written = Promise.all(writing).finally(() => {
    isWriting = false;
  });
  while (isWriting) {
    await take();
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  await written;
  await take();
  return read;
}

export function describeStore(name: string, { open, openAgain, setNow }: StoreUnderTest): void {
  describe(name, () => {
    async function withStore(body: (store: ArcpStore) => Promise<void>): Promise<void> {
      await setNow(1000);
      const store = await open();
      await setNow(1000);
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
          { outcome: 'done', positions: [{ sequence: all[0]!.sequence, previous: 0 }] },
          { outcome: 'done', positions: [{ sequence: all[1]!.sequence, previous: all[0]!.sequence }] },
        ]);
        expect(all[1]!.sequence).toBeGreaterThan(all[0]!.sequence);
        expect(await store.lastSequences(['s', 'none', 's'])).toEqual([all[1]!.sequence, 0, all[1]!.sequence]);
        expect(await store.findEvent(one.id)).toEqual(all[0]);
        expect(await store.findEvent('nobody')).toBeUndefined();
      });

      storeTest('are found by session, by job and by trace, page by page', async (store) => {
        const events = Array.from({ length: 60 }, (_, n) =>
          event({ sessionId: `s${n % 3}`, jobId: `j${n % 4}`, traceId: `t${n % 5}` }),
        );
        for (const one of events) await store.commit({ events: [one] });
        const where = (is: (n: number) => boolean): string[] => ids(events.filter((_, n) => is(n)));
        expect(ids(await store.readEvents({ sessionId: 's1', limit: 99 }))).toEqual(where((n) => n % 3 === 1));
        expect(ids(await store.readEvents({ jobId: 'j2', limit: 99 }))).toEqual(where((n) => n % 4 === 2));
        expect(ids(await store.readEvents({ traceId: 't3', limit: 99 }))).toEqual(where((n) => n % 5 === 3));
        expect(ids(await store.readEvents({ limit: 99 }))).toEqual(where(() => true));
        expect(ids(await store.readEvents({ sessionId: 'none', limit: 99 }))).toEqual([]);
        for (const query of [{}, { sessionId: 's1' }, { jobId: 'j2' }, { traceId: 't3' }]) {
          const paged: string[] = [];
          for (let after = 0; ; ) {
            const page = await store.readEvents({ ...query, after, limit: 7 });
            if (page.length === 0) break;
            expect(page.length).toBeLessThanOrEqual(7);
            paged.push(...ids(page));
            after = page.at(-1)!.sequence;
          }
          expect(paged).toEqual(ids(await store.readEvents({ ...query, limit: 99 })));
        }
      });

      storeTest('of one commit have the position of the event before them in their session', async (store) => {
        await store.commit({ events: [event({ sessionId: 'a' }), event({ sessionId: 'b' })] });
        const all = [event({ sessionId: 'a' }), event({ sessionId: 'b' }), event({ sessionId: 'a' }), event()];
        const result = await store.commit({ events: all });
        const [a, b] = await Promise.all(
          ['a', 'b'].map(async (sessionId) => {
            const found = await store.readEvents({ sessionId, limit: 9 });
            return found.map(({ sequence }) => sequence);
          }),
        );
        expect(result).toMatchObject({
          positions: [
            { sequence: a![1], previous: a![0] },
            { sequence: b![1], previous: b![0] },
            { sequence: a![2], previous: a![1] },
            { previous: 0 },
          ],
        });
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
        expect(await store.readEvents({ jobId: 'k', limit: 9 })).toEqual([]);
        expect(await store.readEvents({ jobId: 'j', limit: 9 })).toMatchObject([{ isTerminal: true }]);
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
        const lease = { worker: 'w', leaseMs: 4000 };
        const one = job({ state: 'running', attempt: 2, lease });
        const row = newRow(one, 1000);
        expect(row).toMatchObject({ leaseOwner: 'w', leaseExpiresAt: 5000, createdAt: 1000, dueAt: 1000 });
        await store.commit({ newJobs: [one] });
        await setNow(1500);
        const change = { jobId: one.jobId, attempt: 1, set: { state: 'completed' } } as const;
        const stale = await store.commit({ jobs: [change], events: [event({ id: 'never', jobId: one.jobId })] });
        expect(stale).toEqual({ outcome: 'fenced', jobId: one.jobId, found: row });
        expect(await store.findEvent('never')).toBeUndefined();
        expect(await store.commit({ jobs: [{ jobId: 'nobody', set: {} }] })).toEqual({
          ...{ outcome: 'fenced', jobId: 'nobody', found: undefined },
        });
        const states = ['queued'] as const;
        expect(await store.commit({ jobs: [{ jobId: one.jobId, states, set: {} }] })).toMatchObject({
          outcome: 'fenced',
        });
        expect(await store.commit({ jobs: [{ ...change, attempt: 2 }] })).toMatchObject({ outcome: 'done' });
        const ended = { state: 'completed', endedAt: 1500, leaseOwner: null, leaseExpiresAt: null };
        expect(await store.readJob(one.jobId)).toEqual({ ...row, ...ended });
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
        expect(await store.countQueued('small', 99)).toBe(3);
        expect(await store.readEvents({ sessionId: 's', limit: 99 })).toHaveLength(3);
        expect(await store.commit({ newJobs: [job({ queue: 'other' })], maxQueued: 3 })).toMatchObject({
          outcome: 'done',
        });
      });

      storeTest('change only the named columns', async (store) => {
        const one = job({ spec: 'a', status: 'b', state: 'running', lease: { worker: 'w', leaseMs: 9 } });
        const row = newRow(one, 1000);
        await store.commit({ newJobs: [one] });
        const set = (change: object) => store.commit({ jobs: [{ jobId: one.jobId, set: change }] });
        await setNow(2000);
        await set({ status: 'c' });
        expect(await store.readJob(one.jobId)).toEqual({ ...row, status: 'c' });
        await set({ state: 'blocked' });
        expect(await store.readJob(one.jobId)).toEqual({ ...row, status: 'c', state: 'blocked' });
        await set({ state: 'queued', delayMs: 30 });
        const released = { leaseOwner: null, leaseExpiresAt: null, dueAt: 2030 };
        expect(await store.readJob(one.jobId)).toEqual({ ...row, status: 'c', state: 'queued', ...released });
      });

      storeTest('of records only, without a value, expect a version and change nothing', async (store) => {
        const check = (expect: number) =>
          store.commit({ records: [{ scope: 'x', key: 'k', expect }], events: [event({ sessionId: 'checked' })] });
        expect(await check(0)).toMatchObject({ outcome: 'done' });
        expect(await store.readRecord('x', 'k')).toBeUndefined();
        await store.commit({ records: [{ scope: 'x', key: 'k', value: 'v', owner: 'o' }] });
        const found = { scope: 'x', key: 'k', value: 'v', version: 1, owner: 'o' };
        expect(await check(0)).toEqual({ outcome: 'conflict', scope: 'x', key: 'k', found });
        expect(await check(1)).toMatchObject({ outcome: 'done' });
        expect(await store.readRecord('x', 'k')).toEqual(found);
        expect(await store.readEvents({ sessionId: 'checked', limit: 9 })).toHaveLength(2);
      });
    });

    describe('jobs', () => {
      storeTest('are claimed once, by priority and then by time, and only when they are due', async (store) => {
        const jobs = [
          job({ jobId: 'later', delayMs: 5001 }),
          job({ jobId: 'never', delayMs: Number.POSITIVE_INFINITY }),
          job({ jobId: 'second', delayMs: 20 }),
          job({ jobId: 'first', delayMs: 10 }),
          job({ jobId: 'urgent', delayMs: 30, priority: 5 }),
          job({ jobId: 'elsewhere', queue: 'other' }),
          job({ jobId: 'blocked', state: 'blocked' }),
          job({ jobId: 'done', state: 'completed' }),
        ];
        await store.commit({ newJobs: jobs });
        expect(await store.countQueued('default', 99)).toBe(5);
        expect(await store.msUntilDue(['default'])).toBe(10);
        await setNow(6000);
        const claim = { queues: ['default'], leaseMs: 1000 };
        const claimed = await store.claimJobs({ ...claim, worker: 'w1', limit: 2 });
        const leased = { state: 'running', attempt: 1, leaseOwner: 'w1', leaseExpiresAt: 7000 };
        expect(claimed).toEqual([jobs[4]!, jobs[3]!].map((one) => ({ ...newRow(one, 1000), ...leased })));
        expect(await store.readJob('urgent')).toEqual(claimed[0]);
        expect(jobIds(await store.claimJobs({ ...claim, worker: 'w2', limit: 9 }))).toEqual(['second']);
        expect(await store.claimJobs({ ...claim, worker: 'w2', limit: 9 })).toEqual([]);
        expect(await store.msUntilDue(['default'])).toBe(1);
        expect(await store.msUntilDue(['nothing'])).toBeUndefined();
        await setNow(6001);
        expect(await store.msUntilDue(['default', 'other'])).toBe(0);
        const both = { ...claim, queues: ['other', 'default'], worker: 'w1', limit: 9 };
        expect(jobIds(await store.claimJobs(both)).toSorted()).toEqual(['elsewhere', 'later']);
      });

      storeTest('that are blocked are also claimed again when their lease has expired', async (store) => {
        const lease = { worker: 'w1', leaseMs: 1000 };
        await store.commit({ newJobs: [job({ jobId: 'j', state: 'blocked', attempt: 1, lease })] });
        const claim = { worker: 'w2', queues: ['default'], leaseMs: 9000, limit: 1 };
        expect(await store.msUntilDue(['default'])).toBe(1000);
        await setNow(1999);
        expect(await store.claimJobs(claim)).toEqual([]);
        await setNow(2000);
        expect(await store.claimJobs(claim)).toMatchObject([{ jobId: 'j', state: 'running', attempt: 2 }]);
      });

      storeTest('whose lease has expired are claimed again, and the previous worker is fenced off', async (store) => {
        await store.commit({ newJobs: [job({ jobId: 'j' })] });
        const claim = { queues: ['default'], limit: 9, leaseMs: 1000 };
        await store.claimJobs({ ...claim, worker: 'w1' });
        expect(await store.msUntilDue(['default'])).toBe(1000);
        await setNow(1999);
        expect(await store.claimJobs({ ...claim, worker: 'w2' })).toEqual([]);
        await setNow(2000);
        const taken = await store.claimJobs({ ...claim, worker: 'w2' });
        expect(taken).toMatchObject([{ jobId: 'j', attempt: 2, leaseOwner: 'w2', leaseExpiresAt: 3000 }]);
        const late = await store.commit({
          jobs: [{ jobId: 'j', attempt: 1, set: { state: 'completed' } }],
          events: [event({ jobId: 'j' })],
        });
        expect(late).toMatchObject({ outcome: 'fenced', found: { attempt: 2 } });
        const renewal = { leaseMs: 7000, jobs: [1, 2].map((attempt) => ({ jobId: 'j', attempt })) };
        expect(await store.renewLeases({ worker: 'w1', ...renewal })).toEqual([]);
        expect(await store.renewLeases({ worker: 'w2', ...renewal })).toEqual([{ jobId: 'j', attempt: 2 }]);
        expect(await store.readJob('j')).toEqual({ ...taken[0], leaseExpiresAt: 9000 });
      });

      storeTest('are claimed by one of many concurrent workers', async (store) => {
        await store.commit({ newJobs: Array.from({ length: 30 }, () => job()) });
        const claims = await Promise.all(
          Array.from({ length: 20 }, (_, n) =>
            store.claimJobs({ worker: `w${n}`, queues: ['default'], leaseMs: 9, limit: 2 }),
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
          job({ sessionId: 'a', principal: 'alice', state: 'failed' }),
          job({ sessionId: 'c', principal: 'alice' }),
        ];
        await store.commit({ newJobs: jobs });
        const list = async (query: object): Promise<string[]> => jobIds(await store.listJobs({ limit: 9, ...query }));
        expect(await store.listJobs({ limit: 9 })).toEqual(jobs.map((one) => newRow(one, 1000)));
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
              if ((await store.readJob(jobId)) === undefined)
                await store.commit({ newJobs: [job({ jobId, state, queue })] });
              else await store.commit({ jobs: [{ jobId, states, set: { state } }] });
              if (of === 9) await store.claimJobs({ worker: 'w', queues: ['a'], leaseMs: 9, limit: 1 });
            }
            await store.trim({ endedBefore: 1001 });
            const waiting = await store.listJobs({ states: ['queued'], limit: Number.POSITIVE_INFINITY });
            for (const name of ['a', 'b', 'c'])
              expect(await store.countQueued(name, 1000)).toBe(waiting.filter(({ queue }) => queue === name).length);
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

    describe('statistics', () => {
      storeTest('count the jobs that wait in each queue, and name the one that has waited longest', async (store) => {
        const jobs = [
          job({ jobId: 'a-2', queue: 'a', delayMs: 20, priority: 9 }),
          job({ jobId: 'a-1', queue: 'a', delayMs: 10 }),
          job({ jobId: 'a-later', queue: 'a', delayMs: 5000 }),
          job({ jobId: 'b-later', queue: 'b', delayMs: 5000 }),
          job({ jobId: 'c-running', queue: 'c', state: 'running', lease: { worker: 'w', leaseMs: 10 } }),
          job({ jobId: 'd-done', queue: 'd', state: 'completed' }),
        ];
        await store.commit({ newJobs: jobs });
        await setNow(2000);
        expect((await store.readStats()).queues).toEqual([
          { queue: 'a', queued: 3, due: 2, oldest: { jobId: 'a-1', dueAt: 1010 } },
          { queue: 'b', queued: 1, due: 0, oldest: undefined },
        ]);
        await store.claimJobs({ worker: 'w', queues: ['a'], leaseMs: 10, limit: 2 });
        expect((await store.readStats()).queues[0]).toEqual({ queue: 'a', queued: 1, due: 0, oldest: undefined });
      });

      storeTest('count the messages in each mailbox', async (store) => {
        const records = ['mail:w2', 'mail:w1', 'mail:w2', 'mails', 'mail', 'other'].map((scope, at) => ({
          ...{ scope, key: `k${at}`, value: 'v' },
        }));
        await store.commit({ records });
        expect((await store.readStats()).mailboxes).toEqual([
          { mailbox: 'mail:w1', unread: 1 },
          { mailbox: 'mail:w2', unread: 2 },
        ]);
        await store.commit({ records: [{ scope: 'mail:w1', key: 'k1', value: null }] });
        expect((await store.readStats()).mailboxes).toEqual([{ mailbox: 'mail:w2', unread: 2 }]);
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
        const old = job({ state: 'completed' });
        const recent = job({ state: 'completed' });
        const live = job();
        await store.commit({ newJobs: [old] });
        await setNow(1200);
        await store.commit({ newJobs: [recent, live] });
        for (const { jobId } of [old, recent, live])
          await store.commit({
            events: [event({ jobId, id: `of-${jobId}` }), event({ jobId, isTerminal: jobId !== live.jobId })],
            records: [{ scope: 'step', key: jobId, value: '', owner: jobId }],
          });
        expect(await store.trim({ endedBefore: 1200 })).toEqual({ jobs: 1, events: 2, records: 1 });
        expect(jobIds(await store.listJobs({ limit: 9 }))).toEqual(jobIds([recent, live]));
        expect(await store.readEvents({ jobId: old.jobId, limit: 9 })).toEqual([]);
        expect(await store.findEvent(`of-${old.jobId}`)).toBeUndefined();
        expect((await store.listRecords('step', { limit: 9 })).map(({ key }) => key)).toEqual(
          jobIds([recent, live]).toSorted(),
        );
        expect(await store.trim({ endedBefore: 1200 })).toEqual({ jobs: 0, events: 0, records: 0 });
      });

      storeTest('removes old data without a job, and the data of a session except its jobs', async (store) => {
        const records = [{ scope: 'command', key: 'old', value: '' }];
        await store.commit({ events: [event({ id: 'old' }), event({ id: 'job', jobId: 'j' })], records });
        await setNow(2000);
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
        const [last] = await store.lastSequences(['s']);
        await store.trim({ sessionId: 's' });
        const result = await store.commit({ events: [event()] });
        expect(result).toMatchObject({ outcome: 'done', positions: [{ previous: 0 }] });
        expect((await store.lastSequences(['s']))[0]).toBeGreaterThan(last!);
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

    if (openAgain === undefined) return;

    describe('with several processes', () => {
      const withStores = async (count: number, body: (stores: readonly ArcpStore[]) => Promise<void>): Promise<void> =>
        withStore(async (first) => {
          const others = await Promise.all(Array.from({ length: count - 1 }, () => openAgain()));
          try {
            await body([first, ...others]);
          } finally {
            await Promise.all(others.map((store) => store.close()));
          }
        });

      test.each<readonly [string, EventQuery, (w: number) => string]>([
        ['of a session', { sessionId: 's', limit: 9 }, () => 's'],
        ['of a job', { jobId: 'j', limit: 9 }, (w) => `s${w}`],
      ])('a reader %s that continues after the last number it has read misses nothing', async (_, query, sessionOf) => {
        await withStores(7, async ([reader, ...writers]) => {
          const read = await readWhileWriting(reader!, writers, query, sessionOf);
          expect(new Set(read).size).toBe(6 * 50);
          expect(read).toHaveLength(6 * 50);
        });
      });

      test('a commit tells the last event of the session, whichever process wrote it', async () => {
        await withStores(2, async ([one, two]) => {
          await one!.commit({ events: [event()] });
          await two!.commit({ events: [event(), event({ sessionId: 'other' })] });
          const result = await one!.commit({ events: [event()] });
          const [, before, last] = await one!.readEvents({ sessionId: 's', limit: 9 });
          expect(result).toMatchObject({ positions: [{ sequence: last!.sequence, previous: before!.sequence }] });
        });
      });

      test('each job is claimed by one of them, and they have one clock', async () => {
        await withStores(4, async (stores) => {
          await stores[0]!.commit({ newJobs: Array.from({ length: 40 }, () => job({ delayMs: 100 })) });
          await setNow(1100);
          const claimed: string[] = [];
          const claims = stores.map(async (store, n) => {
            for (;;) {
              const rows = await store.claimJobs({ worker: `w${n}`, queues: ['default'], leaseMs: 1000, limit: 3 });
              if (rows.length === 0) return;
              claimed.push(...jobIds(rows));
              for (const { leaseExpiresAt } of rows) expect(leaseExpiresAt).toBe(2100);
            }
          });
          await Promise.all(claims);
          expect(claimed).toHaveLength(40);
          expect(new Set(claimed).size).toBe(40);
        });
      });

      test('each one learns of the changes of another', async () => {
        await withStores(2, async ([one, two]) => {
          const changes: StoreChange[] = [];
          const stop = one!.watch((change) => changes.push(change));
          const learns = async (change: () => Promise<unknown>, told: (found: StoreChange) => boolean | undefined) => {
            changes.length = 0;
            await change();
            // A change without members means that anything may have changed.
            await vi.waitFor(
              () => expect(changes.some((found) => told(found) ?? Object.keys(found).length === 0)).toBe(true),
              { timeout: 20_000 },
            );
          };
          await learns(
            () => two!.commit({ events: [event({ id: 'first' }), event({ id: 'last' })] }),
            ({ sessions }) => sessions?.some(({ sessionId }) => sessionId === 's'),
          );
          const { sequence } = (await two!.findEvent('last'))!;
          for (const { sessions } of changes)
            if (sessions !== undefined) expect(sessions).toEqual([{ sessionId: 's', last: sequence }]);
          await learns(
            () => two!.commit({ newJobs: [job()] }),
            ({ queues }) => queues?.includes('default'),
          );
          await learns(
            () => two!.commit({ records: [{ scope: 'mail:w1', key: 'k', value: 'v' }] }),
            ({ mailboxes }) => mailboxes?.includes('mail:w1'),
          );
          stop();
          changes.length = 0;
          await two!.commit({ events: [event()] });
          await new Promise((resolve) => setTimeout(resolve, 50));
          expect(changes).toEqual([]);
        });
      });
    });
  });
}
