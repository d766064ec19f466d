/**
 * Code of a grammar with effects that outlive a parse: it runs when and as often as in Peggy's parser, also for texts that are rejected,
 * although the scanner reads these twice.
 */
import { afterEach, describe, expect, test } from 'vitest';
import plugin from '../../src/peggy-fast/peggy-plugin.js';
import { compile, evaluate, generate, outcome, type Parser } from './agreement.js';

type Log = unknown[];
const shared = globalThis as { seenByGrammar?: Log | undefined };
afterEach(() => void delete shared.seenByGrammar);

/** The effects of texts, one after the other, on a log in the options and on a global variable. */
function effects(parser: Parser, texts: readonly string[]): unknown {
  shared.seenByGrammar = [];
  const outcomes = texts.map((text) => {
    const log: Log = [];
    const note = (...what: Log): boolean => log.push(what) % 3 !== 0;
    const options = { log, note, table: { get: note, has: note }, tag: Symbol.for('tag') };
    return { ...outcome(parser, text, options), log, options: Object.keys(options) };
  });
  return { outcomes, seen: shared.seenByGrammar };
}

const TEXTS = [
  '',
  'a',
  'ab',
  'aab',
  'aac',
  'aaaad',
  'aabab',
  'abc',
  'x',
  'aaaaaaaaac',
  'ba',
  '(a)',
  '(ab',
  '((a)b)',
  '(a)c',
];

function expectSameEffects(grammar: string, texts: readonly string[] = TEXTS): void {
  const parsers = compile([{ source: 'test', text: grammar }]);
  expect(parsers.notices).toEqual([]);
  expect(effects(parsers.fast, texts)).toStrictEqual(effects(parsers.stock, texts));
}

const RULES = `
start = list / item+ "c"
list = item|1.., "b"?| end
item = "a" { NOTE("a", offset()); return "a"; } / "(" inner:item* ")" !"c" &{ return NOTE("(", inner.length); } { return inner; }
end = !. { NOTE("end"); }
`;

describe('actions and predicates run in order, as often as in Peggy, and see what the others have done', () => {
  test.each<readonly [name: string, initializers: string, note: string]>([
    ['functions in options', '', 'options.note'],
    [
      'options passed on',
      '{ function note(o, ...what) { o.log.push(what); return o.log.length % 4 !== 0; } }',
      'note.bind(null, options)',
    ],
    [
      'a top-level variable',
      '{{ let count = 0; function note(what) { seenByGrammar.push([what, ++count]); return count % 5 !== 0; } }}',
      'note',
    ],
    ['a global variable', '{ const note = (...what) => seenByGrammar.push(what) % 2 === 0; }', 'note'],
    [
      'a generator',
      '{ const ids = (function* () { for (let id = 0; ; id++) yield id; })(); const note = (what) => ids.next().value % 3 !== 1; }',
      'note',
    ],
    ['a getter', '{ let n = 0; const state = { get next() { return ++n; } }; }', '(() => state.next % 4 !== 0)'],
    ['an iterator that is read', '{ const numbers = [1, 2, 3].values(); }', '(() => [...numbers].length === 0)'],
    ['a pattern that keeps its place', '{{ const A = /a/g; }}', '((what) => A.test(what + "a"))'],
    [
      'a class with a superclass',
      '{ let n = 0; class A { constructor() { n++; } } class B extends A { static of() { new B(); return n % 3 !== 0; } } }',
      'B.of',
    ],
    [
      'properties of a function',
      '{ function note() { note.calls = (note.calls ?? 0) + 1; return note.calls % 3 !== 0; } }',
      'note',
    ],
    [
      'random numbers of its own',
      '{{ let seed = 1; const next = () => (seed = (seed * 16807) % 2147483647); }}',
      '(() => next() % 3 !== 0)',
    ],
  ])('%s', (_name, initializers, note) => {
    expectSameEffects(initializers + RULES.replaceAll('NOTE', note));
  });

  test.each<readonly [name: string, initializer: string, action: string]>([
    ['an assigned method', 'const h = {}; h.get = () => ++n;', 'return h.get();'],
    ['an assigned method in a pattern', 'const h = {}; [h.find] = [() => ++n];', 'return h.find();'],
    ['a method of a prototype', 'function N() {} N.prototype.find = () => ++n;', 'return new N().find();'],
    [
      'a conversion of a prototype',
      'function N() {} N.prototype.toString = () => String(++n);',
      'return "" + new N();',
    ],
    ['a conversion', 'const o = {}; o.valueOf = () => ++n;', 'return o + 1;'],
    ['a field', 'class A { find = () => ++n; } const h = new A();', 'return h.find();'],
    ['a static block', 'class A { static { A.find = () => ++n; } }', 'return A.find();'],
    ['the method that a call returns', 'const same = (f) => f; const h = { at: same(() => ++n) };', 'return h.at();'],
    ['a chosen method', 'const h = { has: true ? () => ++n : null };', 'return h.has();'],
    ['a bound method', 'const h = { at: (function () { n++; }).bind(null) };', 'return h.at();'],
    ['a bound mutator', 'const h = { at: seen.push.bind(seen) };', 'return h.at(1);'],
    ['a function of Object', 'const h = { at: Object.assign };', 'return h.at(seen, { length: seen.length + 1 });'],
    ['a computed name', 'const k = "find"; const h = { [k]: () => ++n };', 'return h.find();'],
    ['a computed assignment', 'const h = {}; for (const k of ["at", "has"]) h[k] = () => ++n;', 'return h.has();'],
    ['a parameter as the name', 'const h = {}; ((k, f) => { h[k] = f; })("at", () => ++n);', 'return h.at();'],
    ['entries', 'const h = Object.fromEntries([["find", () => ++n]]);', 'return h.find();'],
    ['a method of a result', 'const make = () => ({ join: () => ++n });', 'return make().join();'],
    ['a defined accessor', 'const h = {}; Object.defineProperty(h, "x", { get: () => ++n });', 'return h.x;'],
    ['defined accessors', 'const h = Object.defineProperties({}, { x: { get: () => ++n } });', 'return h.x;'],
    ['a defined method', 'const h = Object.defineProperty({}, "at", { value: () => ++n });', 'return h.at();'],
    ['a created accessor', 'const h = Object.create({}, { x: { get: () => ++n } });', 'return h.x;'],
    ['a created method', 'const h = Object.create({}, { at: { value: () => ++n } });', 'return h.at();'],
    [
      'create() under another name',
      'const { create } = Object; const h = create({}, { at: { value: () => ++n } });',
      'return h.at();',
    ],
    [
      'create() that is called',
      'const h = Object.create.call(null, {}, { at: { value: () => ++n } });',
      'return h.at();',
    ],
    [
      'another name of Object',
      'const o = Object, d = "defineProperty", h = {}; o[d](h, "at", { value: () => ++n });',
      'return h.at();',
    ],
    ['a mutator under another name', 'const { push } = seen; seen.at = push;', 'return seen.at(1);'],
    ['a setter', 'class A { set x(v) { n++; } } class B extends A {}', 'const b = new B(); b.x = 1; return b;'],
    [
      'a defined setter',
      'const h = {}; Object.defineProperty(h, "x", { set() { n++; } }); function P() { this.x = 1; } P.prototype = h;',
      'return new P();',
    ],
    [
      'the constructor of an array',
      'class L extends Array { constructor(x) { super(x); n++; } } const l = new L(1);',
      'return l.map(String);',
    ],
    [
      'a shared object that is constructed',
      'function A() { return seen; }',
      'const x = new A(); x[n] = 1; x.length += 1; return x;',
    ],
    [
      'a shared object of a class',
      'class A { constructor() { return seen; } }',
      'const x = new A(); x[seen.length] = 1; return x;',
    ],
    ['a shared object of Object', '', 'const x = new Object(seen); x[seen.length] = 1; return x;'],
  ])('%s', (_name, initializer, action) => {
    expectSameEffects(
      `{ let n = 0; const seen = []; ${initializer} }\nstart = w+ "b"? { return [n, seen]; }\nw = a:"a" { ${action} }`,
    );
  });

  test.each([
    ['replace', '"aa".replace(re, "")'],
    ['replaceAll', '"aa".replaceAll(re, "")'],
    ['match', '"aa".match(re)'],
    ['test', 're.test("aa")'],
  ])('a pattern that loses its place: %s', (_name, call) => {
    expectSameEffects(
      `{ const re = /a/g; re.lastIndex = 1; }\nstart = w+ { return re.lastIndex; }\nw = "a" { return ${call}; }`,
    );
  });

  test.each([
    'const { log } = options;\n}\nstart = w+\nw = a:$"a" { return log.concat(a).map(String); }',
    'const { note: at } = options; const h = {}; h.at = at;\n}\nstart = $w+\nw = a:$"a" { return h.at(a); }',
    'const table = options.table;\n}\nstart = $w+\nw = a:$"a" { return table.get(a); }',
    'const { table: { has } } = options; const h = { has };\n}\nstart = $w+\nw = a:$"a" { return h.has(a); }',
    'function of() { return options.table; }\n}\nstart = $w+\nw = a:$"a" { return of().get(a); }',
    '\n}\nstart = $w+\nw = a:$"a" { const o = options.table; return o.has(a); }',
    '\n}\nstart = $w+\nw = a:$"a" { const o = Object(options.table); return o.has(a); }',
    'let table; table = options.table ?? {};\n}\nstart = $w+\nw = a:$"a" { return table.has(a) || table.get(a); }',
  ])('objects in options: {%s', (code) => {
    expectSameEffects(`{ ${code}`);
  });

  test.each([
    'Math.max = () => ++n;',
    'const m = Math; m.max = () => ++n;',
    'Object.assign(Math, { max: () => ++n });',
  ])('a replaced function: %s', (code) => {
    const { max } = Math;
    try {
      expectSameEffects(`{ let n = 0; ${code} }\nstart = w+ { return n; }\nw = "a" { return Math.max(1); }`, ['aa']);
    } finally {
      Math.max = max;
    }
  });

  test.each(['(1).toFixed(1000)', '(1).toString(99)', 'new Array(-1)', 'Array(-1)', '"a".localeCompare("b", "?")'])(
    'a RangeError: %s',
    (code) => expectSameEffects(`start = $w+\nw = "a" { return ${code}; }`),
  );

  test('a RangeError of an assignment', () => {
    expectSameEffects('start = $w+\nw = "a" { const list = []; list.length = -1; return list; }');
  });

  test('the initializer runs once', () => {
    expectSameEffects(
      '{ Object.assign(options, { made: options.note("begin") }); options.extra = text() + offset(); }\ns = "a"+ { return [options.made, options.extra]; }',
    );
    expectSameEffects(
      '{ options.list = options.list ?? []; }\ns = ("a" { options.list.push(1); })+ { return options.list; }',
    );
    expectSameEffects('{ if (options.note(1)) error("refused at once"); }\ns = "a"+');
  });

  test('without options, each parse has its own', () => {
    const { stock, fast } = compile([
      { source: 'test', text: '{ options.n = (options.n ?? 0) + 1; }\ns = "a" { return options; }' },
    ]);
    for (const { parse } of [stock, fast, fast]) expect(parse('a')).toEqual({ n: 1 });
  });

  test('numbers of repetitions that code computes', () => {
    expectSameEffects(
      '{ let n = 0; }\ns = ("a" ("a"|{ options.note(n); return n++ % 2; }| / "b") "b"? { n++; })* "c"?',
    );
    expectSameEffects('s = n:(as:$"a"* { options.note(as); return as.length; }) "b" .|n| / "a"+ "c"');
  });

  test('in lookaheads, and where the value is not used', () => {
    expectSameEffects(
      's = !(x:item &{ return options.note("!", x) && false; }) $item+ / &(item "b") @item "b" item*\nitem = "a" { return options.note(); }',
    );
    expectSameEffects('s "list" = (item / "b")+ end\nitem "item" = &{ return options.note(); } "a"\nend = !.');
  });

  test('errors of JavaScript come from the code that throws them, once', () => {
    for (const code of [
      'x.f(options.note())',
      'options.note() && x()',
      'null.y',
      'options.note(...x.z)',
      'new x(options.note())',
      '[...x.y]',
      'throw options.log',
    ]) {
      expectSameEffects(`s = x:$"a"+ "b"? { return ${code.startsWith('throw') ? `(() => { ${code}; })()` : code}; }`);
    }
  });
});

test('required and imported code', () => {
  const grammar =
    '{ const { next } = require("counter"); }\ns = ("a" { return next(); })+ / "a"+ &{ return next() % 2; } "b"';
  const counter = (): Parser => {
    let n = 0;
    return { next: () => ++n } as unknown as Parser;
  };
  const sources = [{ source: 'test', text: grammar }];
  const { notices } = compile(sources, {}, { libraries: {} });
  expect(notices).toEqual([]);
  const [stock, fast] = [{}, { plugins: [plugin] }].map((options) => {
    const library = counter();
    return effects(
      evaluate(generate(sources, options as never), () => library),
      TEXTS,
    );
  });
  expect(fast).toStrictEqual(stock);
});
