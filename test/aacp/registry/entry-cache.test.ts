/** The entries that were used last are cached; memory is bounded. */
import { expect, test } from 'vitest';
import { entryCache } from '../../../src/aacp/registry/database-registry.js';
import type { RegistryEntry } from '../../../src/aacp/registry/registry.js';

const entry = (key: string) => ({ key }) as RegistryEntry;
const key = (number: number) => `key${number}`;

/** The numbers of the cached entries after `count` were set, while the first one was in use all the time. */
function left(size: number, count: number): number[] {
  const numbers = Array.from({ length: count }, (_, number) => number);
  return numbers.filter((wanted) => {
    // A lookup moves an entry to the front, in each cache.
    const cache = entryCache(size);
    for (const number of numbers) {
      cache.set(key(number), entry(key(number)));
      cache.get(key(0));
    }
    return cache.get(key(wanted)) !== undefined;
  });
}

test.each([1, 5, 10, 11, 25, 40])(
  'of %i entries, the last ones and those in use are cached, within the limit',
  (count) => {
    const numbers = left(10, count);
    expect(numbers[0]).toBe(0);
    expect(numbers.length).toBeLessThanOrEqual(20);
    expect(numbers.length).toBeGreaterThanOrEqual(Math.min(count, 10));
    expect(numbers.at(-1)).toBe(count - 1);
    const last = numbers.slice(1);
    expect(last).toEqual(last.map((_, index) => count - last.length + index));
  },
);

test('an entry that is set again is replaced; a deleted entry is gone', () => {
  const cache = entryCache(2);
  for (const number of [1, 2, 3]) cache.set(key(number), entry(key(number)));
  const again = entry(key(1));
  cache.set(key(1), again);
  expect(cache.get(key(1))).toBe(again);
  for (const number of [1, 2, 3]) cache.delete(key(number));
  for (const number of [1, 2, 3]) expect(cache.get(key(number))).toBe(undefined);
  cache.set(key(4), entry(key(4)));
  cache.clear();
  expect(cache.get(key(4))).toBe(undefined);
});
