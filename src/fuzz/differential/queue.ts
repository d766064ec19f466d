/** First in, first out, in constant time however many wait. */
export interface Queue<T> {
  readonly add: (item: T) => void;
  /** Puts items before all others, in their order. */
  readonly putBack: (items: readonly T[]) => void;
  readonly take: () => T | undefined;
  readonly size: () => number;
  /** The first few, which stay. */
  readonly ahead: (count: number) => readonly T[];
  /** Takes all. */
  readonly drain: () => readonly T[];
}

/** Items taken before the room they took is given back. */
const IDLE_ROOM = 1024;

export function createQueue<T>(): Queue<T> {
  let items: T[] = [];
  let head = 0;
  return {
    add: (item) => {
      items.push(item);
    },
    putBack: (before) => {
      items = [...before, ...items.slice(head)];
      head = 0;
    },
    take: () => {
      if (head === items.length) return undefined;
      const item = items[head++];
      if (head >= IDLE_ROOM && head * 2 >= items.length) {
        items = items.slice(head);
        head = 0;
      }
      return item;
    },
    size: () => items.length - head,
    ahead: (count) => items.slice(head, head + count),
    drain: () => {
      const left = items.slice(head);
      items = [];
      head = 0;
      return left;
    },
  };
}
