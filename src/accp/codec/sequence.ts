/**
 * Messages over a hard limit as a sequence of frames, and back (draft-benzing-accp-00, sections 3.4 and 7.2, item 6).
 *
 * Parameters go into the first frame that has room. One that fits into none is cut: its next piece stands first in the next
 * frame under the same key, and `cut` in the metadata says how deep the cut goes: at 0 strings, arrays and maps are put
 * together, at 1 the last item or entry goes on in the first one of the next frame, and so on.
 */
import type { ArrayValue, MapValue, Param, Value } from '../ast.js';
import { sourceText } from '../session/envelope.js';
import { AccpError } from './accp-error.js';

/** The parameters of one frame. */
export interface Piece {
  readonly params: readonly Param[];
  /** Of the first parameter, where it goes on with what the frame before began. */
  readonly cut: number | undefined;
}

/** How much of a value has room, and the rest; `null` where it cannot be cut. */
interface Cut {
  readonly head: Value;
  readonly tail: Value;
  readonly depth: number;
  /** Measure of the head; the rest is taken to be what is left, since measuring it each time would take quadratic time. */
  readonly used: number;
}

/** Frames of one message, sent or received. */
export const MAX_PARTS = 4096;

/** Tokens of a parameter or value as it will be written. */
export type Measure = (param: Param) => number;

/** Strings that would read as another kind. */
const OTHER_KIND = /^(?:true|false|-?[0-9]+(?:\.[0-9]+)?)$/;
/** Pieces of strings are at least so long, so that a cut makes headway. */
const LEAST_TEXT = 8;
/** Places that are tried for a cut: beyond, the text is all digits. */
const MOST_STEPS = 32;
/** Times that a piece of text is made shorter until it has room. */
const MOST_ATTEMPTS = 8;

/**
 * Parts parameters so that each piece measures at most `room`, where that is possible: a single word longer than the room
 * gets a piece of its own.
 *
 * @throws AccpError E2003 for more pieces than a receiver puts together
 */
export function splitParams(params: readonly Param[], room: number, measure: Measure): Piece[] {
  const pieces: Piece[] = [];
  let current: Param[] = [];
  let cut: number | undefined;
  let used = 0;
  const flush = (next: number | undefined): void => {
    if (current.length > 0) pieces.push({ params: current, cut });
    if (pieces.length > MAX_PARTS) throw tooLong();
    current = [];
    used = 0;
    cut = next;
  };
  for (const { key, value } of params) {
    let param: Param = { key, value: inWireOrder(value) };
    let size = measure(param);
    while (used + size > room) {
      const left = room - used;
      // Cutting costs a key and metadata: what fits into a frame of its own is not cut.
      const parted = size > room ? cutParam(param, size, left, measure) : null;
      if (parted === null) {
        if (current.length === 0) break;
        flush(undefined);
        continue;
      }
      current.push({ key: param.key, value: parted.head });
      flush(parted.depth);
      param = { key: param.key, value: parted.tail };
      size -= parted.used;
      // The parts of a value measure more than they do together, so what is left is more than it seems.
      if (size <= room) size = measure(param);
    }
    current.push(param);
    used += size;
  }
  flush(undefined);
  return pieces.length === 0 ? [{ params: [], cut: undefined }] : pieces;
}

function tooLong(): AccpError {
  return new AccpError({
    code: 'E2003',
    path: 'payload',
    message: `the message would take more than ${MAX_PARTS} frames`,
    help: 'send it in several messages, or as a stream',
  });
}

function cutParam(param: Param, size: number, left: number, measure: Measure): Cut | null {
  return cutValue(param.value, size, left, (value) => measure({ key: param.key, value }));
}

function cutValue(value: Value, size: number, left: number, measure: (value: Value) => number): Cut | null {
  switch (value.kind) {
    case 'string':
      return cutText(value.value, size, left, measure);
    case 'array':
      return cutList(
        value.items,
        left,
        (item) => measure({ kind: 'array', items: [item] }),
        (item, room, whole) => cutValue(item, whole, room, (part) => measure({ kind: 'array', items: [part] })),
        (items): ArrayValue => ({ kind: 'array', items }),
      );
    case 'map':
      return cutList(
        value.entries,
        left,
        (entry) => measure({ kind: 'map', entries: [entry] }),
        ({ key, value: inner }, room, whole) => {
          const parted = cutValue(inner, whole, room, (part) =>
            measure({ kind: 'map', entries: [{ key, value: part }] }),
          );
          return parted && { ...parted, head: { key, value: parted.head }, tail: { key, value: parted.tail } };
        },
        (entries): MapValue => ({ kind: 'map', entries }),
      );
    default:
      return null;
  }
}

/** Maps as they are printed: the entry that goes on in the next frame has to be its first one there, too. */
function inWireOrder(value: Value): Value {
  if (value.kind === 'array') return { ...value, items: value.items.map(inWireOrder) };
  if (value.kind !== 'map') return value;
  const entries = value.entries.map((entry) => ({ ...entry, value: inWireOrder(entry.value) }));
  return { ...value, entries: entries.sort((one, other) => (one.key < other.key ? -1 : 1)) };
}

interface PartedItem<T> extends Omit<Cut, 'head' | 'tail'> {
  readonly head: T;
  readonly tail: T;
}

/** Items from the left while there is room; the first one that alone is too much is cut itself. */
function cutList<T>(
  list: readonly T[],
  left: number,
  measure: (item: T) => number,
  cutItem: (item: T, room: number, size: number) => PartedItem<T> | null,
  make: (items: readonly T[]) => Value,
): Cut | null {
  let used = 0;
  let count = 0;
  for (; count < list.length; count++) {
    const size = measure(list[count]!);
    if (used + size > left) break;
    used += size;
  }
  if (count > 0) return { head: make(list.slice(0, count)), tail: make(list.slice(count)), depth: 0, used };
  const [first, ...rest] = list;
  if (first === undefined) return null;
  const inner = cutItem(first, left, measure(first));
  return inner && { ...inner, head: make([inner.head]), tail: make([inner.tail, ...rest]), depth: inner.depth + 1 };
}

function cutText(text: string, size: number, left: number, measure: (value: Value) => number): Cut | null {
  const piece = (value: string): Value => ({ kind: 'string', value });
  let at = Math.floor((text.length * left) / size) - 1;
  // Tokens are not spread evenly over a text.
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    at = placeToCut(text, Math.min(at, text.length - 1));
    if (at < LEAST_TEXT) return null;
    const head = piece(text.slice(0, at));
    const used = measure(head);
    if (used <= left) return { head, tail: piece(text.slice(at)), depth: 0, used };
    at = Math.floor((at * left) / used) - 1;
  }
  return null;
}

/** The place at or before `at` where both pieces read as strings; 0 where there is none. */
function placeToCut(text: string, at: number): number {
  for (let place = at; place > at - MOST_STEPS && place >= LEAST_TEXT; place--) {
    if (!isOtherKind(text.slice(0, place)) && !isOtherKind(text.slice(place))) return place;
  }
  return 0;
}

function isOtherKind(text: string): boolean {
  return OTHER_KIND.test(text);
}

/**
 * Puts the frames of a sequence together.
 *
 * @throws AccpError E1001 where the pieces do not fit together
 */
export function joinPieces(pieces: readonly Piece[]): Param[] {
  const params: Param[] = [];
  for (const { params: next, cut } of pieces) {
    const [first, ...rest] = next;
    const last = params.at(-1);
    if (cut !== undefined && first !== undefined && last !== undefined) {
      if (first.key !== last.key) throw misfit(first.key);
      params[params.length - 1] = { key: last.key, value: join(last.value, first.value, cut, last.key) };
    } else if (first !== undefined) params.push(first);
    for (const param of rest) params.push(param);
  }
  const keys = new Set<string>();
  for (const { key } of params) {
    if (keys.has(key)) throw misfit(key);
    keys.add(key);
  }
  return params;
}

function join(head: Value, tail: Value, depth: number, key: string): Value {
  if (depth > 0) {
    if (head.kind === 'array' && tail.kind === 'array') {
      const [first, ...rest] = tail.items;
      const last = head.items.at(-1);
      if (first === undefined || last === undefined) throw misfit(key);
      return { kind: 'array', items: [...head.items.slice(0, -1), join(last, first, depth - 1, key), ...rest] };
    }
    if (head.kind === 'map' && tail.kind === 'map') {
      const [first, ...rest] = tail.entries;
      const last = head.entries.at(-1);
      if (first === undefined || last?.key !== first.key) throw misfit(key);
      const joined = { key: last.key, value: join(last.value, first.value, depth - 1, key) };
      return { kind: 'map', entries: [...head.entries.slice(0, -1), joined, ...rest] };
    }
    throw misfit(key);
  }
  if (head.kind === 'array' && tail.kind === 'array') return { kind: 'array', items: [...head.items, ...tail.items] };
  if (head.kind === 'map' && tail.kind === 'map') return { kind: 'map', entries: [...head.entries, ...tail.entries] };
  const text = head.kind === 'string' ? sourceText(tail) : undefined;
  if (text === undefined || head.kind !== 'string') throw misfit(key);
  return { kind: 'string', value: head.value + text };
}

function misfit(key: string): AccpError {
  return new AccpError({
    code: 'E1001',
    path: `payload.${key}`,
    message: 'the parts of the message do not fit together',
  });
}
