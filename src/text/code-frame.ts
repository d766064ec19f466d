import type { Span } from './span.js';
import { columnsOf, visible } from './visible.js';

/** Where a text came from, for the arrow line of a code frame. */
export interface SourceName {
  /** File name, `stdin`, or what else the reader calls it. */
  readonly name?: string;
  /** Line number of the text in that source, from 1. @default 1 */
  readonly line?: number;
}

/** Longest line that is shown whole. */
const WHOLE_LINE = 100;
/** Characters on either side of the place in a longer line. */
const CONTEXT = 36;
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
  // A line end at the place itself is shown; only a later one ends the line.
  const lineEnd = endOfLine(text, at + 1);
  const whole = lineEnd - lineStart <= WHOLE_LINE;
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
