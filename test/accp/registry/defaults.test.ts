import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Json, ref } from '../../../src/accp/message/json.js';
import { addDefaults, fieldType, omitDefaults } from '../../../src/accp/registry/defaults.js';
import { checkDefinition } from '../../../src/accp/registry/definition.js';

type Payload = { readonly [key: string]: Json };

const TASK = checkDefinition('task', {
  code: 'TK',
  version: 1,
  fields: ['task', 'priority', 'deps', 'limits', 'cost', '__proto__'],
  defaults: JSON.parse('{"priority":"medium","deps":[],"limits":{"a":1,"b":[2,null]},"cost":0,"__proto__":"p"}'),
  types: { task: 'string', deps: 'array' },
});
const PLAIN = checkDefinition('plain', { code: 'P', version: 1, fields: ['a'] });

describe('omitted', () => {
  test.each<[string, Payload, string[]]>([
    ['a scalar', { task: 'x', priority: 'medium' }, ['task']],
    ['an empty array', { task: 'x', deps: [] }, ['task']],
    ['a map, whatever the order of its keys', { limits: { b: [2, null], a: 1 } }, []],
    ['a member of a name that objects have', JSON.parse('{"__proto__":"p","task":"x"}'), ['task']],
    ['everything', { priority: 'medium', deps: [], limits: { a: 1, b: [2, null] }, cost: 0 }, []],
  ])('%s', (_, payload, kept) => {
    expect(Object.keys(omitDefaults(payload, TASK))).toEqual(kept);
  });

  test.each<[string, Payload]>([
    ['another value', { priority: 'high' }],
    ['another kind', { cost: '0' }],
    ['a bigint', { cost: 0n }],
    ['null', { priority: null }],
    ['a negative zero, which is not zero', { cost: -0 }],
    ['more items', { deps: ['a'] }],
    ['an array of a hole', { deps: new Array(1) }],
    ['a map instead of an array', { deps: {} }],
    ['fewer members', { limits: { a: 1 } }],
    ['more members', { limits: { a: 1, b: [2, null], c: 1 } }],
    ['a difference inside', { limits: { a: 1, b: [2, 3] } }],
    ['a reference', { priority: ref('warm.priority') }],
    ['an instance', { limits: new Map() as unknown as Json }],
    ['a field that has no default', { task: 'medium' }],
    ['a key that is no field', { other: 'medium' }],
  ])('but not %s', (_, payload) => {
    expect(omitDefaults(payload, TASK)).toBe(payload);
  });

  test('without touching the payload, nor one of a schema without defaults', () => {
    const payload = Object.freeze({ task: 'x', priority: 'medium' });
    omitDefaults(payload, TASK);
    expect(payload).toEqual({ task: 'x', priority: 'medium' });
    expect(omitDefaults(payload, PLAIN)).toBe(payload);
  });

  test('deep data against a flat default without a deep stack', () => {
    let deep: Json = [];
    for (let level = 0; level < 100_000; level++) deep = [deep];
    const payload = { deps: deep, limits: { a: 1, b: deep } };
    expect(omitDefaults(payload, TASK)).toBe(payload);
  });
});

function fillDefaults(payload: Payload, schema: typeof TASK): Payload {
  const filled = Object.assign(Object.create(null) as { [key: string]: Json }, payload);
  addDefaults(filled, schema);
  return filled;
}

describe('filled', () => {
  test('are absent and undefined fields, after the others', () => {
    const filled = fillDefaults({ task: 'x', cost: undefined as unknown as Json, extra: 1 }, TASK);
    expect(Object.entries(filled)).toEqual([
      ['task', 'x'],
      ['cost', 0],
      ['extra', 1],
      ['priority', 'medium'],
      ['deps', []],
      ['limits', { a: 1, b: [2, null] }],
      ['__proto__', 'p'],
    ]);
  });

  test('not present fields, including null', () => {
    expect(fillDefaults({ priority: null }, TASK)['priority']).toBeNull();
  });

  test('with copies, which the receiver may change', () => {
    const first = fillDefaults({}, TASK);
    (first['deps'] as Json[]).push('mine');
    expect(fillDefaults({}, TASK)['deps']).toEqual([]);
  });
});

test('omitted fields are filled in again: property', () => {
  const standard = TASK.defaults!;
  const field = fc.constantFrom(...TASK.fields, 'extra', 'constructor');
  const value = fc.oneof(
    fc.constantFrom(...Object.values(standard)),
    fc.jsonValue({ maxDepth: 2 }).map((json) => json as Json),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(field, value)), (entries) => {
      const payload = Object.create(null) as { [key: string]: Json };
      for (const [key, json] of entries) payload[key] = json;
      const sent = omitDefaults(payload, TASK);
      for (const key of Object.keys(standard)) {
        if (Object.hasOwn(sent, key)) expect(sent[key]).not.toStrictEqual(standard[key]);
      }
      const received = fillDefaults(sent, TASK);
      expect(Object.keys(received).sort()).toEqual(
        [...new Set([...Object.keys(payload), ...Object.keys(standard)])].sort(),
      );
      for (const key of Object.keys(received)) {
        expect(received[key]).toEqual(Object.hasOwn(payload, key) ? payload[key] : standard[key]);
        if (payload[key] === 0) expect(Object.is(received[key], payload[key])).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
});

test('types are those of the schema, and of nothing else', () => {
  expect(fieldType(TASK, 'task')).toBe('string');
  expect(fieldType(TASK, 'priority')).toBeUndefined();
  expect(fieldType(TASK, 'constructor')).toBeUndefined();
  expect(fieldType({ code: 'X', version: 1, fields: [], types: {} }, 'toString')).toBeUndefined();
  expect(fieldType(PLAIN, 'a')).toBeUndefined();
  expect(fieldType(undefined, 'a')).toBeUndefined();
});
