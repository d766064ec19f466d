/** Counts of pieces that were seen before, found by their bytes without making a string of them. */

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

export interface PieceCache {
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
export function createPieceCache(count: (piece: string) => number): PieceCache {
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
