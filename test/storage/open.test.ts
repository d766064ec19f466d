/** Files are opened privately, upgraded, and left alone when they belong to somebody else. */
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
const SECOND = `ALTER TABLE note ADD COLUMN author TEXT; UPDATE note SET author = 'nobody'`;
const FORMAT: Format = { name: 'notes', applicationId: 4711, migrations: [FIRST] };

const fresh = freshFiles();

function texts(database: Database): unknown[] {
  return database
    .prepare('SELECT text FROM note ORDER BY id')
    .all()
    .map((row) => row['text']);
}

describe.each(DRIVERS)('with %s', (_name, driver) => {
  const open = (file: string, format = FORMAT, busyTimeout = 50) => openDatabase(file, { format, driver, busyTimeout });

  async function refusal(file: string, format = FORMAT): Promise<StoreError> {
    const before = statSync(file).isFile() ? readFileSync(file) : null;
    const error = await open(file, format).then(
      (database) => database.close(),
      (thrown: unknown) => thrown as StoreError,
    );
    expect(error).toMatchObject({ name: 'StoreError', file });
    if (before !== null) expect(readFileSync(file).equals(before)).toBe(true);
    return error!;
  }

  test('what was written is there when the file is opened again', async () => {
    const file = fresh();
    const first = await open(file);
    const insert = first.prepare('INSERT INTO note (text) VALUES (?)');
    insert.run('one');
    insert.run('two');
    first.close();
    const second = await open(file);
    expect(texts(second)).toEqual(['one', 'two']);
    second.close();
  });

  test('statements give rows at once, one by one, or the first', async () => {
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

  test('a transaction keeps all or nothing', async () => {
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
        insert.run('lost, too');
        throw new Error('on purpose');
      }),
    ).toThrow('on purpose');
    expect(texts(database)).toEqual(['kept']);
    database.transaction(() => insert.run('later'));
    expect(texts(database)).toEqual(['kept', 'later']);
    database.close();
  });

  test('the files can be read and written by their owner only', async () => {
    const file = fresh('private');
    const database = await open(file);
    const names = readdirSync(path.dirname(file)).filter((name) => name.startsWith(path.basename(file)));
    expect(names.length).toBeGreaterThan(1);
    for (const name of names) expect(statSync(path.join(path.dirname(file), name)).mode & 0o777).toBe(0o600);
    database.close();
  });

  test('the rights of a file that was there stay', async () => {
    const file = fresh();
    (await open(file)).close();
    chmodSync(file, 0o640);
    (await open(file)).close();
    expect(statSync(file).mode & 0o777).toBe(0o640);
  });

  test('a write-ahead log is kept, and a commit is synchronous', async () => {
    const database = await open(fresh());
    expect(database.prepare('PRAGMA journal_mode').get()).toMatchObject({ journal_mode: 'wal' });
    expect(database.prepare('PRAGMA synchronous').get()).toMatchObject({ synchronous: 1 });
    expect(database.prepare('PRAGMA foreign_keys').get()).toMatchObject({ foreign_keys: 1 });
    database.close();
    const safe = await openDatabase(fresh(), { format: FORMAT, driver, powerSafe: true });
    expect(safe.prepare('PRAGMA synchronous').get()).toMatchObject({ synchronous: 2 });
    safe.close();
  });

  test('an older file is brought up to date, once', async () => {
    const file = fresh();
    const old = await open(file);
    old.exec(`INSERT INTO note (text) VALUES ('old')`);
    old.close();
    const latest = { ...FORMAT, migrations: [FIRST, SECOND] };
    for (let times = 0; times < 2; times++) {
      const database = await open(file, latest);
      expect(database.prepare('SELECT text, author FROM note').all()).toMatchObject([
        { text: 'old', author: 'nobody' },
      ]);
      expect(database.prepare('PRAGMA user_version').get()).toMatchObject({ user_version: 2 });
      database.close();
    }
  });

  test('a migration that fails changes nothing', async () => {
    const file = fresh();
    (await open(file)).close();
    const broken = { ...FORMAT, migrations: [FIRST, `${SECOND}; INSERT INTO nowhere VALUES (1)`] };
    await expect(open(file, broken)).rejects.toMatchObject({ reason: 'failed' });
    const database = await open(file);
    expect(database.prepare('PRAGMA table_info(note)').all()).toHaveLength(2);
    database.close();
  });

  test('a file of a later version is refused', async () => {
    const file = fresh();
    (await open(file, { ...FORMAT, migrations: [FIRST, SECOND] })).close();
    expect(await refusal(file)).toMatchObject({ reason: 'newer', message: expect.stringContaining('later version') });
  });

  test.each([
    ['text', 'these are my notes\n'.repeat(300)],
    ['one byte', 'x'],
    ['the start of a signature', 'SQLite format'],
  ])('a file of %s is refused and left as it was', async (_what, content) => {
    const file = fresh();
    writeFileSync(file, content);
    expect(await refusal(file)).toMatchObject({ reason: 'foreign' });
    expect(readdirSync(path.dirname(file))).not.toContain(`${path.basename(file)}-wal`);
  });

  test('a database of another program is refused and left as it was', async () => {
    const unmarked = fresh();
    const other = new DatabaseSync(unmarked);
    other.exec('CREATE TABLE photo (id INTEGER)');
    other.close();
    expect(await refusal(unmarked)).toMatchObject({ reason: 'foreign' });
    const marked = fresh();
    (await open(marked, { ...FORMAT, applicationId: 4712 })).close();
    expect(await refusal(marked)).toMatchObject({ reason: 'foreign' });
  });

  test('a damaged file is refused and left as it was', async () => {
    const garbled = fresh();
    writeFileSync(garbled, `SQLite format 3\0${'garbage'.repeat(2000)}`);
    expect(await refusal(garbled)).toMatchObject({ reason: 'foreign' });
    const [whole, cut] = [fresh(), fresh()];
    (await open(whole)).close();
    copyFileSync(whole, cut);
    truncateSync(cut, 4096);
    expect(await refusal(cut)).toMatchObject({ reason: 'corrupt' });
  });

  test('what cannot be opened is told in words', async () => {
    const folder = fresh('folder');
    mkdirSync(folder);
    expect(await refusal(folder)).toMatchObject({
      reason: 'unavailable',
      message: `${folder} cannot be opened: it is a folder`,
    });
    const nowhere = path.join(folder, 'missing', 'file.db');
    await expect(open(nowhere)).rejects.toMatchObject({
      reason: 'unavailable',
      message: `${nowhere} cannot be opened: there is no such folder`,
    });
  });

  test('names that mean something else to SQLite are names of files', async () => {
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

  test('while another writes, a writer waits for its time-out and is told', async () => {
    const file = fresh();
    const holder = await open(file);
    const waiter = await open(file);
    holder.transaction(() => {
      expect(() => waiter.transaction(() => {})).toThrow(/locked/);
      expect(texts(waiter)).toEqual([]);
    });
    waiter.transaction(() => {});
    holder.close();
    waiter.close();
  });

  test('a file that another one keeps to itself is told as busy', async () => {
    const file = fresh();
    // Locks of one process count only within one copy of SQLite.
    const other = (driver ?? (await platformDriver()))(file);
    other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE t (a)');
    await expect(open(file, FORMAT, 20)).rejects.toMatchObject({ reason: 'busy' });
    other.close();
  });

  test('all data is in the one file once it is closed', async () => {
    const file = fresh();
    const database = await open(file);
    database.exec(`INSERT INTO note (text) VALUES ('moved')`);
    database.close();
    const copy = fresh();
    copyFileSync(file, copy);
    const opened = await open(copy);
    expect(texts(opened)).toEqual(['moved']);
    opened.close();
  });

  test('a statement of which one row was read does not hold up what others write', async () => {
    const file = fresh();
    const [one, other] = [await open(file), await open(file)];
    one.exec(`INSERT INTO note (text) VALUES ('a'), ('b')`);
    expect(one.prepare('SELECT text FROM note ORDER BY id').get()).toMatchObject({ text: 'a' });
    other.exec(`INSERT INTO note (text) VALUES ('c')`);
    one.transaction(() => one.exec(`INSERT INTO note (text) VALUES ('d')`));
    expect(texts(other)).toEqual(['a', 'b', 'c', 'd']);
    one.close();
    other.close();
  });

  test('many may open a new file at once', async () => {
    const file = fresh();
    const databases = await Promise.all(Array.from({ length: 8 }, () => open(file)));
    for (const [index, database] of databases.entries()) {
      database.prepare('INSERT INTO note (text) VALUES (?)').run(`${index}`);
    }
    expect(texts(databases[0]!)).toHaveLength(8);
    for (const database of databases) database.close();
  });
});

test('the name of a file and the time-out are checked', async () => {
  await expect(openDatabase('', { format: FORMAT })).rejects.toThrow(TypeError);
  await expect(openDatabase(fresh(), { format: FORMAT, busyTimeout: -1 })).rejects.toThrow(TypeError);
  await expect(openDatabase(fresh(), { format: FORMAT, busyTimeout: Number.NaN })).rejects.toThrow(TypeError);
});

test('loading the driver of the platform warns of nothing, and leaves the warnings of others', async () => {
  const emit = process.emitWarning;
  const warned = vi.fn();
  process.on('warning', warned);
  await platformDriver();
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', warned);
  expect(warned).not.toHaveBeenCalled();
  expect(process.emitWarning).toBe(emit);
});
