/** The additional contract of the registry in a file: files, paths, damage. */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Registry } from '../../../src/aacp/registry/registry.js';
import {
  type Driver,
  defaultRegistryFile,
  nodeSqlite,
  type RegistryNotice,
  type SqliteRegistryOptions,
  StoreError,
  sqliteRegistry,
} from '../../../src/aacp/registry/sqlite.js';
import { REGISTRY_FORMAT } from '../../../src/aacp/registry/sqlite-format.js';
import { openDatabase } from '../../../src/storage/open.js';
import { freshFiles } from '../../storage/folder.js';
import { handClock, sample } from './sample.js';

const fresh = freshFiles();
const isRoot = process.getuid?.() === 0;

afterEach(() => vi.unstubAllEnvs());

/** Closed files with a number of entries. */
const templates = new Map<number, string>();

/** A closed file with entries. */
async function filled(entries = 300): Promise<string> {
  const template = templates.get(entries) ?? fresh('template');
  if (!templates.has(entries)) {
    const registry = await sqliteRegistry(template);
    for (let number = 0; number < entries; number++) registry.put(sample(number));
    registry.close();
    templates.set(entries, template);
  }
  const file = fresh();
  copyFileSync(template, file);
  return file;
}

/** The error of opening a file. */
async function refusal(file: string, options?: SqliteRegistryOptions): Promise<StoreError> {
  const thrown: unknown = await sqliteRegistry(file, options).then(
    (registry) => registry.close(),
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(StoreError);
  return thrown as StoreError;
}

/** The files in the folder of a file whose names start with its name. */
function beside(file: string): string[] {
  return readdirSync(path.dirname(file))
    .filter((name) => name.startsWith(path.basename(file)))
    .sort();
}

describe('a file', () => {
  test('keeps all data when it is opened again, including counts', async () => {
    const file = fresh();
    const first = await sqliteRegistry(file);
    const entry = first.put(sample(1));
    first.markSeen(entry.key);
    first.close();
    const second = await sqliteRegistry(file);
    expect(second.file).toBe(file);
    expect(second.get(entry.key)).toMatchObject({ ...sample(1), createdAt: entry.createdAt, timesSeen: 2 });
    second.close();
  });

  test('of the first format keeps the times at which instructions were given', async () => {
    const file = fresh();
    const registry = await sqliteRegistry(file);
    registry.put({ ...sample(1), givenAt: 1_700_000_000_000 });
    const { key } = sample(1);
    registry.close();
    const database = new DatabaseSync(file);
    database.exec(`UPDATE entry SET data = replace(data, '"givenAt":', '"said":'); PRAGMA user_version = 1`);
    database.close();
    const migrated = await sqliteRegistry(file);
    expect(migrated.get(key)?.givenAt).toBe(1_700_000_000_000);
    migrated.close();
  });

  test('is readable only by its owner, as is the folder that is created for it', async () => {
    const file = path.join(fresh('folder'), 'deep', 'registry.db');
    const registry = await sqliteRegistry(file);
    registry.put(sample(1));
    for (const name of beside(file)) expect(statSync(path.join(path.dirname(file), name)).mode & 0o777).toBe(0o600);
    expect(beside(file).length).toBeGreaterThan(1);
    expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
    expect(statSync(path.dirname(path.dirname(file))).mode & 0o777).toBe(0o700);
    registry.close();
  });

  test("is by default in the user's folder that the environment names", async () => {
    const folder = fresh('data');
    vi.stubEnv('PEGWIRE_DATA_DIR', folder);
    const registry = await sqliteRegistry();
    expect(registry.file).toBe(path.join(folder, 'registry.db'));
    expect(statSync(registry.file!).mode & 0o777).toBe(0o600);
    registry.close();
  });

  test.skipIf(process.platform !== 'linux')(
    "is by default in the system's place for such files, never in the working directory",
    () => {
      vi.stubEnv('PEGWIRE_DATA_DIR', '');
      const file = defaultRegistryFile();
      expect(path.isAbsolute(file)).toBe(true);
      expect(file.endsWith(path.join('pegwire', 'registry.db'))).toBe(true);
      expect(file.startsWith(process.cwd())).toBe(false);
      vi.stubEnv('PEGWIRE_DATA_DIR', 'here');
      expect(() => defaultRegistryFile()).toThrow(
        expect.objectContaining({ code: 'store-misconfigured', message: expect.stringContaining('PEGWIRE_DATA_DIR') }),
      );
    },
  );

  test('may be open twice: each connection sees the changes of the other at once', async () => {
    const file = fresh();
    const [one, other] = [await sqliteRegistry(file), await sqliteRegistry(file)];
    const { key } = one.put(sample(1));
    expect(other.get(key)?.timesSeen).toBe(1);
    one.put(sample(1, { packet: 'ACK|HR|return:HR-Agent|p:2|aacp:1.1' }));
    expect(other.get(key)?.packet).toBe('ACK|HR|return:HR-Agent|p:2|aacp:1.1');
    for (let hit = 0; hit < 3; hit++) other.markSeen(key);
    one.markSeen(key);
    one.flush();
    other.flush();
    expect(one.get(key)?.timesSeen).toBe(6);
    expect(other.get(key)?.timesSeen).toBe(6);
    other.setCovered(key, true);
    expect(one.get(key)?.covered).toBe(true);
    expect(one.reserve(sample(2).key, 1000)).toMatchObject({ kind: 'granted' });
    expect(other.reserve(sample(2).key, 1000)).toMatchObject({ kind: 'taken' });
    other.remove(key);
    expect(one.get(key)).toBe(undefined);
    one.close();
    other.close();
  });

  test('writes the counts after a while, without flush', async () => {
    const file = fresh();
    const clock = handClock();
    const [one, other] = [await sqliteRegistry(file, { now: clock }), await sqliteRegistry(file, { now: clock })];
    const { key } = one.put(sample(1));
    one.markSeen(key);
    expect(other.get(key)?.timesSeen).toBe(1);
    clock.pass(1000);
    one.markSeen(key);
    expect(other.get(key)?.timesSeen).toBe(3);
    one.markSeen(key);
    one.put(sample(2));
    expect(other.get(key)?.timesSeen).toBe(4);
    one.close();
    other.close();
  });

  test('that is locked for too long is reported as busy; the counts wait', async () => {
    const file = fresh();
    const registry = await sqliteRegistry(file, { busyTimeoutMs: 0 });
    const { key } = registry.put(sample(1));
    const other = await openDatabase(file, { format: REGISTRY_FORMAT });
    other.transaction(() => {
      expect(() => registry.put(sample(2))).toThrow(expect.objectContaining({ code: 'store-busy' }));
      expect(() => registry.reserve('key', 1)).toThrow(expect.objectContaining({ code: 'store-busy' }));
      registry.markSeen(key);
      expect(() => registry.flush()).toThrow(expect.objectContaining({ code: 'store-busy' }));
      expect(registry.statistics()).toMatchObject({ entries: 1, timesSeen: 1 });
      expect(registry.get(key)).toBeDefined();
    });
    other.close();
    expect(registry.statistics()).toMatchObject({ entries: 1, timesSeen: 2 });
    registry.close();
  });
});

describe('a damaged file', () => {
  const garbage = Buffer.from('garbage '.repeat(1024));

  function overwrite(file: string, offset: number, bytes: Uint8Array): void {
    const content = readFileSync(file);
    content.set(bytes.subarray(0, content.length - offset), offset);
    writeFileSync(file, content);
  }

  const DAMAGES: readonly (readonly [what: string, damage: (file: string) => void])[] = [
    ['cut off after some pages', (file) => truncateSync(file, 3 * 4096)],
    ['cut off within the first page', (file) => truncateSync(file, 1000)],
    ['cut off within its head', (file) => truncateSync(file, 50)],
    ['full of zeros', (file) => writeFileSync(file, Buffer.alloc(8192))],
    ['overwritten at its head', (file) => overwrite(file, 0, garbage.subarray(0, 64))],
    ['overwritten in its schema', (file) => overwrite(file, 100, garbage.subarray(0, 2000))],
  ];

  test.each(DAMAGES)('is set aside, unchanged, when it is %s', async (_what, damage) => {
    const file = await filled();
    damage(file);
    const before = readFileSync(file);
    const notices: RegistryNotice[] = [];
    const clock = handClock(0);
    const error = await refusal(file, { now: clock, onNotice: (notice) => notices.push(notice) });
    const aside = `${file}.corrupt-1970-01-01T000000000Z`;
    expect(error).toMatchObject({ code: 'store-corrupt', message: expect.stringContaining(aside) });
    expect(notices).toEqual([{ kind: 'set-aside', file, movedTo: aside, message: error.message }]);
    expect(readFileSync(aside).equals(before)).toBe(true);
    expect(existsSync(file)).toBe(false);

    const registry = await sqliteRegistry(file);
    expect(registry.statistics().entries).toBe(0);
    registry.put(sample(1));
    registry.close();
    expect(readFileSync(aside).equals(before)).toBe(true);
  });

  test('never replaces one that was set aside before', async () => {
    const clock = handClock(0);
    const file = await filled();
    const whole = readFileSync(file);
    for (const end of ['', '-2', '-3']) {
      writeFileSync(file, whole.subarray(0, 3 * 4096));
      expect((await refusal(file, { now: clock })).message).toContain(`.corrupt-1970-01-01T000000000Z${end},`);
    }
    expect(beside(file).filter((name) => /Z(-\d)?$/.test(name))).toHaveLength(3);
  });

  test('is set aside with its log', async () => {
    const file = await filled();
    const registry = await sqliteRegistry(file);
    registry.put(sample('in the log'));
    const copy = fresh();
    for (const end of ['', '-wal']) copyFileSync(file + end, copy + end);
    registry.close();
    // The log restores the pages that it contains; the others stay damaged.
    truncateSync(copy, 3 * 4096);
    const before = ['', '-wal'].map((end) => readFileSync(copy + end));
    const thrown: unknown = await sqliteRegistry(copy, { now: handClock(0) }).then(
      (opened) => {
        try {
          return [...opened.entries()];
        } catch (error) {
          return error;
        }
      },
      (error: unknown) => error,
    );
    expect(thrown).toMatchObject({ code: 'store-corrupt' });
    const aside = `${copy}.corrupt-1970-01-01T000000000Z`;
    for (const [index, end] of ['', '-wal'].entries()) {
      expect(readFileSync(aside + end).equals(before[index]!)).toBe(true);
    }
    expect(existsSync(copy) || existsSync(`${copy}-wal`)).toBe(false);
  });

  test('is replaced at once on request', async () => {
    const file = await filled();
    truncateSync(file, 3 * 4096);
    const before = readFileSync(file);
    const notices: RegistryNotice[] = [];
    const registry = await sqliteRegistry(file, { onCorrupt: 'renew', onNotice: (notice) => notices.push(notice) });
    expect(registry.statistics().entries).toBe(0);
    registry.close();
    expect(notices).toMatchObject([{ kind: 'set-aside', file, movedTo: expect.stringContaining('.corrupt-') }]);
    expect(readFileSync(notices[0]!.kind === 'set-aside' ? notices[0]!.movedTo! : '').equals(before)).toBe(true);
  });

  test('in the default place belongs to pegwire, whatever it contains', async () => {
    const folder = fresh('data');
    vi.stubEnv('PEGWIRE_DATA_DIR', folder);
    mkdirSync(folder);
    const file = defaultRegistryFile();
    writeFileSync(file, garbage);
    await expect(sqliteRegistry()).rejects.toThrow(expect.objectContaining({ code: 'store-corrupt' }));
    expect(beside(file)).toContainEqual(expect.stringMatching(/^registry\.db\.corrupt-.*Z$/));
    expect(existsSync(file)).toBe(false);
    const registry = await sqliteRegistry();
    registry.close();
  });

  test('is also detected later, and set aside then', async () => {
    const file = await filled(800);
    const notices: RegistryNotice[] = [];
    const registry = await sqliteRegistry(file, { onNotice: (notice) => notices.push(notice) });
    // Damages the file on disk: all pages except the first ones.
    const content = readFileSync(file);
    content.fill(0x55, 20 * 4096);
    writeFileSync(file, content);
    const all = () => [...registry.entries()];
    expect(all).toThrow(expect.objectContaining({ code: 'store-corrupt' }));
    const [notice] = notices;
    if (notice?.kind !== 'set-aside' || notice.movedTo === null) throw new Error('it was not set aside');
    expect(all).toThrow(expect.objectContaining({ code: 'store-corrupt', message: notice.message }));
    expect(() => registry.put(sample(1))).toThrow(expect.objectContaining({ code: 'store-corrupt' }));
    expect(notices).toHaveLength(1);
    registry.close();
    expect(readFileSync(notice.movedTo).equals(content)).toBe(true);
    expect(existsSync(file)).toBe(false);
    const next = await sqliteRegistry(file);
    expect(next.statistics().entries).toBe(0);
    next.close();
  });

  test('with damage in one entry only is used without that entry', async () => {
    const file = await filled(3);
    const database = await openDatabase(file, { format: REGISTRY_FORMAT });
    database.exec(`UPDATE entry SET data = '{"id":' WHERE number = 2`);
    database.exec(`UPDATE entry SET data = '{"terms":null}' WHERE number = 3`);
    database.close();
    const notices: RegistryNotice[] = [];
    const registry = await sqliteRegistry(file, { onNotice: (notice) => notices.push(notice) });
    expect(registry.get(sample(1).key)).toBe(undefined);
    expect(notices).toMatchObject([{ kind: 'damaged-entry', file, message: expect.stringContaining('number 2') }]);
    expect(Array.from(registry.entries(), ({ key }) => key)).toEqual([sample(0).key]);
    expect(registry.candidates('HR', ['fetch'], 9)).toHaveLength(1);
    expect(registry.reserve(sample(1).key, 10)).toMatchObject({ kind: 'granted' });
    registry.put(sample(1, { terms: ['new'] }));
    expect(registry.get(sample(1).key)).toMatchObject(sample(1, { terms: ['new'] }));
    expect(registry.candidates('HR', ['item1'], 9)).toEqual([]);
    expect(registry.remove(sample(2).key)).toBe(true);
    expect(registry.statistics().entries).toBe(2);
    registry.close();
  });
});

describe('a file that cannot be used', () => {
  test.each<[what: string, code: string, make: (file: string) => unknown]>([
    ['text', 'store-foreign', (file) => writeFileSync(file, 'not yours '.repeat(100))],
    ['a short text', 'store-foreign', (file) => writeFileSync(file, 'hello')],
    [
      "another program's database",
      'store-foreign',
      (file) => {
        const database = new DatabaseSync(file);
        database.exec('CREATE TABLE theirs (a)');
        database.close();
      },
    ],
    [
      "another program's database, damaged",
      'store-foreign',
      (file) => {
        const database = new DatabaseSync(file);
        database.exec('CREATE TABLE theirs (a); CREATE TABLE more (b)');
        database.close();
        truncateSync(file, 5000);
      },
    ],
    [
      'of a later version',
      'store-newer',
      async (file) => {
        const migrations = [...REGISTRY_FORMAT.migrations, 'CREATE TABLE later (a)'];
        (await openDatabase(file, { format: { ...REGISTRY_FORMAT, migrations } })).close();
      },
    ],
    ['a folder', 'store-unavailable', (file) => mkdirSync(file)],
  ])('%s is rejected with %s, and left unchanged', async (_what, code, make) => {
    const file = fresh();
    await make(file);
    const before = statSync(file).isFile() ? readFileSync(file) : null;
    const error = await refusal(file);
    expect(error).toMatchObject({ code, message: expect.stringContaining(file) });
    expect(beside(file).filter((name) => name.includes('corrupt'))).toEqual([]);
    if (before !== null) expect(readFileSync(file).equals(before)).toBe(true);
  });

  test('below a file is rejected', async () => {
    const file = fresh();
    writeFileSync(file, '');
    for (const below of ['registry.db', 'deep/registry.db']) {
      expect(await refusal(path.join(file, below))).toMatchObject({ code: 'store-unavailable' });
    }
  });

  test.skipIf(isRoot)('in a folder without write permission is rejected', async () => {
    const folder = fresh('locked');
    mkdirSync(folder);
    chmodSync(folder, 0o500);
    expect(await refusal(path.join(folder, 'registry.db'))).toMatchObject({ code: 'store-unavailable' });
  });

  /** The driver of the platform, with a change to each connection. */
  const driverWith =
    (sql: string): Driver =>
    (file) => {
      const database = nodeSqlite(DatabaseSync)(file);
      database.exec(sql);
      return database;
    };

  test('on a full disk is reported at the entry that did not fit; the others are kept', async () => {
    const file = fresh();
    const registry = await sqliteRegistry(file, { driver: driverWith('PRAGMA max_page_count = 40') });
    let stored = 0;
    const fill = () => {
      for (; stored < 1000; stored++) registry.put(sample(stored));
    };
    expect(fill).toThrow(expect.objectContaining({ code: 'store-full' }));
    expect(stored).toBeGreaterThan(10);
    expect(registry.get(sample(stored - 1).key)).toBeDefined();
    expect(registry.get(sample(stored).key)).toBe(undefined);
    expect(registry.remove(sample(0).key)).toBe(true);
    expect(registry.statistics().entries).toBe(stored - 1);
    registry.close();
  });

  test('that is read-only is read', async () => {
    const file = await filled(3);
    const readOnly: Driver = (name) => {
      const database = nodeSqlite(DatabaseSync)(name);
      return {
        ...database,
        transaction(work) {
          database.exec('PRAGMA query_only = ON');
          return database.transaction(work);
        },
      };
    };
    const registry = await sqliteRegistry(file, { driver: readOnly });
    expect(() => registry.put(sample(9))).toThrow(expect.objectContaining({ code: 'store-unavailable' }));
    expect(registry.get(sample(1).key)).toBeDefined();
    expect(registry.get(sample(9).key)).toBe(undefined);
    registry.close();
  });

  test.each([
    ['moved', (file: string) => renameSync(file, `${file}.elsewhere`)],
    [
      'replaced',
      (file: string) => {
        renameSync(file, `${file}.elsewhere`);
        writeFileSync(file, '');
      },
    ],
  ])('that was %s while it was open accepts no more entries that would be lost', async (_what, move) => {
    const file = fresh();
    const registry: Registry = await sqliteRegistry(file);
    registry.put(sample(1));
    move(file);
    const put = () => registry.put(sample(2));
    expect(put).toThrow(
      expect.objectContaining({ code: 'store-unavailable', message: expect.stringContaining('moved') }),
    );
    expect(registry.get(sample(1).key)).toBeDefined();
    registry.close();
  });

  test.each([
    ['busyTimeout', { busyTimeoutMs: -5 }],
    ['onCorrupt', { onCorrupt: 'overwrite' }],
    ['onNotice', { onNotice: 7 }],
    ['busyTimeOut', { busyTimeOut: 5 }],
  ])('for an invalid option %s is a TypeError that names it', async (name, options) => {
    const open = sqliteRegistry(fresh(), options as SqliteRegistryOptions);
    await expect(open).rejects.toThrow(TypeError);
    await expect(open).rejects.toThrow(name);
  });

  test('for an invalid name is a TypeError', async () => {
    await expect(sqliteRegistry('')).rejects.toThrow(TypeError);
    await expect(sqliteRegistry(7 as unknown as string)).rejects.toThrow(TypeError);
  });
});
