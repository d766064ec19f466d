/**
 * The baseline: a hand-written parser for strict AACP, optimized only for speed. Like `hand-accp.ts`, it scans bytes
 * with a zero byte after them. Values may contain any Unicode: all characters beyond ASCII are scanned as the same
 * byte.
 */
import type { Field, Packet } from '../../src/aacp/ast.js';
import { BYTE_MASKS, RUN_MARGIN, runEnd, runTable } from './runs.js';

const MAX_LENGTH = 1_048_576;
const MAX_FIELDS = 100_000;

/** A rejection, with its offset. */
export class HandRefusal extends SyntaxError {
  readonly offset: number;
  readonly reason: 'syntax' | 'limit';

  constructor(reason: HandRefusal['reason'], offset: number) {
    super(`${reason} at ${offset}`);
    this.reason = reason;
    this.offset = offset;
  }
}

// The classes of a byte.
const UPPER = 1;
const NAME = 2;
const LOWER = 4;
const KEY = 8;
const VALUE = 16;

const CLASS = new Uint8Array(256);
for (let code = 0; code < 256; code++) {
  const character = String.fromCharCode(code);
  if (/[A-Z]/.test(character)) CLASS[code]! |= UPPER;
  if (/[A-Z0-9_-]/.test(character)) CLASS[code]! |= NAME;
  if (/[a-z]/.test(character)) CLASS[code]! |= LOWER;
  if (/[a-z0-9_]/.test(character)) CLASS[code]! |= KEY;
  if (code >= 0x20 && code !== 0x7c && code !== 0x7f) CLASS[code]! |= VALUE;
}

const encoder = new TextEncoder();
const BYTES = new Uint8Array(MAX_LENGTH + RUN_MARGIN);
const VIEW = new DataView(BYTES.buffer);
const VALUE_RUNS = runTable(CLASS, VALUE);
const KEY_RUNS = runTable(CLASS, KEY);

/** @throws HandRefusal if the text is not a packet */
export function parseByHand(text: string): Packet {
  const length = text.length;
  if (length > MAX_LENGTH) throw new HandRefusal('limit', MAX_LENGTH);
  if (encoder.encodeInto(text, BYTES).written !== length) coarsen(text);
  BYTES[length] = 0;

  let at = 0;
  if ((CLASS[BYTES[0]!]! & UPPER) === 0) throw new HandRefusal('syntax', 0);
  do at++;
  while ((CLASS[BYTES[at]!]! & NAME) !== 0);
  if (BYTES[at] !== 0x7c) throw new HandRefusal('syntax', at);
  const task = text.substring(0, at);
  let start = ++at;
  if ((CLASS[BYTES[at]!]! & UPPER) === 0) throw new HandRefusal('syntax', at);
  do at++;
  while ((CLASS[BYTES[at]!]! & NAME) !== 0);
  const domain = text.substring(start, at);

  const fields: Field[] = [];
  while (BYTES[at] === 0x7c) {
    start = ++at;
    if ((CLASS[BYTES[at]!]! & LOWER) === 0) throw new HandRefusal('syntax', at);
    at = runEnd(VIEW, KEY_RUNS, at);
    if (BYTES[at] !== 0x3a) throw new HandRefusal('syntax', at);
    const key = keyAt(text, start, at);
    start = ++at;
    at = runEnd(VIEW, VALUE_RUNS, at);
    // No blanks at the ends. Before an empty value there is a colon, which is not a blank.
    if (BYTES[start] === 0x20) throw new HandRefusal('syntax', start);
    if (BYTES[at - 1] === 0x20) throw new HandRefusal('syntax', at);
    fields.push({ key, value: text.substring(start, at) });
  }
  if (at !== length) throw new HandRefusal('syntax', at);
  if (fields.length > MAX_FIELDS) throw new HandRefusal('limit', length);
  return { kind: 'packet', task, domain, fields };
}

/** The last keys of up to eight characters, identified by their bytes as two numbers: most packets share their keys. */
const KEYS: string[] = new Array(1024).fill('');
const FIRST_HALVES = new Int32Array(1024);
const SECOND_HALVES = new Int32Array(1024);
function keyAt(text: string, start: number, at: number): string {
  const length = at - start;
  if (length > 8) return text.substring(start, at);
  let first = VIEW.getInt32(start, true);
  let second = 0;
  if (length <= 4) first &= BYTE_MASKS[length]!;
  else second = VIEW.getInt32(start + 4, true) & BYTE_MASKS[length - 4]!;
  const slot = Math.imul(first ^ Math.imul(second, 0x85ebca6b), 0x9e3779b1) >>> 22;
  if (FIRST_HALVES[slot] === first && SECOND_HALVES[slot] === second) return KEYS[slot]!;
  const key = text.substring(start, at);
  FIRST_HALVES[slot] = first;
  SECOND_HALVES[slot] = second;
  KEYS[slot] = key;
  return key;
}

/** One byte for each code unit, so that offsets remain those of the text. */
function coarsen(text: string): void {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    BYTES[index] = Math.min(code, 0x80);
  }
}
