/** Grammars without recursion, as one pattern. */
import type { ContextFreeGrammar, Pattern } from './context-free.js';
import { partsOf, rebuilt } from './patterns.js';

/** Parts, beyond which a pattern is of no use to anybody. */
const LARGEST = 100_000;

/** Whether no rule leads back to itself. */
export function isRegular(grammar: ContextFreeGrammar): boolean {
  return Number.isFinite(sizeWhenExpanded({ kind: 'rule', name: grammar.startRule }, grammar.rules));
}

/** All rules written out where they are used; null where that would never end, or be larger than 100,000 parts. */
export function asSinglePattern(grammar: ContextFreeGrammar): Pattern | null {
  return expanded({ kind: 'rule', name: grammar.startRule }, grammar.rules, LARGEST);
}

/** A pattern with the rules written out; null where that would be of more than `limit` parts. */
export function expanded(pattern: Pattern, rules: ContextFreeGrammar['rules'], limit: number): Pattern | null {
  if (sizeWhenExpanded(pattern, rules) > limit) return null;
  const write = (part: Pattern): Pattern =>
    rebuilt(part, (one) => (one.kind === 'rule' ? write(rules.get(one.name)!) : one));
  return write(pattern);
}

/** How many parts a pattern has with all rules written out; Infinity where a rule leads back to itself. */
function sizeWhenExpanded(pattern: Pattern, rules: ContextFreeGrammar['rules']): number {
  const sizes = new Map<string, number>();
  const size = (part: Pattern): number => {
    if (part.kind !== 'rule') return 1 + partsOf(part).reduce((sum, one) => sum + size(one), 0);
    let known = sizes.get(part.name);
    if (known === undefined) {
      // While a rule is being worked out it is without end, and so is all that leads back to it.
      sizes.set(part.name, Number.POSITIVE_INFINITY);
      known = size(rules.get(part.name)!);
      sizes.set(part.name, known);
    }
    return known;
  };
  return size(pattern);
}
