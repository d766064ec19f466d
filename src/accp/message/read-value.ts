/** From trees to JSON: exactly, with losses that are told, or not at all (draft-benzing-accp-00, section 3.1.1). */
import { digitsOf } from '../../text/decimal.js';
import type { DecimalValue, IntegerValue, MapValue, Value } from '../ast.js';
import { decimalDigits } from '../numbers.js';
import type { FieldType } from './field-type.js';
import type { Json } from './json.js';
import { BadJsonText, fromJsonText } from './json-text.js';
import { isMarkedKey, keyOfMarked } from './keys.js';
import { pathText } from './path.js';
import { type Reading, unreadable } from './reading.js';
import { BadCamelText, isMarked, isMarkedJson, textOfMarked } from './transliterate.js';
import { hasType, MOST_NESTING, nameOf } from './values.js';

export { createReading, type Reading, type ReadingOptions } from './reading.js';

/**
 * The key that a written one stands for; under transliteration it may be escaped.
 *
 * @throws AccpError E1004 when it cannot be read
 */
export function readKey(key: string, reading: Reading): string {
  if (!reading.transliterated || !isMarkedKey(key)) return key;
  reading.path.length = 0;
  return keyOf(key, reading);
}

/**
 * The value of one parameter of a payload.
 *
 * @param key its key, for error messages
 * @param type what a schema says of the value
 * @throws AccpError E1004 with the path on what cannot be read or is not of the type; whatever `resolve` throws
 */
export function readValue(node: Value, key: string, reading: Reading, type?: FieldType): Json {
  const { path } = reading;
  path.length = 1;
  path[0] = key;
  if (type === undefined || type === 'any') return read(node, reading);
  const value = type === 'string' ? readText(node, reading) : read(node, reading);
  if (hasType(value, type) && !(type === 'integer' && node.kind === 'decimal')) return value;
  const name = node.kind === 'decimal' ? 'a decimal' : nameOf(value);
  throw unreadable(reading, `the field is of type ${type} and cannot hold ${name}`);
}

/** A field of strings: what would otherwise be a number or a keyword is the text that it is on the wire. */
function readText(node: Value, reading: Reading): Json {
  switch (node.kind) {
    case 'integer':
    case 'decimal':
      return digits(node);
    case 'boolean':
      return String(node.value);
    default:
      return read(node, reading);
  }
}

function digits(node: IntegerValue | DecimalValue): string {
  if (node.text !== undefined) return node.text;
  return node.kind === 'integer' ? String(node.value) : decimalDigits(node, Number.POSITIVE_INFINITY);
}

function read(node: Value, reading: Reading): Json {
  switch (node.kind) {
    case 'string':
      return reading.transliterated && isMarked(node.value) ? markedValue(node.value, reading) : node.value;
    case 'integer':
    case 'boolean':
      return node.value;
    case 'decimal':
      return node.text === undefined ? node.value : decimal(node, node.text, reading);
    case 'null':
      return null;
    case 'array':
      return array(node.items, reading);
    case 'map':
      return map(node, reading);
    case 'ref':
      return reading.resolve(node.path, pathText(reading.path));
  }
}

function array(nodes: readonly Value[], reading: Reading): Json {
  const { path } = reading;
  const level = nested(reading);
  const items: Json[] = [];
  for (let index = 0; index < nodes.length; index++) {
    path[level] = index;
    items.push(read(nodes[index]!, reading));
  }
  path.length = level;
  return items;
}

function map({ entries }: MapValue, reading: Reading): Json {
  const { path, transliterated } = reading;
  const level = nested(reading);
  const made: Record<string, Json> = Object.create(null);
  let isEscaped = false;
  for (let index = 0; index < entries.length; index++) {
    let { key } = entries[index]!;
    if (transliterated && isMarkedKey(key)) {
      path.length = level;
      key = keyOf(key, reading);
      isEscaped = true;
    }
    path[level] = key;
    made[key] = read(entries[index]!.value, reading);
  }
  path.length = level;
  // The grammar sees to keys that are repeated as they are written.
  if (isEscaped && Object.keys(made).length < entries.length) {
    throw unreadable(reading, 'a key appears twice, in two spellings');
  }
  return made;
}

/** How many steps there are down to an array or map. A frame nests a few levels; a tree made by hand may nest any. */
function nested(reading: Reading): number {
  const level = reading.path.length;
  if (level > MOST_NESTING) throw unreadable(reading, `nesting is deeper than ${MOST_NESTING}`);
  return level;
}

/** A decimal that is not spelled as its value would be. */
function decimal({ value }: DecimalValue, text: string, reading: Reading): number {
  if (!Number.isFinite(value)) {
    throw unreadable(reading, 'the number is beyond the range of a double', 'type the field "string" in a schema');
  }
  const kept = digitsOf(value);
  if (significant(kept) !== significant(text)) {
    reading.losses.push({ path: pathText(reading.path), kind: 'precision', from: text, to: kept });
  }
  return value;
}

/** A number's digits without idle zeros; zero has no sign. */
function significant(text: string): string {
  const isNegative = text.startsWith('-');
  const point = text.indexOf('.');
  const integer = (point < 0 ? text : text.slice(0, point)).replace(/^-?0*/, '');
  const fraction = point < 0 ? '' : withoutIdleZeros(text.slice(point + 1));
  const plain = `${integer}.${fraction}`;
  return isNegative && plain !== '.' ? `-${plain}` : plain;
}

/** Not by a pattern: `0+$` is tried at each zero. */
function withoutIdleZeros(fraction: string): string {
  let end = fraction.length;
  while (end > 0 && fraction.charCodeAt(end - 1) === 0x30) end--;
  return fraction.slice(0, end);
}

function markedValue(written: string, reading: Reading): Json {
  try {
    const text = textOfMarked(written);
    if (!isMarkedJson(written)) return text;
    return fromJsonText(text, (path) => reading.resolve(path, pathText(reading.path)));
  } catch (thrown) {
    if (!(thrown instanceof BadCamelText || thrown instanceof BadJsonText)) throw thrown;
    throw unreadable(reading, `the transliterated string cannot be read: ${thrown.message}`);
  }
}

function keyOf(written: string, reading: Reading): string {
  const key = keyOfMarked(written);
  if (key !== null) return key;
  reading.path.push(written);
  throw unreadable(reading, 'the escaped key cannot be read');
}
