import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'libsql';
import { afterAll } from 'vitest';
import { memoryStore } from '../../src/arcp/store/memory.js';
import { sqliteStore } from '../../src/arcp/store/sqlite.js';
import { betterSqlite3 } from '../../src/storage/adapters.js';
import { describeStore } from './store-contract.js';

const folder = mkdtempSync(path.join(tmpdir(), 'arcp-store-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
let clock = 0;
const now = (): number => clock;
const setNow = (moment: number): void => {
  clock = moment;
};
const newFile = (): string => path.join(folder, `${++files}.db`);

describeStore('in memory', { open: async () => memoryStore({ now }), setNow });
describeStore('in a SQLite file', { open: () => sqliteStore(newFile(), { now }), setNow });
describeStore('in a SQLite file, by a driver of the other kind', {
  open: () => sqliteStore(newFile(), { now, driver: betterSqlite3(Database) }),
  setNow,
});
