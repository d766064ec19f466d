import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { treeDifference } from '../../../src/fuzz/differential/oracle.js';
import type { Json } from '../../../src/fuzz/differential/target.js';

test.each<[string, Json, Json]>([
  ['the order of members', { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }],
  ['the sign of zero', [0, -0], [-0, 0]],
  ['a text that is not expected', { kind: 'integer', value: 7 }, { kind: 'integer', value: 7, text: '7' }],
  ['spans', { kind: 'frame', payload: [{}] }, { kind: 'frame', payload: [{ span: [1, 2] }], span: { start: 0 } }],
])('%s makes no difference', (_name, expected, given) => {
  expect(treeDifference(expected, given)).toBeNull();
});

test.each<[Json, Json, string, Json | undefined, Json | undefined]>([
  [1, 2, '', 1, 2],
  [1, '1', '', 1, '1'],
  [null, {}, '', null, {}],
  [{}, [], '', {}, []],
  [{ a: { b: [1, 2] } }, { a: { b: [1, 3] } }, '/a/b/1', 2, 3],
  [[1], [1, 2], '/1', undefined, 2],
  [[1, 2], [1], '/1', 2, undefined],
  [{ a: 1 }, {}, '/a', 1, undefined],
  [{ a: 1 }, { a: 1, b: 2 }, '/b', undefined, 2],
  [{ text: '007' }, {}, '/text', '007', undefined],
  [{ text: '007' }, { text: '7' }, '/text', '007', '7'],
  [{ span: 1 }, { span: 2 }, '/span', 1, 2],
  [{ 'a/b~c': 1 }, { 'a/b~c': 2 }, '/a~1b~0c', 1, 2],
  [JSON.parse('{"__proto__":1}') as Json, {}, '/__proto__', 1, undefined],
  [{}, JSON.parse('{"toString":1}') as Json, '/toString', undefined, 1],
  [{ z: 1, a: 1 }, { a: 2, z: 2 }, '/z', 1, 2],
])('%j and %j differ at %s', (one, other, path, expected, actual) => {
  expect(treeDifference(one, other)).toEqual({ path, expected, actual });
});

describe('any two trees', () => {
  const trees = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;

  test('do not differ if they are the same, in any order of their members', () => {
    fc.assert(
      fc.property(trees, (tree) => {
        expect(treeDifference(tree, backwards(tree))).toBeNull();
      }),
    );
  });

  test('differ at the reported place', () => {
    fc.assert(
      fc.property(trees, trees, (one, other) => {
        const difference = treeDifference(one, other);
        if (difference === null) return;
        const { path, expected, actual } = difference;
        expect([at(one, path), at(other, path)]).toEqual([expected, actual]);
        expect(actual).not.toEqual(expected);
      }),
    );
  });

  function backwards(tree: Json): Json {
    if (Array.isArray(tree)) return tree.map(backwards);
    if (typeof tree !== 'object' || tree === null) return tree;
    return Object.fromEntries(
      Object.entries(tree)
        .reverse()
        .map(([key, value]) => [key, backwards(value as Json)]),
    );
  }

  /** The value at a JSON Pointer. */
  function at(tree: unknown, path: string): unknown {
    const steps = path.split('/').slice(1);
    return steps.reduce<unknown>((value, step) => {
      const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
      return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
        ? (value as Record<string, unknown>)[key]
        : undefined;
    }, tree);
  }
});

test('a tree may have any depth', () => {
  const deep = (leaf: string): Json => JSON.parse(`${'['.repeat(20_000)}${leaf}${']'.repeat(20_000)}`) as Json;
  expect(treeDifference(deep('1'), deep('1'))).toBeNull();
  expect(treeDifference(deep('1'), deep('2'))).toEqual({ path: '/0'.repeat(20_000), expected: 1, actual: 2 });
});
