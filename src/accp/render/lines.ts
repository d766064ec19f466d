/**
 * A payload as lines. A line that begins with a key is a parameter; a line that begins with a space belongs to the parameter
 * above it: a row of its table, or a line of its text. No value begins a line in any other way.
 */
import type { Entry, Item } from './item.js';
import { isVisible, type Place, quotedText, scalarText } from './scalar.js';

/** Strings longer than this many characters are cut. */
export interface Limits {
  readonly maxLength: number;
}

const NAME = /^[A-Za-z0-9_-]+$/;

/** @returns the lines of the parameters, without line ends */
export function payloadLines(entries: readonly Entry[], limits: Limits): string[] {
  return entries.flatMap(({ key, item }) => paramLines(nameText(key), item, limits));
}

/** A name that looks like one as it is, any other as a string. */
export function nameText(name: string): string {
  return NAME.test(name) ? name : quotedText(name);
}

/** Characters of a name beyond which a map stays on one line: each line of its own repeats the name. */
const MAX_NAME = 64;

function paramLines(key: string, item: Item, limits: Limits): string[] {
  if (item.kind === 'map' && key.length <= MAX_NAME && item.entries.some(({ item: member }) => takesLines(member))) {
    return item.entries.flatMap((entry) => paramLines(`${key}.${nameText(entry.key)}`, entry.item, limits));
  }
  const columns = columnsOf(item);
  if (columns !== null) {
    const rows = rowsOf(item).map((row) => ` ${rowCells(row, columns, limits).join(',')}`);
    return [`${key}(${columns.map(nameText).join(',')}):`, ...rows];
  }
  if (item.kind === 'text' && item.text.length <= limits.maxLength && isBlock(item.text)) {
    return [`${key}:`, ...item.text.split('\n').map((line) => ` ${line}`)];
  }
  return [`${key}:${itemText(item, 'line', limits)}`];
}

/** Whether a value in a map is better read on lines of its own: a table, or text of several lines. */
function takesLines(item: Item): boolean {
  if (item.kind === 'map') return item.entries.some(({ item: member }) => takesLines(member));
  return item.kind === 'text' ? isBlock(item.text) : columnsOf(item) !== null;
}

function isBlock(text: string): boolean {
  return text.includes('\n') && isVisible(text);
}

function rowsOf(item: Item): readonly Item[] {
  return item.kind === 'list' ? item.items : [];
}

/** The keys of a list of maps that all have the same ones; null of anything else. */
function columnsOf(item: Item): readonly string[] | null {
  const rows = rowsOf(item);
  const [first] = rows;
  if (rows.length < 2 || first?.kind !== 'map' || first.entries.length === 0) return null;
  const columns = first.entries.map(({ key }) => key);
  const known = new Set(columns);
  const isLike = (row: Item): boolean =>
    row.kind === 'map' && row.entries.length === columns.length && row.entries.every(({ key }) => known.has(key));
  return rows.every(isLike) ? columns : null;
}

function rowCells(row: Item, columns: readonly string[], limits: Limits): string[] {
  const entries = row.kind === 'map' ? row.entries : [];
  const cells = new Map(entries.map(({ key, item }) => [key, item]));
  return columns.map((column) => itemText(cells.get(column)!, 'between', limits));
}

/** A value within one line. */
function itemText(item: Item, place: Place, limits: Limits): string {
  switch (item.kind) {
    case 'literal':
      return item.text;
    case 'text':
      return stringText(item.text, place, limits);
    case 'list':
      return `[${item.items.map((one) => itemText(one, 'between', limits)).join(',')}]`;
    case 'map':
      return `{${item.entries
        .map(({ key, item: member }) => `${nameText(key)}:${itemText(member, 'between', limits)}`)
        .join(',')}}`;
  }
}

/** What was cut off is told behind the quotes, where no string can stand. */
function stringText(text: string, place: Place, { maxLength }: Limits): string {
  if (text.length <= maxLength) return scalarText(text, place);
  return `${quotedText(text.slice(0, maxLength))} (${text.length - maxLength} characters left out)`;
}
