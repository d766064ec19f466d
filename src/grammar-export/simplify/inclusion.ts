/** Alternatives that others say already are left out. */
import { type Alphabet, alphabetOf } from '../automata/alphabet.js';
import { type Dfa, determinized } from '../automata/dfa.js';
import { createGraph } from '../automata/graph.js';
import { pathsOf, statesOf } from '../automata/paths.js';
import { type Budget, subsetsOf } from '../automata/subsets.js';
import type { Pattern } from '../context-free.js';
import { choice, rebuilt } from '../patterns.js';
import { expanded } from '../single-pattern.js';

/** Parts of an alternative with all rules written out, and states of its automata, beyond which it is left alone. */
const LARGEST = 1_000;
const MOST_STATES = 300;

/**
 * The same texts without alternatives that match nothing which the others of their choice do not match, too. Where the budget does
 * not suffice to tell, all stay.
 */
export function withoutIncluded(pattern: Pattern, rules: ReadonlyMap<string, Pattern>, budget: Budget): Pattern {
  return rebuilt(pattern, (part) =>
    part.kind === 'choice' && part.items.length > 1 ? reduced(part.items, rules, budget) : part,
  );
}

function reduced(items: readonly Pattern[], rules: ReadonlyMap<string, Pattern>, budget: Budget): Pattern {
  const plain = items.map((item) => {
    const written = expanded(item, rules, LARGEST);
    return written === null || statesOf(written) > LARGEST ? null : written;
  });
  const regular = plain.filter((item) => item !== null);
  if (regular.length < 2) return choice(items);
  const alphabet = alphabetOf(regular, 'code-point');
  const ends = endsOf(
    plain.map((item) => item && automatonOf(item, alphabet)),
    budget,
  );
  if (ends === null) return choice(items);
  const dropped = new Set<number>();
  for (const [index, own] of ends) {
    if (ends.size - dropped.size < 2 || own.some((others) => others.size < 2)) continue;
    dropped.add(index);
    for (const others of own) others.delete(index);
  }
  return choice(items.filter((_, index) => !dropped.has(index)));
}

/** The sets of alternatives that match the same texts, for each alternative that has an automaton; null beyond the budget. */
function endsOf(automata: readonly (Dfa | null)[], budget: Budget): ReadonlyMap<number, Set<number>[]> | null {
  const states: { readonly dfa: Dfa; readonly owner: number; readonly own: number; readonly first: number }[] = [];
  const starts: number[] = [];
  const ends = new Map<number, Set<number>[]>();
  automata.forEach((dfa, owner) => {
    if (dfa === null) return;
    const first = states.length;
    dfa.next.forEach((_, own) => {
      states.push({ dfa, owner, own, first });
    });
    starts.push(first + dfa.start);
    ends.set(owner, []);
  });
  const moves = (at: number): (readonly [symbol: number, to: number])[] => {
    const { dfa, own, first } = states[at]!;
    return [...dfa.next[own]!].map(([symbol, to]) => [symbol, first + to]);
  };
  const subsets = subsetsOf(starts, moves, budget);
  for (const subset of subsets ?? []) {
    const accepting = [...subset].map((at) => states[at]!).filter(({ dfa, own }) => dfa.accepting[own]);
    const owners = new Set(accepting.map(({ owner }) => owner));
    for (const owner of owners) ends.get(owner)!.push(owners);
  }
  return subsets && ends;
}

function automatonOf(pattern: Pattern, alphabet: Alphabet): Dfa | null {
  const graph = createGraph();
  const end = graph.state();
  return determinized(graph, [pathsOf(pattern, graph, end, alphabet)], end, MOST_STATES);
}
