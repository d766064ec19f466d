/**
 * The printer: canonical text of frames (draft-benzing-accp-00, sections 3.1.1 and 3.3), written byte by byte into one buffer, because
 * concatenating strings would take most of the time.
 *
 * Functions take a position in the buffer, write there and return the next position. Each makes room for what it writes, except for a few
 * brackets and separators. All are in one file, since a variable of another module is slower: two files cost an eighth.
 */

import { byCodeUnit, setsByUnit } from '../text/ascii.js';
import { DEFAULT_LIMITS, type Limits, resolveLimits } from '../text/limits.js';
import type { DecimalValue, Frame, IntegerValue, Param, Value } from './ast.js';
import { BadNumber, decimalDigits, integerDigits } from './numbers.js';
import { OTHER_KIND, whyNotPlain } from './plain.js';
import { unprintable } from './syntax-error.js';
import { byEnvelope, ENVELOPE_KEYS, IDENTIFIER_KEYS } from './vocabulary.js';

/** Options of the printer. */
export interface PrintOptions extends Pick<Limits, 'maxDepth' | 'maxDigits'> {
  /** If true, payload parameters are sorted by key, too: the form for hashes and for comparing frames as text. @default false */
  readonly sortParams?: boolean | undefined;
}

const SIZE = 0x10000;
const BYTES = /* @__PURE__ */ new Uint8Array(SIZE);
const BYTES_VIEW = /* @__PURE__ */ new DataView(BYTES.buffer);
/** The highest position with room for any short token. */
const FULL = SIZE - 256;
/** The length in characters of names, keys and strings above which they need more room, or another way of reading. */
const SHORT = 28;
/** The part of a long string that is read at a time, and its bytes. */
const CHUNK = 0x2000;
const SOURCE = /* @__PURE__ */ new Uint8Array(CHUNK);
const SOURCE_VIEW = /* @__PURE__ */ new DataView(SOURCE.buffer);

/** The tokens that a character may occur in, as bits; 0 for characters beyond visible ASCII. */
const USES = /* @__PURE__ */ setsByUnit(
  [/[^@>:{}[\]|$,~\\]/, /\w/, /[A-Za-z]/, /[\w.]/, /[\w-]/, /[\d.-]/, /./],
  0x21,
  0x7e,
);
const PLAIN = 1;
const WORD = 2;
const LETTER = 4;
const PATH = 8;
const AGENT = 16;
const NUMERIC = 32;

/** For each pair of bytes, the first one in the low half: 1 if both are plain. */
const PLAIN_PAIRS = /* @__PURE__ */ plainPairs();

/** Up to this number, keys are distinguished by a few bits and sorted by insertion. */
const MAX_KEYS = 32;
/** Sort keys of the lists being written, innermost last: the rank, and in the lowest bits (`PLACE`) the index in the list. */
const ORDER = /* @__PURE__ */ new Int32Array(64 * MAX_KEYS);
const PLACE_BITS = 5;
const PLACE = MAX_KEYS - 1;

/** A rank has seven bits for each of the first three characters of a key, above them its place in the envelope. */
const KEY_BITS = 21;
const KEY_MASK = (1 << KEY_BITS) - 1;
const SHORT_KEY = 3;
const ENVELOPE_STARTS: readonly number[] = /* @__PURE__ */ ENVELOPE_KEYS.map(startOf);
const IDENTIFIERS = /* @__PURE__ */ ENVELOPE_KEYS.reduce(
  (bits, key, place) => (IDENTIFIER_KEYS.has(key) ? bits | (1 << place) : bits),
  0,
);

/** The text before the content of the buffer. */
let done = '';
/** The end of `ORDER`'s content. */
let top = 0;
let { maxDepth, maxDigits } = DEFAULT_LIMITS;
let isPrinting = false;

type Step = string | number;

/** An invalid node. The lists around it add the steps to it, the innermost first. */
class Fault {
  readonly message: string;
  readonly steps: Step[] = [];
  /** The number of the first steps that are shown. */
  readonly shown: number;

  constructor(message: string, shown = Number.POSITIVE_INFINITY) {
    this.message = message;
    this.shown = shown;
  }
}

/**
 * Prints a frame in its canonical form: no white space, map keys ascending by code unit, metadata in the order of Table 4 and
 * then ascending, decimals with at most six places, integers without leading zeros. Identifiers in the metadata (`mid`,
 * `cid`, `aid`, `sid`) keep their digits. Text length and number of items are not limited.
 *
 * @throws PrintError with code `E1004` and the path if the tree would not read back as itself: an empty string, a string
 * with a character that frames cannot hold or that reads as another kind (`"42"`), NaN, an invalid or duplicate key, nesting
 * beyond `maxDepth`, a `text` that does not denote its `value`, ...
 * @example
 * printFrame(parseFrame('@a>req:x{m:{b:1.50,a:007}}')) // '@a>req:x{m:{a:7,b:1.5}}'
 */
export function printFrame(frame: Frame, options?: PrintOptions): string {
  const limits = options === undefined ? DEFAULT_LIMITS : resolveLimits(options);
  const resume = isPrinting ? suspended() : null;
  isPrinting = true;
  done = '';
  top = 0;
  ({ maxDepth, maxDigits } = limits);
  try {
    const end = whole(frame, options?.sortParams === true);
    return done === '' ? textTo(end) : done + textTo(end);
  } catch (thrown) {
    const fault = faultOf(thrown);
    throw fault === null ? thrown : unprintable(pathOf(fault), fault.message);
  } finally {
    isPrinting = false;
    resume?.();
  }
}

/** Saves the state of a frame that is being printed: a getter in its tree prints another one. Returns a function that restores it. */
function suspended(): () => void {
  const saved = { bytes: BYTES.slice(), order: ORDER.slice(), done, top, maxDepth, maxDigits };
  return () => {
    BYTES.set(saved.bytes);
    ORDER.set(saved.order);
    ({ done, top, maxDepth, maxDigits } = saved);
    isPrinting = true;
  };
}

function faultOf(thrown: unknown): Fault | null {
  if (thrown instanceof Fault) return thrown;
  if (thrown instanceof BadNumber) return new Fault(thrown.message);
  // Both the call stack and the length of a string are limited.
  return thrown instanceof RangeError ? new Fault('is nested too deeply or is too long', 8) : null;
}

function located(thrown: unknown, step: Step): unknown {
  const fault = faultOf(thrown);
  fault?.steps.push(step);
  return fault ?? thrown;
}

function pathOf({ steps, shown }: Fault): string {
  return steps
    .reverse()
    .slice(0, shown)
    .map((step, i) => (typeof step === 'number' ? `[${step}]` : i === 0 ? step : `.${step}`))
    .join('');
}

function whole(frame: Frame, sortParams: boolean): number {
  if (frame?.kind !== 'frame') throw unprintable('frame', 'is not a frame node');
  BYTES[0] = 0x40;
  let at = header(frame.agent, 1, AGENT, 'agent', 'letters, digits, "-" and "_"');
  BYTES[at] = 0x3e;
  at = header(frame.intent, at + 1, LETTER, 'intent', 'letters');
  BYTES[at] = 0x3a;
  at = header(frame.operation, at + 1, WORD, 'operation', 'letters, digits and "_"');
  BYTES[at] = 0x7b;
  let step = 'payload';
  try {
    const { payload } = frame;
    at = sortParams
      ? ordered(payload, at + 1, maxDepth, 0x7c, false)
      : sequence(payload, at + 1, maxDepth, 0x7c, false);
    BYTES[at++] = 0x7d;
    step = 'metadata';
    const { metadata } = frame;
    if (metadata === null) return at;
    if (metadata?.length === 0) throw new Fault('a metadata block cannot be empty; use null instead');
    BYTES[at] = 0x5b;
    at = ordered(metadata, at + 1, maxDepth, 0x2c, true);
    BYTES[at] = 0x5d;
    return at + 1;
  } catch (thrown) {
    throw located(thrown, step);
  }
}

function header(text: unknown, at: number, use: number, path: string, characters: string): number {
  const end = name(text, at, use);
  if (end < 0) throw unprintable(path, `is invalid; use ${characters}`);
  return end;
}

// ---- Lists

/** Parameters in their order. A few keys are distinguished by bits: one whose bits in both halves are taken may be repeated. */
function sequence(
  list: readonly Param[],
  from: number,
  levels: number,
  separator: number,
  isEnvelope: boolean,
): number {
  if (!Array.isArray(list)) throw new Fault('must be an array');
  const seen = list.length > MAX_KEYS ? new Set<string>() : null;
  let step: Step = 0;
  try {
    let at = from;
    let low = 0;
    let high = 0;
    for (let index = 0; index < list.length; index++) {
      step = index;
      const param: Param | undefined = list[index];
      const key = param?.key;
      const start = startOf(key);
      if (index > 0) BYTES[at++] = separator;
      at = word(key!, start, at);
      step = key!;
      if (seen === null) {
        // Keys with equal beginnings mostly differ at the end.
        const hash = Math.imul(start ^ (key!.charCodeAt(key!.length - 1) << KEY_BITS), 0x9e3779b1);
        const mayRepeat = ((low >>> (hash >>> 27)) & (high >>> (hash >>> 22)) & 1) !== 0;
        if (mayRepeat && isAmong(list, index, key)) throw new Fault('duplicate key');
        low |= 1 << (hash >>> 27);
        high |= 1 << (hash >>> 22);
      } else if (seen.size === seen.add(key!).size) throw new Fault('duplicate key');
      BYTES[at] = 0x3a;
      at = isEnvelope
        ? field(param!.value, at + 1, levels, envelopePlace(key!, start))
        : value(param!.value, at + 1, levels);
    }
    return at;
  } catch (thrown) {
    throw located(thrown, step);
  }
}

function isAmong(list: readonly Param[], count: number, key: string | undefined): boolean {
  for (let index = 0; index < count; index++) if (list[index]!.key === key) return true;
  return false;
}

/** Sorts by insertion: for numbers, that is several times as fast as sorting nodes. Equal keys are adjacent. */
function ordered(list: readonly Param[], from: number, levels: number, separator: number, isEnvelope: boolean): number {
  if (!Array.isArray(list)) throw new Fault('must be an array');
  const { length } = list;
  const base = top;
  if (length > MAX_KEYS || base + length > ORDER.length) {
    const sorted = sortedCopy(list, isEnvelope ? byEnvelope : byCodeUnit);
    return sequence(sorted, from, levels, separator, isEnvelope);
  }
  let step: Step = 0;
  try {
    for (let index = 0; index < length; index++) {
      step = index;
      const key = (list[index] as Param | undefined)?.key;
      let rank = startOf(key);
      if (isEnvelope) rank |= envelopePlace(key!, rank) << KEY_BITS;
      let place = base + index;
      for (; place > base; place--) {
        const before = ORDER[place - 1]!;
        const beforeRank = before >> PLACE_BITS;
        if (beforeRank <= rank && (beforeRank < rank || list[before & PLACE]!.key <= key!)) break;
        ORDER[place] = before;
      }
      ORDER[place] = (rank << PLACE_BITS) | index;
    }
    top = base + length;
    let at = from;
    let last = '';
    let lastRank = -1;
    for (let place = base; place < base + length; place++) {
      step = ORDER[place]! & PLACE;
      const param: Param | undefined = list[step];
      const key = param?.key;
      const rank = ORDER[place]! >> PLACE_BITS;
      // A getter may return another key than before.
      if (startOf(key) !== (rank & KEY_MASK)) throw badKey();
      if (place > base) BYTES[at++] = separator;
      at = word(key!, rank, at);
      step = key!;
      // String comparison is a call, and seldom needed.
      if (rank === lastRank && key! <= last) throw new Fault('duplicate key');
      last = key!;
      lastRank = rank;
      BYTES[at] = 0x3a;
      at = isEnvelope ? field(param!.value, at + 1, levels, rank >> KEY_BITS) : value(param!.value, at + 1, levels);
    }
    top = base;
    return at;
  } catch (thrown) {
    throw located(thrown, step);
  }
}

/** The index in Table 4 (section 3.5), or the number of its entries. */
function envelopePlace(key: string, start: number): number {
  let place = 0;
  if (key.length > SHORT_KEY) return ENVELOPE_STARTS.length;
  while (place < ENVELOPE_STARTS.length && ENVELOPE_STARTS[place] !== start) place++;
  return place;
}

function sortedCopy(list: readonly Param[], order: (a: string, b: string) => number): Param[] {
  // Not map, which would skip the holes of a sparse list.
  const copy = Array.from(list, (param: Param | undefined, index) => {
    const key: unknown = param?.key;
    if (typeof key !== 'string' || !/^\w+$/.test(key)) throw located(badKey(), index);
    return param!;
  });
  return copy.sort((a, b) => order(a.key, b.key));
}

function items(list: readonly Value[], from: number, levels: number): number {
  if (!Array.isArray(list)) throw new Fault('must be an array');
  let index = 0;
  try {
    let at = from;
    for (; index < list.length; index++) {
      if (index > 0) BYTES[at++] = 0x2c;
      at = value(list[index], at, levels);
    }
    return at;
  } catch (thrown) {
    throw located(thrown, index);
  }
}

// ---- Values

/**
 * A value of the metadata. A numeric identifier keeps its digits. The kinds are tested here as well, because a test that meets few
 * shapes of objects is faster.
 */
function field(node: Value | undefined, from: number, levels: number, place: number): number {
  const at = from > FULL ? flush(from) : from;
  const isIdentifier = ((IDENTIFIERS >> place) & 1) !== 0;
  switch (node?.kind) {
    case 'string':
      return string(node.value, at);
    case 'integer': {
      // Read once: a getter may return another text the next time.
      const text = isIdentifier ? node.text : undefined;
      if (text === undefined) return integer(node, at);
      integerDigits({ kind: 'integer', value: node.value, text }, maxDigits);
      return ascii(text, at);
    }
    case 'decimal': {
      const text = isIdentifier ? node.text : undefined;
      if (text === undefined) return decimal(node, at);
      decimalDigits({ kind: 'decimal', value: node.value, text }, maxDigits);
      return ascii(text, at);
    }
    default:
      return value(node, at, levels);
  }
}

/** @param levels number of arrays and maps that may still be opened */
function value(node: Value | undefined, from: number, levels: number): number {
  const at = from > FULL ? flush(from) : from;
  switch (node?.kind) {
    case 'string':
      return string(node.value, at);
    case 'integer':
      return integer(node, at);
    case 'map': {
      BYTES[at] = 0x7b;
      return closed(ordered(node.entries, at + 1, inside(levels), 0x2c, false), 0x7d);
    }
    case 'array': {
      BYTES[at] = 0x5b;
      return closed(items(node.items, at + 1, inside(levels)), 0x5d);
    }
    case 'decimal':
      return decimal(node, at);
    case 'boolean':
      return boolean(node.value, at);
    case 'null':
      BYTES[at] = 0x7e;
      return at + 1;
    case 'ref': {
      BYTES[at] = 0x24;
      const end = name(node.path, at + 1, PATH);
      if (end >= 0) return end;
      throw located(new Fault('is an invalid path; use letters, digits, "_" and "."'), 'path');
    }
    default:
      node satisfies undefined;
      throw new Fault('is not a value node');
  }
}

function inside(levels: number): number {
  if (levels <= 0) throw new Fault(`nesting is deeper than ${maxDepth}`);
  return levels - 1;
}

function closed(end: number, bracket: number): number {
  const at = end > FULL ? flush(end) : end;
  BYTES[at] = bracket;
  return at + 1;
}

function string(text: unknown, from: number): number {
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

function boolean(value: unknown, at: number): number {
  if (typeof value !== 'boolean') throw new Fault('must be true or false');
  return ascii(value ? 'true' : 'false', at);
}

function integer(node: IntegerValue, at: number): number {
  const { value } = node;
  if (typeof value !== 'number' || (value | 0) !== value || node.text !== undefined || maxDigits < 10) {
    return ascii(integerDigits(node, maxDigits), at);
  }
  if (value >= 0) return digits(value, at);
  BYTES[at] = 0x2d;
  return digits(-value, at + 1);
}

/** In millionths, where exact: at most fifteen digits are always the shortest spelling of their double. */
function decimal(node: DecimalValue, from: number): number {
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

/** The first three characters of a key as a number that sorts as they do. */
function startOf(key: unknown): number {
  if (typeof key !== 'string' || key === '') throw badKey();
  const { length } = key;
  const first = key.charCodeAt(0);
  const second = length > 1 ? key.charCodeAt(1) : first;
  const third = length > 2 ? key.charCodeAt(2) : first;
  if ((USES[first]! & USES[second]! & USES[third]! & WORD) === 0) throw badKey();
  return (first << 14) | (length > 1 ? second << 7 : 0) | (length > 2 ? third : 0);
}

function badKey(): Fault {
  return new Fault('has an invalid key; use letters, digits and "_"');
}

/** Writes a key; each character is read only once, since reading takes most of the time. */
function word(key: string, start: number, from: number): number {
  const { length } = key;
  const at = from > FULL ? flush(from) : from;
  if (length > SHORT) {
    const end = name(key, at, WORD);
    if (end < 0) throw badKey();
    return end;
  }
  BYTES[at] = (start >> 14) & 0x7f;
  BYTES[at + 1] = (start >> 7) & 0x7f;
  BYTES[at + 2] = start & 0x7f;
  for (let index = SHORT_KEY; index < length; index++) {
    const code = key.charCodeAt(index);
    if ((USES[code]! & WORD) === 0) throw badKey();
    BYTES[at + index] = code;
  }
  return at + length;
}

/** A text of characters with one use; returns -1 if it has others. */
function name(text: unknown, from: number, use: number): number {
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

function ascii(text: string, from: number): number {
  const { length } = text;
  let at = from;
  for (let index = 0; index < length; index++) {
    if (at > FULL) at = flush(at);
    BYTES[at++] = text.charCodeAt(index);
  }
  return at;
}

// ---- The buffer

/** Empties the buffer, and returns its first position. */
function flush(end: number): number {
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
