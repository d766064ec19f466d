/** Advice on what a packet holds, beyond whether it is valid. */
import { quotedShort as show } from '../../text/visible.js';
import type { Field, Packet } from '../ast.js';
import { KNOWN_TO_RECEIVER } from '../build/packet.js';
import { resolveReceiver } from '../build/receiver.js';
import { MAX_FINDINGS, moreFindings } from '../codes.js';
import type { Receiver } from '../encoders/result.js';
import { parsePacket } from '../parse.js';
import { lowerAscii } from '../vocabulary.js';
import type { LintCode, LintDiagnostic } from './codes.js';
import { isCurrency, isPeriod } from './forms.js';
import { findInvisible } from './invisible.js';
import { findSensitive } from './sensitive.js';

export interface LintOptions {
  /** Who reads the packet: decides which fields say nothing new. */
  readonly receiver?: Receiver | undefined;
}

const SECTIONS: Readonly<Record<Exclude<LintCode, 'more-findings'>, string>> = {
  'sensitive-value': '15',
  'invisible-character': '15',
  'period-form': '4.2',
  'currency-form': '4.3',
  'redundant-field': '9',
};

/**
 * Warns of values that look like personal data, financial records or credentials, which must not be in a packet; of invisible
 * characters in values, and such that turn the text around them; of periods and currencies that do not look like one; and of
 * fields that the receiver does not need. Findings come in the order of the fields. A message says what a value looks like and
 * never what it is, so that it can be logged; a text's findings have the place. The list holds 100 findings at most, and then a
 * `more-findings` that counts the rest.
 *
 * It judges by shapes and check sums: what it does not find may be sensitive all the same.
 *
 * Source: draft-mackay-aacp-01, sections 15, 4.2 and 9.
 *
 * @throws ParseError on a text beyond the limits, or no text
 * @throws TypeError on options that are none
 * @example
 * lintPacket('FETCH|CS|return:CS-Agent|aacp:1.1|filter:email=jo@example.com')[0].message
 * // 'The value of "filter" looks like an e-mail address.'
 */
export function lintPacket(packet: Packet | string, options: LintOptions = {}): readonly LintDiagnostic[] {
  const { knowsFields } = resolveReceiver(options);
  const { fields } =
    typeof packet === 'string' ? parsePacket(packet, { dialect: 'tolerant', spans: true }) : checkedTree(packet);
  const fromText = typeof packet === 'string';
  const all = Array.from(fields, (field) => [
    ...(knowsFields ? redundancy(field) : []),
    ...lintValue(field, fromText),
  ]).flat();
  if (all.length <= MAX_FINDINGS) return all;
  return [...all.slice(0, MAX_FINDINGS), moreFindings(all.length - MAX_FINDINGS, 'warning')];
}

function checkedTree(packet: Packet): Packet {
  if (Array.isArray(packet?.fields)) return packet;
  throw new TypeError('packet must be a packet or its text');
}

function redundancy({ key, span }: Field): readonly LintDiagnostic[] {
  if (!KNOWN_TO_RECEIVER.includes(lowerAscii(String(key)))) return [];
  const message = `The receiver has what the field ${show(key)} says.`;
  return [warning('redundant-field', message, span ?? null, 'leave it out')];
}

/** Places of a text's findings lie in it; those of a tree are `null`. */
function lintValue({ key, value, bare, span }: Field, fromText: boolean): readonly LintDiagnostic[] {
  if (typeof value !== 'string') return [];
  const lower = bare ? '' : lowerAscii(String(key));
  const name = bare ? 'A field without a key' : `The value of ${show(String(key))}`;
  // The span of a field ends where its value ends.
  const offset = fromText && span !== undefined ? span.end - value.length : null;
  const placeOf = (start: number, end: number): LintDiagnostic['span'] =>
    offset === null ? null : { start: offset + start, end: offset + end };
  return [
    ...findSensitive(value, lower).map(({ kind, start, end }) =>
      warning('sensitive-value', `${name} looks like ${kind}.`, placeOf(start, end), KEEP_ELSEWHERE),
    ),
    ...findInvisible(value).map(({ name: character, turns, start, end }) => {
      const what = turns ? 'turns the direction of the text' : 'cannot be seen';
      const message = `${name} holds a character that ${what} (${character}).`;
      return warning('invisible-character', message, placeOf(start, end), 'take it out, unless it belongs there');
    }),
    ...(lower === 'period' && value !== '' && !isPeriod(value)
      ? [periodForm(`${name} does not look like a period.`, placeOf(0, value.length))]
      : []),
    ...(lower === 'ccy' && value !== '' && !isCurrency(value)
      ? [warning('currency-form', `${name} is not three capital letters.`, placeOf(0, value.length), 'such as GBP')]
      : []),
  ];
}

const KEEP_ELSEWHERE = 'keep it where access is controlled, and name the place in data_ptr';

/** The finding for a period that does not look like one. */
export function periodForm(message: string, span: LintDiagnostic['span']): LintDiagnostic {
  return warning('period-form', message, span, 'write it as 2024-08, 2026-Q2, FY2025-26 or 2026-06-02..2026-07-09');
}

function warning(
  code: keyof typeof SECTIONS,
  message: string,
  span: LintDiagnostic['span'],
  help: string,
): LintDiagnostic {
  return { code, severity: 'warning', message, span, section: SECTIONS[code], help };
}
