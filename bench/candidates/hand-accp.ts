/**
 * The baseline: a hand-written parser for strict ACCP, optimized only for speed. It builds the tree of
 * `src/accp/ast.ts` and rejects everything that the grammar rejects (repeated keys, nesting, items, digits, length), so
 * that the comparison with a generated parser is fair. Its errors have only an offset and a reason.
 *
 * The reasons for its speed: the text is converted to bytes once, in a constant buffer, and a zero byte after them ends
 * every loop; tables classify bytes, in runs two at a time (`runs.ts`); positions are passed as arguments and in one
 * variable; numbers are computed while they are read; common keys are identified by their bytes.
 */
import type { DecimalValue, Frame, Param, Value } from '../../src/accp/ast.js';
import { decimal as longDecimal, integer as longInteger } from './rules.js';
import { BYTE_MASKS, RUN_MARGIN, runEnd, runTable } from './runs.js';

const MAX_LENGTH = 1_048_576;
const MAX_DEPTH = 5;
const MAX_ITEMS = 100_000;
const MAX_DIGITS = 1_000;

/** A rejection, with its offset. */
export class HandRefusal extends SyntaxError {
  readonly offset: number;
  readonly reason: 'syntax' | 'duplicate-key' | 'limit';

  constructor(reason: HandRefusal['reason'], offset: number) {
    super(`${reason} at ${offset}`);
    this.reason = reason;
    this.offset = offset;
  }
}

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

/** 10^n, for all places of fifteen digits. */
const POWERS = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

let text = '';
/** The end of the last part that was read. */
let end = 0;
let items = 0;

/** @throws HandRefusal if the text is not a frame */
export function parseByHand(input: string): Frame {
  const length = input.length;
  if (length > MAX_LENGTH) throw new HandRefusal('limit', MAX_LENGTH);
  if (encoder.encodeInto(input, BYTES).written !== length) throw notAscii(input);
  BYTES[length] = 0;
  text = input;
  items = 0;
  top = 0;

  let at = 1;
  if (BYTES[0] !== 0x40) throw new HandRefusal('syntax', 0);
  while ((CLASS[BYTES[at]!]! & AGENT) !== 0) at++;
  if (at === 1 || BYTES[at] !== 0x3e) throw new HandRefusal('syntax', at);
  const agent = input.substring(1, at);
  let start = ++at;
  while ((CLASS[BYTES[at]!]! & ALPHA) !== 0) at++;
  if (at === start || BYTES[at] !== 0x3a) throw new HandRefusal('syntax', at);
  const intent = input.substring(start, at);
  start = ++at;
  while ((CLASS[BYTES[at]!]! & WORD) !== 0) at++;
  if (at === start || BYTES[at] !== 0x7b) throw new HandRefusal('syntax', at);
  const operation = input.substring(start, at);

  let payload: Param[] = [];
  if (BYTES[++at] === 0x7d) end = at + 1;
  else payload = params(at, 0, 0x7c, 0x7d);
  let metadata: Param[] | null = null;
  if (BYTES[end] === 0x5b) metadata = params(end + 1, 0, 0x2c, 0x5d);
  if (end !== length) throw new HandRefusal('syntax', end);
  text = '';
  return { kind: 'frame', agent, intent, operation, payload, metadata };
}

/**
 * The state of a list of keys while it is read, so that a repeated key is found without comparing texts: a hash of each
 * key on a stack that nested lists share, and two words with a bit for each hash. Only keys that share a bit can be
 * equal. Long lists use a set, which keeps the work linear.
 */
const HASHES = new Int32Array(MAX_LENGTH);
let top = 0;
const FEW = 128;

/** The last keys of up to eight characters, identified by their bytes as two numbers: most frames share their keys. */
const KEYS: string[] = new Array(1024).fill('');
const FIRST_HALVES = new Int32Array(1024);
const SECOND_HALVES = new Int32Array(1024);

/** One or more `key:value`, including the closing byte. */
function params(from: number, depth: number, separator: number, close: number): Param[] {
  const list: Param[] = [];
  const base = top;
  let at = from;
  let low = 0;
  let high = 0;
  for (;;) {
    const start = at;
    at = runEnd(VIEW, WORD_RUNS, start);
    if (at === start || BYTES[at] !== 0x3a) throw new HandRefusal('syntax', at);
    const length = at - start;
    let first = VIEW.getInt32(start, true);
    let second = 0;
    let hash: number;
    let slot: number;
    let key: string;
    if (length <= 8) {
      if (length <= 4) first &= BYTE_MASKS[length]!;
      else second = VIEW.getInt32(start + 4, true) & BYTE_MASKS[length - 4]!;
      hash = Math.imul(first ^ Math.imul(second, 0x85ebca6b), 0x9e3779b1);
      slot = hash >>> 22;
      if (FIRST_HALVES[slot] === first && SECOND_HALVES[slot] === second) key = KEYS[slot]!;
      else {
        key = text.substring(start, at);
        FIRST_HALVES[slot] = first;
        SECOND_HALVES[slot] = second;
        KEYS[slot] = key;
      }
    } else {
      key = text.substring(start, at);
      second = Math.imul(VIEW.getInt32(at - 4, true) + length, 0xc2b2ae35) ^ VIEW.getInt32(start + 4, true);
      hash = Math.imul(first ^ Math.imul(second, 0x85ebca6b), 0x9e3779b1);
      slot = hash >>> 22;
    }
    const bit = 1 << slot;
    if ((slot & 32) === 0) {
      if ((low & bit) !== 0 && isRepeated(list, base, hash, key)) throw new HandRefusal('duplicate-key', start);
      low |= bit;
    } else {
      if ((high & bit) !== 0 && isRepeated(list, base, hash, key)) throw new HandRefusal('duplicate-key', start);
      high |= bit;
    }
    HASHES[top++] = hash;
    list.push({ key, value: value(at + 1, depth) });
    at = end;
    const after = BYTES[at++];
    if (after === separator) {
      if (list.length < FEW) continue;
      top = base;
      return manyParams(list, at, depth, separator, close);
    }
    if (after !== close) throw new HandRefusal('syntax', at - 1);
    end = at;
    top = base;
    items += list.length;
    if (items > MAX_ITEMS) throw new HandRefusal('limit', at);
    return list;
  }
}

/** The rest of a long list. */
function manyParams(list: Param[], from: number, depth: number, separator: number, close: number): Param[] {
  const keys = new Set(list.map(({ key }) => key));
  let at = from;
  for (;;) {
    const start = at;
    while ((CLASS[BYTES[at]!]! & WORD) !== 0) at++;
    if (at === start || BYTES[at] !== 0x3a) throw new HandRefusal('syntax', at);
    const key = text.substring(start, at);
    if (keys.size === keys.add(key).size) throw new HandRefusal('duplicate-key', start);
    list.push({ key, value: value(at + 1, depth) });
    at = end;
    const after = BYTES[at++];
    if (after === separator) continue;
    if (after !== close) throw new HandRefusal('syntax', at - 1);
    end = at;
    items += list.length;
    if (items > MAX_ITEMS) throw new HandRefusal('limit', at);
    return list;
  }
}

function isRepeated(list: readonly Param[], base: number, hash: number, key: string): boolean {
  for (let index = 0; index < list.length; index++) {
    if (HASHES[base + index] === hash && list[index]!.key === key) return true;
  }
  return false;
}

function value(at: number, depth: number): Value {
  const byte = BYTES[at]!;
  if ((CLASS[byte]! & SAFE) !== 0) {
    if (byte <= 0x39 && (byte >= 0x30 || byte === 0x2d)) return number(at, byte);
    return word(at, at + 1);
  }
  switch (byte) {
    case 0x5b:
      return array(at + 1, depth);
    case 0x7b:
      if (depth === MAX_DEPTH) throw new HandRefusal('limit', at);
      if (BYTES[at + 1] === 0x7d) {
        end = at + 2;
        return { kind: 'map', entries: [] };
      }
      return { kind: 'map', entries: params(at + 1, depth + 1, 0x2c, 0x7d) };
    case 0x7e:
      end = at + 1;
      return { kind: 'null' };
    case 0x24: {
      const start = ++at;
      while ((CLASS[BYTES[at]!]! & PATH) !== 0) at++;
      if (at === start) throw new HandRefusal('syntax', at);
      end = at;
      return { kind: 'ref', path: text.substring(start, at) };
    }
    case 0x5c:
      return { kind: 'string', value: unescaped(at, at) };
    default:
      throw new HandRefusal('syntax', at);
  }
}

function array(from: number, depth: number): Value {
  if (depth === MAX_DEPTH) throw new HandRefusal('limit', from - 1);
  const list: Value[] = [];
  let at = from;
  if (BYTES[at] === 0x5d) {
    end = at + 1;
    return { kind: 'array', items: list };
  }
  for (;;) {
    list.push(value(at, depth + 1));
    at = end;
    const byte = BYTES[at++];
    if (byte === 0x2c) continue;
    if (byte !== 0x5d) throw new HandRefusal('syntax', at - 1);
    end = at;
    items += list.length;
    if (items > MAX_ITEMS) throw new HandRefusal('limit', at);
    return { kind: 'array', items: list };
  }
}

/** A lexeme from `start` that is not a number; up to `from` it is known to be plain. */
function word(start: number, from: number): Value {
  const at = runEnd(VIEW, SAFE_RUNS, from);
  if (BYTES[at] === 0x5c) return { kind: 'string', value: unescaped(start, at) };
  end = at;
  const length = at - start;
  if (length === 4) {
    if (isWord(start, 0x74, 0x72, 0x75, 0x65)) return { kind: 'boolean', value: true };
  } else if (length === 5 && BYTES[start] === 0x66 && isWord(start + 1, 0x61, 0x6c, 0x73, 0x65)) {
    return { kind: 'boolean', value: false };
  }
  return { kind: 'string', value: text.substring(start, at) };
}

function isWord(at: number, first: number, second: number, third: number, fourth: number): boolean {
  return BYTES[at] === first && BYTES[at + 1] === second && BYTES[at + 2] === third && BYTES[at + 3] === fourth;
}

const UNESCAPED = new Uint8Array(MAX_LENGTH + 8);
const { fromCharCode } = String;

/** The rest of a lexeme with escapes, whose text is plain up to `at`: eight characters at a time. */
function unescaped(start: number, at: number): string {
  const B = UNESCAPED;
  const plain = text.substring(start, at);
  let length = 0;
  for (;;) {
    let byte = BYTES[at]!;
    if (byte === 0x5c) {
      byte = BYTES[++at]!;
      if ((CLASS[byte]! & DELIMITER) === 0) throw new HandRefusal('syntax', at);
    } else if ((CLASS[byte]! & SAFE) === 0) break;
    B[length++] = byte;
    at++;
  }
  end = at;
  const odd = length & 7;
  let result = plain + firstFew(odd);
  for (let i = odd; i < length; i += 8) {
    result += fromCharCode(B[i]!, B[i + 1]!, B[i + 2]!, B[i + 3]!, B[i + 4]!, B[i + 5]!, B[i + 6]!, B[i + 7]!);
  }
  return result;
}

function firstFew(count: number): string {
  const B = UNESCAPED;
  switch (count) {
    case 0:
      return '';
    case 1:
      return fromCharCode(B[0]!);
    case 2:
      return fromCharCode(B[0]!, B[1]!);
    case 3:
      return fromCharCode(B[0]!, B[1]!, B[2]!);
    case 4:
      return fromCharCode(B[0]!, B[1]!, B[2]!, B[3]!);
    case 5:
      return fromCharCode(B[0]!, B[1]!, B[2]!, B[3]!, B[4]!);
    case 6:
      return fromCharCode(B[0]!, B[1]!, B[2]!, B[3]!, B[4]!, B[5]!);
    default:
      return fromCharCode(B[0]!, B[1]!, B[2]!, B[3]!, B[4]!, B[5]!, B[6]!);
  }
}

/** A lexeme that begins like a number. */
function number(start: number, first: number): Value {
  let at = start;
  const negative = first === 0x2d;
  if (negative) at++;
  const digits = at;
  let digit = BYTES[at]! - 0x30;
  if (digit < 0 || digit > 9) return word(start, at);
  let sum = digit;
  for (digit = BYTES[++at]! - 0x30; digit >= 0 && digit <= 9; digit = BYTES[++at]! - 0x30) sum = sum * 10 + digit;
  const whole = at - digits;
  if (digit === -2) {
    digit = BYTES[++at]! - 0x30;
    if (digit < 0 || digit > 9) return word(start, at);
    const fraction = at;
    for (; digit >= 0 && digit <= 9; digit = BYTES[++at]! - 0x30) sum = sum * 10 + digit;
    if (continues(at)) return word(start, at);
    end = at;
    return decimal(start, digits, whole, at - fraction, negative, sum);
  }
  if (continues(at)) return word(start, at);
  end = at;
  if (whole > 15) {
    if (whole > MAX_DIGITS) throw new HandRefusal('limit', start);
    return longInteger(text.substring(start, at));
  }
  if (BYTES[digits] !== 0x30 || (whole === 1 && !negative)) {
    return { kind: 'integer', value: negative ? -sum : sum };
  }
  return { kind: 'integer', value: negative && sum !== 0 ? -sum : sum, text: text.substring(start, at) };
}

/** Returns `true` if the lexeme continues. */
function continues(at: number): boolean {
  const byte = BYTES[at]!;
  return (CLASS[byte]! & SAFE) !== 0 || byte === 0x5c;
}

/** For up to fifteen digits, the quotient is the nearest double, and its shortest spelling has exactly these digits. */
function decimal(
  start: number,
  digits: number,
  whole: number,
  places: number,
  negative: boolean,
  sum: number,
): DecimalValue {
  const count = whole + places;
  if (count > 15) {
    if (count > MAX_DIGITS) throw new HandRefusal('limit', start);
    return longDecimal(text.substring(start, end));
  }
  const value = negative && sum !== 0 ? -sum / POWERS[places]! : sum / POWERS[places]!;
  if (
    (whole > 1 && BYTES[digits] === 0x30) ||
    places > 6 ||
    (places > 1 && BYTES[end - 1] === 0x30) ||
    (negative && sum === 0)
  ) {
    return { kind: 'decimal', value, text: text.substring(start, end) };
  }
  return { kind: 'decimal', value };
}

function notAscii(input: string): HandRefusal {
  let at = 0;
  while (input.charCodeAt(at) < 0x80) at++;
  return new HandRefusal('syntax', at);
}
