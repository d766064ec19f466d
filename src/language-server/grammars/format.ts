/** The white space of a grammar in one form. Peggy has no canonical form: only what stands between tokens changes, never a token. */
import type { Fix } from '../../text/fix.js';
import type { Grammar } from './grammar.js';
import type { Mark } from './segments.js';

type Edit = Pick<Fix, 'span' | 'text'>;

/**
 * Returns the changes: one space around `=` and `/`, lines that begin with them indented by two spaces, at most one space or blank line elsewhere, no
 * white space at the ends of lines, and one line end at the end. Indentation of other lines is kept. Rules with an error stay as they are.
 */
export function formatGrammar({ segments }: Grammar, text: string): readonly Edit[] {
  const end = /\r?\n/.exec(text)?.[0] ?? '\n';
  const edits: Edit[] = [];
  for (const [index, segment] of segments.entries()) {
    if (segment.error !== null) continue;
    const isLast = index === segments.length - 1;
    let depth = 0;
    let at = 0;
    let before: Mark | undefined;
    for (const mark of [...segment.marks, undefined]) {
      const to = mark?.start ?? segment.text.length;
      const gap = segment.text.slice(at, to);
      const shown = mark && segment.text.slice(mark.start, mark.end);
      const isChoice = depth === 0 && mark?.type === 'operator' && (shown === '=' || shown === '/');
      const wasChoice = before?.type === 'operator' && /[=/]/.test(segment.text.slice(before.start, before.end));
      let wanted = spaced(gap, end, { isChoice, needsSpace: isChoice || wasChoice || mark?.type === 'comment' });
      if (before === undefined) wanted = index === 0 || mark === undefined ? '' : wanted;
      if (mark === undefined) wanted = isLast ? (text.trim() === '' ? '' : end) : betweenRules(gap, end);
      if (wanted !== gap) edits.push({ span: { start: segment.start + at, end: segment.start + to }, text: wanted });
      if (shown === '(') depth++;
      if (shown === ')') depth--;
      if (mark !== undefined) at = mark.end;
      before = mark;
    }
  }
  return edits;
}

function spaced(
  gap: string,
  end: string,
  { isChoice, needsSpace }: { isChoice: boolean; needsSpace: boolean },
): string {
  const lines = gap.split('\n').length - 1;
  if (lines === 0) return gap === '' && !needsSpace ? '' : ' ';
  const indentation = isChoice ? '  ' : gap.slice(gap.lastIndexOf('\n') + 1);
  return end.repeat(Math.min(lines, 2)) + indentation;
}

function betweenRules(gap: string, end: string): string {
  const lines = gap.split('\n').length - 1;
  // Two rules on one line.
  return lines === 0 ? gap : end.repeat(Math.min(lines, 2));
}
