/**
 * What of a grammar becomes terminals, for engines with a lexer that takes the longest match.
 *
 * The larger the terminals are, the faster such engines go; but a lexer must never read beyond the end that the grammar means.
 * So this begins with terminals as large as they can be, looks for places where two of them may compete, and breaks up the one
 * that would read too far, down to single characters, until no such place is left.
 */
import { type Automaton, automatonOf, goesOnBeyond, isDeterministic, sharesText } from './automaton.js';
import type { CodePointRange, ContextFreeGrammar, Pattern } from './context-free.js';
import { followersOf } from './followers.js';
import { nullableRules, withoutEmpty } from './non-empty.js';
import { optional, rebuilt, repeat, sequence } from './patterns.js';
import { regularRules } from './recursion.js';

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
  for (;;) {
    const lexical = divided(nonEmpty, regular, broken);
    const tooLarge = competitors(lexical, startRule, (pattern) => automatonOf(pattern, nonEmpty)!);
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
  broken: ReadonlySet<string>,
): Omit<LexicalGrammar, 'start'> {
  const isBroken = (pattern: Pattern): boolean => broken.has(keyOf(pattern));
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

/** Terminals that a lexer may read beyond the end of another that is meant. */
function competitors(
  { rules, isTerminal }: Omit<LexicalGrammar, 'start'>,
  startRule: string,
  makeAutomaton: (pattern: Pattern) => Automaton,
): readonly Pattern[] {
  if (isTerminal({ kind: 'rule', name: startRule })) return [];
  const { terminals, first, next } = followersOf(rules, startRule, isTerminal);
  const automata = new Map<string, Automaton>();
  const keys = terminals.map(keyOf);
  for (const [place, key] of keys.entries())
    if (!automata.has(key)) automata.set(key, makeAutomaton(terminals[place]!));
  const automaton = (place: number): Automaton => automata.get(keys[place]!)!;

  const found = new Map<string, Pattern>();
  for (const [meant, other] of placesOfOneTime(terminals.length, first, next, sharing(keys, automaton))) {
    if (found.has(keys[other]!)) continue;
    const following = [...next[meant]!].flatMap((place) => startsOf(automaton(place)));
    if (goesOnBeyond(automaton(meant), automaton(other), following)) found.set(keys[other]!, terminals[other]!);
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

/** Pairs of places at which a reader may be at one time, having read the same terminals up to there. */
function placesOfOneTime(
  count: number,
  first: ReadonlySet<number>,
  next: readonly ReadonlySet<number>[],
  mayBeSame: (a: number, b: number) => boolean,
): [number, number][] {
  const seen = new Set<number>();
  const pairs: [number, number][] = [];
  const enter = (some: ReadonlySet<number>, others: ReadonlySet<number>): void => {
    for (const a of some) {
      for (const b of others) {
        if (seen.has(a * count + b)) continue;
        seen.add(a * count + b);
        pairs.push([a, b]);
      }
    }
  };
  enter(first, first);
  for (let index = 0; index < pairs.length; index++) {
    const [a, b] = pairs[index]!;
    if (mayBeSame(a, b)) enter(next[a]!, next[b]!);
  }
  return pairs;
}
