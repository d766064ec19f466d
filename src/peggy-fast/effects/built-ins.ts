/** The effects of calling a built-in function on its arguments, and its result. */
type BuiltIn =
  | 'primitive'
  /** Returns a new object, which may hold what the arguments hold. */
  | 'fresh'
  | 'changes-first';

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}

function table(entries: readonly (readonly [kind: BuiltIn, names: string])[]): ReadonlyMap<string, BuiltIn> {
  return new Map(entries.flatMap(([kind, names]) => words(names).map((name) => [name, kind] as const)));
}

/** Functions that neither have a state nor read one, by path, including constructors called without `new`. */
export const FUNCTIONS = table([
  [
    'primitive',
    `Number String Boolean BigInt Symbol parseInt parseFloat isNaN isFinite encodeURI encodeURIComponent decodeURI
     decodeURIComponent escape unescape Number.isInteger Number.isSafeInteger Number.isFinite Number.isNaN
     Number.parseInt Number.parseFloat String.fromCharCode String.fromCodePoint String.raw BigInt.asIntN BigInt.asUintN
     Symbol.for Array.isArray ArrayBuffer.isView JSON.stringify Object.is Object.hasOwn Object.isFrozen
     Object.isSealed Object.isExtensible Reflect.has Reflect.isExtensible Date.UTC Date.parse btoa atob`,
  ],
  [
    'fresh',
    `Array Object RegExp Error TypeError RangeError SyntaxError EvalError ReferenceError URIError AggregateError
     Array.of Array.from Object.keys Object.values Object.entries Object.fromEntries Object.create Object.groupBy
     Object.getOwnPropertyNames Object.getOwnPropertySymbols Object.getOwnPropertyDescriptor
     Object.getOwnPropertyDescriptors Object.getPrototypeOf Reflect.get Reflect.ownKeys Reflect.getPrototypeOf
     Reflect.getOwnPropertyDescriptor Map.groupBy JSON.parse structuredClone Uint8Array.from Uint16Array.from
     Uint32Array.from Int8Array.from Int16Array.from Int32Array.from Float32Array.from Float64Array.from`,
  ],
  [
    'changes-first',
    `Object.assign Object.defineProperty Object.defineProperties Object.setPrototypeOf Object.freeze Object.seal
     Object.preventExtensions Error.captureStackTrace Reflect.set Reflect.deleteProperty Reflect.defineProperty Reflect.setPrototypeOf
     Reflect.preventExtensions`,
  ],
]);

/** Classes whose instances belong only to their creator. */
export const CONSTRUCTORS: ReadonlySet<string> = new Set(
  words(`Array Object String Number Boolean RegExp Date Map Set WeakMap WeakSet Error TypeError RangeError SyntaxError
    EvalError ReferenceError URIError AggregateError ArrayBuffer DataView Uint8Array Uint8ClampedArray Uint16Array
    Uint32Array Int8Array Int16Array Int32Array Float32Array Float64Array BigInt64Array BigUint64Array TextEncoder
    TextDecoder URL URLSearchParams Intl.NumberFormat Intl.DateTimeFormat Intl.Collator Intl.PluralRules
    Intl.ListFormat Intl.Segmenter`),
);

export const RAISING: ReadonlySet<string> = new Set(
  words(`BigInt BigInt.asIntN BigInt.asUintN JSON.parse JSON.stringify decodeURI decodeURIComponent encodeURI
    encodeURIComponent RegExp String.fromCodePoint structuredClone URL atob btoa Object.defineProperty
    Object.defineProperties Object.fromEntries`),
);

/** Namespaces in which every function is pure except those in {@link IMPURE}. */
export const NAMESPACES: ReadonlySet<string> = new Set(['Math']);

export const IMPURE: ReadonlySet<string> = new Set(['Math.random']);

export const MUTATORS: ReadonlySet<string> = new Set(
  words(`push pop shift unshift splice sort reverse fill copyWithin set add delete clear append prepend insert remove
    setTime setDate setDay setMonth setFullYear setYear setHours setMinutes setSeconds setMilliseconds setUTCDate
    setUTCMonth setUTCFullYear setUTCHours setUTCMinutes setUTCSeconds setUTCMilliseconds setInt8 setUint8 setInt16
    setUint16 setInt32 setUint32 setFloat32 setFloat64 setBigInt64 setBigUint64 next return throw compile
    __defineGetter__ __defineSetter__`),
);

/** Methods of built-in objects that do not change the object, by their result. */
const READERS: readonly (readonly [result: MethodResult, names: string])[] = [
  [
    'primitive',
    `join indexOf lastIndexOf includes has every some test startsWith endsWith charAt charCodeAt codePointAt substring
     substr toUpperCase toLowerCase toLocaleUpperCase toLocaleLowerCase trim trimStart trimEnd trimLeft trimRight repeat
     padStart padEnd replace replaceAll normalize localeCompare search toString toLocaleString toFixed toPrecision
     toExponential findIndex findLastIndex forEach hasOwnProperty isPrototypeOf propertyIsEnumerable isWellFormed
     toWellFormed getTime getDate getDay getMonth getFullYear getHours getMinutes getSeconds getMilliseconds
     getTimezoneOffset getUTCDate getUTCDay getUTCMonth getUTCFullYear getUTCHours getUTCMinutes getUTCSeconds
     getUTCMilliseconds toISOString toJSON toDateString toTimeString description isSubsetOf isSupersetOf isDisjointFrom
     getInt8 getUint8 getInt16 getUint16 getInt32 getUint32 getFloat32 getFloat64 compare format`,
  ],
  [
    'copy',
    `slice concat map filter flat flatMap split match matchAll exec keys values entries toSorted toReversed toSpliced
     with union intersection difference symmetricDifference subarray formatToParts encode decode`,
  ],
  ['element', 'at get find findLast valueOf reduce reduceRight'],
];

/** The result of a method: a primitive, a new object with the same contents, an element of the object, or the object itself. */
type MethodResult = 'primitive' | 'copy' | 'element' | 'itself';

/** The results of the methods of built-in objects, by name. Others are unknown. */
export const METHOD_RESULTS: ReadonlyMap<string, MethodResult> = new Map([
  ...READERS.flatMap(([result, names]) => words(names).map((name) => [name, result] as const)),
  ...words('sort reverse fill copyWithin set add append').map((name) => [name, 'itself'] as const),
  ...words('pop shift next').map((name) => [name, 'element'] as const),
  ...words('push unshift delete clear').map((name) => [name, 'primitive'] as const),
  ['splice', 'copy'],
]);

export const ITERATING: ReadonlySet<string> = new Set(['values', 'keys', 'entries', 'matchAll']);

export const RAISING_METHODS: ReadonlySet<string> = new Set(
  words('repeat normalize toFixed toPrecision toExponential toISOString with'),
);

export function isReader(method: string): boolean {
  return METHOD_RESULTS.has(method) && !MUTATORS.has(method);
}

/** Methods of a string that use a pattern directly. The others copy it, or reset it before and after. */
export const PATTERN_METHODS: ReadonlySet<string> = new Set(['test', 'exec']);
export const STICKY_METHODS: ReadonlySet<string> = new Set(['match', 'replace', 'replaceAll']);

/** Methods that conversions call implicitly. */
export const IMPLICIT_METHODS: ReadonlySet<string> = new Set(['toString', 'valueOf', 'toJSON', 'then']);

/** Methods and functions of built-in objects that call an argument, with the index of the argument. */
export const CALLING: ReadonlyMap<string, number> = new Map([
  ...words(`map filter forEach some every find findIndex findLast findLastIndex flatMap reduce reduceRight sort
    toSorted`).map((name) => [name, 0] as const),
  ...words(`replace replaceAll Array.from JSON.parse JSON.stringify Object.groupBy Map.groupBy Uint8Array.from
    Uint16Array.from Uint32Array.from Int8Array.from Int16Array.from Int32Array.from Float32Array.from
    Float64Array.from`).map((name) => [name, 1] as const),
]);
