import {
  type ContextFreeGrammar,
  EMPTY,
  ExportError,
  isEmpty,
  NOTHING,
  type Pattern,
  type Peg,
  partsOf,
  rebuilt,
  referencesOf,
  rulesWhere,
} from './context-free.js';

/**
 * Drops rules and alternatives that match no text or only the empty text, and flattens sequences and choices.
 *
 * @throws ExportError `empty-language`
 */
export function tidy(grammar: ContextFreeGrammar): ContextFreeGrammar {
  const productive = rulesWhere(grammar.rules, matchesSome);
  if (!productive.has(grammar.startRule)) {
    throw new ExportError('empty-language', `The rule ${grammar.startRule} matches no text`, grammar.startRule);
  }
  const empty = new Set<string>();
  const simple = (part: Pattern): Pattern => {
    if (part.kind === 'literal' && part.text === '') return EMPTY;
    if (part.kind === 'set' && part.ranges.length === 0) return NOTHING;
    if (part.kind !== 'rule') return part;
    if (empty.has(part.name)) return EMPTY;
    return productive.has(part.name) ? part : NOTHING;
  };
  let rules = new Map([...grammar.rules].filter(([name]) => productive.has(name)));
  // A rule that turns out to match only the empty text may reduce its callers, too.
  for (let before = -1; before !== empty.size; ) {
    before = empty.size;
    rules = new Map([...rules].map(([name, pattern]) => [name, rebuilt(pattern, simple)]));
    for (const [name, pattern] of rules) if (isEmpty(pattern)) empty.add(name);
  }
  return { ...grammar, rules: reachedRules(rules, grammar.startRule) };
}

function matchesSome(pattern: Pattern, isProductive: (name: string) => boolean): boolean {
  const doesPart = (part: Pattern): boolean => matchesSome(part, isProductive);
  switch (pattern.kind) {
    case 'rule':
      return isProductive(pattern.name);
    case 'set':
      return pattern.ranges.length > 0;
    case 'choice':
      return pattern.items.some(doesPart);
    case 'repeat':
      return pattern.min === 0 || doesPart(pattern.item);
    default:
      return partsOf(pattern).every(doesPart);
  }
}

export function reachedRules<P extends Peg>(rules: ReadonlyMap<string, P>, startRule: string): ReadonlyMap<string, P> {
  const reached = new Set<string>();
  const open = [startRule];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const pattern = rules.get(name);
    if (pattern === undefined || reached.has(name)) continue;
    reached.add(name);
    open.push(...referencesOf(pattern));
  }
  return new Map([...rules].filter(([name]) => reached.has(name)));
}
