/**
 * Reversible spellings for strings that the grammar cannot write (draft-benzing-accp-00, sections 3.1 and 3.3): with spaces,
 * non-ASCII characters, empty, or equal to a number or keyword.
 *
 * Most strings are written as they are. The others begin with a mark: an apostrophe before camel text, a double quote before JSON in
 * camel text, for deep nesting. A string that begins with a mark itself is camel text, too.
 */

import { DEFAULT_LIMITS } from '../../text/limits.js';
import type { Value } from '../ast.js';
import { decimalOf, integerOf } from '../numbers.js';
import { OTHER_KIND } from '../plain.js';

const VISIBLE = /^[!-~]+$/;
const CANONICAL_INTEGER = /^(?:0|-?[1-9][0-9]*)$/;
const CANONICAL_DECIMAL = /^-?(?:0|[1-9][0-9]*)\.(?:0|[0-9]{0,5}[1-9])$/;

/** Returns `true` if the grammar can write a string (draft-benzing-accp-00, section 3.1); the printer escapes delimiters. */
export function isPlainText(text: string): boolean {
  return VISIBLE.test(text) && !OTHER_KIND.test(text);
}

/** Returns the node of another kind whose canonical text is `text`, if any: `7`, but not `007`. */
export function nodeSpelled(text: string): Value | null {
  if (text === 'true' || text === 'false') return { kind: 'boolean', value: text === 'true' };
  // Counts signs and points as digits, too: the limit need not be exact.
  if (text.length > DEFAULT_LIMITS.maxDigits) return null;
  if (CANONICAL_INTEGER.test(text)) return integerOf(text);
  return CANONICAL_DECIMAL.test(text) && text !== '-0.0' ? decimalOf(text) : null;
}

/** Letters that capitals and digits can follow without a written space. */
const SMALL = 1;
const CAPITAL = 2;
const DIGIT = 3;
/** Has a meaning in camel text. */
const ESCAPED = 4;
/** Swapped with another character. */
const SWAPPED = 5;
const SPACE = 6;
/** Control and non-ASCII characters. */
const FOREIGN = 7;
/** Other visible ASCII. */
const PLAIN = 0;

/** The kinds of the previous character. */
const NOTHING = 0;
/** A digit, or a mark that can follow a word. */
const CLOSING = 2;
/** The end of a sentence, which a capital may follow. */
const STOP = 3;

const HYPHEN = 0x2d;

/** Swaps the comma and the colon, which a frame would escape, with rarer characters that need no escape. */
const SWAPS: Readonly<Record<string, string>> = { ',': ';', ';': ',', ':': '<', '<': ':' };

/** The meaning of capitals and digits that imply a space: a space, and the character or its small letter. */
const JOINED: readonly string[] = spaced((character) => character.toLowerCase());
/** The meaning of capitals after the end of a sentence: a space and the capital. */
const SENTENCE_STARTS: readonly string[] = spaced((character) => character);

/** The capitals of ASCII characters: `toUpperCase` takes the rules of all languages into account. */
const CAPITALS: readonly string[] = Array.from({ length: 0x80 }, (_, code) => String.fromCharCode(code).toUpperCase());

function spaced(spelled: (character: string) => string): string[] {
  return Array.from({ length: 0x80 }, (_, code) => ` ${spelled(String.fromCharCode(code))}`);
}

const KINDS = table(PLAIN, [
  ['abcdefghijklmnopqrstuvwxyz', SMALL],
  ['ABCDEFGHIJKLMNOPQRSTUVWXYZ', CAPITAL],
  ['0123456789', DIGIT],
  ['=-', ESCAPED],
  [',;:<', SWAPPED],
  [' ', SPACE],
]);
KINDS.fill(FOREIGN, 0, 0x20);
KINDS[0x7f] = FOREIGN;

const TRACES = table(NOTHING, [
  ['abcdefghijklmnopqrstuvwxyz', SMALL],
  ['0123456789%,;<)', CLOSING],
  ['.!?', STOP],
]);

function kindOf(code: number): number {
  return code < 0x80 ? KINDS[code]! : FOREIGN;
}

function traceOf(code: number): number {
  return code < 0x80 ? TRACES[code]! : NOTHING;
}

function table(rest: number, groups: readonly (readonly [string, number])[]): Uint8Array {
  const kinds = new Uint8Array(0x80).fill(rest);
  for (const [characters, kind] of groups) {
    for (let at = 0; at < characters.length; at++) kinds[characters.charCodeAt(at)] = kind;
  }
  return kinds;
}

const HEX = /^[0-9A-Fa-f]+$/;

/** A single unit without leading zeros (`e9`); of several, four digits each. */
function toHex(run: string): string {
  if (run.length === 1) return run.charCodeAt(0).toString(16);
  let digits = '';
  for (let at = 0; at < run.length; at++) digits += run.charCodeAt(at).toString(16).padStart(4, '0');
  return digits;
}

function fromHex(digits: string): string | null {
  if (!HEX.test(digits)) return null;
  if (digits.length < 4) return String.fromCharCode(Number.parseInt(digits, 16));
  if (digits.length % 4 !== 0) return null;
  let run = '';
  for (let at = 0; at < digits.length; at += 4) {
    run += String.fromCharCode(Number.parseInt(digits.slice(at, at + 4), 16));
  }
  return run;
}

const TEXT_MARK = 0x27;
const JSON_MARK = 0x22;

/** Returns a spelling of any string in visible ASCII that reads as a string. */
export function transliterate(text: string): string {
  return isPlainText(text) && !isMarked(text) ? text : `'${toCamelText(text)}`;
}

export function transliterateJson(json: string): string {
  return `"${toCamelText(json)}`;
}

export function isMarked(written: string): boolean {
  const first = written.charCodeAt(0);
  return first === TEXT_MARK || first === JSON_MARK;
}

export function isMarkedJson(written: string): boolean {
  return written.charCodeAt(0) === JSON_MARK;
}

export class BadCamelText extends Error {}

/** Any string, with lone surrogates, or empty, as visible ASCII. */
function toCamelText(text: string): string {
  let out = '';
  /** Characters from `start` are unchanged so far. */
  let start = 0;
  let before = NOTHING;
  for (let at = 0, end = 0; at < text.length; at = end) {
    const code = text.charCodeAt(at);
    end = at + 1;
    let written: string;
    switch (kindOf(code)) {
      case CAPITAL:
        if (before === NOTHING) continue;
        written = `=${text[at]}`;
        before = NOTHING;
        break;
      case DIGIT:
        if (before !== SMALL) {
          before = CLOSING;
          continue;
        }
        written = `=${text[at]}`;
        before = CLOSING;
        break;
      case ESCAPED:
        written = `=${text[at]}`;
        before = NOTHING;
        break;
      case SWAPPED:
        written = SWAPS[text[at]!]!;
        before = traceOf(written.charCodeAt(0));
        break;
      case SPACE: {
        const joined = joins(before, kindOf(text.charCodeAt(end)));
        written = joined ? CAPITALS[text.charCodeAt(end)]! : '-';
        before = joined ? traceOf(written.charCodeAt(0)) : NOTHING;
        if (joined) end++;
        break;
      }
      case FOREIGN:
        end = endOfForeign(text, at);
        written = escapeOf(text.slice(at, end));
        before = NOTHING;
        break;
      default:
        before = traceOf(code);
        continue;
    }
    out += text.slice(start, at) + written;
    start = end;
  }
  return start === 0 ? text : out + text.slice(start);
}

function joins(before: number, next: number): boolean {
  if (next === SMALL) return before === SMALL || before === CLOSING;
  return next === CAPITAL ? before === STOP : next === DIGIT && before === SMALL;
}

/** Line feeds and tabs stand alone; other foreign characters together, with single spaces between them. */
function endOfForeign(text: string, start: number): number {
  let end = start + 1;
  if (isBreak(text.charCodeAt(start))) return end;
  for (;;) {
    const next = text.charCodeAt(end) === 0x20 ? end + 1 : end;
    if (next >= text.length || isBreak(text.charCodeAt(next)) || kindOf(text.charCodeAt(next)) !== FOREIGN) return end;
    end = next + 1;
  }
}

function escapeOf(run: string): string {
  if (run === '\n') return '=n';
  return run === '\t' ? '=t' : `=(${toHex(run)})`;
}

function isBreak(code: number): boolean {
  return code === 0x0a || code === 0x09;
}

/** Reads the camel text behind a mark in all unambiguous spellings. Throws BadCamelText on a bad escape. */
export function textOfMarked(text: string): string {
  let out = '';
  let start = 1;
  let before = NOTHING;
  for (let at = 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const kind = kindOf(code);
    // Most characters are small letters and stand for themselves.
    if (kind === SMALL || kind === PLAIN) {
      before = traceOf(code);
      continue;
    }
    let read: string;
    let last = at;
    switch (kind) {
      case CAPITAL:
        if (before === NOTHING) continue;
        read = before === STOP ? SENTENCE_STARTS[code]! : JOINED[code]!;
        before = NOTHING;
        break;
      case DIGIT:
        if (before !== SMALL) {
          before = CLOSING;
          continue;
        }
        read = JOINED[code]!;
        before = CLOSING;
        break;
      case SWAPPED:
        read = SWAPS[text[at]!]!;
        before = traceOf(code);
        break;
      case ESCAPED:
        before = NOTHING;
        if (code === HYPHEN) {
          read = ' ';
          break;
        }
        last = endOfEscape(text, at) - 1;
        read = unescaped(text, at + 1, last + 1);
        if (kindOf(read.charCodeAt(0)) === DIGIT) before = CLOSING;
        break;
      default:
        before = NOTHING;
        continue;
    }
    out += text.slice(start, at) + read;
    start = last + 1;
    at = last;
  }
  return out + text.slice(start);
}

function endOfEscape(text: string, equals: number): number {
  if (equals + 1 >= text.length) throw new BadCamelText('an escape ends too early');
  if (text[equals + 1] !== '(') return equals + 2;
  const closing = text.indexOf(')', equals);
  if (closing < 0) throw new BadCamelText('an escape has no closing parenthesis');
  return closing + 1;
}

function unescaped(text: string, start: number, end: number): string {
  if (end - start > 1) {
    const run = fromHex(text.slice(start + 1, end - 1));
    if (run === null) throw new BadCamelText('an escape has invalid hexadecimal digits');
    return run;
  }
  const character = text[start]!;
  if (character === 'n') return '\n';
  return character === 't' ? '\t' : character;
}

const WORD = /^[A-Za-z0-9_]+$/;
/** The prefix of escaped keys, and of no others under transliteration. */
const MARK = '_0';
/** The top-level key that names the schema. */
const SCHEMA = 'schema';

/** Returns `true` if a key needs no escape; `schema` needs one at the top level of a payload. */
export function isPlainKey(key: string, isTop: boolean): boolean {
  return WORD.test(key) && !(isTop && key === SCHEMA);
}

/** Escapes a key reversibly: `__` for `_`, hexadecimal code units for other characters. `file-name` is `_0file_2d_name`. */
export function transliterateKey(key: string, isTop: boolean): string {
  if (isPlainKey(key, isTop) && !isMarkedKey(key)) return key;
  return MARK + key.replace(/_|[^A-Za-z0-9_]+/g, (run) => (run === '_' ? '__' : `_${toHex(run)}_`));
}

export function isMarkedKey(written: string): boolean {
  // On the hot path; faster than startsWith.
  return written.charCodeAt(0) === 0x5f && written.charCodeAt(1) === 0x30;
}

export function keyOfMarked(written: string): string | null {
  // Odd pieces are hexadecimal; an empty one is a `_`.
  const pieces = written.slice(MARK.length).split('_');
  if (pieces.length % 2 === 0) return null;
  let key = '';
  for (let index = 0; index < pieces.length; index++) {
    const piece = pieces[index]!;
    const read = index % 2 === 0 ? piece : piece === '' ? '_' : fromHex(piece);
    if (read === null) return null;
    key += read;
  }
  return key;
}
