/** Validation of external data in modules that browsers load, without zod. */
import { notAmong, wrongType } from './issue-message.js';
import { nearest } from './suggest.js';
import { quotedShort } from './visible.js';

/** The error about a value of the wrong shape. */
export class ShapeError extends Error {
  override readonly name = 'ShapeError';
  /** The position in the value: `schemas.sales.fields[2]`; empty for the value itself. */
  readonly path: string;
  /** A way to fix the problem, if one is known. */
  readonly help: string | undefined;

  constructor(path: string, message: string, help?: string) {
    super(message);
    this.path = path;
    this.help = help;
  }
}

/** Checks a value and returns it with its type. @throws ShapeError about the first invalid part */
export type Check<T> = (value: unknown, path: string) => T;

type Members = { readonly [name: string]: Check<unknown> };

type OptionalName<M extends Members> = {
  [Name in keyof M]: undefined extends ReturnType<M[Name]> ? Name : never;
}[keyof M];

export type Checked<M extends Members> = {
  readonly [Name in Exclude<keyof M, OptionalName<M>>]: ReturnType<M[Name]>;
} & { readonly [Name in OptionalName<M>]?: ReturnType<M[Name]> };

export const text: Check<string> = (value, path) => (typeof value === 'string' ? value : reject(path, 'string', value));

export function integer(min: number): Check<number> {
  return (value, path) => {
    if (typeof value !== 'number' || !Number.isSafeInteger(value)) return reject(path, 'int', value);
    if (value < min) throw new ShapeError(path, `must be at least ${min}`);
    return value;
  };
}

export function oneOf<const T extends string>(words: readonly T[]): Check<T> {
  return (value, path) => {
    const found = words.find((word) => word === value);
    if (found !== undefined) return found;
    throw new ShapeError(path, value === undefined ? 'is required' : notAmong(words));
  };
}

export function list<T>(item: Check<T>): Check<readonly T[]> {
  return (value, path) =>
    Array.isArray(value) ? Array.from(value, (one, at) => item(one, `${path}[${at}]`)) : reject(path, 'array', value);
}

export function refine<T>(is: (value: unknown) => value is T, message: string): Check<T> {
  return (value, path) => {
    if (is(value)) return value;
    throw new ShapeError(path, message);
  };
}

export function optional<T>(check: Check<T>): Check<T | undefined> {
  return (value, path) => (value === undefined ? undefined : check(value, path));
}

/** Checks an object. Other members are dropped, or rejected if `strict`. */
export function object<M extends Members>(members: M, { strict = false } = {}): Check<Checked<M>> {
  const names = Object.keys(members);
  return (value, path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return reject(path, 'object', value);
    const given = value as { readonly [name: string]: unknown };
    const checked: { [name: string]: unknown } = {};
    for (const name of names) {
      const member = members[name]!(given[name], path === '' ? name : `${path}.${name}`);
      if (member !== undefined) checked[name] = member;
    }
    const unknown = strict ? Object.keys(given).find((name) => !Object.hasOwn(members, name)) : undefined;
    if (unknown === undefined) return checked as Checked<M>;
    const meant = nearest(unknown, names);
    const help = meant === undefined ? undefined : `did you mean ${quotedShort(meant)}?`;
    throw new ShapeError(path, `has the unknown member ${quotedShort(unknown)}`, help);
  };
}

function reject(path: string, expected: string, value: unknown): never {
  throw new ShapeError(path, wrongType(expected, value));
}
