/**
 * What the printer writes regardless of the structure of a frame: names, strings and numbers, byte by byte into one buffer, because
 * concatenating strings would take most of the time.
 *
 * Functions take a position in the buffer, write there and return the next position. Each makes room for what it writes.
 */

import { setsByUnit } from '../text/ascii.js';
import { DEFAULT_LIMITS } from '../text/limits.js';
import type { DecimalValue, IntegerValue } from './ast.js';
import { decimalDigits, integerDigits } from './numbers.js';
import { OTHER_KIND, whyNotPlain } from './plain.js';

const SIZE = 0x10000;
export const BYTES = /* @__PURE__ */ new Uint8Array(SIZE);
const BYTES_VIEW = /* @__PURE__ */ new DataView(BYTES.buffer);
/** The highest position with room for any short token. */
export const FULL = SIZE - 256;
/** The length in characters of names, keys and strings above which they need more room, or another way of reading. */
export const SHORT = 28;
/** The part of a long string that is read at a time, and its bytes. */
const CHUNK = 0x2000;
const SOURCE = /* @__PURE__ */ new Uint8Array(CHUNK);
const SOURCE_VIEW = /* @__PURE__ */ new DataView(SOURCE.buffer);

/** The tokens that a character may occur in, as bits; 0 for characters beyond visible ASCII. */
export const USES = /* @__PURE__ */ setsByUnit(
  [/[^@>:{}[\]|$,~\\]/, /\w/, /[A-Za-z]/, /[\w.]/, /[\w-]/, /[\d.-]/, /./],
  0x21,
  0x7e,
);
const PLAIN = 1;
export const WORD = 2;
export const LETTER = 4;
export const PATH = 8;
export const AGENT = 16;
const NUMERIC = 32;

/** For each pair of bytes, the first one in the low half: 1 if both are plain. */
const PLAIN_PAIRS = /* @__PURE__ */ plainPairs();

/** The text before the content of the buffer. */
let done = '';
let { maxDigits } = DEFAULT_LIMITS;

export type Step = string | number;

/** An invalid node. The lists around it add the steps to it, the innermost first. */
export class Fault {
  readonly message: string;
  readonly steps: Step[] = [];
  /** The number of the first steps that are shown. */
  readonly shown: number;

  constructor(message: string, shown = Number.POSITIVE_INFINITY) {
    this.message = message;
    this.shown = shown;
  }
}

// ---- Strings

export function string(text: unknown, from: number): number {
  if (typeof text !== 'string') throw new Fault('must be a string');
  const { length } = text;
  if (length > SHORT) return long(text, from);
  let at = from;
  let common = NUMERIC;
  for (let index = 0; index < length; index++) {
    const code = text.charCodeAt(index);
    const uses = USES[code]!;
    common &= uses;
    if ((uses & PLAIN) === 0) {
      if (uses === 0) throw notPlain(text);
      BYTES[at++] = 0x5c;
    }
    BYTES[at++] = code;
  }
  // An empty string is handled there, too.
  if (common === NUMERIC) return notNumber(text, at);
  // Both keywords end with this letter.
  if (BYTES[at - 1] === 0x65 && (text === 'true' || text === 'false')) throw notPlain(text);
  return at;
}

/** Returns `at` for a text of digits, points and signs that is not a number, such as a date. */
function notNumber(text: string, at: number): number {
  if (text === '' || OTHER_KIND.test(text)) throw notPlain(text);
  return at;
}

/** A string with many characters: its bytes are read and written four at a time. */
function long(text: string, from: number): number {
  let at = (USES[text.charCodeAt(0)]! & NUMERIC) === 0 ? from : notNumber(text, from);
  for (let start = 0; start < text.length; start += CHUNK) {
    if (at > FULL - 2 * CHUNK) at = flush(at);
    const part = text.length <= CHUNK ? text : text.slice(start, start + CHUNK);
    const { length } = part;
    if (ENCODER.encodeInto(part, SOURCE).written !== length) throw notPlain(text);
    for (let index = 0; index < length; ) {
      for (; index + 4 <= length; index += 4, at += 4) {
        const four = SOURCE_VIEW.getInt32(index, true);
        if ((PLAIN_PAIRS[four & 0xffff]! & PLAIN_PAIRS[four >>> 16]!) === 0) break;
        BYTES_VIEW.setInt32(at, four, true);
      }
      for (const end = Math.min(index + 4, length); index < end; index++) {
        const code = SOURCE[index]!;
        const uses = USES[code]!;
        if ((uses & PLAIN) === 0) {
          if (uses === 0) throw notPlain(text);
          BYTES[at++] = 0x5c;
        }
        BYTES[at++] = code;
      }
    }
  }
  return at;
}

function notPlain(text: string): Fault {
  return new Fault(whyNotPlain(text)!);
}

// ---- Booleans and numbers

export function boolean(value: unknown, at: number): number {
  if (typeof value !== 'boolean') throw new Fault('must be true or false');
  return ascii(value ? 'true' : 'false', at);
}

export function integer(node: IntegerValue, at: number): number {
  const { value } = node;
  if (typeof value !== 'number' || (value | 0) !== value || node.text !== undefined || maxDigits < 10) {
    return ascii(integerDigits(node, maxDigits), at);
  }
  if (value >= 0) return digits(value, at);
  BYTES[at] = 0x2d;
  return digits(-value, at + 1);
}

/** A number that identifies a message, and keeps its digits: `mid:007`. */
export function identifier(node: IntegerValue | DecimalValue, at: number): number {
  // Read once: a getter may return another text the next time.
  const { kind, value, text } = node;
  if (kind === 'integer') {
    if (text === undefined) return integer(node, at);
    integerDigits({ kind, value, text }, maxDigits);
  } else {
    if (text === undefined) return decimal(node, at);
    decimalDigits({ kind, value, text }, maxDigits);
  }
  return ascii(text, at);
}

/** In millionths, where exact: at most fifteen digits are always the shortest spelling of their double. */
export function decimal(node: DecimalValue, from: number): number {
  const { value } = node;
  if (typeof value !== 'number' || node.text !== undefined || maxDigits < 16) {
    return ascii(decimalDigits(node, maxDigits), from);
  }
  const magnitude = value < 0 ? -value : value;
  const millionths = Math.round(magnitude * 1e6);
  if (!(millionths < 1e15 && millionths / 1e6 === magnitude)) return ascii(decimalDigits(node, maxDigits), from);
  let at = from;
  if (value < 0) BYTES[at++] = 0x2d;
  const wholes = Math.floor(millionths / 1e6);
  at = digits(wholes, at);
  BYTES[at++] = 0x2e;
  let fraction = (millionths - wholes * 1e6) | 0;
  let places = 6;
  for (; places > 1 && fraction % 10 === 0; places--) fraction = (fraction / 10) | 0;
  for (let place = at + places - 1; place >= at; place--) {
    const rest = (fraction / 10) | 0;
    BYTES[place] = 0x30 + fraction - 10 * rest;
    fraction = rest;
  }
  return at + places;
}

/** An integer of at most ten digits. */
function digits(value: number, at: number): number {
  let end = at + 1;
  for (let more = (value / 10) | 0; more > 0; more = (more / 10) | 0) end++;
  let rest = value;
  for (let place = end - 1; place >= at; place--) {
    const tenth = (rest / 10) | 0;
    BYTES[place] = 0x30 + rest - 10 * tenth;
    rest = tenth;
  }
  return end;
}

// ---- Names and other ASCII

/** A text of characters with one use; returns -1 if it has others. */
export function name(text: unknown, from: number, use: number): number {
  if (typeof text !== 'string' || text === '') return -1;
  let at = from;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if ((USES[code]! & use) === 0) return -1;
    if (at > FULL) at = flush(at);
    BYTES[at++] = code;
  }
  return at;
}

export function ascii(text: string, from: number): number {
  const { length } = text;
  let at = from;
  for (let index = 0; index < length; index++) {
    if (at > FULL) at = flush(at);
    BYTES[at++] = text.charCodeAt(index);
  }
  return at;
}

// ---- The buffer

/** Begins a text. @param digits the maximum number of digits of a number */
export function startBuffer(digits: number): void {
  done = '';
  maxDigits = digits;
}

/** Returns the whole text. */
export function printed(end: number): string {
  return done === '' ? textTo(end) : done + textTo(end);
}

/** Saves what is written. Returns a function that restores it. */
export function savedBuffer(): () => void {
  const saved = { bytes: BYTES.slice(), done, maxDigits };
  return () => {
    BYTES.set(saved.bytes);
    ({ done, maxDigits } = saved);
  };
}

/** Empties the buffer, and returns its first position. */
export function flush(end: number): number {
  done += textTo(end);
  return 0;
}

interface Codecs {
  readonly Buffer?: { from(bytes: ArrayBufferLike): { latin1Slice?(start: number, end: number): string } };
  readonly TextDecoder: new () => { decode(bytes: Uint8Array): string };
  readonly TextEncoder: new () => { encodeInto(text: string, bytes: Uint8Array): { readonly written: number } };
}
const CODECS = globalThis as unknown as Codecs;
const ENCODER = /* @__PURE__ */ new CODECS.TextEncoder();
/** latin1Slice takes half the time of TextDecoder, and less than `toString`. */
const NODE_BUFFER = CODECS.Buffer?.from(BYTES.buffer);

function textTo(end: number): string {
  return NODE_BUFFER?.latin1Slice?.(0, end) ?? new CODECS.TextDecoder().decode(BYTES.subarray(0, end));
}

function plainPairs(): Uint8Array {
  const pairs = new Uint8Array(0x10000);
  for (let first = 0x21; first < 0x7f; first++) {
    for (let second = 0x21; second < 0x7f; second++) {
      pairs[first | (second << 8)] = USES[first]! & USES[second]! & PLAIN;
    }
  }
  return pairs;
}
