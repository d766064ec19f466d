/**
 * The order of alternatives, for parsers that try them one after the other and never come back to one that matched, as Peggy and
 * APG do. The language does not depend on it; whether such a parser finds all of it, does.
 */
import { type Automaton, automatonOf, cutsShort } from './automaton.js';
import type { ContextFreeGrammar, Pattern } from './context-free.js';
import { rebuilt } from './patterns.js';

/**
 * Moves alternatives before those that would match only the beginning of what they match, as `true` does of `truee`. Without
 * need, and where alternatives are recursive, the order stays.
 */
export function longestFirst(grammar: ContextFreeGrammar): ContextFreeGrammar {
  const { rules } = grammar;
  const arranged = (part: Pattern): Pattern => {
    if (part.kind !== 'choice') return part;
    const automata = new Map(part.items.map((item) => [item, automatonOf(item, rules)]));
    const items: Pattern[] = [];
    for (const item of part.items) {
      const automaton = automata.get(item)!;
      const cutting = items.findIndex((earlier) => isInTheWay(automata.get(earlier)!, automaton));
      if (cutting < 0) items.push(item);
      else items.splice(cutting, 0, item);
    }
    return { kind: 'choice', items };
  };
  return { ...grammar, rules: new Map([...rules].map(([name, pattern]) => [name, rebuilt(pattern, arranged)])) };
}

/** Whether `earlier`, tried first, keeps a parser from what `later` matches, and not the other way round. */
function isInTheWay(earlier: Automaton | null, later: Automaton | null): boolean {
  return earlier !== null && later !== null && cutsShort(earlier, later) && !cutsShort(later, earlier);
}
