/** The results that the worker sends to the page. Each is small, whatever the size of the text. */
import type { Fix as TextFix } from '../../text/fix.js';
import type { TokenCounter } from '../../tokens/counter.js';

/** A replacement in a text, in UTF-16 offsets. */
export interface Edit {
  readonly from: number;
  readonly to: number;
  readonly insert: string;
}

/** A way to mend a text. */
export interface Fix {
  readonly label: string;
  /** The change of the text; absent if another dialect accepts it as it is. */
  readonly edit?: Edit;
  readonly dialect?: string;
}

/** Moves a fix of a line to its place in the text. */
export function fixAt({ title, span, text }: TextFix, start: number): Fix {
  return { label: title, edit: { from: start + span.start, to: start + span.end, insert: text } };
}

/** An error or warning at a place of the text. */
export interface Problem {
  readonly from: number;
  readonly to: number;
  readonly severity: 'error' | 'warning';
  readonly code: string;
  readonly message: string;
  readonly help?: string | undefined;
  readonly fixes: readonly Fix[];
}

/** A node of a tree, in preorder. */
export interface Row {
  readonly depth: number;
  readonly label: string;
  readonly kind: string;
  readonly value: string;
  /** The meaning of a word of the vocabulary. */
  readonly note: string;
  readonly from: number;
  readonly to: number;
}

/** The number of tokens of a text. */
export interface Count {
  readonly label: string;
  readonly tokens: number;
}

/** The counter that made the counts. */
export interface Counted {
  readonly counts: readonly Count[];
  readonly encoding: string;
  readonly exact: boolean;
}

/** The analysis of the message on one line of the editor. */
export interface MessageResult {
  /** The problems of all lines that were checked. */
  readonly problems: readonly Problem[];
  /** The number of lines, and of those that were checked. */
  readonly lines: number;
  readonly checked: number;
  /** The offset of the line that the parts below are about. */
  readonly start: number;
  readonly valid: boolean;
  /** The tree; empty if the line is not valid. */
  readonly rows: readonly Row[];
  /** The number of nodes that `rows` leaves out. */
  readonly more: number;
  readonly canonical: string | null;
  readonly english: string | null;
  readonly tokens: Counted;
}

/** The maximum numbers of nodes, lines and problems that a result has, and of characters of one text. */
export const MAX_ROWS = 300;
export const MAX_LINES = 200;
export const MAX_PROBLEMS = 50;
export const MAX_TEXT = 20_000;
/** The maximum length of a text whose tokens are counted. */
export const MAX_COUNTED = 200_000;
const MAX_VALUE = 200;

/** Cuts a text that is too long to show. */
export function shown(text: string, most = MAX_TEXT): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length - most} more characters)`;
}

/** Counts the tokens of a message and of its other forms. @param message its content as JSON; `null` if it is not valid */
export function countForms(
  label: string,
  text: string,
  message: unknown,
  english: string | null,
  { count, encoding, exact }: TokenCounter,
): Counted {
  if (text.length > MAX_COUNTED) return { counts: [], encoding, exact };
  const forms =
    message === null
      ? []
      : [
          ['JSON', JSON.stringify(message)],
          ['JSON, indented', JSON.stringify(message, null, 2)],
          ['plain English', english ?? ''],
        ];
  const counts = [[label, text], ...forms].map(([name, form]) => ({ label: name!, tokens: count(form!) }));
  return { counts, encoding, exact };
}

/** Collects the nodes of a tree up to a maximum. */
export class Rows {
  readonly rows: Row[] = [];
  more = 0;

  add(row: Row): void {
    if (this.rows.length < MAX_ROWS) this.rows.push({ ...row, value: shown(row.value, MAX_VALUE) });
    else this.more++;
  }
}

interface Line {
  readonly text: string;
  readonly start: number;
}

/** Splits a text into its lines that are neither blank nor comments, at most {@link MAX_LINES}, and finds the one at a position. */
export function linesOf(text: string, position: number): { lines: number; checked: readonly Line[]; current: Line } {
  const checked: Line[] = [];
  let lines = 0;
  let current: Line | undefined;
  for (let start = 0; start <= text.length; ) {
    const next = text.indexOf('\n', start);
    const end = next < 0 ? text.length : next;
    lines++;
    const isCurrent = position >= start && position <= end;
    if (isCurrent || checked.length < MAX_LINES) {
      const line = { text: text.slice(start, end), start };
      if (line.text.trim() !== '' && !line.text.startsWith('#')) {
        if (checked.length < MAX_LINES || isCurrent) checked.push(line);
        if (isCurrent || current === undefined) current = line;
      }
    }
    start = end + 1;
  }
  return { lines, checked, current: current ?? { text: '', start: 0 } };
}

/** Returns the smallest edit that makes one text of another. */
export function difference(before: string, after: string): Edit {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start++;
  let same = 0;
  while (same < most - start && before[before.length - 1 - same] === after[after.length - 1 - same]) same++;
  return { from: start, to: before.length - same, insert: after.slice(start, after.length - same) };
}
