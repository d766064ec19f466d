/** The contract of every registry, in memory and in a file. */
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { MAX_POSTINGS, MAX_TERMS } from '../../../src/aacp/registry/entries.js';
import type { RegistryOptions } from '../../../src/aacp/registry/options.js';
import type { NewEntry, Registry, RegistryEntry } from '../../../src/aacp/registry/registry.js';
import { StoreError } from '../../../src/text/store-error.js';
import { runs, sampled, sized } from '../../helpers/runs.js';
import { freshFiles } from '../../storage/folder.js';
import { OTHER_REGISTRIES, REGISTRIES } from './registries.js';
import { handClock, sample, UNKNOWN } from './sample.js';

const fresh = freshFiles();

/** Texts that are ordinary words here, but special elsewhere. */
const HOSTILE = [
  '',
  '__proto__',
  'constructor',
  'toString',
  'a\0b',
  'a',
  '\0',
  '\uD800',
  '\uDC00\uD800',
  '"',
  '\\',
  '\\u0000',
  "'; DROP TABLE entry; --",
  'é',
  'e\u0301',
  '\u{1F600}',
  '\uFEFF',
];

const keysOf = (entries: Iterable<RegistryEntry>): string[] => Array.from(entries, ({ key }) => key);

for (const [name, openAt, setUp] of REGISTRIES)
  describe.skipIf(name.includes('(skipped: '))(name, () => {
    setUp();
    /** Each call is a round trip to a server. */
    const isRemote = name.startsWith('PostgreSQL');
    const opened: Registry[] = [];
    const clock = handClock();

    async function open(options: RegistryOptions = {}): Promise<Registry> {
      const registry = await openAt(fresh(), { now: clock, ...options });
      opened.push(registry);
      return registry;
    }

    afterEach(() => {
      for (const registry of opened.splice(0)) registry.close();
    });

    test('returns an entry as it was put, with its times and counts', async () => {
      const registry = await open();
      const entry = sample(1);
      const state = { createdAt: clock(), lastSeenAt: clock(), timesSeen: 1, covered: false };
      expect(registry.put(entry)).toEqual({ ...entry, ...state });
      expect(registry.get(entry.key)).toEqual({ ...entry, ...state });
      expect(registry.get(entry.key)).toEqual({ ...entry, ...state });
      expect(registry.get(sample(2).key)).toBe(undefined);
    });

    test.each(isRemote ? sampled(HOSTILE, 4) : HOSTILE)('keeps %j in every text of an entry', async (text) => {
      const registry = await open();
      const texts = { key: text, id: text, instruction: text, normalised: text, domain: text, returnAgent: text };
      const entry = sample(1, { ...texts, priority: text, version: text, packet: text, model: text, terms: [text] });
      registry.put(entry);
      expect(registry.get(text)).toMatchObject(entry);
      for (const other of HOSTILE) {
        if (other === text) continue;
        expect(registry.get(other)).toBe(undefined);
        expect(registry.candidates(text, [other], 9)).toEqual([]);
        expect(registry.candidates(other, [text], 9)).toEqual([]);
      }
      expect(keysOf(registry.candidates(text, [text], 9))).toEqual([text]);
      expect(keysOf(registry.entries({ domain: text }))).toEqual([text]);
      expect(Object.entries(registry.statistics().byDomain)).toEqual([[text, 1]]);
      expect(registry.reserve(text, 1000)).toMatchObject({ kind: 'known' });
      expect(registry.remove(text)).toBe(true);
      expect(registry.reserve(text, 1000)).toMatchObject({ kind: 'granted' });
    });

    test('replaces the packet and the terms of an existing entry, and keeps its count', async () => {
      const registry = await open();
      registry.put(sample(1, { terms: ['old', 'both'] }));
      registry.put(sample(2));
      registry.setCovered(sample(1).key, true);
      clock.pass(5);
      const entry = sample(1, { packet: 'ACK|HR|return:HR-Agent|p:2|aacp:1.1', cost: null, terms: ['both', 'new'] });
      const after = { ...entry, createdAt: clock(), lastSeenAt: clock(), timesSeen: 2, covered: true };
      expect(registry.put(entry)).toEqual(after);
      expect(registry.get(entry.key)).toEqual(after);
      expect(registry.candidates('HR', ['old'], 9)).toEqual([]);
      expect(keysOf(registry.candidates('HR', ['new'], 9))).toEqual([entry.key]);
      expect(keysOf(registry.entries())).toEqual([entry.key, sample(2).key]);
    });

    test('finds an entry that has moved to another domain only there', async () => {
      const registry = await open();
      registry.put(sample(1, { terms: ['term'] }));
      registry.put(sample(1, { domain: 'FIN', terms: ['term'] }));
      expect(registry.candidates('HR', ['term'], 9)).toEqual([]);
      expect(keysOf(registry.candidates('FIN', ['term'], 9))).toEqual([sample(1).key]);
    });

    test('accepts counts and times from elsewhere, and keeps the larger count', async () => {
      const registry = await open();
      const put = (changes: Partial<NewEntry>) => registry.put(sample(1, changes));
      expect(put({ createdAt: 1000, timesSeen: 7 })).toMatchObject({
        createdAt: 1000,
        lastSeenAt: clock(),
        timesSeen: 7,
      });
      expect(put({ timesSeen: 3 })).toMatchObject({ timesSeen: 7 });
      expect(put({ timesSeen: 9 })).toMatchObject({ timesSeen: 9 });
      expect(put({})).toMatchObject({ timesSeen: 10, createdAt: clock() });
    });

    test('counts served entries, at the latest on flush', async () => {
      const registry = await open();
      registry.put(sample(1));
      registry.put(sample(2, { cost: null }));
      clock.pass(3);
      for (const number of [1, 1, 2]) registry.markSeen(sample(number).key);
      registry.markSeen(UNKNOWN);
      registry.flush();
      expect(registry.get(sample(1).key)).toMatchObject({ timesSeen: 3, lastSeenAt: clock() });
      expect(registry.get(sample(2).key)).toMatchObject({ timesSeen: 2 });
      expect(registry.statistics()).toMatchObject({ served: 3, timesSeen: 5, saved: 0.004, spent: 0.002, unpriced: 1 });
    });

    test('counts up to the largest safe integer', async () => {
      const registry = await open();
      registry.put(sample(1, { timesSeen: Number.MAX_SAFE_INTEGER }));
      registry.put(sample(2, { timesSeen: Number.MAX_SAFE_INTEGER }));
      registry.markSeen(sample(1).key);
      registry.put(sample(2));
      registry.flush();
      for (const number of [1, 2]) {
        expect(registry.get(sample(number).key)).toMatchObject({ timesSeen: Number.MAX_SAFE_INTEGER });
      }
      expect(registry.statistics().timesSeen).toBe(2 * Number.MAX_SAFE_INTEGER);
    });

    test('removes an entry, and its terms', async () => {
      const registry = await open();
      registry.put(sample(1));
      registry.put(sample(2));
      registry.get(sample(1).key);
      expect(registry.remove(sample(1).key)).toBe(true);
      expect(registry.remove(sample(1).key)).toBe(false);
      expect(registry.get(sample(1).key)).toBe(undefined);
      expect(keysOf(registry.candidates('HR', ['fetch'], 9))).toEqual([sample(2).key]);
      expect(keysOf(registry.entries())).toEqual([sample(2).key]);
    });

    describe('an expired entry', () => {
      test('is not served, but replaced, counted and removed', async () => {
        const registry = await open({ ttlMs: 1000 });
        registry.put(sample(1));
        clock.pass(500);
        registry.put(sample(2));
        clock.pass(499);
        expect(registry.get(sample(1).key)).toBeDefined();
        clock.pass(1);
        expect(registry.get(sample(1).key)).toBe(undefined);
        expect(registry.get(sample(2).key)).toBeDefined();
        expect(keysOf(registry.candidates('HR', ['fetch'], 9))).toEqual([sample(2).key]);
        expect(registry.statistics()).toMatchObject({ entries: 2, expired: 1 });
        expect(keysOf(registry.entries())).toEqual([sample(1).key, sample(2).key]);
        expect(registry.reserve(sample(1).key, 10)).toMatchObject({ kind: 'granted' });
        expect(registry.put(sample(1))).toMatchObject({ createdAt: clock(), timesSeen: 2 });
        expect(registry.get(sample(1).key)).toBeDefined();
        clock.pass(500);
        expect(registry.purge()).toBe(1);
        expect(registry.purge()).toBe(0);
        expect(keysOf(registry.entries())).toEqual([sample(1).key]);
      });

      test('does not exist without a time to live', async () => {
        const registry = await open();
        registry.put(sample(1, { createdAt: 0 }));
        clock.pass(1e12);
        expect(registry.get(sample(1).key)).toBeDefined();
        expect(registry.purge()).toBe(0);
      });

      test('is removed in any number', async () => {
        const registry = await open({ ttlMs: 1000 });
        const count = isRemote ? sized(300, 1100) : 1100;
        registry.putAll(Array.from({ length: count }, (_, number) => sample(number, { terms: [] })));
        clock.pass(1000);
        expect(registry.purge()).toBe(count);
        expect(registry.statistics().entries).toBe(0);
      });
    });

    describe('the number of entries', () => {
      test('is limited: the entries that were not seen for the longest time are removed', async () => {
        const registry = await open({ maxEntries: 10 });
        for (let number = 0; number < 10; number++) {
          registry.put(sample(number));
          clock.pass(1);
        }
        registry.markSeen(sample(0).key);
        for (let number = 10; number < 15; number++) {
          clock.pass(1);
          registry.put(sample(number));
        }
        expect(keysOf(registry.entries())).toEqual(
          [0, 6, 7, 8, 9, 10, 11, 12, 13, 14].map((number) => sample(number).key),
        );
        expect(registry.get(sample(1).key)).toBe(undefined);
        expect(registry.candidates('HR', ['item1'], 9)).toEqual([]);
        expect(keysOf(registry.candidates('HR', ['item0'], 9))).toEqual([sample(0).key]);
      });

      test('is limited if all came at the same time, too: the first ones are removed', async () => {
        const registry = await open({ maxEntries: 3 });
        for (let number = 0; number < 9; number++) registry.put(sample(number));
        expect(keysOf(registry.entries())).toEqual([6, 7, 8].map((number) => sample(number).key));
      });

      test('stays close to a larger limit', async () => {
        const registry = await open({ maxEntries: 160 });
        const count = isRemote ? sized(200, 400) : 400;
        for (let number = 0; number < count; number++) {
          registry.put(sample(number, { terms: [] }));
          expect(registry.statistics().entries).toBeLessThanOrEqual(170);
        }
        expect(registry.statistics().entries).toBeGreaterThanOrEqual(160);
      });
    });

    describe('candidates', () => {
      test('are those of the domain that share a term, the rarest first, then the latest', async () => {
        const registry = await open();
        registry.put(sample(1, { terms: ['common', 'rare'] }));
        registry.put(sample(2, { terms: ['common', 'other'] }));
        registry.put(sample(3, { terms: ['common', 'other', 'rarest'] }));
        registry.put(sample(4, { terms: ['rare', 'common'] }));
        registry.put(sample(5, { domain: 'FIN', terms: ['common', 'rarest'] }));
        registry.put(sample(6, { terms: ['nothing'] }));
        const found = (limit: number, ...terms: string[]) =>
          keysOf(registry.candidates('HR', terms, limit)).map((key) =>
            [1, 2, 3, 4, 5, 6].find((n) => sample(n).key === key),
          );
        expect(found(9, 'common', 'rare', 'rarest')).toEqual([3, 4, 1, 2]);
        expect(found(2, 'common', 'rare', 'rarest')).toEqual([3, 4]);
        expect(found(9, 'common', 'common', 'common')).toEqual([4, 3, 2, 1]);
        expect(found(0, 'common')).toEqual([]);
        expect(found(9, 'unknown')).toEqual([]);
        expect(found(9)).toEqual([]);
      });

      test('are found by the term of all their words, however many entries have it', async () => {
        const registry = await open();
        const many = Array.from({ length: MAX_POSTINGS + 50 }, (_, number) =>
          sample(number, { terms: ['=same', 'fetch'] }),
        );
        registry.putAll(many);
        const latest = many.slice(-8).reverse();
        expect(keysOf(registry.candidates('HR', ['=same'], 8))).toEqual(latest.map(({ key }) => key));
        expect(registry.candidates('HR', ['fetch'], 8)).toEqual([]);
      });

      test('are not looked up by terms that too many entries have', async () => {
        const registry = await open();
        for (let number = 0; number < MAX_POSTINGS; number++) registry.put(sample(number));
        expect(registry.candidates('HR', ['fetch'], 1000)).toHaveLength(MAX_POSTINGS);
        registry.put(sample('more'));
        expect(registry.candidates('HR', ['fetch'], 1000)).toEqual([]);
        expect(keysOf(registry.candidates('HR', ['fetch', 'item7'], 1000))).toEqual([sample(7).key]);
        registry.remove(sample(0).key);
        expect(registry.candidates('HR', ['fetch'], 1000)).toHaveLength(MAX_POSTINGS);
      });

      test('are found by a limited number of terms, the first ones', async () => {
        const registry = await open();
        const terms = Array.from({ length: MAX_TERMS + 1 }, (_, index) => `term${index}`);
        registry.put(sample(1, { terms }));
        expect(registry.get(sample(1).key)?.terms).toEqual(terms.slice(0, MAX_TERMS));
        expect(registry.candidates('HR', [terms[MAX_TERMS - 1]!], 9)).toHaveLength(1);
        expect(registry.candidates('HR', [terms[MAX_TERMS]!], 9)).toEqual([]);
      });
    });

    describe('a reservation', () => {
      const { key } = sample(1);

      test('is granted to one caller at a time, and ends when it is released', async () => {
        const registry = await open();
        const first = registry.reserve(key, 1000);
        if (first.kind !== 'granted') throw new Error('not granted');
        expect(registry.reserve(key, 1000)).toEqual({ kind: 'taken', expiresAt: clock() + 1000 });
        expect(registry.reserve(sample(2).key, 1000)).toMatchObject({ kind: 'granted' });
        registry.release(key, 'another token');
        expect(registry.reserve(key, 1000)).toMatchObject({ kind: 'taken' });
        registry.release(key, first.token);
        expect(registry.reserve(key, 1000)).toMatchObject({ kind: 'granted' });
      });

      test('ends when an entry is put, and then none is granted', async () => {
        const registry = await open();
        const first = registry.reserve(key, 1000);
        if (first.kind !== 'granted') throw new Error('not granted');
        const entry = registry.put(sample(1));
        expect(registry.reserve(key, 1000)).toEqual({ kind: 'known', entry });
        expect(registry.renew(key, first.token, 1000)).toBe(false);
        registry.remove(key);
        expect(registry.reserve(key, 1000)).toMatchObject({ kind: 'granted' });
      });

      test('expires, unless it is renewed in time or no other caller asked for it', async () => {
        const registry = await open();
        const first = registry.reserve(key, 1000);
        if (first.kind !== 'granted') throw new Error('not granted');
        clock.pass(999);
        expect(registry.renew(key, first.token, 1000)).toBe(true);
        clock.pass(999);
        expect(registry.reserve(key, 500)).toEqual({ kind: 'taken', expiresAt: clock() + 1 });
        clock.pass(1);
        expect(registry.renew(key, first.token, 1000)).toBe(true);
        clock.pass(1000);
        const second = registry.reserve(key, 1000);
        if (second.kind !== 'granted') throw new Error('it has ended');
        expect(second.token).not.toBe(first.token);
        expect(registry.renew(key, first.token, 1000)).toBe(false);
        registry.release(key, first.token);
        expect(registry.reserve(key, 1000)).toMatchObject({ kind: 'taken' });
      });

      test('lasts as long as requested, even if the wall clock is set back', async () => {
        let wall = clock();
        const registry = await open({ now: () => wall });
        registry.reserve(key, 1000);
        wall -= 86_400_000;
        expect(registry.reserve(key, 1000)).toMatchObject({ kind: 'taken' });
        clock.pass(1000);
        expect(registry.reserve(key, 1000)).toMatchObject({ kind: 'granted' });
      });
    });

    test('entries come in order, optionally of one domain, while others are added and removed', async () => {
      const registry = await open();
      const domainOf = (number: number) => (number % 2 === 0 ? 'HR' : 'FIN');
      const count = isRemote ? sized(200, 600) : 600;
      registry.putAll(
        Array.from({ length: count }, (_, number) => sample(number, { domain: domainOf(number), terms: [] })),
      );
      const all = Array.from({ length: count }, (_, number) => sample(number).key);
      expect(keysOf(registry.entries())).toEqual(all);
      expect(keysOf(registry.entries({ domain: 'FIN' }))).toEqual(all.filter((_, number) => number % 2 === 1));
      const met: string[] = [];
      for (const { key } of registry.entries({ domain: 'HR' })) {
        met.push(key);
        registry.remove(key);
      }
      expect(met).toHaveLength(count / 2);
      expect(registry.statistics()).toMatchObject({ entries: count / 2, byDomain: { FIN: count / 2 } });
    });

    test('statistics report hits, costs and savings, and candidates for rules', async () => {
      const registry = await open();
      expect(registry.statistics()).toEqual({
        ...{ entries: 0, timesSeen: 0, served: 0, pending: 0, spent: 0, saved: 0, unpriced: 0, expired: 0 },
        byDomain: {},
      });
      registry.put(sample(1, { cost: 0.5 }));
      registry.put(sample(2, { cost: 0.25, domain: 'FIN' }));
      registry.put(sample(3, { cost: null, domain: '__proto__' }));
      for (const number of [1, 1, 2, 3]) registry.markSeen(sample(number).key);
      registry.setCovered(sample(2).key, true);
      registry.setCovered(UNKNOWN, true);
      const { byDomain, ...sums } = registry.statistics();
      expect(sums).toEqual({
        ...{ entries: 3, timesSeen: 7, served: 4, pending: 2, spent: 0.75, saved: 1.25, unpriced: 1, expired: 0 },
      });
      expect(Object.entries(byDomain).sort()).toEqual([
        ['FIN', 1],
        ['HR', 1],
        ['__proto__', 1],
      ]);
      expect(registry.get(sample(2).key)?.covered).toBe(true);
      registry.setCovered(sample(2).key, false);
      expect(registry.statistics().pending).toBe(3);
      expect(registry.get(sample(2).key)?.covered).toBe(false);
    });

    test('after close, all calls are rejected except close', async () => {
      const registry = await open();
      registry.put(sample(1));
      registry.close();
      registry.close();
      const { key } = sample(1);
      const uses: (() => unknown)[] = [
        () => registry.get(key),
        () => registry.put(sample(2)),
        () => registry.putAll([sample(2)]),
        () => registry.markSeen(key),
        () => registry.remove(key),
        () => registry.candidates('HR', ['fetch'], 1),
        () => registry.reserve(key, 1),
        () => registry.renew(key, 'token', 1),
        () => registry.release(key, 'token'),
        () => [...registry.entries()],
        () => registry.setCovered(key, true),
        () => registry.statistics(),
        () => registry.purge(),
        () => registry.flush(),
      ];
      for (const use of uses) expect(use).toThrow(expect.objectContaining({ code: 'store-closed' }));
      expect(uses[0]).toThrow(StoreError);
    });

    test.each([
      ['key', { key: 7 }],
      ['packet', { packet: undefined }],
      ['model', { model: 7 }],
      ['cost', { cost: Number.NaN }],
      ['cost', { cost: -1 }],
      ['createdAt', { createdAt: 1.5 }],
      ['createdAt', { createdAt: 9e15 }],
      ['timesSeen', { timesSeen: 0 }],
      ['timesSeen', { timesSeen: 1e300 }],
      ['covered', { covered: 1 }],
      ['origin', { origin: 'nowhere' }],
      ['origin', { origin: undefined }],
      ['terms', { terms: 'fetch' }],
      ['terms', { terms: [7] }],
    ])('an entry with an invalid %s is a TypeError that names it', async (name, changes) => {
      const registry = await open();
      expect(() => registry.put({ ...sample(1), ...changes } as NewEntry)).toThrow(TypeError);
      expect(() => registry.put({ ...sample(1), ...changes } as NewEntry)).toThrow(name);
      expect(registry.statistics().entries).toBe(0);
    });

    test.each([
      ['ttlMs', { ttlMs: 0 }],
      ['ttlMs', { ttlMs: Number.NaN }],
      ['maxEntries', { maxEntries: 0 }],
      ['maxEntries', { maxEntries: 1.5 }],
      ['now', { now: 7 }],
      ['maxEntry', { maxEntry: 7 }],
    ])('an invalid option %s is a TypeError that names it', async (name, options) => {
      await expect(open(options as RegistryOptions)).rejects.toThrow(TypeError);
      await expect(open(options as RegistryOptions)).rejects.toThrow(name);
    });

    test('an invalid lease, and a clock that returns no time, are TypeErrors', async () => {
      const registry = await open();
      for (const lease of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
        expect(() => registry.reserve('key', lease)).toThrow(TypeError);
      }
      const timeless = await open({ now: () => Number.NaN });
      expect(() => timeless.put(sample(1))).toThrow(TypeError);
    });
  });

test.each(OTHER_REGISTRIES)(
  '%s: entries are found, counted, reserved and removed, also after it is opened again',
  async (_name, open) => {
    const file = fresh();
    const first = await open(file);
    expect(first.putAll([sample(1), sample(2)])).toBe(2);
    first.markSeen(sample(1).key);
    expect(first.reserve(UNKNOWN, 60_000)).toMatchObject({ kind: 'granted' });
    first.close();
    const second = await open(file);
    expect(second.get(sample(1).key)).toMatchObject({ ...sample(1), timesSeen: 2 });
    expect(keysOf(second.candidates('HR', ['fetch'], 9)).sort()).toEqual([sample(1).key, sample(2).key].sort());
    expect(second.reserve(UNKNOWN, 60_000)).toMatchObject({ kind: 'taken' });
    expect(second.remove(sample(1).key)).toBe(true);
    expect(keysOf(second.entries())).toEqual([sample(2).key]);
    second.close();
  },
);

/** Operations on a registry, with few keys and terms so that they collide. */
const number = fc.integer({ min: 0, max: 7 });
const terms = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 4 });
const step = fc.oneof(
  fc.record({ do: fc.constant('put' as const), number, terms, domain: fc.constantFrom('HR', 'FIN') }),
  fc.record({ do: fc.constantFrom('seen', 'remove', 'cover', 'get', 'reserve', 'release'), number }),
  fc.record({ do: fc.constantFrom('flush', 'purge') }),
  fc.record({ do: fc.constant('pass' as const), milliseconds: fc.integer({ min: 1, max: 400 }) }),
  fc.record({ do: fc.constant('candidates' as const), terms }),
);

/** Executes an operation, and returns its result. Tokens differ from registry to registry. */
function take(registry: Registry, action: Record<string, unknown>, tokens: Map<string, string>): unknown {
  const { key } = sample(Number(action['number']));
  switch (action['do']) {
    case 'put':
      return registry.put(
        sample(Number(action['number']), { terms: action['terms'] as string[], domain: action['domain'] as string }),
      ).createdAt;
    case 'seen':
      return registry.markSeen(key);
    case 'remove':
      return registry.remove(key);
    case 'cover':
      return registry.setCovered(key, true);
    case 'get':
      return registry.get(key)?.packet;
    case 'reserve': {
      const reservation = registry.reserve(key, 300);
      if (reservation.kind === 'granted') tokens.set(key, reservation.token);
      return reservation.kind === 'taken' ? reservation : reservation.kind;
    }
    case 'release':
      return [registry.renew(key, tokens.get(key) ?? '', 200), registry.release(key, tokens.get(key) ?? '')];
    case 'flush':
      return registry.flush();
    case 'purge':
      return registry.purge();
    case 'candidates':
      return keysOf(registry.candidates('HR', action['terms'] as string[], 5));
    default:
      return undefined;
  }
}

test('a registry in a file and one in memory never differ', async () => {
  const [, openMemory] = REGISTRIES[0]!;
  const [, openFile] = REGISTRIES[1]!;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const clock = handClock();
      const both = [openMemory, openFile].map((open) => open(fresh(), { now: clock, ttlMs: 1000, maxEntries: 5 }));
      const registries = await Promise.all(both);
      const tokens = registries.map(() => new Map<string, string>());
      for (const action of steps) {
        // Of two entries that were seen in the same millisecond, either may be removed first.
        clock.pass('milliseconds' in action ? action.milliseconds : 1);
        const [memory, file] = registries.map((registry, index) => take(registry, action, tokens[index]!));
        expect(file).toEqual(memory);
      }
      const [memory, file] = registries.map((registry) => [[...registry.entries()], registry.statistics()]);
      expect(file).toEqual(memory);
      for (const registry of registries) registry.close();
    }),
    runs(40),
  );
});
