/**
 * Counts the tokens of ASCII text: splits it like the patterns of tiktoken for `o200k_base` and `cl100k_base`, in one pass over the bytes.
 */

interface Splitting {
  /** `true` for `o200k_base`: words end before capital letters and include `'s`, and line ends include slashes. */
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
/** Marks the end of the text; not ASCII. */
const SENTINEL = 0xff;
CLASSES[SENTINEL] = END;

const APOSTROPHE = 0x27;
const SLASH = 0x2f;

/** The size of the buffer for texts of common length, in bytes. */
const BUFFER_BYTES = 65_536;
/** The bytes after the text: the sentinel, and those that reads of words reach. */
const PADDING = 12;

/** Returns a function that counts the tokens of a text, or returns -1 if it is not ASCII. */
export function createAsciiCounter({ cased }: Splitting, count: (piece: string) => number): (text: string) => number {
  const encoder = new TextEncoder();
  const shared = bufferFor(BUFFER_BYTES);
  const countOf = createPieceCache(count);

  return (text) => {
    const { length } = text;
    const { bytes, view } = length <= BUFFER_BYTES ? shared : bufferFor(length);
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
        // A word, with a preceding character that is not a letter, digit or line end.
        if (first > UPPER) at++;
        if (cased) {
          if ((first <= UPPER ? first : next) === UPPER) {
            if (first > UPPER) next = CLASSES[bytes[at]!]!;
            while (next === UPPER) next = CLASSES[bytes[++at]!]!;
          }
          at = endOfLowerCase(view, at);
          if (bytes[at] === APOSTROPHE) at += suffixLength(bytes, at);
        } else if (bytes[start] === APOSTROPHE && suffixLength(bytes, start) > 0) {
          at = start + suffixLength(bytes, start);
        } else {
          at = endOfLowerCase(view, at);
          while (CLASSES[bytes[at]!]! <= UPPER) at = endOfLowerCase(view, at + 1);
        }
      } else if (first === PUNCTUATION || (first === SPACE && next === PUNCTUATION)) {
        // ' ?[^\s\p{L}\p{N}]+', and the line ends after it.
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
  };
}

function bufferFor(length: number) {
  const buffer = new ArrayBuffer(length + PADDING);
  return { bytes: new Uint8Array(buffer), view: new DataView(buffer) };
}

/** Returns the end of a run of lower-case letters, four bytes at a time. */
function endOfLowerCase(view: DataView, start: number): number {
  let at = start;
  for (;;) {
    const word = view.getInt32(at, true);
    // The high bit of each byte: the first sum sets it for bytes >= "a", the second for bytes > "z".
    const others = ~((word + 0x1f1f1f1f) & ~(word + 0x05050505)) & 0x80808080;
    if (others !== 0) return at + ((31 - Math.clz32(others & -others)) >> 3);
    at += 4;
  }
}

/** Returns the length of `'s`, `'d`, `'m`, `'t`, `'ll`, `'ve` or `'re` at an apostrophe, or 0. */
function suffixLength(bytes: Uint8Array, at: number): number {
  // Upper and lower case differ in one bit.
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

/** Returns the end of white space: after its last line end, or before its last character, which belongs to the next word. */
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

/** The maximum length of a piece in the table: four 32-bit words. */
const MAX_TABLED = 16;
/** The maximum length of a cached piece. */
const MAX_CACHED = 64;
/** The number of entries, a power of two; each takes 32 bytes. */
const ENTRIES = 16_384;
/** The size of an entry in words: four words of bytes, then length and count, and padding to a cache line. */
const WORDS = 8;
/** The number of adjacent entries that can contain a piece. */
const WAYS = 4;
/** The maximum number of longer cached pieces, at which their cache is cleared. */
const MAX_LONG = 2048;

/** The masks of the first and second word, by length. */
const FIRST = Int32Array.of(0, 0xff, 0xffff, 0xffffff, -1, -1, -1, -1, -1);
const SECOND = Int32Array.of(0, 0, 0, 0, 0, 0xff, 0xffff, 0xffffff, -1);

/** Creates a cache of counts of fixed size. Full buckets are overwritten, and all bytes are compared. */
function createPieceCache(count: (piece: string) => number) {
  const table = new Int32Array((ENTRIES + WAYS) * WORDS);
  const long = new Map<string, number>();

  function countLong(view: DataView, start: number, end: number): number {
    const piece = pieceOf(view, start, end);
    if (piece.length > MAX_CACHED) return count(piece);
    const cached = long.get(piece);
    if (cached !== undefined) return cached;
    const counted = count(piece);
    if (long.size >= MAX_LONG) long.clear();
    long.set(piece, counted);
    return counted;
  }

  /** Returns the count of a piece. Reads up to eight bytes after `end`. */
  return function countOf(view: DataView, start: number, end: number): number {
    const length = end - start;
    let a = view.getInt32(start, true);
    let b = view.getInt32(start + 4, true);
    let c = 0;
    let d = 0;
    if (length <= 8) {
      a &= FIRST[length]!;
      b &= SECOND[length]!;
    } else if (length <= MAX_TABLED) {
      // The last two words, which may overlap the first two.
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
    // In a full bucket, the first entry is replaced.
    if (at === home + WAYS * WORDS) at = home;
    table[at] = a;
    table[at + 1] = b;
    table[at + 2] = c;
    table[at + 3] = d;
    table[at + 4] = (length << 8) | counted;
    return counted;
  };
}

function pieceOf(view: DataView, start: number, end: number): string {
  let piece = '';
  for (let at = start; at < end; at++) piece += String.fromCharCode(view.getUint8(at));
  return piece;
}
