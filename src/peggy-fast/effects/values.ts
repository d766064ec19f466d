import type { Binding } from './scopes.js';
import type { ClassNode, FunctionNode } from './syntax.js';

/** The origin of an object, which determines who can see it change. */
export type Origin =
  /** Created by the current code. */
  | { readonly kind: 'fresh' }
  /** A regular expression that keeps `lastIndex` between calls, in addition to the origin that owns it. */
  | { readonly kind: 'stateful-pattern'; readonly sticky: boolean }
  /** An iterator or a generator, which advances when it is read, in addition to the origin that owns it. */
  | { readonly kind: 'iterator' }
  /** An argument, or something that it holds; {@link THIS} and {@link ANY} are special indexes. */
  | { readonly kind: 'argument'; readonly index: number; readonly inside: boolean }
  /** Held by a local variable of an enclosing function. */
  | { readonly kind: 'captured'; readonly binding: Binding; readonly inside: boolean }
  | { readonly kind: 'label' }
  /** Held by a variable of the per-parse or of the top-level initializer. */
  | { readonly kind: 'state'; readonly binding: Binding }
  | { readonly kind: 'module'; readonly binding: Binding }
  /** Held by a top-level variable and returned by some action, so labels may hold it. */
  | { readonly kind: 'leaked'; readonly binding: Binding }
  | { readonly kind: 'import'; readonly name: string }
  /** Something that an object shares with others, such as its prototype, by what it was obtained from. */
  | { readonly kind: 'shared'; readonly name: string }
  | { readonly kind: 'given'; readonly name: string }
  /** A built-in by its dotted path, such as `Math.max`. */
  | { readonly kind: 'global'; readonly name: string }
  | { readonly kind: 'trusted'; readonly name: string }
  | { readonly kind: 'function'; readonly node: FunctionNode | ClassNode };

export const THIS = -1;

/** The index that stands for all arguments together, as `arguments` and rest parameters see them. */
export const ANY = -2;

export type Origins = ReadonlySet<Origin>;

/** The possible values of an expression: the objects that it may be, and those that are reachable through it. */
export interface Value {
  readonly self: Origins;
  readonly inside: Origins;
}

const FRESH_ORIGIN: Origin = { kind: 'fresh' };

export const PRIMITIVE: Value = { self: new Set(), inside: new Set() };

export const FRESH: Value = { self: new Set([FRESH_ORIGIN]), inside: new Set() };

export const ITERATOR: Value = { self: new Set([{ kind: 'iterator' }]), inside: new Set() };

const interned = new WeakMap<object, Map<string, Origin>>();
const unique = new WeakSet<Origin>();
const ROOT = {};

/** Returns the one object that represents an origin, so that sets can contain it. */
export function intern<T extends Origin>(origin: T): T {
  if (unique.has(origin)) return origin;
  const owner = 'binding' in origin ? origin.binding : 'node' in origin ? origin.node : ROOT;
  const { kind } = origin;
  const name = 'name' in origin ? origin.name : 'index' in origin ? origin.index : '';
  const flag = ('inside' in origin && origin.inside) || ('sticky' in origin && origin.sticky);
  const key = `${kind} ${flag} ${name}`;
  const known = interned.get(owner) ?? new Map<string, Origin>();
  interned.set(owner, known);
  const found = known.get(key);
  if (found) return found as T;
  known.set(key, origin);
  unique.add(origin);
  return origin;
}

/** An object of one origin, and what it gives access to. */
export function of(origin: Origin, inside: Origin = origin): Value {
  return { self: new Set([intern(origin)]), inside: new Set([intern(inside)]) };
}

export function ofFunction(node: FunctionNode | ClassNode, returns: Value): Value {
  return { self: new Set([intern({ kind: 'function', node })]), inside: union(returns.self, returns.inside) };
}

export function ofArgument(index: number): Value {
  return of({ kind: 'argument', index, inside: false }, { kind: 'argument', index, inside: true });
}

export function union(...sets: readonly Origins[]): Origins {
  let result: Origins = PRIMITIVE.self;
  let own: Set<Origin> | null = null;
  for (const set of sets) {
    if (set === result || set.size === 0) continue;
    if (result.size === 0) {
      result = set;
      continue;
    }
    // Sets are shared, and copied only when an element is added.
    for (const origin of set) {
      if (result.has(origin)) continue;
      own ??= new Set(result);
      own.add(origin);
      result = own;
    }
  }
  return result;
}

export function join(...values: readonly Value[]): Value {
  return { self: union(...values.map(({ self }) => self)), inside: union(...values.map(({ inside }) => inside)) };
}

export function contentsOf({ inside }: Value): Value {
  return { self: inside, inside };
}

/** The possible values of a property; `name` is null if it is unknown. The path identifies a property of a built-in. */
export function propertyOf(value: Value, name: string | null): Value {
  if (name === '__proto__' || name === 'constructor') return join(contentsOf(value), sharedBy(name));
  const isShared = [...value.self].some(({ kind }) => kind === 'shared');
  if (isShared && (name === 'name' || name === 'length')) return replace(contentsOf(value), unlessShared);
  const paths = [...value.self].flatMap((origin) =>
    origin.kind === 'global' && name !== null ? [intern({ kind: 'global', name: `${origin.name}.${name}` })] : [],
  );
  // The prototype of a function is included: a change of the one counts as a change of the other.
  const owners =
    name === 'prototype' ? [...value.self].filter(({ kind }) => kind !== 'global' && kind !== 'fresh') : [];
  return { self: union(new Set(owners), value.inside, new Set(paths)), inside: value.inside };
}

export function sharedBy(name: string): Value {
  return of({ kind: 'shared', name });
}

function unlessShared(origin: Origin): Origins {
  return origin.kind === 'shared' ? PRIMITIVE.self : new Set([origin]);
}

export function holding(...values: readonly Value[]): Value {
  return { self: FRESH.self, inside: union(...values.flatMap(({ self, inside }) => [self, inside])) };
}

export const UNKNOWN: Value = { self: FRESH.self, inside: FRESH.self };

export function replace(value: Value, by: (origin: Origin) => Origins): Value {
  const each = (origins: Origins): Origins => union(...[...origins].map(by));
  return { self: each(value.self), inside: each(value.inside) };
}

export function covers(value: Value, other: Value): boolean {
  return [...other.self].every((o) => value.self.has(o)) && [...other.inside].every((o) => value.inside.has(o));
}
