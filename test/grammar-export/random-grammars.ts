/** Small random grammars, and texts over their alphabet. */
import fc from 'fast-check';
import type { ContextFreeGrammar, Pattern } from '../../src/grammar-export/context-free.js';
import { all, any, anyCase, grammar, rule, set, times } from './build.js';

/** Few characters, so that terminals compete. Some have a meaning in one of the engines. */
const ALPHABET = ['a', 'b', 'B', '-', '"', '\\', ']', '\n', '\u00e9', '\u{1f600}'];

const RULES = 4;

const literals = fc
  .array(fc.constantFrom(...ALPHABET.slice(0, 4)), { minLength: 1, maxLength: 3 })
  .map((list) => list.join(''));

function setsOf(wide: boolean): fc.Arbitrary<Pattern> {
  const ranges: string[][] = [['ab'], ['a\u{10ffff}'], ['\0 '], ['\0\u{10ffff}'], ['[]', '^^', '--'], ['+-', '/9']];
  if (wide) ranges.push(['"\u{d7ff}'], ['\ue000\u{10ffff}'], ['aa', '\u00e0\u0400']);
  const characters = fc.subarray(ALPHABET, { minLength: 1, maxLength: 4 });
  return fc.oneof(
    characters.map((list) => set(...list.map((one) => one + one))),
    fc.constantFrom(...ranges).map((pairs) => set(...pairs)),
  );
}

/** Patterns that refer to rules with a higher number, so that only brackets recurse. */
function patterns(number: number, depth: number, wide: boolean): fc.Arbitrary<Pattern> {
  const later = Array.from({ length: RULES - number - 1 }, (_, index) => rule(`rule${number + index + 1}`));
  const leaves: fc.Arbitrary<Pattern>[] = [literals.map((text) => all(text)), literals.map(anyCase), setsOf(wide)];
  if (later.length > 0) leaves.push(fc.constantFrom(...later), fc.constantFrom(...later));
  const leaf = fc.oneof(...leaves);
  if (depth === 0) return leaf;
  const inner = patterns(number, depth - 1, wide);
  const bounds = fc.constantFrom<[number, number | null]>([0, 1], [0, null], [1, null], [2, 3], [0, 2], [2, null]);
  return fc.oneof(
    leaf,
    fc.array(inner, { minLength: 1, maxLength: 3 }).map((items) => all(...items)),
    fc.array(inner, { minLength: 1, maxLength: 3 }).map((items) => any(...items)),
    fc.tuple(inner, bounds).map(([item, [min, max]]) => times(item, min, max)),
  );
}

interface Kinds {
  /** If true, the last rule may contain the first one, in brackets. */
  readonly recursive: boolean;
  /** If true, there are sets with many characters beyond ASCII, but not all of them. */
  readonly wide: boolean;
}

function grammars({ recursive, wide }: Kinds): fc.Arbitrary<ContextFreeGrammar> {
  return fc.tuple(...Array.from({ length: RULES }, (_, number) => patterns(number, 2, wide))).map((bodies) => {
    const rules = Object.fromEntries(bodies.map((body, number) => [`rule${number}`, body]));
    if (recursive) rules['rule3'] = any(bodies[3]!, all('(', times(rule('rule0'), 0, 1), ')'));
    return grammar(rules);
  });
}

/** A text that the grammar mostly matches. The numbers decide choices. */
function textOf({ rules, startRule }: ContextFreeGrammar, numbers: readonly number[]): string {
  let taken = 0;
  const next = (limit: number): number => (taken < numbers.length ? numbers[taken++]! % limit : 0);
  const write = (pattern: Pattern, depth: number): string => {
    if (depth > 30) return '';
    switch (pattern.kind) {
      case 'literal':
        return pattern.ignoreCase && next(2) === 1 ? pattern.text.toUpperCase() : pattern.text;
      case 'set': {
        const [first, last] = pattern.ranges[next(pattern.ranges.length)]!;
        const likely = ALPHABET.map((one) => one.codePointAt(0)!).filter((code) => first <= code && code <= last);
        return String.fromCodePoint(likely[next(likely.length + 1)] ?? first);
      }
      case 'rule':
        return write(rules.get(pattern.name)!, depth + 1);
      case 'sequence':
        return pattern.items.map((item) => write(item, depth + 1)).join('');
      case 'choice':
        return write(pattern.items[next(pattern.items.length)]!, depth + 1);
      case 'repeat': {
        const count = pattern.min + next((pattern.max ?? pattern.min + 2) - pattern.min + 1);
        return Array.from({ length: count }, () => write(pattern.item, depth + 1)).join('');
      }
    }
  };
  return write(rules.get(startRule)!, 0);
}

/** Texts that the grammar matches, and texts with a character more, less or changed. */
function textsOf(some: ContextFreeGrammar): fc.Arbitrary<string[]> {
  const numbers = fc.array(fc.nat(1000), { maxLength: 40 });
  const edit = fc.tuple(fc.nat(20), fc.nat(1), fc.constantFrom('', ...ALPHABET));
  const one = fc.tuple(numbers, fc.option(edit)).map(([choices, change]) => {
    const text = textOf(some, choices);
    if (change === null) return text;
    const characters = [...text];
    const [place, removed, added] = change;
    characters.splice(place % (characters.length + 1), removed, added);
    return characters.join('');
  });
  return fc.array(one, { minLength: 12, maxLength: 12 }).map((texts) => texts.filter((text) => text.length <= 60));
}

/** A grammar with texts to test it on. */
export function trials(kinds: Kinds): fc.Arbitrary<{ grammar: ContextFreeGrammar; texts: string[] }> {
  return grammars(kinds).chain((some) => textsOf(some).map((texts) => ({ grammar: some, texts })));
}
