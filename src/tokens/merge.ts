/** Byte pair encoding of one piece of a text, in time that grows little faster than its length. */

/** The rank of a token of a vocabulary, given as its bytes: one character for each, of the byte's code. */
export type RankOf = (bytes: string) => number | undefined;

/** Positions in a heap's numbers: ranks stand above them, so that numbers compare by rank first, then from the left. */
const POSITIONS = 2 ** 32;

/**
 * How many tokens a piece is. Of all neighbours the two that make the token of the lowest rank are joined, the leftmost
 * first, until none can be.
 *
 * The tokenizer packages search all neighbours again after each join, so that a million letters without a space take them
 * hours. Here the candidates lie in a heap.
 *
 * @param bytes a character for each byte
 */
export function countMerged(bytes: string, rankOf: RankOf): number {
  const { length } = bytes;
  if (length < 2 || rankOf(bytes) !== undefined) return Math.min(length, 1);
  // A part begins where `ends` is not 0, and ends there; `before` is the beginning of the part to the left, plus one.
  const ends = new Uint32Array(length);
  const before = new Uint32Array(length);
  const heap = createHeap(2 * length);
  // The rank of a part joined with the one to its right: what the heap holds about it has to agree.
  const ranks = new Float64Array(length).fill(Number.POSITIVE_INFINITY);

  const propose = (start: number): void => {
    const middle = ends[start]!;
    const rank = middle < length ? rankOf(bytes.slice(start, ends[middle]!)) : undefined;
    ranks[start] = rank ?? Number.POSITIVE_INFINITY;
    if (rank !== undefined) heap.push(rank * POSITIONS + start);
  };

  for (let index = 0; index < length; index++) {
    ends[index] = index + 1;
    before[index] = index;
  }
  for (let index = 0; index < length; index++) propose(index);

  let parts = length;
  for (let best = heap.pop(); best !== undefined; best = heap.pop()) {
    const rank = Math.floor(best / POSITIONS);
    const start = best - rank * POSITIONS;
    if (ranks[start] !== rank) continue;
    const middle = ends[start]!;
    const end = ends[middle]!;
    ends[start] = end;
    ends[middle] = 0;
    ranks[middle] = Number.POSITIVE_INFINITY;
    if (end < length) before[end] = start + 1;
    parts--;
    propose(start);
    const left = before[start]!;
    if (left > 0) propose(left - 1);
  }
  return parts;
}

interface Heap {
  readonly push: (item: number) => void;
  readonly pop: () => number | undefined;
}

/** A binary heap of numbers, the smallest on top. */
function createHeap(capacity: number): Heap {
  let items = new Float64Array(capacity);
  let size = 0;
  return {
    push(item) {
      if (size === items.length) {
        const larger = new Float64Array(2 * size);
        larger.set(items);
        items = larger;
      }
      let at = size++;
      while (at > 0) {
        const parent = (at - 1) >> 1;
        if (items[parent]! <= item) break;
        items[at] = items[parent]!;
        at = parent;
      }
      items[at] = item;
    },
    pop() {
      if (size === 0) return undefined;
      const top = items[0]!;
      const last = items[--size]!;
      let at = 0;
      for (let child = 1; child < size; child = 2 * at + 1) {
        if (child + 1 < size && items[child + 1]! < items[child]!) child++;
        if (items[child]! >= last) break;
        items[at] = items[child]!;
        at = child;
      }
      items[at] = last;
      return top;
    },
  };
}
