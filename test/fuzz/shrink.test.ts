import { expect, test } from 'vitest';
import { shrink } from './shrink.js';

test('what does not matter is taken out, down to single characters', () => {
  expect(shrink('@agent>req:run{key:value|other:[1,2,3]}', (text) => /\[.*3/.test(text))).toBe('[3');
});

test('a text of which all matters stays as it is', () => {
  expect(shrink('needle', (text) => text === 'needle')).toBe('needle');
});

test('a text of which nothing matters becomes empty', () => {
  expect(shrink('anything', () => true)).toBe('');
});

test('characters go one by one where no chunk can', () => {
  expect(shrink('a1b2c3d4', (text) => text.replace(/\d/g, '') === 'abcd')).toBe('abcd');
});
