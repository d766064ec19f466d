/** Lists of maps as tables. */
import type { MapValue, Value } from '../ast.js';
import { nameText } from './scalars.js';

export interface Table {
  /** The number of rows. */
  readonly length: number;
  readonly columns: readonly Column[];
}

export interface Column {
  /** The text of the key, or of the path to a member of nested maps. */
  readonly name: string;
  /** The values by row; absent ones are missing. */
  readonly cells: ReadonlyMap<number, Value>;
  /** The table of all lists of maps within the cells; `null` if the cells hold other values. */
  readonly inner: Inner | null;
}

export interface Inner {
  readonly columns: readonly Column[];
  /** The first row of each cell, by row of the outer table. */
  readonly starts: ReadonlyMap<number, number>;
}

/** Maps with longer names are not divided, so that the name is not repeated for each member. */
export const MAX_NAME = 64;

/** The part of the cells that must be present: rows of empty cells are hard to read. */
const MIN_FILL = 0.75;

/** Returns a list of at least two maps as a table; `null` for other values, and if too many cells would be empty. */
export function tableOf(value: Value): Table | null {
  if (value.kind !== 'array' || value.items.length < 2) return null;
  const rows = new Map<number, MapValue>();
  for (const item of value.items) {
    if (!isRow(item)) return null;
    rows.set(rows.size, item);
  }
  const columns = columnsOf(rows, '');
  return columns === null ? null : { length: rows.size, columns };
}

function isRow(value: Value): value is MapValue {
  return value.kind === 'map' && value.entries.length > 0;
}

function columnsOf(rows: ReadonlyMap<number, MapValue>, prefix: string): Column[] | null {
  const columns = new Map<string, Map<number, Value>>();
  let total = 0;
  for (const [row, { entries }] of rows) {
    for (const { key, value } of entries) {
      const cells = columns.get(key) ?? new Map<number, Value>();
      // A handmade tree may have a key twice.
      if (cells.has(row)) return null;
      columns.set(key, cells.set(row, value));
      total++;
    }
  }
  if (columns.size * rows.size * MIN_FILL > total) return null;
  return [...columns].flatMap(([key, cells]) => columnOf(prefix + nameText(key), cells));
}

/** Returns a column, or those of the members if all cells are maps. */
function columnOf(name: string, cells: ReadonlyMap<number, Value>): Column | Column[] {
  if (name.length <= MAX_NAME && [...cells.values()].every(isRow)) {
    const members = columnsOf(cells as ReadonlyMap<number, MapValue>, `${name}.`);
    if (members !== null) return members;
  }
  return { name, cells, inner: innerOf(cells) };
}

function innerOf(cells: ReadonlyMap<number, Value>): Inner | null {
  const items: Value[] = [];
  const starts = new Map<number, number>();
  for (const [row, value] of cells) {
    if (value.kind !== 'array') return null;
    starts.set(row, items.length);
    for (const item of value.items) items.push(item);
  }
  const table = tableOf({ kind: 'array', items });
  return table === null ? null : { columns: table.columns, starts };
}
