/**
 * Finding where a run of characters ends without a branch for each of them. How long names and values are is hard to guess, so
 * that a loop over single bytes ends in a mispredicted branch nearly every time; that costs more than the bytes do. A table of
 * all pairs of bytes tells how many of two belong to the run, and four such answers make one of up to eight.
 */

/** For each pair of bytes, the first one in the low half: how many from the start on are of a kind, 0 to 2. */
export function runTable(classes: Uint8Array, kind: number): Uint8Array {
  const table = new Uint8Array(65_536);
  for (let pair = 0; pair < table.length; pair++) {
    if ((classes[pair & 0xff]! & kind) === 0) continue;
    table[pair] = (classes[pair >> 8]! & kind) === 0 ? 1 : 2;
  }
  return table;
}

/** How many bytes more than the text a buffer has to have, since runs are read beyond its end. */
export const RUN_MARGIN = 16;

/** Where the run ends that begins at `at`. Behind the text stands a byte of no kind. */
export function runEnd(view: DataView, table: Uint8Array, at: number): number {
  for (;;) {
    const first = table[view.getUint16(at, true)]!;
    const second = table[view.getUint16(at + 2, true)]!;
    const third = table[view.getUint16(at + 4, true)]!;
    const fourth = table[view.getUint16(at + 6, true)]!;
    // Each counts only where all before it are full: `-(2 >> 1)` is a mask of ones, `-(1 >> 1)` of zeros.
    const length = first + (-(first >> 1) & (second + (-(second >> 1) & (third + (-(third >> 1) & fourth)))));
    at += length;
    if (length !== 8) return at;
  }
}

/** What is left of a number of four bytes when only so many count. */
export const BYTE_MASKS = new Int32Array([0, 0xff, 0xffff, 0xffffff, -1]);
