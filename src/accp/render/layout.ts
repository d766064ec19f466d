/** The lines of values: what is short on one line, texts and tables on lines of their own. */
import type { Param, Value } from '../ast.js';
import { accpError } from '../errors.js';
import { isBlock, isPlain, keyText, nameText, type Place, quotedText } from './scalars.js';
import { type Column, MAX_NAME, type Table, tableOf } from './table.js';

/** The settings of the layout. */
export interface Layout {
  /** The maximum length of a string. */
  readonly maxLength: number;
  /** Counts the tokens of a text: the cheapest of several forms is taken. */
  readonly count: (text: string) => number;
}

/** Members between spaces, and the lines that follow them. */
interface Parts {
  readonly words: readonly string[];
  readonly lines: readonly string[];
}

/** Returns the lines of members, the first of which begins with `head`. */
export function memberLines(head: string, members: readonly Param[], layout: Layout): string[] {
  const parts = joined(members.map(({ key, value }) => memberParts(keyText(key), value, layout)));
  return linesOf({ words: head === '' ? parts.words : [head, ...parts.words], lines: parts.lines });
}

function memberParts(key: string, value: Value, layout: Layout): Parts {
  const text = textOf(value);
  if (text !== null && text.length <= layout.maxLength) {
    if (isBlock(text)) return { words: [], lines: [`${key}:`, ...blockLines(text)] };
    if (text.includes(' ') && isPlain(text, 'line')) return { words: [], lines: [`${key}: ${text}`] };
  }
  const table = tableOf(value);
  if (table !== null) return { words: [], lines: tableLines(key, table, layout) };
  const word = { words: [`${key}=${valueText(value, 'word', layout)}`], lines: [] };
  if (value.kind !== 'map' || key.length > MAX_NAME || !value.entries.some((entry) => takesLines(entry.value)))
    return word;
  const members = value.entries.map((entry) => memberParts(`${key}.${nameText(entry.key)}`, entry.value, layout));
  return cheapest([joined(members), word], layout);
}

function takesLines(value: Value): boolean {
  if (value.kind === 'map') return value.entries.some((entry) => takesLines(entry.value));
  const text = textOf(value);
  return text === null ? tableOf(value) !== null : isBlock(text);
}

function joined(parts: readonly Parts[]): Parts {
  return { words: parts.flatMap(({ words }) => words), lines: parts.flatMap(({ lines }) => lines) };
}

function linesOf({ words, lines }: Parts): string[] {
  return words.length === 0 ? [...lines] : [words.join(' '), ...lines];
}

/** Returns the first of the forms with the fewest tokens. */
function cheapest(forms: readonly Parts[], { count }: Layout): Parts {
  const costs = forms.map((form) => count(linesOf(form).join('\n')));
  return forms[costs.indexOf(Math.min(...costs))]!;
}

/** Returns the first of the lists of lines with the fewest tokens. */
export function cheapestLines(forms: readonly (readonly string[])[], layout: Layout): string[] {
  return linesOf(
    cheapest(
      forms.map((lines) => ({ words: [], lines })),
      layout,
    ),
  );
}

/** Returns the lines of a text below its key. */
export function blockLines(text: string): string[] {
  return text.split('\n').map((line) => ` ${line}`);
}

/** Returns the text of a string, or of a reference without a path in a handmade tree; null for other values. */
export function textOf(value: Value): string | null {
  if (value.kind === 'string') return value.value;
  return value.kind === 'ref' && !PATH.test(value.path) ? `$${value.path}` : null;
}

// ---- Tables ---------------------------------------------------------------------------------------------------------

/** Returns a table with the separator that needs fewer tokens: spaces suit words, commas suit texts. */
export function tableLines(head: string, table: Table, layout: Layout): string[] {
  const constants = constantsOf(table, layout);
  return cheapestLines(
    [spacedLines(head, table, constants, layout), commaLines(head, table, constants, layout)],
    layout,
  );
}

/** The texts of columns whose cells are all equal; the heading states them once. */
type Constants = ReadonlyMap<Column, string>;

/** The last cell ends with the line, so that a text in it needs no quotes. */
function spacedLines(head: string, { length, columns }: Table, constants: Constants, layout: Layout): string[] {
  const ordered = textLast(columns, constants);
  const cells = ordered.filter((column) => !constants.has(column));
  const last = cells.length - 1;
  const rows = Array.from({ length }, (_, row) =>
    cells.map((column, index) => cellText(column, row, index === last ? 'line' : 'word', layout)).join(' '),
  );
  return [`${head}(${ordered.map((column) => titleOf(column, constants)).join(' ')}):`, ...rows.map(rowLine)];
}

function commaLines(head: string, { length, columns }: Table, constants: Constants, layout: Layout): string[] {
  const cells = columns.filter((column) => !constants.has(column));
  const rows = Array.from({ length }, (_, row) =>
    cells.map((column) => cellText(column, row, 'item', layout)).join(','),
  );
  return [`${head}(${columns.map((column) => titleOf(column, constants)).join(',')}):`, ...rows.map(rowLine)];
}

/** A space before a digit would be a token of its own; no other line begins with a digit. */
function rowLine(text: string): string {
  return /^\d/.test(text) ? text : ` ${text}`;
}

/** Moves the column with most texts to the end. */
function textLast(columns: readonly Column[], constants: Constants): readonly Column[] {
  let last: Column | undefined;
  let most = 1;
  for (const column of columns) {
    if (constants.has(column)) continue;
    let texts = 0;
    for (const value of column.cells.values()) if (textOf(value)?.includes(' ') === true) texts++;
    if (texts < most) continue;
    most = texts;
    last = column;
  }
  return last === undefined ? columns : [...columns.filter((column) => column !== last), last];
}

function constantsOf({ length, columns }: Table, layout: Layout): Constants {
  const constants = new Map<Column, string>();
  for (const column of columns) {
    const text = column.cells.size < length ? null : commonText(column, layout);
    if (text !== null) constants.set(column, text);
  }
  // A row has at least one cell.
  if (constants.size === columns.length) constants.delete(columns[0]!);
  return constants;
}

/** Returns the text of the cells if all are equal and fit in a heading. */
function commonText({ cells }: Column, { maxLength }: Layout): string | null {
  let common: string | null = null;
  for (const value of cells.values()) {
    if (value.kind === 'array' || value.kind === 'map') return null;
    const text = textOf(value);
    if (text !== null && text.length > maxLength) return null;
    const own = text === null ? literalText(value) : isPlain(text, 'word') && WORD.test(text) ? text : quotedText(text);
    if (common !== null && own !== common) return null;
    common = own;
  }
  return common;
}

function titleOf(column: Column, constants?: Constants): string {
  const { name, inner } = column;
  const constant = constants?.get(column);
  if (constant !== undefined) return `${name}=${constant}`;
  return inner === null ? name : name + innerTitle(inner.columns);
}

function innerTitle(columns: readonly Column[]): string {
  return `(${columns.map((column) => titleOf(column)).join(' ')})`;
}

function cellText({ inner, cells }: Column, row: number, place: Place, layout: Layout): string {
  const value = cells.get(row);
  if (value === undefined) return place === 'item' ? '' : '-';
  if (inner === null || value.kind !== 'array') return valueText(value, place, layout);
  return innerRows(inner.columns, inner.starts.get(row)!, value.items.length, layout);
}

/** Returns rows on one line. */
function innerRows(columns: readonly Column[], start: number, length: number, layout: Layout): string {
  const rows = Array.from({ length }, (_, index) =>
    columns.map((column) => cellText(column, start + index, 'word', layout)).join(' '),
  );
  return `[${rows.join(',')}]`;
}

// ---- Values on one line ---------------------------------------------------------------------------------------------

/** Returns the text of a value on one line. */
export function valueText(value: Value, place: Place, layout: Layout): string {
  switch (value.kind) {
    case 'array': {
      const table = tableOf(value);
      if (table !== null) return innerTitle(table.columns) + innerRows(table.columns, 0, table.length, layout);
      return `[${value.items.map((item) => valueText(item, 'item', layout)).join(',')}]`;
    }
    case 'map':
      return `{${value.entries
        .map((entry) => `${nameText(entry.key)}=${valueText(entry.value, 'word', layout)}`)
        .join(' ')}}`;
    default: {
      const text = textOf(value);
      return text === null ? literalText(value) : stringText(text, place, layout);
    }
  }
}

/** The note on a cut is outside the quotes, where strings cannot be. */
function stringText(text: string, place: Place, { maxLength }: Layout): string {
  if (text.length > maxLength)
    return `${quotedText(text.slice(0, maxLength))} (${text.length - maxLength} characters omitted)`;
  return isPlain(text, place) ? text : quotedText(text);
}

const PATH = /^[A-Za-z0-9_.]+$/;
const WORD = /^[A-Za-z0-9_.+-]+$/;
const DIGITS = /^-?\d+(?:\.\d+)?$/;

function literalText(value: Value): string {
  switch (value.kind) {
    case 'ref':
      return `$${value.path}`;
    case 'integer':
    case 'decimal':
      if (value.text !== undefined && DIGITS.test(value.text)) return value.text;
      if (typeof value.value === 'bigint' || Number.isFinite(value.value)) return String(value.value);
      throw accpError('E1004', 'payload', `${value.value} is not a value of a message`);
    case 'boolean':
      return String(value.value);
    default:
      return 'null';
  }
}
