/** Alternatives that others say already are left out. */
import { type Alphabet, alphabetOf } from '../automata/alphabet.js';
import { type Dfa, determinized, isIncluded } from '../automata/dfa.js';
import { createGraph } from '../automata/graph.js';
import { pathsOf, statesOf } from '../automata/paths.js';
import type { Pattern } from '../context-free.js';
import { choice, rebuilt } from '../patterns.js';
import { expanded } from '../single-pattern.js';

/** Parts of an alternative with all rules written out, and states of its automata, beyond which it is left alone. */
const LARGEST = 1_000;
const MOST_STATES = 300;

/** The same texts without alternatives that match nothing which the others of their choice do not match, too. */
export function withoutIncluded(pattern: Pattern, rules: ReadonlyMap<string, Pattern>): Pattern {
  return rebuilt(pattern, (part) =>
    part.kind === 'choice' && part.items.length > 1 ? reduced(part.items, rules) : part,
  );
}

function reduced(items: readonly Pattern[], rules: ReadonlyMap<string, Pattern>): Pattern {
  const plain = items.map((item) => {
    const written = expanded(item, rules, LARGEST);
    return written === null || statesOf(written) > LARGEST ? null : written;
  });
  const regular = plain.filter((item) => item !== null);
  if (regular.length < 2) return choice(items);
  const alphabet = alphabetOf(regular, 'code-point');
  const automata = plain.map((item) => (item === null ? null : automatonOf([item], alphabet)));
  const kept = new Set(items.keys());
  for (const [index, automaton] of automata.entries()) {
    if (automaton === null) continue;
    const others = [...kept].filter((other) => other !== index && automata[other] !== null);
    const includes = (outer: Dfa | null): boolean => outer !== null && isIncluded(automaton, outer);
    const one = others.some((other) => includes(automata[other]!));
    if (
      one ||
      (others.length > 1 &&
        includes(
          automatonOf(
            others.map((other) => plain[other]!),
            alphabet,
          ),
        ))
    )
      kept.delete(index);
  }
  return choice(items.filter((_, index) => kept.has(index)));
}

function automatonOf(alternatives: readonly Pattern[], alphabet: Alphabet): Dfa | null {
  const graph = createGraph();
  const end = graph.state();
  const starts = alternatives.map((pattern) => pathsOf(pattern, graph, end, alphabet));
  return determinized(graph, starts, end, MOST_STATES);
}
