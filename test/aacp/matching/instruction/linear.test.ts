/** Parsing an instruction takes work proportional to its length, for every text. The tests count the rules that are tried. */
import { describe, expect, test } from 'vitest';
import { filled, rulesTried } from '../../../helpers/steps.js';

const LENGTH = 800;
/** The most rules that are tried per character: the look-ahead is bounded, but may be about 200 characters. */
const MOST = 1000;

const FAMILIES: readonly (readonly [name: string, textOf: (length: number) => string])[] = [
  ['words', filled('', 'flag the invoice ')],
  ['one long word', filled('', 'x')],
  ['quotes that do not end', filled('', '"a ')],
  ['apostrophes', filled('', "'a ")],
  ['parts of ids', filled('', 'a1-', '\u00e9')],
  ['parts of numbers', filled('', '1,', 'x')],
  ['parts of addresses', filled('', 'a@')],
  ['parts of host names', filled('a@', 'b.')],
  ['parts of months', filled('', 'January to ')],
  ['parts of relative times', filled('', 'last ')],
  ['hyphens', filled('', 'a-')],
  ['blanks', filled('Q2', ' ', '2026')],
  ['parts of web addresses', filled('a://', '.,')],
];

describe('parsing takes linear work', () => {
  const tried = rulesTried('instruction', {});

  test.each(FAMILIES)('%s', (_name, textOf) => {
    const once = tried(textOf(LENGTH));
    expect(once).toBeGreaterThan(0);
    expect(once / LENGTH).toBeLessThanOrEqual(MOST);
    expect(tried(textOf(2 * LENGTH)) / once).toBeLessThanOrEqual(2.3);
  });
});
