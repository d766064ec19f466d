import type { Node } from './nodes.js';
import type { Routine, Unit } from './routines.js';
import type { Binding } from './scopes.js';
import { covers, intern, join, type Origin, PRIMITIVE, type Value } from './values.js';

/** A stretch of a unit's code. */
export interface Place {
  readonly unit: Unit;
  readonly node: Node;
}

/** What is done that others may notice. */
export type Deed =
  /** A variable gets another value. */
  | 'assign'
  /** An object is changed. */
  | 'change'
  /** One of several objects is changed, and this may be it. */
  | 'may-change'
  /** A pattern's `lastIndex` moves: of one with the flag g or y, or of one with y. */
  | 'match'
  | 'sticky-match'
  /** It is raised, and may be caught anywhere. */
  | 'throw'
  /** Code that is not in the grammar runs, or a built-in that is not pure. */
  | 'call'
  /** A method runs of which nothing is known. */
  | 'unknown-method'
  /** A function that comes with a value gets something that outlives the parse. */
  | 'pass';

export interface Effect {
  readonly deed: Deed;
  readonly origin: Origin;
  readonly place: Place;
  /** The method that is called, or the function that does it with what it is given. */
  readonly by: string | null;
}

/** A call of something that the routine was given. */
export interface Pending {
  readonly callee: Origin;
  readonly arguments: Arguments;
}

/** What a function is called with. */
export interface Arguments {
  readonly self: Value;
  readonly list: readonly Value[];
  /** What more may come, from `...spread` on. */
  readonly rest: Value;
  /** The expressions that gave `list`, where there are any. */
  readonly nodes: readonly (Node | null)[];
  readonly selfNode: Node | null;
}

/** What running a routine may do, in terms of its arguments and of the variables around it. */
export interface Summary {
  readonly effects: Map<string, Effect>;
  readonly pending: Map<string, Pending>;
  /** What variables outside may come to hold. */
  readonly stores: Map<Binding, Value>;
  /** What its arguments may come to hold, by index. */
  readonly argumentStores: Map<number, Value>;
  /** Variables read that belong to others. */
  readonly reads: Set<Binding>;
  returns: Value;
  mayThrow: boolean;
  /** Calls text(), location() or their like: itself, or through others. */
  position: { self: boolean; calls: boolean };
  /** The routines that call it. */
  readonly callers: Set<Routine>;
}

export function emptySummary(): Summary {
  return {
    effects: new Map(),
    pending: new Map(),
    stores: new Map(),
    argumentStores: new Map(),
    reads: new Set(),
    returns: PRIMITIVE,
    mayThrow: false,
    position: { self: false, calls: false },
    callers: new Set(),
  };
}

const ids = new WeakMap<object, number>();
let lastId = 0;

/** A number for an object that keys can hold. */
export function idOf(object: object): number {
  const known = ids.get(object);
  if (known !== undefined) return known;
  ids.set(object, ++lastId);
  return lastId;
}

/** A key under which the same thing done at the same place to the same object is kept once. */
export function keyOf(origin: Origin, place: Place, deed = ''): string {
  return `${deed} ${idOf(intern(origin))} ${idOf(place.node)}`;
}

/** Adds to what a map holds under a key; tells whether that was news. */
export function grow<K>(map: Map<K, Value>, key: K, value: Value): boolean {
  const known = map.get(key);
  if (known && covers(known, value)) return false;
  map.set(key, known ? join(known, value) : value);
  return true;
}
