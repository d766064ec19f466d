/** Putting many entries at once. */
import { afterEach, describe, expect, test } from 'vitest';
import { importPatterns } from '../../../src/aacp/registry/exchange.js';
import type { RegistryOptions } from '../../../src/aacp/registry/options.js';
import type { NewEntry, Registry } from '../../../src/aacp/registry/registry.js';
import { sqliteRegistry } from '../../../src/aacp/registry/sqlite.js';
import { freshFiles } from '../../storage/folder.js';
import { REGISTRIES } from './registries.js';
import { handClock, sample } from './sample.js';

const fresh = freshFiles();
const MANY = 1300;

function* samples(count: number): Iterable<NewEntry> {
  for (let number = 0; number < count; number++) yield sample(number);
}

/** Those in files and in memory; each entry takes several round trips to a server. */
const EMBEDDED = REGISTRIES.filter(([name]) => !name.startsWith('PostgreSQL'));

describe.each(EMBEDDED)('%s', (_name, openAt) => {
  const opened: Registry[] = [];

  async function open(options: RegistryOptions = {}): Promise<Registry> {
    const registry = await openAt(fresh(), { now: handClock(), ...options });
    opened.push(registry);
    return registry;
  }

  afterEach(() => {
    for (const registry of opened.splice(0)) registry.close();
  });

  test('has the same result as putting them one by one', async () => {
    const [one, other] = [await open(), await open()];
    for (const entry of samples(MANY)) one.put(entry);
    expect(other.putAll(samples(MANY))).toBe(MANY);
    expect([...other.entries()]).toEqual([...one.entries()]);
    expect(other.get(sample(1299).key)).toMatchObject(sample(1299));
    expect(other.candidates('HR', ['item700'], 9)).toMatchObject([{ key: sample(700).key }]);
  });

  test('counts an entry that comes twice, and keeps the last packet', async () => {
    const registry = await open();
    const packet = 'ACK|HR|return:HR-Agent|p:2|aacp:1.1';
    expect(registry.putAll([sample(1), sample(2), sample(1, { packet })])).toBe(3);
    expect(registry.get(sample(1).key)).toMatchObject({ packet, timesSeen: 2 });
    expect(registry.statistics().entries).toBe(2);
    expect(registry.putAll([])).toBe(0);
  });

  test('ends the reservations of their keys', async () => {
    const registry = await open();
    registry.reserve(sample(1).key, 1000);
    registry.putAll(samples(3));
    registry.remove(sample(1).key);
    expect(registry.reserve(sample(1).key, 1000)).toMatchObject({ kind: 'granted' });
  });

  test('records which of them a rule covers, and keeps earlier records', async () => {
    const registry = await open();
    registry.putAll([sample(1, { covered: true }), sample(2), sample(3, { covered: true })]);
    registry.putAll([sample(1), sample(3, { covered: false })]);
    expect(Array.from(registry.entries(), ({ covered }) => covered)).toEqual([true, false, false]);
    expect(registry.statistics().pending).toBe(2);
  });

  test('keeps the limit on entries, as closely as put does', async () => {
    const registry = await open({ maxEntries: 100 });
    registry.putAll(samples(MANY));
    const { entries } = registry.statistics();
    expect(entries).toBeGreaterThanOrEqual(100);
    expect(entries).toBeLessThan(107);
    expect(registry.get(sample(MANY - 1).key)).toBeDefined();
    expect(registry.get(sample(0).key)).toBe(undefined);
  });

  test('stops at an invalid entry, and keeps the entries written before', async () => {
    const registry = await open();
    function* broken(): Iterable<NewEntry> {
      yield* samples(MANY);
      yield { ...sample('bad'), key: 7 as never };
      yield sample('never');
    }
    expect(() => registry.putAll(broken())).toThrow(TypeError);
    const { entries } = registry.statistics();
    expect(entries).toBeGreaterThanOrEqual(1024);
    expect(entries).toBeLessThanOrEqual(MANY);
    expect(registry.get(sample('never').key)).toBe(undefined);
    registry.put(sample('later'));
    expect(registry.get(sample('later').key)).toBeDefined();
  });

  test('accepts an iterable that reads and changes the registry itself', async () => {
    const registry = await open();
    registry.putAll(samples(600));
    function* changing(): Iterable<NewEntry> {
      for (const entry of registry.entries()) {
        registry.markSeen(entry.key);
        registry.remove(sample('none').key);
        yield entry;
      }
    }
    expect(registry.putAll(changing())).toBe(600);
    expect(registry.statistics()).toMatchObject({ entries: 600, served: 600 });
  });

  test.each([
    ['few', 3],
    ['many', MANY],
  ])('puts nothing into a registry that was closed meanwhile: %s', async (_amount, count) => {
    const registry = await open();
    let given = 0;
    function* closing(): Iterable<NewEntry> {
      for (const entry of samples(count)) {
        if (++given === 2) registry.close();
        yield entry;
      }
    }
    expect(() => registry.putAll(closing())).toThrow(expect.objectContaining({ code: 'store-closed' }));
    // It stops at the first entry that cannot be kept, or after the first batch.
    expect(given).toBeLessThan(1024);
  });

  test('imports a whole file of the reference SDK, each instruction once', async () => {
    const registry = await open({ now: Date.now });
    const pattern = (number: number) => ({
      domain: 'HR',
      english: `Fetch the records of item ${number}`,
      aacp_packet: `FETCH|HR|return:HR-Agent|p:2|aacp:1.1|res:item_${number}`,
      times_seen: 1 + (number % 7),
    });
    const file = [...Array.from({ length: MANY }, (_, number) => pattern(number % 1000)), null];
    expect(importPatterns(registry, file)).toMatchObject({ imported: 1000, merged: 300, skipped: [{ index: MANY }] });
    expect(registry.statistics()).toMatchObject({ entries: 1000 });
    const covered = file.slice(0, 5).map((one) => ({ ...one, times_seen: 1, rule_based_written: true }));
    expect(importPatterns(registry, [...covered, ...covered])).toMatchObject({ imported: 0, merged: 10 });
    expect(importPatterns(registry, [pattern(3)])).toMatchObject({ merged: 1 });
    expect(registry.statistics().pending).toBe(995);
    const [, , , fourth] = registry.entries();
    expect(fourth).toMatchObject({ covered: true, timesSeen: 4 });
  });
});

test('entries that are put together become visible to others together', async () => {
  const file = fresh();
  const [one, other] = [await sqliteRegistry(file), await sqliteRegistry(file)];
  const seen: number[] = [];
  function* watched(): Iterable<NewEntry> {
    for (const entry of samples(MANY)) {
      const { entries } = other.statistics();
      if (seen.at(-1) !== entries) seen.push(entries);
      yield entry;
    }
  }
  one.putAll(watched());
  expect(seen.length).toBeGreaterThan(1);
  expect(seen.length).toBeLessThan(10);
  expect(other.statistics().entries).toBe(MANY);
  one.close();
  other.close();
});
