/**
 * What of a grammar becomes terminals, for engines with a lexer that takes the longest match.
 *
 * The larger the terminals are, the faster such engines go; but a lexer must never read beyond the end that the grammar means.
 * So this begins with terminals as large as they can be, looks for places where two of them may compete, and breaks up the one
 * that would read too far, down to single characters, until no such place is left.
 */
import { alphabetOf } from './automata/alphabet.js';
import type { Budget } from './automata/subsets.js';
import { type Automaton, automatonOf, goesOnBeyond, isDeterministic, sharesText } from './automaton.js';
import { joined } from './case-variants.js';
import type { CodePointRange, ContextFreeGrammar, Pattern } from './context-free.js';
import { followersOf } from './followers.js';
import { nullableRules, withoutEmpty } from './non-empty.js';
import { optional, rebuilt, repeat, sequence } from './patterns.js';
import { regularRules } from './recursion.js';

/** Steps of comparing terminals, beyond which all of them are single characters: those never compete. */
const MOST_EFFORT = 2_000_000;

/** Lexers make tables of terminals, which grow faster than these. */
const MAX_STATES = 200;

export interface LexicalGrammar {
  /** Rules over terminals, and those that are terminals, in the order of the grammar. */
  readonly rules: ReadonlyMap<string, Pattern>;
  /** What a text is: the start rule, or nothing at all in the place of a terminal that may be empty. */
  readonly start: Pattern;
  /** Whether a pattern is read at once. Terminals never match the empty text. */
  readonly isTerminal: (pattern: Pattern) => boolean;
}

/** @param grammar a tidy one */
export function lexicalGrammar(grammar: ContextFreeGrammar): LexicalGrammar {
  const regular = regularRules(grammar.rules);
  const nonEmpty = withoutEmpty(grammar.rules, (name) => regular.has(name));
  const { startRule } = grammar;
  const whole: Pattern = { kind: 'rule', name: startRule };
  const start = regular.has(startRule) && nullableRules(grammar.rules).has(startRule) ? optional(whole) : whole;
  const broken = new Set<string>();
  const budget = { left: MOST_EFFORT };
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

/** The same for all places where the same terminal stands. */
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
    // A literal may also be longer than automata are made.
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

/** Terminals that a lexer may read beyond the end of another that is meant; no matter which, where the budget is used up. */
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

  // Those that begin with different characters neither match the same text nor the beginning of each other's.
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
  for (const [meant, other] of placesOfOneTime(firsts, first, next, sharing(keys, automaton), budget)) {
    budget.left -= automaton(meant).sets.length + automaton(other).sets.length;
    if (budget.left < 0) break;
    if (found.has(keys[other]!)) continue;
    if (goesOnBeyond(automaton(meant), automaton(other), following[meant]!)) found.set(keys[other]!, terminals[other]!);
  }
  return [...found.values()];
}

function startsOf({ starts, sets }: Automaton): readonly CodePointRange[] {
  return starts.flatMap((state) => sets[state]!);
}

/** Whether the same text may be read at two places; asked again and again. */
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

/** Pairs of places at which a reader may be at one time, having read the same terminals up to there, that begin alike. */
function placesOfOneTime(
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
