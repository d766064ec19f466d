/**
 * From code units to code points. Peggy takes a character beyond U+FFFF in two halves, which may go to different parts
 * of a grammar. So each pattern is taken in four ways, by whether it begins and ends within such a character.
 */

import { either, sizeOf, starOf } from './automata/algebra.js';
import {
  CHARACTERS,
  differenceOf,
  HIGH_HALVES,
  intersectionOf,
  LAST_CODE_POINT,
  LAST_UNIT,
  LOW_HALVES,
  type Ranges,
  SURROGATES,
  unionOf,
} from './characters.js';
import {
  type Approximation,
  type CodePointRange,
  EMPTY,
  isEmpty,
  isNothing,
  type Kind,
  NOTHING,
  type Pattern,
  partsOf,
  rebuilt,
  referencesOf,
  repeat,
  sequence,
} from './context-free.js';

type Rules = ReadonlyMap<string, Pattern>;

/** The ways, by what is open before and behind: nothing or a half. */
interface Ways {
  readonly whole: Pattern;
  /** Ends behind a first half. */
  readonly opening: Pattern;
  /** Begins behind a first half. */
  readonly closing: Pattern;
  /** Begins and ends behind one. */
  readonly within: Pattern;
}

type Way = keyof Ways;
const WAYS: readonly Way[] = ['whole', 'opening', 'closing', 'within'];

const NO_WAY: Ways = { whole: NOTHING, opening: NOTHING, closing: NOTHING, within: NOTHING };
const STAY: Ways = { ...NO_WAY, whole: EMPTY, within: EMPTY };

/** Parts, beyond which exactness is not worth while: each half that could go either way may double them. */
const LARGEST = 60;

interface CodePoints {
  readonly rules: Rules;
  readonly approximations: readonly Approximation[];
}

export function toCodePoints(rules: Rules, startRule: string): CodePoints {
  if (![...rules.values()].some(hasHalves)) return { rules, approximations: [] };
  const nameOf = namesOf(rules);
  const notes = new Set<string>();
  // Which ways lead anywhere is only known when all rules are done: a few rounds, each with more of them.
  let possible = new Set<string>([...rules.keys()].map((name) => nameOf(name, 'whole')));
  let made = new Map<string, Pattern>();
  for (let before = -1; before !== possible.size; ) {
    before = possible.size;
    made = new Map<string, Pattern>();
    for (const [name, pattern] of rules) {
      const ways = waysOf(pattern, { nameOf, possible, inexact: () => notes.add(name) });
      for (const way of WAYS) {
        if (way === 'whole' || !isNothing(ways[way])) made.set(nameOf(name, way), ways[way]);
      }
    }
    possible = new Set(made.keys());
  }
  return {
    rules: wholeAgain(withoutHelpers(made, new Set(rules.keys())), startRule),
    approximations: [...notes].map((rule) => ({
      code: 'surrogates',
      rule,
      message: 'characters beyond U+FFFF, which the parser reads half by half, are matched more freely here',
    })),
  };
}

function hasHalves(pattern: Pattern): boolean {
  return pattern.kind === 'set'
    ? intersectionOf(pattern.ranges, [SURROGATES]).length > 0
    : partsOf(pattern).some(hasHalves);
}

interface Context {
  readonly nameOf: (rule: string, way: Way) => string;
  readonly possible: ReadonlySet<string>;
  readonly inexact: () => void;
}

function waysOf(pattern: Pattern, context: Context): Ways {
  switch (pattern.kind) {
    case 'literal':
      return pattern.text === '' ? STAY : { ...NO_WAY, whole: pattern };
    case 'set':
      return waysOfSet(pattern, context);
    case 'rule': {
      const way = (one: Way): Pattern => {
        const name = context.nameOf(pattern.name, one);
        return context.possible.has(name) ? { kind: 'rule', name } : NOTHING;
      };
      return { whole: way('whole'), opening: way('opening'), closing: way('closing'), within: way('within') };
    }
    case 'sequence':
      return waysOfSequence(pattern.items, context);
    case 'choice':
      return pattern.items.map((item) => waysOf(item, context)).reduce(eitherWay, NO_WAY);
    case 'repeat':
      return waysOfRepeat(pattern, context);
  }
}

function waysOfSet(set: Kind<'set'>, { inexact }: Context): Ways {
  const low = intersectionOf(set.ranges, [LOW_HALVES]);
  if (low.length > 0 && !isAnyLow(low)) inexact();
  return {
    ...NO_WAY,
    whole: setOf(intersectionOf(set.ranges, CHARACTERS)),
    opening: setOf(charactersOf(intersectionOf(set.ranges, [HIGH_HALVES]), [LOW_HALVES])),
    closing: low.length > 0 ? EMPTY : NOTHING,
  };
}

function isAnyLow(low: Ranges): boolean {
  return low[0]?.join() === LOW_HALVES.join();
}

function setOf(ranges: Ranges): Pattern {
  return ranges.length === 0 ? NOTHING : { kind: 'set', ranges };
}

function charactersOf(high: Ranges, low: Ranges): Ranges {
  const start = (half: number): number => 0x10000 + (half - HIGH_HALVES[0]) * 0x400;
  return high.flatMap(([first, last]): CodePointRange[] => {
    if (isAnyLow(low)) return [[start(first), start(last) + 0x3ff]];
    return Array.from({ length: last - first + 1 }, (_, at) => start(first + at)).flatMap((from) =>
      low.map(([a, b]): CodePointRange => [from + a - LOW_HALVES[0], from + b - LOW_HALVES[0]]),
    );
  });
}

function waysOfSequence(items: readonly Pattern[], context: Context): Ways {
  let ways = STAY;
  for (let i = 0; i < items.length; i++) {
    if (isLarge(ways)) return anyOf(items, context);
    const [here, next] = [items[i]!, items[i + 1]];
    if (here.kind === 'set' && next?.kind === 'set' && arePaired(here, next)) {
      ways = oneByOne(ways, waysOfPair(here, next, context));
      i++;
    } else {
      ways = oneByOne(ways, waysOf(here, context));
    }
  }
  return ways;
}

/** Whether the second of two sets has some second halves and others not, so that both have to be looked at together. */
function arePaired(first: Kind<'set'>, second: Kind<'set'>): boolean {
  const low = intersectionOf(second.ranges, [LOW_HALVES]);
  return low.length > 0 && !isAnyLow(low) && intersectionOf(first.ranges, [HIGH_HALVES]).length > 0;
}

function waysOfPair(first: Kind<'set'>, second: Kind<'set'>, context: Context): Ways {
  const high = intersectionOf(first.ranges, [HIGH_HALVES]);
  const low = intersectionOf(second.ranges, [LOW_HALVES]);
  // Apart, the second set is left without its second halves: where it had some, they were taken together with the first.
  const before = waysOfSet(first, context);
  const after = waysOfSet({ kind: 'set', ranges: differenceOf(second.ranges, low) }, context);
  const apart = oneByOne({ ...before, opening: NOTHING }, after);
  return eitherWay(apart, { ...NO_WAY, whole: setOf(charactersOf(high, low)) });
}

function waysOfRepeat({ item, min, max }: Kind<'repeat'>, context: Context): Ways {
  const one = waysOf(item, context);
  if (isNothing(one.opening) && isNothing(one.closing) && isNothing(one.within)) {
    const within = min === 0 ? EMPTY : NOTHING;
    return { ...NO_WAY, whole: { kind: 'repeat', item: one.whole, min, max }, within };
  }
  let ways = max === null ? anyNumberOf(one) : STAY;
  for (let i = 0; i < Math.max(min, max ?? 0); i++) {
    if (isLarge(ways)) {
      context.inexact();
      return isNothing(one.within) ? countedFreely(one, min, max) : anyNumberOf(one);
    }
    ways = i < (max ?? min) - min ? eitherWay(oneByOne(one, ways), STAY) : oneByOne(one, ways);
  }
  return ways;
}

function isLarge(ways: Ways): boolean {
  return WAYS.some((way) => sizeOf(ways[way]) > LARGEST);
}

function anyOf(items: readonly Pattern[], context: Context): Ways {
  context.inexact();
  return anyNumberOf(waysOf({ kind: 'choice', items }, context));
}

/** A repetition of which one time or two take a character, whichever it is: half as many times will do. */
function countedFreely({ whole, opening, closing }: Ways, min: number, max: number | null): Ways {
  const character = either(whole, inARow(opening, closing));
  const times = (less: number): Pattern =>
    repeat(character, Math.max(Math.ceil((min - less) / 2), 0), max === null ? null : Math.max(max - less, 0));
  const through = inARow(closing, times(2), opening);
  return {
    whole: times(0),
    opening: inARow(times(1), opening),
    closing: inARow(closing, times(1)),
    within: min === 0 ? either(EMPTY, through) : through,
  };
}

function anyNumberOf({ whole, opening, closing, within }: Ways): Ways {
  const amid = starOf(within);
  const through = inARow(opening, amid, closing);
  const all = starOf(either(whole, through));
  return {
    whole: all,
    opening: inARow(all, opening, amid),
    closing: inARow(amid, closing, all),
    within: either(amid, inARow(amid, closing, all, opening, amid)),
  };
}

function inARow(...patterns: readonly Pattern[]): Pattern {
  return sequence(patterns);
}

function eitherWay(a: Ways, b: Ways): Ways {
  return {
    whole: either(a.whole, b.whole),
    opening: either(a.opening, b.opening),
    closing: either(a.closing, b.closing),
    within: either(a.within, b.within),
  };
}

function oneByOne(a: Ways, b: Ways): Ways {
  return {
    whole: either(inARow(a.whole, b.whole), inARow(a.opening, b.closing)),
    opening: either(inARow(a.whole, b.opening), inARow(a.opening, b.within)),
    closing: either(inARow(a.closing, b.whole), inARow(a.within, b.closing)),
    within: either(inARow(a.closing, b.opening), inARow(a.within, b.within)),
  };
}

function namesOf(rules: Rules): (rule: string, way: Way) => string {
  let mark = '_';
  const clashes = (): boolean => [...rules.keys()].some((name) => WAYS.some((way) => rules.has(name + mark + way)));
  while (clashes()) mark += '_';
  return (rule, way) => (way === 'whole' ? rule : rule + mark + way);
}

/** Rules that are not the grammar's own, and only a set or nothing, are written where they are used. */
function withoutHelpers(rules: Rules, own: ReadonlySet<string>): Rules {
  let made = rules;
  for (let before = -1; before !== made.size; ) {
    before = made.size;
    const small = new Map(
      [...made].filter(([name, pattern]) => !own.has(name) && (pattern.kind === 'set' || isEmpty(pattern))),
    );
    const written = (part: Pattern): Pattern => (part.kind === 'rule' ? (small.get(part.name) ?? part) : part);
    made = new Map(
      [...made].filter(([name]) => !small.has(name)).map(([name, pattern]) => [name, rebuilt(pattern, written)]),
    );
  }
  return made;
}

/**
 * Joins characters beyond U+FFFF with a rule that has all up to there and is used nowhere else: `(char / astral)*`
 * becomes `char*`.
 */
function wholeAgain(rules: Rules, startRule: string): Rules {
  const uses = new Map([[startRule, 1]]);
  for (const name of [...rules.values()].flatMap(referencesOf)) uses.set(name, (uses.get(name) ?? 0) + 1);
  const made = new Map(rules);
  const open = new Set<string>();

  /** The pattern with the characters in it; null where it has no place for them. */
  const withAll = (pattern: Pattern, added: Pattern & { readonly kind: 'set' }): Pattern | null => {
    if (pattern.kind === 'set') {
      const reachesUp = pattern.ranges.some(([, last]) => last === LAST_UNIT);
      return reachesUp ? { kind: 'set', ranges: unionOf(pattern.ranges, added.ranges) } : null;
    }
    if (pattern.kind === 'rule') {
      if (uses.get(pattern.name) !== 1 || open.has(pattern.name)) return null;
      open.add(pattern.name);
      const body = withAll(made.get(pattern.name)!, added);
      open.delete(pattern.name);
      if (body !== null) made.set(pattern.name, body);
      return body === null ? null : pattern;
    }
    return pattern.kind === 'choice' ? withAllInOne(pattern.items, added) : null;
  };

  const withAllInOne = (items: readonly Pattern[], added: Pattern & { readonly kind: 'set' }): Pattern | null => {
    for (const [index, item] of items.entries()) {
      const changed = item === added ? null : withAll(item, added);
      if (changed === null) continue;
      const rest = items.with(index, changed).filter((other) => other !== added);
      return rest.length === 1 ? rest[0]! : { kind: 'choice', items: rest };
    }
    return null;
  };

  for (const name of rules.keys()) {
    open.add(name);
    const pattern = rebuilt(made.get(name)!, (part) => {
      const added = part.kind === 'choice' ? part.items.find(isAstral) : undefined;
      return part.kind === 'choice' && added !== undefined ? (withAllInOne(part.items, added) ?? part) : part;
    });
    made.set(name, pattern);
    open.delete(name);
  }
  return made;
}

function isAstral(pattern: Pattern): pattern is Pattern & { readonly kind: 'set' } {
  return (
    pattern.kind === 'set' && pattern.ranges.every(([first, last]) => first > LAST_UNIT && last <= LAST_CODE_POINT)
  );
}
