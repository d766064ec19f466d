/**
 * Chooses the terminals for engines whose lexer takes the longest match. Starts with terminals as large as possible and
 * splits those that may read beyond the intended end, until none is left.
 */

import { joined } from '../fuzz/grammar/classes.js';
import { alphabetOf, type Budget } from './automata/alphabet.js';
import { type Automaton, automatonOf, continuesBeyond, isDeterministic, sharesText } from './automaton.js';
import {
  type CodePointRange,
  type ContextFreeGrammar,
  choice,
  isNullable,
  nullableRules,
  optional,
  type Pattern,
  rebuilt,
  regularRules,
  repeat,
  sequence,
} from './context-free.js';

/** The budget for comparing terminals. Beyond it, all terminals are single characters, which never compete. */
const MAX_EFFORT = 2_000_000;

/** Lexers build tables from terminals; they grow faster than the number of states. */
const MAX_STATES = 200;

export interface LexicalGrammar {
  /** The rules over terminals and the terminals, in the order of the grammar. */
  readonly rules: ReadonlyMap<string, Pattern>;
  /** The whole text: the start rule, or the empty text if the start rule is a terminal that may be empty. */
  readonly start: Pattern;
  /** Returns `true` if a pattern is read as one terminal. Terminals never match the empty text. */
  readonly isTerminal: (pattern: Pattern) => boolean;
}

/** @param grammar a tidy grammar */
export function lexicalGrammar(grammar: ContextFreeGrammar): LexicalGrammar {
  const regular = regularRules(grammar.rules);
  const nonEmpty = withoutEmpty(grammar.rules, (name) => regular.has(name));
  const { startRule } = grammar;
  const whole: Pattern = { kind: 'rule', name: startRule };
  const start = regular.has(startRule) && nullableRules(grammar.rules).has(startRule) ? optional(whole) : whole;
  const broken = new Set<string>();
  const budget = { left: MAX_EFFORT };
  for (;;) {
    const isBroken = (pattern: Pattern): boolean => budget.left < 0 || broken.has(keyOf(pattern));
    const lexical = divided(nonEmpty, regular, isBroken);
    if (budget.left < 0) return { ...lexical, start };
    const tooLarge = competitors(lexical, startRule, (pattern) => automatonOf(pattern, nonEmpty)!, budget);
    if (budget.left < 0) continue;
    if (tooLarge.length === 0) return { ...lexical, start };
    for (const pattern of tooLarge) broken.add(keyOf(pattern));
  }
}

function keyOf(pattern: Pattern): string {
  return JSON.stringify(pattern);
}

function divided(
  rules: ReadonlyMap<string, Pattern>,
  regular: ReadonlySet<string>,
  isBroken: (pattern: Pattern) => boolean,
): Omit<LexicalGrammar, 'start'> {
  const whole = new Set(
    [...regular].filter((name) => {
      const pattern: Pattern = { kind: 'rule', name };
      if (isBroken(pattern)) return false;
      const automaton = automatonOf(pattern, rules);
      return automaton !== null && automaton.sets.length <= MAX_STATES && isDeterministic(automaton);
    }),
  );
  const isRun = (pattern: Pattern): boolean =>
    pattern.kind === 'repeat' &&
    pattern.item.kind === 'set' &&
    automatonOf(pattern, rules) !== null &&
    !isBroken(pattern);
  const isTerminal = (pattern: Pattern): boolean => {
    if (pattern.kind === 'rule') return whole.has(pattern.name);
    return (
      pattern.kind === 'literal' ||
      pattern.kind === 'set' ||
      (pattern.kind === 'repeat' && pattern.min > 0 && isRun(pattern))
    );
  };
  const inRules = (part: Pattern): Pattern => {
    // A literal may also exceed the size limit of automata.
    if (part.kind === 'literal' && (isBroken(part) || automatonOf(part, rules) === null)) {
      return sequence([...part.text].map((text) => ({ ...part, text })));
    }
    if (part.kind !== 'repeat' || part.min > 0 || part.item.kind !== 'set') return part;
    const run = repeat(part.item, 1, part.max);
    return isRun(run) ? optional(run) : part;
  };
  const changed = [...rules].map(([name, pattern]): [string, Pattern] => [
    name,
    whole.has(name) ? pattern : rebuilt(pattern, inRules),
  ]);
  return { rules: new Map(changed), isTerminal };
}

/** The terminals that a lexer may read beyond the end of an intended one; any of them if the budget is exceeded. */
function competitors(
  { rules, isTerminal }: Omit<LexicalGrammar, 'start'>,
  startRule: string,
  makeAutomaton: (pattern: Pattern) => Automaton,
  budget: Budget,
): readonly Pattern[] {
  if (isTerminal({ kind: 'rule', name: startRule })) return [];
  const { terminals, first, next } = followersOf(rules, startRule, isTerminal);
  const automata = new Map<string, Automaton>();
  const keys = terminals.map(keyOf);
  for (const [place, key] of keys.entries())
    if (!automata.has(key)) automata.set(key, makeAutomaton(terminals[place]!));
  const automaton = (place: number): Automaton => automata.get(keys[place]!)!;

  // Terminals that begin with different characters match neither the same text nor a prefix of each other's texts.
  const { symbolsOf } = alphabetOf(
    [...automata.values()].flatMap(({ sets }) => sets.map((ranges): Pattern => ({ kind: 'set', ranges }))),
    'code-point',
  );
  const firsts = keys.map((_, place) => {
    const { starts, sets } = automaton(place);
    return new Set(starts.flatMap((state) => symbolsOf(sets[state]!)));
  });
  const following = next.map((places) => joined([...places].flatMap((place) => startsOf(automaton(place)))));
  const found = new Map<string, Pattern>();
  for (const [meant, other] of simultaneousPlaces(firsts, first, next, sharing(keys, automaton), budget)) {
    budget.left -= automaton(meant).sets.length + automaton(other).sets.length;
    if (budget.left < 0) break;
    if (found.has(keys[other]!)) continue;
    if (continuesBeyond(automaton(meant), automaton(other), following[meant]!))
      found.set(keys[other]!, terminals[other]!);
  }
  return [...found.values()];
}

function startsOf({ starts, sets }: Automaton): readonly CodePointRange[] {
  return starts.flatMap((state) => sets[state]!);
}

/** Caches the answers: two places may match the same text. */
function sharing(keys: readonly string[], automaton: (place: number) => Automaton): (a: number, b: number) => boolean {
  const known = new Map<string, boolean>();
  return (a, b) => {
    if (keys[a] === keys[b]) return true;
    const key = `${keys[a]} ${keys[b]}`;
    const shared = known.get(key) ?? sharesText(automaton(a), automaton(b));
    known.set(key, shared);
    return shared;
  };
}

/** Pairs of places that a reader may be at after the same terminals, and that begin alike. */
function simultaneousPlaces(
  firsts: readonly ReadonlySet<number>[],
  first: ReadonlySet<number>,
  next: readonly ReadonlySet<number>[],
  mayBeSame: (a: number, b: number) => boolean,
  budget: Budget,
): [number, number][] {
  const seen = new Set<number>();
  const pairs: [number, number][] = [];
  const enter = (some: ReadonlySet<number>, others: ReadonlySet<number>): void => {
    const bySymbol = new Map<number, number[]>();
    for (const b of others) {
      for (const symbol of firsts[b]!) {
        budget.left--;
        const known = bySymbol.get(symbol);
        if (known === undefined) bySymbol.set(symbol, [b]);
        else known.push(b);
      }
    }
    for (const a of some) {
      for (const b of [...firsts[a]!].flatMap((symbol) => bySymbol.get(symbol) ?? [])) {
        if (budget.left-- < 0) return;
        if (seen.has(a * firsts.length + b)) continue;
        seen.add(a * firsts.length + b);
        pairs.push([a, b]);
      }
    }
  };
  enter(first, first);
  for (let index = 0; index < pairs.length && budget.left >= 0; index++) {
    const [a, b] = pairs[index]!;
    if (mayBeSame(a, b)) enter(next[a]!, next[b]!);
  }
  return pairs;
}

interface Followers {
  /** The terminals, one for each place in the grammar. */
  readonly terminals: readonly Pattern[];
  readonly first: ReadonlySet<number>;
  readonly next: readonly ReadonlySet<number>[];
}

type Node =
  | { readonly kind: 'terminal'; readonly place: number }
  | { readonly kind: 'rule'; readonly name: string }
  | { readonly kind: 'sequence' | 'choice'; readonly items: readonly Node[]; readonly nullable: boolean }
  | { readonly kind: 'repeat'; readonly item: Node; readonly again: boolean; readonly nullable: boolean };

interface Facts {
  readonly first: Set<number>;
  readonly after: Set<number>;
}

function followersOf(
  rules: ReadonlyMap<string, Pattern>,
  startRule: string,
  isTerminal: (pattern: Pattern) => boolean,
): Followers {
  const nullable = nullableRules(rules);
  const isRuleNullable = (name: string): boolean => nullable.has(name);
  const terminals: Pattern[] = [];
  const next: Set<number>[] = [];

  const nodeOf = (pattern: Pattern): Node => {
    if (isTerminal(pattern)) {
      next.push(new Set());
      return { kind: 'terminal', place: terminals.push(pattern) - 1 };
    }
    const canBeEmpty = isNullable(pattern, isRuleNullable);
    switch (pattern.kind) {
      case 'rule':
        return pattern;
      case 'repeat':
        return { kind: 'repeat', item: nodeOf(pattern.item), again: pattern.max !== 1, nullable: canBeEmpty };
      case 'sequence':
      case 'choice':
        return { kind: pattern.kind, items: pattern.items.map(nodeOf), nullable: canBeEmpty };
      default:
        throw new TypeError(`A pattern that is not a terminal must consist of terminals: ${pattern.kind}`);
    }
  };
  const nodes = new Map(
    [...rules]
      .filter(([name]) => !isTerminal({ kind: 'rule', name }))
      .map(([name, pattern]) => [name, nodeOf(pattern)]),
  );
  const facts = new Map<string, Facts>([...nodes.keys()].map((name) => [name, { first: new Set(), after: new Set() }]));

  const canBeEmpty = (node: Node): boolean =>
    node.kind === 'terminal' ? false : node.kind === 'rule' ? isRuleNullable(node.name) : node.nullable;
  const firstOf = (node: Node): ReadonlySet<number> => {
    switch (node.kind) {
      case 'terminal':
        return new Set([node.place]);
      case 'rule':
        return facts.get(node.name)!.first;
      case 'repeat':
        return firstOf(node.item);
      case 'choice':
        return union(node.items.map(firstOf));
      case 'sequence': {
        const end = node.items.findIndex((item) => !canBeEmpty(item));
        return union(node.items.slice(0, end < 0 ? undefined : end + 1).map(firstOf));
      }
    }
  };
  const note = (node: Node, after: ReadonlySet<number>): void => {
    switch (node.kind) {
      case 'terminal':
        addAll(next[node.place]!, after);
        break;
      case 'rule':
        addAll(facts.get(node.name)!.after, after);
        break;
      case 'repeat':
        note(node.item, node.again ? union([after, firstOf(node.item)]) : after);
        break;
      case 'choice':
        for (const item of node.items) note(item, after);
        break;
      case 'sequence': {
        let behind = after;
        for (const item of node.items.toReversed()) {
          note(item, behind);
          behind = canBeEmpty(item) ? union([firstOf(item), behind]) : firstOf(item);
        }
      }
    }
  };

  const total = (): number =>
    [...facts.values()].reduce((sum, { first, after }) => sum + first.size + after.size, 0) +
    next.reduce((sum, set) => sum + set.size, 0);
  for (let before = -1; before !== total(); ) {
    before = total();
    for (const [name, node] of nodes) {
      const { first, after } = facts.get(name)!;
      addAll(first, firstOf(node));
      note(node, after);
    }
  }
  const first = nodes.has(startRule) ? facts.get(startRule)!.first : new Set<number>();
  return { terminals, first, next };
}

function union(sets: readonly ReadonlySet<number>[]): ReadonlySet<number> {
  return new Set(sets.flatMap((set) => [...set]));
}

function addAll(target: Set<number>, more: ReadonlySet<number>): void {
  for (const one of more) target.add(one);
}

/** Makes the chosen rules match no empty text, and references to them optional. A chosen rule refers only to chosen rules. */
function withoutEmpty(
  rules: ReadonlyMap<string, Pattern>,
  isChosen: (name: string) => boolean,
): ReadonlyMap<string, Pattern> {
  const nullable = new Set([...nullableRules(rules)].filter(isChosen));
  const reference = (part: Pattern): Pattern =>
    part.kind === 'rule' && nullable.has(part.name) ? optional(part) : part;
  const changed = [...rules].map(([name, pattern]): [string, Pattern] => {
    const body = rebuilt(pattern, reference);
    return [name, nullable.has(name) ? nonEmpty(body) : body];
  });
  return new Map(changed);
}

function nonEmpty(pattern: Pattern): Pattern {
  if (!isNullable(pattern, () => false)) return pattern;
  switch (pattern.kind) {
    case 'sequence':
      // One of the items is the first that matches some text.
      return choice(pattern.items.map((item, index) => sequence([nonEmpty(item), ...pattern.items.slice(index + 1)])));
    case 'choice':
      return choice(pattern.items.map(nonEmpty));
    case 'repeat':
      return repeat(nonEmpty(pattern.item), 1, pattern.max);
    default:
      return pattern;
  }
}
