import type { Span } from './span.js';
import { columnsOf, visible } from './visible.js';

/** Where a text came from, for the arrow line of a code frame. */
export interface SourceName {
  /** File name, `stdin`, or what else the reader calls it. */
  readonly name?: string;
  /** Line number of the text in that source, from 1. @default 1 */
  readonly line?: number;
}

/** Characters of the source shown on either side of the span; longer lines are cut there and marked with an ellipsis. */
const CONTEXT = 36;
/** Carets drawn at most: a span over a whole long line says no more than its beginning. */
const MAX_CARETS = 40;

/**
 * The line of `text` that holds `span`, with carets under the span:
 *
 *      --> stdin:12:18
 *       |
 *    12 | @bot>req:run{k:12:30}
 *       |                  ^
 *
 * Long lines are windowed around the span and invisible characters are shown as stand-ins. Columns count UTF-16 code
 * units from 1.
 */
export function codeFrame(text: string, span: Span, source: SourceName = {}): string {
  const at = Math.min(Math.max(span.start, 0), text.length);
  const lineStart = at - lookBack(text, at);
  const window = windowAround(text, at, span.end);
  const line = (source.line ?? 1) + countLineEnds(text, lineStart);
  const gutter = String(line);
  const pad = ' '.repeat(gutter.length);
  const place = `${source.name ?? 'input'}:${line}:${at - lineStart + 1}`;
  return [
    `${pad}--> ${place}`,
    `${pad} |`,
    `${gutter} | ${window.shown}`,
    `${pad} | ${' '.repeat(window.caretColumn)}${'^'.repeat(window.carets)}`,
  ].join('\n');
}

/** Distance from `at` back to the start of its line. */
function lookBack(text: string, at: number): number {
  return at - (at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1);
}

function countLineEnds(text: string, before: number): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < before; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

function windowAround(
  text: string,
  at: number,
  spanEnd: number,
): { shown: string; caretColumn: number; carets: number } {
  let start = Math.max(at - CONTEXT, 0);
  const lineBefore = text.lastIndexOf('\n', at - 1);
  if (at > 0 && lineBefore >= start) start = lineBefore + 1;
  if (splitsPair(text, start)) start++;
  let end = Math.min(at + CONTEXT + 1, text.length);
  // A line end inside the window closes it, but not one at the very spot: that is the character to be shown.
  const lineAfter = text.indexOf('\n', at + 1);
  if (lineAfter >= 0 && lineAfter < end) end = lineAfter;
  if (splitsPair(text, end)) end--;

  const before = visible(text.slice(start, at));
  const marked = visible(text.slice(at, Math.max(at, Math.min(spanEnd, end))));
  const after = visible(text.slice(Math.max(at, Math.min(spanEnd, end)), end));
  const lead = start > 0 && text[start - 1] !== '\n' ? '...' : '';
  const tail = end < text.length && text[end] !== '\n' ? '...' : '';
  return {
    shown: `${lead}${before}${marked}${after}${tail}`,
    caretColumn: lead.length + columnsOf(before),
    carets: Math.min(Math.max(columnsOf(marked), 1), MAX_CARETS),
  };
}

/** True where a cut at `at` would part a surrogate pair. */
function splitsPair(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return false;
  const before = text.charCodeAt(at - 1);
  const after = text.charCodeAt(at);
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
}
