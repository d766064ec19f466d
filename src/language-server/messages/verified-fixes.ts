/** Quick fixes, which are offered only if they help. */
import type { Finding, Fix } from '../language.js';

/** Each finding and each candidate checks the whole text, so longer texts get no quick fixes. */
const MAX_LENGTH = 2000;

export function applyFix(text: string, { span, text: inserted }: Fix): string {
  return text.slice(0, span.start) + inserted + text.slice(span.end);
}

/**
 * Returns the candidates after which the finding is gone and no error is new. A grammar reports only its first error: if no candidate removes it,
 * those are returned after which the next error is nearer to the end of the text.
 */
export function verified(
  text: string,
  finding: Finding,
  candidates: readonly Fix[],
  check: (text: string) => readonly Finding[],
): readonly Fix[] {
  if (text.length > MAX_LENGTH) return [];
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
    const [left, ...others] = sameIn(after);
    if (sameIn(after).length < own) complete.push(fix);
    else if (own === 1 && others.length === 0 && left !== undefined && finding.severity === 'error') {
      if (fixed.length - left.span.start < text.length - finding.span.start) partial.push(fix);
    }
  }
  return complete.length > 0 ? complete : partial;
}

/** Returns the word that a help text suggests. */
export function suggested({ help = '' }: Finding): string | undefined {
  return /^did you mean "([^"]+)"\?$/.exec(help)?.[1];
}
