/** Changes of a text that may remove an error or a warning in it. */
import type { Severity } from './diagnostic.js';
import type { Span } from './span.js';

/** A replacement of a part of a text. */
export interface Fix {
  /** The change as a command: `Remove "|"`. */
  readonly title: string;
  readonly span: Span;
  readonly text: string;
  /** `true` if the error remains, but farther behind. */
  readonly isPartial?: boolean;
}

/** The parts of a diagnostic that decide whether a fix helps. */
interface Finding {
  readonly code: string;
  readonly severity: Severity | 'information' | 'hint';
  readonly span: Span;
  readonly help?: string | undefined;
}

/** Each finding and each candidate checks the whole text, so longer texts get no fixes. */
const MAX_FIXED = 2000;

/** Applies a fix to its text. */
export function applyFix(text: string, { span, text: inserted }: Fix): string {
  return text.slice(0, span.start) + inserted + text.slice(span.end);
}

/**
 * Tries the candidates with a check of the text, and returns those after which the finding is gone and no error is new. A grammar reports
 * only its first error: if no candidate removes it, those are returned after which the next error is nearer to the end of the text.
 */
export function helpfulFixes(
  text: string,
  finding: Finding,
  candidates: readonly Fix[],
  check: (text: string) => readonly Finding[],
): readonly Fix[] {
  if (text.length > MAX_FIXED) return [];
  const errorsIn = (findings: readonly Finding[]): number =>
    findings.filter(({ severity }) => severity === 'error').length;
  const sameIn = (findings: readonly Finding[]): readonly Finding[] =>
    findings.filter(({ code }) => code === finding.code);
  const before = check(text);
  const own = sameIn(before).length;
  const seen = new Set([text]);
  const complete: Fix[] = [];
  const partial: Fix[] = [];
  for (const fix of candidates) {
    const fixed = applyFix(text, fix);
    if (seen.has(fixed)) continue;
    seen.add(fixed);
    const after = check(fixed);
    if (errorsIn(after) > errorsIn(before)) continue;
    const same = sameIn(after);
    const [left] = same;
    if (same.length < own) complete.push(fix);
    else if (own === 1 && same.length === 1 && left !== undefined && finding.severity === 'error') {
      if (fixed.length - left.span.start < text.length - finding.span.start) partial.push(fix);
    }
  }
  return complete.length > 0 ? complete : partial.map((fix) => ({ ...fix, isPartial: true }));
}

/** Returns the word that a help text suggests. */
export function suggestedWord({ help = '' }: Pick<Finding, 'help'>): string | undefined {
  return /^did you mean "([^"]+)"\?$/.exec(help)?.[1];
}
