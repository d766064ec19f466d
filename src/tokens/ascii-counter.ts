/**
 * Counts the tokens of ASCII text: splits it into the pieces that the vocabularies' pattern splits it into, by one look at
 * each byte, and adds up what the pieces count.
 *
 * The patterns are those of tiktoken for `o200k_base` and `cl100k_base`. What each branch stands for is told beside it.
 */

/** How the two patterns differ. */
interface Splitting {
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

/** Pieces of up to so many bytes are kept in the table: four words of 32 bits. */
const MAX_TABLED = 16;
/** The longest piece that is kept at all. */
const MAX_KEPT = 64;
/** Entries of the table; a power of two. Each takes 32 bytes. */
const ENTRIES = 16_384;
/** Words of an entry: four of bytes, then the length and the count; the rest is room, so that entries lie in one cache line. */
const WORDS = 8;
/** Neighbouring entries that a piece may lie in. */
const WAYS = 4;
/** Longer pieces that are kept. When there are more, all are dropped. */
const MAX_LONG = 2048;

/** What is of the piece in its first and second word, by its length. */
const FIRST = Int32Array.of(0, 0xff, 0xffff, 0xffffff, -1, -1, -1, -1, -1);
const SECOND = Int32Array.of(0, 0, 0, 0, 0, 0xff, 0xffff, 0xffffff, -1);

interface PieceCache {
  /**
   * The count of the piece that stands in `view` from `start` to `end`. Eight bytes behind `end` may be read, whatever they
   * hold.
   */
  readonly countOf: (view: DataView, start: number, end: number) => number;
}

/**
 * A cache in front of a function that counts tokens of a piece of ASCII. Its size is fixed: a piece takes the place of
 * another one where the table is full. Entries are compared by all their bytes, so that a count is never another piece's.
 *
 * @param count what a piece counts that is not in the cache; more than 255 is not kept
 */
function createPieceCache(count: (piece: string) => number): PieceCache {
  const table = new Int32Array((ENTRIES + WAYS) * WORDS);
  const long = new Map<string, number>();

  function countLong(view: DataView, start: number, end: number): number {
    const piece = pieceOf(view, start, end);
    if (piece.length > MAX_KEPT) return count(piece);
    const known = long.get(piece);
    if (known !== undefined) return known;
    const counted = count(piece);
    if (long.size >= MAX_LONG) long.clear();
    long.set(piece, counted);
    return counted;
  }

  function countOf(view: DataView, start: number, end: number): number {
    const length = end - start;
    let a = view.getInt32(start, true);
    let b = view.getInt32(start + 4, true);
    let c = 0;
    let d = 0;
    if (length <= 8) {
      a &= FIRST[length]!;
      b &= SECOND[length]!;
    } else if (length <= MAX_TABLED) {
      // Words from the end, which overlap with those from the start.
      c = view.getInt32(end - 8, true);
      d = view.getInt32(end - 4, true);
    } else {
      return countLong(view, start, end);
    }
    let hash = Math.imul(a, 0x9e3779b1) ^ Math.imul(b ^ Math.imul(c, 0x27d4eb2f) ^ (d << 5), 0x85ebca6b);
    hash ^= hash >>> 15;
    const home = ((hash + length) & (ENTRIES - 1)) * WORDS;
    let at = home;
    for (let way = 0; way < WAYS; way++, at += WORDS) {
      const entry = table[at + 4]!;
      if (
        entry >> 8 === length &&
        table[at] === a &&
        table[at + 1] === b &&
        table[at + 2] === c &&
        table[at + 3] === d
      ) {
        return entry & 0xff;
      }
      if (entry === 0) break;
    }
    const counted = count(pieceOf(view, start, end));
    // Where all ways are taken, the first is given up.
    if (at === home + WAYS * WORDS) at = home;
    table[at] = a;
    table[at + 1] = b;
    table[at + 2] = c;
    table[at + 3] = d;
    table[at + 4] = (length << 8) | counted;
    return counted;
  }

  return { countOf };
}

function pieceOf(view: DataView, start: number, end: number): string {
  let piece = '';
  for (let at = start; at < end; at++) piece += String.fromCharCode(view.getUint8(at));
  return piece;
}
