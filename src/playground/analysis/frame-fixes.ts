/** Ways to mend a frame with one click: all changes that it takes, each tried with the parser. */
import { type Dialect, type ParseError, tryParseFrame } from '../../accp/index.js';
import { syntaxFixes } from '../../accp/language/fixes.js';
import { applyFix } from '../../text/fix.js';
import { difference, type Fix } from './result.js';

/** Each step parses the text for every change, so long texts get none. */
const MAX_LENGTH = 4_000;
const MAX_STEPS = 12;
const MAX_TITLES = 3;

/** Returns fixes that make the frame valid, the best one first. */
export function frameFixes(text: string, error: ParseError, dialect: Dialect): readonly Fix[] {
  if (text.length > MAX_LENGTH) return [];
  const mended = mend(text, error, dialect);
  const fixes: Fix[] = mended === null ? [] : [{ label: mended.label, edit: difference(text, mended.text) }];
  if (dialect === 'strict' && error.reason !== 'limit' && tryParseFrame(text, { dialect: 'lenient' }).ok)
    fixes.push({ label: 'Parse in the lenient dialect', dialect: 'lenient' });
  return fixes;
}

/** Repeats the change that leads furthest until the text is a frame. */
function mend(text: string, first: ParseError, dialect: Dialect): { text: string; label: string } | null {
  let current = text;
  let error = first;
  const titles: string[] = [];
  for (let step = 0; step < MAX_STEPS; step++) {
    let best: { readonly text: string; readonly title: string; readonly error: ParseError } | undefined;
    for (const fix of syntaxFixes(current, error)) {
      const fixed = applyFix(current, fix);
      const result = tryParseFrame(fixed, { dialect });
      if (result.ok) return { text: fixed, label: labelOf([...titles, fix.title]) };
      if (best === undefined || restOf(fixed, result.error) < restOf(best.text, best.error))
        best = { text: fixed, title: fix.title, error: result.error };
    }
    if (best === undefined) return null;
    const progress = restOf(current, error) - restOf(best.text, best.error) || startOf(best.error) - startOf(error);
    if (progress <= 0) return null;
    titles.push(best.title);
    ({ text: current, error } = best);
  }
  return null;
}

function labelOf(titles: readonly string[]): string {
  const [first, ...others] = new Set(titles);
  const named = others.slice(0, MAX_TITLES - 1).map((title) => `, then ${title[0]!.toLowerCase()}${title.slice(1)}`);
  return `${first}${named.join('')}${others.length > named.length ? ', and more' : ''}`;
}

/** The length of the text behind the error: the closer the error is to the end, the more of the text is right. */
function restOf(text: string, error: ParseError): number {
  return text.length - startOf(error);
}

function startOf({ span }: ParseError): number {
  return span?.start ?? 0;
}
