/** The collections of an endpoint come back from every store as they were. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Reference } from '../../../src/accp/message/json.js';
import { Journal } from '../../../src/accp/store/journal.js';
import { type EndpointStore, type SessionStore, StoreError } from '../../../src/accp/store/store.js';
import { fromText } from '../../../src/accp/store/text.js';
import { runs } from '../../helpers/runs.js';
import { freshFiles } from '../../storage/folder.js';
import { STORES } from './stores.js';

const fresh = freshFiles();

function journalOf(store: SessionStore, session = 's'): Journal {
  return new Journal(store.claim(session, 'a'), store.durable);
}

/** An endpoint that counts what is written to it. */
function counted(endpoint: EndpointStore): EndpointStore & { readonly commits: number } {
  let commits = 0;
  return {
    ...endpoint,
    commit(changes, cold) {
      commits++;
      endpoint.commit(changes, cold);
    },
    get commits() {
      return commits;
    },
  };
}

for (const [name, place, setUp] of STORES)
  describe.skipIf(name.includes('(skipped: '))(name, () => {
    setUp();
    test('values are available after the journal is closed and the store opened again', async () => {
      const { open } = place(fresh);
      const store = await open();
      const journal = journalOf(store);
      const numbers = journal.collection<number>('numbers');
      const others = journal.collection<unknown>('others');
      numbers.set('one', 1);
      numbers.set('two', 2);
      numbers.set('gone', 0);
      numbers.delete('gone');
      others.set('big', 2n ** 70n);
      others.set('reference', new Reference('cold.x'));
      others.set('deep', { list: [null, true, { text: '\u0001$a' }] });
      journal.commit();
      numbers.set('one', 11);
      journal.close();
      if (store.durable) store.close();

      const again = journalOf(await open());
      expect([...again.collection('numbers').entries()]).toEqual([
        ['one', 11],
        ['two', 2],
      ]);
      const back = again.collection<unknown>('others');
      expect(back.get('big')).toBe(2n ** 70n);
      expect(back.get('reference')).toEqual(new Reference('cold.x'));
      expect(JSON.stringify(back.get('deep'))).toBe(JSON.stringify({ list: [null, true, { text: '\u0001$a' }] }));
      again.close();
    });

    test('a key that was removed and set again is the last', async () => {
      const store = await place(fresh).open();
      const first = journalOf(store);
      const collection = first.collection<number>('c');
      for (const key of ['a', 'b', 'c']) collection.set(key, 1);
      first.commit();
      collection.delete('a');
      collection.set('a', 2);
      collection.set('b', 2);
      first.close();
      const second = journalOf(store);
      const again = second.collection<number>('c');
      expect([...again.keys()]).toEqual(['b', 'c', 'a']);
      again.delete('b');
      again.set('b', 3);
      second.close();
      expect([...journalOf(store).collection<number>('c').entries()]).toEqual([
        ['c', 1],
        ['a', 2],
        ['b', 3],
      ]);
      store.close();
    });

    test('keys keep the order of a map, for any changes between the commits', async () => {
      const key = fc.constantFrom('a', 'b', 'c', 'd', '__proto__');
      const step = fc.oneof(
        fc.record({ kind: fc.constant('set' as const), key, value: fc.integer() }),
        fc.record({ kind: fc.constant('delete' as const), key }),
        fc.record({ kind: fc.constantFrom('clear' as const, 'commit' as const, 'commit' as const, 'reopen' as const) }),
      );
      const store = await place(fresh).open();
      let session = 0;
      const property = fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
        const name = `s${++session}`;
        const expected = new Map<string, number>();
        let journal = journalOf(store, name);
        let collection = journal.collection<number>('c');
        for (const each of [...steps, { kind: 'reopen' as const }]) {
          if (each.kind === 'set') {
            collection.set(each.key, each.value);
            expected.set(each.key, each.value);
          } else if (each.kind === 'delete') {
            expect(collection.delete(each.key)).toBe(expected.delete(each.key));
          } else if (each.kind === 'clear') {
            collection.clear();
            expected.clear();
          } else if (each.kind === 'commit') {
            journal.commit();
          } else {
            journal.close();
            journal = journalOf(store, name);
            collection = journal.collection<number>('c');
          }
          expect([...collection.entries()]).toEqual([...expected]);
          expect([...collection.keys()]).toEqual([...expected.keys()]);
          expect([...collection.values()]).toEqual([...expected.values()]);
          expect(collection.size).toBe(expected.size);
        }
        journal.close();
      });
      fc.assert(property, runs(60));
      store.close();
    });

    test('a collection that is not requested stays in the store', async () => {
      const store = await place(fresh).open();
      const first = journalOf(store);
      first.collection<number>('kept').set('k', 1);
      first.close();
      const second = journalOf(store);
      second.collection<number>('other').set('k', 2);
      second.close();
      expect(journalOf(store).collection('kept').get('k')).toBe(1);
      store.close();
    });

    test('cold values can be read at once, by others after the commit', async () => {
      const store = await place(fresh).open();
      const journal = journalOf(store);
      const neighbour = new Journal(store.claim('s', 'b'), store.durable);
      const stranger = journalOf(store, 't');
      journal.setCold('sales', { q3: 10n }, 50);
      expect(fromText(journal.cold('sales')!.value)).toEqual({ q3: 10n });
      expect(neighbour.cold('sales')).toBe(undefined);
      journal.commit();
      expect(neighbour.cold('sales')).toEqual(journal.cold('sales'));
      expect(neighbour.cold('sales')!.expiresAt).toBe(50);
      expect(stranger.cold('sales')).toBe(undefined);
      expect(stranger.coldOf('s', 'sales')).toEqual(journal.cold('sales'));
      expect(stranger.sessionsWithCold('sales')).toEqual(['s']);
      journal.setCold('last', 1, null);
      journal.close();
      expect(neighbour.cold('last')).toMatchObject({ value: '1', expiresAt: null });
      store.close();
    });

    test('a journal that was replaced cannot commit', async () => {
      const store = await place(fresh).open();
      const former = journalOf(store);
      former.collection<number>('c').set('k', 1);
      const latter = journalOf(store);
      expect(() => former.close()).toThrow(StoreError);
      expect(latter.collection('c').size).toBe(0);
      store.close();
    });

    test('nothing is written if nothing has changed', async () => {
      const store = await place(fresh).open();
      const endpoint = counted(store.claim('s', 'a'));
      const journal = new Journal(endpoint, store.durable);
      const collection = journal.collection<number>('c');
      journal.commit();
      expect(endpoint.commits).toBe(0);
      collection.set('k', 1);
      journal.commit();
      journal.commit();
      collection.delete('missing');
      journal.commit();
      // A store that does not outlive the process is written to at the end.
      expect(endpoint.commits).toBe(store.durable ? 1 : 0);
      journal.close();
      expect(endpoint.commits).toBe(1);
      store.close();
    });

    test('the next commit stores the changes of a failed one', async () => {
      const store = await place(fresh).open();
      const endpoint = store.claim('s', 'a');
      let failing = true;
      const unreliable: EndpointStore = {
        ...endpoint,
        commit(changes, cold) {
          if (failing) throw new StoreError('failed', 'on purpose');
          endpoint.commit(changes, cold);
        },
      };
      const journal = new Journal(unreliable, store.durable);
      journal.collection<number>('c').set('k', 1);
      journal.setCold('x', 'cold', null);
      expect(() => journal.commit()).toThrow('on purpose');
      expect(journal.cold('x')).toMatchObject({ value: '"cold"', expiresAt: null });
      failing = false;
      journal.close();
      const again = journalOf(store);
      expect(again.collection('c').get('k')).toBe(1);
      expect(again.cold('x')).toMatchObject({ value: '"cold"', expiresAt: null });
      store.close();
    });
  });
