/** The parts of railroad-diagrams 1.0.0 that are used. The package has no types of its own. */
declare module 'railroad-diagrams' {
  export interface Item {
    width: number;
    /** The extent above and below the line. */
    up: number;
    down: number;
    readonly needsSpace?: boolean;
    attrs: Record<string, string | number>;
    /** Filled by `format`. Only the results of `toString` are used. */
    children: unknown[];
    format(x: number, y: number, width: number): Item;
    toString(): string;
  }

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
