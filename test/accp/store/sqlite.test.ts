/** The promises of the SQLite store beyond those of every store: files, several processes, and killed processes. */
import { copyFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { describe, expect, test } from 'vitest';
import { Journal } from '../../../src/accp/store/journal.js';
import { sqliteStore } from '../../../src/accp/store/sqlite.js';
import { SESSION_FORMAT } from '../../../src/accp/store/sqlite-format.js';
import { StoreError } from '../../../src/accp/store/store.js';
import { openDatabase } from '../../../src/storage/open.js';
import { bundledProgram } from '../../helpers/bundled-program.js';
import { ended, start } from '../../helpers/child.js';
import { DRIVERS } from '../../storage/drivers.js';
import { freshFiles } from '../../storage/folder.js';
import { commitOf, entriesAfter, lastOf } from './history.js';

const committer = bundledProgram(new URL('child.ts', import.meta.url));

const fresh = freshFiles();

/** Starts a process that commits. `onLine` is called with every line that it prints. */
function committing(args: readonly string[], onLine: (line: string, kill: () => void) => void = () => {}) {
  const child = start([process.execPath, committer(), ...args], { stdin: '' });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    onLine(line, () => void child.kill('SIGKILL'));
  });
  return ended(child).then(({ code, stderr }) => ({ code, stderr, lines }));
}

describe('a store that is opened again', () => {
  test('has everything that was committed, including cold values', async () => {
    const file = fresh();
    const first = await sqliteStore(file);
    const endpoint = first.claim('s', 'a');
    for (let number = 1; number <= 50; number++) {
      const { changes, cold } = commitOf(number, 'a');
      endpoint.commit(changes, cold);
    }
    first.close();
    const second = await sqliteStore(file);
    expect(second.has('s')).toBe(true);
    const again = second.claim('s', 'a');
    expect([...again.entries()]).toEqual(entriesAfter(50, 'a'));
    expect(again.readCold('a.3')).toEqual({ value: '48', expiresAt: null });
    second.close();
  });

  test('still locks out the previous owner of an endpoint', async () => {
    const file = fresh();
    const former = (await sqliteStore(file)).claim('s', 'a');
    const store = await sqliteStore(file);
    store.claim('s', 'a');
    store.close();
    expect(() => former.commit([])).toThrow(expect.objectContaining({ reason: 'taken' }));
  });

  test('is private', async () => {
    const file = fresh();
    (await sqliteStore(file)).close();
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });
});

describe('a file that cannot be used', () => {
  test.each([
    ['text', 'foreign', (file: string) => writeFileSync(file, 'not yours '.repeat(100))],
    [
      'of another kind',
      'foreign',
      async (file: string) => (await openDatabase(file, { format: { ...SESSION_FORMAT, applicationId: 1 } })).close(),
    ],
    [
      'of a later version',
      'newer',
      async (file: string) => {
        const migrations = [...SESSION_FORMAT.migrations, 'CREATE TABLE later (a)'];
        (await openDatabase(file, { format: { ...SESSION_FORMAT, migrations } })).close();
      },
    ],
    [
      'cut off',
      'corrupt',
      async (file: string) => {
        const whole = fresh();
        (await sqliteStore(whole)).close();
        copyFileSync(whole, file);
        truncateSync(file, 3 * 4096);
      },
    ],
  ])('%s is rejected as %s', async (_what, reason, make) => {
    const file = fresh();
    await make(file);
    const error: unknown = await sqliteStore(file).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StoreError);
    expect(error).toMatchObject({ reason, code: `store-${reason}`, file, message: expect.stringContaining(file) });
  });

  test('a wrong option is a TypeError', async () => {
    await expect(sqliteStore(fresh(), { busyTimeoutMs: -5 })).rejects.toThrow(TypeError);
  });

  test('a failed commit stores nothing', async () => {
    const file = fresh();
    const store = await sqliteStore(file, { busyTimeoutMs: 0 });
    const endpoint = store.claim('s', 'a');
    endpoint.commit([{ collection: 'c', key: 'k', value: '1' }]);
    const bad = [
      { collection: 'c', key: 'k', value: '2' },
      { collection: 'c', key: 'l', value: undefined as unknown as string },
    ];
    expect(() => endpoint.commit(bad)).toThrow(expect.objectContaining({ name: 'StoreError', reason: 'failed' }));
    expect([...endpoint.entries()]).toEqual([{ collection: 'c', key: 'k', value: '1' }]);
    const other = await openDatabase(file, { format: SESSION_FORMAT });
    other.transaction(() => {
      const commit = () => endpoint.commit([{ collection: 'c', key: 'k', value: '3' }]);
      expect(commit).toThrow(expect.objectContaining({ reason: 'busy' }));
    });
    endpoint.commit([{ collection: 'c', key: 'k', value: '4' }]);
    expect([...endpoint.entries()]).toEqual([{ collection: 'c', key: 'k', value: '4' }]);
    other.close();
    store.close();
  });
});

test('a temporary lock loses nothing: the next commit of the journal stores the changes', async () => {
  const file = fresh();
  const store = await sqliteStore(file, { busyTimeoutMs: 0 });
  const journal = new Journal(store.claim('s', 'a'), true);
  const other = await openDatabase(file, { format: SESSION_FORMAT });
  journal.collection<number>('c').set('k', 1);
  journal.setCold('x', 'cold', null);
  other.transaction(() => {
    expect(() => journal.commit()).toThrow(expect.objectContaining({ name: 'StoreError', reason: 'busy' }));
  });
  other.close();
  journal.commit();
  const endpoint = store.claim('s', 'a');
  expect([...endpoint.entries()]).toEqual([{ collection: 'c', key: 'k', value: '1' }]);
  expect(endpoint.readCold('x')).toEqual({ value: '"cold"', expiresAt: null });
  store.close();
});

test.each([
  ['no JSON', `UPDATE entry SET value = '{"a":'`],
  ['no big integer', `UPDATE entry SET value = '"' || char(92) || 'u0001seven"'`],
  ['no name', `UPDATE entry SET key = char(1) || 'k'`],
])('a damaged row, with %s, is reported', async (_what, sql) => {
  const file = fresh();
  const store = await sqliteStore(file);
  store.claim('s', 'a').commit([{ collection: 'c', key: 'k', value: '1' }]);
  const other = await openDatabase(file, { format: SESSION_FORMAT });
  other.exec(sql);
  other.close();
  const read = () => new Journal(store.claim('s', 'a'), true).collection('c');
  expect(read).toThrow(
    expect.objectContaining({ name: 'StoreError', reason: 'failed', cause: expect.any(Error) as Error }),
  );
  store.close();
});

test.each(DRIVERS)(
  '%s converts the times of a file of version 1 from seconds to milliseconds',
  async (_name, driver) => {
    const file = fresh();
    const format = { ...SESSION_FORMAT, migrations: SESSION_FORMAT.migrations.slice(0, 1) };
    const old = await openDatabase(file, { format, driver });
    old.exec("INSERT INTO endpoint (id, session, agent, generation) VALUES (1, 's', 'a', 1)");
    const insert = old.prepare('INSERT INTO entry (endpoint, collection, key, value) VALUES (1, ?, ?, ?)');
    const hot = { value: '\u0001$cold.db', tokens: 2, expires: 1_714_000_060 };
    for (const [collection, key, value] of [
      ['chains', 'c1', { schema: 'TC', deadline: 1_714_000_000.5 }],
      ['chains', 'c2', { cancelled: true, asked: { message: { payload: { n: 1.5 } } } }],
      ['streams-ended', 'c3', 'left'],
      ['sequences', 'a:c1', { id: 1, at: 1_714_000_000 }],
      ['state.hot', 'k', hot],
      ['state.warm', 'ckpt_1', 'deferred'],
      ['state.warm', 'w', { value: '\u0001123456789012345678901234567890', tokens: 9, expires: null }],
      ['state.frozen', 'ckpt_2', { id: 'ckpt_2', at: 1_714_000_000, frames: [{ mid: 'm1' }], values: { k: hot } }],
    ] as const) {
      insert.run(collection, key, JSON.stringify(value));
    }
    old.exec(`INSERT INTO cold (session, key, value, expires)
    VALUES ('s', 'never', '1', NULL), ('s', 'deleted', '2', 0), ('s', 'soon', '3', 1714000000.25)`);
    old.close();

    const store = await sqliteStore(file, { driver });
    const endpoint = store.claim('s', 'a');
    const kept = { value: hot.value, tokens: 2, expiresAt: 1_714_000_060_000 };
    expect([...endpoint.entries()].map(({ key, value }) => [key, JSON.parse(value!) as unknown])).toEqual([
      ['c1', { schema: 'TC', deadlineAt: 1_714_000_000_500 }],
      ['c2', { cancelled: true, request: { message: { payload: { n: 1.5 } } } }],
      ['c3', 'abandoned'],
      ['a:c1', { id: 1, updatedAt: 1_714_000_000_000 }],
      ['k', kept],
      ['ckpt_1', 'deferred'],
      ['w', { value: '\u0001123456789012345678901234567890', tokens: 9, expiresAt: null }],
      ['ckpt_2', { id: 'ckpt_2', frozenAt: 1_714_000_000_000, frames: [{ mid: 'm1' }], values: { k: kept } }],
    ]);
    expect(['never', 'deleted', 'soon'].map((key) => endpoint.readCold(key))).toEqual([
      { value: '1', expiresAt: null },
      { value: '2', expiresAt: 0 },
      { value: '3', expiresAt: 1_714_000_000_250 },
    ]);
    store.close();
  },
);

test('expired values are dropped, and distinguished from unknown ones for some time', async () => {
  const store = await sqliteStore(fresh());
  const endpoint = store.claim('s', 'a');
  const entry = (key: string, expiresAt: number | null) => ({ key, value: `"${key}"`, expiresAt });
  endpoint.commit([], [entry('never', null), entry('early', 100), entry('late', 200), entry('last', 300)]);
  expect(store.purgeExpired(200, 50)).toBe(2);
  expect(endpoint.readCold('early')).toBe(undefined);
  expect(endpoint.readCold('late')).toEqual({ value: 'null', expiresAt: 200 });
  expect(endpoint.readCold('last')).toEqual({ value: '"last"', expiresAt: 300 });
  expect(store.purgeExpired(260)).toBe(0);
  expect(endpoint.readCold('late')).toEqual({ value: 'null', expiresAt: 200 });
  endpoint.commit([], [entry('late', 900)]);
  expect(store.purgeExpired(400)).toBe(1);
  expect(endpoint.readCold('late')).toEqual({ value: '"late"', expiresAt: 900 });
  expect(endpoint.readCold('never')).toEqual({ value: '"never"', expiresAt: null });
  store.close();
});

describe('several processes', () => {
  test('two may commit to one file at once', async () => {
    const file = fresh();
    const agents = ['a', 'b'];
    const children = await Promise.all(agents.map((agent) => committing([file, 's', agent, '300'])));
    for (const { code, stderr, lines } of children) expect([code, stderr, lines.at(-1)]).toEqual([0, '', '300']);
    const store = await sqliteStore(file);
    for (const agent of agents) {
      const endpoint = store.claim('s', agent);
      expect([...endpoint.entries()]).toEqual(entriesAfter(300, agent));
      for (const other of agents) expect(endpoint.readCold(`${other}.4`)).toEqual({ value: '299', expiresAt: null });
    }
    store.close();
  });

  test('one that claims an endpoint stops the previous owner', async () => {
    const file = fresh();
    const store = await sqliteStore(file);
    let last: number | undefined;
    let taken: number | undefined;
    const { code, lines } = await committing([file, 's', 'a'], (line) => {
      if (line !== '30') return;
      const endpoint = store.claim('s', 'a');
      taken = lastOf(endpoint);
      endpoint.commit([{ collection: 'count', key: 'last', value: '1000' }]);
      last = lastOf(endpoint);
    });
    expect(code).toBe(3);
    expect(lines.at(-1)).toBe(`${taken}`);
    expect(last).toBe(1000);
    expect(lastOf(store.claim('s', 'a'))).toBe(1000);
    store.close();
  });

  test('one that is killed loses no finished commit, and leaves no partial one', async () => {
    const file = fresh();
    for (let round = 1; round <= 5; round++) {
      const commits = 1 + Math.floor(Math.random() * 200);
      let left = commits;
      const { code, lines } = await committing([file, 's', 'a'], (_line, kill) => {
        if (--left <= 0) kill();
      });
      expect(code).not.toBe(0);
      const printed = lines.filter((line) => /^\d+$/.test(line)).map(Number);
      const store = await sqliteStore(file);
      const endpoint = store.claim('s', 'a');
      const last = lastOf(endpoint);
      // What was being committed when the process was killed may be there, or not.
      expect([0, 1]).toContain(last - (printed.at(-1) ?? last));
      if (last > 0) expect([...endpoint.entries()]).toEqual(entriesAfter(last, 'a'));
      store.close();
    }
  });
});
