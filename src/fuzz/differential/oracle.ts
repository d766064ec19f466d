import { visible } from '../../text/visible.js';
import { visitExpression } from '../grammar/expressions.js';
import type { Grammar } from '../grammar/grammar.js';
import type { Answer, Failure, Json, Outcome } from './target.js';

/** Holds what an implementation says of a text against what the reference says. */
export const DISAGREEMENT_KINDS = [
  'accepts-invalid',
  'rejects-valid',
  'different-tree',
  'different-canonical',
  'crash',
  'hang',
  'memory',
  'garbage',
] as const;
export type DisagreementKind = (typeof DISAGREEMENT_KINDS)[number];

export interface Disagreement {
  readonly kind: DisagreementKind;
  /** Differs only where the cause must be another one; the same for texts that may have one cause. */
  readonly key: string;
  /** One sentence for people. */
  readonly message: string;
  /** What the implementation said. */
  readonly outcome: Outcome;
}

/**
 * @param text what both were asked; it helps to tell causes apart
 * @returns null where both agree. A tree or a canonical text is compared only where both give one.
 */
export function compareOutcome(reference: Answer, outcome: Outcome, text = ''): Disagreement | null {
  if (outcome.kind !== 'answer') return failure(outcome);
  const { answer } = outcome;
  const told = (kind: DisagreementKind, key: string, message: string): Disagreement => {
    return { kind, key, message, outcome };
  };
  if (!reference.ok) {
    if (!answer.ok) return null;
    const why = reference.message ?? 'The reference refuses it.';
    return told('accepts-invalid', whyInvalid(reference, text), `It is accepted, but it is not valid: ${why}`);
  }
  if (!answer.ok) {
    const own = [answer.code, answer.message].filter((one) => one !== undefined && one !== '').join(': ');
    const said =
      own === '' ? 'It is refused, but it is valid.' : `It is refused, but it is valid. The target says: ${own}`;
    return told('rejects-valid', answer.code ?? digest(answer.message ?? ''), said);
  }
  if (reference.ast !== undefined && answer.ast !== undefined) {
    const difference = treeDifference(reference.ast, answer.ast);
    if (difference !== null) {
      const { path, expected, actual } = difference;
      const place = path === '' ? 'the tree' : path;
      return told(
        'different-tree',
        `${lastName(path)}: ${typeOf(expected)}, ${typeOf(actual)}`,
        `The tree differs at ${place}: expected ${shown(expected)}, got ${shown(actual)}.`,
      );
    }
  }
  const { canonical } = answer;
  if (reference.canonical !== undefined && canonical !== undefined && canonical !== reference.canonical) {
    const message = `The canonical text differs: expected ${shown(reference.canonical)}, got ${shown(canonical)}.`;
    return told('different-canonical', '', message);
  }
  return null;
}

function failure(outcome: Failure): Disagreement {
  const { kind } = outcome;
  switch (kind) {
    case 'crash':
      return { kind, key: digest(outcome.detail), message: `It crashes: ${lastLine(outcome.detail)}`, outcome };
    case 'hang':
      return { kind, key: '', message: `There is no answer within ${outcome.limitMs} ms.`, outcome };
    case 'memory':
      return { kind, key: '', message: `It takes more than ${Math.round(outcome.limitBytes / 2 ** 20)} MiB.`, outcome };
    case 'garbage':
      return { kind, key: digest(outcome.detail), message: `The answer is none: ${outcome.detail}`, outcome };
  }
}

/** Of what kind the fault is: its code, its reason, and what stands where reading ends. */
function whyInvalid({ code, reason = 'syntax', offset }: Extract<Answer, { ok: false }>, text: string): string {
  const found = offset === undefined || reason !== 'syntax' ? '' : characterKind(text.charAt(offset));
  return [code, reason, found].join(' ');
}

/** The name that a path ends in: places in lists say nothing of a cause. */
function lastName(path: string): string {
  return path.split('/').findLast((step) => step !== '' && !/^[0-9]+$/.test(step)) ?? '';
}

function typeOf(value: Json | undefined): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function shown(value: Json | undefined): string {
  if (value === undefined) return 'nothing';
  const text = visible(JSON.stringify(value));
  return text.length > 160 ? `${text.slice(0, 160)}...` : text;
}

/** The message of a crash stands in the last line of most languages; what is quoted or counted in it changes with the text. */
function digest(detail: string): string {
  return lastLine(detail)
    .replace(/(["'`])[\s\S]*\1/g, '...')
    .replace(/[0-9]+/g, '0')
    .slice(0, 80);
}

function lastLine(detail: string): string {
  const lines = detail.split('\n').filter((line) => line.trim() !== '' && !/^ +at |^Node\.js v/.test(line));
  return lines.findLast((line) => /Error|error|panic|exception/.test(line)) ?? lines.at(-1) ?? detail;
}

/** What is alike in texts that differ only in their names and numbers. */
export function skeletonOf(grammar: Grammar): (text: string) => string {
  const literals = new Set<string>();
  for (const { expression } of grammar.ast.rules) {
    visitExpression(expression, (node) => {
      // Words are names like others.
      if (node.type === 'literal') for (const unit of node.value) if (!/[A-Za-z0-9]/.test(unit)) literals.add(unit);
    });
  }
  return (text) =>
    [...text]
      .map((unit) => kindOf(unit, literals))
      .join('')
      .replace(/[a0]*a[a0]*/g, 'a')
      .replace(/(0|\.|\^|U)\1+/g, '$1');
}

function kindOf(unit: string, literals: ReadonlySet<string>): string {
  return literals.has(unit) && unit !== '_' ? unit : characterKind(unit);
}

/**
 * What readers tell apart: letters (`a`), digits (`0`), other visible characters (`.`), the space, line feeds, other controls (`^`)
 * and all beyond ASCII (`U`). The end of a text stays empty.
 */
function characterKind(unit: string): string {
  if (/[A-Za-z_]/.test(unit)) return 'a';
  if (/[0-9]/.test(unit)) return '0';
  if (unit === '' || unit === ' ' || unit === '\n') return unit;
  if (unit < ' ' || unit === '\x7f') return '^';
  return unit < '\x7f' ? '.' : 'U';
}

/** The first difference of two trees; a value that is absent on one side is `undefined`. */
export interface Difference {
  /** JSON Pointer (RFC 6901): `/payload/0/value`; empty for the whole. */
  readonly path: string;
  readonly expected: Json | undefined;
  readonly actual: Json | undefined;
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
    if (parts === null) return { path: pointer(pair.way), expected: pair.expected, actual: pair.given };
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
