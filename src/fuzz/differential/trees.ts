/** Where two trees differ. */
import type { Json } from './target.js';

/** The first difference of two trees; a value that is absent on one side is `undefined`. */
export interface Difference {
  /** JSON Pointer (RFC 6901): `/payload/0/value`; empty for the whole. */
  readonly path: string;
  readonly expected: Json | undefined;
  readonly given: Json | undefined;
}

/** The way to a value, from its end: written out only for the one that is told. */
type Way = { readonly parent: Way; readonly step: string | number } | null;

interface Pair {
  readonly way: Way;
  readonly expected: Json | undefined;
  readonly given: Json | undefined;
}

/** Members that an implementation may give though the expected tree has none there. */
const OPTIONAL = new Set(['span', 'text']);

/**
 * The first difference in the order of the expected tree, or `null` where there is none. Trees are equal as
 * `test/conformance/README.md` has it:
 *
 * - the order of members does not matter, and zeros compare without a sign;
 * - where the expected tree has no `text`, the given one may: an implementation may keep the spelling of every number;
 * - nor does a `span` matter where none is expected;
 * - any other member too many is a difference: it would say something that the message does not.
 *
 * Time and memory are linear in the size of the trees, however deep they are.
 */
export function treeDifference(expected: Json, given: Json): Difference | null {
  const open: Pair[] = [{ way: null, expected, given }];
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const parts = partsOf(pair);
    if (parts === null) return { path: pointer(pair.way), expected: pair.expected, given: pair.given };
    for (let index = parts.length - 1; index >= 0; index--) open.push(parts[index]!);
  }
  return null;
}

/** What is left to compare of two values, in order; `null` where they differ already. */
function partsOf({ way, expected, given }: Pair): readonly Pair[] | null {
  if (expected === given) return [];
  if (isArray(expected) && isArray(given)) {
    const length = Math.max(expected.length, given.length);
    return Array.from({ length }, (_, step) => pairAt(way, step, expected[step], given[step]));
  }
  if (!isObject(expected) || !isObject(given)) return null;
  const members = Object.keys(expected);
  const extra = Object.keys(given).filter((member) => !Object.hasOwn(expected, member) && !OPTIONAL.has(member));
  return [...members, ...extra].map((step) => pairAt(way, step, member(expected, step), member(given, step)));
}

function pairAt(parent: Way, step: string | number, expected: Json | undefined, given: Json | undefined): Pair {
  return { way: { parent, step }, expected, given };
}

function isArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function isObject(value: Json | undefined): value is { readonly [member: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Not what an object inherits: `__proto__` may be a key like others. */
function member(object: { readonly [member: string]: Json }, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function pointer(way: Way): string {
  const steps: string[] = [];
  for (let at = way; at !== null; at = at.parent) {
    steps.push(`/${String(at.step).replaceAll('~', '~0').replaceAll('/', '~1')}`);
  }
  return steps.reverse().join('');
}
