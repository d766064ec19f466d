import { describe, expect, test } from 'vitest';
import { analyzeEffects, type Effects } from '../../../src/peggy-fast/effects/analyze.js';
import { codeOf } from './grammar-code.js';

/** The effects of each block, in source order, by name. */
function effectsOf(grammar: string): string[] {
  const { effects, violations, unsupported } = analyzeEffects(codeOf(grammar));
  expect([...violations, ...unsupported]).toEqual([]);
  return [...effects.values()].map((found) => {
    const names = Object.keys(found) as (keyof Effects)[];
    return names.filter((name) => found[name]).join(' ');
  });
}

/** The effects of an action with two labels, `a` and `b`, in a grammar with some helpers. */
function effectsOfAction(action: string): string {
  const grammar = `
    {{
      const NAMES = { "+": "plus" };
      function push(list, item) { list.push(item); return list; }
      function tree(head, tail, build) { return tail.reduce((left, right) => build(left, right), head); }
      function fail(message) { throw new Error(message); }
      function safe(x) { return { x }; }
    }}
    {
      let depth = 0;
      const stack = [];
      const alias = stack;
      const limit = options.limit;
      const counter = (() => { let n = 0; return { next() { return ++n; } }; })();
      function enter() { depth++; return true; }
      function where() { return location().start; }
      function node(fields) { return { ...fields, at: where() }; }
      function refuse() { error("no"); }
    }
    start = a:"a" b:"b" {${action}}
    other = &{ return enter(); } "x" { stack.push(1); counter.next(); }
  `;
  return effectsOf(grammar)[0]!;
}

describe('one action', () => {
  test.each([
    ['return [a, b]', ''],
    ['return safe(NAMES[a])', ''],
    ['return text() + location().start.line + options.x', ''],
    ['return a.map((x) => text())', ''],
    ['depth = 1', 'writesState'],
    ['return depth', 'readsState'],
    ['depth++', 'writesState readsState'],
    ['return limit', ''],
    ['stack.push(a)', 'writesState readsState'],
    ['return stack.length', 'readsState'],
    ['return alias.length', 'readsState'],
    ['alias.pop()', 'writesState readsState'],
    ['return push(stack, a)', 'writesState readsState'],
    ['return push([], a)', ''],
    ['return push(a, b)', 'changesLabels'],
    ['a.x = b; return a', 'changesLabels'],
    ['a = b; return a', ''],
    ['return enter()', 'writesState readsState'],
    ['return a.map(() => enter())', 'writesState readsState'],
    ['return tree(a, b, (left, right) => ({ left, right }))', ''],
    ['return tree(a, b, (left, right) => { depth++; return right; })', 'writesState readsState'],
    ['return tree(a, b, (left, right) => { left.right = right; return left; })', 'changesLabels'],
    ['return counter.next()', 'writesState readsState'],
    ['if (!a) error("no")', 'mayThrow'],
    ['if (!a) expected("yes")', 'mayThrow'],
    ['if (!a) throw new Error("no")', 'mayThrow'],
    ['fail(a)', 'mayThrow'],
    ['a.forEach(fail)', 'mayThrow'],
    ['return BigInt(a)', 'mayThrow'],
    ['return JSON.parse(a)', 'mayThrow'],
    ['return Number(a)', ''],
    ['refuse()', 'mayThrow callsForPosition'],
    ['return where()', 'callsForPosition'],
    ['return node({ a })', 'callsForPosition'],
    ['return a.map(where)', 'callsForPosition'],
    ['return [a].map((x) => where())', 'callsForPosition'],
  ])('%s', (code, effects) => expect(effectsOfAction(code)).toBe(effects));
});

test('a variable that only the initializer changes counts as constant', () => {
  expect(effectsOf('{ let n = 0; n++; const list = []; list.push(n); }\na = "a" { return [n, list[0]]; }')).toEqual([
    '',
  ]);
});

test('a label may hold the same object as a per-parse variable', () => {
  const grammar = `
    { const seen = []; }
    a = n:node { n.x = 1; }
    node = "n" { const made = {}; seen.push(made); return made; }
    all = "" { return seen; }
  `;
  expect(effectsOf(grammar)).toEqual(['writesState changesLabels', 'writesState readsState', 'readsState']);
});

test('a function that one action returns has its effects where another one calls it', () => {
  const grammar = `
    { let n = 0; }
    a = f:b { return f(); }
    b = "b" { return () => ++n; }
    c = o:d { return o.make(); }
    d = "d" { return { make() { n = 2; } }; }
  `;
  const [a, b, c, d] = effectsOf(grammar);
  expect(a).toContain('writesState');
  expect(b).toBe('');
  expect(c).toContain('writesState');
  expect(d).toBe('');
});

test('conversions run code', () => {
  const grammar = `
    { let n = 0; }
    a = "a" { return "" + { toString() { n++; return ""; } }; }
    b = "b" { return { [a]() { n++; } }; }
    c = "c" { return { z: 1 }.z; }
  `;
  expect(effectsOf(grammar).map((names) => names.includes('writesState'))).toEqual([true, true, false]);
});

test('predicates and bounds see the labels before them', () => {
  const grammar =
    '{ let n = 0; }\na = x:"1" &{ return x > n; } y:"b"|{ return Number(x); }| !{ n = y.length; } { return x + y; }';
  expect(effectsOf(grammar)).toEqual(['readsState', '', 'writesState', '']);
});
