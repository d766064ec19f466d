import { charactersOf, concatenated, itemsOf, patternOf, sizeOf, unionOfPatterns } from './automata/algebra.js';
import { alphabetOf, type Budget, subsetsOf } from './automata/alphabet.js';
import { type Dfa, dfaOf, minimized, statesOf } from './automata/dfa.js';
import {
  choice,
  EMPTY,
  isEmpty,
  isNothing,
  mapRules,
  NOTHING,
  type Pattern,
  partsOf,
  rebuilt,
  referencesOf,
  repeat,
  sequence,
} from './context-free.js';
import { reachedRules } from './tidy.js';

type Rules = ReadonlyMap<string, Pattern>;

/** The budget for comparing alternatives. */
const MAX_EFFORT = 2_000_000;

export function simplify(rules: Rules, startRule: string): Rules {
  const clean = (given: Rules): Rules =>
    untilStable(given, (some) => withoutTrivial(mapRules(some, tidied), startRule));
  // Aliases are resolved first among the rules of the grammar, which keeps the outer name. A rule that becomes an alias
  // because alternatives are removed is better named by the remaining one.
  const folded = clean(withoutOnlyUses(reachedRules(clean(rules), startRule), startRule));
  const budget = { left: MAX_EFFORT };
  const fewer = clean(mapRules(folded, (pattern) => withoutIncluded(pattern, folded, budget)));
  const unaliased = reachedRules(withoutAliases(fewer, startRule), startRule);
  return reachedRules(clean(shortened(unaliased)), startRule);
}

function untilStable(rules: Rules, step: (rules: Rules) => Rules): Rules {
  for (let before = rules; ; ) {
    const after = step(before);
    if (JSON.stringify([...after]) === JSON.stringify([...before])) return after;
    before = after;
  }
}

/** Removes references to rules that match only the empty text, or nothing. */
function withoutTrivial(rules: Rules, startRule: string): Rules {
  const trivial = new Map([...rules].filter(([, pattern]) => isEmpty(pattern) || isNothing(pattern)));
  const kept = [...rules].filter(([name]) => name === startRule || !trivial.has(name));
  return mapRules(new Map(kept), (pattern) =>
    rebuilt(pattern, (part) => (part.kind === 'rule' ? (trivial.get(part.name) ?? part) : part)),
  );
}

/** A rule that is only a reference to a rule without other users takes over its body. */
function withoutOnlyUses(rules: Rules, startRule: string): Rules {
  const uses = new Map([[startRule, 1]]);
  for (const name of [...rules.values()].flatMap(referencesOf)) uses.set(name, (uses.get(name) ?? 0) + 1);
  const taken = new Map(rules);
  for (const name of rules.keys()) {
    for (let pattern = taken.get(name); pattern?.kind === 'rule'; pattern = taken.get(name)) {
      if (pattern.name === name || uses.get(pattern.name) !== 1) break;
      taken.set(name, taken.get(pattern.name)!);
      taken.delete(pattern.name);
    }
  }
  return taken;
}

/** Replaces references to rules that are only a reference to another rule. */
function withoutAliases(rules: Rules, startRule: string): Rules {
  const target = (name: string): string => {
    const seen = new Set<string>();
    let at = name;
    for (let pattern = rules.get(at); pattern?.kind === 'rule' && !seen.has(at); pattern = rules.get(at)) {
      seen.add(at);
      at = pattern.name;
    }
    return at;
  };
  const direct = mapRules(rules, (pattern) =>
    rebuilt(pattern, (part) => (part.kind === 'rule' ? { kind: 'rule', name: target(part.name) } : part)),
  );
  // The start rule must exist under its own name.
  const start = direct.get(startRule)!;
  return start.kind === 'rule' && start.name !== startRule
    ? new Map(direct).set(startRule, direct.get(start.name)!)
    : direct;
}

const LARGEST = 300;
const MAX_STATES = 100;

/**
 * Shortens rules by inlining those that only one rule refers to. If a name is lost in this way, the grammar must become
 * shorter by a third.
 */
function shortened(rules: Rules): Rules {
  const users = usersOf(rules);
  const made = new Map(rules);
  for (const [name, pattern] of rules) {
    if (!isPrivate(name, rules, users)) continue;
    const shorter = shorterPattern(pattern, rules);
    if (shorter !== null) made.set(name, shorter);
  }
  return made;
}

function shorterPattern(pattern: Pattern, rules: Rules): Pattern | null {
  const written = expanded(pattern, rules, LARGEST);
  if (written === null) return null;
  const plain = tidied(written);
  if (statesOf(plain) > LARGEST) return null;
  const alphabet = alphabetOf([plain], 'code-point');
  const dfa = dfaOf(plain, alphabet, MAX_STATES);
  const size = sizeOf(plain);
  const found = dfa === null ? null : patternOf(minimized(dfa), alphabet.rangesOf, size);
  if (found === null) return null;
  const shorter = tidied(found);
  const isWorthIt = referencesOf(pattern).length === 0 ? sizeOf(shorter) < size : sizeOf(shorter) * 3 <= size * 2;
  return isWorthIt ? shorter : null;
}

function usersOf(rules: Rules): ReadonlyMap<string, ReadonlySet<string>> {
  const users = new Map([...rules.keys()].map((name) => [name, new Set<string>()]));
  for (const [name, pattern] of rules) for (const used of referencesOf(pattern)) users.get(used)!.add(name);
  return users;
}

/** Returns `true` if the rules that a rule leads to are used only by it and by each other. */
function isPrivate(name: string, rules: Rules, users: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  const within = new Set([name]);
  for (const inner of within) for (const used of referencesOf(rules.get(inner)!)) within.add(used);
  return [...within].every((inner) => inner === name || [...users.get(inner)!].every((user) => within.has(user)));
}

export function tidied(pattern: Pattern): Pattern {
  return rebuilt(pattern, (part) => {
    switch (part.kind) {
      case 'literal':
        return part.text === '' ? EMPTY : part;
      case 'set':
        return single(part);
      case 'choice':
        return alternatives(part.items);
      case 'sequence':
        return joinedLiterals(concatenated(part.items));
      case 'repeat':
        return flattened(part);
      default:
        return part;
    }
  });
}

function alternatives(items: readonly Pattern[]): Pattern {
  const union = unionOfPatterns(items);
  return union.kind === 'choice' ? { ...union, items: union.items.map(single) } : single(union);
}

function single(pattern: Pattern): Pattern {
  const ranges = charactersOf(pattern);
  if (ranges?.length === 0) return NOTHING;
  if (ranges?.length !== 1 || ranges[0]![0] !== ranges[0]![1]) return pattern;
  return { kind: 'literal', text: String.fromCodePoint(ranges[0]![0]), ignoreCase: false };
}

function joinedLiterals(pattern: Pattern): Pattern {
  const made: Pattern[] = [];
  for (const item of itemsOf(pattern)) {
    const before = made.at(-1);
    if (item.kind === 'literal' && before?.kind === 'literal' && item.ignoreCase === before.ignoreCase) {
      made[made.length - 1] = { ...item, text: before.text + item.text };
    } else {
      made.push(item);
    }
  }
  return sequence(made);
}

/** Merges a repetition of a repetition if the result is the same. */
function flattened(pattern: Extract<Pattern, { kind: 'repeat' }>): Pattern {
  const { item, min, max } = pattern;
  if (item.kind !== 'repeat') return pattern;
  if (item.max === null && item.min <= 1) return repeat(item.item, min * item.min, null);
  if (item.min === 0 && item.max === 1) return repeat(item.item, 0, max);
  return pattern;
}

/** The maximum number of parts of an alternative with all rules expanded, and states of its automata, up to which it is compared. */
const LARGEST_INCLUSION = 1_000;
const MAX_INCLUSION_STATES = 300;

/** Drops alternatives that the other alternatives of their choice cover. If the budget is exceeded, all stay. */
function withoutIncluded(pattern: Pattern, rules: Rules, budget: Budget): Pattern {
  return rebuilt(pattern, (part) =>
    part.kind === 'choice' && part.items.length > 1 ? reduced(part.items, rules, budget) : part,
  );
}

function reduced(items: readonly Pattern[], rules: Rules, budget: Budget): Pattern {
  const plain = items.map((item) => {
    const written = expanded(item, rules, LARGEST_INCLUSION);
    return written === null || statesOf(written) > LARGEST_INCLUSION ? null : written;
  });
  const regular = plain.filter((item) => item !== null);
  if (regular.length < 2) return choice(items);
  const alphabet = alphabetOf(regular, 'code-point');
  const ends = endsOf(
    plain.map((item) => item && dfaOf(item, alphabet, MAX_INCLUSION_STATES)),
    budget,
  );
  if (ends === null) return choice(items);
  const dropped = new Set<number>();
  for (const [index, own] of ends) {
    if (ends.size - dropped.size < 2 || own.some((others) => others.size < 2)) continue;
    dropped.add(index);
    for (const others of own) others.delete(index);
  }
  return choice(items.filter((_, index) => !dropped.has(index)));
}

/** The sets of alternatives that match the same texts, for each alternative that has an automaton; null if the budget is exceeded. */
function endsOf(automata: readonly (Dfa | null)[], budget: Budget): ReadonlyMap<number, Set<number>[]> | null {
  const states: { readonly dfa: Dfa; readonly owner: number; readonly own: number; readonly first: number }[] = [];
  const starts: number[] = [];
  const ends = new Map<number, Set<number>[]>();
  automata.forEach((dfa, owner) => {
    if (dfa === null) return;
    const first = states.length;
    dfa.next.forEach((_, own) => {
      states.push({ dfa, owner, own, first });
    });
    starts.push(first + dfa.start);
    ends.set(owner, []);
  });
  const moves = (at: number): (readonly [symbol: number, to: number])[] => {
    const { dfa, own, first } = states[at]!;
    return [...dfa.next[own]!].map(([symbol, to]) => [symbol, first + to]);
  };
  const subsets = subsetsOf(starts, moves, budget);
  for (const subset of subsets ?? []) {
    const accepting = [...subset].map((at) => states[at]!).filter(({ dfa, own }) => dfa.accepting[own]);
    const owners = new Set(accepting.map(({ owner }) => owner));
    for (const owner of owners) ends.get(owner)!.push(owners);
  }
  return subsets && ends;
}

function expanded(pattern: Pattern, rules: Rules, limit: number): Pattern | null {
  if (sizeWhenExpanded(pattern, rules) > limit) return null;
  const write = (part: Pattern): Pattern =>
    rebuilt(part, (one) => (one.kind === 'rule' ? write(rules.get(one.name)!) : one));
  return write(pattern);
}

/** The number of parts of a pattern with all rules expanded; Infinity if a rule is recursive. */
function sizeWhenExpanded(pattern: Pattern, rules: Rules): number {
  const sizes = new Map<string, number>();
  const size = (part: Pattern): number => {
    if (part.kind !== 'rule') return 1 + partsOf(part).reduce((sum, one) => sum + size(one), 0);
    let known = sizes.get(part.name);
    if (known === undefined) {
      // A rule counts as infinite while it is computed, and so does every rule that leads back to it.
      sizes.set(part.name, Number.POSITIVE_INFINITY);
      known = size(rules.get(part.name)!);
      sizes.set(part.name, known);
    }
    return known;
  };
  return size(pattern);
}
