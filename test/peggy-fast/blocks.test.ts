import { describe, expect, test } from 'vitest';
import { BlockCode, type WrittenOut } from '../../src/peggy-fast/blocks.js';
import { Unsupported } from '../../src/peggy-fast/ir.js';
import { lowered } from './lowered.js';

/** The code of an action after the labels `a` and `b`. */
function codeOf(code: string): BlockCode {
  const { blocks } = lowered(`start = a:"a" b:"b" {${code}}`);
  return new BlockCode(blocks[0]!);
}

function written(code: string): WrittenOut {
  return codeOf(code).writeOut({
    variable: ({ name }) => `${name}$1`,
    isConverted: () => false,
    start: 'start$1',
    end: 'at$',
  });
}

describe('code that is inlined', () => {
  test.each([
    [' return a; ', 'a$1'],
    [' return { a, b: b.a, "a": 1 }; ', '{ a: a$1, b: b$1.a, "a": 1 }'],
    [' return a, b; ', '(a$1, b$1)'],
    [' return text(); ', 'input.substring(start$1, at$)'],
    [' return offset() + 1; ', 'start$1 + 1'],
    [' return [range().start, range().end]; ', '[start$1, at$]'],
    [' return range(); ', '({ source: source$, start: start$1, end: at$ })'],
    [' return location(); ', 'locationOf$(start$1, at$)'],
    [' return input.charCodeAt(a); ', 'codeAt$(a$1)'],
    [' return [a.b, f(a, 1)].map; ', '[a$1.b, f(a$1, 1)].map'],
  ])('%s', (code, value) => {
    expect(codeOf(code).isFunction).toBe(false);
    expect(written(code)).toEqual({ statements: [], value });
  });

  test('with its effects before the result', () => {
    expect(written(' list.push(a); return b; ')).toEqual({ statements: ['list.push(a$1);'], value: 'b$1' });
    expect(written(' list.push(a) ')).toEqual({ statements: ['list.push(a$1);'], value: null });
    expect(written(' return; ')).toEqual({ statements: [], value: null });
  });

  test('with numbers in place of the calls that convert digits', () => {
    const { statements, value } = codeOf(' return Number(a) + Number(a); ').writeOut({
      variable: ({ name }) => `${name}$1`,
      isConverted: () => true,
      start: '',
      end: '',
    });
    expect({ statements, value }).toEqual({ statements: [], value: 'a$1 + a$1' });
  });
});

describe('code that becomes a function', () => {
  test.each([
    ' const c = a; return c; ',
    ' if (a) return b; ',
    ' return () => a; ',
    ' a = 1; return a; ',
    ' return a++; ',
    ' [a] = b; ',
    ' return this; ',
    // Errors of these name the label.
    ' return a(); ',
    ' return a.b.c(1); ',
    ' return new a.B; ',
    ' return [...a]; ',
    ' return f(...a.b); ',
    ' "use strict"; return a; ',
  ])('%s', (code) => {
    expect(codeOf(code).isFunction).toBe(true);
  });

  test('is called with the labels that it mentions', () => {
    expect(codeOf(' const c = b; return c; ').parameters).toEqual(['b']);
    expect(codeOf(' const b = 1; return b; ').parameters).toEqual(['b']);
  });

  test('is left unchanged', () => {
    expect(codeOf(' const c = text(); return [a, c]; ').body).toBe(' const c = text(); return [a, c]; ');
  });
});

test('the labels that it mentions, and other names', () => {
  const code = codeOf(' return known(b, { a: 1 }.a, other.a); ');
  expect(code.labels.map(({ name }) => name)).toEqual(['b']);
  expect(code.mentioned).toEqual(['known', 'b', 'other']);
});

test('whether its value can be omitted', () => {
  expect(['a.b', '[a, { b }]', 'text()', 'a ? b : 1'].map((value) => codeOf(` return ${value}; `).isValuePure)).toEqual(
    [...[true, true, true, true]],
  );
  expect(
    ['f(a)', 'new A()', 'a.b = 1', 'a.b++', 'f`a`'].some((value) => codeOf(` return ${value}; `).isValuePure),
  ).toBe(false);
});

test('whether other code needs the position of the match', () => {
  expect(codeOf(' return text(); ').needsPosition).toBe(false);
  expect(codeOf(' return text(); ').mentionsStart).toBe(true);
  expect(codeOf(' return a.map(text); ').needsPosition).toBe(true);
  expect(codeOf(' error("no"); ').needsPosition).toBe(true);
  expect(codeOf(' const t = text(); return t; ').needsPosition).toBe(true);
});

test('names of the generated code are rejected', () => {
  for (const name of ['at$', 'bytes$', 'start$1', 'rule$build', 'table0$', 'ends12$', 'FAILED$']) {
    expect(() => codeOf(` return ${name}; `)).toThrow(Unsupported);
    expect(() => codeOf(` return ${name}; `)).toThrow(`the name "${name}" is reserved for generated code`);
  }
  for (const name of ['$', 'at', 'a$b', 'start$', 'buildings']) {
    expect(() => codeOf(` return ${name}; `)).not.toThrow();
  }
});
