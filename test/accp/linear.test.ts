/**
 * Reading takes work in proportion to the text, whatever the text is. Counted are the characters that the generated parser
 * looks at, and the rules that it tries.
 */
import { describe, expect, test } from 'vitest';
import { parse } from '../../generated/accp.js';
import { findFrames } from '../../src/accp/find.js';
import {
  canonicalizeFrame,
  type Dialect,
  explainFrame,
  parseFrame,
  printFrame,
  tryParseFrame,
} from '../../src/accp/index.js';
import { charactersRead, expectLinear, filled, rulesTried } from '../helpers/steps.js';

const KB = 1000;
const MB = 1000 * KB;
const UNLIMITED = { maxItems: Number.POSITIVE_INFINITY, maxDigits: Number.POSITIVE_INFINITY };

const FAMILIES: readonly (readonly [name: string, textOf: (length: number) => string])[] = [
  ['one long string', filled('@a>req:x{k:', 'v', '}')],
  ['nothing but escapes', filled('@a>req:x{k:', '\\,', '}')],
  ['many parameters', filled('@a>req:x{', (index) => `k${index}:v|`, 'z:v}')],
  ['a key repeated at the end', filled('@a>req:x{', (index) => `k${index}:\\||`, 'k0:v}')],
  ['a long list of metadata', filled('@a>req:x{}[', (index) => `k${index}:1,`, 'z:v]')],
  ['an array of integers', filled('@a>req:x{k:[', '12,', '1]}')],
  ['an array of words', filled('@a>req:x{k:[', 'word,', 'w]}')],
  ['an array of arrays', filled('@a>req:x{k:[', '[[1],[]],', '[]]}')],
  ['a map', filled('@a>req:x{k:{', (index) => `k${index}:v,`, 'z:v}}')],
  ['maps in maps', filled('@a>req:x{k:[', '{a:{b:{c:1}}},', '~]}')],
  ['digits that turn out to be a word', filled('@a>req:x{k:', '1', 'x}')],
  ['decimals that turn out to be words', filled('@a>req:x{k:', '11.', 'x}')],
  ['a run of minus signs', filled('@a>req:x{k:', '-', '}')],
  ['a word like true', filled('@a>req:x{k:', 'true', '}')],
  ['references', filled('@a>req:x{k:[', '$a.b,', '$c]}')],
  ['keyed items', filled('@a>req:x{k:[', 'k:v,', 'k:v]}')],
  ['mentions', filled('@a>req:x{k:[', '@a:b,', '@a]}')],
  ['words before a bracket', filled('@a>req:x{k:[', 'word', '[')],
  ['garbage behind the frame', filled('@a>req:x{k:v}', '{')],
  ['an array that never closes', filled('@a>req:x{k:[', '1,', '1')],
  ['a map that never closes', filled('@a>req:x{k:{', (index) => `k${index}:v,`)],
  ['a string that never closes', filled('@a>req:x{k:', 'v\\,')],
  ['a payload that ends in white space', filled('@a>req:x{', (index) => `k${index}:v|`, ' }')],
  ['a long agent without an intent', filled('@', 'a')],
];

describe.each<Dialect>(['strict', 'lenient'])('%s', (dialect) => {
  const options = { ...UNLIMITED, dialect };
  const read = charactersRead(parse as (text: string, options: object) => unknown, options);
  const tried = rulesTried('accp', options);

  test.each(FAMILIES)('%s, up to 100 KB', (_name, textOf) => {
    expectLinear(read, textOf, [KB, 10 * KB, 100 * KB], 16);
    // A parser that tells of every rule is too slow for more.
    expectLinear(tried, textOf, [KB, 10 * KB], 40);
  });

  test.each(FAMILIES.filter((_family, index) => index % 8 === 0))('%s, up to 1 MB', (_name, textOf) => {
    expectLinear(read, textOf, [100 * KB, MB], 16);
  });
});

// What follows has no counter. Quadratic work on texts of this size would take longer than a test may.
const LONG = 150 * KB;

describe('a long text is read, canonicalized, printed and explained', () => {
  const all = { ...UNLIMITED, maxLength: Number.POSITIVE_INFINITY };

  test.each([
    ['one string of escapes', filled('@a>req:x{k:', '\\,', '}')],
    ['tens of thousands of keys', filled('@a>req:x{', (index) => `k${index}:\\||`, 'z:v}')],
    [
      'a map of tens of thousands of keys in descending order',
      filled('@a>req:x{k:{', (index) => `k${1e7 - index}:v,`, 'a:v}}'),
    ],
    ['a decimal of zeros', filled('@a>req:x{k:0.', '0', '1}')],
    ['a decimal of nines', filled('@a>req:x{k:0.', '9', '}')],
    ['a decimal halfway between two', filled('@a>req:x{k:0.0000005', '0', '}')],
    ['leading zeros', filled('@a>req:x{k:', '0', '1.5}')],
  ])('%s', (_name, textOf) => {
    const frame = parseFrame(textOf(LONG), all);
    const printed = printFrame(frame, { maxDigits: Number.POSITIVE_INFINITY });
    expect(parseFrame(printed, all)).toEqual(canonicalizeFrame(frame));
    expect(explainFrame(frame).length).toBeGreaterThan(LONG / 2);
  });
});

describe('a long text is rejected, and the error shown', () => {
  test.each([
    [
      'a key repeated tens of thousands of keys later',
      filled('@a>req:x{', (index) => `k${index}:value|`, 'k0:v}'),
      'duplicate-key',
    ],
    ['an item too many', filled('@a>req:x{k:[', '1,'), 'limit'],
    ['a space at the end', filled('@a>req:x{k:', 'v', ' }'), 'syntax'],
    ['line ends', filled('@a>req:x{k:v}', '\n'), 'syntax'],
  ])('%s', (_name, textOf, reason) => {
    const result = tryParseFrame(textOf(2 * LONG), { maxLength: Number.POSITIVE_INFINITY });
    expect(result.ok || result.error.reason).toBe(reason);
    expect(result.ok || result.error.format().length).toBeLessThan(500);
  });
});

describe('finding', () => {
  const OPENING = '@a>b:c{';
  /** Texts with many openings are shorter: each is parsed, and reported with its error. */
  const HOSTILE: readonly (readonly [name: string, text: string])[] = [
    ['openings', OPENING.repeat(1_000)],
    ['openings between quotes', `"${OPENING}`.repeat(1_000)],
    ['openings between single quotes', `'${OPENING}`.repeat(1_000)],
    ['openings between backticks', `\`${OPENING}`.repeat(1_000)],
    ['openings behind escaped quotes', `\\"${OPENING}`.repeat(1_000)],
    ['openings in one JSON string', `"${`${OPENING}k:\\"`.repeat(1_000)}"`],
    ['openings on lines', `${OPENING}\r\n`.repeat(1_000)],
    ['frames side by side', '@a>b:c{}[m:1]'.repeat(1_000)],
    ['an opening and brackets', OPENING + '['.repeat(LONG)],
    ['an opening and closing brackets', OPENING + '}'.repeat(LONG)],
    ['an opening and a quote in its string', `"${OPENING}${'\\u0041'.repeat(LONG / 6)}}"`],
    ['an opening and digits', `${OPENING}k:${'1'.repeat(LONG)}`],
    ['an opening and digits with points', `${OPENING}k:${'1.'.repeat(LONG / 2)}`],
    ['an opening and minus signs', `${OPENING}k:${'-'.repeat(LONG)}`],
    ['an opening and words', `${OPENING}k:${'word'.repeat(LONG / 4)}`],
    ['an opening and spaces', OPENING + ' '.repeat(LONG)],
    ['an opening and line ends', OPENING + '\n'.repeat(LONG)],
    ['backslashes', '\\'.repeat(LONG)],
    ['quotes', '"'.repeat(LONG)],
    ['at signs', '@'.repeat(LONG)],
    ['an agent without an end', `@${'a'.repeat(LONG)}`],
    ['agents without an intent', '@a>'.repeat(LONG / 3)],
    ['an intent without an end', `@a>${'b'.repeat(LONG)}`],
    ['lone surrogates', '\ud800'.repeat(LONG)],
  ];

  test.each(HOSTILE)('%s: items do not overlap, and each is parsed a few times at most', (_name, text) => {
    let parsed = 0;
    const counting = {
      get dialect(): Dialect {
        parsed++;
        return 'strict';
      },
    };
    const found = findFrames(text, counting);
    let end = 0;
    for (const item of found) {
      expect(item.start >= end && item.end > item.start).toBe(true);
      end = item.end;
    }
    expect(end).toBeLessThanOrEqual(text.length);
    expect(found.length).toBe(text.split('@a>b:c{').length - 1);
    // And once for the options themselves.
    expect(parsed).toBeLessThanOrEqual(4 * found.length + 1);
  });
});
