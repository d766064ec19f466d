/** Limited nesting. */
import { expect, test } from 'vitest';
import { difference, pairOf } from './compare.js';
import { shown } from './show.js';
import { textsOver } from './texts.js';

const LISTS = 'value = list / map / word\nlist = "[" (value ("," value)*)? "]"\nmap = "{" value? "}"\nword = "x"';

test('rules have one copy for each level, and the last one has no further nesting', () => {
  const { grammar } = pairOf(LISTS, { depth: [{ rules: ['list', 'map'], max: 2 }] });
  expect(shown(grammar)).toEqual([
    'value = list_1 / map_1 / word',
    'value_1 = list_2 / map_2 / word',
    'list_1 = "[" (value_1 ("," value_1)*)? "]"',
    'list_2 = "[" (word ("," word)*)? "]"',
    'map_1 = "{" value_1? "}"',
    'map_2 = "{" word? "}"',
    'word = "x"',
  ]);
});

test.each([0, 1, 2])('only texts that nest up to %i deep remain', (max) => {
  const pair = pairOf(LISTS, { depth: [{ rules: ['list', 'map'], max }] });
  const depthOf = (text: string): number => {
    let open = 0;
    return Math.max(0, ...[...text].map((one) => (open += '[{'.includes(one) ? 1 : '}]'.includes(one) ? -1 : 0)));
  };
  const shallow = { ...pair, accepts: (text: string) => pair.accepts(text) && depthOf(text) <= max };
  expect(difference(shallow, textsOver('[]{},x', 5))).toEqual({ lost: [], added: [] });
});

test('a start rule that nests counts as the first level', () => {
  const text = 'list = "(" list? ")"';
  const found = [0, 1, 2].map((max) => {
    const { has } = pairOf(text, { depth: [{ rules: ['list'], max }] });
    return ['()', '(())', '((()))'].map(has);
  });
  expect(found).toEqual([
    [false, false, false],
    [true, false, false],
    [true, true, false],
  ]);
});

test('limits can be combined', () => {
  const pair = pairOf('a = b / c / "x"\nb = "[" a "]"\nc = "{" a "}"', {
    depth: [
      { rules: ['b'], max: 1 },
      { rules: ['c'], max: 2 },
    ],
  });
  const texts = ['x', '[x]', '[[x]]', '{{x}}', '{{{x}}}', '{[{x}]}', '[{{x}}]', '[{[x]}]'];
  expect(texts.filter(pair.has)).toEqual(['x', '[x]', '{{x}}', '{[{x}]}', '[{{x}}]']);
});

test('names of levels do not conflict with the grammar', () => {
  const { grammar } = pairOf('a = "(" a ")" / a_1\na_1 = "x"', { depth: [{ rules: ['a'], max: 3 }] });
  expect(shown(grammar)).toEqual(['a = "(" a__2 ")" / a_1', 'a__2 = "(" a_1 ")" / a_1', 'a_1 = "x"']);
});

test.each([
  { depth: { rules: ['none'], max: 1 }, message: /must be rules of the grammar; got none/ },
  { depth: { rules: ['list'], max: -1 }, message: /-1/ },
  { depth: { rules: ['list'], max: 1.5 }, message: /1\.5/ },
  { depth: { rules: ['list'], max: 1000 }, message: /1000/ },
])('an invalid limit is rejected: $depth', ({ depth, message }) => {
  expect(() => pairOf(LISTS, { depth: [depth] })).toThrow(message);
});
