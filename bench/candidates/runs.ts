/**
 * Finds the end of a run of characters without a branch for each of them. The length of names and values is hard to
 * predict, so that a loop over single bytes ends in a mispredicted branch nearly every time, which costs more than the
 * bytes do. A table of all pairs of bytes returns the number of bytes that belong to the run, and four lookups cover up
 * to eight bytes.
 */

/** For each pair of bytes, the first one in the low half: the number of leading bytes of a class, 0 to 2. */
export function runTable(classes: Uint8Array, kind: number): Uint8Array {
  const table = new Uint8Array(65_536);
  for (let pair = 0; pair < table.length; pair++) {
    if ((classes[pair & 0xff]! & kind) === 0) continue;
    table[pair] = (classes[pair >> 8]! & kind) === 0 ? 1 : 2;
  }
  return table;
}

/** The bytes that a buffer needs after the text, because runs are read beyond its end. */
export const RUN_MARGIN = 16;

/** Returns the end of the run that begins at `at`. After the text there is a byte without a class. */
export function runEnd(view: DataView, table: Uint8Array, at: number): number {
  for (;;) {
    const first = table[view.getUint16(at, true)]!;
    const second = table[view.getUint16(at + 2, true)]!;
    const third = table[view.getUint16(at + 4, true)]!;
    const fourth = table[view.getUint16(at + 6, true)]!;
    // Each counts only if all before it are full: `-(2 >> 1)` is a mask of ones, `-(1 >> 1)` of zeros.
    const length = first + (-(first >> 1) & (second + (-(second >> 1) & (third + (-(third >> 1) & fourth)))));
    at += length;
    if (length !== 8) return at;
  }
}

/** Masks that keep the first bytes of a number of four bytes. */
export const BYTE_MASKS = new Int32Array([0, 0xff, 0xffff, 0xffffff, -1]);
