/** A printer of frames that checks each node in turn and concatenates strings; slow, and simple enough to be compared with the product's. */

import type { Frame, Param, Value } from '../../src/accp/ast.js';
import { BadNumber, decimalDigits, integerDigits } from '../../src/accp/numbers.js';
import type { PrintOptions } from '../../src/accp/print.js';
import { unprintable } from '../../src/accp/syntax-error.js';
import { byEnvelope, IDENTIFIER_KEYS } from '../../src/accp/vocabulary.js';
import { byCodeUnit } from '../../src/text/ascii.js';
import { resolveLimits } from '../../src/text/limits.js';

interface Printing {
  readonly maxDepth: number;
  readonly maxDigits: number;
  readonly path: (string | number)[];
}

const AGENT_ID = /^[A-Za-z0-9_-]+$/;
const INTENT = /^[A-Za-z]+$/;
const WORD = /^[A-Za-z0-9_]+$/;
const REF_KEY = /^[A-Za-z0-9_.]+$/;
/** Strings without delimiters that cannot be read as a number or a keyword. */
const PLAIN = /^[A-Z_a-eg-su-z][!-#%-+\--9;-=?A-Z^-z]*$/;
const DELIMITER = /[@>:{}[\]|$,~\\]/g;
const NOT_VISIBLE_ASCII = /[^!-~]/;
/** Up to this number of keys, pairwise comparison is fastest. */
const FEW_KEYS = 16;
/** Texts that would read as a number or a keyword. */
const OTHER_KIND = /^(?:true|false|-?[0-9]+(?:\.[0-9]+)?)$/;

/** Returns what `printFrame` should return, and throws what it should throw. */
export function printSlowly(frame: Frame, options: PrintOptions = {}): string {
  const { maxDepth, maxDigits } = resolveLimits(options);
  const printing: Printing = { maxDepth, maxDigits, path: [] };
  try {
    return print(frame, options.sortParams === true, printing);
  } catch (thrown) {
    if (thrown instanceof BadNumber) throw fault(printing, thrown.message);
    if (!(thrown instanceof RangeError)) throw thrown;
    // Both the call stack and the length of a string are limited.
    printing.path.splice(8);
    throw fault(printing, 'is nested too deeply or is too long');
  }
}

function print(frame: Frame, sortParams: boolean, printing: Printing): string {
  if (frame?.kind !== 'frame') throw unprintable('frame', 'is not a frame node');
  const agent = name(frame.agent, AGENT_ID, 'agent', 'letters, digits, "-" and "_"');
  const intent = name(frame.intent, INTENT, 'intent', 'letters');
  const operation = name(frame.operation, WORD, 'operation', 'letters, digits and "_"');

  printing.path.push('payload');
  const payload = params(frame.payload, printing, 0, '|', sortParams ? byCodeUnit : null);
  printing.path[0] = 'metadata';
  return `@${agent}>${intent}:${operation}{${payload}}${metadata(frame.metadata, printing)}`;
}

function metadata(list: readonly Param[] | null, printing: Printing): string {
  if (list === null) return '';
  if (list?.length === 0) throw fault(printing, 'a metadata block cannot be empty; use null instead');
  return `[${params(list, printing, 0, ',', byEnvelope)}]`;
}

type Order = (a: string, b: string) => number;

/** Prints the `key:value` pairs of a list, and rejects duplicate keys. */
function params(
  list: readonly Param[],
  printing: Printing,
  depth: number,
  separator: string,
  order: Order | null,
): string {
  if (!Array.isArray(list)) throw fault(printing, 'must be an array');
  const { path } = printing;
  const level = path.length;
  const ordered = order === null ? list : inOrder(list, printing, order, level);
  const seen: string[] | Set<string> = list.length > FEW_KEYS ? new Set() : [];
  let last = '';
  let text = '';
  // for-of is slower; map skips the holes of a sparse list.
  for (let index = 0; index < ordered.length; index++) {
    const param: Param | undefined = ordered[index];
    const key = checkedKey(param, index, printing, level);
    path[level] = key;
    // In a sorted list, equal keys are adjacent; a key changed by a getter is out of order.
    const isNew = order === null ? isFirst(key, index, seen) : index === 0 || order(last, key) < 0;
    if (!isNew) throw fault(printing, 'duplicate key');
    last = key;
    const own = order === byEnvelope && IDENTIFIER_KEYS.has(key) ? identifier(param!.value, printing) : undefined;
    const printed = own ?? value(param!.value, printing, depth);
    text += index === 0 ? `${key}:${printed}` : `${separator}${key}:${printed}`;
  }
  path.length = level;
  return text;
}

function isFirst(key: string, index: number, seen: string[] | Set<string>): boolean {
  if (!Array.isArray(seen)) return seen.size < seen.add(key).size;
  for (let i = 0; i < index; i++) if (seen[i] === key) return false;
  seen.push(key);
  return true;
}

function checkedKey(param: Param | undefined, index: number, printing: Printing, level: number): string {
  const key = param?.key;
  if (typeof key === 'string' && WORD.test(key)) return key;
  printing.path[level] = index;
  throw fault(printing, 'has an invalid key; use letters, digits and "_"');
}

/** Returns the list itself if sorted, as in canonical text; else a sorted copy. */
function inOrder(list: readonly Param[], printing: Printing, order: Order, level: number): readonly Param[] {
  for (let index = 1; index < list.length; index++) {
    const before = list[index - 1]?.key;
    const after = list[index]?.key;
    if (typeof before === 'string' && typeof after === 'string' && order(before, after) < 0) continue;
    for (let i = 0; i < list.length; i++) checkedKey(list[i], i, printing, level);
    return [...list].sort((a, b) => order(a.key, b.key));
  }
  return list;
}

/** An identifier that looks like a number keeps its source digits. */
function identifier(node: Value, printing: Printing): string | undefined {
  if (node?.kind !== 'integer' && node?.kind !== 'decimal') return undefined;
  // Checks that the text denotes the value.
  value(node, printing, 0);
  return node.text;
}

/** @param depth number of enclosing arrays and maps */
function value(node: Value, printing: Printing, depth: number): string {
  switch (node?.kind) {
    case 'string':
      return string(node.value, printing);
    case 'integer':
      return integerDigits(node, printing.maxDigits);
    case 'decimal':
      return decimalDigits(node, printing.maxDigits);
    case 'boolean':
      if (typeof node.value !== 'boolean') throw fault(printing, 'must be true or false');
      return node.value ? 'true' : 'false';
    case 'null':
      return '~';
    case 'array':
      return `[${items(node.items, printing, nested(printing, depth))}]`;
    case 'map':
      return `{${params(node.entries, printing, nested(printing, depth), ',', byCodeUnit)}}`;
    case 'ref':
      return `$${reference(node.path, printing)}`;
    default:
      node satisfies never;
      throw fault(printing, 'is not a value node');
  }
}

function items(list: readonly Value[], printing: Printing, depth: number): string {
  if (!Array.isArray(list)) throw fault(printing, 'must be an array');
  const { path } = printing;
  const level = path.length;
  let text = '';
  for (let index = 0; index < list.length; index++) {
    path[level] = index;
    const printed = value(list[index], printing, depth);
    text += index === 0 ? printed : `,${printed}`;
  }
  path.length = level;
  return text;
}

function string(text: string, printing: Printing): string {
  if (typeof text !== 'string') throw fault(printing, 'must be a string');
  if (PLAIN.test(text)) return text;
  const why = whyNotPlain(text);
  if (why !== null) throw fault(printing, why);
  return escaped(text);
}

/** Returns the end of a sentence, or `null` for a string that the grammar can write. */
function whyNotPlain(text: string): string | null {
  if (text === '') return 'an empty string cannot be written';
  if (NOT_VISIBLE_ASCII.test(text)) return 'only visible ASCII can be written, without spaces';
  return OTHER_KIND.test(text) ? `the string "${text.slice(0, 40)}" would read back as another kind` : null;
}

/** In pieces if long: V8 ends the process over a list of too many delimiters. */
function escaped(text: string): string {
  return text.length >> 24 ? text.replace(/.{1,65536}/g, escaped) : text.replace(DELIMITER, '\\$&');
}

function reference(path: string, printing: Printing): string {
  if (typeof path === 'string' && REF_KEY.test(path)) return path;
  printing.path.push('path');
  throw fault(printing, 'is an invalid path; use letters, digits, "_" and "."');
}

function nested(printing: Printing, depth: number): number {
  if (depth >= printing.maxDepth) throw fault(printing, `nesting is deeper than ${printing.maxDepth}`);
  return depth + 1;
}

function name(text: string, pattern: RegExp, path: string, characters: string): string {
  if (typeof text === 'string' && pattern.test(text)) return text;
  throw unprintable(path, `is invalid; use ${characters}`);
}

function fault(printing: Printing, message: string): Error {
  return unprintable(pathText(printing.path), message);
}

function pathText(path: readonly (string | number)[]): string {
  return path.map((step, i) => (typeof step === 'number' ? `[${step}]` : i === 0 ? step : `.${step}`)).join('');
}
