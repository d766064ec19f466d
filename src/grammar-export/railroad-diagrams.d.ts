/** As much as is used of railroad-diagrams 1.0.0, which has no types of its own. */
declare module 'railroad-diagrams' {
  /** A piece of a diagram. Sizes are in pixels. */
  export interface Item {
    width: number;
    /** How far it reaches above its line, and below. */
    up: number;
    down: number;
    readonly needsSpace?: boolean;
    /** Of the SVG element that it becomes. */
    attrs: Record<string, string | number>;
    /** Filled by `format`; only the results of `toString` are used. */
    children: unknown[];
    /** Draws the item from a place on, centred in a width that may be larger than its own. */
    format(x: number, y: number, width: number): Item;
    toString(): string;
  }

  /** A whole diagram, with a start and an end. */
  export interface DiagramItem extends Omit<Item, 'format'> {
    format(paddingTop?: number, paddingRight?: number, paddingBottom?: number, paddingLeft?: number): DiagramItem;
  }

  interface Railroad {
    readonly Diagram: (...items: readonly Item[]) => DiagramItem;
    readonly Sequence: (...items: readonly Item[]) => Item;
    readonly Choice: (normal: number, ...items: readonly Item[]) => Item;
    readonly Optional: (item: Item) => Item;
    readonly OneOrMore: (item: Item, repeat?: Item) => Item;
    readonly ZeroOrMore: (item: Item, repeat?: Item) => Item;
    readonly Terminal: (text: string) => Item;
    readonly NonTerminal: (text: string) => Item;
    readonly Comment: (text: string) => Item;
    readonly Skip: () => Item;
  }

  const railroad: Railroad;
  export default railroad;
}
