import { describe, expect, test } from 'vitest';
import { parseBody } from '../../src/peggy-fast/effects/scopes.js';
import { liftInitializer, valuedNames } from '../../src/peggy-fast/initializer.js';
import { Unsupported } from '../../src/peggy-fast/ir.js';

describe('the statements of the per-parse initializer', () => {
  test('functions are created once, with the comments before them', () => {
    const code = '  // Doubles.\n  function twice(x) { return 2 * x; }\n';
    expect(liftInitializer(code)).toEqual({
      declarations: '// Doubles.\nfunction twice(x) { return 2 * x; }',
      statements: '',
      references: [],
    });
  });

  test('functions that code uses as values are created for each parse, as it may give them properties', () => {
    const code = 'const all = [twice];\nfunction twice(x) { return 2 * x; }';
    expect(liftInitializer(code, new Set(['twice']))).toMatchObject({
      declarations: 'var all;\n\nvar twice;',
      statements: 'twice = function (x) { return 2 * x; };\nall = [twice];',
    });
    const program = parseBody('f(g, { h: i, j }); new K(); L.m(); let n = n; o.p; ({ q() {} });');
    expect(new Set(valuedNames(program, new Set(['o'])))).toEqual(new Set(['g', 'i', 'j', 'L', 'n']));
  });

  test('variables are declared once, and reset at the start of each parse', () => {
    expect(liftInitializer('const a = options.a, list = []; let b;')).toMatchObject({
      declarations: 'var a, list;\n\nvar b;',
      statements: 'a = options.a;\nlist = [];\nb = undefined;',
    });
  });

  test('names from destructured objects and arrays, too', () => {
    expect(liftInitializer('const { a, b: { c = 1 }, ...d } = options; let [e, , ...f] = a;')).toMatchObject({
      declarations: 'var a, c, d;\n\nvar e, f;',
      statements: '({ a, b: { c = 1 }, ...d } = options);\n[e, , ...f] = a;',
    });
  });

  test('classes are created for each parse, because of their statics', () => {
    expect(liftInitializer('class Node { static count = 0; }')).toMatchObject({
      declarations: 'var Node;',
      statements: 'Node = class Node { static count = 0; };',
    });
  });

  test('other statements run each time, in order', () => {
    const { declarations, statements } = liftInitializer('let a = 1; if (options.b) { a = 2; } function f() {} a++;');
    expect(declarations).toBe('var a;\n\nfunction f() {}');
    expect(statements).toBe('a = 1;\nif (options.b) { a = 2; }\na++;');
  });

  test('code units are read from the scanned symbols', () => {
    expect(liftInitializer('function at(i) { return input.charCodeAt(i); }').declarations).toBe(
      'function at(i) { return codeAt$(i); }',
    );
    expect(liftInitializer('function at(i, input) { return input.charCodeAt(i); }').declarations).toContain(
      'input.charCodeAt(i)',
    );
  });

  test('undeclared names are reported', () => {
    expect(
      new Set(liftInitializer('const a = options.x; function f(b) { return text() + a + b; }').references),
    ).toEqual(new Set(['options', 'text']));
  });
});

describe('left to Peggy', () => {
  test.each([
    ['return;', 'an initializer that returns'],
    ['if (options.a) { var b = 1; }', 'an initializer with "var" inside a block'],
    ['for (var i = 0; i < 2; i++) {}', 'an initializer with "var" inside a block'],
    ['var a = 1; var a = 2;', 'an initializer that declares "a" twice'],
    ['function a() {} var a;', 'an initializer that declares "a" twice'],
    ['const text = 1;', 'an initializer that declares "text" itself'],
    ['let { input } = options;', 'an initializer that declares "input" itself'],
    ['let at$ = 1;', 'the name "at$" is reserved for generated code'],
    ['function failure$() {}', 'the name "failure$" is reserved for generated code'],
    ['let missed$ = 1;', 'the name "missed$" is reserved for generated code'],
    ['const Uint8Array = 1;', 'an initializer that declares "Uint8Array" itself'],
  ])('%s', (code, message) => {
    expect(() => liftInitializer(code)).toThrow(Unsupported);
    expect(() => liftInitializer(code)).toThrow(message);
  });

  test('not: "var" in a nested function', () => {
    expect(() => liftInitializer('function f() { if (1) { var a = 1; } return a; }')).not.toThrow();
  });
});
