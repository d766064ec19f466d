/** Random grammars: none may lose a text, and those without approximations must be equal. */
import peggy from 'peggy';
import { expect, test } from 'vitest';
import { createRandom, type Random } from '../../../src/text/random.js';
import { difference, pairOf } from './compare.js';
import { textsOver } from './texts.js';

interface Material {
  readonly characters: string;
  readonly literals: readonly string[];
  readonly classes: readonly string[];
  readonly conditions: readonly string[];
}

const PLAIN: Material = {
  characters: 'abc',
  literals: ['"a"', '"b"', '"c"', '"ab"', '"ba"', '"aa"', '""'],
  classes: ['[ab]', '[a]', '[^a]', '[bc]', '.'],
  conditions: [],
};

const WITH_CODE: Material = { ...PLAIN, conditions: ['&{ return false; }', '!{ return offset() % 2; }'] };

const HALVES: Material = {
  characters: 'a\u{1f600}\u{10000}\u00e9',
  literals: ['"a"', '"\u00e9"', '"\u{1f600}"', '"a\u{1f600}"'],
  classes: [
    '[^a]',
    '.',
    '[^\u00e9]',
    '([\\ud800-\\udbff] [\\udc00-\\udfff])',
    '[^a]u',
    '[a\u{1f600}]',
    '[\\x80-\\uffff]',
  ],
  conditions: [],
};

const BOUNDS = ['*', '+', '?', '|2|', '|1..2|', '|..2|', '|2..|', '|.., "c"|', '|1.., "b"|'];

function grammarOf(random: Random, material: Material): string {
  const names = ['s', 't', 'u'].slice(0, random.integer(1, 3));
  const expression = (depth: number): string => {
    const inner = (): string => expression(depth - 1);
    switch (random.integer(0, depth === 0 ? 3 : 11)) {
      case 0:
      case 1:
        return random.pick(material.literals);
      case 2:
        return random.pick(material.classes);
      case 3:
        return random.pick(names);
      case 4:
        return `(${inner()} / ${inner()})`;
      case 5:
        return `(${inner()} / ${inner()} ${inner()})`;
      case 6:
        return `(${inner()} ${inner()})`;
      case 7:
        return `(${inner()})${random.pick(BOUNDS)}`;
      case 8:
        return `!(${inner()}) ${inner()}`;
      case 9:
        return `(${inner()} !(${inner()}))`;
      case 10:
        return `&(${inner()}) ${inner()}`;
      default:
        return material.conditions.length === 0 ? inner() : `(${random.pick(material.conditions)} ${inner()})`;
    }
  };
  return names.map((name) => `${name} = ${expression(3)} ${expression(2)}`).join('\n');
}

/** Returns `true` if Peggy accepts a grammar. It misses left recursion within delimiters, and overflows. */
function isGrammar(text: string): boolean {
  try {
    peggy.generate(text);
    return true;
  } catch (thrown) {
    if (thrown instanceof peggy.GrammarError || thrown instanceof RangeError) return false;
    throw thrown;
  }
}

test.each([
  { name: 'plain', material: PLAIN, longest: 5, from: 1 },
  { name: 'with code', material: WITH_CODE, longest: 5, from: 10_001 },
  { name: 'halves of characters', material: HALVES, longest: 4, from: 20_001 },
])(
  'no text of a random grammar is lost, and none is added without an approximation: $name',
  ({ material, longest, from }) => {
    const texts = [...textsOver(material.characters, longest)];
    let same = 0;
    let compared = 0;
    for (let seed = from; compared < 20; seed++) {
      const text = grammarOf(createRandom(seed), material);
      if (!isGrammar(text)) continue;
      compared++;
      const pair = pairOf(text);
      const { lost, added } = difference(pair, texts);
      const isSame = pair.grammar.approximations.length === 0;
      expect({ seed, text, lost, added: isSame ? added : [] }).toEqual({ seed, text, lost: [], added: [] });
      if (isSame) same++;
    }
    // Otherwise the test would prove nothing.
    expect(same).toBeGreaterThan(5);
  },
);
