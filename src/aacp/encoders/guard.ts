/** Fast equivalents of schemas, since running zod on every value would dominate encoding. */
import type * as z from 'zod/v4/core';

/** Returns `true` for a value that the schema would return unchanged. */
export type Guard = (value: unknown) => boolean;

/** The members of zod's definition of a schema that are used. */
interface Definition {
  readonly type: string;
  readonly checks?: readonly unknown[];
  readonly check?: unknown;
  readonly coerce?: boolean;
  readonly entries?: Readonly<Record<string, string | number>>;
  readonly values?: readonly unknown[];
  readonly element?: z.$ZodType;
  readonly options?: readonly z.$ZodType[];
}

/** Returns a check that is equivalent to the schema, or `null` if only zod can run it. */
export function guardOf(schema: z.$ZodType): Guard | null {
  const definition = definitionOf(schema);
  if (isRefined(definition)) return null;
  switch (definition.type) {
    case 'string':
      return (value) => typeof value === 'string';
    case 'number':
      return Number.isFinite;
    case 'boolean':
      return (value) => typeof value === 'boolean';
    case 'enum':
      return guardOfEnum(Object.values(definition.entries ?? {}));
    case 'literal':
      return isOneOf(definition.values ?? []);
    case 'array':
      return guardOfList(definition);
    case 'union':
      return guardOfUnion(definition);
    default:
      return null;
  }
}

/** Returns whether the schema accepts every string unchanged. */
export function takesAnyString(schema: z.$ZodType): boolean {
  const definition = definitionOf(schema);
  if (isRefined(definition)) return false;
  if (definition.type === 'union') return guardOf(schema) !== null && (definition.options ?? []).some(takesAnyString);
  return definition.type === 'string';
}

export function isBoolean(schema: z.$ZodType): boolean {
  const definition = definitionOf(schema);
  return definition.type === 'boolean' && !isRefined(definition);
}

function definitionOf(schema: z.$ZodType): Definition {
  return schema._zod.def as unknown as Definition;
}

function isRefined({ checks = [], check, coerce }: Definition): boolean {
  return checks.length > 0 || check !== undefined || coerce === true;
}

// Enums with numbers also list their names.
function guardOfEnum(words: readonly unknown[]): Guard | null {
  return words.every((word) => typeof word === 'string') ? isOneOf(words) : null;
}

function isOneOf(values: readonly unknown[]): Guard {
  const all = new Set(values);
  return (value) => all.has(value);
}

function guardOfList({ element }: Definition): Guard | null {
  const guard = element === undefined ? null : guardOf(element);
  if (guard === null) return null;
  return (value) => {
    if (!Array.isArray(value)) return false;
    // Not `every`, which skips the holes of a sparse list.
    for (let at = 0; at < value.length; at++) if (!guard(value[at])) return false;
    return true;
  };
}

function guardOfUnion({ options = [] }: Definition): Guard | null {
  const guards = options.map(guardOf);
  if (guards.includes(null)) return null;
  return (value) => guards.some((guard) => guard?.(value));
}
