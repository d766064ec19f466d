/** The direct writer writes what `writeParam` and the printer write, or nothing. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FIELD_TYPES, type FieldType, type Json, Reference } from '../../../src/accp/message/json.js';
import { DirectWriter } from '../../../src/accp/message/write-direct.js';
import type { TextPolicy } from '../../../src/accp/message/write-value.js';
import { runs } from '../../helpers/runs.js';
import { refusal, send, strings, values } from './support.js';

const POLICIES: readonly TextPolicy[] = ['transliterate', 'reject', 'externalize'];

function writtenDirectly(value: unknown, text: TextPolicy, key: string, type?: FieldType): string | null {
  const param = new DirectWriter(text).param(key, value as Json, type);
  return param === null ? null : `@a>req:x{${param}}`;
}

/** Writes both ways; returns `true` if the direct writer wrote the value. */
function compare(value: unknown, text: TextPolicy, key = 'k', type?: FieldType): boolean {
  const direct = writtenDirectly(value, text, key, type);
  if (direct === null) return false;
  const sent = refusal(() => send(value, text, { key, type }));
  expect({ direct, sent }).toEqual({ direct, sent: { frame: direct, losses: [], kept: new Map() } });
  return true;
}

const scalars = fc.oneof(
  strings,
  fc.double(),
  fc.integer(),
  fc.integer({ min: -1e9, max: 1e9 }).map((number) => number / 1e6),
  fc.constantFrom(
    -0,
    0,
    1e21,
    1e-7,
    0.1234567,
    2 ** 53,
    Number.NaN,
    'true',
    '42',
    '-1.5',
    "'x",
    '"x',
    '',
    true,
    null,
    5n,
  ),
);

describe('any value', () => {
  test.each(POLICIES)('with the policy %s', (text) => {
    let direct = 0;
    fc.assert(
      fc.property(fc.oneof(values, scalars), fc.constantFrom('k', 'a_1', '_0x', 'schema', 'a b', ''), (value, key) => {
        if (compare(value, text, key)) direct++;
      }),
      runs(1000),
    );
    expect(direct).toBeGreaterThan(0);
  });

  test.each(FIELD_TYPES)('in a field of the type %s', (type) => {
    let direct = 0;
    fc.assert(
      fc.property(fc.oneof(scalars, values), (value) => {
        if (compare(value, 'transliterate', 'k', type)) direct++;
      }),
      runs(300),
    );
    expect(direct).toBeGreaterThan(0);
  });
});

test('plain values are written directly', () => {
  const plain = {
    b: [1, -2.5, 'text', true, null, new Reference('warm.k')],
    a: { z: 'a:b', y: {}, x: [] },
    gone: undefined,
  };
  for (const text of POLICIES) expect(compare(plain, text)).toBe(true);
  expect(compare('two words', 'transliterate')).toBe(true);
  expect(writtenDirectly(plain, 'reject', 'k')).toBe(
    '@a>req:x{k:{a:{x:[],y:{},z:a\\:b},b:[1,-2.5,text,true,~,$warm.k]}}',
  );
});

test.each([
  ['a loss', -0],
  ['rounding', 0.1234567],
  ['a big integer', 5n],
  ['an instance of a class', new Date(0)],
  ['deep nesting', [[[[[[1]]]]]]],
  ['more items than fit', Array.from({ length: 2000 }, () => 1)],
  ['a symbol', { [Symbol('s')]: 1 }],
  ['undefined in an array', [undefined]],
])('%s is left to the tree', (_name, value) => {
  expect(writtenDirectly(value, 'transliterate', 'k')).toBeNull();
});

test('keys are sorted by code unit, however many there are', () => {
  const many = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`k${(index * 7919) % 200}`, index]));
  expect(compare(many, 'reject')).toBe(true);
});
