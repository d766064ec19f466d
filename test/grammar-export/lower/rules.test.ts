/** The export of each part of a Peggy grammar, with its approximations. */
import { describe, expect, test } from 'vitest';
import { pairOf } from './compare.js';
import { shown } from './show.js';

interface Case {
  readonly name: string;
  readonly grammar: string;
  readonly rules: readonly string[];
  /** The approximations, as `code rule`. @default none */
  readonly approximations?: readonly string[];
}

const ALL = '\\u{0}-\\u{d7ff}\\u{e000}-\\u{10ffff}';

const READING: readonly Case[] = [
  {
    name: 'what builds trees and names things goes',
    grammar: 'a "name" = x:"a" @("b" / $[c-d]) \n',
    rules: ['a = "a" [b-d]'],
  },
  { name: 'actions go', grammar: 'a = x:[0-9]+ { return x.length; }', rules: ['a = [0-9]+'] },
  { name: 'a fixed number has no minimum of its own', grammar: 'a = "x"|3|', rules: ['a = "x"|3..3|'] },
  { name: 'a maximum stands without a minimum', grammar: 'a = "x"|..2| "y"|2..|', rules: ['a = "x"|0..2| "y"|2..|'] },
  {
    name: 'delimiters are spelled out',
    grammar: 'a = b|.., ","| "." \nb = "x"',
    rules: ['a = (b ("," b)*)? "."', 'b = "x"'],
  },
  {
    name: 'delimiters are counted with the items',
    grammar: 'a = b|2..4, ","|\nb = "x"',
    rules: ['a = b ("," b)|1..3|', 'b = "x"'],
  },
  {
    name: 'bounds that only code knows are none',
    grammar: 'a = n:b c|n|\nb = [0-9] { return +text(); }\nc = "x"',
    rules: ['a = b c*', 'b = [0-9]', 'c = "x"'],
    approximations: ['repetition a'],
  },
  { name: 'case stays ignored in literals', grammar: 'a = "Ab"i "c"', rules: ['a = "Ab"i "c"'] },
  { name: 'case is spelled out in classes', grammar: 'a = [b-d0]i', rules: ['a = [0B-Db-d]'] },
  { name: 'case beyond ASCII is what Peggy makes of it', grammar: 'a = [é]i', rules: ['a = [\\u{c9}\\u{e9}]'] },
  {
    name: 'properties of characters are looked up',
    grammar: 'a = [\\p{Script=Ogham}]u',
    rules: ['a = [\\u{1680}-\\u{169c}]'],
  },
  {
    name: 'rules that are not used go',
    grammar: 'a = "(" a ")" / b\nb = "y"\nc = a',
    rules: ['a = "(" a ")" / b', 'b = "y"'],
  },
];

const CONDITIONS: readonly Case[] = [
  {
    name: 'conditions in code are left out, each with its place',
    grammar: 'a = "(" b ")" b &{ return ok(); }\nb = !{ return no(); } "x"',
    rules: ['a = "(" b ")" b', 'b = "x"'],
    approximations: ['predicate a', 'predicate b'],
  },
  {
    name: 'an action that refuses is a condition',
    grammar: 'a = "x" { if (late) error("no"); return 1; }',
    rules: ['a = "x"'],
    approximations: ['predicate a'],
  },
  {
    name: 'a rule that is only a condition leaves no rule',
    grammar: 'a = c "x" c\nc = &{ return true; }',
    rules: ['a = "x"'],
    approximations: ['predicate c'],
  },
];

const LOOKAHEADS: readonly Case[] = [
  { name: 'a set less another is a set', grammar: 'a = ![aeiou] [a-z]', rules: ['a = [b-df-hj-np-tv-z]'] },
  { name: 'a set and another is what both have', grammar: 'a = &[a-m] [h-z]', rules: ['a = [h-m]'] },
  {
    name: 'the first of many is distinguished',
    grammar: 'a = !" " [^|]+ "|"',
    rules: [`a = [\\u{0}-\\u{1f}!-{}-\\u{d7ff}\\u{e000}-\\u{10ffff}] [\\u{0}-{}-\\u{d7ff}\\u{e000}-\\u{10ffff}]* "|"`],
  },
  {
    name: 'a comment ends at its first end',
    grammar: 'a = "(" c ")" a? \nc = "/*" (!"*/" .)* "*/"',
    rules: [
      'a = "(" c ")" a?',
      `c = "/*" ([\\u{0}-)+-\\u{d7ff}\\u{e000}-\\u{10ffff}] / "*"+ [\\u{0}-)+-.0-\\u{d7ff}\\u{e000}-\\u{10ffff}])* "*"+ "/"`,
    ],
  },
  {
    name: 'a word that is no other word is spelled out while it is short',
    grammar: 'a = !("if" ![a-z]) [a-z]+',
    rules: ['a = "i" / ([a-hj-z] / "i" ([a-eg-z] / "f" [a-z])) [a-z]*'],
  },
  {
    name: 'a lookahead that always holds goes',
    grammar: 'list = "[" (number ("," number)*)? "]"\nnumber = [0-9]+ !"."',
    rules: ['list = "[" (number ("," number)*)? "]"', 'number = [0-9]+'],
  },
  { name: 'the end of the text at the end of the text goes', grammar: 'a = "x" !.', rules: ['a = "x"'] },
  {
    name: 'the end of the text elsewhere is reported',
    grammar: 'a = ("x" end)* ("y" a)?\nend = "\\n" / !.',
    rules: ['a = ("x" end)* ("y" a)?', 'end = "\\n"?'],
    approximations: ['lookahead end'],
  },
];

const ORDER: readonly Case[] = [
  { name: 'alternatives that begin differently', grammar: 'a = "(" a ")" / "x"', rules: ['a = "(" a ")" / "x"'] },
  {
    name: 'an alternative that hides a longer one',
    grammar: 'a = "(" b ")" a?\nb = "x" / "xy" a',
    rules: ['a = "(" b ")" a?', 'b = "x" / "xy" a'],
    approximations: ['order b'],
  },
  {
    name: 'a shorter one that does not, because what follows decides',
    grammar: 'a = "(" b ")" a?\nb = "x" !"y" / "xy" a',
    rules: ['a = "(" b ")" a?', 'b = "x" / "xy" a'],
  },
  {
    name: 'a hidden alternative is left out where all is known',
    grammar: 'a = ("x" / "xy") "z"',
    rules: ['a = "xz"'],
  },
  {
    name: 'a repetition that leaves nothing to what follows',
    grammar: 'a = "(" b ")" a? / "x"\nb = a* a',
    rules: ['a = "(" b ")" a? / "x"', 'b = a+'],
    approximations: ['repetition a', 'repetition b'],
  },
  {
    name: 'blanks that two parts could take are no matter',
    grammar: 'a = _ "(" _ a? _ ")" _ \n_ = [ \\n]*',
    rules: ['a = _ "(" _ a? _ ")" _', '_ = [\\u{a}\\u{20}]*'],
  },
  {
    name: 'a repetition that can never be followed matches nothing',
    grammar: 'a = "y" / [a-x]* "x"',
    rules: ['a = "y"'],
  },
];

const SHORTER: readonly Case[] = [
  {
    name: 'an alternative that another has already',
    grammar:
      'list = "[" value|.., ","| "]"\nvalue = list / boolean / word\nboolean = ("true" / "false") ![a-z]\nword = [a-z]+',
    rules: ['list = "[" (value ("," value)*)? "]"', 'value = list / word', 'word = [a-z]+'],
  },
  {
    name: 'one that the others have together',
    grammar: 'a = "(" (b / c / d) ")" (a c / "." d)?\nb = [a-z]\nc = [a-m]\nd = [n-z]',
    rules: ['a = "(" (c / d) ")" (a c / "." d)?', 'c = [a-m]', 'd = [n-z]'],
  },
  {
    name: 'a second name for a rule',
    grammar: 'a = b ":" c\nb = c\nc = [a-z]+',
    rules: ['a = c ":" c', 'c = [a-z]+'],
  },
  {
    name: 'a rule for nothing but another one of its own',
    grammar: 'a = b ":" b\nb = text:c { return text; }\nc = x:[a-z]+ { return x; }\nd = c',
    rules: ['a = b ":" b', 'b = [a-z]+'],
  },
  {
    name: 'a rule that can be shortened',
    grammar: 'a = "(" b ")" a?\nb = c e? / e\nc = [a-z]+\ne = ("\\\\" [()] c?)+',
    rules: ['a = "(" b ")" a?', 'b = ([a-z] / "\\\\" [(-)])+'],
  },
  {
    name: 'repetitions of repetitions',
    grammar: 'a = (("x"+)* "y")+ ("z"?)|2..3|',
    rules: ['a = ("x"* "y")+ "z"|0..3|'],
  },
];

const HALVES: readonly Case[] = [
  {
    name: 'any number of any characters',
    grammar: 'a = "<" [^>]* ">"',
    rules: ['a = "<" [\\u{0}-=?-\\u{d7ff}\\u{e000}-\\u{10ffff}]* ">"'],
  },
  { name: 'one or more', grammar: 'a = .+', rules: [`a = [${ALL}]+`] },
  {
    name: 'one code unit is no character beyond U+FFFF',
    grammar: 'a = "<" . ">"',
    rules: ['a = "<" [\\u{0}-\\u{d7ff}\\u{e000}-\\u{ffff}] ">"'],
  },
  {
    name: 'two may be one',
    grammar: 'a = "<" [^>] [^>] ">"',
    rules: [
      'a = "<" ([\\u{0}-=?-\\u{d7ff}\\u{e000}-\\u{ffff}] [\\u{0}-=?-\\u{d7ff}\\u{e000}-\\u{ffff}] / [\\u{10000}-\\u{10ffff}]) ">"',
    ],
  },
  {
    name: 'a Unicode class takes it as a whole',
    grammar: 'a = "<" [^>]u ">"',
    rules: ['a = "<" [\\u{0}-=?-\\u{d7ff}\\u{e000}-\\u{10ffff}] ">"'],
  },
  {
    name: 'a range of them',
    grammar: 'a = [\\u{1F600}-\\u{1F64F}]+',
    rules: ['a = [\\u{1f600}-\\u{1f64f}]+'],
  },
  {
    name: 'pairs spelled as halves',
    grammar: 'a = [\\uD83D] [\\uDE00-\\uDE4F]',
    rules: ['a = [\\u{1f600}-\\u{1f64f}]'],
  },
  {
    name: 'rules within a repetition get them, too',
    grammar: `a = "'" c* "'"\nc = d / "\\\\" "n"\nd = [^'\\\\]`,
    rules: [`a = "'" c* "'"`, 'c = d / "\\\\n"', `d = [\\u{0}-&(-[\\]-\\u{d7ff}\\u{e000}-\\u{10ffff}]`],
  },
];

describe.each([
  { topic: 'reading', cases: READING },
  { topic: 'conditions', cases: CONDITIONS },
  { topic: 'lookaheads', cases: LOOKAHEADS },
  { topic: 'order and greed', cases: ORDER },
  { topic: 'fewer words', cases: SHORTER },
  { topic: 'halves of characters', cases: HALVES },
])('$topic', ({ cases }) => {
  test.each(cases)('$name', ({ grammar, rules, approximations = [] }) => {
    const pair = pairOf(grammar);
    expect(shown(pair.grammar)).toEqual(rules);
    expect(pair.grammar.approximations.map(({ code, rule }) => `${code} ${rule}`)).toEqual(approximations);
  });
});

test('a condition is reported with its line and an excerpt', () => {
  const { grammar } = pairOf(
    'a = b\nb = "x" &{ return  true /* and a long text behind it that nobody wants to see here */; }',
  );
  expect(grammar.approximations).toEqual([
    {
      code: 'predicate',
      rule: 'b',
      message:
        'the condition &{ return true /* and a long text behind it that nobody want... } on line 2 is not checked',
    },
  ]);
});

test('conditions of rules that the caller replaces are not reported', () => {
  const text = 'a = b c\nb = &{ return one(); } "x"\nc = &{ return two(); } "y"';
  const { grammar } = pairOf(text, { depthChecks: ['b'] });
  expect(grammar.approximations.map(({ rule }) => rule)).toEqual(['c']);
});

test('an unknown start rule is rejected', () => {
  expect(() => pairOf('a = "x"', { startRule: 'b' })).toThrow();
});
