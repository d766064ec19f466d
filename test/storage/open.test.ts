/** Database files are private, are migrated, and are not changed if they belong to another program. */
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, test, vi } from 'vitest';
import type { Database } from '../../src/storage/database.js';
import type { Format } from '../../src/storage/migrate.js';
import { openDatabase } from '../../src/storage/open.js';
import { platformDriver } from '../../src/storage/platform.js';
import type { StoreError } from '../../src/text/store-error.js';
import { DRIVERS } from './drivers.js';
import { freshFiles } from './folder.js';

const FIRST = 'CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT';
const SECOND = `ALTER TABLE note ADD COLUMN author TEXT; UPDATE note SET author = 'unknown'`;
const FORMAT: Format = { name: 'notes', applicationId: 4711, migrations: [FIRST] };

const fresh = freshFiles();

function textsOf(database: Database): unknown[] {
  return database
    .prepare('SELECT text FROM note ORDER BY id')
    .all()
    .map((row) => row['text']);
}

describe.each(DRIVERS)('with %s', (_name, driver) => {
  const open = (file: string, format = FORMAT, busyTimeoutMs = 50) =>
    openDatabase(file, { format, driver, busyTimeoutMs });

  async function openError(file: string, format = FORMAT): Promise<StoreError> {
    const before = statSync(file).isFile() ? readFileSync(file) : null;
    const error = await open(file, format).then(
      (database) => database.close(),
      (thrown: unknown) => thrown as StoreError,
    );
    expect(error).toMatchObject({ name: 'StoreError', file });
    if (before !== null) expect(readFileSync(file).equals(before)).toBe(true);
    return error!;
  }

  test('data persists when the file is opened again', async () => {
    const file = fresh();
    const first = await open(file);
    const insert = first.prepare('INSERT INTO note (text) VALUES (?)');
    insert.run('one');
    insert.run('two');
    first.close();
    const second = await open(file);
    expect(textsOf(second)).toEqual(['one', 'two']);
    second.close();
  });

  test('statements return all rows, iterate over them, or return the first', async () => {
    const database = await open(fresh());
    database.exec(`INSERT INTO note (text) VALUES ('a'), ('b'), ('c')`);
    const select = database.prepare('SELECT id, text FROM note WHERE id >= ? ORDER BY id');
    expect(select.all(2)).toMatchObject([
      { id: 2, text: 'b' },
      { id: 3, text: 'c' },
    ]);
    expect([...select.iterate(1)].map((row) => row['text'])).toEqual(['a', 'b', 'c']);
    expect(select.get(3)).toMatchObject({ id: 3, text: 'c' });
    expect(select.get(2)).toMatchObject({ id: 2, text: 'b' });
    expect(select.all(3)).toMatchObject([{ id: 3, text: 'c' }]);
    expect(select.get(4)).toBe(undefined);
    expect(database.prepare('SELECT ? AS value').get(null)).toMatchObject({ value: null });
    database.close();
  });

  test('a transaction is atomic', async () => {
    const database = await open(fresh());
    const insert = database.prepare('INSERT INTO note (text) VALUES (?)');
    expect(
      database.transaction(() => {
        insert.run('kept');
        return 42;
      }),
    ).toBe(42);
    expect(() =>
      database.transaction(() => {
        insert.run('lost');
        insert.run('kept');
      }),
    ).toThrow(/UNIQUE/);
    expect(() =>
      database.transaction(() => {
        insert.run('also lost');
        throw new Error('on purpose');
      }),
    ).toThrow('on purpose');
    expect(textsOf(database)).toEqual(['kept']);
    database.transaction(() => insert.run('later'));
    expect(textsOf(database)).toEqual(['kept', 'later']);
    database.close();
  });

  test('new files are accessible to their owner only', async () => {
    const file = fresh('private');
    const database = await open(file);
    const names = readdirSync(path.dirname(file)).filter((name) => name.startsWith(path.basename(file)));
    expect(names.length).toBeGreaterThan(1);
    for (const name of names) expect(statSync(path.join(path.dirname(file), name)).mode & 0o777).toBe(0o600);
    database.close();
  });

  test('the mode of an existing file does not change', async () => {
    const file = fresh();
    (await open(file)).close();
    chmodSync(file, 0o640);
    (await open(file)).close();
    expect(statSync(file).mode & 0o777).toBe(0o640);
  });

  test('files use a write-ahead log and synchronous commits', async () => {
    const database = await open(fresh());
    expect(database.prepare('PRAGMA journal_mode').get()).toMatchObject({ journal_mode: 'wal' });
    expect(database.prepare('PRAGMA synchronous').get()).toMatchObject({ synchronous: 1 });
    expect(database.prepare('PRAGMA foreign_keys').get()).toMatchObject({ foreign_keys: 1 });
    database.close();
    const safe = await openDatabase(fresh(), { format: FORMAT, driver, powerSafe: true });
    expect(safe.prepare('PRAGMA synchronous').get()).toMatchObject({ synchronous: 2 });
    safe.close();
  });

  test('a file of an earlier version is migrated once', async () => {
    const file = fresh();
    const old = await open(file);
    old.exec(`INSERT INTO note (text) VALUES ('old')`);
    old.close();
    const latest = { ...FORMAT, migrations: [FIRST, SECOND] };
    for (let times = 0; times < 2; times++) {
      const database = await open(file, latest);
      expect(database.prepare('SELECT text, author FROM note').all()).toMatchObject([
        { text: 'old', author: 'unknown' },
      ]);
      expect(database.prepare('PRAGMA user_version').get()).toMatchObject({ user_version: 2 });
      database.close();
    }
  });

  test('a migration that fails has no effect', async () => {
    const file = fresh();
    (await open(file)).close();
    const broken = { ...FORMAT, migrations: [FIRST, `${SECOND}; INSERT INTO nowhere VALUES (1)`] };
    await expect(open(file, broken)).rejects.toMatchObject({ reason: 'failed' });
    const database = await open(file);
    expect(database.prepare('PRAGMA table_info(note)').all()).toHaveLength(2);
    database.close();
  });

  test('a file of a later version is rejected', async () => {
    const file = fresh();
    (await open(file, { ...FORMAT, migrations: [FIRST, SECOND] })).close();
    expect(await openError(file)).toMatchObject({ reason: 'newer', message: expect.stringContaining('later version') });
  });

  test.each([
    ['text', 'these are my notes\n'.repeat(300)],
    ['one byte', 'x'],
    ['the start of a signature', 'SQLite format'],
  ])('a file of %s is rejected and not changed', async (_what, content) => {
    const file = fresh();
    writeFileSync(file, content);
    expect(await openError(file)).toMatchObject({ reason: 'foreign' });
    expect(readdirSync(path.dirname(file))).not.toContain(`${path.basename(file)}-wal`);
  });

  test('a database of another program is rejected and not changed', async () => {
    const unmarked = fresh();
    const other = new DatabaseSync(unmarked);
    other.exec('CREATE TABLE photo (id INTEGER)');
    other.close();
    expect(await openError(unmarked)).toMatchObject({ reason: 'foreign' });
    const marked = fresh();
    (await open(marked, { ...FORMAT, applicationId: 4712 })).close();
    expect(await openError(marked)).toMatchObject({ reason: 'foreign' });
  });

  test('a damaged file is rejected and not changed', async () => {
    const garbled = fresh();
    writeFileSync(garbled, `SQLite format 3\0${'garbage'.repeat(2000)}`);
    expect(await openError(garbled)).toMatchObject({ reason: 'foreign' });
    const [whole, cut] = [fresh(), fresh()];
    (await open(whole)).close();
    copyFileSync(whole, cut);
    truncateSync(cut, 4096);
    expect(await openError(cut)).toMatchObject({ reason: 'corrupt' });
  });

  test('the error of a path that cannot be opened has the reason', async () => {
    const folder = fresh('folder');
    mkdirSync(folder);
    expect(await openError(folder)).toMatchObject({
      reason: 'unavailable',
      message: `${folder} cannot be opened: it is a folder`,
    });
    const nowhere = path.join(folder, 'missing', 'file.db');
    await expect(open(nowhere)).rejects.toMatchObject({
      reason: 'unavailable',
      message: `${nowhere} cannot be opened: there is no such folder`,
    });
  });

  test('special names of SQLite are names of files', async () => {
    const folder = fresh('folder');
    mkdirSync(folder);
    const before = process.cwd();
    const cwd = vi.spyOn(process, 'cwd').mockReturnValue(folder);
    try {
      (await open(':memory:')).close();
      (await open('file:x?mode=memory')).close();
      expect(readdirSync(folder)).toEqual(expect.arrayContaining([':memory:', 'file:x?mode=memory']));
    } finally {
      cwd.mockRestore();
    }
    expect(process.cwd()).toBe(before);
  });

  test('a writer that waits longer than its timeout for another one gets an error', async () => {
    const file = fresh();
    const holder = await open(file);
    const waiter = await open(file);
    holder.transaction(() => {
      expect(() => waiter.transaction(() => {})).toThrow(/locked/);
      expect(textsOf(waiter)).toEqual([]);
    });
    waiter.transaction(() => {});
    holder.close();
    waiter.close();
  });

  test('a file that is locked exclusively is busy', async () => {
    const file = fresh();
    // Locks within one process only work within one copy of SQLite.
    const other = (driver ?? (await platformDriver()))(file);
    other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE t (a)');
    await expect(open(file, FORMAT, 20)).rejects.toMatchObject({ reason: 'busy' });
    other.close();
  });

  test('a closed file contains all data', async () => {
    const file = fresh();
    const database = await open(file);
    database.exec(`INSERT INTO note (text) VALUES ('moved')`);
    database.close();
    const copy = fresh();
    copyFileSync(file, copy);
    const opened = await open(copy);
    expect(textsOf(opened)).toEqual(['moved']);
    opened.close();
  });

  test('a statement of which one row was read does not block writers', async () => {
    const file = fresh();
    const [one, other] = [await open(file), await open(file)];
    one.exec(`INSERT INTO note (text) VALUES ('a'), ('b')`);
    expect(one.prepare('SELECT text FROM note ORDER BY id').get()).toMatchObject({ text: 'a' });
    other.exec(`INSERT INTO note (text) VALUES ('c')`);
    one.transaction(() => one.exec(`INSERT INTO note (text) VALUES ('d')`));
    expect(textsOf(other)).toEqual(['a', 'b', 'c', 'd']);
    one.close();
    other.close();
  });

  test('several connections can create a file at the same time', async () => {
    const file = fresh();
    const databases = await Promise.all(Array.from({ length: 8 }, () => open(file)));
    for (const [index, database] of databases.entries()) {
      database.prepare('INSERT INTO note (text) VALUES (?)').run(`${index}`);
    }
    expect(textsOf(databases[0]!)).toHaveLength(8);
    for (const database of databases) database.close();
  });
});

test('an infinite timeout is as long as SQLite allows', async () => {
  const database = await openDatabase(fresh(), { format: FORMAT, busyTimeoutMs: Number.POSITIVE_INFINITY });
  expect(database.prepare('PRAGMA busy_timeout').get()).toMatchObject({ timeout: 2 ** 31 - 1 });
  database.close();
});

test('the name of the file and the timeout are checked', async () => {
  await expect(openDatabase('', { format: FORMAT })).rejects.toThrow(TypeError);
  await expect(openDatabase(fresh(), { format: FORMAT, busyTimeoutMs: -1 })).rejects.toThrow(TypeError);
  await expect(openDatabase(fresh(), { format: FORMAT, busyTimeoutMs: Number.NaN })).rejects.toThrow(TypeError);
});

test('loading the default driver emits no warning, and does not suppress other warnings', async () => {
  const emit = process.emitWarning;
  const onWarning = vi.fn();
  process.on('warning', onWarning);
  await platformDriver();
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', onWarning);
  expect(onWarning).not.toHaveBeenCalled();
  expect(process.emitWarning).toBe(emit);
});
