/**
 * Conversion from code units to code points. Peggy reads a character beyond U+FFFF as two halves, which different parts
 * of a grammar may match. So each pattern has four variants, by whether it begins and ends inside of such a character.
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

/** The variants of a pattern, by the half that is open before and after it. */
interface Variants {
  readonly whole: Pattern;
  /** Ends after a first half. */
  readonly opening: Pattern;
  /** Begins after a first half. */
  readonly closing: Pattern;
  /** Begins and ends after a first half. */
  readonly within: Pattern;
}

type VariantName = keyof Variants;
const VARIANTS: readonly VariantName[] = ['whole', 'opening', 'closing', 'within'];

const NO_VARIANT: Variants = { whole: NOTHING, opening: NOTHING, closing: NOTHING, within: NOTHING };
const UNCHANGED: Variants = { ...NO_VARIANT, whole: EMPTY, within: EMPTY };

/** The maximum number of parts for which exactness is worthwhile: each half that may belong to either side can double them. */
const LARGEST = 60;

interface CodePoints {
  readonly rules: Rules;
  readonly approximations: readonly Approximation[];
}

export function toCodePoints(rules: Rules, startRule: string): CodePoints {
  if (![...rules.values()].some(hasHalves)) return { rules, approximations: [] };
  const nameOf = namesOf(rules);
  const notes = new Set<string>();
  // A few rounds, each with more variants: which ones can match is only known when all rules are done.
  let possible = new Set<string>([...rules.keys()].map((name) => nameOf(name, 'whole')));
  let made = new Map<string, Pattern>();
  for (let before = -1; before !== possible.size; ) {
    before = possible.size;
    made = new Map<string, Pattern>();
    for (const [name, pattern] of rules) {
      const variants = variantsOf(pattern, { nameOf, possible, inexact: () => notes.add(name) });
      for (const variant of VARIANTS) {
        if (variant === 'whole' || !isNothing(variants[variant])) made.set(nameOf(name, variant), variants[variant]);
      }
    }
    possible = new Set(made.keys());
  }
  return {
    rules: wholeAgain(withoutHelpers(made, new Set(rules.keys())), startRule),
    approximations: [...notes].map((rule) => ({
      code: 'surrogates',
      rule,
      message: 'characters beyond U+FFFF, which the parser reads as two halves, are matched more permissively here',
    })),
  };
}

function hasHalves(pattern: Pattern): boolean {
  return pattern.kind === 'set'
    ? intersectionOf(pattern.ranges, [SURROGATES]).length > 0
    : partsOf(pattern).some(hasHalves);
}

interface Context {
  readonly nameOf: (rule: string, variant: VariantName) => string;
  readonly possible: ReadonlySet<string>;
  readonly inexact: () => void;
}

function variantsOf(pattern: Pattern, context: Context): Variants {
  switch (pattern.kind) {
    case 'literal':
      return pattern.text === '' ? UNCHANGED : { ...NO_VARIANT, whole: pattern };
    case 'set':
      return variantsOfSet(pattern, context);
    case 'rule': {
      const variant = (one: VariantName): Pattern => {
        const name = context.nameOf(pattern.name, one);
        return context.possible.has(name) ? { kind: 'rule', name } : NOTHING;
      };
      return {
        whole: variant('whole'),
        opening: variant('opening'),
        closing: variant('closing'),
        within: variant('within'),
      };
    }
    case 'sequence':
      return variantsOfSequence(pattern.items, context);
    case 'choice':
      return pattern.items.map((item) => variantsOf(item, context)).reduce(eitherOf, NO_VARIANT);
    case 'repeat':
      return variantsOfRepeat(pattern, context);
  }
}

function variantsOfSet(set: Kind<'set'>, { inexact }: Context): Variants {
  const low = intersectionOf(set.ranges, [LOW_HALVES]);
  if (low.length > 0 && !isAnyLow(low)) inexact();
  return {
    ...NO_VARIANT,
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

function variantsOfSequence(items: readonly Pattern[], context: Context): Variants {
  let variants = UNCHANGED;
  for (let i = 0; i < items.length; i++) {
    if (isLarge(variants)) return anyOf(items, context);
    const [here, next] = [items[i]!, items[i + 1]];
    if (here.kind === 'set' && next?.kind === 'set' && arePaired(here, next)) {
      variants = oneByOne(variants, variantsOfPair(here, next, context));
      i++;
    } else {
      variants = oneByOne(variants, variantsOf(here, context));
    }
  }
  return variants;
}

/** Returns `true` if the second set contains some but not all second halves, so both sets must be handled together. */
function arePaired(first: Kind<'set'>, second: Kind<'set'>): boolean {
  const low = intersectionOf(second.ranges, [LOW_HALVES]);
  return low.length > 0 && !isAnyLow(low) && intersectionOf(first.ranges, [HIGH_HALVES]).length > 0;
}

function variantsOfPair(first: Kind<'set'>, second: Kind<'set'>, context: Context): Variants {
  const high = intersectionOf(first.ranges, [HIGH_HALVES]);
  const low = intersectionOf(second.ranges, [LOW_HALVES]);
  // Handled apart, the second set lacks its second halves: those were combined with the first set.
  const before = variantsOfSet(first, context);
  const after = variantsOfSet({ kind: 'set', ranges: differenceOf(second.ranges, low) }, context);
  const apart = oneByOne({ ...before, opening: NOTHING }, after);
  return eitherOf(apart, { ...NO_VARIANT, whole: setOf(charactersOf(high, low)) });
}

function variantsOfRepeat({ item, min, max }: Kind<'repeat'>, context: Context): Variants {
  const one = variantsOf(item, context);
  if (isNothing(one.opening) && isNothing(one.closing) && isNothing(one.within)) {
    const within = min === 0 ? EMPTY : NOTHING;
    return { ...NO_VARIANT, whole: { kind: 'repeat', item: one.whole, min, max }, within };
  }
  let variants = max === null ? anyNumberOf(one) : UNCHANGED;
  for (let i = 0; i < Math.max(min, max ?? 0); i++) {
    if (isLarge(variants)) {
      context.inexact();
      return isNothing(one.within) ? countedFreely(one, min, max) : anyNumberOf(one);
    }
    variants = i < (max ?? min) - min ? eitherOf(oneByOne(one, variants), UNCHANGED) : oneByOne(one, variants);
  }
  return variants;
}

function isLarge(variants: Variants): boolean {
  return VARIANTS.some((variant) => sizeOf(variants[variant]) > LARGEST);
}

function anyOf(items: readonly Pattern[], context: Context): Variants {
  context.inexact();
  return anyNumberOf(variantsOf({ kind: 'choice', items }, context));
}

/** A repetition in which one or two items take one character. Half as many repetitions suffice. */
function countedFreely({ whole, opening, closing }: Variants, min: number, max: number | null): Variants {
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

function anyNumberOf({ whole, opening, closing, within }: Variants): Variants {
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

function eitherOf(a: Variants, b: Variants): Variants {
  return {
    whole: either(a.whole, b.whole),
    opening: either(a.opening, b.opening),
    closing: either(a.closing, b.closing),
    within: either(a.within, b.within),
  };
}

function oneByOne(a: Variants, b: Variants): Variants {
  return {
    whole: either(inARow(a.whole, b.whole), inARow(a.opening, b.closing)),
    opening: either(inARow(a.whole, b.opening), inARow(a.opening, b.within)),
    closing: either(inARow(a.closing, b.whole), inARow(a.within, b.closing)),
    within: either(inARow(a.closing, b.opening), inARow(a.within, b.within)),
  };
}

function namesOf(rules: Rules): (rule: string, variant: VariantName) => string {
  let mark = '_';
  const clashes = (): boolean =>
    [...rules.keys()].some((name) => VARIANTS.some((variant) => rules.has(name + mark + variant)));
  while (clashes()) mark += '_';
  return (rule, variant) => (variant === 'whole' ? rule : rule + mark + variant);
}

/** Inlines helper rules that are only a set or match nothing. */
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

/** Merges characters beyond U+FFFF with a rule that contains all others and is not used elsewhere: `(char / astral)*` becomes `char*`. */
function wholeAgain(rules: Rules, startRule: string): Rules {
  const uses = new Map([[startRule, 1]]);
  for (const name of [...rules.values()].flatMap(referencesOf)) uses.set(name, (uses.get(name) ?? 0) + 1);
  const made = new Map(rules);
  const open = new Set<string>();

  /** The pattern with the characters added; null if it has no place for them. */
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
