/** Conversion of trees to JSON: exactly, with reported losses, or not at all (draft-benzing-accp-00, section 3.1.1). */

import { digitsOf } from '../../text/decimal.js';
import type { DecimalValue, MapValue, Value } from '../ast.js';
import { accpError } from '../errors.js';

import { decimalDigits } from '../numbers.js';
import { describeType, type FieldType, hasType, type Json, MAX_NESTING, nullObject } from './json.js';
import { BadJsonText, fromJsonText } from './json-text.js';
import { type Loss, pathText, type Step } from './message.js';
import { BadCamelText, isMarked, isMarkedJson, isMarkedKey, keyOfMarked, textOfMarked } from './transliterate.js';

/** Returns the full spelling of a key, which may be transliterated. Throws AccpError E1004 if the spelling is invalid. */
export function readKey(key: string, reading: Reading): string {
  return reading.transliterated && isMarkedKey(key) ? keyOf(key, reading, 0) : key;
}

/** Converts a value. Throws AccpError E1004 with the path if the value is unreadable or of another type, and the errors of `resolve`. */
export function readValue(node: Value, key: string, reading: Reading, type?: FieldType): Json {
  if (type === undefined || type === 'any') return read(node, reading, 0, key);
  // In a string field, a number or keyword is the text on the wire.
  const text = type === 'string' && node.kind !== 'string' ? sourceText(node) : undefined;
  const value = text ?? read(node, reading, 0, key);
  if (hasType(value, type) && !(type === 'integer' && node.kind === 'decimal')) return value;
  const name = node.kind === 'decimal' ? 'a decimal' : describeType(value);
  throw accpError('E1004', placeOf(reading, 0, key), `the field has the type ${type}; got ${name}`);
}

/** Returns the text of a scalar on the wire; `undefined` for other values. */
export function sourceText(node: Value): string | undefined {
  switch (node.kind) {
    case 'string':
      return node.value;
    case 'integer':
      return node.text ?? String(node.value);
    case 'decimal':
      return node.text ?? decimalDigits(node, Number.POSITIVE_INFINITY);
    case 'boolean':
      return String(node.value);
    default:
      return undefined;
  }
}

/** `step` leads from the array or map at `level` to the node; it is recorded only if a path is needed. */
function read(node: Value, reading: Reading, level: number, step: Step): Json {
  switch (node.kind) {
    case 'string':
      return reading.transliterated && isMarked(node.value) ? marked(node.value, reading, level, step) : node.value;
    case 'integer':
      if (node.value === 0) recordSign(node, reading, level, step);
      return node.value;
    case 'boolean':
      return node.value;
    case 'decimal':
      return node.text === undefined ? node.value : decimal(node, node.text, reading, level, step);
    case 'null':
      return null;
    case 'array':
      enter(reading, level, step);
      return array(node.items, reading, level + 1);
    case 'map':
      enter(reading, level, step);
      return map(node, reading, level + 1);
    case 'ref':
      return reading.resolve(node.path, placeOf(reading, level, step));
  }
}

/** Bounds the nesting of hand-made trees. */
function enter(reading: Reading, level: number, step: Step): void {
  if (level >= MAX_NESTING) {
    throw accpError('E1004', placeOf(reading, level, step), `nesting is deeper than ${MAX_NESTING}`);
  }
  reading.path[level] = step;
}

function array(nodes: readonly Value[], reading: Reading, level: number): Json {
  const items: Json[] = [];
  for (let index = 0; index < nodes.length; index++) items.push(read(nodes[index]!, reading, level, index));
  return items;
}

function map({ entries }: MapValue, reading: Reading, level: number): Json {
  const result = nullObject<Json>();
  let isEscaped = false;
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index]!;
    let { key } = entry;
    if (reading.transliterated && isMarkedKey(key)) {
      key = keyOf(key, reading, level);
      isEscaped = true;
    }
    result[key] = read(entry.value, reading, level, key);
  }
  // The grammar rejects only keys that are repeated in their written form.
  if (isEscaped && Object.keys(result).length < entries.length) {
    throw accpError('E1004', placeOf(reading, level - 1, reading.path[level - 1]!), 'two spellings of the same key');
  }
  return result;
}

function decimal({ value }: DecimalValue, text: string, reading: Reading, level: number, step: Step): number {
  if (!Number.isFinite(value)) {
    const help = 'give the field the type "string" in a schema';
    throw accpError('E1004', placeOf(reading, level, step), 'the number is beyond the range of a double', help);
  }
  if (value === 0) recordSign({ text }, reading, level, step);
  const digits = digitsOf(value);
  if (significant(digits) !== significant(text)) {
    reading.losses.push({ path: placeOf(reading, level, step), kind: 'precision', from: text, to: digits });
  }
  return value;
}

function recordSign({ text }: { readonly text?: string }, reading: Reading, level: number, step: Step): void {
  if (text === undefined || !/^-[0.]+$/.test(text)) return;
  reading.losses.push({ path: placeOf(reading, level, step), kind: 'negative-zero', from: text, to: '0' });
}

function significant(text: string): string {
  const isNegative = text.startsWith('-');
  const point = text.indexOf('.');
  const integer = (point < 0 ? text : text.slice(0, point)).replace(/^-?0*/, '');
  const fraction = point < 0 ? '' : withoutIdleZeros(text.slice(point + 1));
  const plain = `${integer}.${fraction}`;
  return isNegative && plain !== '.' ? `-${plain}` : plain;
}

/** Not by a pattern: `0+$` is quadratic in the zeros. */
function withoutIdleZeros(fraction: string): string {
  let end = fraction.length;
  while (end > 0 && fraction.charCodeAt(end - 1) === 0x30) end--;
  return fraction.slice(0, end);
}

function marked(written: string, reading: Reading, level: number, step: Step): Json {
  try {
    const text = textOfMarked(written);
    if (!isMarkedJson(written)) return text;
    return fromJsonText(text, (path) => reading.resolve(path, placeOf(reading, level, step)));
  } catch (thrown) {
    if (!(thrown instanceof BadCamelText || thrown instanceof BadJsonText)) throw thrown;
    const message = `invalid transliterated string: ${thrown.message}`;
    throw accpError('E1004', placeOf(reading, level, step), message);
  }
}

function keyOf(written: string, reading: Reading, level: number): string {
  const key = keyOfMarked(written);
  if (key !== null) return key;
  throw accpError('E1004', placeOf(reading, level, written), 'the escaped key is invalid');
}

export interface Reading {
  /** `true` if the writer transliterates. */
  readonly transliterated: boolean;
  /** Returns the value of a reference, or throws; `at` is the path of the reference in the message, such as `payload.src`. */
  readonly resolve: (path: string, at: string) => Json;
  readonly losses: Loss[];
  /** Steps down to the current array or map; beyond its level, stale steps. */
  readonly path: Step[];
}

export function createReading({ transliterated, resolve }: Pick<Reading, 'transliterated' | 'resolve'>): Reading {
  return { transliterated, resolve, losses: [], path: [] };
}

function placeOf({ path }: Reading, level: number, step: Step): string {
  path[level] = step;
  path.length = level + 1;
  return pathText(path);
}
