/** Patterns made so that engines that backtrack need no more steps than states times characters. */
import { alphabetOf } from './automata/alphabet.js';
import { determinized, minimized } from './automata/dfa.js';
import { createGraph } from './automata/graph.js';
import { pathsOf, statesOf } from './automata/paths.js';
import { patternOf } from './automata/to-pattern.js';
import { automatonOf, isUnambiguous, mostWays } from './automaton.js';
import type { Pattern } from './context-free.js';
import { rebuilt } from './patterns.js';
import { tidied } from './simplify/tidy-pattern.js';

/** The most states of an automaton that is compared with itself. */
const MOST_COMPARED = 100_000;
/** The most states of a pattern that is written anew. */
const MOST_REWRITTEN = 2_000;
/** The most states of automata on the way to a smallest one, of a smallest one, and parts of the pattern that is made of it. */
const MOST_STATES = 2_000;
const MOST_MINIMAL = 80;
const MOST_PARTS = 5_000;

const NO_RULES: ReadonlyMap<string, Pattern> = new Map();

/** Tells whether a pattern without rules matches each text in one way only; where it is too large to tell, it is taken not to. */
export function matchesInOneWay(pattern: Pattern): boolean {
  const automaton = automatonOf(pattern, NO_RULES, MOST_COMPARED);
  return automaton !== null && isUnambiguous(automaton);
}

/**
 * Returns the pattern with each part that matches some text in two ways written anew, from the inside out. What would be too large
 * stays as it is.
 */
export function madeUnambiguous(pattern: Pattern): Pattern {
  if (matchesInOneWay(pattern)) return pattern;
  return rebuilt(pattern, (part) => (matchesInOneWay(part) ? part : (deterministic(part) ?? part)));
}

/** Returns in how many ways at most a pattern without rules matches a part of a text; null where that may be more than `limit`. */
export function waysOf(pattern: Pattern, limit: number): number | null {
  const automaton = automatonOf(pattern, NO_RULES);
  return automaton && mostWays(automaton, limit);
}

/** Returns the pattern of the smallest deterministic automaton, or of the one that reads texts from their ends. */
function deterministic(pattern: Pattern): Pattern | null {
  if (statesOf(pattern) > MOST_REWRITTEN) return null;
  const plain = tidied(pattern);
  const backward = determinizedPattern(reversed(plain));
  const found = [determinizedPattern(plain), backward && reversed(backward)].filter((one) => one !== null);
  return found.filter(matchesInOneWay).sort((a, b) => statesOf(a) - statesOf(b))[0] ?? null;
}

function determinizedPattern(pattern: Pattern): Pattern | null {
  const alphabet = alphabetOf([pattern], 'code-point');
  const graph = createGraph();
  const end = graph.state();
  const dfa = determinized(graph, [pathsOf(pattern, graph, end, alphabet)], end, MOST_STATES);
  const made = dfa && patternOf(minimized(dfa), alphabet.rangesOf, MOST_PARTS, MOST_MINIMAL);
  return made && tidied(made);
}

function reversed(pattern: Pattern): Pattern {
  return rebuilt(pattern, (part) => {
    if (part.kind === 'literal') return { ...part, text: [...part.text].reverse().join('') };
    return part.kind === 'sequence' ? { ...part, items: part.items.toReversed() } : part;
  });
}
