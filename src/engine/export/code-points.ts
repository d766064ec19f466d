/**
 * From code units to code points. Where a class is no Unicode class, Peggy takes a character beyond U+FFFF in two steps, half by
 * half, and the halves may go to different parts of a grammar. So each pattern is taken in four ways, by whether it begins and
 * ends amid such a character. The part that takes the first half then stands for the whole of it, the other for nothing.
 */
import { either, starOf } from './automata/algebra.js';
import type { Approximation, CodePointRange, Pattern } from './context-free.js';
import { withoutHelpers, wholeAgain } from './whole-rules.js';
import { EMPTY, isNothing, type Kind, NOTHING, partsOf, sequence } from './patterns.js';
import { CHARACTERS, HIGH_HALVES, intersectionOf, LOW_HALVES, type Ranges, SURROGATES } from './ranges.js';

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

/** Repetitions of what may end amid a character are counted up to here. */
const COUNTED = 12;

export interface CodePoints {
  readonly rules: Rules;
  readonly approximations: readonly Approximation[];
}

/** A grammar over code units as one over code points, for the well-formed texts of its language. */
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
      message: 'characters beyond U+FFFF are not told apart here by the second half of their code',
    })),
  };
}

function hasHalves(pattern: Pattern): boolean {
  return pattern.kind === 'set' ? intersectionOf(pattern.ranges, [SURROGATES]).length > 0 : partsOf(pattern).some(hasHalves);
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
  if (low.length > 0 && low[0]!.join() !== LOW_HALVES.join()) inexact();
  return {
    ...NO_WAY,
    whole: setOf(intersectionOf(set.ranges, CHARACTERS)),
    opening: setOf(charactersOf(intersectionOf(set.ranges, [HIGH_HALVES]), [LOW_HALVES])),
    closing: low.length > 0 ? EMPTY : NOTHING,
  };
}

function setOf(ranges: Ranges): Pattern {
  return ranges.length === 0 ? NOTHING : { kind: 'set', ranges };
}

/** All characters of which the halves are in two sets. */
function charactersOf(high: Ranges, low: Ranges): Ranges {
  const start = (half: number): number => 0x10000 + (half - HIGH_HALVES[0]) * 0x400;
  const isAny = low[0]?.join() === LOW_HALVES.join();
  return high.flatMap(([first, last]): CodePointRange[] => {
    if (isAny) return [[start(first), start(last) + 0x3ff]];
    return Array.from({ length: last - first + 1 }, (_, at) => start(first + at)).flatMap((from) =>
      low.map(([a, b]): CodePointRange => [from + a - LOW_HALVES[0], from + b - LOW_HALVES[0]]),
    );
  });
}

function waysOfSequence(items: readonly Pattern[], context: Context): Ways {
  let ways = STAY;
  for (let i = 0; i < items.length; i++) {
    const pair = pairOf(items[i]!, items[i + 1]);
    if (pair !== null) i++;
    ways = oneByOne(ways, pair ?? waysOf(items[i]!, context));
  }
  return ways;
}

/** Two sets that are halves and nothing else, as their characters; null for all others. */
function pairOf(first: Pattern, second: Pattern | undefined): Ways | null {
  if (first.kind !== 'set' || second?.kind !== 'set') return null;
  const isIn = (set: Kind<'set'>, halves: CodePointRange): boolean =>
    set.ranges.every(([from, to]) => halves[0] <= from && to <= halves[1]);
  if (!isIn(first, HIGH_HALVES) || !isIn(second, LOW_HALVES)) return null;
  return { ...NO_WAY, whole: setOf(charactersOf(first.ranges, second.ranges)) };
}

function waysOfRepeat({ item, min, max }: Kind<'repeat'>, context: Context): Ways {
  const one = waysOf(item, context);
  if (isNothing(one.opening) && isNothing(one.closing) && isNothing(one.within)) {
    const within = min === 0 ? EMPTY : NOTHING;
    return { ...NO_WAY, whole: { kind: 'repeat', item: one.whole, min, max }, within };
  }
  const count = Math.max(min, max ?? 0);
  if (count > COUNTED) {
    context.inexact();
    return anyNumberOf(one);
  }
  let ways = max === null ? anyNumberOf(one) : STAY;
  for (let i = min; i < (max ?? 0); i++) ways = eitherWay(oneByOne(one, ways), STAY);
  for (let i = 0; i < min; i++) ways = oneByOne(one, ways);
  return ways;
}

function anyNumberOf({ whole, opening, closing, within }: Ways): Ways {
  const amid = starOf(within);
  const through = inARow(opening, amid, closing);
  const whole2 = starOf(either(whole, through));
  return {
    whole: whole2,
    opening: inARow(whole2, opening, amid),
    closing: inARow(amid, closing, whole2),
    within: either(amid, inARow(amid, closing, whole2, opening, amid)),
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
