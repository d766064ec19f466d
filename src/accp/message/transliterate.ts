/**
 * Strings that every frame can hold (draft-benzing-accp-00, sections 3.1 and 3.3, whose grammar has no spaces, no characters
 * beyond ASCII, no empty strings, and no way to tell the string `42` from the number).
 *
 * Most strings of agents are names and paths, and are written as they are. The others begin with a mark: an apostrophe before
 * camel text, a double quote before JSON in camel text, for what nests too deep. A string that begins with a mark itself is
 * written as camel text. So every string comes back exactly, and what a plain writer sends is read as it stands unless it
 * begins with a mark.
 */

import type { Value } from '../ast.js';
import { decimalOf, integerOf } from '../numbers.js';

const VISIBLE = /^[!-~]+$/;
/** Strings that would read back as another kind. */
const OTHER_KIND = /^(?:true|false|-?[0-9]+(?:\.[0-9]+)?)$/;
const CANONICAL_INTEGER = /^(?:0|-?[1-9][0-9]*)$/;
const CANONICAL_DECIMAL = /^-?(?:0|[1-9][0-9]*)\.(?:0|[0-9]{0,5}[1-9])$/;

/** Whether the grammar can write a string (draft-benzing-accp-00, section 3.1); delimiters in it are the printer's to escape. */
export function isPlainText(text: string): boolean {
  return VISIBLE.test(text) && !OTHER_KIND.test(text);
}

/** Why the grammar cannot write a string, as the end of a sentence; `null` where it can. */
export function whyNotPlain(text: string): string | null {
  if (text === '') return 'an empty string cannot be written';
  if (!VISIBLE.test(text)) return 'only visible ASCII can be written, without spaces';
  if (OTHER_KIND.test(text)) return `the string "${text.slice(0, 40)}" would read back as another kind`;
  return null;
}

/**
 * The node of another kind whose canonical text is the given one: where a schema says that a field is a string, it is read as
 * that. `null` where there is none, as for `007`, which prints as `7`.
 */
export function nodeSpelled(text: string, maxDigits: number): Value | null {
  if (text === 'true' || text === 'false') return { kind: 'boolean', value: text === 'true' };
  // Signs and points are not counted as digits; a limit that is met to the point is not worth the trouble.
  if (text.length > maxDigits) return null;
  if (CANONICAL_INTEGER.test(text)) return integerOf(text);
  return CANONICAL_DECIMAL.test(text) && text !== '-0.0' ? decimalOf(text) : null;
}

/** Small letters, which capitals and digits can follow without a space being written. */
const SMALL = 1;
const CAPITAL = 2;
const DIGIT = 3;
/** Has a meaning in camel text, and is escaped. */
const ESCAPED = 4;
/** Changes places with another one. */
const SWAPPED = 5;
const SPACE = 6;
/** Nothing that a frame can hold: controls, and all beyond ASCII. */
const FOREIGN = 7;
/** The rest of visible ASCII. */
const PLAIN = 0;

/** What was written before a character: nothing that counts, a small letter, ... */
const NOTHING = 0;
/** A digit, or a mark that a word may come after. */
const CLOSING = 2;
/** A mark that ends a sentence, and that a capital may come after. */
const STOP = 3;

const HYPHEN = 0x2d;

/** The comma and the colon, which a frame would escape, for characters that are rarer and need no escape. */
const SWAPS: Readonly<Record<string, string>> = { ',': ';', ';': ',', ':': '<', '<': ':' };

/** For each capital and digit, what it reads as after what joins: a space, and itself or its small letter. */
const JOINED: readonly string[] = spaced((character) => character.toLowerCase());
/** For each capital, what it reads as after the end of a sentence. */
const BEGUN: readonly string[] = spaced((character) => character);

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

/** What a character is in a text. */
function kindOf(code: number): number {
  return code < 0x80 ? KINDS[code]! : FOREIGN;
}

/** What a written character is to the one after it. */
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

/** One unit without leading zeros (`e9`); of several, four digits each. */
function toHex(run: string): string {
  if (run.length === 1) return run.charCodeAt(0).toString(16);
  let digits = '';
  for (let at = 0; at < run.length; at++) digits += run.charCodeAt(at).toString(16).padStart(4, '0');
  return digits;
}

/** What {@link toHex} was given; `null` for what it never gives. */
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

/** Any string as one or more visible ASCII characters that read as no other kind of value. */
export function transliterate(text: string): string {
  return isPlainText(text) && !isMarked(text) ? text : `'${toCamelText(text)}`;
}

/** JSON text as a string that {@link isMarkedJson}. */
export function transliterateJson(json: string): string {
  return `"${toCamelText(json)}`;
}

/** Whether a written string begins with a mark, and does not stand for itself. */
export function isMarked(written: string): boolean {
  const first = written.charCodeAt(0);
  return first === TEXT_MARK || first === JSON_MARK;
}

/** Whether a written string stands for JSON text. */
export function isMarkedJson(written: string): boolean {
  return written.charCodeAt(0) === JSON_MARK;
}

/**
 * The text that a marked string stands for.
 *
 * @throws BadCamelText on what cannot be read
 */
export function textOfMarked(written: string): string {
  return fromCamelText(written, 1);
}

/** A text that cannot be read as camel text. */
export class BadCamelText extends Error {}

/** Any text, lone surrogates and the empty one included, as visible ASCII. */
function toCamelText(text: string): string {
  let out = '';
  /** From here on nothing was changed yet. */
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
        written = joined ? text[end]!.toUpperCase() : '-';
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

/** Whether a space before a character of this kind need not be written. */
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

/**
 * What {@link toCamelText} was given. It reads more than that writes, wherever there is one way to read it.
 *
 * @param from where it begins in `text`
 * @throws BadCamelText on an escape that is cut off, or has bad digits
 */
function fromCamelText(text: string, from = 0): string {
  let out = '';
  /** From here on nothing was changed yet. */
  let start = from;
  let before = NOTHING;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const kind = kindOf(code);
    // Most characters are small letters, and stand for themselves.
    if (kind === SMALL || kind === PLAIN) {
      before = traceOf(code);
      continue;
    }
    let read: string;
    let last = at;
    switch (kind) {
      case CAPITAL:
        if (before === NOTHING) continue;
        read = before === STOP ? BEGUN[code]! : JOINED[code]!;
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
  if (equals + 1 >= text.length) throw new BadCamelText('an escape is cut off at the end of the text');
  if (text[equals + 1] !== '(') return equals + 2;
  const closing = text.indexOf(')', equals);
  if (closing < 0) throw new BadCamelText('an escape has no closing parenthesis');
  return closing + 1;
}

/** What an escape reads as, from behind its `=` on. */
function unescaped(text: string, start: number, end: number): string {
  if (end - start > 1) {
    const run = fromHex(text.slice(start + 1, end - 1));
    if (run === null) throw new BadCamelText('an escape holds bad hexadecimal digits');
    return run;
  }
  const character = text[start]!;
  if (character === 'n') return '\n';
  return character === 't' ? '\t' : character;
}

const WORD = /^[A-Za-z0-9_]+$/;
/** Begins every escaped key, and no other one that was written under transliteration. */
const MARK = '_0';
/** The payload's parameter that names the schema, and is no data. */
const SCHEMA = 'schema';

/** Whether a key can stand in a frame as it is. `schema` cannot on top of a payload, where it means something else. */
export function isPlainKey(key: string, isTop: boolean): boolean {
  return WORD.test(key) && !(isTop && key === SCHEMA);
}

/**
 * Any key as letters, digits and `_`, reversibly: itself, or behind a mark with `__` for `_`, and with the hexadecimal code units
 * of all else between two `_`. `file-name` is `_0file_2d_name`.
 */
export function transliterateKey(key: string, isTop: boolean): string {
  if (isPlainKey(key, isTop) && !isMarkedKey(key)) return key;
  return MARK + key.replace(/_|[^A-Za-z0-9_]+/g, (run) => (run === '_' ? '__' : `_${toHex(run)}_`));
}

export function isMarkedKey(written: string): boolean {
  // Every key that is read comes by here: this is faster than startsWith.
  return written.charCodeAt(0) === 0x5f && written.charCodeAt(1) === 0x30;
}

/** The key that a marked one stands for; `null` when it cannot be read. */
export function keyOfMarked(written: string): string | null {
  // Every other piece is hexadecimal, and an empty one of them is a `_`.
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
