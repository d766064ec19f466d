import { describe, expect, test } from 'vitest';
import { analyzeEffects } from '../../../src/peggy-fast/effects/analyze.js';
import type { Violation } from '../../../src/peggy-fast/effects/report.js';
import { codeOf } from './grammar-code.js';

const MADE_BEFORE = `
  import imported from "somewhere";
  import * as all from "elsewhere";
  let count = 0;
  const seen = [];
  const byName = new Map();
  const nested = { list: [], deep: { map: new Map() } };
  const DIGITS = /[0-9]/g, STICKY = /[0-9]/y, PLAIN = /[0-9]/;
  const NAMES = { "+": "plus" };
  function bump() { return ++count; }
  function add(list, item) { list.push(item); return list; }
  function addDeep(list, item) { return add(list, item); }
  function setAll({ target }, value) { target.value = value; }
  function each(items, callback) { for (const item of items) callback(item); }
  function make() { return []; }
  const counter = (() => { let n = 0; return () => ++n; })();
  const memo = (() => { const known = {}; return (key) => (known[key] ??= [key]); })();
  const api = { make() { return {}; }, touch() { count++; }, keep(x) { this.last = x; return x; } };
  class Tree { constructor(x) { this.x = x; this.items = []; } add(i) { this.items.push(i); return this; } }
  const fs = require("fs");
  function tagged(strings, list) { list.push(1); }
  class Keeper { constructor() { this.Tree = Tree; } }
  class Statics { static add(x) { seen.push(x); } }
  class Counted { constructor() { ++count; } }
  function matches(re, text) { return re.test(text); }
  function matchesAny(patterns, text) { return patterns.some((re) => matches(re, text)); }
  function replaced(re, text) { return text.replace(re, ""); }
  class Token { constructor(re) { this.re = re; } reads(text) { return this.re.exec(text); } }
  function countUp() { this.n++; }
  function names() { return byName.keys(); }
  function count_(some) { some.prototype.count = 1; }
`;

/** The violations of an action with two labels, `a` and `b`, in a grammar with the code above. */
function refused(action: string, trusted: readonly string[] = []): readonly Violation[] {
  const grammar = `{{${MADE_BEFORE}}}\n{ let depth = 0; const stack = []; function enter() { depth++; } }\nstart = a:"a" b:"b" {${action}}\n`;
  const { violations, unsupported } = analyzeEffects(codeOf(grammar, trusted));
  expect(unsupported).toEqual([]);
  for (const { location } of violations) {
    expect(grammar.slice(location.start.offset, location.end.offset)).not.toBe('');
    const before = grammar.slice(0, location.start.offset);
    expect(location.start.line).toBe(before.split('\n').length);
    expect(location.start.column).toBe(location.start.offset - before.lastIndexOf('\n'));
  }
  return violations;
}

describe('rejected, because it outlives the parse', () => {
  const cases: readonly (readonly [code: string, message: string])[] = [
    ['count = 1', 'assigns the top-level variable "count"'],
    ['count++', 'assigns the top-level variable "count"'],
    ['[count] = [1]', 'assigns the top-level variable "count"'],
    ['({ x: count = 2 } = a)', 'assigns the top-level variable "count"'],
    ['for (count of a) {}', 'assigns the top-level variable "count"'],
    ['return bump()', 'runs bump(), which assigns the top-level variable "count"'],
    ['return a.map(bump)', 'runs bump(), which assigns the top-level variable "count"'],
    ['return [...a].sort(() => bump())', 'runs bump()'],
    ['return (0, bump)()', 'runs bump()'],
    ['return bump.call(null)', 'runs bump()'],
    ['fs(a)', 'calls a function in the top-level variable "fs"'],
    ['fs.x.y(a)', 'calls y() of the top-level variable "fs"'],
    ['const { random } = Math; return random()', 'calls Math.random()'],
    ['tagged`$' + '{seen}`', 'top-level variable "seen"'],
    ['Statics.add(a)', 'runs add(), which changes an object in the top-level variable "seen"'],
    ['seen.push(a)', 'changes an object in the top-level variable "seen" by push()'],
    ['seen[0] = a', 'changes an object in the top-level variable "seen"'],
    ['seen?.push(a)', 'by push()'],
    ['seen["push"](a)', 'by push()'],
    ['seen.length = 0', 'top-level variable "seen"'],
    ['delete NAMES["+"]', 'top-level variable "NAMES"'],
    ['byName.set(a, b)', 'by set()'],
    ['nested.deep.map.set(a, b)', 'top-level variable "nested"'],
    ['const s = seen; s.push(a)', 'top-level variable "seen"'],
    ['const { list } = nested; list.push(a)', 'top-level variable "nested"'],
    ['let s; if (a) s = seen; else s = []; s.push(1)', 'top-level variable "seen"'],
    ['(a ? seen : []).push(1)', 'top-level variable "seen"'],
    ['(a || seen).push(1)', 'top-level variable "seen"'],
    ['const box = []; box.push(seen); box[0].push(1)', 'top-level variable "seen"'],
    ['const box = { seen }; box.seen.push(1)', 'top-level variable "seen"'],
    ['const box = []; add(box, seen); box[0].push(1)', 'top-level variable "seen"'],
    ['a.forEach((x) => seen.push(x))', 'top-level variable "seen"'],
    ['const list = seen; a.forEach((x) => list.push(x))', 'top-level variable "seen"'],
    ['nested.list.forEach((x) => { x.y = 1; })', 'top-level variable "nested"'],
    ['return a.reduce((all, x) => { all[x] = 1; return all; }, seen)', 'top-level variable "seen"'],
    ['add(seen, a)', 'changes an object in the top-level variable "seen" by add()'],
    ['addDeep(nested.list, a)', 'changes an object in the top-level variable "nested" by addDeep()'],
    ['setAll({ target: nested }, a)', 'top-level variable "nested"'],
    ['each([seen], (list) => list.push(a))', 'top-level variable "seen"'],
    ['each(a, bump)', 'runs bump()'],
    ['add.apply(null, [seen, a])', 'top-level variable "seen"'],
    ['add(...[seen, a])', 'top-level variable "seen"'],
    ['Array.prototype.push.call(seen, a)', 'by push()'],
    ['Object.assign(nested, a)', 'changes an object in the top-level variable "nested" by Object.assign()'],
    ['Object.defineProperty(nested, "x", { value: a })', 'by Object.defineProperty()'],
    ['Reflect.set(nested, "x", a)', 'by Reflect.set()'],
    ['Object.freeze(nested)', 'by Object.freeze()'],
    ['return counter()', 'top-level variable "n"'],
    ['memo(a)', 'top-level variable "known"'],
    ['api.touch()', 'runs touch(), which assigns the top-level variable "count"'],
    ['api.keep(a)', 'changes an object in the top-level variable "api" by keep()'],
    ['api[a](b)', 'runs touch()'],
    ['Tree.made++', 'changes the top-level class "Tree"'],
    ['++new Keeper().Tree.made', 'changes the top-level class "Tree"'],
    ['Tree.prototype.made = 1', 'changes the top-level class "Tree"'],
    ['const { prototype: shared } = Tree; shared.made = 1', 'changes the top-level class "Tree"'],
    ['Object.assign(Tree.prototype, a)', 'changes the top-level class "Tree" by Object.assign()'],
    ['setAll({ target: Tree.prototype }, a)', 'changes the top-level class "Tree"'],
    ['count_(Tree)', 'changes the top-level class "Tree" by count_()'],
    ['add.prototype.x = 1', 'changes the top-level function "add"'],
    ['add.calls = 1', 'changes the top-level function "add"'],
    ['return new Counted()', 'assigns the top-level variable "count"'],
    ['return DIGITS.test(a)', 'matches with the top-level variable "DIGITS"'],
    ['return STICKY.exec(a)', 'matches with the top-level variable "STICKY"'],
    ['return a.match(STICKY)', 'matches with the top-level variable "STICKY"'],
    ['return matches(DIGITS, a)', 'matches with the top-level variable "DIGITS"'],
    ['return matchesAny([PLAIN, DIGITS], a)', 'matches with the top-level variable "DIGITS"'],
    ['return new Token(DIGITS).reads(a)', 'matches with the top-level variable "DIGITS"'],
    ['return [DIGITS].some((re) => re.test(a))', 'matches with the top-level variable "DIGITS"'],
    ['return replaced(STICKY, a)', 'matches with the top-level variable "STICKY"'],
    ['const re = DIGITS; return (() => re.test(a))()', 'matches with the top-level variable "DIGITS"'],
    ['[a].forEach(function () { this.n = 1; }, nested)', 'top-level variable "nested"'],
    ['a.map(countUp, nested)', 'top-level variable "nested"'],
    ['Array.from(a, countUp, nested)', 'top-level variable "nested"'],
    ['[a].forEach(seen.push, seen)', 'calls a method of the top-level variable "seen"'],
    ['Reflect.get(nested, "list").push(a)', 'top-level variable "nested"'],
    ['Error.captureStackTrace(nested)', 'top-level variable "nested"'],
    ['DIGITS.lastIndex = 0', 'top-level variable "DIGITS"'],
    ['nested.visit(a)', 'calls visit() of the top-level variable "nested", which may change it'],
    ['input = ""', 'assigns "input"'],
    ['options.x = 1', 'changes "options"'],
    ['options.list.push(a)', 'changes "options" by push()'],
    ['options.onNode(a)', 'calls onNode() of "options"'],
    ['const { onNode } = options; onNode(a)', 'calls a function of "options"'],
    ['undeclared = 1', 'assigns the global "undeclared"'],
    ['globalThis.x = 1', 'changes the global "globalThis"'],
    ['Array.prototype.x = 1', 'changes the global "Array.prototype"'],
    ['this.x = 1', 'changes "this"'],
    ['(() => { this.x = 1; })()', 'changes "this"'],
    ['console.log(a)', 'calls console.log()'],
    ['a.forEach(console.log)', 'calls console.log()'],
    ['return Math.random()', 'calls Math.random()'],
    ['return Date.now()', 'calls Date.now()'],
    ['return new Date()', 'calls new Date()'],
    ['return performance.now()', 'calls performance.now()'],
    ['return crypto.randomUUID()', 'calls crypto.randomUUID()'],
    ['fetch(a)', 'calls fetch()'],
    ['return require("fs")', 'calls require()'],
    ['return process.exit()', 'calls process.exit()'],
    ['setTimeout(() => {}, 0)', 'calls setTimeout()'],
    ['alert(a)', 'calls alert()'],
    ['return new Function("return 1")', 'calls new Function()'],
    ['return window.alert(a)', 'calls alert()'],
    ['return imported(a)', 'calls the imported "imported"'],
    ['return all.thing(a)', 'calls thing() of the imported "all"'],
    ['return a.map(imported)', 'calls the imported "imported"'],
    ['return imported`x`', 'calls the imported "imported"'],
  ];
  test.each(cases)('%s', (code, message) => {
    const violations = refused(code);
    expect(violations.map((violation) => violation.message).join('\n')).toContain(message);
    expect(violations.every(({ rule }) => rule === 'start')).toBe(true);
  });
});

describe('allowed', () => {
  test.each([
    'const list = [a]; list.push(b); list[0] = 1; return list',
    'a.x = 1; a.list.push(b); delete a.y; a = 1; return a',
    'return a.accept(b)',
    'let n = 0; a.forEach(() => n++); return n',
    'function walk(x) { n++; x.children.forEach(walk); } let n = 0; walk(a); return n',
    'depth++; stack.push(a); enter(); stack[0].x = 1',
    'return add([], a)',
    'return addDeep(a, b)',
    'const list = make(); list.push(a); return list',
    'return add(stack, a)',
    'return a.reduce((all, x) => { all[x] = 1; return all; }, {})',
    'return seen.map((x) => ({ x })).concat(seen).filter(Boolean)',
    'const copy = [...seen]; copy.push(a); return copy',
    'const copy = seen.slice(); copy.push(a); return copy',
    'const copy = { ...nested }; copy.x = 1; return copy',
    'return Object.assign({}, nested, a)',
    'const name = NAMES[a]; return { name, all: Object.keys(NAMES).length, has: byName.has(a), one: byName.get(b) }',
    'return a.replace(DIGITS, "").split(DIGITS).concat(b.match(DIGITS), PLAIN.test(a), PLAIN.exec(b))',
    'const re = /x/g; re.lastIndex = 0; return re.test(a)',
    'return new RegExp(a, "g").exec(b)',
    'const node = api.make(a); node.x = 1; return node',
    'const tree = new Tree(a); tree.add(b).add(a); tree.y = 1; return tree',
    'const map = new Map([[a, b]]); map.set(b, a); map.delete(a); const set = new Set(a); set.add(b); set.clear(); return map',
    'return [Math.max(a, b), Number(a), parseInt(a, 10), String.fromCharCode(a), JSON.parse(b), new Date(a), Date.UTC(1, 2)]',
    'return [BigInt(a), Symbol("x"), Symbol.for(b), isNaN(b), Array.from(a, (x) => x), Array.isArray(b), new Error(a), decodeURIComponent(b)]',
    'return [Object.entries(NAMES), Object.freeze({ a }), structuredClone(nested), new Uint8Array(4).fill(1), undefined, NaN]',
    'return { text: text(), at: location().start, o: offset(), r: range().end, i: input.slice(0, 3).trim(), n: options.n ?? 1 }',
    'if (a) error("no"); expected("yes")',
    'try { error(a) } catch (problem) { problem.reason = b; throw problem }',
    'return [String(a), `$' + '{NAMES[a]}`, typeof count, count + 1, seen.length]',
    'const self = { visit(x) { this.last = x; return this; } }; self.visit(a).visit(b); return self',
    'return a.map(String).filter((x, i, all) => all.indexOf(x) === i)',
    'return { toString() { return a; } }',
    'count: for (const seen of a) { seen.x = 1; continue count; }',
    '{ let count = 0; count++; const seen = []; seen.push(count); return seen; }',
    'switch (a) { case "x": { return b; } default: return a.constructor.name }',
    'return a.constructor === Tree && b.constructor.name.trim().length === a.constructor.length',
    'const node = { type: a.constructor.name, list: [] }; node.list.push(1); return node',
    'return Object.getPrototypeOf(a) === Tree.prototype || a.__proto__ === null || Tree.prototype.add.call(new Tree(a), b)',
    'function Own(x) { this.x = new.target === undefined ? x : new.target.name; } return new Own(a)',
    'return matches(PLAIN, a) && matchesAny([PLAIN], b) && replaced(DIGITS, a) && matches(/x/g, a) && new Token(PLAIN).reads(a)',
    'return [...names(), ...byName.values()]',
    'a.forEach(function (x) { this.push(x); }, []); return a.map(String, nested)',
    'const own = class {}; own.prototype.x = 1; own.count = 2; return new own()',
    'return { __proto__: null, constructor: a, prototype: b }',
  ])('%s', (code) => expect(refused(code)).toEqual([]));
});

test('trusted names are pure, and so are built-ins by path', () => {
  const trusted = ['imported', 'all', 'Math.random', 'console', 'bump', 'options'];
  const code = 'imported(a); all.thing(b); console.log(Math.random()); bump(); return options.onNode(a)';
  expect(refused(code, trusted)).toEqual([]);
  expect(refused(code)).toHaveLength(6);
});

test('a message names the rule, the change and the reason', () => {
  const { violations } = analyzeEffects(codeOf('{{ let n = 0; }}\nitem\n  = "x"\n    { n += 1;\n      return n; }'));
  expect(violations).toEqual([
    {
      rule: 'item',
      message:
        'Rule "item" assigns the top-level variable "n": it outlives the parse, while code of the grammar may run twice ' +
        'or be skipped; a variable of the per-parse initializer { ... } is reset for each parse',
      location: {
        source: 'test.peggy',
        start: { offset: 36, line: 4, column: 7 },
        end: { offset: 37, line: 4, column: 8 },
      },
    },
  ]);
});

test('an effect of a function is reported once, for the first rule that calls it', () => {
  const grammar =
    '{{ let n = 0; function next() { return ++n; } }}\na = b { return next(); }\nb = "b" { return next(); }';
  const { violations } = analyzeEffects(codeOf(grammar));
  expect(violations.map(({ rule, location }) => [rule, location.start.offset])).toEqual([['a', 41]]);
});

test('the per-parse initializer has the same restrictions, the top-level one has none', () => {
  const top =
    '{{ console.log("loaded"); globalThis.x = new Date(); const ids = new Map(); ids.set(1, 2); let n = 0; }}';
  const own = '{ const start = Date.now(); ids.clear(); const mine = []; mine.push(n); options.x = 1; }';
  const { violations } = analyzeEffects(codeOf(`${top}\n${own}\na = "a"`));
  expect(violations.map(({ rule }) => rule)).toEqual([null, null, null]);
  expect(violations[0]!.message).toMatch(/^The per-parse initializer calls Date\.now\(\): /);
});

test('a top-level object that actions return is accepted if it is never changed', () => {
  const grammar = (change: string): string => `
    {{ const SHARED = { kind: "x", list: [] }; const NAMES = { "+": "plus" }; function visit(node) { return node; } }}
    start = list:node* { ${change} }
    node = "n" { return { shared: SHARED, name: NAMES["+"], visit }; }
  `;
  const { violations, unsupported } = analyzeEffects(codeOf(grammar('list.push(1); list.length = 2; return list')));
  expect([...violations, ...unsupported]).toEqual([]);
  const { unsupported: changed } = analyzeEffects(codeOf(grammar('list[0].shared.list.push(1)')));
  expect(changed.map(({ message }) => message.split(':')[0])).toEqual([
    'Rule "start" may change an object in the top-level variable "SHARED", through a label',
  ]);
});

describe('common code of trees is followed', () => {
  const TREES = `class T { constructor(v) { this.v = v; this.kids = []; } up() { return this.v; } }
    function Old(v) { this.v = v; } Old.prototype.up = function () { return this.v; };
    const optional = (n) => { n.optional = true; return n; }; function many(n) { n.many = true; return n; }
    class Adder { constructor() { this.kids = []; } add(k) { k.p = 1; this.kids.push(k); } }
    function merge(a, b) { (a[b.k] ??= []).push(b.v); return a; }
    const OPERATORS = { "+": (a, b) => a + b };`;
  test.each([
    's = h:item { h.seen = true; return h.v; }\nitem = v:$[a-z]+ { return new T(v); }',
    's = h:item t:item* { for (const k of t) k.parent = h; return t.length; }\nitem = v:$[a-z]+ { return new T(v); }',
    's = h:item t:item* { h.kids.push(...t); t[t.length - 1].last_ = true; return h.kids; }\nitem = v:. { return new Old(v); }',
    's = n:item f:suffix* { return f.reduce((all, one) => one(all), n); }\nitem = v:. { return { v }; }\nsuffix = "?" { return optional; } / "*" { return many; }',
    's = l:item o:op r:item { r.parent = 1; return o(l, r); }\nitem = v:. { return { v }; }\nop = "+" { return OPERATORS["+"]; }',
    's = h:item t:item* { const n = new Adder(); t.forEach((x) => n.add(x)); return n; }\nitem = v:. { return { v }; }',
    's = t:item* { return t.reduce(merge, {}); }\nitem = v:. { return { k: v, v }; }',
    's = n:item { const all = n ? OPERATORS : {}; const fail = () => { throw all; }; try { fail(); } catch (e) { return n; } }\nitem = v:. { return { v }; }',
  ])('%s', (grammar) => {
    expect(analyzeEffects(codeOf(`{{ ${TREES} }}\n${grammar}`))).toMatchObject({ violations: [], unsupported: [] });
  });
});

describe('code that cannot be followed is not a violation', () => {
  test.each<readonly [grammar: string, message: string]>([
    ['{{ const x: number = 1; }}\na = "a" { return x; }', 'The code is not valid JavaScript'],
    ['a = "a" { return <b/>; }', 'The code is not valid JavaScript'],
    ['a = "a" { return eval("1"); }', 'eval()'],
    ['a = "a" { with (Math) { return max(1, 2); } }', '"with"'],
    ['a = "a" { return peg$currPos; }', 'internal'],
    ['a = "a" { return arguments.length; }', 'arguments'],
    ['a = "a" { return (async () => 1)(); }', 'asynchronous'],
    ['a = "a" { return import("x"); }', 'import()'],
    ['a = x:"a" { return await x; }', 'The code is not valid JavaScript'],
    ['{{ const SHARED = {}; }}\na = x:b { x.y = 1; }\nb = "b" { return SHARED; }', '"SHARED"'],
    ['{{ const SHARED = {}; }}\na = x:b y:b { x.s = SHARED; }\nb = x:c { x.s.y = 1; }\nc = "c"', '"SHARED"'],
    ['{{ const o = { get x() { return 1; } }; }}\na = "a" { return o.x; }', 'a getter or setter'],
    ['{{ class P { set x(value) {} } }}\na = "a" { new P().x = 1; }', 'a getter or setter'],
    ['{{ function* g() { yield 1; } }}\na = "a" { return [...g()]; }', 'generator'],
    ['{{ class P extends Error {} }}\na = "a" { return new P(); }', 'extends another one'],
    ['{{ const o = { m() { return super.m(); } }; }}\na = "a" { return o.m(); }', '"super"'],
    ['{{ class P { static { count(); } } }}\na = "a" { return new P(); }', 'static block'],
    ['{{ class P { n = 0; } }}\na = "a" { return new P(); }', 'a field of a class'],
    ['{{ const f = parseInt.bind(null, "1"); }}\na = "a" { return f(); }', 'bind()'],
    ['{{ const o = { [Symbol.iterator]() {} }; }}\na = "a" { return [...o]; }', 'symbols'],
    ['a = "a" { return [][globalThis.Symbol.iterator](); }', 'symbols'],
    ['{{ const { iterator } = Symbol; }}\na = "a" { return { [iterator]() {} }; }', 'symbols'],
    [
      '{{ let n = 0; const o = { toString() { return String(n++); } }; }}\na = "a" { return "" + o; }',
      'toString runs without a call',
    ],
    [
      '{{ let n = 0; const k = "toString"; const o = { [k]: () => n++ }; }}\na = "a" { return o + 1; }',
      'runs without a call',
    ],
    [
      '{{ const o = Object.defineProperty({}, "x", { get: () => 1 }); }}\na = "a" { return o.x; }',
      'property with an accessor',
    ],
    ['{{ const o = new Proxy({}, {}); }}\na = "a" { return o.x; }', 'proxy'],
    ...[
      '[].__proto__.y = 1',
      'x[`__proto__`].y = 1',
      'x["constructor"].y = 1',
      'x.constructor.y++',
      'Object.getPrototypeOf(x).y = 1',
      'Reflect.getPrototypeOf(x).y = 1',
    ].map((code) => [`a = x:b { ${code}; }\nb = "b" { return {}; }`, 'changes the result of "'] as const),
    ...[
      'x.constructor("return 1")()',
      'new x.constructor(1)',
      '(() => 1).constructor("return 1")()',
      'x.constructor.of(1)',
      'const { constructor: make } = x; make("return 1")()',
      'x.f`a`.constructor`b`',
    ].map((code) => [`a = x:b { ${code}; }\nb = "b" { return {}; }`, 'calls the result of "constructor"'] as const),
    ['{{ class P { constructor() { new.target.made++; } } }}\na = "a" { return new P(); }', '"new.target"'],
    ['{{ function P() { new.target.made++; } }}\na = "a" { return new P(); }', '"new.target"'],
    ['{{ class P {} }}\na = x:b { x.made++; }\nb = "b" { return P; }', 'may change the top-level class "P"'],
    ['{{ class P {} }}\na = x:b { x[0].p.made++; }\nb = "b" { return [{ p: P }]; }', 'the top-level class "P"'],
    ['{{ class P {} }}\na = x:b { x.prototype.made = 1; }\nb = "b" { return P; }', 'the top-level class "P"'],
    ['{{ class P { static add() { this.n++; } } }}\na = x:b { x.add(); }\nb = "b" { return P; }', 'class "P"'],
    ...['++o.P.made', '++[P, {}][0].made', 'const k = x ? P : {}; ++k.made', 'const k = x && P || {}; ++k.made'].map(
      (code) =>
        [
          `{{ class P { k() { return P; } } }}\na = x:b { const o = { P, q: {} }; ${code}; }\nb = "b"`,
          'class "P"',
        ] as const,
    ),
    ['{{ class P {} }}\n{ const o = { P, q: {} }; }\na = "a" { ++o.P.made; }', 'class "P"'],
    ['{{ const S = {}; }}\na = "a" { try { throw S; } catch (e) { ++e.n; } }', '"S"'],
    ['{{ const S = {}; function fail(x) { throw x; } }}\na = "a" { try { fail(S); } catch (e) { ++e.n; } }', '"S"'],
    [
      '{{ const S = {}; class E { constructor(s) { this.s = s; } } }}\na = "a" { try { throw new E(S); } catch (e) { ++e.s.n; } }',
      '"S"',
    ],
    ...[
      'const it = [1].values()',
      'const o = { it: new Map().keys() }',
      'const it = "a".matchAll(/a/g)',
      'class K { constructor() { this.it = [1].values(); } } const k = new K()',
    ].flatMap((code) => [
      [`{{ ${code}; }}\na = "a"`, 'holds an iterator'] as const,
      [`{ ${code}; }\na = "a"`, 'holds an iterator'] as const,
    ]),
    ['{{ const RE = /a/g; }}\na = x:b { return x.test("a"); }\nb = "b" { return RE; }', '"RE"'],
    ['a = x:b { ++Reflect.get(x, "constructor").n; }\nb = "b"', 'changes the result of "constructor"'],
    ['a = x:b { x.made++; }\nb = y:c { return y.constructor; }\nc = "c"', 'changes the result of "constructor"'],
    ['{{ const SHARED = {}; }}\na = x:b { x(SHARED); }\nb = "b" { return null; }', '"SHARED"'],
  ])('%s', (grammar, message) => {
    const { violations, unsupported } = analyzeEffects(codeOf(grammar));
    expect(violations).toEqual([]);
    expect(unsupported[0]!.message).toContain(message);
  });

  test('code without effects may run without a call, too', () => {
    const grammar = `{ let n = 0; class List { constructor() { this.items = []; } last() { return this.items[n]; } toString() { return "list"; } } }
      a = "a" { n++; } / b:b { return b.last(); }
      b = "b" { return new List(); }`;
    expect(analyzeEffects(codeOf(grammar))).toMatchObject({ violations: [], unsupported: [] });
  });
});
