import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createTakeOldest } from '../../../src/accp/store/journal.js';

test('removes the first entry of a new iterator, for any changes in between', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('set' as const), key: fc.nat(6) }),
    fc.record({ kind: fc.constant('delete' as const), key: fc.nat(6) }),
    fc.record({ kind: fc.constant('take' as const), key: fc.constant(0) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const map = new Map<number, number>();
      const takeOldest = createTakeOldest(map);
      for (const [index, { kind, key }] of steps.entries()) {
        if (kind === 'set') map.set(key, index);
        else if (kind === 'delete') map.delete(key);
        else {
          const expected = map.entries().next().value;
          const size = map.size;
          expect(takeOldest()).toEqual(expected);
          expect(map.size).toBe(Math.max(0, size - 1));
        }
      }
    }),
    { numRuns: 500 },
  );
});

test('works with sets, too', () => {
  const set = new Set(['a', 'b']);
  const takeOldest = createTakeOldest(set);
  expect([takeOldest(), takeOldest(), takeOldest()]).toEqual([['a', 'a'], ['b', 'b'], undefined]);
  set.add('c');
  expect(takeOldest()).toEqual(['c', 'c']);
});
