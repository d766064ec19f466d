/** Group commits: many sessions of a SQLite file in one transaction. */
import process from 'node:process';
import { describe, expect, test, vi } from 'vitest';
import { createCodec, createSession, type Session } from '../../../src/accp/codec/index.js';
import { type SqliteStore, sqliteStore } from '../../../src/accp/store/sqlite.js';
import type { Driver } from '../../../src/storage/database.js';
import { platformDriver } from '../../../src/storage/platform.js';
import { DRIVERS } from '../../storage/drivers.js';
import { freshFiles } from '../../storage/folder.js';
import { GROUP, numberOf } from './group.js';

const fresh = freshFiles();
const codec = createCodec();

function open(store: SqliteStore): Session[] {
  return GROUP.map((id) => createSession({ agent: 'a', id, store }));
}

function encode(session: Session, payload = {}): number {
  return numberOf(codec.encode({ intent: 'done', operation: 'note', payload }, session).frames[0]!);
}

/** Returns a driver that counts transactions. */
async function counting(driver: Driver | undefined, file: string) {
  const own = driver ?? (await platformDriver(file));
  const count = { transactions: 0 };
  const counted: Driver = (name, immutable) => {
    const database = own(name, immutable);
    return {
      ...database,
      transaction: (work) => {
        count.transactions++;
        return database.transaction(work);
      },
    };
  };
  return { count, counted };
}

describe.each(DRIVERS)('%s', (_name, driver) => {
  test('stores the functions of one turn in one transaction', async () => {
    const file = fresh();
    const { count, counted } = await counting(driver, file);
    const store = await sqliteStore(file, { driver: counted });
    const sessions = open(store);
    count.transactions = 0;
    for (let round = 1; round <= 3; round++) {
      const numbers = await Promise.all(sessions.map((session) => store.groupCommit(() => encode(session))));
      expect(new Set(numbers)).toEqual(new Set([round]));
      expect(count.transactions).toBe(round);
    }
    store.close();
    const again = await sqliteStore(file, { driver });
    expect(new Set(open(again).map((session) => encode(session)))).toEqual(new Set([4]));
    again.close();
  });

  test('closes after the transaction of a function that closes the store', async () => {
    const file = fresh();
    const store = await sqliteStore(file, { driver });
    const [first, second] = open(store);
    const group = [
      store.groupCommit(() => encode(first!)),
      store.groupCommit(() => store.close()),
      store.groupCommit(() => encode(second!)),
    ];
    expect(await Promise.all(group)).toEqual([1, undefined, 1]);
    expect(() => store.has(first!.id)).toThrow(expect.objectContaining({ code: 'store-closed' }));
    await expect(store.groupCommit(() => undefined)).rejects.toMatchObject({ code: 'store-closed' });
    const again = await sqliteStore(file, { driver, busyTimeoutMs: 0 });
    expect(
      open(again)
        .slice(0, 2)
        .map((session) => encode(session)),
    ).toEqual([2, 2]);
    again.close();
  });

  test('reports a failed statement to all callers, and stores nothing', async () => {
    const file = fresh();
    const store = await sqliteStore(file, { driver });
    const [first, second, third] = open(store);
    const database = (driver ?? (await platformDriver(file)))(file);
    database.exec(
      `CREATE TRIGGER refuse BEFORE INSERT ON entry WHEN NEW.value LIKE '%poison%' BEGIN SELECT RAISE(ABORT, 'refused'); END`,
    );
    const results = await Promise.allSettled([
      store.groupCommit(() => encode(first!)),
      store.groupCommit(() => encode(second!, { text: 'poison' })),
      store.groupCommit(() => encode(third!)),
    ]);
    expect(results).toEqual(
      results.map(() => ({ status: 'rejected', reason: expect.objectContaining({ code: 'store-failed' }) })),
    );
    // Sessions with changes are ahead of the store. The third function was not called.
    for (const session of [first!, second!]) {
      expect(() => encode(session)).toThrow(expect.objectContaining({ code: 'store-failed' }));
    }
    expect(await store.groupCommit(() => encode(third!))).toBe(1);
    expect(encode(createSession({ agent: 'a', id: first!.id, store }))).toBe(1);
    database.close();
    store.close();
  });
});

test('a function that throws does not affect the others, and what it stored before remains', async () => {
  const file = fresh();
  const store = await sqliteStore(file);
  const [first, second] = open(store);
  const failure = new Error('the handler failed');
  const results = await Promise.allSettled([
    store.groupCommit(() => {
      encode(first!);
      throw failure;
    }),
    store.groupCommit(() => encode(second!)),
    store.groupCommit(async () => undefined),
  ]);
  expect(results).toMatchObject([
    { status: 'rejected', reason: failure },
    { status: 'fulfilled', value: 1 },
    { status: 'rejected', reason: expect.any(TypeError) },
  ]);
  store.close();
  const again = await sqliteStore(file);
  expect(
    open(again)
      .slice(0, 2)
      .map((session) => encode(session)),
  ).toEqual([2, 2]);
  again.close();
});

test('a rejection of an asynchronous function is not unhandled', async () => {
  const unhandled = vi.fn();
  process.on('unhandledRejection', unhandled);
  const store = await sqliteStore(fresh());
  const rejecting = store.groupCommit(async () => {
    throw new Error('after the transaction');
  });
  await expect(rejecting).rejects.toThrow('the function of a group commit must be synchronous');
  await new Promise(setImmediate);
  process.off('unhandledRejection', unhandled);
  expect(unhandled).not.toHaveBeenCalled();
  store.close();
});

test('a transaction has at most 256 functions, between which other events are served', async () => {
  const file = fresh();
  const { count, counted } = await counting(undefined, file);
  const store = await sqliteStore(file, { driver: counted });
  count.transactions = 0;
  const order: number[] = [];
  const all = Array.from({ length: 600 }, (_, index) => store.groupCommit(() => order.push(index)));
  for (const done of [256, 512, 600]) {
    await new Promise(setImmediate);
    expect(order.length).toBe(done);
  }
  expect(await Promise.all(all)).toEqual(order.map((index) => index + 1));
  expect(count.transactions).toBe(3);
  store.close();
});

test('a session that another owner has claimed fails alone', async () => {
  const store = await sqliteStore(fresh());
  const [first, second] = open(store);
  createSession({ agent: 'a', id: first!.id, store });
  const results = await Promise.allSettled([
    store.groupCommit(() => encode(first!)),
    store.groupCommit(() => encode(second!)),
  ]);
  expect(results).toMatchObject([
    { status: 'rejected', reason: { code: 'store-taken' } },
    { status: 'fulfilled', value: 1 },
  ]);
  store.close();
});

test('a locked file leaves the sessions as they are', async () => {
  const file = fresh();
  const store = await sqliteStore(file, { busyTimeoutMs: 0 });
  const [first] = open(store);
  const other = (await platformDriver(file))(file);
  other.exec('BEGIN IMMEDIATE');
  await expect(store.groupCommit(() => encode(first!))).rejects.toMatchObject({ code: 'store-busy' });
  other.exec('ROLLBACK');
  expect(await store.groupCommit(() => encode(first!))).toBe(1);
  other.close();
  store.close();
});

test('a function reads what the functions before it have stored', async () => {
  const store = await sqliteStore(fresh());
  const shared = createCodec({ text: 'externalize' });
  const options = { id: 's', store, shared: true };
  const [sender, receiver] = [createSession({ agent: 'a', ...options }), createSession({ agent: 'b', ...options })];
  const content = 'A text with spaces, which is too long to be sent inside of a frame.';
  let frame = '';
  const sent = store.groupCommit(() => {
    frame = shared.encode({ intent: 'done', operation: 'note', payload: { content } }, sender).frames[0]!;
  });
  const received = store.groupCommit(() => shared.decode(frame, receiver));
  await sent;
  expect(await received).toMatchObject({ outcome: 'message', message: { payload: { content } } });
  store.close();
});

test('a closed store rejects', async () => {
  const store = await sqliteStore(fresh());
  const [first] = open(store);
  const late = store.groupCommit(() => encode(first!));
  store.close();
  await expect(late).rejects.toMatchObject({ code: 'store-closed' });
});
