import { describe, expect, test } from 'vitest';
import { freeReferences, parseBody } from '../../../src/peggy-fast/effects/scopes.js';

/** The free names of some code, in source order; those in `{ name }` with a colon. */
function free(code: string): string {
  return freeReferences(parseBody(code))
    .map(({ name, start, end, shorthand }) => {
      expect(code.slice(start, end)).toBe(name);
      return shorthand ? `${name}:` : name;
    })
    .join(' ');
}

describe('free references', () => {
  const cases: readonly (readonly [what: string, code: string, names: string])[] = [
    ['uses and assignments', 'a = b + c++; delete d.e', 'a b c d'],
    ['names of properties and labels are none', 'l: for (;;) { x.y.z; continue l; } return { k: v, [w]: 1 }', 'x v w'],
    ['shorthand properties', 'return { a, b: c, ...d }', 'a: c d'],
    [
      'declarations of the block',
      'var a = x; let [b, { c }] = a; const d = b; function e() {} class F {} e(c, d, F)',
      'x',
    ],
    ['var is hoisted out of blocks and loops', 'a = 1; if (x) { for (var i = 0, a; i;) {} } i', 'x'],
    ['let is not', '{ let a = 1; a } a', 'a'],
    ['for scopes', 'for (const k of ks) k; for (let i in os) i; for (let j = 0; j < 1; j++) j; k, i, j', 'ks os k i j'],
    ['for heads that assign', 'for (k of ks) {} for (o.p in os) {}', 'k ks o os'],
    ['parameters, defaults and rest', '(a, { b, c: d = e, [f]: g }, ...h) => [a, b, c, d, g, h]', 'e f c'],
    ['a default value does not see the body', 'function f(a = x) { var x; return a }', 'x'],
    ['a function expression knows its name, outside does not', '(function f() { return f }), f', 'f'],
    ['a nested function is declared in its block', 'function f() { { function g() {} g() } } g()', 'g'],
    [
      'catch parameters',
      'try { a } catch ({ message, ...rest }) { message + rest } try {} catch { e } message',
      'a e message',
    ],
    ['switch scopes', 'switch (a) { case b: let c; default: c } c', 'a b c'],
    ['classes', 'class A extends B { [k]() { return A } get z() { return v } } v', 'B k v v'],
    ['class expressions', '(class A { m() { A } }), A', 'A'],
    ['destructuring assignments', '({ a, b: c, d = e, ...f } = g); [h, i.j] = k', 'a: c d: e f g h i k'],
    [
      'arguments belongs to functions',
      'arguments; function f() { (() => arguments)() } () => arguments',
      'arguments arguments',
    ],
    ['templates and tags', 't`$' + '{a}$' + '{{ b }}`', 't a b:'],
    ['new.target and import.meta are no variables', 'function f() { return new.target }', ''],
    ['optional chains', 'a?.b?.[c]?.(d)', 'a c d'],
    ['regular expressions and strings hold no names', 'return /a(b)/.test("c")', ''],
    ['generators, async functions', 'async function* f() { yield a; await b; for await (const c of d) c }', 'a b d'],
  ];
  test.each(cases)('%s', (_, code, names) => expect(free(code)).toBe(names));

  test('a node below the outermost one is examined on its own', () => {
    const [statement] = parseBody('let a; { a; b }').body.slice(1);
    expect(freeReferences(statement!).map(({ name }) => name)).toEqual(['a', 'b']);
  });
});

describe('parseBody', () => {
  test.each(['return a as string', 'await x', 'yield 1', 'import "x"', 'a <!-- b', '#!x', 'return }'])(
    'rejects %s',
    (code) => {
      expect(() => parseBody(code)).toThrow(SyntaxError);
    },
  );

  test('accepts what stock Peggy accepts', () => {
    expect(parseBody('\n  // note\n  var let_ = 010; if (a) return b; return { c }\n').type).toBe('Program');
  });
});
