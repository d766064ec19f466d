/**
 * A matcher with the semantics of llguidance: a lexer takes the longest match of all terminals that the parser can use
 * next, passes it to all that match exactly that, and never backtracks; a match may not begin and then fail.
 */
import { type Automaton, automatonOf, overlap } from '../../src/grammar-export/automaton.js';
import type { Pattern } from '../../src/grammar-export/context-free.js';
import type { LexicalGrammar } from '../../src/grammar-export/terminals.js';

/** The patterns that remain to be matched, the next one first. */
type Plan = readonly Pattern[];

/** For grammars without left recursion. */
export function greedyMatcher({ rules, start, isTerminal }: LexicalGrammar): (text: string) => boolean {
  const automata = new Map<string, Automaton>();
  const automatonFor = (terminal: Pattern): Automaton => {
    const key = JSON.stringify(terminal);
    const automaton = automata.get(key) ?? automatonOf(terminal, rules)!;
    automata.set(key, automaton);
    return automaton;
  };
  return (text) => {
    const characters = [...text].map((character) => character.codePointAt(0)!);
    let plans = opened([[start]]);
    for (let at = 0; at < characters.length; ) {
      const lexers = plans
        .filter((plan) => plan.length > 0)
        .map((plan) => ({ plan, automaton: automatonFor(plan[0]!), states: null as readonly number[] | null }));
      let end = at;
      let alive = lexers;
      let matched: typeof lexers = [];
      for (; end < characters.length; end++) {
        const code = characters[end]!;
        const next = alive
          .map((lexer) => ({ ...lexer, states: advanced(lexer.automaton, lexer.states, code) }))
          .filter(({ states }) => states.length > 0);
        if (next.length === 0) break;
        alive = next;
        matched = next.filter(({ automaton, states }) => states!.some((state) => automaton.accepts[state]));
      }
      if (matched.length === 0) return false;
      at = end;
      plans = opened(matched.map(({ plan }) => plan.slice(1)));
    }
    return plans.some((plan) => plan.length === 0);
  };

  /** The plans that begin with a terminal, or are done. */
  function opened(plans: readonly Plan[]): Plan[] {
    const found = new Map<string, Plan>();
    const seen = new Set<string>();
    const open = [...plans];
    for (let plan = open.pop(); plan !== undefined; plan = open.pop()) {
      const key = JSON.stringify(plan);
      if (seen.has(key)) continue;
      seen.add(key);
      const [first, ...rest] = plan;
      if (first === undefined || isTerminal(first)) found.set(key, plan);
      else open.push(...expanded(first).map((some) => [...some, ...rest]));
    }
    return [...found.values()];
  }

  function expanded(pattern: Pattern): Plan[] {
    switch (pattern.kind) {
      case 'rule':
        return [[rules.get(pattern.name)!]];
      case 'sequence':
        return [pattern.items];
      case 'choice':
        return pattern.items.map((item) => [item]);
      case 'repeat': {
        const { item, min, max } = pattern;
        if (max === 0) return [[]];
        // The rest of a repetition is not a terminal, even if an equal repetition is.
        const plain: Pattern = item.kind === 'sequence' ? item : { kind: 'sequence', items: [item] };
        const rest = { min: Math.max(0, min - 1), max: max === null ? null : max - 1 };
        const again: Pattern = { kind: 'repeat', item: plain, ...rest };
        return min === 0 ? [[], [item, again]] : [[item, again]];
      }
      default:
        throw new TypeError(`${pattern.kind} is always a terminal`);
    }
  }
}

function advanced(
  { sets, starts, next }: Automaton,
  states: readonly number[] | null,
  code: number,
): readonly number[] {
  const candidates = states === null ? starts : [...new Set(states.flatMap((state) => next[state]!))];
  return candidates.filter((state) => overlap(sets[state]!, [[code, code]]));
}
