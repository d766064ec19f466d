import type { Diagnostic } from '../../text/diagnostic.js';
import { codePointName, quotedShort as show, visibleCodePoint } from '../../text/visible.js';
import type { Field, Packet } from '../ast.js';
import { KNOWN_TO_RECEIVER, type Receiver, resolveReceiver } from '../build/packet.js';
import { MAX_FINDINGS, moreFindings } from '../codes.js';
import { parsePacket } from '../parse.js';
import { lowerAscii } from '../vocabulary.js';
import { findSensitive } from './sensitive.js';

/**
 * The code of a finding of the linter. `sensitive-value`: looks like personal data, a financial record or a credential (section 15).
 * `invisible-character`: is invisible, or changes the direction of the text around it (section 15). `period-form`: is not "YYYY-MM or similar"
 * (section 4.2). `currency-form`: is not three capital letters (ISO 4217). `redundant-field`: is known to the receiver (sections 4.2 and 9).
 * `more-findings`: the number of findings that are not listed. `src/aacp/ERRORS.md` describes each of them.
 */
export type LintCode =
  | 'sensitive-value'
  | 'invisible-character'
  | 'period-form'
  | 'currency-form'
  | 'redundant-field'
  | 'more-findings';

/** A finding of `lintPacket`. */
export type LintDiagnostic = Diagnostic<LintCode>;

/** Options of `lintPacket`. */
export interface LintOptions {
  /** The agent that reads the packet, which decides what fields are redundant. @default an agent that knows nothing in advance */
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
 * Warns about sensitive values, which must not be in a packet; about invisible characters; about malformed periods and currencies; and about
 * fields that the receiver does not need. Findings are in the order of the fields, at most 100, followed by one `more-findings`. Messages
 * describe a value without repeating it, so that they can be logged. Detection uses forms and checksums: other values may be sensitive
 * nevertheless. Source: draft-mackay-aacp-01, sections 15, 4.2 and 9.
 *
 * @throws ParseError if the text exceeds a limit, or is not a string
 * @throws TypeError if an option is invalid
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
  const message = `The receiver already knows the content of the field ${show(key)}.`;
  return [warning('redundant-field', message, span ?? null, 'remove it')];
}

function lintValue({ key, value, bare, span }: Field, fromText: boolean): readonly LintDiagnostic[] {
  if (typeof value !== 'string') return [];
  const lower = bare ? '' : lowerAscii(String(key));
  const name = bare ? 'A field without a key' : `The value of ${show(String(key))}`;
  // The span of a field ends with its value.
  const offset = fromText && span !== undefined ? span.end - value.length : null;
  const placeOf = (start: number, end: number): LintDiagnostic['span'] =>
    offset === null ? null : { start: offset + start, end: offset + end };
  return [
    ...findSensitive(value, lower).map(({ kind, start, end }) =>
      warning('sensitive-value', `${name} looks like ${kind}.`, placeOf(start, end), KEEP_ELSEWHERE),
    ),
    ...findInvisible(value).map(({ name: character, turns, start, end }) => {
      const what = turns ? 'reverses the direction of the text' : 'cannot be seen';
      const message = `${name} contains a character that ${what} (${character}).`;
      return warning('invisible-character', message, placeOf(start, end), 'remove it, unless it is intended');
    }),
    ...(lower === 'period' && value !== '' && !isPeriod(value)
      ? [periodForm(`${name} does not look like a period.`, placeOf(0, value.length))]
      : []),
    ...(lower === 'ccy' && value !== '' && !CURRENCY.test(value)
      ? [warning('currency-form', `${name} is not three capital letters.`, placeOf(0, value.length), 'such as GBP')]
      : []),
  ];
}

const KEEP_ELSEWHERE = 'store it with access control, and refer to it by data_ptr';

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

/** A day, a month, a week, a quarter, a half, a year, a fiscal year or quarter: `2024-08`, `2026-Q2`, `FY2025-26`. */
const MONTH = '(?:0[1-9]|1[0-2])';
const DAY = '(?:0[1-9]|[12][0-9]|3[01])';
const HOUR = '(?:[01][0-9]|2[0-4])';
const CLOCK = `T${HOUR}(?::?[0-5][0-9](?::?[0-5][0-9])?)?(?:Z|[+-]${HOUR}(?::?[0-5][0-9])?)?`;
const PART = '[-_]?(?:[Qq][1-4]|[Hh][12]|[Ww](?:0[1-9]|[1-4][0-9]|5[0-3])(?:-?[1-7])?)';
const YEAR = '[0-9]{4}';
const FISCAL = `FY[-_]?(?:${YEAR}|[0-9]{2})(?:[-_/](?:${YEAR}|[0-9]{2}))?(?:[-_]?[Qq][1-4])?`;
const DATE = `${YEAR}(?:[-_]${MONTH}(?:[-_]${DAY}(?:${CLOCK})?)?|${MONTH}(?:${DAY}(?:${CLOCK})?)?|${PART})?`;
/** A duration of ISO 8601: `P3M`, `PT8H`. */
const DURATION = 'P(?=[0-9T])(?:[0-9]{1,6}[YMWD]){0,4}(?:T(?:[0-9]{1,6}[HMS]){1,3})?';
const UNIT = '(?:day|week|month|quarter|half|year)';
/** Periods relative to the time of reading: `current`, `last_quarter`, `last_30_days`, `ytd`. */
const RELATIVE = `(?:today|yesterday|tomorrow|all|[ymqw]td|(?:this|current|last|previous|prior|next)(?:[-_](?:[0-9]{1,4}[-_])?${UNIT}s?)?)`;
const ONE = `(?:${FISCAL}|[Qq][1-4][-_]${YEAR}|${DATE}|${DURATION}|${RELATIVE})`;

/** One period, or a range of two. */
const PERIOD = new RegExp(`^${ONE}(?:(?:\\.\\.|/|_to_|--)${ONE})?$`);
/** The form of a currency code. The codes themselves change over the years. */
const CURRENCY = /^[A-Z]{3}$/;

/** Returns whether a text is "YYYY-MM or similar" (section 4.2), or several of them. Runs in linear time. */
export function isPeriod(text: string): boolean {
  return text.split(',').every((one) => PERIOD.test(one.trim()));
}

const ASCII = /^[ -~]*$/;
/** Embeddings, overrides, isolates and marks of the bidirectional algorithm (UAX #9). */
const BIDIRECTIONAL = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
/** Invisible parts of emoji (UTS #51): selectors, joiners, tags of flags. */
const PICTURES =
  /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}])\ufe0f|(?<=[0-9#*])\ufe0f(?=\u20e3)|(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}]|\ufe0f)\u200d(?=\p{Extended_Pictographic})|(?<=\u{1f3f4})[\u{e0061}-\u{e007a}]{5}\u{e007f}/gu;
/** Joiners between letters of scripts that require them (RFC 5892, appendix A). */
const JOINED =
  /(?<=[\p{L}\p{M}])(?<![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Han}])[\u200c\u200d](?=\p{L})(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Han}])/gu;

/** Finds invisible characters in order, with adjacent ones merged. Includes blanks that look like a space. */
function findInvisible(value: string) {
  const found: { readonly name: string; readonly turns: boolean; readonly start: number; end: number }[] = [];
  if (ASCII.test(value)) return found;
  const usual = usualIn(value);
  let at = 0;
  for (const character of value) {
    const start = at;
    at += character.length;
    const code = character.codePointAt(0)!;
    if (usual.has(start) || visibleCodePoint(code) === character) continue;
    const turns = BIDIRECTIONAL.test(character);
    const last = found.at(-1);
    if (last?.end === start && last.turns === turns) last.end = at;
    else found.push({ name: codePointName(code), turns, start, end: at });
  }
  return found;
}

/** Returns the offsets of invisible characters that are required where they are. */
function usualIn(value: string): ReadonlySet<number> {
  const usual = new Set<number>();
  for (const pattern of [PICTURES, JOINED]) {
    for (const { 0: text, index } of value.matchAll(pattern)) {
      for (let at = index; at < index + text.length; at++) usual.add(at);
    }
  }
  return usual;
}
