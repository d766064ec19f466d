import type { Span } from './span.js';
import { columnsOf, visible } from './visible.js';

/** The source of a text, for the first line of a code frame. */
export interface SourceName {
  /** The name of the file or stream. @default 'input' */
  readonly name?: string;
  /** The line of the source on which the text begins, counted from 1. @default 1 */
  readonly line?: number;
}

/** Lines of at most this length are shown whole. */
const MAX_WHOLE_LINE = 100;
/** Characters before and after the position in a longer line. */
const CONTEXT = 36;
const MAX_CARETS = 40;

/**
 * Formats the line of `text` that contains the start of `span`, with carets under the span:
 *
 *      --> stdin:12:18
 *       |
 *    12 | @bot>req:run{k:12:30}
 *       |                  ^
 *
 * Long lines are cut to a window around the span, and invisible characters are replaced by visible ones. Columns are UTF-16
 * code units, counted from 1.
 */
export function codeFrame(text: string, span: Span, source: SourceName = {}): string {
  const at = Math.min(Math.max(span.start, 0), text.length);
  const lineStart = at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
  const line = text.slice(0, lineStart).split('\n').length + (source.line ?? 1) - 1;
  const gutter = String(line);
  const pad = ' '.repeat(gutter.length);
  const { shown, caretColumn, carets } = windowAround(text, lineStart, at, span.end);
  return [
    `${pad}--> ${visible(source.name ?? 'input')}:${line}:${at - lineStart + 1}`,
    `${pad} |`,
    `${gutter} | ${shown}`,
    `${pad} | ${' '.repeat(caretColumn)}${'^'.repeat(carets)}`,
  ]
    .map((row) => row.trimEnd())
    .join('\n');
}

function windowAround(text: string, lineStart: number, at: number, spanEnd: number) {
  // A line end at the position itself is shown; only a later one ends the line.
  const lineEnd = endOfLine(text, at + 1);
  const whole = lineEnd - lineStart <= MAX_WHOLE_LINE;
  let start = whole ? lineStart : Math.max(at - CONTEXT, lineStart);
  let end = whole ? lineEnd : Math.min(at + CONTEXT + 1, lineEnd);
  if (splitsPair(text, start)) start++;
  if (splitsPair(text, end)) end--;

  const markedEnd = Math.max(at, Math.min(spanEnd, end));
  const lead = start > lineStart ? '...' : '';
  const before = lead + visible(text.slice(start, at));
  const marked = visible(text.slice(at, markedEnd));
  const tail = end < lineEnd ? '...' : '';
  return {
    shown: before + marked + visible(text.slice(markedEnd, end)) + tail,
    caretColumn: columnsOf(before),
    carets: Math.min(Math.max(columnsOf(marked), 1), MAX_CARETS),
  };
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}

function splitsPair(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return false;
  const before = text.charCodeAt(at - 1);
  const after = text.charCodeAt(at);
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
}
