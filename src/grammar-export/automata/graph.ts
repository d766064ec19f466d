/** Graphs whose paths spell texts, symbol by symbol. */

export type Edge =
  | {
      readonly kind: 'symbols';
      readonly to: number;
      readonly symbols: readonly number[];
      /** Whether it is one more time of something that may be repeated any number of times, zero included. */
      readonly again: boolean;
    }
  /** Takes no symbol. */
  | { readonly kind: 'free'; readonly to: number }
  /** Takes no symbol: where the text that is looked at ends, and what follows it begins. */
  | { readonly kind: 'boundary'; readonly to: number };

export interface Graph {
  readonly state: () => number;
  readonly add: (from: number, edge: Edge) => void;
  readonly edgesOf: (state: number) => readonly Edge[];
  readonly size: () => number;
  /** Takes back all that was added since the size was `size`. Edges that were added then all began at new states. */
  readonly shrink: (size: number) => void;
}

export function createGraph(): Graph {
  const edges: Edge[][] = [];
  return {
    state: () => edges.push([]) - 1,
    add: (from, edge) => edges[from]!.push(edge),
    edgesOf: (state) => edges[state]!,
    size: () => edges.length,
    shrink: (size) => {
      edges.length = size;
    },
  };
}

/** All states that can be reached without a symbol, ascending. */
export function closureOf(graph: Graph, states: readonly number[]): readonly number[] {
  const found = new Set(states);
  const open = [...found];
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    for (const edge of graph.edgesOf(state)) {
      if (edge.kind === 'symbols' || found.has(edge.to)) continue;
      found.add(edge.to);
      open.push(edge.to);
    }
  }
  return [...found].sort((a, b) => a - b);
}

export interface BackEdge {
  readonly edge: Edge;
  readonly from: number;
}

/** What leads to a state, and how many edges it is away from where the search began. */
export interface Reached {
  readonly distance: number;
  readonly into: readonly BackEdge[];
}

/** All states that can be reached from one. */
export function reachedFrom(graph: Graph, start: number): ReadonlyMap<number, Reached> {
  const found = new Map<number, { distance: number; into: BackEdge[] }>([[start, { distance: 0, into: [] }]]);
  for (const [from, { distance }] of found) {
    for (const edge of graph.edgesOf(from)) {
      const known = found.get(edge.to);
      if (known === undefined) found.set(edge.to, { distance: distance + 1, into: [{ edge, from }] });
      else known.into.push({ edge, from });
    }
  }
  return found;
}
