/**
 * The parser's work is proportional to the length of the text, for every text. The tests count the characters that the
 * generated parser reads, and the rules that it tries.
 */
import { describe, expect, test } from 'vitest';
import { parse } from '../../generated/aacp.js';
import { findPackets } from '../../src/aacp/find.js';
import {
  canonicalizePacket,
  type Dialect,
  explainPacket,
  parsePacket,
  printPacket,
  tryParsePacket,
  validatePacket,
} from '../../src/aacp/index.js';
import { charactersRead, expectLinear, filled, rulesTried } from '../helpers/steps.js';

const KB = 1000;
const MB = 1000 * KB;
const HEAD = 'FETCH|HR|return:A|p:1|aacp:1.1';
const UNLIMITED = { maxLength: Number.POSITIVE_INFINITY, maxItems: Number.POSITIVE_INFINITY };

const FAMILIES: readonly (readonly [name: string, textOf: (length: number) => string])[] = [
  ['many fields', filled('A|B', (index) => `|k${index}:v`)],
  ['many empty fields', filled('A|B', '|k:')],
  ['many empty slots', filled('A|B', '|')],
  ['many slots without a colon', filled('A|B', '|slot')],
  ['many blank slots', filled('A|B', '|  ')],
  ['many padded fields', filled('A|B', ' | k : v')],
  ['one long value', filled('A|B|k:', 'v')],
  ['a value of words', filled('A|B|k:', 'two  words ', 'x')],
  ['a value of colons', filled('A|B|k:', ':')],
  ['a value of blanks', filled('A|B|k:', ' ', 'x')],
  ['a value that ends in blanks', filled('A|B|k:v', ' ')],
  ['a value of tabs', filled('A|B|k:v', '\t')],
  ['one long key', filled('A|B|', 'k', ':v')],
  ['a key without an end', filled('A|B|', 'k')],
  ['one long TASK', filled('', 'A', '|B')],
  ['a TASK without an end', filled('', 'A')],
  ['a TASK between blanks', filled('', ' ', 'A|B')],
  ['nothing but blanks', filled('', ' ')],
  ['one long DOM', filled('A|', 'B-')],
  ['a control character at the end', filled('A|B|k:', 'v', '\0')],
];

describe.each<Dialect>(['strict', 'tolerant'])('%s', (dialect) => {
  const options = { maxItems: Number.POSITIVE_INFINITY, dialect };
  const read = charactersRead(parse as (text: string, options: object) => unknown, options);
  const tried = rulesTried('aacp', options);

  test.each(FAMILIES)('%s, up to 100 KB', (_name, textOf) => {
    expectLinear(read, textOf, [KB, 10 * KB, 100 * KB], 10);
    // A parser that traces every rule is too slow for longer texts.
    expectLinear(tried, textOf, [KB, 10 * KB], 12);
  });

  test.each(FAMILIES.filter((_family, index) => index % 6 === 0))('%s, up to 1 MB', (_name, textOf) => {
    expectLinear(read, textOf, [100 * KB, MB], 10);
  });
});

// The following tests have no counter. Quadratic work on texts of this size would exceed the time limit of a test.
const LONG = 150 * KB;

describe('a long text is validated and explained, and its errors are shown', () => {
  test.each([
    ['tens of thousands of empty slots', `${HEAD}${'|'.repeat(60_000)}`],
    ['tens of thousands of keys in capitals', `${HEAD}${'|K:v'.repeat(60_000)}`],
    ['tens of thousands of padded fields', `${HEAD}${'| k : v '.repeat(60_000)}`],
    ['tens of thousands of slots without a colon', `${HEAD}${'|slot'.repeat(60_000)}`],
    ['a field of blanks', `${HEAD}|res:${' '.repeat(LONG)}`],
    ['blanks before the last character', `${HEAD}|res:${' '.repeat(LONG)}x`],
    ['blanks on both sides', `${HEAD}|res: ${' '.repeat(LONG / 2)}x${' '.repeat(LONG / 2)}|p:1`],
    ['blanks around the TASK', `${' '.repeat(LONG / 2)}FETCH${' '.repeat(LONG / 2)}|HR`],
    ['blanks around the DOM', `FETCH|${' '.repeat(LONG / 2)}HR${' '.repeat(LONG / 2)}|`],
    ['white space other than spaces', `${HEAD}|res:${'\u00a0'.repeat(LONG)}x`],
    ['a long key in capitals', `${HEAD}|${'A'.repeat(LONG)}:v`],
    ['a long TASK', `${'A'.repeat(LONG)}|HR`],
    ['hyphens', `${HEAD}|party:${'-'.repeat(LONG)}`],
    ['a list of commas', `${HEAD}|fields:${','.repeat(LONG)}`],
    ['equals signs', `${HEAD}|filter:${'='.repeat(LONG)}`],
    ['quotes', `${HEAD}|subj:${'"'.repeat(LONG)}`],
    ['digits of a percentage', `${HEAD}|prog:${'1'.repeat(LONG)}`],
  ])('%s', (_name, text) => {
    const { errors, warnings } = validatePacket(text, UNLIMITED);
    expect(errors.length + warnings.length).toBeLessThanOrEqual(250_000);
    expect(explainPacket(text.slice(0, 1_048_576)).length).toBeGreaterThan(20);
    const result = tryParsePacket(text, UNLIMITED);
    expect(result.ok ? '' : result.error.format()).toMatch(/^.{0,2000}$/s);
  });

  test.each([
    ['nines', `0.${'9'.repeat(LONG)}`, '1'],
    ['zeros', `${'0'.repeat(LONG)}.50`, '0.5'],
    ['a tie, but for its last digit', `0.0000005${'0'.repeat(LONG)}1`, '0.000001'],
    ['digits that are not a number', `${'1'.repeat(LONG)}x`, `${'1'.repeat(LONG)}x`],
    ['digits with points', '1.'.repeat(LONG / 2), '1.'.repeat(LONG / 2)],
  ])('an amount of %s is rounded', (_name, amount, expected) => {
    const packet = canonicalizePacket(parsePacket(`${HEAD}|amt:${amount}`, UNLIMITED));
    expect(printPacket(packet)).toBe(`${HEAD}|amt:${expected}`);
  });
});

describe('finding', () => {
  const OPENING = 'A|B|c:';
  /** Texts with many possible starts are shorter: each start is parsed and reported. */
  const HOSTILE: readonly (readonly [name: string, text: string])[] = [
    ['packets in a row', 'FETCH|HR|return:A '.repeat(1_000)],
    ['packets on lines', 'FETCH|HR|return:A\r\n'.repeat(1_000)],
    ['packets behind list markers', '- - - - FETCH|HR|return:A '.repeat(1_000)],
    ['openings without an end', OPENING.repeat(1_000)],
    ['openings behind quotes', `"${OPENING}`.repeat(1_000)],
    ['openings behind single quotes', `'${OPENING}`.repeat(1_000)],
    ['openings behind backticks', `\`${OPENING}`.repeat(1_000)],
    ['openings behind escaped quotes', `\\"${OPENING}`.repeat(1_000)],
    ['openings on lines of a JSON string', `"${`\\n${OPENING}`.repeat(1_000)}"`],
    ['list markers', `${'- '.repeat(LONG / 2)}${OPENING}`],
    ['white space', `${' '.repeat(LONG)}${OPENING}`],
    ['brackets at the end', `${OPENING}v${')'.repeat(LONG)}`],
    ['brackets of all kinds at the end', `${OPENING}v${'([{<>}])'.repeat(LONG / 8)}`],
    ['punctuation at the end', `${OPENING}v${'.'.repeat(LONG)}`],
    ['openings in typographic quotes, in one JSON string', `"${'\u201cA|B|c:\\n'.repeat(1_000)}\u201d"`],
    ['bars at the end', `${OPENING}v${'|'.repeat(LONG)}`],
    ['bars between spaces at the end', `${OPENING}v${' | '.repeat(LONG / 3)}`],
    ['fields between spaces', `x ${OPENING}v${' | k : v'.repeat(LONG / 8)}`],
    ['one long key', `x A|B|c:v|${'k'.repeat(LONG)}`],
    ['one long field', `x ${OPENING}${'v'.repeat(LONG)}`],
    ['a JSON string of escapes', `"${OPENING}${'\\u0041'.repeat(LONG / 6)}"`],
    ['table rows', `${'|---|\n'.repeat(LONG / 6)}\n${OPENING}`],
    ['bars', '|'.repeat(LONG)],
    ['capitals', 'A'.repeat(LONG)],
    ['capitals between bars', 'A|'.repeat(LONG / 2)],
    ['openings without a key', 'A|B|'.repeat(LONG / 4)],
    ['backslashes', '\\'.repeat(LONG)],
    ['quotes', '"'.repeat(LONG)],
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
    const found = findPackets(text, counting);
    let end = 0;
    for (const item of found) {
      expect(item.start >= end && item.end > item.start).toBe(true);
      end = item.end;
    }
    expect(end).toBeLessThanOrEqual(text.length);
    expect(found.length > 0).toBe(/[A-Z]\|[A-Z]+\|[a-z]+:/.test(text));
    // One more parse checks the options themselves.
    expect(parsed).toBeLessThanOrEqual(4 * found.length + 1);
  });
});
