/**
 * Writes a payload from JSON to canonical text without a tree, as `writeParam` and the printer do together, in a fraction of the time.
 *
 * Functions return `null` for anything rare, lossy or invalid, which `writeParam` then handles, with its losses and errors.
 */

import { PLACES } from '../../text/decimal.js';
import { DEFAULT_LIMITS } from '../../text/limits.js';
import { OTHER_KIND } from '../plain.js';
import { type FieldType, hasType, isPlainObject, type Json, Reference } from './json.js';
import { isMarked, isMarkedKey, isPlainKey, transliterate } from './transliterate.js';
import type { TextPolicy } from './writing.js';

/** The maximum number of items of a message that is written here; longer ones are rare, and `writeParam` counts all limits. */
const MAX_ITEMS = 1024;

const UNESCAPED = /^[!-#%-+\--9;-=?A-Z^-z]+$/;
const DELIMITER = /[@>:{}[\]|$,~\\]/g;
const VISIBLE = /^[!-~]+$/;

/** A writer for the parameters of one message. */
export class DirectWriter {
  readonly #text: TextPolicy;
  #items = 0;

  constructor(text: TextPolicy) {
    this.#text = text;
  }

  /** Returns `key:value`. @param key the key on the wire @param type the type in the schema */
  param(key: string, value: Json, type: FieldType | undefined): string | null {
    this.#items++;
    if (!isPlainKey(key, true) || isMarkedKey(key)) return null;
    const isTyped = type !== undefined && type !== 'any';
    if (isTyped && !hasType(value, type)) return null;
    // In a string field, a number or keyword needs no other spelling.
    if (type === 'string' && OTHER_KIND.test(value as string)) return null;
    const isDecimal = type === 'decimal' && typeof value === 'number';
    const written = isDecimal ? decimal(value) : this.#value(value, 0);
    return written === null ? null : `${key}:${written}`;
  }

  /** @param depth number of enclosing arrays and maps */
  #value(value: unknown, depth: number): string | null {
    switch (typeof value) {
      case 'string':
        return this.#string(value);
      case 'number':
        return Number.isInteger(value) ? integer(value) : decimal(value);
      case 'boolean':
        return value ? 'true' : 'false';
      case 'object':
        if (value === null) return '~';
        if (value instanceof Reference) return `$${value.path}`;
        if (depth >= DEFAULT_LIMITS.maxDepth) return null;
        return Array.isArray(value) ? this.#array(value, depth + 1) : this.#map(value, depth + 1);
      default:
        return null;
    }
  }

  #string(text: string): string | null {
    const isSpecial = isSpecialStart(text.charCodeAt(0));
    if (!isSpecial && UNESCAPED.test(text)) return text;
    if (VISIBLE.test(text) && !(isSpecial && (OTHER_KIND.test(text) || isMarked(text)))) return escaped(text);
    return this.#text === 'transliterate' ? escaped(transliterate(text)) : null;
  }

  #array(list: readonly unknown[], depth: number): string | null {
    this.#items += list.length;
    if (this.#items > MAX_ITEMS) return null;
    let written = '[';
    for (let index = 0; index < list.length; index++) {
      const item = this.#value(list[index], depth);
      if (item === null) return null;
      written += index === 0 ? item : `,${item}`;
    }
    return `${written}]`;
  }

  #map(map: object, depth: number): string | null {
    if (!isPlainObject(map) || Object.getOwnPropertySymbols(map).length > 0) return null;
    const keys = Object.keys(map);
    this.#items += keys.length;
    if (this.#items > MAX_ITEMS) return null;
    let written = '{';
    for (const key of sorted(keys)) {
      const member = map[key];
      if (member === undefined) continue;
      const value = isPlainKey(key, false) && !isMarkedKey(key) ? this.#value(member, depth) : null;
      if (value === null) return null;
      written += written.length === 1 ? `${key}:${value}` : `,${key}:${value}`;
    }
    return `${written}}`;
  }
}

/** Returns `true` for the first characters of numbers and of the keywords, and for the marks of transliterated strings. */
function isSpecialStart(code: number): boolean {
  if (code <= 0x39) return code >= 0x30 || code === 0x2d || code === 0x22 || code === 0x27;
  return code === 0x66 || code === 0x74;
}

/** Escapes delimiters. Replacing takes much longer than the test, and most texts have none. */
function escaped(text: string): string {
  return UNESCAPED.test(text) ? text : text.replace(DELIMITER, '\\$&');
}

/** The number of keys up to which insertion is faster than `sort`. */
const FEW = 16;

/** Sorts by code unit. Most maps are small, and many are sorted. */
function sorted(keys: string[]): string[] {
  if (keys.length > FEW) return keys.sort();
  for (let index = 1; index < keys.length; index++) {
    const key = keys[index]!;
    let place = index;
    for (; place > 0 && keys[place - 1]! > key; place--) keys[place] = keys[place - 1]!;
    keys[place] = key;
  }
  return keys;
}

function integer(value: number): string | null {
  return Number.isSafeInteger(value) && !Object.is(value, -0) ? String(value) : null;
}

/** Returns JavaScript's own digits if they are canonical: no exponent, at most six places. */
function decimal(value: number): string | null {
  if (Number.isInteger(value)) {
    const digits = integer(value);
    return digits === null ? null : `${digits}.0`;
  }
  const digits = String(value);
  const places = digits.length - digits.indexOf('.') - 1;
  return places <= PLACES && Number.isFinite(value) && !digits.includes('e') ? digits : null;
}
