import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isDeeper, scalarMembers, valueOfMember } from '../../src/text/json-text.js';
import { runs } from '../helpers/runs.js';

const NAMES = new Set(['id', 'n', '"']);

/** Returns strings, numbers and `null` as they are, and `undefined` for other values. */
const scalar = (value: unknown): unknown =>
  value === null || typeof value === 'string' || typeof value === 'number' ? value : undefined;

const member = fc.oneof(
  { depthSize: 'small' },
  fc.jsonValue(),
  fc.string(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const object = fc.dictionary(fc.oneof(fc.constantFrom('id', 'n', '"', 'x'), fc.string()), member);

describe('scalar members', () => {
  const expectedOf = (value: object): object =>
    Object.fromEntries(
      Object.entries(value).flatMap(([name, given]) => (NAMES.has(name) ? [[name, scalar(given)]] : [])),
    );

  test('equal those of JSON.parse', () => {
    fc.assert(
      fc.property(fc.array(object), fc.constantFrom(0, 1), (objects, indent) => {
        // Normalizes values that JSON cannot represent, such as -0.
        const values = JSON.parse(JSON.stringify(objects)) as object[];
        expect(scalarMembers(JSON.stringify(values, null, indent), NAMES, 2)).toEqual(values.map(expectedOf));
        for (const value of values)
          expect(scalarMembers(JSON.stringify(value, null, indent), NAMES)).toEqual([expectedOf(value)]);
      }),
      runs(300),
    );
  });

  test('of a truncated text equal those of the whole text', () => {
    fc.assert(
      fc.property(object, fc.nat(), (value, end) => {
        const text = JSON.stringify(value);
        const known = expectedOf(JSON.parse(text) as object) as Record<string, unknown>;
        const [read = {}] = scalarMembers(text.slice(0, end % (text.length + 1)), NAMES);
        for (const [name, given] of Object.entries(read)) if (given !== undefined) expect(given).toBe(known[name]);
      }),
      runs(500),
    );
  });

  test.each([
    ['{"id":12', {}],
    ['{"id":12.', {}],
    ['{"id":12,', { id: 12 }],
    ['{"id":"\\u0061b"', { id: 'ab' }],
    ['{"id":true,"n":01,"x":1', {}],
    ['{"id" : NaN}', {}],
    ['["id",1]', undefined],
    ['"id":1', undefined],
    ['', undefined],
    ['}}{"id":1}', undefined],
  ])('%s', (text, expected) => {
    const [members] = scalarMembers(text, NAMES);
    const known =
      members === undefined ? undefined : Object.entries(members).filter(([, value]) => value !== undefined);
    expect(known && Object.fromEntries(known)).toEqual(expected);
  });

  test('of an array are read from its first 4096 objects', () => {
    expect(scalarMembers(`[${'{"id":1},'.repeat(10_000)}`, NAMES, 2)).toHaveLength(4096);
  });
});

test('the depth of a text that ends in a string is that of its last bracket', () => {
  expect(isDeeper('[["', 1)).toBe(true);
  expect(isDeeper('[["', 2)).toBe(false);
  expect(isDeeper('["[[[\\"[', 1)).toBe(false);
});

test.each([
  ['{"a":1, "b" :\n{"a":2}}', 'a', 5],
  ['{"a":1, "b" :\n{"a":2}}', 'b', 14],
  ['{"a":1,"\\u0061":[2],"c":"\\"a\\":3"}', 'a', 16],
  ['[{"a":1}]', 'a', -1],
  ['{"b":"a","c":{"a":1}}', 'a', -1],
])('the value in %s of %s is the last one of the outermost object', (text, name, index) => {
  expect(valueOfMember(text, name)).toBe(index);
});
