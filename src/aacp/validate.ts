import type { Diagnostic, Severity } from '../text/diagnostic.js';
import { type Limits, resolveChoice } from '../text/limits.js';
import { characterName } from '../text/parser-errors.js';
import type { Span } from '../text/span.js';
import { nearest } from '../text/suggest.js';
import { quotedShort as show } from '../text/visible.js';
import type { Field, Packet } from './ast.js';
import {
  FIXED_CODES,
  MAX_FINDINGS,
  moreFindings,
  type Profile,
  RULES,
  severityOf,
  type ValidationCode,
} from './codes.js';
import { readStrictly, readTolerantly, type Settings, settingsOf } from './parse.js';
import { firstWhiteSpace, type Part, spanOf } from './spans.js';
import { CONTROL, DOMAINS, KEY_NUMBERS, lowerAscii, PRIORITIES, TASKS, VERSION } from './vocabulary.js';

/** Options of `validatePacket`. */
export interface ValidateOptions extends Pick<Limits, 'maxLength' | 'maxItems'> {
  /** The rules to validate by. @default 'draft' */
  readonly profile?: Profile | undefined;
  /** Overrides severities of the profile; `off` suppresses a finding. `not-a-packet`, `limit`, `empty-packet` and `more-findings` cannot be overridden. */
  readonly severities?: Readonly<Partial<Record<ValidationCode, Severity | 'off'>>> | undefined;
  /** Private keys that your deployment uses (section 13). A trailing `*` matches any ending: `org_*`. @default [] */
  readonly privateKeys?: readonly string[] | undefined;
  /** If true, the returned packet has spans. @default false */
  readonly spans?: boolean | undefined;
}

/** A finding of the validator. */
export type PacketDiagnostic = Diagnostic<ValidationCode>;

/** The result of `validatePacket`. */
export interface ValidationResult {
  /** `true` if there are no errors. Warnings never make a packet invalid (section 7). */
  readonly valid: boolean;
  /** The packet as the tolerant dialect reads it; `null` if the input is not a packet or exceeds a limit. */
  readonly packet: Packet | null;
  /** The errors, at most 100, in the order of the checks. */
  readonly errors: readonly PacketDiagnostic[];
  /** The warnings, at most 100, in the order of the checks. */
  readonly warnings: readonly PacketDiagnostic[];
}

/**
 * Validates a packet, given as text or tree, against the draft. Never throws because of the packet. Findings are in the order of the
 * checks: TASK, DOM, white space, fields from left to right, missing fields, missing companions. Each list has at most 100 findings,
 * followed by one `more-findings`. Source: draft-mackay-aacp-01, sections 4 to 7, 13 and 14.
 *
 * @throws TypeError if an option is invalid
 * @example
 * const { valid, errors, warnings } = validatePacket('FECH|HR|return:HR-Agent|p:1');
 * // valid: false, errors[0].code: 'missing-aacp', warnings[0].help: 'did you mean "FETCH"?'
 */
export function validatePacket(input: string | Packet, options?: ValidateOptions): ValidationResult {
  const { profile, severities, privateKeys, settings } = options === undefined ? DEFAULTS : resolveOptions(options);
  const errors: PacketDiagnostic[] = [];
  const warnings: PacketDiagnostic[] = [];
  const more = { error: 0, warning: 0 };
  const report: Report = (code, message, span, help, related) => {
    const severity = severities[code] ?? severityOf(code, profile);
    if (severity === 'off') return;
    const findings = severity === 'error' ? errors : warnings;
    if (findings.length >= MAX_FINDINGS) {
      more[severity]++;
      return;
    }
    const finding = { code, severity, message, span, section: RULES[code].section };
    Object.assign(finding, help && { help }, related && { related: [related] });
    findings.push(finding);
  };

  const text = typeof input === 'string' ? input : null;
  const strict = text !== null && readStrictly(text, settings);
  const packet = strict || (text === null ? readTree(input, report) : readText(text, settings, settings.spans, report));
  let places: Packet | null = null;
  const located = (): Packet => {
    places ??= text === null ? packet : readText(text, settings, true, report);
    return places!;
  };
  if (packet !== null) {
    runChecks({ packet, text, strict: !!strict, located, privateKeys, report, known: [], others: new Map() });
  }
  if (more.error > 0) errors.push(moreFindings(more.error, 'error'));
  if (more.warning > 0) warnings.push(moreFindings(more.warning, 'warning'));
  return { valid: errors.length === 0, packet, errors, warnings };
}

const DEFAULTS = resolveOptions({});

function resolveOptions(options: ValidateOptions) {
  const { maxLength, maxItems, spans } = options;
  return {
    profile: resolveChoice('profile', options.profile, ['draft', 'interop']),
    severities: resolveSeverities(options.severities ?? {}),
    privateKeys: resolvePrivateKeys(options.privateKeys ?? []),
    settings: settingsOf({ maxLength, maxItems, spans }),
  };
}

/** Rejects misspelt codes and severities, which would suppress a finding. */
function resolveSeverities(
  severities: NonNullable<ValidateOptions['severities']>,
): NonNullable<ValidateOptions['severities']> {
  for (const [code, severity] of Object.entries(severities)) {
    resolveChoice('a code in severities', code, Object.keys(RULES));
    resolveChoice(`severities['${code}']`, severity, ['error', 'warning', 'off']);
    if ((FIXED_CODES as readonly string[]).includes(code)) throw new TypeError(`the severity of ${code} is fixed`);
  }
  return severities;
}

function resolvePrivateKeys(keys: readonly string[]): readonly string[] {
  if (Array.isArray(keys) && keys.every((key) => typeof key === 'string')) return keys.map(lowerAscii);
  throw new TypeError('privateKeys must be a list of strings');
}

function readText(text: string, settings: Settings, spans: boolean, report: Report): Packet | null {
  const result = readTolerantly(text, settings, spans);
  if (result.ok) return result.value;
  // The tolerant dialect rejects texts only for their size.
  const { message, span, help } = result.error;
  report('limit', message, span, help);
  return null;
}

function readTree(input: unknown, report: Report): Packet | null {
  const packet = snapshot(input);
  if (packet === null) {
    const found = input === null ? 'null' : typeof input;
    report('not-a-packet', `Expected a packet or its text, found ${found}.`, null);
  }
  return packet;
}

/** Copies a tree; returns `null` if it is not a packet. Reads each member once: a getter or proxy may throw, or change its value. */
function snapshot(input: unknown): Packet | null {
  try {
    const { kind, task, domain, fields } = input as Partial<Packet>;
    if (kind !== 'packet' || typeof task !== 'string' || typeof domain !== 'string' || !Array.isArray(fields))
      return null;
    // Not map, which skips the holes of a sparse list.
    const copies = Array.from(fields as readonly Field[], withoutSpan);
    const whole = copies.every(({ key, value }) => typeof key === 'string' && typeof value === 'string');
    return whole ? { kind, task, domain, fields: copies } : null;
  } catch {
    return null;
  }
}

function withoutSpan({ key, value, bare }: Field): Field {
  return bare ? { key, value, bare } : { key, value };
}

type Report = (
  code: ValidationCode,
  message: string,
  span: Span | null,
  help?: string | undefined,
  related?: Span | null | undefined,
) => void;

interface Context {
  readonly packet: Packet;
  /** The source text; `null` for a hand-built packet, whose findings have no spans. */
  readonly text: string | null;
  /** `true` if the text parsed strictly: its keys are in lower case, and it has no white space or control characters to report. */
  readonly strict: boolean;
  /** Returns the packet with spans, which is read for the first finding that needs them. */
  readonly located: () => Packet;
  /** In lower case. */
  readonly privateKeys: readonly string[];
  readonly report: Report;
  /** The first field of each known key, by number; filled by `checkFields`, as is `others`. */
  readonly known: (number | undefined)[];
  /** The first field of each other key, in lower case. */
  readonly others: Map<string, number>;
}

const SEPARATOR = '|';

/** The maximum number of keys for which a similar known key is searched. */
const MAX_SUGGESTED = 1_000;

function runChecks(context: Context): void {
  const { packet, text, report } = context;
  if ((text ?? packet.task + packet.domain).trim() === '' && packet.fields.length === 0) {
    report('empty-packet', 'The packet is empty.', text === null ? null : { start: 0, end: text.length });
    return;
  }
  checkTask(context);
  checkDomain(context);
  checkWhiteSpace(context);
  checkFields(context);
  checkMissing(context);
  checkCompanions(context);
}

/** Reports a finding about a part of the packet. `number` and `related` are indices of fields. */
function reportAt(
  { located, text, report }: Context,
  code: ValidationCode,
  message: string,
  part: Part,
  number: number,
  help?: string | undefined,
  related?: number | undefined,
): void {
  const packet = located();
  const other = related === undefined ? null : spanOf('field', packet, text, related);
  report(code, message, spanOf(part, packet, text, number), help, other);
}

function checkTask(context: Context): void {
  const { task } = context.packet;
  if (task === '') {
    reportAt(context, 'missing-task', 'Field 0, the TASK, is empty.', 'TASK', 0, oneOf(TASKS));
    return;
  }
  if (!Object.hasOwn(TASKS, task)) {
    const help = /^@[^>]*>/.test(task)
      ? 'this looks like an ACCP frame'
      : Object.hasOwn(DOMAINS, task)
        ? `"${task}" is a DOM; is the TASK missing?`
        : suggest(task, Object.keys(TASKS));
    reportAt(context, 'unknown-task', `The TASK ${show(task)} is not one of v${VERSION}.`, 'TASK', 0, help);
  }
  checkCharacters(context, task, 'TASK');
}

function checkDomain(context: Context): void {
  const { domain } = context.packet;
  if (domain === '') {
    reportAt(context, 'missing-dom', 'Field 1, the DOM, is empty or missing.', 'DOM', 0, oneOf(DOMAINS));
    return;
  }
  if (!Object.hasOwn(DOMAINS, domain)) {
    const help = domain.includes(':')
      ? 'a named field is in the place of the DOM'
      : suggest(domain, Object.keys(DOMAINS));
    reportAt(context, 'unknown-dom', `The DOM ${show(domain)} is not one of v${VERSION}.`, 'DOM', 0, help);
  }
  checkCharacters(context, domain, 'DOM');
}

/** Reports white space once per packet: a wrapped packet has it at the end of every line. */
function checkWhiteSpace({ text, strict, located, report }: Context): void {
  const span = text === null || strict ? null : firstWhiteSpace(located(), text);
  if (span !== null)
    report('whitespace', 'There is white space around a token, which parsers remove.', span, 'remove it');
}

function checkFields(context: Context): void {
  const { fields } = context.packet;
  for (let number = 0; number < fields.length; number++) {
    const field = fields[number]!;
    if (field.bare) checkBareField(context, field.value, number);
    else checkField(context, field, number);
  }
}

function checkBareField(context: Context, value: string, number: number): void {
  if (value === '') {
    reportAt(
      context,
      'empty-field',
      'There is an empty field between two separators.',
      'field',
      number,
      'remove one "|"',
    );
  } else {
    const message = `The field ${show(value)} has no colon.`;
    reportAt(context, 'malformed-field', message, 'field', number, 'write fields as key:value');
  }
  checkCharacters(context, value, 'field', number);
}

function checkField(context: Context, field: Field, number: number): void {
  const { strict, known, others, privateKeys } = context;
  const key = strict ? field.key : lowerAscii(field.key);
  if (key !== field.key) {
    const message = `The key ${show(field.key)} contains capital letters.`;
    reportAt(context, 'key-case', message, 'key', number, `write ${show(key)}`);
  }
  const keyNumber = KEY_NUMBERS.get(key);
  const earlier = keyNumber === undefined ? others.get(key) : known[keyNumber];
  if (key === '') {
    reportAt(context, 'empty-key', 'The field has no key.', 'field', number);
  } else if (earlier !== undefined) {
    const message = `The key ${show(key)} is repeated; readers disagree on which field counts.`;
    reportAt(context, 'duplicate-key', message, 'key', number, 'remove one of the two', earlier);
  } else {
    if (keyNumber !== undefined) known[keyNumber] = number;
    else {
      others.set(key, number);
      if (!privateKeys.some((one) => (one.endsWith('*') ? key.startsWith(one.slice(0, -1)) : key === one))) {
        // So many keys are not misspellings, and comparing them takes long.
        const help = others.size > MAX_SUGGESTED ? undefined : suggest(key, KEY_NUMBERS.keys());
        const message = `The key ${show(field.key)} is not one of v${VERSION}.`;
        reportAt(context, 'unknown-key', message, 'key', number, help);
      }
    }
    checkValue(context, key, field.value, number);
  }
  checkCharacters(context, field.key, 'key', number);
  checkCharacters(context, field.value, 'value', number);
}

function checkValue(context: Context, key: string, value: string, number: number): void {
  // Any Unicode white space counts as empty.
  if (value.trim() === '') {
    if (key === 'return')
      reportAt(context, 'empty-return', 'The field return is empty: it must name an agent.', 'value', number);
    else if (key === 'aacp')
      reportAt(
        context,
        'empty-aacp',
        'The field aacp is empty: it must name a version.',
        'value',
        number,
        `write "aacp:${VERSION}"`,
      );
    else reportAt(context, 'empty-value', `The field ${show(key)} is empty.`, 'value', number, 'remove it');
  } else if (key === 'aacp' && value !== VERSION) {
    const message = `The packet has version ${show(value)}; the draft defines ${VERSION}.`;
    reportAt(context, 'version-mismatch', message, 'value', number);
  } else if (key === 'p' && !Object.hasOwn(PRIORITIES, value)) {
    const message = `The priority ${show(value)} is not 1, 2 or 3.`;
    reportAt(context, 'bad-priority', message, 'value', number, 'p is 1 (critical), 2 (medium) or 3 (low)');
  }
}

function checkMissing(context: Context): void {
  if (firstOf(context, 'return') === undefined)
    reportAt(
      context,
      'missing-return',
      'The field return is missing: no agent receives the result.',
      'end',
      0,
      'add "return:AGENT"',
    );
  if (firstOf(context, 'aacp') === undefined)
    reportAt(
      context,
      'missing-aacp',
      'The field aacp, which names the version, is missing.',
      'end',
      0,
      `add "aacp:${VERSION}"`,
    );
  if (firstOf(context, 'p') === undefined)
    reportAt(context, 'missing-p', 'The field p is missing: the priority defaults to 2.', 'end', 0, 'add "p:2"');
}

/** Reports fields that require another one. An empty companion counts as absent. */
function checkCompanions(context: Context): void {
  const sentiment = present(context, 'sentiment');
  if (sentiment !== undefined && present(context, 'tone') === undefined) {
    const help = 'add "tone:empathetic", "tone:formal" or "tone:terse"';
    reportAt(context, 'sentiment-without-tone', 'The packet has a sentiment but no tone.', 'key', sentiment, help);
  }
  const ltv = present(context, 'ltv');
  if (ltv !== undefined && present(context, 'ccy') === undefined)
    reportAt(
      context,
      'ltv-without-ccy',
      'The packet has a lifetime value but no currency.',
      'key',
      ltv,
      'add a ccy field',
    );
}

function firstOf({ known }: Context, key: string): number | undefined {
  return known[KEY_NUMBERS.get(key)!];
}

/** Returns the index of the first field of a key; `undefined` also if that field is empty. */
function present(context: Context, key: string): number | undefined {
  const number = firstOf(context, key);
  return number === undefined || context.packet.fields[number]!.value.trim() === '' ? undefined : number;
}

/** Reports characters that a token cannot contain. Only hand-built packets can contain separators. */
function checkCharacters(context: Context, token: string, part: Part, number = 0): void {
  const { strict, located, text, report } = context;
  if (strict) return;
  const control = CONTROL.exec(token);
  if (control !== null) {
    const span = spanOf(part, located(), text, number);
    const start = (span?.start ?? 0) + control.index;
    const at = span === null ? null : { start, end: start + 1 };
    report('control-character', `A ${part} contains a control character (${characterName(control[0])}).`, at);
  }
  if (token.includes(SEPARATOR) || (part === 'key' && token.includes(':'))) {
    const message = `A ${part} contains a separator: printed, it would become several fields.`;
    reportAt(context, 'separator', message, part, number);
  }
}

function oneOf(words: Readonly<Record<string, string>>): string {
  return `one of ${Object.keys(words).join(', ')}`;
}

function suggest(word: string, known: Iterable<string>): string | undefined {
  const near = nearest(word, known);
  return near === undefined ? undefined : `did you mean "${near}"?`;
}
