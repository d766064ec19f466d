/** Stores in a SQLite file that has a thread of its own. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { build, type Plugin } from 'esbuild';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type * as Sqlite from '../../src/arcp/store/sqlite.js';
import type { ArcpStore, TrimPolicy } from '../../src/arcp/store/store.js';
import { betterSqlite3 } from '../../src/storage/adapters.js';
import { describeStore, event, job } from './store-contract.js';

const folder = mkdtempSync(path.join(tmpdir(), 'arcp-thread-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Compiles the store into a folder, since a thread of Node loads JavaScript only. */
async function compileInto(outdir: string, plugins: Plugin[] = []): Promise<typeof Sqlite> {
  await build({
    entryPoints: ['sqlite', 'sqlite-thread'].map((name) => path.resolve(`src/arcp/store/${name}.ts`)),
    ...{ outdir, plugins, platform: 'node', format: 'esm', bundle: true, splitting: true, packages: 'external' },
  });
  return (await import(pathToFileURL(path.join(outdir, 'sqlite.js')).href)) as typeof Sqlite;
}

let sqliteStore: typeof Sqlite.sqliteStore;
beforeAll(async () => {
  symlinkSync(path.resolve('node_modules'), path.join(folder, 'node_modules'));
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
  ({ sqliteStore } = await compileInto(folder));
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
  // While the thread is idle: a driver may end the whole process if its thread ends within a call of it.
  const committing = store.commit({ newJobs: [job()] });
  const reading = store.readJob('j');
  void thread.terminate();
  const outcomes = await Promise.allSettled([committing, reading]);
  // The thread may have answered before its end.
  const reasons = outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.reason : 'done'));
  expect(['outcome-unknown', 'done']).toContain(reasons[0]);
  expect(reasons[1]).toBe('unavailable');
  await expect(store.commit({ events: [event()] })).rejects.toMatchObject({
    code: 'store-closed',
    message: `${name}: the thread of the store has ended; open the file again`,
  });
  await store.close();

  const again = await sqliteStore(name, { now, ownThread: true });
  expect(await again.findEvent(acknowledged.id)).toMatchObject(acknowledged);
  await again.close();
});

test('a call whose arguments cannot be sent fails alone', async () => {
  const name = newFile();
  const store = await sqliteStore(name, { now, ownThread: true });
  const sent = event();
  const unsendable = { endedBefore: 0, storedBefore: () => 0 } as unknown as TrimPolicy;
  const [before, failed, after] = await Promise.allSettled([
    store.readJob('j'),
    store.trim(unsendable),
    store.commit({ events: [sent] }),
  ]);
  expect([before.status, after.status]).toEqual(['fulfilled', 'fulfilled']);
  expect(failed).toMatchObject({
    reason: { code: 'store-failed', message: `${name}: an argument of trim cannot be sent to the thread of the store` },
  });
  await expect(store.trim(unsendable)).rejects.toMatchObject({
    code: 'store-failed',
    cause: { name: 'DataCloneError' },
  });
  expect(await store.findEvent(sent.id)).toMatchObject(sent);
  await store.close();
});

test('a relative path is that of the call', async () => {
  const name = newFile();
  const directory = process.cwd();
  const opening = sqliteStore(path.relative(directory, name), { now, ownThread: true });
  process.chdir(folder);
  const store = await opening.finally(() => process.chdir(directory));
  expect(existsSync(name)).toBe(true);
  await store.close();
});

/** Replaces the driver of the platform by one that does not close files. */
const withoutClosing: Plugin = {
  name: 'without closing',
  setup: ({ onLoad }) =>
    onLoad({ filter: /storage.platform\.ts$/ }, ({ path: replaced }) => ({
      resolveDir: path.dirname(replaced),
      contents: `import { DatabaseSync } from '@photostructure/sqlite';
        import { nodeSqlite } from './adapters.js';
        const close = () => { throw new Error('not closed'); };
        export const platformDriver = async () => (file) => ({ ...nodeSqlite(DatabaseSync)(file), close });`,
    })),
};

test('a store whose file cannot be closed is closed, and its thread ends', async () => {
  const own = await compileInto(path.join(folder, 'without-closing'), [withoutClosing]);
  const store = await own.sqliteStore(newFile(), { now, ownThread: true });
  await store.commit({ events: [event()] });
  await store.close();
  await expect(store.readStats()).rejects.toMatchObject({ code: 'store-closed', message: 'The store is closed' });
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
