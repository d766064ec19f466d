/** Round trips: a value comes back exactly, except for reported losses, or is rejected with its path. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AccpError } from '../../../src/accp/errors.js';
import { keyTable } from '../../../src/accp/message/abbreviations.js';
import { type Json, type JsonArray, type JsonObject, Reference } from '../../../src/accp/message/json.js';
import { type Loss, pathText, type Step } from '../../../src/accp/message/message.js';
import { runs } from '../../helpers/runs.js';
import { receive, send, strings, values } from './support.js';

const RUNS = runs(600);

/** Everything that a value holds, itself included. */
function* within(value: Json, depth = 0): Generator<{ readonly value: Json; readonly depth: number }> {
  yield { value, depth };
  if (Array.isArray(value)) for (const item of value as JsonArray) yield* within(item, depth + 1);
  else if (isMap(value)) for (const member of Object.values(value)) yield* within(member, depth + 1);
}

function isMap(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Reference);
}

/** Returns `true` if a value contains an unsafe integer, which every policy rejects. */
function hasUnsafe(value: Json): boolean {
  return [...within(value)].some(({ value: part }) => Number.isInteger(part) && !Number.isSafeInteger(part));
}

/** Returns `true` if the grammar can write a value. */
function isSayable(value: Json): boolean {
  return [...within(value)].every(({ value: part, depth }) => {
    if (typeof part === 'string') return /^[!-~]+$/.test(part) && !/^(true|false|-?\d+(\.\d+)?)$/.test(part);
    if (!Array.isArray(part) && !isMap(part)) return true;
    return depth < 5 && Object.keys(part).every((key) => /^\w+$/.test(key));
  });
}

/** Returns the differences of two values as losses. */
function differences(before: Json, after: Json, path: Step[]): [string, Json, Json][] {
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((item: Json, index) => differences(item, after[index] as Json, [...path, index]));
  }
  if (isMap(before) && isMap(after)) {
    expect(Object.getPrototypeOf(after)).toBe(null);
    expect(Object.keys(after).sort()).toEqual(Object.keys(before).sort());
    return Object.keys(before).flatMap((key) => differences(before[key]!, after[key]!, [...path, key]));
  }
  if (before instanceof Reference && after instanceof Reference && before.path === after.path) return [];
  return Object.is(before, after) ? [] : [[pathText(path), before, after]];
}

function expectOnlyLosses(before: Json, after: Json, losses: readonly Loss[]): void {
  const differing = differences(before, after, ['k']);
  expect(new Set(losses.map(({ path }) => path))).toEqual(new Set(differing.map(([path]) => path)));
  for (const [path, was, is] of differing) {
    const kinds = losses.filter((loss) => loss.path === path).map(({ kind }) => kind);
    if (kinds.includes('narrowed')) expect([typeof was, BigInt(is as number)]).toEqual(['bigint', was]);
    else if (kinds.includes('negative-zero')) expect([was, is]).toEqual([-0, 0]);
    else {
      expect(kinds[0]).toBe('rounded');
      // Half a millionth, and what a double of twelve digits before the point leaves out.
      expect(Math.abs((was as number) - (is as number))).toBeLessThan(6e-7 + Math.abs(was as number) * 2 ** -51);
    }
  }
}

describe('arbitrary values', () => {
  test.each(['transliterate', 'externalize'] as const)('%s returns everything except unsafe integers', (text) => {
    fc.assert(
      fc.property(values, (value) => {
        if (hasUnsafe(value)) {
          expect(() => send(value, text)).toThrow(AccpError);
          return;
        }
        const sent = send(value, text);
        const received = receive(sent, text === 'transliterate');
        expectOnlyLosses(value, received.value, [...sent.losses, ...received.losses]);
      }),
      RUNS,
    );
  });

  test('reject accepts exactly the values that the grammar can write', () => {
    fc.assert(
      fc.property(values, (value) => {
        if (hasUnsafe(value) || !isSayable(value)) {
          expect(() => send(value, 'reject')).toThrow(/^payload\.k/);
          return;
        }
        const sent = send(value, 'reject');
        const received = receive(sent, false);
        expectOnlyLosses(value, received.value, [...sent.losses, ...received.losses]);
      }),
      RUNS,
    );
  });

  test('transliterate preserves every top-level key', () => {
    fc.assert(
      fc.property(strings, (key) => {
        expect(receive(send(1, 'transliterate', { key }), true).key).toBe(key);
      }),
      RUNS,
    );
  });

  test.each([undefined, 'TC', 'TX', 'ST', 'TA', 'ER'])('abbreviated keys are expanded, schema %s', (schema) => {
    const table = keyTable(schema);
    const words = fc.constantFrom(...table.fields.flat());
    fc.assert(
      fc.property(fc.oneof(words, strings), (key) => {
        const sent = send(1, 'transliterate', { key: table.abbreviate(key) });
        expect(table.expand(receive(sent, true).key)).toBe(table.expand(key));
      }),
    );
  });

  test('a string field preserves every string, or rejects it', () => {
    fc.assert(
      fc.property(strings, (value) => {
        const sent = send(value, 'transliterate', { type: 'string' });
        expect(receive(sent, true, 'string').value).toBe(value);
        if (!/^[!-~]+$/.test(value) || /^-?0[0-9]|^-0|\.[0-9]*00*$/.test(value)) return;
        expect(receive(send(value, 'reject', { type: 'string' }), false, 'string').value).toBe(value);
      }),
      RUNS,
    );
  });
});
