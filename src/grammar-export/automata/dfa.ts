import { type Pattern, partsOf } from '../context-free.js';
import type { Alphabet } from './alphabet.js';

/** Graphs whose paths spell texts, symbol by symbol. */
type Edge =
  | {
      readonly kind: 'symbols';
      readonly to: number;
      readonly symbols: readonly number[];
      /** `true` for another round of a repetition that may occur any number of times, including zero. */
      readonly again: boolean;
    }
  /** Consumes no symbol. */
  | { readonly kind: 'free'; readonly to: number }
  /** Consumes no symbol. The examined text ends here, and the text after it begins. */
  | { readonly kind: 'boundary'; readonly to: number };

export interface Graph {
  readonly state: () => number;
  readonly add: (from: number, edge: Edge) => void;
  readonly edgesOf: (state: number) => readonly Edge[];
  readonly size: () => number;
  /** Removes all edges added since the size was `size`, provided that they begin at new states. */
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

interface BackEdge {
  readonly edge: Edge;
  readonly from: number;
}

interface ReachableState {
  readonly distance: number;
  readonly into: readonly BackEdge[];
}

export function reachedFrom(graph: Graph, start: number): ReadonlyMap<number, ReachableState> {
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

export interface Dfa {
  readonly start: number;
  readonly accepting: readonly boolean[];
  /** For each state, the successor by symbol. A missing symbol rejects. */
  readonly next: readonly ReadonlyMap<number, number>[];
}

/** Builds the automaton for the paths of a graph from `starts` to `end`; null if it has more than `limit` states. */
export function determinized(graph: Graph, starts: readonly number[], end: number, limit: number): Dfa | null {
  const sets: (readonly number[])[] = [];
  const numbers = new Map<string, number>();
  const numberOf = (states: readonly number[]): number => {
    const closed = closureOf(graph, states);
    const key = closed.join();
    let number = numbers.get(key);
    if (number === undefined) {
      number = sets.push(closed) - 1;
      numbers.set(key, number);
    }
    return number;
  };
  const next: Map<number, number>[] = [];
  const start = numberOf(starts);
  for (let state = 0; state < sets.length; state++) {
    if (sets.length > limit) return null;
    const targets = new Map<number, number[]>();
    for (const inner of sets[state]!) {
      for (const edge of graph.edgesOf(inner)) {
        if (edge.kind !== 'symbols') continue;
        for (const symbol of edge.symbols) {
          const known = targets.get(symbol);
          if (known === undefined) targets.set(symbol, [edge.to]);
          else known.push(edge.to);
        }
      }
    }
    next.push(new Map([...targets].map(([symbol, states]) => [symbol, numberOf(states)])));
  }
  return { start, accepting: sets.map((states) => states.includes(end)), next };
}

/** Minimizes an automaton and removes dead states. */
export function minimized(dfa: Dfa): Dfa {
  const alive = living(dfa);
  let groups = dfa.accepting.map((accepting, state) => (alive.has(state) ? Number(accepting) : -1));
  for (let count = -1; ; ) {
    const numbers = new Map<string, number>();
    const finer = groups.map((group, state) => {
      if (group < 0) return -1;
      const moves = [...dfa.next[state]!]
        .map(([symbol, to]): [number, number] => [symbol, groups[to]!])
        .filter(([, to]) => to >= 0)
        .sort(([a], [b]) => a - b);
      const key = `${group}|${moves.join(';')}`;
      if (!numbers.has(key)) numbers.set(key, numbers.size);
      return numbers.get(key)!;
    });
    groups = finer;
    if (numbers.size === count) break;
    count = numbers.size;
  }
  return merged(dfa, groups);
}

function merged(dfa: Dfa, groups: readonly number[]): Dfa {
  const size = Math.max(0, ...groups.map((group) => group + 1));
  // An empty language still needs an initial state.
  if (groups[dfa.start]! < 0) return { start: 0, accepting: [false], next: [new Map()] };
  const accepting = Array.from({ length: size }, () => false);
  const next = Array.from({ length: size }, () => new Map<number, number>());
  groups.forEach((group, state) => {
    if (group < 0) return;
    accepting[group] = dfa.accepting[state]!;
    for (const [symbol, to] of dfa.next[state]!) if (groups[to]! >= 0) next[group]!.set(symbol, groups[to]!);
  });
  return { start: groups[dfa.start]!, accepting, next };
}

function living(dfa: Dfa): ReadonlySet<number> {
  const into = new Map<number, number[]>();
  dfa.next.forEach((moves, from) => {
    for (const to of moves.values()) {
      const known = into.get(to);
      if (known === undefined) into.set(to, [from]);
      else known.push(from);
    }
  });
  const found = new Set(dfa.accepting.flatMap((accepting, state) => (accepting ? [state] : [])));
  const open = [...found];
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    for (const from of into.get(state) ?? []) {
      if (found.has(from)) continue;
      found.add(from);
      open.push(from);
    }
  }
  return found;
}

/** Builds the automaton of a pattern without rules; null if it has more than `limit` states. */
export function dfaOf(pattern: Pattern, alphabet: Alphabet, limit: number): Dfa | null {
  const graph = createGraph();
  const end = graph.state();
  return determinized(graph, [pathsOf(pattern, graph, end, alphabet)], end, limit);
}

function pathsOf(pattern: Pattern, graph: Graph, exit: number, alphabet: Alphabet): number {
  const free = (from: number, to: number): void => graph.add(from, { kind: 'free', to });
  const step = (symbols: readonly number[], to: number): number => {
    const from = graph.state();
    graph.add(from, { kind: 'symbols', to, symbols, again: false });
    return from;
  };
  const spell = (part: Pattern, to: number): number => {
    switch (part.kind) {
      case 'set':
        return step(alphabet.symbolsOf(part.ranges), to);
      case 'literal':
        return alphabet.spelled(part).reduceRight((next, symbols) => step(symbols, next), to);
      case 'sequence':
        return part.items.reduceRight((next, item) => spell(item, next), to);
      case 'choice': {
        const from = graph.state();
        for (const item of part.items) free(from, spell(item, to));
        return from;
      }
      case 'repeat':
        return repeated(part, to);
      case 'rule':
        throw new RangeError(`The rule ${part.name} is not expanded`);
    }
  };
  const repeated = ({ item, min, max }: Extract<Pattern, { kind: 'repeat' }>, to: number): number => {
    let next = graph.state();
    free(next, to);
    if (max === null) free(next, spell(item, next));
    for (let i = min; max !== null && i < max; i++) {
      const from = graph.state();
      free(from, to);
      free(from, spell(item, next));
      next = from;
    }
    for (let i = 0; i < min; i++) next = spell(item, next);
    return next;
  };
  return spell(pattern, exit);
}

export function statesOf(pattern: Pattern): number {
  if (pattern.kind === 'literal') return pattern.text.length;
  if (pattern.kind === 'repeat') return 1 + Math.max(pattern.min, pattern.max ?? 1) * statesOf(pattern.item);
  return 1 + partsOf(pattern).reduce((sum, part) => sum + statesOf(part), 0);
}
