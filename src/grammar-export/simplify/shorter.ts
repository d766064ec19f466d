/** Rules said in fewer words: by way of the smallest automaton for their texts. */

import { sizeOf } from '../automata/algebra.js';
import { alphabetOf } from '../automata/alphabet.js';
import { determinized, minimized } from '../automata/dfa.js';
import { createGraph } from '../automata/graph.js';
import { pathsOf, statesOf } from '../automata/paths.js';
import { patternOf } from '../automata/to-pattern.js';
import type { Pattern } from '../context-free.js';
import { referencesOf } from '../patterns.js';
import { expanded } from '../single-pattern.js';
import { tidied } from './tidy-pattern.js';

const LARGEST = 300;
const MOST_STATES = 100;

/**
 * The rules, those made anew that become shorter. A rule takes in what it refers to, if nothing else does: what other rules need
 * keeps its name. Where a name is lost that way, it has to become shorter by a third.
 */
export function shortened(rules: ReadonlyMap<string, Pattern>): ReadonlyMap<string, Pattern> {
  const users = usersOf(rules);
  const made = new Map(rules);
  for (const [name, pattern] of rules) {
    if (!isPrivate(name, rules, users)) continue;
    const shorter = shorterPattern(pattern, rules);
    if (shorter !== null) made.set(name, shorter);
  }
  return made;
}

function shorterPattern(pattern: Pattern, rules: ReadonlyMap<string, Pattern>): Pattern | null {
  const written = expanded(pattern, rules, LARGEST);
  if (written === null) return null;
  const plain = tidied(written);
  if (statesOf(plain) > LARGEST) return null;
  const alphabet = alphabetOf([plain], 'code-point');
  const graph = createGraph();
  const end = graph.state();
  const dfa = determinized(graph, [pathsOf(plain, graph, end, alphabet)], end, MOST_STATES);
  const size = sizeOf(plain);
  const found = dfa === null ? null : patternOf(minimized(dfa), alphabet.rangesOf, size);
  if (found === null) return null;
  const shorter = tidied(found);
  const isWorthIt = referencesOf(pattern).length === 0 ? sizeOf(shorter) < size : sizeOf(shorter) * 3 <= size * 2;
  return isWorthIt ? shorter : null;
}

/** By whom each rule is used. */
function usersOf(rules: ReadonlyMap<string, Pattern>): ReadonlyMap<string, ReadonlySet<string>> {
  const users = new Map([...rules.keys()].map((name) => [name, new Set<string>()]));
  for (const [name, pattern] of rules) for (const used of referencesOf(pattern)) users.get(used)!.add(name);
  return users;
}

/** Whether all that a rule leads to is used by itself and by what it leads to, and by nothing else. */
function isPrivate(
  name: string,
  rules: ReadonlyMap<string, Pattern>,
  users: ReadonlyMap<string, ReadonlySet<string>>,
): boolean {
  const within = new Set([name]);
  for (const inner of within) for (const used of referencesOf(rules.get(inner)!)) within.add(used);
  return [...within].every((inner) => inner === name || [...users.get(inner)!].every((user) => within.has(user)));
}
