/** Automata as patterns: one state after the other is left out, and what led through it is written onto the edges. */
import type { Pattern } from '../context-free.js';
import { EMPTY, NOTHING } from '../patterns.js';
import type { Ranges } from '../ranges.js';
import { concatenated, either, sizeOf, starOf } from './algebra.js';
import type { Dfa } from './dfa.js';

/** The default for the most states: people do not read the pattern of more. */
const MOST_STATES = 24;

type Edges = Map<number, Map<number, Pattern>>;

/**
 * Returns a pattern for the language of a minimal automaton that matches each text in one way only; null where the automaton has
 * more than `mostStates` states, or the pattern more than `limit` parts.
 */
export function patternOf(
  dfa: Dfa,
  rangesOf: (symbols: Iterable<number>) => Ranges,
  limit: number,
  mostStates = MOST_STATES,
): Pattern | null {
  if (dfa.next.length > mostStates) return null;
  const before = dfa.next.length;
  const behind = before + 1;
  const edges: Edges = new Map([[before, new Map([[dfa.start, EMPTY]])]]);
  dfa.next.forEach((moves, from) => {
    const symbols = new Map<number, number[]>();
    for (const [symbol, to] of moves) symbols.set(to, [...(symbols.get(to) ?? []), symbol]);
    const out = new Map(
      [...symbols].map(([to, all]): [number, Pattern] => [to, { kind: 'set', ranges: rangesOf(all) }]),
    );
    if (dfa.accepting[from]) out.set(behind, EMPTY);
    edges.set(from, out);
  });
  const open = new Set(dfa.next.keys());
  while (open.size > 0) {
    const state = cheapest(open, edges);
    open.delete(state);
    leaveOut(state, edges);
    for (const out of edges.values()) for (const pattern of out.values()) if (sizeOf(pattern) > limit) return null;
  }
  return edges.get(before)!.get(behind) ?? NOTHING;
}

/** The state through which the fewest and shortest ways lead. */
function cheapest(open: ReadonlySet<number>, edges: Edges): number {
  let best = -1;
  let least = Number.POSITIVE_INFINITY;
  for (const state of open) {
    const out = [...edges.get(state)!].filter(([to]) => to !== state);
    const into = [...edges].filter(([from, targets]) => from !== state && targets.has(state));
    const weight = (patterns: readonly Pattern[]): number => patterns.reduce((sum, one) => sum + sizeOf(one), 0);
    const loop = edges.get(state)!.get(state);
    const cost =
      weight(out.map(([, pattern]) => pattern)) * into.length +
      weight(into.map(([, targets]) => targets.get(state)!)) * out.length +
      (loop === undefined ? 0 : sizeOf(loop) * into.length * out.length);
    if (cost < least) [best, least] = [state, cost];
  }
  return best;
}

function leaveOut(state: number, edges: Edges): void {
  const out = edges.get(state)!;
  edges.delete(state);
  const loop = out.get(state);
  const middle = loop === undefined ? EMPTY : starOf(loop);
  for (const targets of edges.values()) {
    const into = targets.get(state);
    if (into === undefined) continue;
    targets.delete(state);
    for (const [to, pattern] of out) {
      if (to === state) continue;
      const way = concatenated([into, middle, pattern]);
      targets.set(to, either(targets.get(to) ?? NOTHING, way));
    }
  }
}
