/** The functions of JavaScript whose call has no effect other than its value, and that do not throw for a usual argument. */

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}

/** Functions, by path. */
export const FUNCTIONS =
  words(`Number String Boolean Symbol Array Object Error TypeError RangeError SyntaxError parseInt parseFloat isNaN isFinite
  escape unescape Number.isInteger Number.isSafeInteger Number.isFinite Number.isNaN Number.parseInt Number.parseFloat
  String.fromCharCode Array.isArray Array.of Array.from Object.is Object.hasOwn Object.keys Object.values Object.entries
  Object.getPrototypeOf Math.abs Math.ceil Math.floor Math.max Math.min Math.pow Math.round Math.sign Math.sqrt Math.trunc Math.log Math.log2
  Math.log10 Math.hypot Date.UTC Date.parse`);

export const CONSTRUCTORS = words(
  `Array Object String Number Boolean Date Map Set WeakMap WeakSet Error TypeError RangeError SyntaxError`,
);

/** Functions that change their first argument and return it. */
export const CHANGING = words('Object.assign Object.freeze');

/** Methods that change their object, and nothing else. */
export const MUTATORS = words('push pop shift unshift splice sort reverse fill set add delete clear');

/** Methods that return a new object. */
export const COPYING = words('slice concat map filter flat flatMap split toSorted toReversed');

/** Methods that change nothing. */
export const READERS: ReadonlySet<string> = new Set([
  ...COPYING,
  ...words(`join indexOf lastIndexOf includes has every some test startsWith endsWith charAt charCodeAt codePointAt substring substr
  toUpperCase toLowerCase trim trimStart trimEnd padStart padEnd replace replaceAll localeCompare search toString
  findIndex findLastIndex forEach hasOwnProperty getTime exec match at get find findLast valueOf reduce reduceRight keys values entries`),
]);

/** Methods of READERS that return what an object holds, or what a callback returns. */
export const ELEMENTS = words('at get find findLast valueOf reduce reduceRight');

/** Methods of texts whose first argument is a pattern. */
export const PATTERN_FIRST = words('replace replaceAll match');

/** Methods that use or reset the place that a pattern keeps in the text, with the flag g or y. */
export const PLACE_KEEPING: ReadonlySet<string> = new Set([...PATTERN_FIRST, ...words('test exec')]);

/** Methods and functions that call an argument, by its index. */
export const CALLING: ReadonlyMap<string, number> = new Map([
  ...[
    ...words(
      'map filter forEach some every find findIndex findLast findLastIndex flatMap reduce reduceRight sort toSorted',
    ),
  ].map((name) => [name, 0] as const),
  ...[...words('replace replaceAll Array.from')].map((name) => [name, 1] as const),
]);

/** Globals whose values are plain. Any other name that a grammar does not declare may give it objects with code of their own. */
export const PLAIN: ReadonlySet<string> = new Set([
  ...FUNCTIONS,
  ...CONSTRUCTORS,
  ...words(
    'console undefined NaN Infinity JSON Math Reflect BigInt RegExp URL TextEncoder TextDecoder input options text offset range location error expected arguments Uint8Array Uint16Array Uint32Array Int8Array Int16Array Int32Array Float32Array Float64Array',
  ),
]);
