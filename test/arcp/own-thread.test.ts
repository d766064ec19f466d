/** Stores in a SQLite file that has a thread of its own. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type * as Sqlite from '../../src/arcp/store/sqlite.js';
import type { ArcpStore } from '../../src/arcp/store/store.js';
import { betterSqlite3 } from '../../src/storage/adapters.js';
import { describeStore, event, job } from './store-contract.js';

const folder = mkdtempSync(path.join(tmpdir(), 'arcp-thread-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let sqliteStore: typeof Sqlite.sqliteStore;
// A thread of Node loads JavaScript only.
beforeAll(async () => {
  symlinkSync(path.resolve('node_modules'), path.join(folder, 'node_modules'));
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
  await build({
    entryPoints: ['sqlite', 'sqlite-thread'].map((name) => path.resolve(`src/arcp/store/${name}.ts`)),
    ...{ outdir: folder, platform: 'node', format: 'esm', bundle: true, splitting: true, packages: 'external' },
  });
  ({ sqliteStore } = (await import(pathToFileURL(path.join(folder, 'sqlite.js')).href)) as typeof Sqlite);
});

let files = 0;
let clock = 0;
const now = (): number => clock;
vi.spyOn(performance, 'now').mockImplementation(now);
let file = '';
const newFile = (): string => path.join(folder, `${++files}.db`);

describeStore('in a SQLite file with its own thread', {
  open: () => {
    file = newFile();
    return sqliteStore(file, { now, ownThread: true });
  },
  openAgain: () => sqliteStore(file, { now: () => now() + 3_600_000 }),
  setNow: (moment) => {
    clock = moment;
  },
});

/** Opens a store, and returns the thread that it starts. */
async function openWithThread(name: string): Promise<{ readonly store: ArcpStore; readonly thread: Worker }> {
  const post = vi.spyOn(Worker.prototype, 'postMessage');
  const store = await sqliteStore(name, { now, ownThread: true });
  await store.readStats();
  const thread = post.mock.contexts[0] as Worker;
  post.mockRestore();
  return { store, thread };
}

test('if the thread ends, calls fail, and what was acknowledged is stored', async () => {
  const name = newFile();
  const { store, thread } = await openWithThread(name);
  const acknowledged = event();
  await store.commit({ events: [acknowledged] });
  const committing = store.commit({ newJobs: [job()] });
  await new Promise(setImmediate);
  const reading = store.readJob('j');
  void thread.terminate();
  const outcomes = await Promise.allSettled([committing, reading]);
  // The thread may have answered before its end.
  const reasons = outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.reason : 'done'));
  expect(['outcome-unknown', 'done']).toContain(reasons[0]);
  expect(reasons[1]).toBe('unavailable');
  await expect(store.commit({ events: [event()] })).rejects.toMatchObject({
    code: 'store-unavailable',
    message: `${name}: the thread of the store has ended; open the file again`,
  });
  await store.close();

  const again = await sqliteStore(name, { now, ownThread: true });
  expect(await again.findEvent(acknowledged.id)).toMatchObject(acknowledged);
  await again.close();
});

test('closing stores earlier commits, and ends the thread', async () => {
  const name = newFile();
  const { store, thread } = await openWithThread(name);
  const ended = new Promise((resolve) => thread.once('exit', resolve));
  const commits = Array.from({ length: 300 }, () => store.commit({ events: [event()] }));
  await store.close();
  await ended;
  expect((await Promise.all(commits)).map(({ outcome }) => outcome)).toEqual(commits.map(() => 'done'));
});

test('the store keeps a program running while calls are pending, and not otherwise', async () => {
  const program = path.join(folder, 'program.mjs');
  writeFileSync(
    program,
    `import { sqliteStore } from './sqlite.js';
     const [closed, open] = await Promise.all(process.argv.slice(2).map((file) => sqliteStore(file, { ownThread: true })));
     const { outcome } = await closed.commit({ records: [{ scope: 's', key: 'k', value: 'v' }] });
     await closed.close();
     console.log(outcome, await open.lastSequences(['s']));`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, [program, newFile(), newFile()]);
  expect(stdout).toBe('done [ 0 ]\n');
});

test('a file that cannot be opened, and a driver, are refused as without a thread', async () => {
  const name = newFile();
  writeFileSync(name, 'This is no database, although it is longer than the header of one. '.repeat(9));
  const foreign = { code: 'store-foreign', file: name, message: `${name} is not a database; it was not changed` };
  await expect(sqliteStore(name, { ownThread: true })).rejects.toMatchObject(foreign);
  await expect(sqliteStore(name)).rejects.toMatchObject(foreign);
  const driver = betterSqlite3(class {} as never);
  await expect(sqliteStore(newFile(), { ownThread: true, driver })).rejects.toThrow(TypeError);
});
