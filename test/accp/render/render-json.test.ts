import { describe, expect, test } from 'vitest';
import { renderJson } from '../../../src/accp/render/index.js';

function linesOf(value: unknown): readonly string[] {
  return renderJson(value, { fence: false }).text.split('\n');
}

describe('JSON for a model', () => {
  test('is fenced', () => {
    expect(renderJson({ a: 1 })).toMatchObject({ text: '```data\na=1\n```', exact: false });
    expect(renderJson('```').text).toBe('````data\n"```"\n````');
  });

  test.each([
    [null, 'null'],
    [true, 'true'],
    [-0.5, '-0.5'],
    [-0, '0'],
    [12345678901234567890n, '12345678901234567890'],
    ['', '""'],
    ['a b', '"a b"'],
    ['null', '"null"'],
    ['a=1', '"a=1"'],
    ['two\nlines', ' two\n lines'],
    [[], '[]'],
    [{}, '{}'],
    [[1, 'a b', [true], null], '[1,a b,[true],null]'],
    [{ a: undefined, b: 1 }, 'b=1'],
    [{ b: { c: [] }, text: 'some words' }, 'b={c=[]}\ntext: some words'],
    [{ text: 'some words' }, 'text: some words'],
  ] as const)('writes it as text: %#', (value, text) => {
    expect(renderJson(value, { fence: false }).text).toBe(text);
  });

  test('is a table if it is a list of maps', () => {
    const users = [
      { id: 1, name: 'Ann Lee', role: 'admin' },
      { id: 2, name: 'Bo', role: 'user' },
    ];
    expect(linesOf(users)).toStrictEqual(['(id role name):', '1 admin Ann Lee', '2 user Bo']);
    expect(linesOf({ users, page: 1 })).toStrictEqual([
      'page=1',
      'users(id role name):',
      '1 admin Ann Lee',
      '2 user Bo',
    ]);
  });

  test('has strings cut', () => {
    expect(renderJson('abcdef', { fence: false, maxLength: 3 }).text).toBe('"abc" (3 characters omitted)');
    expect(() => renderJson(1, { maxLength: -1 })).toThrow('maxLength must be a non-negative number; got -1');
  });
});

describe('a value that is not JSON', () => {
  const cycle: { list: unknown[] } = { list: [1] };
  cycle.list.push(cycle);
  let deep: unknown = 1;
  for (let depth = 0; depth < 100_000; depth++) deep = [deep];

  test.each([
    ['undefined', undefined, 'not-json', 'value: undefined is not JSON'],
    ['a number', { a: [1, Number.NaN] }, 'not-json', 'value.a[1]: NaN is not JSON'],
    ['a function', { 'a b': () => 1 }, 'not-json', 'value["a b"]: a function is not JSON'],
    ['a hole', new Array(1), 'not-json', 'value[0]: undefined is not JSON'],
    ['an instance', [new Date(0)], 'not-json', 'value[0]: an instance of Date is not JSON'],
    ['a cycle', cycle, 'cycle', 'value.list[1]: a value contains itself'],
    ['deep', deep, 'too-deep', 'value[0][0][0][0][0][0][0][0]...: values nest deeper than 200 levels'],
  ])('is an error: %s', (_what, value, code, message) => {
    expect(() => renderJson(value)).toThrow(expect.objectContaining({ name: 'RenderError', code, message }));
  });

  test('may have the same object twice', () => {
    const one = { a: 1 };
    expect(linesOf({ x: one, y: one })).toStrictEqual(['x={a=1} y={a=1}']);
  });
});
