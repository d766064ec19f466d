import type { Severity } from '../text/diagnostic.js';

/** The severity of a finding in each profile. Without `interop`, both profiles use `draft`. */
interface Rule {
  readonly draft: Severity;
  readonly interop?: Severity;
  /** The section of draft-mackay-aacp-01 that requires the check. */
  readonly section: string;
}

/**
 * The findings of the validator. Their codes are stable, and the strict parser uses them too. The profile `interop` reports as warnings
 * what packets of v1.0 and of other implementations commonly contain.
 */
export const RULES = {
  'not-a-packet': { draft: 'error', section: '4' },
  limit: { draft: 'error', section: '15' },
  'empty-packet': { draft: 'error', section: '4' },
  'missing-task': { draft: 'error', section: '7' },
  'missing-dom': { draft: 'error', section: '7' },
  // Section 5.1 forbids rejecting unknown words, but 4.1 and 7 require checking them: they are warnings.
  'unknown-task': { draft: 'warning', section: '5.1' },
  'unknown-dom': { draft: 'warning', section: '5.2' },
  'missing-return': { draft: 'error', section: '7' },
  'empty-return': { draft: 'error', section: '7' },
  'missing-aacp': { draft: 'error', section: '4.2' },
  'empty-aacp': { draft: 'error', section: '4.2' },
  'version-mismatch': { draft: 'warning', section: '14' },
  'missing-p': { draft: 'warning', section: '7' },
  'bad-priority': { draft: 'warning', section: '5.3' },
  'unknown-key': { draft: 'warning', section: '4.3' },
  'sentiment-without-tone': { draft: 'warning', section: '7' },
  'ltv-without-ccy': { draft: 'warning', section: '7' },
  'malformed-field': { draft: 'error', interop: 'warning', section: '4' },
  'empty-field': { draft: 'error', interop: 'warning', section: '4' },
  'empty-key': { draft: 'error', section: '4' },
  'empty-value': { draft: 'warning', section: '4.2' },
  // Two readers could disagree about which agent receives the result.
  'duplicate-key': { draft: 'error', interop: 'warning', section: '15' },
  'key-case': { draft: 'warning', section: '4.2' },
  // Prevents line injection and prompt injection. Logs have one line per packet.
  'control-character': { draft: 'error', section: '15' },
  // Occurs only in hand-built packets: printed, the value would become several fields.
  separator: { draft: 'error', section: '4' },
  whitespace: { draft: 'warning', section: '4' },
  // The last entry of a full list, with the number of findings that are not listed.
  'more-findings': { draft: 'warning', section: '15' },
} as const satisfies Readonly<Record<string, Rule>>;

/** The code of a finding of `validatePacket`. `src/aacp/ERRORS.md` describes each of them. */
export type ValidationCode = keyof typeof RULES;

/** Codes whose severity cannot be changed. */
export const FIXED_CODES = [
  'not-a-packet',
  'limit',
  'empty-packet',
  'more-findings',
] as const satisfies readonly ValidationCode[];

/** A code of a parse error: one of the validator, or one for a TASK, DOM or key that does not have the form of v1.1. */
export type ParseCode = ValidationCode | 'bad-task' | 'bad-dom' | 'bad-key';

/** The strictness of the validator. `draft` follows draft-mackay-aacp-01 to the letter; `interop` accepts what other implementations accept. */
export type Profile = 'draft' | 'interop';

export function severityOf(code: ValidationCode, profile: Profile): Severity {
  const rule: Rule = RULES[code];
  return profile === 'interop' ? (rule.interop ?? rule.draft) : rule.draft;
}

/** The maximum number of findings in one list. */
export const MAX_FINDINGS = 100;

export function moreFindings(count: number, severity: Severity) {
  const code = 'more-findings';
  const message = `${count} more ${severity}${count === 1 ? ' is' : 's are'} not listed.`;
  return { code, severity, message, span: null, section: RULES[code].section } as const;
}
