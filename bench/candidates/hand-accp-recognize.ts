/**
 * The baseline for recognition: hand-written code that decides if a text is a strict ACCP frame, without building
 * anything. It rejects everything that `hand-accp.ts` rejects, including repeated keys.
 */
import { BYTE_MASKS, RUN_MARGIN, runEnd, runTable } from './runs.js';

const MAX_LENGTH = 1_048_576;
const MAX_DEPTH = 5;
const MAX_ITEMS = 100_000;
const MAX_DIGITS = 1_000;

// The classes of a byte.
const AGENT = 1;
const ALPHA = 2;
const WORD = 4;
const PATH = 8;
const SAFE = 16;
const DELIMITER = 32;

const CLASS = new Uint8Array(256);
for (let code = 0x21; code <= 0x7e; code++) {
  const character = String.fromCharCode(code);
  if (/[A-Za-z0-9_-]/.test(character)) CLASS[code]! |= AGENT;
  if (/[A-Za-z]/.test(character)) CLASS[code]! |= ALPHA;
  if (/\w/.test(character)) CLASS[code]! |= WORD;
  if (/[\w.]/.test(character)) CLASS[code]! |= PATH;
  CLASS[code]! |= '@>:{}[]|$,~\\'.includes(character) ? DELIMITER : SAFE;
}

const encoder = new TextEncoder();
const BYTES = new Uint8Array(MAX_LENGTH + RUN_MARGIN);
const VIEW = new DataView(BYTES.buffer);
const WORD_RUNS = runTable(CLASS, WORD);
const SAFE_RUNS = runTable(CLASS, SAFE);

/** The keys of the open lists: their hashes and places. */
const HASHES = new Int32Array(MAX_LENGTH);
const STARTS = new Int32Array(MAX_LENGTH);
const ENDS = new Int32Array(MAX_LENGTH);
let top = 0;
let items = 0;

/** Lists with more keys are scanned again, with a set. */
const FEW = 128;

/** Every function below returns the end of what it reads, or this. */
const FAILED = -1;

export function recognizeByHand(text: string): boolean {
  const length = text.length;
  if (length > MAX_LENGTH || encoder.encodeInto(text, BYTES).written !== length) return false;
  BYTES[length] = 0;
  top = 0;
  items = 0;
  if (BYTES[0] !== 0x40) return false;
  let at = name(1, AGENT, 0x3e);
  if (at !== FAILED) at = name(at, ALPHA, 0x3a);
  if (at !== FAILED) at = name(at, WORD, 0x7b);
  if (at === FAILED) return false;
  at = BYTES[at] === 0x7d ? at + 1 : params(at, 0, 0x7c, 0x7d);
  if (at !== FAILED && BYTES[at] === 0x5b) at = params(at + 1, 0, 0x2c, 0x5d);
  return at === length;
}

/** A name and the byte after it. */
function name(start: number, kind: number, close: number): number {
  let at = start;
  while ((CLASS[BYTES[at]!]! & kind) !== 0) at++;
  return at === start || BYTES[at] !== close ? FAILED : at + 1;
}

function params(from: number, depth: number, separator: number, close: number): number {
  const base = top;
  let at = from;
  let low = 0;
  let high = 0;
  for (;;) {
    const start = at;
    at = runEnd(VIEW, WORD_RUNS, start);
    if (at === start || BYTES[at] !== 0x3a) return FAILED;
    const length = at - start;
    let first = VIEW.getInt32(start, true);
    let second = 0;
    if (length <= 4) first &= BYTE_MASKS[length]!;
    else second = VIEW.getInt32(at - 4, true) + length;
    const hash = Math.imul(first ^ Math.imul(second, 0x85ebca6b), 0x9e3779b1);
    const slot = hash >>> 22;
    const bit = 1 << slot;
    if (top - base < FEW) {
      if ((slot & 32) === 0) {
        if ((low & bit) !== 0 && isRepeated(base, hash, start, at)) return FAILED;
        low |= bit;
      } else {
        if ((high & bit) !== 0 && isRepeated(base, hash, start, at)) return FAILED;
        high |= bit;
      }
    }
    HASHES[top] = hash;
    STARTS[top] = start;
    ENDS[top] = at;
    top++;
    at = value(at + 1, depth);
    if (at === FAILED || ++items > MAX_ITEMS) return FAILED;
    const after = BYTES[at++];
    if (after === separator) continue;
    if (after !== close || (top - base > FEW && repeatsAny(base))) return FAILED;
    top = base;
    return at;
  }
}

function isRepeated(base: number, hash: number, start: number, end: number): boolean {
  for (let index = base; index < top; index++) {
    if (HASHES[index] === hash && sameText(STARTS[index]!, ENDS[index]!, start, end)) return true;
  }
  return false;
}

function sameText(start: number, end: number, otherStart: number, otherEnd: number): boolean {
  if (end - start !== otherEnd - otherStart) return false;
  for (let at = 0; start + at < end; at++) if (BYTES[start + at] !== BYTES[otherStart + at]) return false;
  return true;
}

const decoder = new TextDecoder();

function repeatsAny(base: number): boolean {
  const keys = new Set<string>();
  for (let index = base; index < top; index++) {
    if (keys.size === keys.add(decoder.decode(BYTES.subarray(STARTS[index], ENDS[index]))).size) return true;
  }
  return false;
}

function value(at: number, depth: number): number {
  const byte = BYTES[at]!;
  if ((CLASS[byte]! & SAFE) !== 0) {
    return byte <= 0x39 && (byte >= 0x30 || byte === 0x2d) ? number(at, byte) : lexeme(at + 1);
  }
  switch (byte) {
    case 0x5b:
      return depth === MAX_DEPTH ? FAILED : array(at + 1, depth + 1);
    case 0x7b:
      if (depth === MAX_DEPTH) return FAILED;
      return BYTES[at + 1] === 0x7d ? at + 2 : params(at + 1, depth + 1, 0x2c, 0x7d);
    case 0x7e:
      return at + 1;
    case 0x24: {
      const start = ++at;
      while ((CLASS[BYTES[at]!]! & PATH) !== 0) at++;
      return at === start ? FAILED : at;
    }
    case 0x5c:
      return lexeme(at);
    default:
      return FAILED;
  }
}

function array(from: number, depth: number): number {
  let at = from;
  if (BYTES[at] === 0x5d) return at + 1;
  for (;;) {
    at = value(at, depth);
    if (at === FAILED || ++items > MAX_ITEMS) return FAILED;
    const after = BYTES[at++];
    if (after === 0x5d) return at;
    if (after !== 0x2c) return FAILED;
  }
}

/** The rest of a lexeme. */
function lexeme(from: number): number {
  let at = from;
  for (;;) {
    at = runEnd(VIEW, SAFE_RUNS, at);
    if (BYTES[at] !== 0x5c) return at;
    if ((CLASS[BYTES[at + 1]!]! & DELIMITER) === 0) return FAILED;
    at += 2;
  }
}

/** A lexeme that begins like a number. Only numbers have a limit of digits. */
function number(start: number, first: number): number {
  const digits = first === 0x2d ? start + 1 : start;
  let at = skipDigits(digits);
  let count = at - digits;
  if (count > 0 && BYTES[at] === 0x2e) {
    const places = skipDigits(at + 1) - at - 1;
    if (places > 0) {
      at += places + 1;
      count += places;
    }
  }
  const byte = BYTES[at]!;
  if (count === 0 || (CLASS[byte]! & SAFE) !== 0 || byte === 0x5c) return lexeme(at);
  return count > MAX_DIGITS ? FAILED : at;
}

function skipDigits(from: number): number {
  let at = from;
  while (BYTES[at]! >= 0x30 && BYTES[at]! <= 0x39) at++;
  return at;
}
