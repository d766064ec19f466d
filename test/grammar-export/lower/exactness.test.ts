/** All texts up to a length, read by Peggy's own parser and matched by the export of the grammar. */
import { describe, expect, test } from 'vitest';
import { sized } from '../../helpers/runs.js';
import { difference, pairOf } from './compare.js';
import { textsOver } from './texts.js';

interface Case {
  readonly grammar: string;
  readonly characters: string;
  readonly longest: number;
}

function over(characters: string, longest: number, ...grammars: readonly string[]): Case[] {
  return grammars.map((grammar) => ({ grammar, characters, longest: sized(longest - 1, longest) }));
}

/** Grammars whose exports must have no approximations: they are equal. */
const SAME: readonly Case[] = [
  ...over(
    'abc',
    6,
    'a = "a" b?\nb = "b" a / "c"',
    'a = ("a" / "ab") "c"*',
    'a = ("ab" / "a") "b"*',
    'a = [ab]* "b"',
    'a = (!"ab" .)* "ab" .*',
    'a = (!"aba" .)* "aba" "c"?',
    'a = !("ab" / "c") .+',
    'a = &("a" [bc]) .+',
    'a = (&"ab" "a" / [bc])+',
    'a = ("a" / "b" "c"?)+ !"c"',
    'a = "a"|2..3| "a"? "b"',
    'a = ("a" / "b")|.., "c"| "c"?',
    'a = "a" a "b" / "c"',
    'a = "a" (b ("c" b)*)? "c" "c"\nb = "b"+',
    'a = "ab"i / "b" "C"i',
    'a = _ "a" _ ("b" _ a)? _\n_ = "c"*',
    'a = (b / "c")* \nb = "a" !"b" / "ab" "b"',
    'a = "" / "a"',
    'a = ("" / "a") "b"',
    'a = (!. / "a")',
    'a = (!(!"a") .)* "b"',
  ),
  ...over('tf|x', 5, 'a = v ("|" v)*\nv = b / w\nb = ("t" / "tt" / "f") e\nw = [tfx]+\ne = ![tfx]'),
  ...over('(1+*)', 5, 'e = t ("+" t)*\nt = f ("*" f)*\nf = "(" e ")" / "1"'),
  ...over(
    '\u{1f600}\u{10400}a\u00e9',
    4,
    'a = .',
    'a = . .',
    'a = . . .',
    'a = [^a]+',
    'a = ("a" . / [^a])*',
    'a = [^a]u',
  ),
  ...over(
    '\u{1f600}\u{10400}a\u00e9',
    4,
    'a = .|2..3|',
    'a = ("a" . / .)|1..3|',
    'a = b b\nb = "\u00e9" . / [^\u00e9]',
    'a = [\u{10400}]i',
    'a = "\u{10428}a"i',
  ),
  ...over(
    '\u{1f600}\u{10400}a\u00e9',
    4,
    'a = [\\uD83D] [\\uDE00-\\uDEFF] / "a"',
    'a = "\\uD83D" [^\\u0000-\\u00ff] . ?',
  ),
  ...over(
    '\u{1f600}\u{10400}a\u00e9',
    4,
    'a = !"\u{1f600}" .+',
    'a = (!"a" .) .',
    'a = [^\u{1f600}]u*',
    'a = [\\p{Lu}a]u+',
  ),
  ...over('kK\u212a\u00c9\u00e9', 4, 'a = "k"i+', 'a = [k]i [\u00e9]i*', 'a = "k\u00e9"i', 'a = [k\u00e9]iu+'),
];

/** Grammars whose exports have approximations, and must lose no text. */
const MORE: readonly Case[] = over(
  'abc',
  6,
  'a = "a" (b / "c") a?\nb = "b" / "bc" a',
  'a = (b &{ return false; } / "a" a)?\nb = [ab]+',
  'a = b &{ return offset() < 4; } / b "a" \nb = "b" / "c" b',
  'a = !b "a" a? / "c"\nb = "a" b / "ac"',
  'a = n:b c|n|\nb = [abc] { return 2; }\nc = "c"',
  'a = "c" a? "c" / "a"+ a?',
  'a = "b" / &(!{ return offset() > 1; } "a") "a" a',
  'a = !(&{ return false; } "a") [ab] a?',
).concat(over('\u{1f600}a', 6, 'a = .|5..|', 'a = .|4..9| "a"', 'a = . . . . . . "a"?'));

describe.each(SAME)('$grammar', ({ grammar, characters, longest }) => {
  test('has the texts of the parser, and no approximations', () => {
    const pair = pairOf(grammar);
    expect(pair.grammar.approximations).toEqual([]);
    expect(difference(pair, textsOver(characters, longest))).toEqual({ lost: [], added: [] });
  });
});

describe.each(MORE)('$grammar', ({ grammar, characters, longest }) => {
  test('has all texts of the parser, and approximations', () => {
    const pair = pairOf(grammar);
    expect(pair.grammar.approximations).not.toEqual([]);
    expect(difference(pair, textsOver(characters, longest)).lost).toEqual([]);
  });
});
