/** JSON with the means of compact frames: numbers for shapes and strings that both sides know, tables, short dates. */
import type { Json, JsonObject } from '../../src/accp/codec/index.js';
import { spell as spellCompact, unspell as unspellCompact } from '../../src/accp/compact/spelling.js';
import type { TokenCounter } from '../../src/tokens/counter.js';

/** A message without envelope. */
export interface JsonBody {
  readonly agent: string;
  readonly intent: string;
  readonly operation: string;
  readonly schema?: string;
  readonly payload: JsonObject;
}

/** Strings and lists of keys by number, equal on both sides. */
export interface JsonTables {
  readonly strings: Map<string, number>;
  readonly shapes: Map<string, number>;
}

const MIN_STRING = 4;
/** Strings and keys that would be read as something else. */
const MARKED_STRING = /^[$#=]/;
const MARKED_KEY = /^(?:=|\d+$)/;

/**
 * Writes a message as `[agent, intent, number of the shape of operation and payload, values]`, or `[agent, intent, operation, schema, payload]`
 * at first. In values, `{"7":[..]}` is a map with the keys of a shape, `{"7":[[..],[..]]}` under an even number a table, `{"0":[keys,[..],[..]]}` one with
 * new columns, `"$7"` a known string, `"#46127"` a date.
 */
export class JsonWriter {
  readonly #tables: JsonTables;
  readonly #counter: TokenCounter;
  readonly #costs = new Map<string, number>();

  constructor(counter: TokenCounter, tables = newTables()) {
    this.#counter = counter;
    this.#tables = tables;
  }

  write({ agent, intent, operation, schema, payload }: JsonBody): string {
    const keys = Object.keys(payload);
    const number = learn(this.#tables.shapes, payloadKey(operation, schema, keys));
    const header = [this.#string(agent), intent];
    const body =
      number === undefined ? [operation, schema ?? null, this.#members(payload)] : [number, this.#row(payload, keys)];
    return JSON.stringify([...header, ...body]);
  }

  #members(map: JsonObject): JsonObject {
    return Object.fromEntries(
      Object.entries(map).map(([key, value]) => [MARKED_KEY.test(key) ? `=${key}` : key, this.#value(value)]),
    );
  }

  #row(map: JsonObject, keys: readonly string[]): Json[] {
    return keys.map((key) => this.#value(map[key]!));
  }

  #value(value: Json): Json {
    if (typeof value === 'string') return this.#string(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return this.#array(value as readonly Json[]);
    const map = value as JsonObject;
    const keys = Object.keys(map);
    if (keys.length < 2) return this.#members(map);
    const number = learn(this.#tables.shapes, JSON.stringify(keys));
    return number === undefined ? this.#members(map) : { [2 * number + 1]: this.#row(map, keys) };
  }

  #array(items: readonly Json[]): Json {
    const keys = columnsOf(items);
    if (keys === null) return items.map((item) => this.#value(item));
    const number = learn(this.#tables.shapes, JSON.stringify(keys));
    const rows = items.map((row) => this.#row(row as JsonObject, keys));
    return number === undefined ? { 0: [keys, ...rows] } : { [2 * number + 2]: rows };
  }

  #string(text: string): string {
    const spelled = spell(text);
    if (text.length < MIN_STRING) return spelled;
    const number = learn(this.#tables.strings, text);
    if (number === undefined) return spelled;
    return this.#costOf(`$${number}`) < this.#costOf(spelled) ? `$${number}` : spelled;
  }

  #costOf(text: string): number {
    let cost = this.#costs.get(text);
    if (cost === undefined) {
      cost = this.#counter.count(`:${JSON.stringify(text)},`);
      this.#costs.set(text, cost);
    }
    return cost;
  }
}

/** Reads what a {@link JsonWriter} has written, with tables of its own. */
export class JsonReader {
  readonly #tables: JsonTables;
  readonly #strings: string[];
  readonly #shapes: string[];

  constructor(tables = newTables()) {
    this.#tables = tables;
    this.#strings = [...tables.strings.keys()];
    this.#shapes = [...tables.shapes.keys()];
  }

  read(text: string): JsonBody {
    const [agent, intent, ...rest] = JSON.parse(text) as [string, string, ...Json[]];
    const name = this.#string(agent);
    if (typeof rest[0] === 'number') {
      const [operation, schema, keys] = JSON.parse(this.#shapes[rest[0]]!) as [string, string | null, string[]];
      return bodyOf(name, intent, operation, schema, this.#row(keys, rest[1] as readonly Json[]));
    }
    const [operation, schema, members] = rest as [string, string | null, JsonObject];
    const keys = Object.keys(members).map(unmark);
    this.#shape(payloadKey(operation, schema ?? undefined, keys));
    return bodyOf(name, intent, operation, schema, this.#row(keys, Object.values(members)));
  }

  #value(value: Json): Json {
    if (typeof value === 'string') return this.#string(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return (value as readonly Json[]).map((item) => this.#value(item));
    const entries = Object.entries(value);
    const [only] = entries;
    if (entries.length === 1 && /^\d+$/.test(only![0]))
      return this.#numbered(Number(only![0]), only![1] as readonly Json[]);
    const keys = entries.map(([key]) => unmark(key));
    if (keys.length > 1) this.#shape(JSON.stringify(keys));
    return this.#row(
      keys,
      entries.map(([, member]) => member),
    );
  }

  #numbered(number: number, items: readonly Json[]): Json {
    if (number % 2 === 1) return this.#row(JSON.parse(this.#shapes[(number - 1) / 2]!) as string[], items);
    const [first, ...rest] = items as readonly (readonly Json[])[];
    const keys = number === 0 ? (first as readonly string[]) : (JSON.parse(this.#shapes[number / 2 - 1]!) as string[]);
    this.#shape(JSON.stringify(keys));
    return (number === 0 ? rest : [first!, ...rest]).map((row) => this.#row(keys, row));
  }

  #row(keys: readonly string[], values: readonly Json[]): JsonObject {
    return Object.fromEntries(keys.map((key, index) => [key, this.#value(values[index]!)]));
  }

  #shape(key: string): void {
    if (learn(this.#tables.shapes, key) === undefined) this.#shapes.push(key);
  }

  #string(written: string): string {
    if (written.startsWith('$')) return this.#strings[Number(written.slice(1))]!;
    const text = unspell(written);
    if (text.length >= MIN_STRING && learn(this.#tables.strings, text) === undefined) this.#strings.push(text);
    return text;
  }
}

export function newTables(): JsonTables {
  return { strings: new Map(), shapes: new Map() };
}

export function copyTables({ strings, shapes }: JsonTables): JsonTables {
  return { strings: new Map(strings), shapes: new Map(shapes) };
}

/** Returns the number of an entry, or adds it and returns `undefined`. */
function learn(table: Map<string, number>, key: string): number | undefined {
  const known = table.get(key);
  if (known === undefined) table.set(key, table.size);
  return known;
}

function payloadKey(operation: string, schema: string | undefined, keys: readonly string[]): string {
  return JSON.stringify([operation, schema ?? null, keys]);
}

/** Returns the keys of at least two maps with the same keys, or `null`. */
function columnsOf(items: readonly Json[]): string[] | null {
  if (items.length < 2 || !items.every((item) => typeof item === 'object' && item !== null && !Array.isArray(item)))
    return null;
  const keys = Object.keys(items[0]!);
  const same = JSON.stringify(keys);
  return keys.length > 0 && items.every((item) => JSON.stringify(Object.keys(item!)) === same) ? keys : null;
}

/** Spells dates, times and addresses as in compact frames. */
function spell(text: string): string {
  if (MARKED_STRING.test(text)) return `=${text}`;
  const spelled = spellCompact(text);
  return spelled.length > 2 ? spelled : text;
}

function unspell(written: string): string {
  return written.startsWith('#') ? unspellCompact(written)! : unmark(written);
}

function unmark(text: string): string {
  return text.startsWith('=') ? text.slice(1) : text;
}

function bodyOf(
  agent: string,
  intent: string,
  operation: string,
  schema: string | null,
  payload: JsonObject,
): JsonBody {
  return { agent, intent, operation, ...(schema === null ? {} : { schema }), payload };
}
