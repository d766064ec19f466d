/** The promises of every store. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createCodec, createSession, type Session } from '../../../src/accp/codec/index.js';
import { memoryStore } from '../../../src/accp/store/memory.js';
import { sqliteStore } from '../../../src/accp/store/sqlite.js';
import { type Change, DELETED, StoreError } from '../../../src/accp/store/store.js';
import { runs } from '../../helpers/runs.js';
import { freshFiles } from '../../storage/folder.js';
import { OTHER_STORES, STORES } from './stores.js';

const fresh = freshFiles();

function change(key: string, value: string | null = `value of ${key}`, collection = 'c'): Change {
  return { collection, key, value };
}

function reasonOf(step: () => unknown): string | undefined {
  try {
    step();
    return undefined;
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(StoreError);
    return (thrown as StoreError).reason;
  }
}

/** Applies changes to a map, for comparison. */
function applied(changes: readonly Change[]): Change[] {
  const entries = new Map<string, Change>();
  for (const item of changes) {
    const place = JSON.stringify([item.collection, item.key]);
    if (item.value === null) entries.delete(place);
    else entries.set(place, item);
  }
  return [...entries.values()];
}

for (const [name, place, setUp] of STORES)
  describe.skipIf(name.includes('(skipped: '))(name, () => {
    setUp();
    test('a new endpoint has no entries, and its session is unknown', async () => {
      const store = await place(fresh).open();
      expect(store.has('s')).toBe(false);
      const endpoint = store.claim('s', 'a');
      expect([...endpoint.entries()]).toEqual([]);
      expect(store.has('s')).toBe(false);
      endpoint.commit([change('k')]);
      expect(store.has('s')).toBe(true);
      expect(store.has('S')).toBe(false);
      store.close();
    });

    test('entries are in the order in which their keys were first set', async () => {
      const store = await place(fresh).open();
      const endpoint = store.claim('s', 'a');
      endpoint.commit([change('b'), change('a'), change('c', 'x', 'other')]);
      endpoint.commit([change('d'), change('b', 'changed'), change('a', null)]);
      endpoint.commit([change('a', 'again')]);
      expect([...endpoint.entries()]).toEqual([
        change('b', 'changed'),
        change('c', 'x', 'other'),
        change('d'),
        change('a', 'again'),
      ]);
      store.close();
    });

    test('endpoints see neither the entries of others nor those of other sessions', async () => {
      const store = await place(fresh).open();
      store.claim('s', 'a').commit([change('k', 'of a')]);
      store.claim('s', 'b').commit([change('k', 'of b')]);
      store.claim('t', 'a').commit([change('k', 'of t')]);
      expect([...store.claim('s', 'a').entries()]).toEqual([change('k', 'of a')]);
      expect([...store.claim('s', 'b').entries()]).toEqual([change('k', 'of b')]);
      expect([...store.claim('t', 'a').entries()]).toEqual([change('k', 'of t')]);
      store.close();
    });

    test('a claim has the entries of the endpoint, and locks out the previous owner', async () => {
      const { open } = place(fresh);
      const store = await open();
      const former = store.claim('s', 'a');
      const other = store.claim('s', 'b');
      former.commit([change('k', 'first')]);
      const second = await open();
      const latter = second.claim('s', 'a');
      expect([...latter.entries()]).toEqual([change('k', 'first')]);
      expect(
        reasonOf(() =>
          former.commit([change('k', 'too late'), change('l')], [{ key: 'x', value: '1', expiresAt: null }]),
        ),
      ).toBe('taken');
      expect([...latter.entries()]).toEqual([change('k', 'first')]);
      expect(latter.readCold('x')).toBe(undefined);
      latter.commit([change('k', 'second')]);
      other.commit([change('k', 'still its own')]);
      expect(reasonOf(() => former.commit([]))).toBe('taken');
      store.close();
      second.close();
    });

    test('a claim of the same agent in another session locks out no owner', async () => {
      const store = await place(fresh).open();
      const endpoint = store.claim('s', 'a');
      store.claim('t', 'a');
      endpoint.commit([change('k')]);
      expect([...endpoint.entries()]).toEqual([change('k')]);
      store.close();
    });

    test('a released endpoint is closed, and so are all endpoints of a closed store', async () => {
      const store = await place(fresh).open();
      const released = store.claim('s', 'a');
      const open = store.claim('s', 'b');
      released.release();
      released.release();
      for (const step of [
        () => released.entries(),
        () => released.commit([]),
        () => released.readCold('k'),
        () => released.readColdOf('s', 'k'),
        () => released.sessionsWithCold('k'),
      ]) {
        expect(reasonOf(step)).toBe('closed');
      }
      open.commit([change('k')]);
      store.close();
      store.close();
      for (const step of [
        () => open.entries(),
        () => open.commit([change('k')]),
        () => store.has('s'),
        () => store.claim('s', 'a'),
      ]) {
        expect(reasonOf(step)).toBe('closed');
      }
    });

    test('a session has one cold tier for its endpoints, separate from that of other sessions', async () => {
      const store = await place(fresh).open();
      const a = store.claim('s', 'a');
      const b = store.claim('s', 'b');
      const stranger = store.claim('t', 'a');
      a.commit([], [{ key: 'sales', value: '[1]', expiresAt: 17.5 }]);
      expect(b.readCold('sales')).toMatchObject({ value: '[1]', expiresAt: 17.5 });
      expect(stranger.readCold('sales')).toBe(undefined);
      expect(stranger.readColdOf('s', 'sales')).toMatchObject({ value: '[1]', expiresAt: 17.5 });
      expect(stranger.readColdOf('u', 'sales')).toBe(undefined);
      expect(stranger.sessionsWithCold('sales')).toEqual(['s']);
      stranger.commit([], [{ key: 'sales', value: '[2]', expiresAt: null }]);
      b.commit([], [{ key: 'sales', value: '[3]', expiresAt: null }]);
      expect(a.readCold('sales')).toMatchObject({ value: '[3]', expiresAt: null });
      expect([...a.sessionsWithCold('sales')].sort()).toEqual(['s', 't']);
      expect(a.sessionsWithCold('none')).toEqual([]);
      store.close();
    });

    test('any names come back unchanged', async () => {
      const names = [
        ...[
          '',
          ' ',
          'a\0b',
          'a',
          '\0',
          '\u0001',
          '\u0001"x"',
          '\ud800',
          '\udc00x',
          '\ud83d\ude00',
          '\u00e9',
          'e\u0301',
          "'; --",
        ],
        ...['__proto__', 'constructor', 'A', '1:ab', 'b1:a', '%', '\ufffd', '\uffff', '\n'],
      ];
      const store = await place(fresh).open();
      for (const session of names) {
        const endpoint = store.claim(session, session);
        const changes = names.map((name) => change(name, JSON.stringify(session), name));
        endpoint.commit(changes, [{ key: session, value: '1', expiresAt: null }]);
        expect([...endpoint.entries()]).toEqual(changes);
        expect(endpoint.sessionsWithCold(session)).toEqual([session]);
        endpoint.release();
      }
      store.close();
    });

    test('a value that was deleted is in no session', async () => {
      const store = await place(fresh).open();
      const endpoint = store.claim('s', 'a');
      const entry = (key: string, expiresAt: number | null) => ({ key, value: 'null', expiresAt });
      endpoint.commit([], [entry('kept', null), entry('expired', 1), entry('deleted', DELETED)]);
      const found = ['kept', 'expired', 'deleted'].map((key) => endpoint.sessionsWithCold(key));
      expect(found).toEqual([['s'], ['s'], []]);
      expect(endpoint.readCold('deleted')).toMatchObject({ expiresAt: DELETED });
      store.close();
    });

    test('a reserved key is free only for its endpoint, until its value is set', async () => {
      const { open } = place(fresh);
      const store = await open();
      const [first, other] = [store.claim('s', 'a'), store.claim('s', 'b')];
      expect([first.reserveCold!('ckpt_1'), other.reserveCold!('ckpt_1')]).toEqual([true, false]);
      expect(other.sessionsWithCold('ckpt_1')).toEqual([]);
      // The first holder has died before its commit.
      const second = (await open()).claim('s', 'a');
      expect([other.reserveCold!('ckpt_1'), second.reserveCold!('ckpt_1')]).toEqual([false, true]);
      second.commit([], [{ key: 'ckpt_1', value: '1', expiresAt: null }]);
      expect([other, second].map((endpoint) => endpoint.reserveCold!('ckpt_1'))).toEqual([false, false]);
      second.commit([], [{ key: 'ckpt_1', value: 'null', expiresAt: DELETED }]);
      expect([other, second].map((endpoint) => endpoint.reserveCold!('ckpt_1'))).toEqual([false, false]);
      store.close();
    });

    test('collection and key are separate', async () => {
      const store = await place(fresh).open();
      const endpoint = store.claim('s', 'a');
      const changes = [change('bc', '1', 'a'), change('c', '2', 'ab'), change('', '3', 'abc'), change('abc', '4', '')];
      endpoint.commit(changes);
      expect([...endpoint.entries()]).toEqual(changes);
      store.close();
    });

    test('commits have the effect of changes of a map', async () => {
      const item = fc.record({
        collection: fc.constantFrom('c', 'd'),
        key: fc.constantFrom('k', 'l', 'm', '__proto__'),
        value: fc.option(fc.string(), { nil: null }).map((value) => value && JSON.stringify(value)),
      });
      const store = await place(fresh).open();
      let session = 0;
      const property = fc.property(fc.array(fc.array(item, { maxLength: 6 }), { maxLength: 6 }), (commits) => {
        const endpoint = store.claim(`s${++session}`, 'a');
        for (const changes of commits) endpoint.commit(changes);
        // A map keeps the place of a key that is set again, as a store has to.
        expect([...endpoint.entries()]).toEqual(applied(commits.flat()));
      });
      fc.assert(property, runs(60));
      store.close();
    });
  });

for (const [name, place, setUp] of OTHER_STORES)
  describe.skipIf(name.includes('(skipped: '))(name, () => {
    setUp();
    test('entries and values are there after the store is opened again, and a claim locks out the previous owner', async () => {
      const { open } = place(fresh);
      const first = await open();
      const former = first.claim('s', 'a');
      former.commit([change('k'), change('\0\u0001\ud800', '"\u00e9"')], [{ key: 'x', value: '1', expiresAt: 17.5 }]);
      const second = await open();
      const latter = second.claim('s', 'a');
      expect([...latter.entries()]).toEqual([change('k'), change('\0\u0001\ud800', '"\u00e9"')]);
      expect(latter.readCold('x')).toMatchObject({ value: '1', expiresAt: 17.5 });
      expect(reasonOf(() => former.commit([change('l')]))).toBe('taken');
      first.close();
      second.close();
    });
  });

test('a claim of an endpoint in memory stops the previous owner, although nothing is written', () => {
  const store = memoryStore();
  const codec = createCodec({ now: () => 1_714_000_000_000, state: false });
  const encode = (session: Session) => codec.encode({ intent: 'ack', operation: 'plan' }, session);
  const first = createSession({ agent: 'a', id: 's', store });
  expect(encode(first).frames).toHaveLength(1);
  const second = createSession({ agent: 'a', id: 's', store });
  expect(reasonOf(() => encode(first))).toBe('taken');
  expect(encode(second).frames).toHaveLength(1);
});

test('only a file outlives the process', async () => {
  expect(memoryStore().durable).toBe(false);
  const store = await sqliteStore(fresh());
  expect(store.durable).toBe(true);
  store.close();
});
