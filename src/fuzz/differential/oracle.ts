import { visible } from '../../text/visible.js';
import { visitExpression } from '../grammar/expressions.js';
import type { Grammar } from '../grammar/grammar.js';
import type { Answer, Failure, Json, Outcome } from './target.js';

/** The ways in which an implementation can disagree with the reference. */
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
/** One of {@link DISAGREEMENT_KINDS}. */
export type DisagreementKind = (typeof DISAGREEMENT_KINDS)[number];

/** A difference between an outcome and the answer of the reference. */
export interface Disagreement {
  /** The kind of the disagreement. */
  readonly kind: DisagreementKind;
  /** Groups disagreements: two with different keys have different causes, two with the same key may have the same cause. */
  readonly key: string;
  /** One sentence for people. */
  readonly message: string;
  /** The outcome of the implementation. */
  readonly outcome: Outcome;
}

/**
 * Compares the outcome of an implementation with the answer of the reference. Trees and canonical texts are compared
 * only if both answers contain them.
 *
 * @param text the text that both have read; it helps to distinguish causes
 * @returns null if both agree
 */
export function compareOutcome(reference: Answer, outcome: Outcome, text = ''): Disagreement | null {
  if (outcome.kind !== 'answer') return failure(outcome);
  const { answer } = outcome;
  const disagreement = (kind: DisagreementKind, key: string, message: string): Disagreement => {
    return { kind, key, message, outcome };
  };
  if (!reference.ok) {
    if (!answer.ok) return null;
    const why = reference.message ?? 'The reference rejects it.';
    return disagreement(
      'accepts-invalid',
      whyInvalid(reference, text),
      `The target accepts the text, but it is not valid: ${why}`,
    );
  }
  if (!answer.ok) {
    const own = [answer.code, answer.message].filter((one) => one !== undefined && one !== '').join(': ');
    const message =
      own === ''
        ? 'The target rejects the text, but it is valid.'
        : `The target rejects the text, but it is valid. The target reports: ${own}`;
    return disagreement('rejects-valid', answer.code ?? digest(answer.message ?? ''), message);
  }
  if (reference.ast !== undefined && answer.ast !== undefined) {
    const difference = treeDifference(reference.ast, answer.ast);
    if (difference !== null) {
      const { path, expected, actual } = difference;
      const place = path === '' ? 'the tree' : path;
      return disagreement(
        'different-tree',
        `${lastName(path)}: ${typeOf(expected)}, ${typeOf(actual)}`,
        `The tree differs at ${place}: expected ${shown(expected)}, got ${shown(actual)}.`,
      );
    }
  }
  const { canonical } = answer;
  if (reference.canonical !== undefined && canonical !== undefined && canonical !== reference.canonical) {
    const message = `The canonical text differs: expected ${shown(reference.canonical)}, got ${shown(canonical)}.`;
    return disagreement('different-canonical', '', message);
  }
  return null;
}

function failure(outcome: Failure): Disagreement {
  const { kind } = outcome;
  switch (kind) {
    case 'crash':
      return { kind, key: digest(outcome.detail), message: `The target crashes: ${lastLine(outcome.detail)}`, outcome };
    case 'hang':
      return { kind, key: '', message: `The target does not answer within ${outcome.timeoutMs} ms.`, outcome };
    case 'memory':
      return {
        kind,
        key: '',
        message: `The target uses more than ${Math.round(outcome.maxBytes / 2 ** 20)} MiB of memory.`,
        outcome,
      };
    case 'garbage':
      return {
        kind,
        key: digest(outcome.detail),
        message: `The target does not follow the adapter protocol: ${outcome.detail}`,
        outcome,
      };
  }
}

/** Classifies the error in a text: its code, its reason, and the kind of the character where reading stops. */
function whyInvalid({ code, reason = 'syntax', offset }: Extract<Answer, { ok: false }>, text: string): string {
  const found = offset === undefined || reason !== 'syntax' ? '' : characterKind(text.charAt(offset));
  return [code, reason, found].join(' ');
}

/** The last name in a path. Indexes are ignored: they do not help to identify a cause. */
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

/** Normalizes the message of a crash. Most languages print it on the last line; quoted parts and numbers vary with the text. */
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

/** Returns a function that reduces a text to its shape: texts that differ only in names and numbers have the same one. */
export function skeletonOf(grammar: Grammar): (text: string) => string {
  const literals = new Set<string>();
  for (const { expression } of grammar.ast.rules) {
    visitExpression(expression, (node) => {
      // Letters and digits in literals are names like all others.
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
 * The class of a character: letters (`a`), digits (`0`), other visible characters (`.`), the space, line feeds, other
 * control characters (`^`), and all characters beyond ASCII (`U`). The empty string stands for the end of a text.
 */
function characterKind(unit: string): string {
  if (/[A-Za-z_]/.test(unit)) return 'a';
  if (/[0-9]/.test(unit)) return '0';
  if (unit === '' || unit === ' ' || unit === '\n') return unit;
  if (unit < ' ' || unit === '\x7f') return '^';
  return unit < '\x7f' ? '.' : 'U';
}

/** The first difference between two trees. */
export interface Difference {
  /** The place as a JSON Pointer (RFC 6901), such as `/payload/0/value`; empty for the root. */
  readonly path: string;
  /** The value in the expected tree; `undefined` if there is none. */
  readonly expected: Json | undefined;
  /** The value in the actual tree; `undefined` if there is none. */
  readonly actual: Json | undefined;
}

/** A path as a linked list from its last step. It is formatted only for the difference that is reported. */
type PathNode = { readonly parent: PathNode; readonly step: string | number } | null;

interface Pair {
  readonly path: PathNode;
  readonly expected: Json | undefined;
  readonly actual: Json | undefined;
}

/** Members that the actual tree may contain even if the expected tree does not. */
const OPTIONAL = new Set(['span', 'text']);

/**
 * Finds the first difference between two trees, in the order of the expected tree. Trees are compared by the rules of
 * `test/conformance/README.md`:
 *
 * - The order of members is irrelevant, and so is the sign of zero.
 * - The actual tree may have a `text` or a `span` where the expected tree has none.
 * - Any other additional member is a difference.
 *
 * Time and memory are linear in the size of the trees, whatever their depth.
 *
 * @returns null if the trees are equal
 */
export function treeDifference(expected: Json, actual: Json): Difference | null {
  const open: Pair[] = [{ path: null, expected, actual }];
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const parts = partsOf(pair);
    if (parts === null) return { path: pointer(pair.path), expected: pair.expected, actual: pair.actual };
    for (let index = parts.length - 1; index >= 0; index--) open.push(parts[index]!);
  }
  return null;
}

/** Splits a pair into the pairs of its parts, in order; null if the two values differ already. */
function partsOf({ path, expected, actual }: Pair): readonly Pair[] | null {
  if (expected === actual) return [];
  if (isArray(expected) && isArray(actual)) {
    const length = Math.max(expected.length, actual.length);
    return Array.from({ length }, (_, step) => pairAt(path, step, expected[step], actual[step]));
  }
  if (!isObject(expected) || !isObject(actual)) return null;
  const members = Object.keys(expected);
  const extra = Object.keys(actual).filter((member) => !Object.hasOwn(expected, member) && !OPTIONAL.has(member));
  return [...members, ...extra].map((step) => pairAt(path, step, member(expected, step), member(actual, step)));
}

function pairAt(parent: PathNode, step: string | number, expected: Json | undefined, actual: Json | undefined): Pair {
  return { path: { parent, step }, expected, actual };
}

function isArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function isObject(value: Json | undefined): value is { readonly [member: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Own members only: `__proto__` may be a key like any other. */
function member(object: { readonly [member: string]: Json }, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function pointer(way: PathNode): string {
  const steps: string[] = [];
  for (let at = way; at !== null; at = at.parent) {
    steps.push(`/${String(at.step).replaceAll('~', '~0').replaceAll('/', '~1')}`);
  }
  return steps.reverse().join('');
}
