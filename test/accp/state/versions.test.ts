import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/accp/message/json.js';
import { codeOf, open } from './open.js';

const scalars = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.bigInt());
const values = fc.oneof(scalars, fc.array(fc.oneof(scalars, fc.constant(null))), fc.dictionary(fc.string(), scalars));
const objects = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'task_1', '__proto__', 'toString'), values, {
  noNullPrototype: false,
}) as fc.Arbitrary<JsonObject>;

/** With an order of keys that does not matter. */
function plain(value: Json): unknown {
  return JSON.parse(JSON.stringify(value, (_key, one: unknown) => (typeof one === 'bigint' ? `${one}n` : one)));
}

describe('a delta', () => {
  test('has new and changed values, and null for removed keys', () => {
    const { state } = open();
    state.applyFull(6, { task_3: 'wip', task_4: 'wip', owner: { name: 'chen', team: 2 }, list: [1, 2] });
    const next = { task_3: 'done', task_4: 'wip', owner: { team: 2, name: 'chen' }, budget: 42.3 };
    expect(state.delta(next)).toEqual({ version: 7, delta: { task_3: 'done', budget: 42.3, list: null } });
    expect(state.version).toBe(6);
  });

  test('distinguishes 1 from 1n and from "1"', () => {
    const { state } = open();
    state.applyFull(1, { a: 1, b: 1n, c: '1' });
    expect(state.delta({ a: 1n, b: '1', c: 1 })).toEqual({ version: 2, delta: { a: 1n, b: '1', c: 1 } });
  });

  test('cannot have null for an existing key', () => {
    expect(() => open().state.delta({ a: 1, b: null })).toThrow(
      expect.objectContaining({ code: 'E1004', path: 'values.b' }),
    );
    expect(open().state.delta({ a: [null], b: { c: null } }).delta).toEqual({ a: [null], b: { c: null } });
  });

  test('for another base is rejected with our version, and changes nothing', () => {
    const { state } = open();
    state.applyFull(4, { a: 1 });
    for (const version of [3, 4, 6, 5.5, Number.NaN]) {
      expect(() => state.applyDelta(version, { a: 2 })).toThrow(
        expect.objectContaining({ code: 'E2001', details: { version: 4 } }),
      );
    }
    expect(state.values()).toEqual({ a: 1 });
    state.applyDelta(5, { a: 2 });
    expect(state.values()).toEqual({ a: 2 });
  });

  test('with a value that cannot be stored is rejected completely', () => {
    const { state } = open();
    state.applyFull(1, { a: 1 });
    expect(codeOf(() => state.applyDelta(2, { a: 2, b: Number.NaN }))).toBe('E1004');
    expect(state.values()).toEqual({ a: 1 });
    expect(state.version).toBe(1);
  });

  test('detects changes in an object that was passed before', () => {
    const { state } = open();
    const next = { config: { depth: 1 } };
    state.applyFull(1, next);
    next.config.depth = 2;
    expect(state.delta(next).delta).toEqual({ config: { depth: 2 } });
  });

  test('converts one state into another, in any sequence', () => {
    fc.assert(
      fc.property(fc.array(objects, { minLength: 1, maxLength: 5 }), (states) => {
        const ours = open().state;
        const theirs = open().state;
        for (const next of states) {
          const { version, delta } = ours.delta(next);
          ours.applyDelta(version, delta);
          theirs.applyDelta(version, delta);
          expect(plain(theirs.values())).toEqual(plain({ ...next }));
          expect(ours.delta(next).delta).toEqual({});
        }
        expect(theirs.version).toBe(states.length);
      }),
      { numRuns: 200 },
    );
  });
});

describe('the full state', () => {
  test('replaces everything, at any version', () => {
    const { state } = open();
    state.applyFull(9, { a: 1, b: 2 });
    state.applyFull(3, { b: 2, c: 3 });
    expect(state.values()).toEqual({ b: 2, c: 3 });
    expect(state.version).toBe(3);
  });

  test.each<[string, number, JsonObject]>([
    ['null as a value', 1, { a: null }],
    ['half a version', 1.5, {}],
    ['a negative version', -1, {}],
  ])('is rejected with %s', (_name, version, full) => {
    expect(codeOf(() => open().state.applyFull(version, full))).toBe('E1004');
  });

  test('and its version survive the process', () => {
    const { state, journal, store } = open();
    state.applyFull(7, { a: [1n], gone: 1 });
    state.applyDelta(8, { gone: null, b: 2 });
    journal.commit();
    const later = open({ store }).state;
    expect(later.version).toBe(8);
    expect(later.values()).toEqual({ a: [1n], b: 2 });
    expect(later.delta({ a: [1n], b: 2 }).delta).toEqual({});
  });
});
