import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AbnfElement, AbnfGrammar, AbnfItem, AbnfRule } from '../../../src/grammar-export/abnf/ast.js';
import { parseAbnf } from '../../../src/grammar-export/abnf/parse.js';
import { printAbnf } from '../../../src/grammar-export/abnf/print.js';
import { PrintError } from '../../../src/text/errors.js';
import { grammars } from './arbitraries.js';

test('printed text reads as the same tree, with either line end', () => {
  fc.assert(
    fc.property(grammars, fc.constantFrom('\n' as const, '\r\n' as const), (grammar, lineEnd) => {
      const text = printAbnf(grammar, { lineEnd });
      expect(parseAbnf(text)).toEqual(grammar);
      expect(text.replaceAll(lineEnd, '')).not.toMatch(/[\r\n]/);
    }),
    { numRuns: 400 },
  );
});

test('printing is idempotent', () => {
  const texts = ['../../../grammar/accp.abnf', '../../../grammar/aacp.abnf', 'rfc5234.abnf'].map((file) =>
    readFileSync(new URL(file, import.meta.url), 'utf8'),
  );
  for (const text of texts) {
    const printed = printAbnf(parseAbnf(text));
    expect(parseAbnf(printed)).toEqual(parseAbnf(text));
    expect(printAbnf(parseAbnf(printed))).toBe(printed);
  }
});

describe('canonical text', () => {
  const long = (count: number): string => Array.from({ length: count }, (_, index) => `item-${index}`).join(' ');

  const cases: readonly (readonly [name: string, text: string, printed: readonly string[]])[] = [
    ['blanks', 'x=a/b  c', ['x = a / b c']],
    ['more alternatives', 'x=/a', ['x =/ a']],
    ['brackets', 'x = ( (a) ( b/c ) ) [ d ] *( e ) [f g]', ['x = ( a ( b / c ) ) [d] *e [ f g ]']],
    ['brackets that are needed', 'x = (a b) c (d / e) *(*f)', ['x = ( a b ) c ( d / e ) *(*f)']],
    ['repetitions', 'x = 0*a 1*1b 0*3c 4*d 2*5e', ['x = *a 1b *3c 4*d 2*5e']],
    ['numbers', 'x = %x9 %xaB-10ffff %d013.10 %b0011', ['x = %x09 %xAB-10FFFF %d13.10 %b11']],
    ['strings', 'x = %i"a" %S"b" "/"', ['x = "a" %s"b" "/"']],
    ['blank lines', ';a\n\n\n;b\nx = c\n\n\n;d\n', ['; a', '', '; b', 'x = c', '', '; d']],
    ['rules below each other', 'x = y\n\ny = "z"', ['x = y', 'y = "z"']],
    ['one comment', 'x = a / b;c', ['x = a / b  ; c']],
    ['comments of alternatives', 'x = a;1\n / b;2\n ;3\n / c', ['x = a  ; 1', '  / b  ; 2', '       ; 3', '  / c']],
    ['a long comment', `x = a;${'y'.repeat(70)}`, ['x = a', `    ; ${'y'.repeat(70)}`]],
    [
      'a long concatenation',
      `rule = ${long(20)}`,
      [
        'rule = item-0 item-1 item-2 item-3 item-4 item-5 item-6 item-7 item-8',
        '       item-9 item-10 item-11 item-12 item-13 item-14 item-15 item-16',
        '       item-17 item-18 item-19',
      ],
    ],
    [
      'a long list of words',
      `rule = ${long(20).replaceAll(' ', ' / ')}`,
      [
        'rule = item-0 / item-1 / item-2 / item-3 / item-4 / item-5 / item-6',
        '     / item-7 / item-8 / item-9 / item-10 / item-11 / item-12 / item-13',
        '     / item-14 / item-15 / item-16 / item-17 / item-18 / item-19',
      ],
    ],
    [
      'long alternatives',
      `rule = ${long(6)} / ${long(9)}`,
      [
        'rule = item-0 item-1 item-2 item-3 item-4 item-5',
        '     / item-0 item-1 item-2 item-3 item-4 item-5 item-6 item-7 item-8',
      ],
    ],
    ['a long name', `${'n'.repeat(70)} = a b`, [`${'n'.repeat(70)} = a`, `${' '.repeat(26)}b`]],
  ];

  test.each(cases)('%s', (_name, source, printed) => {
    expect(printAbnf(parseAbnf(source))).toBe(`${printed.join('\n')}\n`);
  });

  test('lines have at most 72 columns if words allow it', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(12), { minLength: 2, maxLength: 60 }), (lengths) => {
        const element: AbnfElement = {
          kind: 'concatenation',
          items: lengths.map((length) => ({ kind: 'string', text: 'x'.repeat(length), caseSensitive: false })),
        };
        const lines = printAbnf(grammarOf(ruleOf(element))).split('\n');
        for (const line of lines) expect(line.length).toBeLessThanOrEqual(72);
      }),
    );
  });

  test('a grammar without items is an empty text', () => {
    expect(printAbnf(grammarOf())).toBe('');
  });
});

describe('trees that ABNF cannot express', () => {
  const element = (one: unknown): AbnfItem => ruleOf(one as AbnfElement);
  const a: AbnfElement = { kind: 'reference', name: 'a' };
  const rule = ruleOf(a);

  const inElement = 'items[0].alternatives[0].element';
  const cases: readonly (readonly [name: string, item: AbnfItem, path: string])[] = [
    ['a name with an underscore', { ...rule, name: 'a_b' }, 'items[0].name'],
    ['a name that begins with a digit', element({ kind: 'reference', name: '1a' }), inElement],
    ['another sign', { ...rule, sign: ':=' as '=' }, 'items[0].sign'],
    ['a rule without alternatives', { ...rule, alternatives: [] }, 'items[0]'],
    ['a comment of two lines', { ...rule, comments: ['a\nb'] }, 'items[0]'],
    ['a comment with a blank at its end', { ...rule, comments: ['a '] }, 'items[0]'],
    ['a comment at an alternative beyond ASCII', ruleOf(a, '\u00e9'), 'items[0]'],
    ['a comment without lines', { kind: 'comment', lines: [] }, 'items[0]'],
    ['a quote in a string', element({ kind: 'string', text: '"', caseSensitive: false }), inElement],
    ['a string beyond ASCII', element({ kind: 'string', text: '\u00e9', caseSensitive: true }), inElement],
    ['a line end in prose', element({ kind: 'prose', text: 'a\nb' }), inElement],
    ['a closing bracket in prose', element({ kind: 'prose', text: 'a>b' }), inElement],
    ['no codes', element({ kind: 'codes', base: 16, codes: [] }), inElement],
    ['a negative code', element({ kind: 'codes', base: 16, codes: [-1] }), inElement],
    ['a code that is no number', element({ kind: 'range', base: 10, first: 0, last: Number.NaN }), inElement],
    ['another base', element({ kind: 'range', base: 8, first: 0, last: 7 }), inElement],
    ['half a repetition', element({ kind: 'repetition', min: 0.5, max: null, item: a }), inElement],
    ['endless repetition as a number', element({ kind: 'repetition', min: 0, max: Infinity, item: a }), inElement],
    ['an alternation of one', element({ kind: 'alternation', items: [a] }), inElement],
    ['a concatenation of none', element({ kind: 'concatenation', items: [] }), inElement],
    [
      'something wrong within',
      element({ kind: 'option', item: { kind: 'concatenation', items: [a, { kind: 'reference', name: '' }] } }),
      `${inElement}.item.items[1]`,
    ],
  ];

  test.each(cases)('%s', (_name, item, path) => {
    const print = (): string => printAbnf(grammarOf(item));
    expect(print).toThrow(PrintError);
    expect(print).toThrow(expect.objectContaining({ code: 'bad-abnf-tree', path }));
  });

  test('brackets that are nested too deeply for the parser', () => {
    const nested = (depth: number): AbnfElement => (depth === 0 ? a : { kind: 'option', item: nested(depth - 1) });
    const deepest = grammarOf(ruleOf(nested(200)));
    expect(parseAbnf(printAbnf(deepest))).toEqual(deepest);
    expect(() => printAbnf(grammarOf(ruleOf(nested(201))))).toThrow('nested deeper than 200');
  });
});

function grammarOf(...items: readonly AbnfItem[]): AbnfGrammar {
  return { kind: 'grammar', items };
}

function ruleOf(element: AbnfElement, ...comments: readonly string[]): AbnfRule {
  return { kind: 'rule', comments: [], name: 'x', sign: '=', alternatives: [{ element, comments }] };
}
