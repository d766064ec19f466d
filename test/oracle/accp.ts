/**
 * Reads ACCP frames with the Ohm grammar: the oracle that the production parser is compared with. It shares no code
 * with that parser, only the types of the tree. It is not made for speed; numbers are computed in exact arithmetic, so
 * that it does not depend on the platform's number parsing.
 */
import { readFileSync } from 'node:fs';
import { type Node, grammars as readGrammars, type Semantics } from 'ohm-js';
import type { DecimalValue, Frame, IntegerValue, Param, Value } from '../../src/accp/ast.js';

export interface OracleLimits {
  /** The levels of arrays and maps inside one parameter's value. Ohm's recursion supports some dozens, not hundreds. */
  readonly maxDepth?: number;
  /** The digits of one number, including leading zeros. */
  readonly maxDigits?: number;
}

const grammars = readGrammars(readFileSync(new URL('../../grammar/accp.ohm', import.meta.url), 'utf8'));

const strict = grammars['Accp']!.createSemantics();
strict.addOperation<unknown>('ast', {
  frame: (header, body, metadata): Frame => ({
    kind: 'frame',
    ...ast<Pick<Frame, 'agent' | 'intent'>>(header),
    ...ast<Pick<Frame, 'operation' | 'payload'>>(body),
    metadata: optional<Param[]>(metadata) ?? null,
  }),
  header: (_at, agent, _to, intent) => ({ agent: agent.sourceString, intent: intent.sourceString }),
  body: (_colon, operation, _open, payload, _close) => ({
    operation: operation.sourceString,
    payload: optional<Param[]>(payload) ?? [],
  }),
  payload: (params) => list<Param>(params),
  metadata: (_open, pairs, _close) => ast<Param[]>(pairs),
  meta_pairs: (params) => list<Param>(params),
  param: (key, _colon, value): Param => ({ key: key.sourceString, value: ast<Value>(value) }),
  boolean: (word): Value => ({ kind: 'boolean', value: word.sourceString === 'true' }),
  integer: (sign, digits): Value => integer(sign.sourceString, digits.sourceString),
  decimal: (sign, whole, _point, fraction): Value =>
    decimal(sign.sourceString, whole.sourceString, fraction.sourceString),
  string: (characters): Value => ({ kind: 'string', value: characters.children.map(ast<string>).join('') }),
  safe_char: (character) => character.sourceString,
  escaped_char: (_backslash, delimiter) => delimiter.sourceString,
  null: (_tilde): Value => ({ kind: 'null' }),
  array: (_open, items, _close): Value => ({ kind: 'array', items: list<Value>(items) }),
  map: (_open, entries, _close): Value => ({ kind: 'map', entries: list<Param>(entries) }),
  ref: (_dollar, path): Value => ({ kind: 'ref', path: path.sourceString }),
});

/** The number of digits of the longest number below a node. Strings, names and references may have digits, but are not numbers. */
strict.addOperation<number>('longestNumber', {
  integer: (_sign, digits) => digits.numChildren,
  decimal: (_sign, whole, _point, fraction) => whole.numChildren + fraction.numChildren,
  string: (_characters) => 0,
  _terminal: () => 0,
  _nonterminal: (...children) => longestNumber(children),
  _iter: (...children) => longestNumber(children),
});

const lenient = grammars['AccpLenient']!.extendSemantics(strict);
lenient.extendOperation<unknown>('ast', {
  mention(_at, _agent, _colon, _operation): Value {
    return { kind: 'string', value: this.sourceString };
  },
  keyed_item: (key, _colon, text): Value => ({
    kind: 'string',
    value: `${key.sourceString}:${ast<{ value: string }>(text).value}`,
  }),
});

const dialects: Record<'strict' | 'lenient', Semantics> = { strict, lenient };

/** Returns the tree of a frame, without spans; null if the dialect or a limit rejects the text. */
export function parseWithOhm(text: string, dialect: 'strict' | 'lenient', limits: OracleLimits = {}): Frame | null {
  const { maxDepth = 5, maxDigits = 1000 } = limits;
  // Before matching, because Ohm matches recursively. The outermost bracket is that of the payload or the metadata.
  if (deepestBracket(text) - 1 > maxDepth) return null;

  const match = grammars[dialect === 'strict' ? 'Accp' : 'AccpLenient']!.match(text);
  if (match.failed()) return null;
  const root = dialects[dialect](match) as Node;
  // Before any number is converted, because conversion takes more than linear time.
  if (longestNumber([root]) > maxDigits) return null;

  const frame = ast<Frame>(root);
  return repeatsKey(frame.payload) || repeatsKey(frame.metadata ?? []) ? null : frame;
}

function ast<T>(node: Node): T {
  return node['ast']() as T;
}

function list<T>(node: Node): T[] {
  return node.asIteration().children.map(ast<T>);
}

function optional<T>(node: Node): T | undefined {
  return node.children.map(ast<T>)[0];
}

function longestNumber(nodes: readonly Node[]): number {
  return nodes.reduce((longest, node) => Math.max(longest, node['longestNumber']() as number), 0);
}

/** The deepest level of open brackets. An escaped bracket is text; all others nest in a frame. */
function deepestBracket(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [token] of text.matchAll(/\\.|[[\]{}]/gs)) {
    if (token === '[' || token === '{') depth += 1;
    if (token === ']' || token === '}') depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

function repeatsKey(params: readonly Param[]): boolean {
  return (
    new Set(params.map(({ key }) => key)).size < params.length || params.some(({ value }) => repeatsKeyInside(value))
  );
}

function repeatsKeyInside(value: Value): boolean {
  if (value.kind === 'array') return value.items.some(repeatsKeyInside);
  return value.kind === 'map' && repeatsKey(value.entries);
}

function integer(sign: string, digits: string): IntegerValue {
  const magnitude = BigInt(digits);
  const exact = sign === '-' ? -magnitude : magnitude;
  const isSafe = magnitude <= BigInt(Number.MAX_SAFE_INTEGER);
  // A bigint has no negative zero, so neither has the number made from it.
  const node: IntegerValue = { kind: 'integer', value: isSafe ? Number(exact) : exact };
  const text = sign + digits;
  return text === exact.toString() ? node : { ...node, text };
}

function decimal(sign: string, whole: string, fraction: string): DecimalValue {
  const magnitude = nearestDouble(BigInt(whole + fraction), 10n ** BigInt(fraction.length));
  const value = sign === '-' && magnitude !== 0 ? -magnitude : magnitude;
  const text = `${sign}${whole}.${fraction}`;
  return text === canonicalDecimal(value) ? { kind: 'decimal', value } : { kind: 'decimal', value, text };
}

/** The double closest to a fraction of natural numbers, ties to even (IEEE 754-2019, 4.3.1). */
function nearestDouble(numerator: bigint, denominator: bigint): number {
  if (numerator === 0n) return 0;
  const scaled = (exponent: number): [bigint, bigint] =>
    exponent < 0 ? [numerator << BigInt(-exponent), denominator] : [numerator, denominator << BigInt(exponent)];

  // In units of 2^exponent the fraction must have 53 bits. The lengths alone give 53 or 54, so the second is corrected.
  // No double has a finer unit than 2^-1074; below the normal range it has fewer bits instead.
  let exponent = Math.max(bitLength(numerator) - bitLength(denominator) - 53, -1074);
  const [dividend, divisor] = scaled(exponent);
  if (dividend / divisor >= 2n ** 53n) exponent += 1;

  // Both factors are doubles, and so is their product, or it is Infinity.
  return Number(divideHalfToEven(...scaled(exponent))) * 2 ** exponent;
}

/**
 * A double in the form of section 3.1.1: at most six places, trailing zeros stripped, one place kept, no exponent. Its
 * decimal digits are the fewest that read back as the same double, as JavaScript prints them. Infinity has no digits
 * and so no spelling.
 */
function canonicalDecimal(value: number): string | undefined {
  const printed = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(Math.abs(value)));
  if (printed === null) return undefined;
  const [, whole = '', fraction = '', exponent = '0'] = printed;
  const places = fraction.length - Number(exponent);
  const millionths = divideHalfToEven(
    BigInt(whole + fraction) * 10n ** BigInt(Math.max(6 - places, 0)),
    10n ** BigInt(Math.max(places - 6, 0)),
  );
  const digits = millionths.toString().padStart(7, '0');
  const sign = value < 0 && millionths !== 0n ? '-' : '';
  return `${sign}${digits.slice(0, -6)}.${digits.slice(-6).replace(/0{1,5}$/, '')}`;
}

function divideHalfToEven(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  const twiceTheRest = 2n * (dividend % divisor);
  const isOdd = quotient % 2n === 1n;
  return twiceTheRest > divisor || (twiceTheRest === divisor && isOdd) ? quotient + 1n : quotient;
}

function bitLength(natural: bigint): number {
  return natural.toString(2).length;
}
