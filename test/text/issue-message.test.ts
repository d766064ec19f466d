import { afterEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import * as mini from 'zod/mini';
import { issueMessage } from '../../src/text/issue-message.js';

/** The messages for a value that a schema rejects, each with its path. */
function messages(schema: z.core.$ZodType, value: unknown): string[] {
  const { error } = z.safeParse(schema, value, { error: issueMessage });
  return (error?.issues ?? []).map(({ path, message }) => [...path.map(String), message].join(': '));
}

afterEach(() => {
  z.config(z.locales.en());
});

const CASES: readonly (readonly [string, z.core.$ZodType, unknown, readonly string[]])[] = [
  ['another type', z.string(), 5, ['must be a string, not a number']],
  ['null', z.object({ a: z.array(z.string()) }), { a: null }, ['a: must be an array, not null']],
  ['an array', z.record(z.string(), z.string()), [], ['must be an object, not an array']],
  ['NaN', z.number(), Number.NaN, ['must be a number, not NaN']],
  ['a fraction', z.int(), 1.5, ['must be an integer']],
  ['a missing member', z.object({ a: z.string() }), {}, ['a: is required']],
  ['a missing choice', z.object({ a: z.enum(['x', 'y']) }), {}, ['a: is required']],
  ['a wrong literal', z.literal('a'), 'b', ['must be "a"']],
  ['one of two', z.enum(['a', 'b']), 'c', ['must be "a" or "b"']],
  ['one of three', z.literal([1, 2, null]), 3, ['must be one of 1, 2, null']],
  ['a small number', z.number().min(1), 0, ['must be at least 1']],
  ['a number at an exclusive bound', z.number().gt(1), 1, ['must be more than 1']],
  ['a large number', z.number().lt(1).max(0), 2, ['must be less than 1', 'must be at most 0']],
  ['a small bigint', z.bigint().min(3n), 2n, ['must be at least 3']],
  ['an early date', z.date().min(new Date(0)), new Date(-1), ['must be at least 1970-01-01T00:00:00.000Z']],
  ['a short text', z.string().min(1), '', ['must have at least 1 character']],
  ['a long text', z.string().max(2), 'abc', ['must have at most 2 characters']],
  ['a text of another length', z.string().length(2), 'abc', ['must have exactly 2 characters']],
  ['too few items', z.array(z.int()).min(2), [1], ['must have at least 2 items']],
  ['too many entries', z.map(z.int(), z.int()).check(z.maxSize(0)), new Map([[1, 1]]), ['must have at most 0 entries']],
  ['no multiple', z.number().multipleOf(5), 6, ['must be a multiple of 5']],
  ['no address', z.email(), 'a', ['must have the format email']],
  ['a pattern', z.string().regex(/^a+$/), 'b', ['must match /^a+$/']],
  ['a start', z.string().startsWith('"'), 'b', ['must start with "\\""']],
  ['an end', z.string().endsWith('a'), 'b', ['must end with "a"']],
  ['a part', z.string().includes('a'), 'b', ['must contain "a"']],
  ['unknown members', z.strictObject({}), { a: 1, 'b\n': 1 }, ['has unknown members: "a", "b␊"']],
  ['no form of a union', z.union([z.string(), z.int()]), true, ['has none of the allowed forms']],
  ['an invalid key', z.record(z.string().max(1), z.int()), { abc: 1 }, ['abc: has an invalid key']],
  ['an invalid element', z.map(z.object({}), z.int()), new Map([[{}, 'x']]), ['has an invalid element']],
  ['a check of its own', z.string().refine(() => false), 'x', ['is invalid']],
  ['a message of its own', z.string('write a name'), 5, ['write a name']],
  ['a check with a message', z.string().refine(() => false, 'is taken'), 'x', ['is taken']],
  ['the small zod', mini.object({ a: mini.array(mini.string()) }), { a: 'x' }, ['a: must be an array, not a string']],
];

describe('an issue of zod is described for', () => {
  test.each(CASES)('%s', (_, schema, value, expected) => {
    expect(messages(schema, value)).toEqual(expected);
  });

  test.each(CASES)('%s, in English whatever the locale', (_, schema, value, expected) => {
    z.config(z.locales.de());
    expect(messages(schema, value)).toEqual(expected);
  });
});
