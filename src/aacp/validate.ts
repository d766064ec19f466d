/** The validator of draft-mackay-aacp-01, section 7. */

import { resolveChoice } from '../text/choice.js';
import type { Diagnostic, Severity } from '../text/diagnostic.js';
import type { Limits } from '../text/limits.js';
import type { Field, Packet } from './ast.js';
import { type Report, runChecks } from './checks.js';
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
import { lowerAscii } from './vocabulary.js';

export interface ValidateOptions extends Pick<Limits, 'maxLength' | 'maxItems'> {
  /** @default 'draft' */
  readonly profile?: Profile | undefined;
  /**
   * Severities of single codes, over those of the profile; `off` drops the finding. That there is a packet to judge
   * (`not-a-packet`, `limit`, `empty-packet`) is not up for choice.
   */
  readonly severities?: Readonly<Partial<Record<ValidationCode, Severity | 'off'>>> | undefined;
  /** Private keys that are known here (section 13); a trailing `*` stands for any ending: `org_*`. */
  readonly privateKeys?: readonly string[] | undefined;
  /** Leave the spans in the returned packet. @default false */
  readonly spans?: boolean | undefined;
}

export type PacketDiagnostic = Diagnostic<ValidationCode>;

export interface ValidationResult {
  /** No errors. Warnings never make a packet invalid (section 7). */
  readonly valid: boolean;
  /** The packet as the tolerant dialect reads it; `null` when the input is no packet, or beyond a limit. */
  readonly packet: Packet | null;
  readonly errors: readonly PacketDiagnostic[];
  readonly warnings: readonly PacketDiagnostic[];
}

/**
 * Checks a packet, given as text or as a tree, against the draft. Never throws on any input: what is no packet gets an
 * error result. Findings come in the order of the checks: TASK, DOM, white space, the fields from left to right, what is
 * missing, what lacks a companion. Each list holds 100 findings at most, and then a `more-findings` that counts the rest.
 *
 * Source: draft-mackay-aacp-01, sections 4 to 7, 13 and 14; the codes and their severities stand in `codes.ts`.
 *
 * @throws TypeError on options that are none
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

/** What most calls ask for, resolved once. */
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

/** Checks the codes and severities that a caller sets, so that a slip of the pen does not silence a finding. */
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
  throw new TypeError('privateKeys must be a list of keys');
}

function readText(text: string, settings: Settings, spans: boolean, report: Report): Packet | null {
  const result = readTolerantly(text, settings, spans);
  if (result.ok) return result.value;
  // The tolerant dialect refuses nothing else.
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

/** A copy of a tree, or `null` when it has not the shape of one. Read once: a getter or proxy may throw, or change. */
function snapshot(input: unknown): Packet | null {
  try {
    const { kind, task, domain, fields } = input as Partial<Packet>;
    if (kind !== 'packet' || typeof task !== 'string' || typeof domain !== 'string' || !Array.isArray(fields))
      return null;
    // Not map: it would skip the holes of a sparse list.
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
