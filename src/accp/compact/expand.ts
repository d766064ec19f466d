/** The conversion of compact frames to plain ones. */
import { DEFAULT_LIMITS } from '../../text/limits.js';
import type { Frame, MapValue, Param, Value } from '../ast.js';
import { type AccpError, accpError } from '../errors.js';
import { payloadShape } from './compact.js';
import { ABSENT, numberIn, unspell, unspellKey, unspellPath } from './spelling.js';
import type { CompactTables, Shape } from './tables.js';

/**
 * Returns the plain frame, and updates the tables. Throws AccpError E2001 for an unknown number, E1001 for an invalid form or a frame that
 * would be too long; the tables are then incomplete.
 */
export function expandFrame(frame: Frame, tables: CompactTables): Frame {
  const { kind, agent, intent, metadata } = frame;
  const { operation, payload } = new Reading(tables).body(frame);
  return { kind, agent, intent, operation, payload, metadata };
}

class Reading {
  readonly #tables: CompactTables;
  /** The number of characters of keys and numbered strings so far. */
  #length = 0;

  constructor(tables: CompactTables) {
    this.#tables = tables;
  }

  body({ operation: written, payload }: Frame): Pick<Frame, 'operation' | 'payload'> {
    const number = numberIn(written);
    if (number !== undefined) return this.#boundPayload(number, payload);
    const only = payload.length === 1 ? numberIn(payload[0]!.key) : undefined;
    if (only !== undefined) return this.#schemaPayload(written, only - 1, payload[0]!.value);
    const own = payloadShape(written, payload);
    const params = own.schema === null ? payload : payload.slice(0, -1);
    this.#tables.learnShape({ ...own, keys: own.keys.map(unspellKey) });
    const read = params.map(({ key, value }) => this.#param(key, value, `payload.${key}`));
    return { operation: written, payload: own.schema === null ? read : [...read, payload.at(-1)!] };
  }

  /** The operation is the number of a shape, and the payload is one list under any number, or empty without values. */
  #boundPayload(number: number, payload: readonly Param[]): Pick<Frame, 'operation' | 'payload'> {
    const { operation, schema, keys } = this.#shape(number, 'operation');
    if (operation === null) throw invalid('operation', `the shape ${number} has no operation`);
    const [only, ...others] = payload;
    const isNumbered = only === undefined || (numberIn(only.key) !== undefined && only.value.kind === 'array');
    if (!isNumbered || others.length > 0)
      throw invalid('payload', 'a numbered operation needs one list under a number');
    const items = only?.value.kind === 'array' ? only.value.items : [];
    return { operation, payload: this.#payload(keys, schema, items) };
  }

  /** The operation is named, and the key is the number of a shape with a schema, plus one. */
  #schemaPayload(operation: string, number: number, list: Value): Pick<Frame, 'operation' | 'payload'> {
    const shape = number < 0 ? undefined : this.#shape(number, 'payload');
    if (shape === undefined || shape.schema === null || shape.operation !== null || list.kind !== 'array') {
      throw invalid('payload', 'a numbered payload needs a shape with a schema, and a list');
    }
    this.#tables.learnShape({ ...shape, operation });
    return { operation, payload: this.#payload(shape.keys, shape.schema, list.items) };
  }

  #payload(keys: readonly string[], schema: string | null, items: readonly Value[]): readonly Param[] {
    const params = this.#members(keys, items, 'payload');
    if (schema !== null) params.push({ key: 'schema', value: { kind: 'string', value: schema } });
    return params;
  }

  #param(written: string, value: Value, path: string): Param {
    const key = this.#key(written, path);
    return { key, value: this.#value(value, path) };
  }

  #key(written: string, path: string): string {
    if (/^[0-9]/.test(written)) throw invalid(path, 'the number of a shape must be the only key');
    return unspellKey(written);
  }

  #value(value: Value, path: string): Value {
    switch (value.kind) {
      case 'string':
        return { kind: 'string', value: this.#string(value.value, path) };
      case 'ref':
        return this.#reference(value.path, path);
      case 'array':
        return { kind: 'array', items: value.items.map((item, index) => this.#value(item, `${path}.${index}`)) };
      case 'map':
        return this.#map(value, path);
      default:
        return value;
    }
  }

  #string(written: string, path: string): string {
    const text = unspell(written);
    if (text === null) throw invalid(path, `"${written}" spells no string`);
    this.#tables.learnString(text);
    return text;
  }

  #reference(written: string, path: string): Value {
    const number = numberIn(written);
    if (number === undefined) return { kind: 'ref', path: unspellPath(written) };
    const text = this.#tables.strings.at(number);
    if (text === undefined) throw unknown(path, `the string ${number} is unknown`);
    this.#grow(text.length, path);
    return { kind: 'string', value: text };
  }

  #map({ entries }: MapValue, path: string): Value {
    const [only] = entries;
    const number = entries.length === 1 ? numberIn(only!.key) : undefined;
    if (number !== undefined) return this.#numbered(number, only!.value, path);
    if (entries.length > 1) {
      this.#tables.learnShape({ operation: null, schema: null, keys: entries.map(({ key }) => unspellKey(key)) });
    }
    return { kind: 'map', entries: entries.map(({ key, value }) => this.#param(key, value, `${path}.${key}`)) };
  }

  /** An odd number is the map of a shape, an even one a table; the first row of table 0 has its keys. */
  #numbered(number: number, list: Value, path: string): Value {
    if (list.kind !== 'array') throw invalid(path, 'the values of a shape must be a list');
    if (number % 2 === 1) {
      const { keys } = this.#mapShape((number - 1) / 2, path);
      return { kind: 'map', entries: this.#members(keys, list.items, path) };
    }
    const rows = number === 0 ? list.items.slice(1) : list.items;
    const keys = number === 0 ? this.#header(list.items[0], path) : this.#mapShape(number / 2 - 1, path).keys;
    const items = rows.map((row, index): Value => {
      if (row.kind !== 'array') throw invalid(`${path}.${index}`, 'the row of a table must be a list');
      return { kind: 'map', entries: this.#members(keys, row.items, `${path}.${index}`) };
    });
    return { kind: 'array', items };
  }

  #header(row: Value | undefined, path: string): readonly string[] {
    const keys = row?.kind === 'array' ? row.items.map((item) => (item.kind === 'string' ? item.value : '')) : [];
    const isValid = keys.length > 0 && new Set(keys).size === keys.length && keys.every((key) => /^\w+$/.test(key));
    if (!isValid) throw invalid(path, 'the first row of a table without a number must be its keys');
    this.#tables.learnShape({ operation: null, schema: null, keys });
    return keys;
  }

  #members(keys: readonly string[], items: readonly Value[], path: string): Param[] {
    if (items.length > keys.length)
      throw invalid(path, `the shape has ${keys.length} keys, the list ${items.length} values`);
    const members: Param[] = [];
    for (const [index, item] of items.entries()) {
      if (item.kind === 'string' && item.value === ABSENT) continue;
      const key = keys[index]!;
      this.#grow(key.length, path);
      members.push({ key, value: this.#value(item, `${path}.${key}`) });
    }
    return members;
  }

  #mapShape(number: number, path: string): Shape {
    const shape = this.#shape(number, path);
    if (shape.operation === null && shape.schema === null) return shape;
    throw invalid(path, `the shape ${number} is that of a payload`);
  }

  #shape(number: number, path: string): Shape {
    const shape = this.#tables.shapes.at(number);
    if (shape === undefined) throw unknown(path, `the shape ${number} is unknown`);
    return shape;
  }

  #grow(length: number, path: string): void {
    this.#length += length + 1;
    if (this.#length <= DEFAULT_LIMITS.maxLength) return;
    throw invalid(path, `the plain frame has more than ${DEFAULT_LIMITS.maxLength} characters`);
  }
}

function invalid(path: string, message: string): AccpError {
  return accpError('E1001', path, message);
}

function unknown(path: string, message: string): AccpError {
  return accpError('E2001', path, message);
}
