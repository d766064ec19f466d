/**
 * The functions that Peggy provides for the code of a grammar, each in grammars that mention nothing else: generated
 * parsers declare only what they need, and track the position only if code uses it.
 */
import { describe, expect, test } from 'vitest';
import { agree, compare, compile } from './agreement.js';

type Row = readonly [grammar: string, ...accepted: string[]];

/** Asserts that both compilers agree, without stock code. */
function expectAgreement(grammar: string, accepted: readonly string[], refused: readonly string[] = ['', '?']): void {
  const parsers = compile([{ source: 'grammar', text: grammar }]);
  expect(parsers.notices).toEqual([]);
  expect(parsers.isFast).toBe(true);
  for (const text of accepted) {
    const comparison = compare(parsers, text);
    expect(comparison.stock.kind).toBe('accepted');
    expect(comparison.fast).toStrictEqual(comparison.stock);
    expect(agree(comparison)).toBe(true);
  }
  for (const text of refused) {
    const comparison = compare(parsers, text);
    expect(comparison.fast).toStrictEqual(comparison.stock);
    expect(agree(comparison)).toBe(true);
  }
}

describe('called directly', () => {
  test.each<Row>([
    ['s = [a-z]+ { return text(); }', 'abc'],
    ['s = [a-z]+ { return offset(); }', 'abc'],
    ['s = [a-z]+ { return range(); }', 'abc'],
    ['s = [a-z]+ { return location(); }', 'abc'],
    ['s = "a" &{ return offset() === 1; } "b" { return location(); }', 'ab'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: code of the grammar
    ['s = [a-z]+ { return `${text()}-${offset()}-${location().start.line}`; }', 'abc'],
    ['s = [a-z]+ { return location().start.offset + range().end; }', 'abc'],
    ['s = [a-z]+ { return { type: "id", location: location() }; }', 'abc'],
    ['s = ([a-z] { return location().end; })+', 'abc'],
    ['s = "a" &{ return location().start.offset > 5; } "b" / "a"', 'a'],
    ['s = !r [a-z]\nr = "a" &{ return location().start.offset === 1 && input.length; }', 'b'],
    ['s = [a-z]+ { const where = location(); return where.end; }', 'abc'],
    ['{ function at() { return location(); } }\ns = [a-z]+ { return at(); }', 'abc'],
    ['s = x:[a-z] y:(text:[0-9] { return text; }) { return [x, y]; }', 'a1'],
  ])('%s', (grammar, ...accepted) => expectAgreement(grammar, accepted));
});

describe('with escapes in the name', () => {
  test.each<Row>([
    ['s = [a-z]+ { return \\u0074ext(); }', 'abc'],
    ['s = [a-z]+ { const f = \\u0074ext; return f(); }', 'abc'],
    ['{ const f = () => \\u{74}ext(); }\ns = [a-z]+ { return f(); }', 'abc'],
    ['s = [a-z]+ { return \\u006cocation(); }', 'abc'],
  ])('%s', (grammar, ...accepted) => expectAgreement(grammar, accepted));
});

describe('under another name, or from a function that is called later', () => {
  test.each<Row>([
    ['{ const f = text; }\ns = [a-z]+ { return f(); }', 'abc'],
    ['{ let f; f = range; }\ns = "q" [a-z]+ { return f(); }', 'qabc'],
    ['{ const given = { location }; }\ns = "q" ([a-z]+ { return given.location(); })', 'qabc'],
    ['{ let last; }\ns = (r)+ { return last(); }\nr = [a-z] { last = text; }', 'abc'],
    ['{ let last; }\ns = (r)+ { return last(); }\nr = [a-z] { last = () => text(); }', 'abc'],
    ['s = a:("a" { return range(); }) b:("b" { return text; }) { return [a, b()]; }', 'ab'],
    ['s = a:("a" { return range; }) &{ return a().start === 1; } "b" { return 1; }', 'ab'],
    ['{ function give() { return offset; } }\ns = "a" @("b" { return give()(); })', 'ab'],
  ])('%s', (grammar, ...accepted) => expectAgreement(grammar, accepted));
});

/** A literal location. */
const WHERE = '{ start: { offset: 0, line: 1, column: 1 }, end: { offset: 1, line: 1, column: 2 } }';

describe('errors of the grammar', () => {
  test.each([
    ['s = "a" { error("no"); }', 'a'],
    ['s = "a" { expected("foo"); }', 'a'],
    ['s = "a" { expected(); }', 'a'],
    ['s = "a" { expected(null, location()); }', 'a'],
    ['{ const e = error; }\ns = "a" { e("no"); }', 'a'],
    ['{ const x = expected; }\ns = "b" { x("foo"); }', 'b'],
    ['s = [a-z]+ { \\u0065rror("no"); }', 'abc'],
    ['{ function fail() { error("no", location()); } }\ns = "q" [a-z]+ { fail(); }', 'qabc'],
    [`{ function fail() { expected("foo", ${WHERE}); } }\ns = "q" [a-z]+ { fail(); }`, 'qabc'],
    [`{ function fail() { error("no", ${WHERE}); } }\ns = "q" [a-z]+ { fail(); }`, 'qabc'],
  ])('%s', (grammar, refused) => expectAgreement(grammar, [], [refused, '', '?']));
});
