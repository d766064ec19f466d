import type { Severity } from '../text/diagnostic.js';

/** Severities by profile; `interop` follows `draft` where it says nothing. */
interface Rule {
  readonly draft: Severity;
  readonly interop?: Severity;
  /** Section of draft-mackay-aacp-01 that the finding rests on. */
  readonly section: string;
}

/**
 * The findings of the validator, whose codes are stable and shared with the strict parser. `interop` only warns of what
 * packets of v1.0 and of other writers commonly hold.
 */
export const RULES = {
  'not-a-packet': { draft: 'error', section: '4' },
  limit: { draft: 'error', section: '15' },
  'empty-packet': { draft: 'error', section: '4' },
  'missing-task': { draft: 'error', section: '7' },
  'missing-dom': { draft: 'error', section: '7' },
  // 5.1 forbids to reject what 4.1 and 7 ask to check: it is checked, and warned of.
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
  // Two readers could disagree on who gets the result.
  'duplicate-key': { draft: 'error', interop: 'warning', section: '15' },
  'key-case': { draft: 'warning', section: '4.2' },
  // Line and prompt injection; and logs are made of lines.
  'control-character': { draft: 'error', section: '15' },
  // Only in hand-built packets: written out, the value would become further fields.
  separator: { draft: 'error', section: '4' },
  whitespace: { draft: 'warning', section: '4' },
  // Stands last in a list of findings that is full, and counts those that it leaves out.
  'more-findings': { draft: 'warning', section: '15' },
} as const satisfies Readonly<Record<string, Rule>>;

export type ValidationCode = keyof typeof RULES;

/** Findings whose severity is fixed. */
export const FIXED_CODES = [
  'not-a-packet',
  'limit',
  'empty-packet',
  'more-findings',
] as const satisfies readonly ValidationCode[];

/** Further codes, of the strict parser only: a word that a v1.1 writer would not emit. */
export type ParseCode = ValidationCode | 'bad-task' | 'bad-dom' | 'bad-key';

/** `draft` follows the letter of the draft (MUST NOT reject unknown words); `interop` accepts what other implementations do. */
export type Profile = 'draft' | 'interop';

export function severityOf(code: ValidationCode, profile: Profile): Severity {
  const rule: Rule = RULES[code];
  return profile === 'interop' ? (rule.interop ?? rule.draft) : rule.draft;
}

/** Most findings of one list. */
export const MAX_FINDINGS = 100;

export function moreFindings(count: number, severity: Severity) {
  const code = 'more-findings';
  const message = `${count} more ${severity}${count === 1 ? ' is' : 's are'} not listed.`;
  return { code, severity, message, span: null, section: RULES[code].section } as const;
}
