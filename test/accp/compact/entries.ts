import type { Table } from '../../../src/accp/compact/tables.js';

/** Returns the entries of a table with their numbers: the static ones, then the learned ones, the oldest first. */
export function entriesOf<T>(table: Table<T>): (readonly [number, T])[] {
  const entries: (readonly [number, T])[] = [];
  table.forEach((entry, number) => {
    entries.push([number, entry]);
  });
  return entries;
}
