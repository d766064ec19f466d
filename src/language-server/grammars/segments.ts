/** Splits a Peggy grammar into its rules, without parsing them: any text is split, so that one broken rule does not affect the others. */
import type { Span } from '../../text/span.js';

/** A token of a grammar. Offsets are those of the segment. */
export interface Mark extends Span {
  readonly type: 'comment' | 'string' | 'class' | 'code' | 'definition' | 'reference' | 'label' | 'operator';
}

/** A rule, with what follows it up to the next rule; or what precedes the first rule. */
export interface Piece {
  readonly start: number;
  readonly text: string;
  /** The name of the rule; `null` for what precedes the first rule. */
  readonly name: string | null;
  readonly marks: readonly Mark[];
}

const BLANK = /[\s\ufeff]+/y;
const COMMENT = /\/\/[^\r\n]*|\/\*[\s\S]*?(?:\*\/|$)/y;
/** Literals do not span lines; an open one ends with its line. */
const STRING = /"(?:[^"\\\r\n]|\\[\s\S])*(?:"i?|(?=[\r\n]|$))|'(?:[^'\\\r\n]|\\[\s\S])*(?:'i?|(?=[\r\n]|$))/y;
const CLASS = /\[(?:[^\]\\\r\n]|\\[\s\S])*(?:\][iu]*|(?=[\r\n]|$))/y;
const NAME = /[\p{ID_Start}_$][\p{ID_Continue}$\u200c\u200d]*/uy;
/** White space and comments, each of which matches in one way only: a part of a comment is not one. */
const GAP = String.raw`(?:\s|//[^\r\n]*(?=[\r\n]|$)|/\*(?:[^*]|\*(?!/))*\*/)*`;
/** The text between a name and the sign of its definition: white space, comments, a display name. */
const DEFINES = new RegExp(String.raw`${GAP}(?:(?:"(?:[^"\\\r\n]|\\.)*"|'(?:[^'\\\r\n]|\\.)*')${GAP})?=(?![=>])`, 'y');
const LABELS = /\s*:/y;

/** Splits the text of a grammar. */
export function splitGrammar(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let start = 0;
  let name: string | null = null;
  let marks: Mark[] = [];
  let at = 0;
  const blockEnds = blocksIn(text);
  /** A block of code without an end was seen: only names at the start of a line begin rules then. */
  let isBroken = false;

  const matched = (pattern: RegExp): number => {
    pattern.lastIndex = at;
    return pattern.test(text) ? pattern.lastIndex - at : 0;
  };
  const mark = (type: Mark['type'], length: number): void => {
    marks.push({ type, start: at - start, end: at - start + length });
    at += length;
  };
  const finish = (): void => {
    pieces.push({ start, text: text.slice(start, at), name, marks });
    start = at;
    marks = [];
  };

  while (at < text.length) {
    let length = matched(BLANK);
    if (length > 0) {
      at += length;
      continue;
    }
    length = matched(COMMENT);
    if (length > 0) {
      mark('comment', length);
      continue;
    }
    const type = OPENED[text[at]!];
    length =
      type === undefined
        ? 0
        : type === 'code'
          ? (blockEnds.get(at) ?? at) - at
          : matched(type === 'class' ? CLASS : STRING);
    if (length > 0) {
      mark(type!, length);
      continue;
    }
    length = matched(NAME);
    if (length === 0) {
      isBroken ||= text[at] === '{';
      mark('operator', 1);
      continue;
    }
    at += length;
    const isRule = matched(DEFINES) > 0 && (!isBroken || /[\r\n]/.test(text[at - length - 1] ?? '\n'));
    const isLabel = matched(LABELS) > 0;
    at -= length;
    if (isRule) {
      if (at > 0) finish();
      name = text.slice(at, at + length);
    }
    mark(isRule ? 'definition' : isLabel ? 'label' : 'reference', length);
  }
  finish();
  return pieces;
}

const OPENED: Readonly<Record<string, 'string' | 'class' | 'code' | undefined>> = {
  '"': 'string',
  "'": 'string',
  '[': 'class',
  '{': 'code',
};

/** Returns the ends of the blocks of code by their starts. Peggy only counts their braces, wherever these stand. */
function blocksIn(text: string): ReadonlyMap<number, number> {
  const ends = new Map<number, number>();
  const open: number[] = [];
  for (const { 0: brace, index } of text.matchAll(/[{}]/g)) {
    if (brace === '{') open.push(index);
    else if (open.length > 0) ends.set(open.pop()!, index + 1);
  }
  return ends;
}
