/**
 * The printer: canonical text of frames (draft-benzing-accp-00, sections 3.1.1 and 3.3).
 *
 * Functions take a position in the buffer of `print-scalars.ts`, write there and return the next position. Each makes room for what it
 * writes, except for a few brackets and separators.
 */

import { byCodeUnit } from '../text/ascii.js';
import { DEFAULT_LIMITS, type Limits, resolveLimits } from '../text/limits.js';
import type { Frame, Param, Value } from './ast.js';
import { BadNumber } from './numbers.js';
import {
  AGENT,
  BYTES,
  boolean,
  decimal,
  Fault,
  FULL,
  flush,
  identifier,
  integer,
  LETTER,
  name,
  PATH,
  printed,
  SHORT,
  type Step,
  savedBuffer,
  startBuffer,
  string,
  USES,
  WORD,
} from './print-scalars.js';
import { unprintable } from './syntax-error.js';
import { byEnvelope, ENVELOPE_KEYS, IDENTIFIER_KEYS } from './vocabulary.js';

/** Options of the printer. */
export interface PrintOptions extends Pick<Limits, 'maxDepth' | 'maxDigits'> {
  /** If true, payload parameters are sorted by key, too: the form for hashes and for comparing frames as text. @default false */
  readonly sortParams?: boolean | undefined;
}

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

/** The end of `ORDER`'s content. */
let top = 0;
let { maxDepth } = DEFAULT_LIMITS;
let isPrinting = false;

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
  top = 0;
  ({ maxDepth } = limits);
  startBuffer(limits.maxDigits);
  try {
    return printed(whole(frame, options?.sortParams === true));
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
  const saved = { order: ORDER.slice(), top, maxDepth };
  const restoreBuffer = savedBuffer();
  return () => {
    restoreBuffer();
    ORDER.set(saved.order);
    ({ top, maxDepth } = saved);
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
    case 'integer':
      return isIdentifier ? identifier(node, at) : integer(node, at);
    case 'decimal':
      return isIdentifier ? identifier(node, at) : decimal(node, at);
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
