import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'libsql';
import { afterAll, expect, test, vi } from 'vitest';
import { memoryStore } from '../../src/arcp/store/memory.js';
import { sqliteStore } from '../../src/arcp/store/sqlite.js';
import { RUNTIME_FORMAT } from '../../src/arcp/store/sqlite-format.js';
import { betterSqlite3 } from '../../src/storage/adapters.js';
import { platformDriver } from '../../src/storage/platform.js';
import { describeStore } from './store-contract.js';

const folder = mkdtempSync(path.join(tmpdir(), 'arcp-store-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
let clock = 0;
const now = (): number => clock;
const setNow = (moment: number): void => {
  clock = moment;
};
// Stores measure time: it goes with the clock that is set.
vi.spyOn(performance, 'now').mockImplementation(now);
const newFile = (): string => path.join(folder, `${++files}.db`);

describeStore('in memory', { open: async () => memoryStore({ now }), setNow });
describeStore('in a SQLite file', { open: () => sqliteStore(newFile(), { now }), setNow });
describeStore('in a SQLite file, by a driver of the other kind', {
  open: () => sqliteStore(newFile(), { now, driver: betterSqlite3(Database) }),
  setNow,
});

test('a file of the first format is brought up to date, with all that is in it', async () => {
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
