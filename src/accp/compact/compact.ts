/** The conversion of plain frames to compact ones. */
import type { TokenCounter } from '../../tokens/counter.js';
import type { Frame, MapValue, Param, Value } from '../ast.js';
import { OTHER_KIND, printFrame } from '../print.js';
import { ABSENT, numberIn, spell, spellKey, spellPath } from './spelling.js';
import { type CompactTables, type Shape, shapeKey } from './tables.js';

/** The maximum nesting of a frame, which a shape adds to. */
const MAX_DEPTH = 5;
/** The maximum number of learned costs, at which they are forgotten. */
const MAX_COSTS = 4096;
/** The number of tokens that a numbered list has more than a map, besides keys. */
const LIST_TOKENS = 2;

/** Header and body of a compact frame. */
export interface Compacted {
  readonly text: string;
  /** `true` if the values are listed under the count. */
  readonly hasCount: boolean;
}

/** A writer of compact frames, which updates the tables of one sender. */
export class Compactor {
  readonly #tables: CompactTables;
  readonly #counter: TokenCounter;
  readonly #costs = new Map<string, number>();

  constructor(tables: CompactTables, counter: TokenCounter) {
    this.#tables = tables;
    this.#counter = counter;
  }

  /**
   * Returns header and body in the cheapest spelling, and updates the tables; `null` if the frame has no compact form. Only marks make it
   * longer than the plain one: those of strings such as `-` and `#1`, and of keys and references that would read as numbers.
   *
   * @param plain the canonical text of header and body
   * @param count the number under which the values of a numbered operation are listed
   */
  compact(frame: Frame, plain: string, count: number): Compacted | null {
    if (numberIn(frame.operation) !== undefined) return null;
    const mark = this.#tables.mark();
    const short = this.#print(frame, count, true);
    if (this.#counter.count(short.text) < this.#counter.count(plain)) return short;
    this.#tables.rollBack(mark);
    return this.#print(frame, count, false);
  }

  #print(frame: Frame, count: number, isShort: boolean): Compacted {
    const { agent, intent } = frame;
    const writing = new Writing(this.#tables, isShort, (text) => this.#costOf(text));
    const { operation, payload } = writing.body(frame, String(count));
    const text = printFrame({ kind: 'frame', agent, intent, operation, payload, metadata: null });
    return { text, hasCount: operation !== frame.operation && payload.length > 0 };
  }

  /** The number of tokens of a value after a colon, with which it may merge. */
  #costOf(text: string): number {
    let cost = this.#costs.get(text);
    if (cost === undefined) {
      cost = this.#counter.count(`:${text}`);
      if (this.#costs.size >= MAX_COSTS) this.#costs.clear();
      this.#costs.set(text, cost);
    }
    return cost;
  }
}

/** The conversion of one frame. If `isShort` is false, values are only spelled, and the tables learn from them. */
class Writing {
  readonly #tables: CompactTables;
  readonly #isShort: boolean;
  readonly #costOf: (text: string) => number;

  constructor(tables: CompactTables, isShort: boolean, costOf: (text: string) => number) {
    this.#tables = tables;
    this.#isShort = isShort;
    this.#costOf = costOf;
  }

  body({ operation, payload }: Frame, count: string): Pick<Frame, 'operation' | 'payload'> {
    const own = payloadShape(operation, payload);
    const params = own.schema === null ? payload : payload.slice(0, -1);
    const found = hasRoomForList(params, 0) ? this.#findPayload(own) : undefined;
    if (found === undefined) {
      this.#tables.learnShape(own);
      const written = params.map(({ key, value }) => ({ key: spellKey(key), value: this.#value(value, 0) }));
      return { operation, payload: own.schema === null ? written : [...written, payload.at(-1)!] };
    }
    const { keys } = found.shape;
    const isBound = found.shape.operation !== null;
    if (!isBound) this.#tables.learnShape({ ...own, keys });
    const items = this.#list(keys, params, 1);
    const written = [{ key: isBound ? count : String(found.number + 1), value: { kind: 'array', items } as const }];
    return {
      operation: isBound ? String(found.number) : operation,
      payload: isBound && items.length === 0 ? [] : written,
    };
  }

  /** @param depth the number of enclosing arrays and maps, as written */
  #value(value: Value, depth: number): Value {
    switch (value.kind) {
      case 'string':
        return this.#string(value.value);
      case 'ref':
        return { kind: 'ref', path: spellPath(value.path) };
      case 'array':
        return this.#array(value.items, depth);
      case 'map':
        return this.#map(value, depth);
      default:
        return value;
    }
  }

  #string(text: string): Value {
    const { strings } = this.#tables;
    const known = strings.numberOf(text);
    const spelled = spell(text);
    if (known === undefined) this.#tables.learnString(text);
    else if (this.#isShort && this.#costOf(`$${known}`) < this.#costOf(spelled))
      return { kind: 'ref', path: String(known) };
    return { kind: 'string', value: spelled };
  }

  #array(items: readonly Value[], depth: number): Value {
    const rows = this.#isShort ? rowsOf(items, depth) : null;
    if (rows === null) return { kind: 'array', items: items.map((item) => this.#value(item, depth + 1)) };
    const columns = [...new Set(rows.flatMap(({ entries }) => entries.map(({ key }) => key)))].sort(bySpelling);
    const found = this.#find({ operation: null, schema: null, keys: columns });
    const keys = found?.shape.keys ?? columns;
    if (found === undefined) this.#tables.learnShape({ operation: null, schema: null, keys });
    const lists = rows.map(({ entries }): Value => ({ kind: 'array', items: this.#list(keys, entries, depth + 3) }));
    if (found !== undefined) return numbered(2 * found.number + 2, lists);
    const header: Value = { kind: 'array', items: keys.map((key) => ({ kind: 'string', value: key })) };
    return numbered(0, [header, ...lists]);
  }

  #map({ entries: unsorted }: MapValue, depth: number): Value {
    // The printer sorts maps, and both sides must learn in the order of the text.
    const entries = unsorted.toSorted((a, b) => bySpelling(a.key, b.key));
    const shape = { operation: null, schema: null, keys: entries.map(({ key }) => key) };
    if (entries.length > 1) {
      const found = hasRoomForList(entries, depth + 1) ? this.#find(shape) : undefined;
      if (found !== undefined) return numbered(2 * found.number + 1, this.#list(found.shape.keys, entries, depth + 2));
      this.#tables.learnShape(shape);
    }
    return {
      kind: 'map',
      entries: entries.map(({ key, value }) => ({ key: spellKey(key), value: this.#value(value, depth + 1) })),
    };
  }

  /** Returns the values in the order of a shape, without absent ones at the end. */
  #list(keys: readonly string[], entries: readonly Param[], depth: number): Value[] {
    const items: Value[] = [];
    const values = new Map(entries.map(({ key, value }) => [key, value]));
    for (const key of keys) {
      if (values.size === 0) break;
      const value = values.get(key);
      values.delete(key);
      items.push(value === undefined ? { kind: 'string', value: ABSENT } : this.#value(value, depth));
    }
    return items;
  }

  #findPayload(shape: Shape): Found | undefined {
    return this.#find(shape) ?? (shape.schema === null ? undefined : this.#find({ ...shape, operation: null }));
  }

  /** Returns the shape with these keys, or the one that has them and the fewest others before the last of them. */
  #find(shape: Shape): Found | undefined {
    if (!this.#isShort) return undefined;
    const { shapes } = this.#tables;
    const exact = shapes.numberOf(shapeKey(shape));
    if (exact !== undefined) return { number: exact, shape: shapes.at(exact)! };
    let best: Found | undefined;
    // An absent value costs a token, and a list two more than a map; both have the tokens of the values.
    let least = shape.keys.reduce((tokens, key) => tokens + this.#costOf(key), shape.keys.length - LIST_TOKENS);
    for (const [number, other] of shapes.all()) {
      if (other.operation !== shape.operation || other.schema !== shape.schema) continue;
      const length = lengthWithin(shape.keys, other.keys);
      if (length >= least) continue;
      least = length;
      best = { number, shape: other };
    }
    return best;
  }
}

interface Found {
  readonly number: number;
  readonly shape: Shape;
}

/** Returns the shape of a payload. The schema belongs to it if it comes last, as the codec writes it. */
export function payloadShape(operation: string, payload: readonly Param[]): Shape {
  const last = payload.at(-1);
  const schema = last?.key === 'schema' && last.value.kind === 'string' ? last.value.value : null;
  const own = schema !== null && /^[A-Za-z0-9_]+$/.test(schema) ? schema : null;
  const params = own === null ? payload : payload.slice(0, -1);
  return { operation, schema: own, keys: params.map(({ key }) => key) };
}

/** Returns the items if they are a table: at least two maps whose keys are alike. */
function rowsOf(items: readonly Value[], depth: number): readonly MapValue[] | null {
  if (items.length < 2) return null;
  const rows: MapValue[] = [];
  const keys = new Set<string>();
  let cells = 0;
  for (const item of items) {
    if (item.kind !== 'map' || item.entries.length === 0) return null;
    for (const { key, value } of item.entries) {
      // The keys of a new shape are strings of the first row.
      if (depth + 3 + depthOf(value) > MAX_DEPTH || OTHER_KIND.test(key)) return null;
      keys.add(key);
    }
    cells += item.entries.length;
    rows.push(item);
  }
  return 2 * keys.size * rows.length <= 3 * cells ? rows : null;
}

function numbered(number: number, items: readonly Value[]): Value {
  return { kind: 'map', entries: [{ key: String(number), value: { kind: 'array', items } }] };
}

function bySpelling(a: string, b: string): number {
  return spellKey(a) < spellKey(b) ? -1 : 1;
}

/** Returns the number of values of a list with these keys in a shape with the others; `Infinity` if it lacks one. */
function lengthWithin(keys: readonly string[], others: readonly string[]): number {
  let length = 0;
  for (const key of keys) {
    const at = others.indexOf(key);
    if (at < 0) return Number.POSITIVE_INFINITY;
    length = Math.max(length, at + 1);
  }
  return length;
}

/** Returns `true` if values may nest one level more. Tables below save more than the list, so their levels come first. */
function hasRoomForList(entries: readonly Param[], depth: number): boolean {
  const room = MAX_DEPTH - depth;
  const withTables = deepest(entries, true);
  return withTables < room || (withTables > room && deepest(entries, false) < room);
}

function deepest(entries: readonly Param[], withTables: boolean): number {
  return entries.reduce((depth, { value }) => Math.max(depth, depthOf(value, withTables)), 0);
}

/** Returns the number of levels of a value, with tables as lists of maps or as tables. */
function depthOf(value: Value, withTables = false): number {
  if (value.kind === 'map') return 1 + deepest(value.entries, withTables);
  if (value.kind !== 'array') return 0;
  const isTable = withTables && value.items.length > 1 && value.items.every(({ kind }) => kind === 'map');
  return (isTable ? 2 : 1) + value.items.reduce((depth, item) => Math.max(depth, depthOf(item, withTables)), 0);
}
