/**
 * Counts the tokens of ASCII text: splits it into the pieces that the vocabularies' pattern splits it into, by one look at
 * each byte, and adds up what the pieces count.
 *
 * The patterns are those of tiktoken for `o200k_base` and `cl100k_base`. What each branch stands for is told beside it.
 */
import { createPieceCache } from './piece-cache.js';

/** How the two patterns differ. */
export interface Splitting {
  /** `o200k_base`: a word ends before a capital letter, and takes `'s` and its like with it; slashes go with line ends. */
  readonly cased: boolean;
}

const LOWER = 0;
const UPPER = 1;
const DIGIT = 2;
const PUNCTUATION = 3;
const SPACE = 4;
const BLANK = 5;
const NEWLINE = 6;
const END = 7;

const CLASSES = new Uint8Array(256).fill(PUNCTUATION);
CLASSES.fill(LOWER, 0x61, 0x7b);
CLASSES.fill(UPPER, 0x41, 0x5b);
CLASSES.fill(DIGIT, 0x30, 0x3a);
CLASSES.fill(BLANK, 0x09, 0x0e);
CLASSES[0x0a] = NEWLINE;
CLASSES[0x0d] = NEWLINE;
CLASSES[0x20] = SPACE;
/** Stands behind the text; no byte of ASCII. */
const SENTINEL = 0xff;
CLASSES[SENTINEL] = END;

const APOSTROPHE = 0x27;
const SLASH = 0x2f;

/** Bytes that are kept for texts of usual length; a longer one gets room of its own. */
const ROOM = 65_536;
/** Behind the text: the sentinel, and what words reach beyond it. */
const PADDING = 12;

interface Room {
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

/**
 * @param count the tokens of one piece
 * @returns a function that gives the tokens of a text, or -1 when the text is not ASCII alone
 */
export function createAsciiCounter({ cased }: Splitting, count: (piece: string) => number): (text: string) => number {
  const encoder = new TextEncoder();
  const usual = roomFor(ROOM);
  const { countOf } = createPieceCache(count);

  function countText(text: string): number {
    const { length } = text;
    const { bytes, view } = length <= ROOM ? usual : roomFor(length);
    const { read, written } = encoder.encodeInto(text, bytes);
    if (read !== length || written !== length) return -1;
    bytes[length] = SENTINEL;

    let tokens = 0;
    let at = 0;
    while (at < length) {
      const start = at;
      const first = CLASSES[bytes[at]!]!;
      at++;
      let next = CLASSES[bytes[at]!]!;
      if (first === DIGIT) {
        // \p{N}{1,3}: each of the 1110 texts is one token.
        while (next === DIGIT) next = CLASSES[bytes[++at]!]!;
        tokens += ((at - start + 2) / 3) | 0;
        continue;
      }
      if (first <= UPPER || (next <= UPPER && first !== NEWLINE)) {
        // A word, with one character before it that is no letter, digit or line end.
        if (first > UPPER) at++;
        if (cased) {
          if ((first <= UPPER ? first : next) === UPPER) {
            if (first > UPPER) next = CLASSES[bytes[at]!]!;
            while (next === UPPER) next = CLASSES[bytes[++at]!]!;
          }
          at = endOfSmallLetters(view, at);
          if (bytes[at] === APOSTROPHE) at += suffixLength(bytes, at);
        } else if (bytes[start] === APOSTROPHE && suffixLength(bytes, start) > 0) {
          at = start + suffixLength(bytes, start);
        } else {
          at = endOfSmallLetters(view, at);
          while (CLASSES[bytes[at]!]! <= UPPER) at = endOfSmallLetters(view, at + 1);
        }
      } else if (first === PUNCTUATION || (first === SPACE && next === PUNCTUATION)) {
        // ' ?[^\s\p{L}\p{N}]+', and the line ends behind it.
        while (next === PUNCTUATION) next = CLASSES[bytes[++at]!]!;
        if (next === NEWLINE) {
          while (next === NEWLINE || (cased && bytes[at] === SLASH)) next = CLASSES[bytes[++at]!]!;
        }
      } else {
        at = endOfSpace(bytes, start, cased);
      }
      // Every byte is a token.
      tokens += at - start === 1 ? 1 : countOf(view, start, at);
    }
    return tokens;
  }

  return countText;
}

function roomFor(length: number): Room {
  const buffer = new ArrayBuffer(length + PADDING);
  return { bytes: new Uint8Array(buffer), view: new DataView(buffer) };
}

/** Where a run of small letters ends, four bytes at a time. */
function endOfSmallLetters(view: DataView, start: number): number {
  let at = start;
  for (;;) {
    const word = view.getInt32(at, true);
    // The high bit of each byte: set by the first sum from "a" on, by the second beyond "z".
    const others = ~((word + 0x1f1f1f1f) & ~(word + 0x05050505)) & 0x80808080;
    if (others !== 0) return at + ((31 - Math.clz32(others & -others)) >> 3);
    at += 4;
  }
}

/** The length of `'s`, `'d`, `'m`, `'t`, `'ll`, `'ve` or `'re` at an apostrophe, or 0. */
function suffixLength(bytes: Uint8Array, at: number): number {
  // Small letters and capitals differ in one bit.
  switch (bytes[at + 1]! | 0x20) {
    case 0x73:
    case 0x64:
    case 0x6d:
    case 0x74:
      return 2;
    case 0x6c:
      return (bytes[at + 2]! | 0x20) === 0x6c ? 3 : 0;
    case 0x76:
    case 0x72:
      return (bytes[at + 2]! | 0x20) === 0x65 ? 3 : 0;
    default:
      return 0;
  }
}

/** Where a piece of white space ends: with its last line end; or before its last character, which the next word takes. */
function endOfSpace(bytes: Uint8Array, start: number, cased: boolean): number {
  let at = start;
  let afterNewline = 0;
  let kind = CLASSES[bytes[at]!]!;
  while (kind >= SPACE && kind <= NEWLINE) {
    at++;
    if (kind === NEWLINE) afterNewline = at;
    kind = CLASSES[bytes[at]!]!;
  }
  const last = kind === END;
  if (afterNewline > 0 && (cased || !last)) return afterNewline;
  return last || at === start + 1 ? at : at - 1;
}
