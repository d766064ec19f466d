/**
 * The conversion of messages that exceed a hard limit to sequences of frames, and back (draft-benzing-accp-00, sections 3.4 and 7.2, item 6).
 *
 * Parameters go into the first frame that has room. One that fits into none is cut: the next piece is the first value of the next frame,
 * under the same key, and `cut` in the metadata is the depth of the cut: at 0, strings, arrays and maps are joined, at 1, the last item or
 * entry continues in the first one of the next frame, and so on.
 *
 * A piece of text that would read as another kind of value (`7777`, `true`) is written as a reference, `$` and the text: references
 * themselves are never cut, and keep their characters. Of `-777`, the sign goes first, alone.
 */

import type { ArrayValue, MapValue, Param, RefValue, StringValue, Value } from '../ast.js';
import { type AccpError, accpError } from '../errors.js';
import { sourceText } from '../message/read-value.js';
import { OTHER_KIND } from '../plain.js';

export interface Piece {
  readonly params: readonly Param[];
  /** The depth at which the first parameter continues the previous frame; `undefined` if it does not. */
  readonly cut: number | undefined;
}

export const MAX_PARTS = 4096;
/** The maximum number of characters of all messages that a receiver is joining. */
export const MAX_CHARACTERS = 4 * 1024 * 1024;

/** A function that counts the tokens of a parameter as written. */
type Measure = (param: Param) => number;

/** The minimum length of pieces of strings, which ensures progress. */
const MIN_PIECE = 8;
/** The maximum number of attempts to shorten a piece. */
const MAX_ATTEMPTS = 8;
/** The key with which array items are measured. */
const ITEM_KEY = 'a';
const FILLER: Value = { kind: 'null' };

/** Divides parameters into pieces of at most `room`, if possible. Throws AccpError E2003 if there are too many pieces. */
export function splitParams(params: readonly Param[], room: number, measure: Measure): readonly Piece[] {
  const splitter = new Splitter(room, measure);
  for (const { key, value } of params) splitter.place({ key, value: inWireOrder(value) });
  return splitter.finish();
}

/** Sorts maps as printed: the entry that continues in the next frame must be the first one there. */
function inWireOrder(value: Value): Value {
  if (value.kind === 'array') return { kind: 'array', items: value.items.map(inWireOrder) };
  if (value.kind !== 'map') return value;
  const entries = value.entries.map(({ key, value: member }) => ({ key, value: inWireOrder(member) }));
  return { kind: 'map', entries: entries.sort((one, other) => (one.key < other.key ? -1 : 1)) };
}

interface OpenContainer {
  readonly key: string;
  readonly kind: 'array' | 'map';
  /** The size of the enclosing keys and brackets, from the parameter down. */
  readonly around: number;
  members: Param[];
}

/** A walk over a payload, which ends a frame where the next value has no room. Members are measured only if their value is cut. */
class Splitter {
  readonly #room: number;
  readonly #measure: Measure;
  readonly #pieces: Piece[] = [];
  /** The path from the parameter down to the next value. */
  readonly #open: OpenContainer[] = [];
  /** The number of open containers with members in the current frame. */
  #openHere = 0;
  #params: Param[] = [];
  #cut: number | undefined;
  #used = 0;

  constructor(room: number, measure: Measure) {
    this.#room = room;
    this.#measure = measure;
  }

  place(param: Param): void {
    const size = this.#measure(param);
    const { value } = param;
    if (size <= this.#left()) this.#add(param, size);
    else if (this.#around() + size <= this.#room) {
      // A cut costs a key and metadata: a value that fits into a frame of its own is not cut.
      this.#endFrame();
      this.#add(param, size);
    } else if (value.kind === 'string') this.#placeText(param.key, value, size);
    else if (!this.#placeMembers(param)) {
      this.#endFrame();
      this.#add(param, size);
    }
  }

  finish(): readonly Piece[] {
    this.#endFrame();
    return this.#pieces.length === 0 ? [{ params: [], cut: undefined }] : this.#pieces;
  }

  #around(): number {
    return this.#open.at(-1)?.around ?? 0;
  }

  #left(): number {
    const written = this.#openHere === 0 ? 0 : this.#open[this.#openHere - 1]!.around;
    return this.#room - this.#used - (this.#around() - written);
  }

  #add(param: Param, size: number): void {
    this.#used = this.#room - this.#left() + size;
    this.#openHere = this.#open.length;
    const members = this.#open.at(-1)?.members ?? this.#params;
    members.push(param);
  }

  #placeMembers({ key, value }: Param): boolean {
    if (value.kind !== 'array' && value.kind !== 'map') return false;
    const members = value.kind === 'map' ? value.entries : value.items.map((item) => ({ key: ITEM_KEY, value: item }));
    const { kind } = value;
    const around = this.#around() + this.#measure({ key, value: container(kind, [{ key: ITEM_KEY, value: FILLER }]) });
    if (members.length === 0 || around >= this.#room) return false;
    this.#open.push({ key, kind, around, members: [] });
    for (const member of members) this.place(member);
    // The last member is in the current frame, so the container is, too.
    const { members: last } = this.#open.pop()!;
    this.#openHere = this.#open.length;
    const outer = this.#open.at(-1)?.members ?? this.#params;
    outer.push({ key, value: container(kind, last) });
    return true;
  }

  #placeText(key: string, whole: StringValue, size: number): void {
    const text = whole.value;
    const around = this.#measure({ key, value: FILLER });
    /** The characters per token of the previous piece, since the density varies within a text. */
    let density = text.length / Math.max(1, size - around);
    let at = 0;
    while (at < text.length) {
      const fit = this.#fit(key, text, at, around, density);
      if (fit === null && !this.#isEmpty()) {
        this.#endFrame();
        continue;
      }
      const end = fit?.end ?? endOf(text, at, text.length);
      const value = at === 0 && end === text.length ? whole : textNode(text.slice(at, end));
      this.#add({ key, value }, fit?.size ?? this.#room);
      if (fit !== null && end - at >= MIN_PIECE) density = (end - at) / Math.max(1, fit.size - around);
      at = end;
      if (at < text.length) this.#endFrame(this.#open.length);
    }
  }

  /** Returns the end of the longest piece that has room; `null` if that is too short. */
  #fit(key: string, text: string, at: number, around: number, density: number): { end: number; size: number } | null {
    const left = this.#left();
    let length = Math.min(text.length - at, Math.floor((left - around) * density));
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      if (length <= 0 || (length < MIN_PIECE && at + length < text.length)) return null;
      const end = endOf(text, at, at + length);
      const size = this.#measure({ key, value: textNode(text.slice(at, end)) });
      if (size <= left) return { end, size };
      length = Math.floor((length * (left - around)) / (size - around)) - 1;
    }
    return null;
  }

  #isEmpty(): boolean {
    return this.#params.length === 0 && this.#openHere === 0;
  }

  /** @param cut depth at which the next frame continues this one */
  #endFrame(cut = this.#openHere === 0 ? undefined : this.#openHere - 1): void {
    if (this.#isEmpty()) return;
    let inner: Param | undefined;
    for (let index = this.#openHere - 1; index >= 0; index--) {
      const open = this.#open[index]!;
      if (inner !== undefined) open.members.push(inner);
      inner = { key: open.key, value: container(open.kind, open.members) };
      open.members = [];
    }
    if (inner !== undefined) this.#params.push(inner);
    this.#pieces.push({ params: this.#params, cut: this.#cut });
    if (this.#pieces.length > MAX_PARTS) throw tooLong(`${MAX_PARTS} frames`);
    this.#params = [];
    this.#cut = cut;
    this.#openHere = 0;
    this.#used = 0;
  }
}

function container(kind: 'array' | 'map', members: readonly Param[]): ArrayValue | MapValue {
  return kind === 'map' ? { kind, entries: members } : { kind, items: members.map(({ value }) => value) };
}

/** Returns the node of a piece of text. A piece that would read as another kind is written as a reference, which keeps all characters. */
function textNode(text: string): StringValue | RefValue {
  return OTHER_KIND.test(text) ? { kind: 'ref', path: text } : { kind: 'string', value: text };
}

/** Returns the end of a piece. A reference has no sign, so a sign is a piece of its own. */
function endOf(text: string, at: number, end: number): number {
  return text[at] === '-' && OTHER_KIND.test(text.slice(at, end)) ? at + 1 : end;
}

export function tooLong(limit: string): AccpError {
  return accpError('E2003', 'payload', `the message exceeds ${limit}`, 'send it in several messages, or as a stream');
}

/** The lists under construction, so that joining many pieces does not copy them each time. */
interface JoinBuffers {
  readonly items: Map<Value, Value[]>;
  readonly entries: Map<Value, Param[]>;
}

/** Joins the frames of a sequence, in linear time. Throws AccpError E1001 if the pieces do not match. */
export function joinPieces(pieces: readonly Piece[]): Param[] {
  const params: Param[] = [];
  const buffers: JoinBuffers = { items: new Map(), entries: new Map() };
  for (const { params: next, cut } of pieces) {
    const continues = cut !== undefined && params.length > 0 && next.length > 0;
    append(params, next, continues ? joinParams(cut, buffers) : null, '');
  }
  checkKeys(params);
  for (const entries of buffers.entries.values()) checkKeys(entries);
  return params;
}

/** Appends a list to another; `joinTwo` makes one member of the last and the first. */
function append<T>(list: T[], tail: readonly T[], joinTwo: ((last: T, first: T) => T) | null, key: string): void {
  if (joinTwo !== null) {
    if (list.length === 0 || tail.length === 0) throw mismatch(key);
    list[list.length - 1] = joinTwo(list.at(-1)!, tail[0]!);
  }
  for (let index = joinTwo === null ? 0 : 1; index < tail.length; index++) list.push(tail[index]!);
}

function joinParams(depth: number, buffers: JoinBuffers, owner?: string): (last: Param, first: Param) => Param {
  return (last, first) => {
    if (first.key !== last.key) throw mismatch(owner ?? first.key);
    return { key: last.key, value: join(last.value, first.value, depth, last.key, buffers) };
  };
}

/** The grammar checks keys within one frame only. */
function checkKeys(params: readonly Param[]): void {
  const keys = new Set<string>();
  for (const { key } of params) {
    if (keys.has(key)) throw mismatch(key);
    keys.add(key);
  }
}

function join(head: Value, tail: Value, depth: number, key: string, buffers: JoinBuffers): Value {
  if (head.kind === 'array' && tail.kind === 'array') return joinArrays(head, tail, depth, key, buffers);
  if (head.kind === 'map' && tail.kind === 'map') return joinMaps(head, tail, depth, key, buffers);
  const start = head.kind === 'ref' || head.kind === 'string' ? pieceText(head) : undefined;
  const text = pieceText(tail);
  if (depth > 0 || start === undefined || text === undefined) throw mismatch(key);
  return { kind: 'string', value: start + text };
}

function joinArrays(head: ArrayValue, tail: ArrayValue, depth: number, key: string, buffers: JoinBuffers): ArrayValue {
  const known = buffers.items.get(head);
  const items = known ?? [...head.items];
  const joinItems = (last: Value, first: Value): Value => join(last, first, depth - 1, key, buffers);
  append(items, tail.items, depth > 0 ? joinItems : null, key);
  if (known !== undefined) return head;
  const joined: ArrayValue = { kind: 'array', items };
  buffers.items.set(joined, items);
  return joined;
}

function joinMaps(head: MapValue, tail: MapValue, depth: number, key: string, buffers: JoinBuffers): MapValue {
  const known = buffers.entries.get(head);
  const entries = known ?? [...head.entries];
  append(entries, tail.entries, depth > 0 ? joinParams(depth - 1, buffers, key) : null, key);
  if (known !== undefined) return head;
  const joined: MapValue = { kind: 'map', entries };
  buffers.entries.set(joined, entries);
  return joined;
}

/** Returns the text of a piece. References are never cut, so a reference here is text that would read as another kind. */
function pieceText(value: Value): string | undefined {
  return value.kind === 'ref' ? value.path : sourceText(value);
}

function mismatch(key: string): AccpError {
  return accpError('E1001', `payload.${key}`, 'the parts of the message do not match');
}
