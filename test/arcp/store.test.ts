import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'libsql';
import { afterAll, expect, test, vi } from 'vitest';
import { memoryStore } from '../../src/arcp/store/memory.js';
import { type SqliteStoreOptions, sqliteStore } from '../../src/arcp/store/sqlite.js';
import { jobsQuery, RUNTIME_FORMAT } from '../../src/arcp/store/sqlite-schema.js';
import type { ArcpStore, JobQuery } from '../../src/arcp/store/store.js';
import { betterSqlite3 } from '../../src/storage/adapters.js';
import { platformDriver } from '../../src/storage/platform.js';
import { describeStore, event, job } from './store-contract.js';

const folder = mkdtempSync(path.join(tmpdir(), 'arcp-store-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
let clock = 0;
const now = (): number => clock;
const setNow = (moment: number): void => {
  clock = moment;
};
// Stores use the monotonic clock, which follows the clock that the test sets.
vi.spyOn(performance, 'now').mockImplementation(now);
const newFile = (): string => path.join(folder, `${++files}.db`);

let file = '';
const openNew = (options: SqliteStoreOptions = {}): Promise<ArcpStore> => {
  file = newFile();
  return sqliteStore(file, { now, ...options });
};
/** A process whose wall clock is an hour ahead. */
const openAgain = (): Promise<ArcpStore> => sqliteStore(file, { now: () => now() + 3_600_000 });

describeStore('in memory', { open: async () => memoryStore({ now }), setNow });
describeStore('in a SQLite file', { open: openNew, openAgain, setNow });
describeStore('in a SQLite file, by a driver of the other kind', {
  open: () => openNew({ driver: betterSqlite3(Database) }),
  openAgain,
  setNow,
});

test('a file of the first format is migrated with its contents', async () => {
  const file = newFile();
  const database = (await platformDriver())(file);
  const [first] = RUNTIME_FORMAT.migrations;
  database.exec(`${first}; PRAGMA application_id = ${RUNTIME_FORMAT.applicationId}; PRAGMA user_version = 1;`);
  database.exec(`INSERT INTO event (id, type, session_id, job_id, trace_id, terminal, body, at)
    VALUES ('a', 'log', 's', 'j', 't', 0, '{}', 1), ('b', 'log', 's', NULL, 't', 0, '{}', 1), ('c', 'log', 's', 'j', 'u', 0, '{}', 1)`);
  database.close();
  const store = await sqliteStore(file);
  await store.commit({ events: [{ id: 'd', type: 'log', sessionId: 's', jobId: 'k', traceId: 't', body: '{}' }] });
  const found = await store.readEvents({ traceId: 't', limit: 9 });
  await store.close();
  expect(found.map(({ id }) => id)).toEqual(['a', 'b', 'd']);
});

test('a file of the second format is migrated: queued jobs are counted, and sessions own their records', async () => {
  const file = newFile();
  const database = (await platformDriver())(file);
  for (const sql of RUNTIME_FORMAT.migrations.slice(0, 2)) database.exec(sql);
  database.exec(`PRAGMA application_id = ${RUNTIME_FORMAT.applicationId}; PRAGMA user_version = 2;`);
  for (const [id, state] of [
    ['a', 'queued'],
    ['b', 'queued'],
    ['c', 'completed'],
  ])
    database.exec(`INSERT INTO job (job_id, session_id, principal, queue, priority, state, attempt, run_after, spec, status, created_at)
      VALUES ('${id}', 's', 'p', 'default', 0, '${state}', 0, 0, '{}', '{}', 0)`);
  database.exec(
    `INSERT INTO record (scope, key, value, version, at) VALUES ('session', 's', '{}', 1, 1), ('x', 'y', '{}', 1, 1)`,
  );
  database.close();
  const store = await sqliteStore(file);
  expect(await store.countQueued('default', 99)).toBe(2);
  expect((await store.listJobs({ principal: 'p', states: ['queued'], limit: 9 })).map(({ jobId }) => jobId)).toEqual([
    'a',
    'b',
  ]);
  await store.trim({ storedBefore: 2 });
  expect(await store.readRecord('session', 's')).toMatchObject({ owner: 's' });
  expect(await store.readRecord('x', 'y')).toBeUndefined();
  await store.close();
});

test('jobs are listed by an index, whichever filters are set', async () => {
  const file = newFile();
  await (await sqliteStore(file)).close();
  const database = (await platformDriver())(file);
  const choices = <K extends keyof JobQuery>(name: K, value: JobQuery[K]): Partial<JobQuery>[] => [
    {},
    { [name]: value },
  ];
  const plans: Record<string, readonly string[]> = {};
  for (const states of [
    ...choices('states', ['queued']),
    ...choices('states', ['queued', 'paused', 'failed']).slice(1),
  ])
    for (const sessionId of choices('sessionId', 's'))
      for (const principal of choices('principal', 'p'))
        for (const after of choices('after', 'j')) {
          const query = { ...states, ...sessionId, ...principal, ...after, limit: 10 };
          const { sql, values } = jobsQuery(query);
          const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
          plans[Object.keys(query).join(' ')] = plan.map(({ detail }) => String(detail));
        }
  database.close();
  const isFiltered = (name: string): boolean => /states|sessionId|principal/.test(name);
  for (const [name, plan] of Object.entries(plans)) {
    expect(
      plan.filter((detail) => /TEMP B-TREE/.test(detail)),
      name,
    ).toEqual([]);
    if (isFiltered(name))
      expect(
        plan.filter((detail) => /^SCAN job/.test(detail)),
        name,
      ).toEqual([]);
  }
});

test('trimming yields to the event loop, and releases the space of the file and of the WAL', async () => {
  const file = newFile();
  clock = 1000;
  const store = await sqliteStore(file, { now });
  const body = 'x'.repeat(2000);
  const jobs = Array.from({ length: 20 }, () => job({ state: 'completed' }));
  await store.commit({ newJobs: jobs });
  const events = jobs.flatMap(({ jobId }) => Array.from({ length: 200 }, () => event({ jobId, body })));
  await store.commit({ events: [...events, ...Array.from({ length: 1000 }, () => event({ body }))] });
  clock = 3000;
  let [turns, isTrimming] = [0, true];
  const count = (): void => {
    turns++;
    if (isTrimming) setImmediate(count);
  };
  const trimming = store.trim({ endedBefore: 2000, storedBefore: 2000 });
  setImmediate(count);
  const kept = store.commit({ events: [event({ id: 'meanwhile' })] });
  expect(await trimming).toEqual({ jobs: 20, events: 5000, records: 0 });
  isTrimming = false;
  await kept;
  // Each batch of 500 rows takes its own turn of the event loop.
  expect(turns).toBeGreaterThanOrEqual(10);
  expect(statSync(file).size).toBeLessThan(500_000);
  expect(statSync(`${file}-wal`).size).toBe(0);
  expect((await store.readEvents({ limit: 9 })).map(({ id }) => id)).toEqual(['meanwhile']);
  await store.close();
});
