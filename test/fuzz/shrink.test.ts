import { expect, test } from 'vitest';
import { shrink } from './shrink.js';

test('irrelevant parts are removed, down to single characters', () => {
  expect(shrink('@agent>req:run{key:value|other:[1,2,3]}', (text) => /\[.*3/.test(text))).toBe('[3');
});

test('a text without irrelevant parts stays the same', () => {
  expect(shrink('needle', (text) => text === 'needle')).toBe('needle');
});

test('a text without relevant parts becomes empty', () => {
  expect(shrink('anything', () => true)).toBe('');
});

test('characters are removed one by one if no chunk can be', () => {
  expect(shrink('a1b2c3d4', (text) => text.replace(/\d/g, '') === 'abcd')).toBe('abcd');
});
