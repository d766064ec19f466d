/** Holds what an implementation says of a text against what the reference says. */
import { visible } from '../../text/visible.js';
import { characterKind } from './causes.js';
import type { Answer, Json, Outcome } from './target.js';
import { treeDifference } from './trees.js';

export const DISAGREEMENT_KINDS = [
  'accepts-invalid',
  'refuses-valid',
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
export function judge(reference: Answer, outcome: Outcome, text = ''): Disagreement | null {
  if (outcome.kind !== 'answer') return failure(outcome);
  const { answer } = outcome;
  const told = (kind: DisagreementKind, key: string, message: string): Disagreement => ({
    kind,
    key,
    message,
    outcome,
  });
  if (!reference.ok) {
    if (!answer.ok) return null;
    const why = reference.message ?? 'The reference refuses it.';
    return told('accepts-invalid', whyInvalid(reference, text), `It is accepted, but it is not valid: ${why}`);
  }
  if (!answer.ok) {
    const own = [answer.code, answer.message].filter((one) => one !== undefined && one !== '').join(': ');
    const said =
      own === '' ? 'It is refused, but it is valid.' : `It is refused, but it is valid. The target says: ${own}`;
    return told('refuses-valid', answer.code ?? digest(answer.message ?? ''), said);
  }
  if (reference.ast !== undefined && answer.ast !== undefined) {
    const difference = treeDifference(reference.ast, answer.ast);
    if (difference !== null) {
      const { path, expected, given } = difference;
      const place = path === '' ? 'the tree' : path;
      return told(
        'different-tree',
        `${lastName(path)}: ${typeOf(expected)}, ${typeOf(given)}`,
        `The tree differs at ${place}: expected ${shown(expected)}, got ${shown(given)}.`,
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

function failure(outcome: Exclude<Outcome, { kind: 'answer' }>): Disagreement {
  switch (outcome.kind) {
    case 'crash':
      return {
        kind: 'crash',
        key: digest(outcome.detail),
        message: `It crashes: ${lastLine(outcome.detail)}`,
        outcome,
      };
    case 'hang':
      return { kind: 'hang', key: '', message: `There is no answer within ${outcome.limit} ms.`, outcome };
    case 'memory':
      return {
        kind: 'memory',
        key: '',
        message: `It takes more than ${Math.round(outcome.limit / 2 ** 20)} MiB.`,
        outcome,
      };
    case 'garbage':
      return {
        kind: 'garbage',
        key: digest(outcome.detail),
        message: `The answer is none: ${outcome.detail}`,
        outcome,
      };
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
