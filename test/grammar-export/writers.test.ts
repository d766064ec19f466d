import { describe, expect, test } from 'vitest';
import { writeAbnf } from '../../src/grammar-export/abnf.js';
import type { ContextFreeGrammar } from '../../src/grammar-export/context-free.js';
import { fitToGbnf, writeGbnf } from '../../src/grammar-export/gbnf.js';
import { writeLark } from '../../src/grammar-export/lark.js';
import { regexOf, writeRegex } from '../../src/grammar-export/regex.js';
import { all, any, anyCase, grammar, listOf, many, maybe, rule, set, some, times } from './build.js';
import { gbnfMatcher } from './engines/xgrammar.js';
import { packets } from './protocol-grammars.js';

/** The text below the comment. */
function body(text: string): string {
  return text.replace(/^(?:(?:#|\/\/|;).*\n)+\n?/, '');
}

const list = grammar(
  {
    listOfItems: all('[', maybe(listOf(rule('item'), ',')), ']'),
    item: any(rule('listOfItems'), rule('word'), anyCase('nil')),
    word: some(set('az', '__')),
  },
  [{ code: 'predicate', rule: 'word', message: 'the condition that words are short is not checked' }],
);

describe('a recursive grammar', () => {
  test('in GBNF', () => {
    expect(writeGbnf(list)).toBe(`\
# small in GBNF, generated from its Peggy grammar; the start rule is listOfItems.
# It matches all texts of the grammar, and some others:
# - word: the condition that words are short is not checked (predicate)

root ::= "[" (item ("," item)*)? "]"
item ::= root | word | [Nn] [Ii] [Ll]
word ::= [_a-z]+
`);
  });

  test('in Lark', () => {
    expect(writeLark(list)).toBe(`\
// small in Lark, generated from its Peggy grammar; the start rule is listOfItems.
// In Python: Lark(grammar, parser='earley', lexer='dynamic'). llguidance reads the grammar without options.
// It matches all texts of the grammar, and some others:
// - word: the condition that words are short is not checked (predicate)

start: "[" (item ("," item)*)? "]"
item: start | WORD | /[Nn][Ii][Ll]/
WORD: /[_a-z]+/
`);
  });

  test('in ABNF', () => {
    expect(body(writeAbnf(list))).toBe(`\
list-of-items = "[" [ item *( "," item ) ] "]"
item = list-of-items / word / "nil"
word = 1*( "_" / %x61-7A )
`);
  });

  test('has no regular expression, and the error names the recursive rule', () => {
    expect(() => regexOf(list)).toThrow(expect.objectContaining({ code: 'not-regular', rule: 'listOfItems' }));
    expect(() => writeRegex(list)).toThrow(/rule listOfItems is recursive/);
  });
});

describe('a regular grammar', () => {
  test('is a regular expression, for other engines too', () => {
    expect(regexOf(packets)).toEqual({
      source:
        '^[A-Z][0-9A-Z_-]*\\|[A-Z][0-9A-Z_-]*' +
        '(?:\\|[a-z][0-9_a-z]*:(?:[^\\x00- |\\x7F]+(?: +[^\\x00- |\\x7F]+)*)?)*$',
      flags: 'u',
    });
    expect(writeRegex(packets)).toMatch(/^\/\/ aacp .*\n(\/\/ .*\n)+\/\^.*\$\/u\n$/);
  });

  test('is one terminal in Lark', () => {
    expect(body(writeLark(packets)).split('\n').slice(0, 2)).toEqual([
      'start: PACKET',
      'PACKET: TASK "|" DOM ("|" FIELD)*',
    ]);
  });

  test('that grows exponentially is rejected before it is written', () => {
    const rules = Object.fromEntries(
      Array.from({ length: 60 }, (_, number) => [`r${number}`, all(rule(`r${number + 1}`), rule(`r${number + 1}`))]),
    );
    const powers = grammar({ ...rules, r60: 'x' });
    expect(() => regexOf(powers)).toThrow(expect.objectContaining({ code: 'too-large', rule: 'r0' }));
  });
});

test('rules without texts are removed, and a grammar without texts is rejected', () => {
  const endless = { never: all('x', rule('never')), nothing: set() };
  const some = grammar({ start: any('a', rule('never'), all('b', rule('nothing')), ''), ...endless });
  expect(body(writeGbnf(some))).toBe('root ::= "a"?\n');
  expect(body(writeLark(some))).toBe('start: START?\nSTART: "a"\n');
  expect(regexOf(some).source).toBe('^a?$');
  for (const write of [writeAbnf, writeGbnf, writeLark, writeRegex]) {
    const refused = expect.objectContaining({ code: 'empty-language', rule: 'never' });
    expect(() => write(grammar(endless))).toThrow(refused);
  }
});

test('rules get unique valid names', () => {
  const names = grammar({
    root: all(...['fooBar', 'foo_bar', 'true', '_1', 'DIGIT', 'start', '$'].map(rule)),
    fooBar: '1',
    foo_bar: '2',
    true: '3',
    _1: '4',
    DIGIT: '5',
    start: rule('list'),
    list: all('6', maybe(rule('start'))),
    $: '7',
  });
  expect(body(writeGbnf(names)).split('\n')[0]).toBe('root ::= foo-bar foo-bar-2 true-2 rule-1 digit start rule');
  expect(body(writeAbnf(names)).split('\n')[0]).toBe('root = foo-bar foo-bar-2 true rule-1 digit-2 start rule');
  expect(body(writeLark(names)).split('\n')[0]).toBe('start: FOO_BAR FOO_BAR_2 TRUE RULE_1 DIGIT start_2 RULE');
});

describe('characters', () => {
  const odd = grammar({ odd: all('"\\/\n\u00e9', set('[[', ']]', '^^', '--', '"\u0022'), some(set('\0\u{10ffff}'))) });

  test.each<[string, (grammar: ContextFreeGrammar) => string, string]>([
    [
      'GBNF',
      writeGbnf,
      'root ::= "\\"\\\\/\\u000A\\u00E9" ["\\[\\]\\u005E-] ([\\u0000-\\u007F] | [^\\u0000-\\u007F])+\n',
    ],
    ['ABNF', writeAbnf, 'odd = %x22 "\\/" %x0A.E9 ( %x22 / "-" / "[" / %x5D-5E ) 1*%x00-10FFFF\n'],
    ['Lark', writeLark, 'start: ODD\nODD: /"\\\\\\/\\x0A\\u00E9["\\[\\]\\^-][\\x00-\\U0010FFFF]+/\n'],
    [
      'regular expressions',
      (some) => `${regexOf(some).source}\n`,
      '^"\\\\\\/\\x0A\\u00E9["\\[\\]\\^-][\\x00-\u{10ffff}]+$\n',
    ],
  ])('are escaped in %s', (_name, write, expected) => {
    expect(body(write(odd))).toBe(expected);
  });

  test('without regard to case match characters with the same lower case in JavaScript', () => {
    const kelvin = grammar({ word: anyCase('OK!') });
    expect(body(writeGbnf(kelvin))).toBe('root ::= [Oo] ([Kk] | "\\u212A") "!"\n');
    expect(body(writeAbnf(kelvin))).toBe('word = "O" ( %s"K" / %s"k" / %x212A ) "!"\n');
    expect(regexOf(kelvin).source).toBe('^[Oo][Kk\\u212A]!$');
  });

  test('beyond ASCII have a warning if older versions of an engine misread them', async () => {
    const cyrillic = writeGbnf(grammar({ word: some(set('\u0400\u04ff')) }));
    expect(cyrillic).toContain('XGrammar up to 0.1.27 misreads these sets');
    expect(body(cyrillic)).toBe('root ::= [\\u0400-\\u04FF]+\n');
    expect(writeGbnf(packets)).not.toContain('XGrammar');
  });
});

describe('repetitions', () => {
  const counted = grammar({
    start: all(times('ab', 2, 3), times(rule('x'), 2, null), times('c', 4, 4)),
    x: any('x', rule('y')),
    y: all('(', rule('x'), ')'),
  });

  test('have their bounds in all languages', async () => {
    expect(body(writeGbnf(counted)).split('\n')[0]).toBe('root ::= "ab"{2,3} x{2,} "c"{4}');
    expect(body(writeLark(counted)).split('\n')[0]).toBe('start: "ab"~2 .. 3 x~2 x* "c"~4 .. 4');
    expect(body(writeAbnf(counted)).split('\n')[0]).toBe('start = 2*3%s"ab" 2*x 4%s"c"');
    const matches = await gbnfMatcher(writeGbnf(counted));
    expect(['ababx(x)cccc', 'abababxxxcccc', 'abxxcccc', 'ababxcccc', 'ababxxccc'].map(matches)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
    matches.dispose();
  });

  test('that llama.cpp rejects get wider bounds in GBNF, with an approximation', () => {
    const long = grammar({
      start: all(times('a', 0, 5000), rule('b')),
      b: times(all(times('b', 0, 50), 'c'), 100, 200),
    });
    const { approximations } = fitToGbnf(long);
    expect(approximations.map(({ code, rule }) => ({ code, rule }))).toEqual([
      { code: 'engine', rule: 'start' },
      { code: 'engine', rule: 'b' },
    ]);
    expect(body(writeGbnf(long))).toBe('root ::= "a"* b\nb ::= ("b"{0,50} "c"){39,}\n');
    expect(writeGbnf(long)).toContain('# - b: llama.cpp limits repetitions');
    expect(fitToGbnf(grammar({ start: times('a', 0, 1000) })).approximations).toEqual([]);
  });
});

test('alternatives that are prefixes of others come after them in ABNF', () => {
  const words = grammar({ value: any('true', all('t', maybe('r')), rule('word'), '1'), word: some(set('az')) });
  expect(body(writeAbnf(words)).split('\n')[0]).toBe('value = word / %s"true" / %s"t" [%s"r"] / "1"');
});

test('terminals that would read too far in Lark are split', () => {
  const competing = grammar({
    start: all(rule('list'), rule('word')),
    list: all('(', maybe(rule('list')), ')'),
    word: all(some(set('az')), 'b'),
  });
  expect(body(writeLark(competing))).toBe(`\
start: list word
list: "(" list? ")"
word: /[a-z]/+ "b"
`);
});

test('long rules are continued on further lines', async () => {
  const words = Array.from({ length: 12 }, (_, number) => `alternative_${number}`);
  const long = grammar({
    start: any(...words.map((word) => all(word, rule('tail'))), all(...words)),
    tail: many(all('(', rule('start'), ')')),
  });
  const gbnf = writeGbnf(long);
  expect(gbnf.split('\n').filter((line) => line.length > 118)).toEqual([]);
  const matches = await gbnfMatcher(gbnf);
  expect(['alternative_1', `alternative_1(${words.join('')})`, words.join('').slice(1)].map(matches)).toEqual([
    true,
    true,
    false,
  ]);
  matches.dispose();
  expect(body(writeLark(long)).split('\n').slice(0, 3)).toEqual([
    'start: "alternative_0" tail',
    '     | "alternative_1" tail',
    '     | "alternative_2" tail',
  ]);
});
