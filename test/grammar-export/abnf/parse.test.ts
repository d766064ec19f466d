import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { AbnfElement, AbnfGrammar, AbnfItem } from '../../../src/grammar-export/abnf/ast.js';
import { parseAbnf } from '../../../src/grammar-export/abnf/parse.js';
import { ParseError } from '../../../src/text/errors.js';

const a: AbnfElement = { kind: 'reference', name: 'a' };
const b: AbnfElement = { kind: 'reference', name: 'b' };
const c: AbnfElement = { kind: 'reference', name: 'c' };

/** The only alternative of the only rule. */
function elementOf(text: string): AbnfElement {
  const [rule] = parseAbnf(`x = ${text}\n`).items;
  if (rule?.kind !== 'rule' || rule.alternatives.length !== 1) throw new Error('not one rule of one alternative');
  return rule.alternatives[0]!.element;
}

function repeated(min: number, max: number | null): AbnfElement {
  return { kind: 'repetition', min, max, item: a };
}

function text(value: string, caseSensitive = false): AbnfElement {
  return { kind: 'string', text: value, caseSensitive };
}

describe('elements', () => {
  const cases: readonly (readonly [text: string, element: AbnfElement])[] = [
    ['a', a],
    ['(((a)))', a],
    ['a b\tc', { kind: 'concatenation', items: [a, b, c] }],
    ['a (b / c)', { kind: 'concatenation', items: [a, { kind: 'alternation', items: [b, c] }] }],
    ['(a b) c', { kind: 'concatenation', items: [{ kind: 'concatenation', items: [a, b] }, c] }],
    ['(a / b c)', { kind: 'alternation', items: [a, { kind: 'concatenation', items: [b, c] }] }],
    ['(a/b/c)', { kind: 'alternation', items: [a, b, c] }],
    ['[a]', { kind: 'option', item: a }],
    ['[ a / b ]', { kind: 'option', item: { kind: 'alternation', items: [a, b] } }],
    ['*a', repeated(0, null)],
    ['1*a', repeated(1, null)],
    ['*2a', repeated(0, 2)],
    ['1*2a', repeated(1, 2)],
    ['3a', repeated(3, 3)],
    ['0*0a', repeated(0, 0)],
    ['*(1*a)', { kind: 'repetition', min: 0, max: null, item: repeated(1, null) }],
    ['"ab c"', text('ab c')],
    ['""', text('')],
    ['%i"a"', text('a')],
    ['%s"a"', text('a', true)],
    ['%S"; no comment"', text('; no comment', true)],
    ['%x0d.0A', { kind: 'codes', base: 16, codes: [13, 10] }],
    ['%d13', { kind: 'codes', base: 10, codes: [13] }],
    ['%b1.01.11', { kind: 'codes', base: 2, codes: [1, 1, 3] }],
    ['%X41-5a', { kind: 'range', base: 16, first: 0x41, last: 0x5a }],
    ['%d0-10', { kind: 'range', base: 10, first: 0, last: 10 }],
    ['%b0-1', { kind: 'range', base: 2, first: 0, last: 1 }],
    ['<any "thing"; really>', { kind: 'prose', text: 'any "thing"; really' }],
    ['a\n  b', { kind: 'concatenation', items: [a, b] }],
    ['a ; one\r\n\t\r\n b', { kind: 'concatenation', items: [a, b] }],
  ];

  test.each(cases)('%j', (source, element) => {
    expect(elementOf(source)).toEqual(element);
  });
});

describe('rules and comments', () => {
  const rule = (name: string, more: Partial<Extract<AbnfItem, { kind: 'rule' }>> = {}): AbnfItem => ({
    kind: 'rule',
    comments: [],
    name,
    sign: '=',
    alternatives: [{ element: a, comments: [] }],
    ...more,
  });
  const comment = (...lines: string[]): AbnfItem => ({ kind: 'comment', lines });

  const cases: readonly (readonly [name: string, text: string, items: readonly AbnfItem[]])[] = [
    ['an empty text', '', []],
    ['blank lines only', '\r\n \n\t', []],
    ['a last line without an end', 'x = a', [rule('x')]],
    ['blanks around the sign, or none', 'x=a\ny \t = a\n', [rule('x'), rule('y')]],
    ['a definition below the name', 'x =\n  a\ny\n =\n a\n', [rule('x'), rule('y')]],
    ['more alternatives', 'x =/ a\r\n', [rule('x', { sign: '=/' })]],
    ['a comment that stands alone', '; one\n;two\n;\n\nx = a', [comment('one', 'two', ''), rule('x')]],
    ['a comment at the end', 'x = a\n; one', [rule('x'), comment('one')]],
    [
      'a comment above a rule',
      '; one\n\n;  two  \n; three\nx = a\n',
      [comment('one'), rule('x', { comments: [' two', 'three'] })],
    ],
    [
      'comments at alternatives',
      'x = a ; one\n  / b ; two\n  / ; three\n  c\n  ; four\n',
      [
        rule('x', {
          alternatives: [
            { element: a, comments: ['one'] },
            { element: b, comments: ['two'] },
            { element: c, comments: ['three', 'four'] },
          ],
        }),
      ],
    ],
    [
      'comments before the sign and within a group',
      'x ; one\n = ( ; two\n a ; three "\n ) ; four\n',
      [rule('x', { alternatives: [{ element: a, comments: ['one', 'two', 'three "', 'four'] }] })],
    ],
    [
      'the comment of a rule and that of the next',
      'x = a ; one\n; two\ny = a\n',
      [rule('x', { alternatives: [{ element: a, comments: ['one'] }] }), rule('y', { comments: ['two'] })],
    ],
  ];

  test.each(cases)('%s', (_name, source, items) => {
    expect(parseAbnf(source)).toEqual({ kind: 'grammar', items });
  });

  test('line ends do not matter', () => {
    const source = '; one\n\n; two\nx = a ; three\n  / b\n\ny =\n a\n';
    expect(parseAbnf(source.replaceAll('\n', '\r\n'))).toEqual(parseAbnf(source));
  });
});

describe('the ABNF of ABNF', () => {
  const source = readFileSync(new URL('rfc5234.abnf', import.meta.url), 'utf8');
  const rules = ({ items }: AbnfGrammar) => items.filter((item) => item.kind === 'rule');

  test('is read with all its rules', () => {
    const names = [...source.matchAll(/^[a-z-]+/gm)].map(([name]) => name);
    expect(names).toHaveLength(24);
    expect(rules(parseAbnf(source)).map(({ name }) => name)).toEqual(names);
  });

  test('keeps all comments', () => {
    const comments = parseAbnf(source).items.flatMap((item) =>
      item.kind === 'comment'
        ? item.lines
        : [...item.comments, ...item.alternatives.flatMap((alternative) => alternative.comments)],
    );
    expect(comments).toEqual([...source.matchAll(/; ([^"\n]*)$/gm)].map(([, comment]) => comment));
  });

  test('has the places of its names with spans', () => {
    const parsed = parseAbnf(source, { spans: true });
    for (const { name, span } of rules(parsed)) expect(source.slice(span!.start, span!.end)).toBe(name);
    const references = JSON.stringify(parsed)
      .match(/\{"kind":"reference"[^}]*\}\}/g)!
      .map((one) => JSON.parse(one));
    expect(references.length).toBeGreaterThan(50);
    for (const { name, span } of references) expect(source.slice(span.start, span.end)).toBe(name);
  });
});

type Refusal = readonly [text: string, offset: number, expected: readonly string[], help?: RegExp];

describe('invalid grammars', () => {
  const cases: readonly Refusal[] = [
    ['x', 1, ['"="']],
    ['x = ', 4, ['an element']],
    ['x = a )', 6, ['"/"', 'line end', 'an element']],
    ['x = (a', 6, ['")"', '"/"']],
    ['x = [a)', 6, ['"/"', '"]"']],
    ['x = ()', 5, ['an element']],
    ['x = a / / b', 8, ['an element']],
    ['x = a /\ny = b', 8, ['a blank'], /above is incomplete/],
    ['x = (a ; b', 10, ['a blank'], /above is incomplete/],
    ['x = 3', 5, ['an element']],
    ['x = 1*2*a', 7, ['an element'], /before the element/],
    ['x = a*', 5, ['"/"', 'line end'], /before the element/],
    ['x = a|b', 5, ['"/"', 'line end'], /separate alternatives with "\/"/],
    ['x = a_b', 5, ['"/"', 'line end'], /letters, digits/],
    ["x = 'a'", 4, ['an element'], /double quotes/],
    ['x = "a', 6, ['a closing quote']],
    ['x = "a\n"', 6, ['a closing quote']],
    ['x = <a', 6, ['">"']],
    ['x = %x', 6, ['hexadecimal number']],
    ['x = %b2', 6, ['binary number']],
    ['x = %d1-', 8, ['number']],
    ['x = a""', 5, ['"/"', 'line end']],
    ['x = a\ry = a', 5, ['"/"', 'line end'], /CRLF or LF/],
    ['x = a ; \u00e9', 8, ['line end'], /ASCII/],
    ['x = "\u{1f600}"', 5, ['a closing quote'], /ASCII/],
    ['1x = a', 0, ['line end', 'rule name', 'end of input']],
    [' x = a', 1, ['line end'], /left margin/],
    ['x = a\n  y = b', 10, ['"/"', 'line end', 'an element'], /left margin/],
    ['x = a\n/ b', 6, ['line end', 'rule name', 'end of input'], /begin a continuation line/],
  ];

  test.each(cases.map((one) => [one]))('%j', ([source, offset, expected, help]) => {
    const error = refusal(source);
    expect(error).toMatchObject({ code: 'bad-abnf', reason: 'syntax', expected });
    expect(error.span!.start).toBe(offset);
    if (help === undefined) expect(error.help).toBeUndefined();
    else expect(error.help).toMatch(help);
  });

  test('the error shows the line and the place', () => {
    expect(refusal('x = a\ny = b (c\nz = d\n').format({ name: 'g.abnf' })).toBe(
      [
        'error[bad-abnf]: Expected a blank, found "z".',
        ' --> g.abnf:3:1',
        '  |',
        '3 | z = d',
        '  | ^',
        'help: the definition above is incomplete; begin a continuation line with a space',
      ].join('\n'),
    );
  });

  test('brackets may be nested 200 deep', () => {
    const nested = (depth: number): string => `x = ${'(['.repeat(depth / 2)}a${'])'.repeat(depth / 2)}`;
    expect(parseAbnf(nested(200)).items).toHaveLength(1);
    expect(refusal(nested(202))).toMatchObject({ reason: 'limit', span: { start: 204, end: 205 } });
    // Groups next to each other are not nested.
    expect(parseAbnf(`x = ${'(a) '.repeat(500)}`).items).toHaveLength(1);
  });

  test.each(['9007199254740992a', '%x20000000000000', '%d9007199254740992-1', `%b1${'0'.repeat(2_000)}`])(
    'a number is exact: %.40s',
    (number) => {
      expect(refusal(`x = ${number}`)).toMatchObject({ reason: 'limit', message: 'The number is above 2^53 - 1.' });
    },
  );

  test('a text has at most 1 Mi code units', () => {
    expect(refusal('\n'.repeat(2 ** 20 + 1))).toMatchObject({ code: 'bad-abnf', reason: 'limit' });
    expect(parseAbnf('\n'.repeat(2 ** 20)).items).toEqual([]);
  });

  test('a value that is not a string is rejected', () => {
    expect(refusal(7 as unknown as string)).toMatchObject({ code: 'bad-abnf', reason: 'not-a-string' });
  });
});

function refusal(source: string): ParseError {
  try {
    parseAbnf(source);
  } catch (error) {
    if (error instanceof ParseError) return error;
    throw error;
  }
  throw new Error('the text was accepted');
}
