/** Which rules hold themselves, and so are beyond automata. */
import type { Pattern } from './context-free.js';
import { referencesOf } from './patterns.js';

/** A rule that holds itself, directly or through others, the first of them in the order of the rules; null if none does. */
export function recursiveRule(rules: ReadonlyMap<string, Pattern>): string | null {
  for (const name of rules.keys()) if (reachedFrom(name, rules).has(name)) return name;
  return null;
}

/** Rules that no rule that holds itself is part of. */
export function regularRules(rules: ReadonlyMap<string, Pattern>): ReadonlySet<string> {
  const reached = new Map([...rules.keys()].map((name) => [name, reachedFrom(name, rules)]));
  const isRecursive = (name: string): boolean => reached.get(name)!.has(name);
  const isRegular = (name: string): boolean => !isRecursive(name) && ![...reached.get(name)!].some(isRecursive);
  return new Set([...rules.keys()].filter(isRegular));
}

/** The rules that a rule refers to, directly or through others. */
function reachedFrom(start: string, rules: ReadonlyMap<string, Pattern>): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = referencesOf(rules.get(start)!);
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (reached.has(name)) continue;
    reached.add(name);
    open.push(...referencesOf(rules.get(name)!));
  }
  return reached;
}
