import { describe, expect, test } from 'vitest';
import { analyzeEffects } from '../../../src/peggy-fast/effects/analyze.js';
import { codeOf } from './grammar-code.js';

const HELPERS = `
  let count = 0;
  const seen = [];
  const byName = new Map();
  const nested = { list: [], deep: { map: new Map() } };
  const DIGITS = /[0-9]/g, PLAIN = /[0-9]/;
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

const STATE = 'let depth = 0; const stack = []; function enter() { depth++; } function refuse() { error("no"); }';

/** Returns `true` if an action with two labels, `a` and `b`, runs although its value is not used. */
function mustRun(action: string, topLevel: string = HELPERS, trusted: readonly string[] = []): boolean {
  const grammar = `{{${topLevel}}}\n{${STATE}}\nstart = a:"a" b:"b" {${action}}\n`;
  const [effects] = analyzeEffects(codeOf(grammar, trusted)).effects.values();
  return effects!.mustRun;
}

describe('an action runs if it may have an effect', () => {
  test.each([
    'count = 1',
    'count++',
    '[count] = [1]',
    '({ x: count = 2 } = a)',
    'for (count of a) {}',
    'return bump()',
    'return a.map(bump)',
    'return [...a].sort(() => bump())',
    'return (0, bump)()',
    'return bump.call(null)',
    'const { random } = Math; return random()',
    'Statics.add(a)',
    'seen.push(a)',
    'seen[0] = a',
    'seen?.push(a)',
    'seen["push"](a)',
    'seen.length = 0',
    'delete NAMES["+"]',
    'byName.set(a, b)',
    'nested.deep.map.set(a, b)',
    'const s = seen; s.push(a)',
    'const { list } = nested; list.push(a)',
    'let s; if (a) s = seen; else s = []; s.push(1)',
    '(a ? seen : []).push(1)',
    '(a || seen).push(1)',
    'const box = []; box.push(seen); box[0].push(1)',
    'const box = { seen }; box.seen.push(1)',
    'const box = []; add(box, seen); box[0].push(1)',
    'a.forEach((x) => seen.push(x))',
    'const list = seen; a.forEach((x) => list.push(x))',
    'nested.list.forEach((x) => { x.y = 1; })',
    'return a.reduce((all, x) => { all[x] = 1; return all; }, seen)',
    'add(seen, a)',
    'addDeep(nested.list, a)',
    'setAll({ target: nested }, a)',
    'each([seen], (list) => list.push(a))',
    'each(a, bump)',
    'add.apply(null, [seen, a])',
    'add(...[seen, a])',
    'Array.prototype.push.call(seen, a)',
    'Object.assign(nested, a)',
    'Object.defineProperty(nested, "x", { value: a })',
    'Reflect.set(nested, "x", a)',
    'Object.freeze(nested)',
    'return counter()',
    'memo(a)',
    'api.touch()',
    'api.keep(a)',
    'api[a](b)',
    'Tree.made++',
    '++new Keeper().Tree.made',
    'Tree.prototype.made = 1',
    'const { prototype: shared } = Tree; shared.made = 1',
    'Object.assign(Tree.prototype, a)',
    'setAll({ target: Tree.prototype }, a)',
    'count_(Tree)',
    'add.prototype.x = 1',
    'add.calls = 1',
    'return new Counted()',
    'return DIGITS.test(a)',
    'return matches(DIGITS, a)',
    'return matchesAny([PLAIN, DIGITS], a)',
    'return new Token(DIGITS).reads(a)',
    'return [DIGITS].some((re) => re.test(a))',
    'const re = DIGITS; return (() => re.test(a))()',
    '[a].forEach(function () { this.n = 1; }, nested)',
    'a.map(countUp, nested)',
    'Array.from(a, countUp, nested)',
    '[a].forEach(seen.push, seen)',
    'Reflect.get(nested, "list").push(a)',
    'Error.captureStackTrace(nested)',
    'DIGITS.lastIndex = 0',
    'nested.visit(a)',
    'options.x = 1',
    'options.list.push(a)',
    'options.onNode(a)',
    'const { onNode } = options; onNode(a)',
    'undeclared = 1',
    'globalThis.x = 1',
    'Array.prototype.x = 1',
    'this.x = 1',
    '(() => { this.x = 1; })()',
    'console.log(a)',
    'a.forEach(console.log)',
    'return Math.random()',
    'return Date.now()',
    'return performance.now()',
    'return crypto.randomUUID()',
    'fetch(a)',
    'return process.exit()',
    'setTimeout(() => {}, 0)',
    'alert(a)',
    'return new Function("return 1")',
    'return window.alert(a)',
    'depth++',
    'stack.push(a)',
    'return enter()',
    'return a.map(() => enter())',
    'a.x = b; return a',
    'return add(a, b)',
    'return a.reduce((all, x) => { all.x = x; return all; }, b)',
    'const [first] = a; first.x = 1',
    'const own = a.slice(); own[0].x = 1',
    'for (const x of a) x.y = 1',
    'return a()',
    'return a.visit()',
    'return a.forEach(b)',
    'if (a) error("no")',
    'expected("yes")',
    'refuse()',
    'throw new Error("no")',
    'return BigInt(a)',
    'return JSON.parse(a)',
    'return decodeURIComponent(a)',
    'return { valueOf() { depth++; } } + 1',
    'return { get x() { return ++depth; } }.x',
    'return [...{ [Symbol.iterator]() { depth++; } }]',
    'return new Proxy(a, {})',
    'return (function* () { depth++; })().next()',
  ])('%s', (action) => expect(mustRun(action)).toBe(true));

  test.each([
    'fs(a)',
    'fs.x.y(a)',
    'return require("fs")',
    'return imported(a)',
    'return all.thing(a)',
    'return a.map(imported)',
    'return imported`x`',
    // An object from outside of the grammar may have a method of this name.
    'return a.map(String)',
    'return b.indexOf(a)',
    'return a.next',
  ])('with code from outside: %s', (action) => {
    const imports = 'import imported from "somewhere"; import * as all from "elsewhere"; const fs = require("fs");';
    expect(mustRun(action, imports)).toBe(true);
  });

  test('functions that use code from outside', () => {
    const helpers = 'import map from "somewhere"; function read(x) { return map.get(x); }';
    expect(mustRun('return read(a)', helpers)).toBe(true);
    expect(mustRun('return read(a)', helpers, ['map'])).toBe(false);
  });

  test('a name of a method says nothing of other names', () => {
    const helpers = 'const table = { find(x) { return x; }, has: memo((x) => x) }; function memo(f) { return f; }';
    expect(mustRun('return table.find(a)', helpers)).toBe(true);
    expect(mustRun('return table.has(a)', helpers)).toBe(true);
    expect(mustRun('return a.map(String).join("")', helpers)).toBe(false);
  });

  test('a property that is computed may be a method only if functions are values', () => {
    const action = 'const o = {}; a.forEach((x) => { o[x.key] = x.value; }); return o';
    expect(mustRun(action, 'function of(x) { return x; }')).toBe(false);
    expect(mustRun(action, 'const all = []; all.push(() => 1);')).toBe(true);
  });

  test('a pattern that keeps its place', () => {
    expect(mustRun('return a.match(/x/y)')).toBe(true);
    expect(mustRun('return RE.exec(a)', 'const RE = /x/g;')).toBe(true);
    expect(mustRun('return RE.exec(a)', 'const RE = /x/;')).toBe(false);
    expect(mustRun('return /x/g.test(a)', 'const RE = /x/g;')).toBe(false);
  });
});

describe('an action may be omitted if it only makes a value', () => {
  test.each([
    'return [a, b]',
    'return { type: "pair", a, b, at: location().start, text: text(), n: options.n ?? 1, i: input.slice(0, 3).trim() }',
    'const list = [a]; list.push(b); list[0] = 1; return list',
    'const node = { a }; node.b = b; delete node.a; return node',
    'let n = 0; a.forEach(() => n++); return n',
    'let list; if (a) list = []; else list = [b]; list.push(1); return list',
    'function walk(x) { n++; x.children.forEach(walk); } let n = 0; walk(a); return n',
    'return add([], a)',
    'return add(a ? [] : [b], a)',
    'const copy = [...seen]; copy.push(a); return copy',
    'const copy = seen.slice(); copy.push(a); return copy.sort()',
    'return Object.assign({}, nested, a)',
    'const name = NAMES[a]; return { name, all: Object.keys(NAMES).length, has: byName.has(a), one: byName.get(b) }',
    'return [String(a), typeof count, count + 1, seen.length, Math.max(a, b), parseInt(a, 10), Number.isInteger(b)]',
    'return a.map(String).filter((x, i, all) => all.indexOf(x) === i)',
    'return a.reduce((left, right) => ({ left, right }), b)',
    'const map = new Map(a); map.set(b, 1); return map',
    'return new Plain(a)',
    '{ let count = 0; count++; const seen = []; seen.push(count); return seen; }',
    'switch (a) { case "x": { return b; } default: return a.constructor.name }',
  ])('%s', (action) => {
    expect(mustRun(action, `${HELPERS} class Plain { constructor(x) { this.x = x; } }`)).toBe(false);
  });

  test('functions may call each other', () => {
    const helpers =
      'function even(n) { return n === 0 || odd(n - 1); } function odd(n) { return n !== 0 && even(n - 1); }';
    expect(mustRun('return even(a)', helpers)).toBe(false);
    expect(mustRun('return even(a)', `${helpers} function later() { even = null; }`)).toBe(true);
    expect(mustRun('return even(a)', helpers.replace('n !== 0', 'n++, console.log(n)'))).toBe(true);
  });
});

test('trusted names have no effects, and so have built-ins by path', () => {
  const code = 'imported(a); all.thing(b); console.log(Math.random()); bump(); scratch[0] = 1; return b';
  const helpers =
    'import imported from "somewhere"; import * as all from "elsewhere"; const scratch = []; let n = 0; function bump() { n++; }';
  expect(mustRun(code, helpers, ['imported', 'all', 'Math.random', 'console', 'bump', 'scratch'])).toBe(false);
  expect(mustRun(code, helpers, ['imported', 'all', 'Math.random', 'console', 'bump'])).toBe(true);
});

describe('a predicate', () => {
  const predicate = (code: string, more = ''): boolean => {
    const grammar = `{{ let top = 1; const list = []; }}\n{ const strict = options.strict; let n = 0; ${more} }\ns = a:"a" &{ return ${code}; } { n++; }`;
    const [first] = analyzeEffects(codeOf(grammar)).effects.values();
    return first!.mustRun;
  };

  test.each([
    'strict',
    '!strict && options.x !== 1',
    'input.charCodeAt(offset() - 1) <= 32',
    'typeof top === "number"',
    'input[0] === "x"',
  ])('is constant: %s', (code) => expect(predicate(code)).toBe(false));

  test.each([
    'n > 1',
    'a === "x"',
    'list.length',
    'strict.x',
    'options.x.y',
    'options.f()',
    'text() === ""',
    'other()',
    '(top = 2)',
  ])('depends on more: %s', (code) => expect(predicate(code)).toBe(true));

  test('depends on more if the options change, or if another parse gives them', () => {
    expect(predicate('options.x')).toBe(false);
    for (const more of [
      'options.x = 1;',
      'Object.assign(options, { x: 1 });',
      'options.change();',
      'const o = options;',
      'delete options.x;',
    ]) {
      expect(predicate('options.x', more)).toBe(true);
    }
  });
});

describe('a predicate that always holds', () => {
  const decides = (code: string, helper: string): boolean => {
    const grammar = `{ let n = 0; ${helper} }\ns = a:"a" &{ ${code} }`;
    const [effects] = analyzeEffects(codeOf(grammar)).effects.values();
    return effects!.decides;
  };

  test.each<readonly [code: string, helper: string]>([
    ['n++; return true;', ''],
    ['return check();', 'function check() { if (++n > 3) error("no"); return true; }'],
    ['return a === "b" || check();', 'const check = () => { n++; if (n > 3) return 1; throw new Error("no"); };'],
    ['return check() && more(a);', 'function check() { return more(); } function more() { n++; return "yes"; }'],
    [
      'return check();',
      'function check() { if (++n < 3) return true; try { error("no"); } catch (e) { e.n = n; throw e; } }',
    ],
  ])('%s with %s', (code, helper) => expect(decides(code, helper)).toBe(false));

  test.each<readonly [code: string, helper: string]>([
    ['n++;', ''],
    ['return n++;', ''],
    ['return n++ || false;', ''],
    ['return a();', 'function a() { n++; return true; }'],
    ['return check();', 'function check() { if (++n > 3) return true; }'],
    ['return check();', 'function check() { if (++n > 3) return; return true; }'],
    ['return check();', 'function check() { return n > 3 ? check() : true; }'],
    ['return check();', 'function check() { return check(); }'],
    ['return check();', 'let check = () => { return true; }; function change() { check = change; }'],
    ['return check();', 'function check() { try { n++; } catch (e) { throw e; } }'],
    ['return check();', 'function check() { const error = () => n++; error("no"); }'],
    ['const check = () => n++; return check();', 'function check() { return true; }'],
  ])('may fail: %s with %s', (code, helper) => expect(decides(code, helper)).toBe(true));
});

describe('code that uses the position', () => {
  const callsForPosition = (action: string, perParse: string): boolean => {
    const grammar = `{ ${perParse} }\ns = a:"a" b:"b" {${action}}\nother = "" { return helper; }`;
    const [effects] = analyzeEffects(codeOf(grammar)).effects.values();
    return effects!.callsForPosition;
  };
  const HELPER =
    'function helper() { return where(); } function where() { return location(); } function plain() { return 1; }';

  test.each<readonly [action: string, perParse: string, asks: boolean]>([
    ['return helper()', HELPER.replace('helper', 'other'), false],
    ['return where()', HELPER.replace('helper', 'other'), true],
    ['return plain()', HELPER.replace('helper', 'other'), false],
    ['return a.map((x) => where())', HELPER.replace('helper', 'other'), true],
    ['return text()', '', false],
    ['refuse()', 'function refuse() { error("no"); }', true],
    ['refuse()', 'function refuse() { error("no", { start: 1, end: 2 }); }', false],
    // A label may hold a function that is returned, or an object with a method.
    ['return a()', HELPER, true],
    ['return a.where()', 'class Node { where() { return location(); } }', true],
    ['return a.where()', 'const node = { where() { return location(); } };', true],
    ['return plain()', 'const later = () => () => text(); function plain() {}', true],
  ])('%s with %s', (action, perParse, asks) => expect(callsForPosition(action, perParse)).toBe(asks));
});

describe('code that a scanner cannot contain', () => {
  test.each<readonly [grammar: string, message: string]>([
    ['a = "a" { return <b/>; }', 'The code is not valid JavaScript'],
    ['a = "a" { return eval("1"); }', 'eval()'],
    ['a = "a" { with (Math) { return max(1, 2); } }', '"with"'],
    ['a = "a" { return peg$currPos; }', 'internal'],
    ['a = "a" { return arguments.length; }', 'arguments'],
    ['a = "a" { return (async () => 1)(); }', 'asynchronous'],
    ['a = "a" { return import("x"); }', 'import()'],
    ['a = x:"a" { return await x; }', 'The code is not valid JavaScript'],
    ['{ input = input.trim(); }\na = "a"', 'changes the variable "input"'],
  ])('%s', (grammar, message) => expect(() => analyzeEffects(codeOf(grammar))).toThrow(message));
});
