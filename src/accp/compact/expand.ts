/** The conversion of compact frames to plain ones. */
import { DEFAULT_LIMITS } from '../../text/limits.js';
import type { Frame, MapValue, Param, Value } from '../ast.js';
import { type AccpError, accpError } from '../errors.js';
import { tryParseFrame } from '../parse.js';
import { printFrame } from '../print.js';
import { payloadShape } from './compact.js';
import { ABSENT, beginsWithDigit, numberIn, unspell, unspellKey, unspellPath } from './spelling.js';
import type { CompactTables, Shape } from './tables.js';

/**
 * Returns the plain frame, with its text without metadata, and updates the tables. Throws AccpError E2001 for an unknown number, E1001 for an
 * invalid form or a frame that would exceed a limit; the tables are then incomplete.
 */
export function expandFrame(frame: Frame, tables: CompactTables): readonly [frame: Frame, text: string] {
  const { kind, agent, intent, metadata } = frame;
  const { operation, payload } = new Reading(tables).body(frame);
  const plain: Frame = { kind, agent, intent, operation, payload, metadata };
  const text = printFrame({ ...plain, metadata: null });
  // A shorter text has too few characters for any limit that the compact frame keeps.
  const parsed = text.length > DEFAULT_LIMITS.maxItems ? tryParseFrame(text) : null;
  if (parsed?.ok === false) throw accpError('E1001', 'payload', `the plain frame is invalid: ${parsed.error.message}`);
  return [plain, text];
}

class Reading {
  readonly #tables: CompactTables;
  /** The keys and indexes on the way to the present value. */
  readonly #path: (string | number)[] = ['payload'];
  /** The number of characters of keys and numbered strings so far. */
  #length = 0;

  constructor(tables: CompactTables) {
    this.#tables = tables;
  }

  body({ operation: written, payload }: Frame): Pick<Frame, 'operation' | 'payload'> {
    const bound = numberIn(written);
    const [first] = payload;
    const listed = first === undefined ? undefined : numberIn(first.key);
    if (bound !== undefined) {
      this.#path[0] = 'operation';
      const shape = this.#shape(bound);
      if (shape.operation === null) throw this.#invalid(`the shape ${bound} has no operation`);
      this.#path[0] = 'payload';
      return this.#listed(shape.operation, shape, payload, listed !== undefined);
    }
    if (listed !== undefined) {
      // The number of a shape, plus one.
      const shape = listed === 0 ? undefined : this.#shape(listed - 1);
      if (shape?.operation === null && shape.schema !== null) return this.#listed(written, shape, payload, true);
      throw this.#invalid(`the number ${listed} is not that of a shape with a schema`);
    }
    const own = payloadShape(written, payload);
    const params = own.schema === null ? payload : payload.slice(0, -1);
    this.#tables.learnShape({ ...own, keys: own.keys.map(unspellKey) });
    const read = this.#params(params);
    return { operation: written, payload: own.schema === null ? read : [...read, payload.at(-1)!] };
  }

  /** Reads a payload that begins with a list, except without values, and may have other parameters after it. */
  #listed(
    operation: string,
    shape: Shape,
    payload: readonly Param[],
    hasList: boolean,
  ): Pick<Frame, 'operation' | 'payload'> {
    const { schema, keys } = shape;
    const list = hasList ? payload[0]!.value : undefined;
    if (list !== undefined && list.kind !== 'array') throw this.#invalid('the values of a shape must be a list');
    const items = list?.items ?? [];
    const others = hasList ? payload.slice(1) : payload;
    if (shape.operation === null || others.length > 0) {
      const present = keys.filter((_, index) => items[index] !== undefined && !isAbsent(items[index]));
      const all = [...present, ...others.map(({ key }) => unspellKey(key))];
      const isRepeated = new Set(all).size < all.length || (schema !== null && all.includes('schema'));
      if (isRepeated) throw this.#invalid('a key appears twice');
      this.#tables.learnShape({ operation, schema, keys: all });
    }
    const params = [...this.#members(keys, items), ...this.#params(others)];
    if (schema !== null) params.push({ key: 'schema', value: { kind: 'string', value: schema } });
    return { operation, payload: params };
  }

  #params(params: readonly Param[]): Param[] {
    return params.map(({ key, value }) => ({ key: this.#key(key), value: this.#value(value, key) }));
  }

  #key(written: string): string {
    if (beginsWithDigit(written)) {
      this.#path.push(written);
      throw this.#invalid('the number of a shape must be the only key');
    }
    return unspellKey(written);
  }

  /** @param key the key or index of the value */
  #value(value: Value, key: string | number): Value {
    this.#path.push(key);
    const read = this.#read(value);
    this.#path.pop();
    return read;
  }

  #read(value: Value): Value {
    switch (value.kind) {
      case 'string':
        return { kind: 'string', value: this.#string(value.value) };
      case 'ref':
        return this.#reference(value.path);
      case 'array':
        return { kind: 'array', items: value.items.map((item, index) => this.#value(item, index)) };
      case 'map':
        return this.#map(value);
      default:
        return value;
    }
  }

  #string(written: string): string {
    const text = unspell(written);
    if (text === null) throw this.#invalid(`"${written}" spells no string`);
    this.#tables.learnString(text);
    return text;
  }

  #reference(written: string): Value {
    const number = numberIn(written);
    if (number === undefined) return { kind: 'ref', path: unspellPath(written) };
    const text = this.#tables.strings.at(number);
    if (text === undefined) throw this.#unknown(`the string ${number} is unknown`);
    this.#grow(text.length);
    return { kind: 'string', value: text };
  }

  #map({ entries }: MapValue): Value {
    const [only] = entries;
    const number = entries.length === 1 ? numberIn(only!.key) : undefined;
    if (number !== undefined) return this.#numbered(number, only!.value);
    if (entries.length > 1) {
      this.#tables.learnShape({ operation: null, schema: null, keys: entries.map(({ key }) => unspellKey(key)) });
    }
    return { kind: 'map', entries: this.#params(entries) };
  }

  /** An odd number is the map of a shape, an even one a table; the first row of table 0 has its keys. */
  #numbered(number: number, list: Value): Value {
    if (list.kind !== 'array') throw this.#invalid('the values of a shape must be a list');
    if (number % 2 === 1) {
      const { keys } = this.#mapShape((number - 1) / 2);
      return { kind: 'map', entries: this.#members(keys, list.items) };
    }
    const rows = number === 0 ? list.items.slice(1) : list.items;
    const keys = number === 0 ? this.#header(list.items[0]) : this.#mapShape(number / 2 - 1).keys;
    const items = rows.map((row, index): Value => {
      this.#path.push(index);
      if (row.kind !== 'array') throw this.#invalid('the row of a table must be a list');
      const entries = this.#members(keys, row.items);
      this.#path.pop();
      return { kind: 'map', entries };
    });
    return { kind: 'array', items };
  }

  #header(row: Value | undefined): readonly string[] {
    const keys = row?.kind === 'array' ? row.items.map((item) => (item.kind === 'string' ? item.value : '')) : [];
    const isValid = keys.length > 0 && new Set(keys).size === keys.length && keys.every((key) => /^\w+$/.test(key));
    if (!isValid) throw this.#invalid('the first row of a table without a number must be its keys');
    this.#tables.learnShape({ operation: null, schema: null, keys });
    return keys;
  }

  #members(keys: readonly string[], items: readonly Value[]): Param[] {
    if (items.length > keys.length)
      throw this.#invalid(`the shape has ${keys.length} keys, the list ${items.length} values`);
    const members: Param[] = [];
    for (let index = 0; index < items.length; index++) {
      const item = items[index]!;
      if (isAbsent(item)) continue;
      const key = keys[index]!;
      this.#grow(key.length);
      members.push({ key, value: this.#value(item, key) });
    }
    return members;
  }

  #mapShape(number: number): Shape {
    const shape = this.#shape(number);
    if (shape.operation === null && shape.schema === null) return shape;
    throw this.#invalid(`the shape ${number} is that of a payload`);
  }

  #shape(number: number): Shape {
    const shape = this.#tables.shapes.at(number);
    if (shape === undefined) throw this.#unknown(`the shape ${number} is unknown`);
    return shape;
  }

  #grow(length: number): void {
    this.#length += length + 1;
    if (this.#length <= DEFAULT_LIMITS.maxLength) return;
    throw this.#invalid(`the plain frame has more than ${DEFAULT_LIMITS.maxLength} characters`);
  }

  #invalid(message: string): AccpError {
    return accpError('E1001', this.#path.join('.'), message);
  }

  #unknown(message: string): AccpError {
    return accpError('E2001', this.#path.join('.'), message);
  }
}

function isAbsent(item: Value): boolean {
  return item.kind === 'string' && item.value === ABSENT;
}
