import fc from 'fast-check';
import { expect, test } from 'vitest';
import { recency, type Seen } from '../../../src/aacp/registry/memory.js';

interface Item extends Seen {
  readonly name: number;
}

test('the oldest is always the one that was not seen for the longest time', () => {
  const steps = fc.array(fc.option(fc.nat(12), { freq: 3 }), { maxLength: 80 });
  fc.assert(
    fc.property(steps, (all) => {
      const items = new Map<number, Item>();
      /** The names, in the order in which they were seen. */
      const order = new Set<number>();
      const { touch, oldest } = recency(() => items.values());
      for (const name of all) {
        if (name === null) {
          const [expected] = order;
          const item = oldest();
          expect(item?.name).toBe(expected);
          if (item === undefined) continue;
          items.delete(item.name);
          order.delete(item.name);
          item.turn = 0;
        } else if (name === 12) {
          // One goes by itself.
          const [first] = items.values();
          if (first === undefined) continue;
          items.delete(first.name);
          order.delete(first.name);
          first.turn = 0;
        } else {
          const item = items.get(name) ?? { name, turn: 0 };
          items.set(name, item);
          order.delete(name);
          order.add(name);
          touch(item);
        }
      }
    }),
  );
});

test('holds for more than are noted at a time', () => {
  const items = new Map(Array.from({ length: 10_000 }, (_, name): [number, Item] => [name, { name, turn: 0 }]));
  const { touch, oldest } = recency(() => items.values());
  for (const item of items.values()) touch(item);
  for (const name of [0, 5000, 9999]) touch(items.get(name)!);
  const gone: number[] = [];
  for (let item = oldest(); item !== undefined; item = oldest()) {
    gone.push(item.name);
    items.delete(item.name);
    item.turn = 0;
  }
  const untouched = [...Array(10_000).keys()].filter((name) => ![0, 5000, 9999].includes(name));
  expect(gone).toEqual([...untouched, 0, 5000, 9999]);
});
