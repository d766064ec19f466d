import type { Budget } from './automata/alphabet.js';
import { type Automaton, automatonOf, beginningsOf, cutsShort } from './automaton.js';
import { type ContextFreeGrammar, mapRules, type Pattern, rebuilt } from './context-free.js';

/**
 * The budget for finding the alternatives to compare, for a whole grammar; and the number of alternatives up to which
 * all pairs are compared beyond it.
 */
const MAX_EFFORT = 2_000_000;
const FEW = 32;
/** The budget for comparing them, for a whole grammar. */
const MAX_COMPARED = 20_000_000;

/**
 * Moves alternatives before those that match only a prefix of theirs, as `true` does for `truee`, for parsers such as
 * APG that take the first match. Recursive alternatives keep their order, and so do choices with too many.
 */
export function longestFirst(grammar: ContextFreeGrammar): ContextFreeGrammar {
  const { rules } = grammar;
  const budget = { left: MAX_EFFORT };
  const comparisons = { left: MAX_COMPARED };
  const arranged = (part: Pattern): Pattern => {
    if (part.kind !== 'choice') return part;
    const known = part.items.flatMap((item) => {
      const automaton = automatonOf(item, rules);
      return automaton === null ? [] : [{ item, automaton }];
    });
    const automata = known.map(({ automaton }) => automaton);
    const beginnings = beginningsOf(automata, budget) ?? (known.length > FEW ? [] : known.map(() => known.keys()));
    const cutting = new Map(
      known.map(({ item, automaton }, at) => {
        const before = [...(beginnings[at] ?? [])].filter((other) => other < at);
        const inTheWay = before.filter((other) => hides(automata[other]!, automaton, comparisons));
        return [item, inTheWay.map((other) => known[other]!.item)];
      }),
    );
    const items: Pattern[] = [];
    for (const item of part.items) {
      const places = (cutting.get(item) ?? []).map((earlier) => items.indexOf(earlier));
      if (places.length === 0) items.push(item);
      else items.splice(Math.min(...places), 0, item);
    }
    return { kind: 'choice', items };
  };
  return { ...grammar, rules: mapRules(rules, (pattern) => rebuilt(pattern, arranged)) };
}

/** Returns `true` if `earlier`, tried first, keeps a parser from a match of `later`, and not vice versa. */
function hides(earlier: Automaton, later: Automaton, budget: Budget): boolean {
  return cutsShort(earlier, later, budget) && !cutsShort(later, earlier, budget);
}
