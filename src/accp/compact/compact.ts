/** The conversion of plain frames to compact ones. */
import { DEFAULT_LIMITS } from '../../text/limits.js';
import { memoize } from '../../text/memoize.js';
import type { TokenCounter } from '../../tokens/counter.js';
import type { ArrayValue, Frame, MapValue, Param, Value } from '../ast.js';
import { OTHER_KIND } from '../plain.js';
import { printFrame } from '../print.js';
import { ABSENT, bySpelling, numberIn, spell, spellKey, spellPath } from './spelling.js';
import { type CompactTables, type Shape, shapeKey } from './tables.js';

/** The maximum nesting of a frame, which a shape adds to. */
const MAX_DEPTH = DEFAULT_LIMITS.maxDepth;
/** The maximum number of remembered costs. */
const MAX_COSTS = 4096;
/** The number of tokens that a numbered list has more than a map, besides keys, and those of the parameter `schema`. */
const LIST_TOKENS = 3;
const SCHEMA_TOKENS = 4;

/** Header and body of a compact frame. */
export interface Compacted {
  readonly text: string;
  readonly frame: Frame;
  /** `true` if operation or payload are numbered, which shows that the frame is compact. */
  readonly isNumbered: boolean;
  /** `true` if the values are listed under the count. */
  readonly hasCount: boolean;
  /** The number of tokens of the text, and of the plain one. */
  readonly tokens: number;
  readonly plainTokens: number;
}

/** A writer of compact frames, which updates the tables of one sender. */
export class Compactor {
  readonly #tables: CompactTables;
  readonly #costs: SpellingCosts;

  constructor(tables: CompactTables, costs: SpellingCosts) {
    this.#tables = tables;
    this.#costs = costs;
  }

  /**
   * Returns header and body in the cheapest spelling, and updates the tables; `null` if the frame has no compact form: its operation is a
   * number, or marks make it too long. Only marks make it longer than the plain one: those of strings such as `-` and `#1`, and of keys and
   * references that would read as numbers.
   *
   * @param plain the canonical text of header and body
   * @param count the key of the list of a numbered operation. @default 0, without a list if there are no values
   * @param isPart `true` for a part of a message, whose parameters must keep their order
   */
  compact(frame: Frame, plain: string, count: number | undefined, isPart = false): Compacted | null {
    if (numberIn(frame.operation) !== undefined) return null;
    const { counter } = this.#costs;
    const plainTokens = counter.count(plain);
    // A parameter or item has two characters, and absent values are items, too: lists of long frames could have too many.
    if (plain.length <= DEFAULT_LIMITS.maxItems) {
      const mark = this.#tables.mark();
      const short = this.#print(frame, count, { isShort: true, isPart });
      const tokens = counter.count(short.text);
      if (tokens < plainTokens || (tokens === plainTokens && short.text.length < plain.length)) {
        return compactedOf(short, tokens, plainTokens);
      }
      this.#tables.rollBack(mark);
    }
    const long = this.#print(frame, count, { isShort: false, isPart });
    if (long.text.length > DEFAULT_LIMITS.maxLength) return null;
    return compactedOf(long, long.text === plain ? plainTokens : counter.count(long.text), plainTokens);
  }

  #print(plain: Frame, count: number | undefined, form: Form): Omit<Compacted, 'tokens' | 'plainTokens'> {
    const { kind, agent, intent } = plain;
    const { operation, payload } = new Writing(this.#tables, form, this.#costs).body(plain, count);
    const frame: Frame = { kind, agent, intent, operation, payload, metadata: null };
    const isBound = operation !== plain.operation;
    const key = payload[0]?.key ?? '';
    const isNumbered = isBound || numberIn(key) !== undefined;
    return { text: printFrame(frame), frame, isNumbered, hasCount: isBound && key === String(count ?? 0) };
  }
}

/** Not by a spread, after which V8 would add each further member slowly. */
function compactedOf(
  { text, frame, isNumbered, hasCount }: Omit<Compacted, 'tokens' | 'plainTokens'>,
  tokens: number,
  plainTokens: number,
): Compacted {
  return { text, frame, isNumbered, hasCount, tokens, plainTokens };
}

/** The numbers of tokens of values after a colon, with which they may merge. */
export class SpellingCosts {
  readonly counter: TokenCounter;
  readonly of: (text: string) => number;
  readonly #ofReferences: number[] = [];

  constructor(counter: TokenCounter) {
    this.counter = counter;
    this.of = memoize((text) => counter.count(`:${text}`), MAX_COSTS);
  }

  /** Returns the number of tokens of a reference to a numbered string. */
  ofReference(number: number): number {
    this.#ofReferences[number] ??= this.of(`$${number}`);
    return this.#ofReferences[number];
  }
}

interface Form {
  /** If false, values are only spelled, and the tables learn from them. */
  readonly isShort: boolean;
  readonly isPart: boolean;
}

/** The conversion of one frame. */
class Writing {
  readonly #tables: CompactTables;
  readonly #isShort: boolean;
  readonly #isPart: boolean;
  readonly #costs: SpellingCosts;
  /** `true` if every value may nest as deep as any spelling needs. */
  #isShallow = false;

  constructor(tables: CompactTables, { isShort, isPart }: Form, costs: SpellingCosts) {
    this.#tables = tables;
    this.#isShort = isShort;
    this.#isPart = isPart;
    this.#costs = costs;
  }

  body({ operation, payload }: Frame, count: number | undefined): Pick<Frame, 'operation' | 'payload'> {
    const own = payloadShape(operation, payload);
    const params = own.schema === null ? payload : payload.slice(0, -1);
    this.#isShallow = 1 + deepest(params, 2, 1) <= MAX_DEPTH;
    const found = this.#hasRoomForList(params, 0) ? this.#findPayload(own) : undefined;
    const [listed, others] = found === undefined ? [[], params] : arranged(params, found.shape.keys);
    const isMoved = listed !== params && [...listed, ...others].some((param, at) => param !== params[at]);
    if (found === undefined || (this.#isPart && isMoved)) {
      this.#tables.learnShape(own);
      const written = this.#others(params);
      return { operation, payload: own.schema === null ? written : [...written, payload.at(-1)!] };
    }
    const isBound = found.shape.operation !== null;
    // The reader learns the keys in the order of the frame.
    if (!isBound || others.length > 0)
      this.#tables.learnShape({ ...own, keys: [...listed, ...others].map(({ key }) => key) });
    const items = this.#list(found.shape.keys, listed, 1);
    const key = String(isBound ? (count ?? 0) : found.number + 1);
    const hasNoList = isBound && items.length === 0 && count === undefined;
    const list: Param[] = hasNoList ? [] : [{ key, value: { kind: 'array', items } }];
    return { operation: isBound ? String(found.number) : operation, payload: [...list, ...this.#others(others)] };
  }

  #others(params: readonly Param[]): Param[] {
    return params.map(({ key, value }) => ({ key: spellKey(key), value: this.#value(value, 0) }));
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
    const known = this.#tables.stringNumber(text);
    const spelled = spell(text);
    if (known === undefined) this.#tables.learnString(text);
    else if (this.#isShort && this.#costs.ofReference(known) < this.#costs.of(spelled))
      return { kind: 'ref', path: String(known) };
    return { kind: 'string', value: spelled };
  }

  #array(items: readonly Value[], depth: number): Value {
    const table = this.#isShort ? tableOf(items) : null;
    if (table === null || !this.#isWritable(table, depth))
      return { kind: 'array', items: items.map((item) => this.#value(item, depth + 1)) };
    const { rows } = table;
    const columns = table.keys.toSorted(bySpelling);
    const found = this.#find({ operation: null, schema: null, keys: columns });
    const keys = found?.shape.keys ?? columns;
    if (found === undefined) this.#tables.learnShape({ operation: null, schema: null, keys });
    const lists = rows.map(
      ({ entries }): Value => ({ kind: 'array', items: this.#list(keys, inWireOrder(entries), depth + 3) }),
    );
    if (found !== undefined) return numbered(2 * found.number + 2, lists);
    const header: Value = { kind: 'array', items: keys.map((key) => ({ kind: 'string', value: key })) };
    return numbered(0, [header, ...lists]);
  }

  /** Returns `true` if a table has room, and its keys can be the strings of a row. */
  #isWritable({ rows, keys }: MapTable, depth: number): boolean {
    if (keys.some((key) => OTHER_KIND.test(key))) return false;
    return this.#isShallow || rows.every(({ entries }) => depth + 3 + deepest(entries, 1, 1) <= MAX_DEPTH);
  }

  /** Returns `true` if values may nest one level more. Tables below save more than the list, so their levels come first. */
  #hasRoomForList(entries: readonly Param[], depth: number): boolean {
    if (this.#isShallow) return true;
    const room = MAX_DEPTH - depth;
    const withTables = deepest(entries, 1, 2);
    return withTables < room || (withTables > room && deepest(entries, 1, 1) < room);
  }

  #map({ entries: unsorted }: MapValue, depth: number): Value {
    const entries = inWireOrder(unsorted);
    const shape = { operation: null, schema: null, keys: entries.map(({ key }) => key) };
    if (entries.length > 1) {
      const key = shapeKey(shape);
      const found = this.#hasRoomForList(entries, depth + 1) ? this.#find(shape, key) : undefined;
      if (found !== undefined) return numbered(2 * found.number + 1, this.#list(found.shape.keys, entries, depth + 2));
      this.#tables.learnShape(shape, key);
    }
    return {
      kind: 'map',
      entries: entries.map(({ key, value }) => ({ key: spellKey(key), value: this.#value(value, depth + 1) })),
    };
  }

  /** Returns the values in the order of a shape, without absent ones at the end. The entries must be in this order. */
  #list(keys: readonly string[], entries: readonly Param[], depth: number): Value[] {
    const items: Value[] = [];
    for (let at = 0, next = 0; next < entries.length; at++) {
      const { key, value } = entries[next]!;
      if (keys[at] !== key) items.push({ kind: 'string', value: ABSENT });
      else {
        items.push(this.#value(value, depth));
        next++;
      }
    }
    return items;
  }

  #findPayload(shape: Shape): Found | undefined {
    return this.#find(shape) ?? (shape.schema === null ? undefined : this.#find({ ...shape, operation: null }));
  }

  /**
   * Returns the shape with these keys, or the one with which a list has the fewest tokens: a list may have absent values, and a payload
   * other keys after the list. Returns `undefined` if a list has no fewer tokens than a map.
   */
  #find(shape: Shape, key = shapeKey(shape)): Found | undefined {
    if (!this.#isShort) return undefined;
    const { shapes } = this.#tables;
    const exact = shapes.numberOf(key);
    if (exact !== undefined) return { number: exact, shape: shapes.at(exact)! };
    const { keys, operation, schema } = shape;
    const mayHaveOthers = operation !== null || schema !== null;
    let best: Found | undefined;
    // Both have the tokens of the values, and one between them.
    const all = keys.reduce((tokens, key) => tokens + this.#costs.of(key), 0);
    let least = all + (schema === null ? 0 : SCHEMA_TOKENS);
    const own = new Set(keys);
    shapes.forEach((other, number) => {
      if (other.operation !== operation || other.schema !== schema) return;
      let listed = 0;
      let length = 0;
      let saved = 0;
      for (let at = 0; at < other.keys.length && listed < keys.length; at++) {
        const key = other.keys[at]!;
        if (!own.has(key)) continue;
        listed++;
        length = at + 1;
        saved += this.#costs.of(key);
      }
      if (listed < keys.length && !mayHaveOthers) return;
      // A list has one token for each absent value.
      const tokens = LIST_TOKENS + (length - listed) + all - saved;
      if (tokens >= least) return;
      least = tokens;
      best = { number, shape: other };
    });
    return best;
  }
}

interface Found {
  readonly number: number;
  readonly shape: Shape;
}

/** Returns the parameters that a shape has, in its order, and the others. */
function arranged(
  params: readonly Param[],
  keys: readonly string[],
): readonly [listed: readonly Param[], others: readonly Param[]] {
  if (params.length <= keys.length && params.every(({ key }, at) => key === keys[at])) return [params, []];
  const places = new Map(keys.map((key, at) => [key, at]));
  const listed = params.filter(({ key }) => places.has(key));
  return [
    listed.sort((one, other) => places.get(one.key)! - places.get(other.key)!),
    params.filter(({ key }) => !places.has(key)),
  ];
}

/** Returns the shape of a payload. The schema belongs to it if it comes last, as the codec writes it. */
export function payloadShape(operation: string, payload: readonly Param[]): Shape {
  const last = payload.at(-1);
  const schema = last?.key === 'schema' && last.value.kind === 'string' ? last.value.value : null;
  const own = schema !== null && /^[A-Za-z0-9_]+$/.test(schema) ? schema : null;
  const params = own === null ? payload : payload.slice(0, -1);
  return { operation, schema: own, keys: params.map(({ key }) => key) };
}

/** At least two maps with keys that are alike, and these keys. */
interface MapTable {
  readonly rows: readonly MapValue[];
  readonly keys: readonly string[];
}

/** Returns the items as a table; `null` if there are less than two, if they are no maps, or if more than a third of its cells would be empty. */
export function tableOf(items: readonly Value[]): MapTable | null {
  if (items.length < 2) return null;
  const keys = new Set<string>();
  let cells = 0;
  for (const item of items) {
    if (item.kind !== 'map' || item.entries.length === 0) return null;
    for (const { key } of item.entries) keys.add(key);
    cells += item.entries.length;
  }
  const isTable = 2 * keys.size * items.length <= 3 * cells;
  return isTable ? { rows: items as readonly MapValue[], keys: [...keys] } : null;
}

function numbered(number: number, items: readonly Value[]): Value {
  return { kind: 'map', entries: [{ key: String(number), value: { kind: 'array', items } }] };
}

/** Returns the entries in the order in which the printer writes them: both sides must learn in the order of the text. */
function inWireOrder(entries: readonly Param[]): readonly Param[] {
  for (let at = 1; at < entries.length; at++) {
    if (bySpelling(entries[at - 1]!.key, entries[at]!.key) > 0)
      return entries.toSorted((a, b) => bySpelling(a.key, b.key));
  }
  return entries;
}

/**
 * Returns the number of levels of values.
 *
 * @param map levels of a map: two if it is numbered
 * @param table levels of a list of maps above them: two if it is a table whose rows are lists
 */
function deepest(entries: readonly Param[], map: number, table: number): number {
  let depth = 0;
  for (let at = 0; at < entries.length; at++) {
    const { value } = entries[at]!;
    if (value.kind === 'map' || value.kind === 'array') depth = Math.max(depth, depthOf(value, map, table));
  }
  return depth;
}

function depthOf(value: ArrayValue | MapValue, map: number, table: number): number {
  if (value.kind === 'map') return map + deepest(value.entries, map, table);
  const { items } = value;
  let maps = 0;
  let depth = 0;
  for (let at = 0; at < items.length; at++) {
    const item = items[at]!;
    if (item.kind === 'map') maps++;
    else if (item.kind !== 'array') continue;
    depth = Math.max(depth, depthOf(item, map, table));
  }
  const isTable = maps > 1 && maps === items.length;
  return (isTable ? table : 1) + depth;
}
