/** The frames of a sequence, put together (draft-benzing-accp-00, section 3.4); `sequence.ts` says how they were cut. */
import type { ArrayValue, MapValue, Param, Value } from '../ast.js';
import { AccpError } from '../errors/accp-error.js';
import { sourceText } from './envelope.js';
import type { Piece } from './sequence.js';

/** The lists of arrays and maps that were made here, so that more can be put into them: a new one for each piece takes long. */
interface Growing {
  readonly items: Map<Value, Value[]>;
  readonly entries: Map<Value, Param[]>;
}

/**
 * Puts the frames of a sequence together, in time linear in what they hold.
 *
 * @throws AccpError E1001 where the pieces do not fit together
 */
export function joinPieces(pieces: readonly Piece[]): Param[] {
  const params: Param[] = [];
  const growing: Growing = { items: new Map(), entries: new Map() };
  for (const { params: next, cut } of pieces) {
    const [first] = next;
    const last = params.at(-1);
    const goesOn = cut !== undefined && first !== undefined && last !== undefined;
    if (goesOn) {
      if (first.key !== last.key) throw misfit(first.key);
      params[params.length - 1] = { key: last.key, value: join(last.value, first.value, cut, last.key, growing) };
    }
    for (let index = goesOn ? 1 : 0; index < next.length; index++) params.push(next[index]!);
  }
  checkKeys(params);
  for (const entries of growing.entries.values()) checkKeys(entries);
  return params;
}

/** The grammar sees to keys that are repeated within a frame. */
function checkKeys(params: readonly Param[]): void {
  const keys = new Set<string>();
  for (const { key } of params) {
    if (keys.has(key)) throw misfit(key);
    keys.add(key);
  }
}

function join(head: Value, tail: Value, depth: number, key: string, growing: Growing): Value {
  if (head.kind === 'array' && tail.kind === 'array') return joinArrays(head, tail, depth, key, growing);
  if (head.kind === 'map' && tail.kind === 'map') return joinMaps(head, tail, depth, key, growing);
  const begun = head.kind === 'ref' || head.kind === 'string' ? pieceText(head) : undefined;
  const text = pieceText(tail);
  if (depth > 0 || begun === undefined || text === undefined) throw misfit(key);
  return { kind: 'string', value: begun + text };
}

function joinArrays(head: ArrayValue, tail: ArrayValue, depth: number, key: string, growing: Growing): ArrayValue {
  const known = growing.items.get(head);
  const items = known ?? [...head.items];
  if (depth > 0) {
    const [first] = tail.items;
    const last = items.at(-1);
    if (first === undefined || last === undefined) throw misfit(key);
    items[items.length - 1] = join(last, first, depth - 1, key, growing);
  }
  for (let index = depth > 0 ? 1 : 0; index < tail.items.length; index++) items.push(tail.items[index]!);
  if (known !== undefined) return head;
  const joined: ArrayValue = { kind: 'array', items };
  growing.items.set(joined, items);
  return joined;
}

function joinMaps(head: MapValue, tail: MapValue, depth: number, key: string, growing: Growing): MapValue {
  const known = growing.entries.get(head);
  const entries = known ?? [...head.entries];
  if (depth > 0) {
    const [first] = tail.entries;
    const last = entries.at(-1);
    if (first === undefined || last?.key !== first.key) throw misfit(key);
    entries[entries.length - 1] = { key: last.key, value: join(last.value, first.value, depth - 1, key, growing) };
  }
  for (let index = depth > 0 ? 1 : 0; index < tail.entries.length; index++) entries.push(tail.entries[index]!);
  if (known !== undefined) return head;
  const joined: MapValue = { kind: 'map', entries };
  growing.entries.set(joined, entries);
  return joined;
}

/** Text where it was cut: a reference is never cut, so what looks like one is text that would read as another kind. */
function pieceText(value: Value): string | undefined {
  return value.kind === 'ref' ? value.path : sourceText(value);
}

function misfit(key: string): AccpError {
  return new AccpError({
    code: 'E1001',
    path: `payload.${key}`,
    message: 'the parts of the message do not fit together',
  });
}
