import { expect, test } from 'vitest';
import { type Answer, functionTarget } from '../../../src/fuzz/differential/target.js';

test('a function gets the request, and its answer is the outcome', async () => {
  const target = functionTarget('echo', ({ input, dialect }) => ({ ok: true, ast: [input, dialect ?? ''] }));
  expect(target.name).toBe('echo');
  expect(await target.read({ input: 'x', dialect: 'lenient' })).toEqual({
    kind: 'answer',
    answer: { ok: true, ast: ['x', 'lenient'] },
  });
  await target.close();
});

test('a function may return a boolean or a promise', async () => {
  const target = functionTarget('short', async ({ input }) => input.length < 3);
  expect(await target.read({ input: 'ab' })).toEqual({ kind: 'answer', answer: { ok: true } });
  expect(await target.read({ input: 'abc' })).toEqual({ kind: 'answer', answer: { ok: false } });
});

test.each([
  ['an error', new RangeError('too deep'), 'RangeError: too deep'],
  ['a string', 'no', 'no'],
  ['what is no text', Object.create(null), 'object'],
])('an error is a crash: %s', async (_name, thrown, detail) => {
  const throwing = (): Answer => {
    throw thrown;
  };
  expect(await functionTarget('f', throwing).read({ input: '' })).toEqual({ kind: 'crash', detail });
  expect(await functionTarget('f', async () => throwing()).read({ input: '' })).toEqual({ kind: 'crash', detail });
});

test.each([
  [undefined, 'not a JSON object'],
  [[], 'not a JSON object'],
  [{ accepted: true }, 'the member "ok" is missing'],
  [{ ok: 1 }, '"ok" is neither true nor false'],
  [{ ok: true, canonical: 1 }, '"canonical" is not a string'],
  [{ ok: false, code: 1, offset: '0' }, '"code" is not a string, "offset" is not a non-negative integer'],
])('an invalid answer is garbage: %j', async (given, detail) => {
  const target = functionTarget('f', () => given as never);
  expect(await target.read({ input: '' })).toEqual({ kind: 'garbage', detail });
});
