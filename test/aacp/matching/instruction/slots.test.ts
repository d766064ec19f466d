/** Values in instructions, in all spellings. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ValueItem } from '../../../../src/aacp/matching/instruction/ast.js';
import { MAX_ANALYSED, parseInstruction } from '../../../../src/aacp/matching/instruction/parse.js';
import { slotOf } from '../../../../src/aacp/matching/instruction/slots.js';

/** The values of a text, without spans. */
function valuesOf(text: string): readonly ValueItem[] {
  return (parseInstruction(text) ?? []).flatMap((item): readonly ValueItem[] => {
    if (item.kind === 'word' || item.kind === 'mark') return [];
    return item.kind === 'span' ? item.items : [item];
  });
}

function slots(text: string): readonly string[] {
  return valuesOf(text).map((item) => {
    const { kind, value, relative } = slotOf(item, text);
    return `${kind} ${value}${relative ? ' (relative)' : ''}`;
  });
}

describe('a value is recognized in all spellings', () => {
  test.each([
    [
      'date 2024-08-31',
      '31 August 2024; 31st of August, 2024; Aug 31st, 2024; August 31 2024; 2024-08-31; 31/08/2024; 08/31/2024; 31.08.2024; Saturday, 31 August 2024; 31-Aug-2024',
    ],
    ['date 2026-04-04', '4/4/2026; 04.04.2026; 4 Apr 2026'],
    [
      'month 2024-08',
      "2024-08; August 2024; Aug 2024; aug 2024; 08/2024; August, 2024; August of 2024; Aug '24; 2024/08",
    ],
    [
      'quarter 2026-Q2',
      'Q2 2026; q2 2026; 2026-Q2; 2026Q2; Q2/2026; Q2-2026; 2Q26; 2Q2026; Q2 of 2026; second quarter of 2026; 2nd quarter 2026; quarter 2 of 2026',
    ],
    ['half 2026-H1', 'H1 2026; 2026-H1; first half of 2026; 1st half of 2026'],
    ['fiscal FY2026', 'FY2026; FY26; FY 2026; fiscal year 2026; financial year 2026'],
    ['fiscal FY2025/26', 'FY2025/26; 2025/26; FY25-26'],
    ['fiscal FY2026-Q1', 'FY26 Q1; Q1 FY26; Q1 of FY2026; FY2026-Q1'],
    ['week 2026-W32', 'week 32 2026; week 32 of 2026; 2026-W32; CW 32 2026'],
    ['year 2026', '2026'],
    ['time 14:30', '14:30; 2:30 pm; 2:30pm'],
    ['time 09:00', '09:00; 9 am; 9am'],
    ['amount 4200 GBP', '£4,200; £4200.00; 4200 GBP; GBP 4,200; GBP4200; 4,200 pounds; £4.2k; 4200 pounds sterling'],
    ['amount 1500000 USD', 'US$1.5m; USD 1.5 million; 1,500,000 USD'],
    ['amount 1250.75 EUR', '€1,250.75; EUR 1.250,75; 1250.75 euros; EUR 1250,75'],
    ['amount 1200 AUD', 'A$1,200; AU$1200; AUD 1,200'],
    ['percent 15', '15%; 15 %; 15 percent; 15 per cent'],
    ['number 30', '30; thirty'],
    ['number 60', '60; sixty'],
    ['number 14', '14; fourteen'],
    ['number 5000', '5,000; 5k; 5000.0'],
    ['terms 30', 'net 30; net30; Net-30; net 30 days'],
    ['id PO-441', 'PO-441; #PO-441'],
    ['id po-441', 'po-441; #po-441'],
    ['id E009', 'E009; #E009'],
    ['email j.smith@co.com', 'j.smith@co.com; j.smith@CO.com'],
    ['email J.Smith@co.com', 'J.Smith@co.com; J.Smith@Co.Com'],
    ['handle j.smith', 'j.smith'],
    ['agent hr-agent', 'HR-Agent; hr-agent'],
    ['url gl://close/2026-02', 'gl://close/2026-02'],
    ['quoted two words', '"two words"; \u201ctwo words\u201d; \'two words\'; `two words`'],
  ])('%s', (wanted, spellings) => {
    for (const spelling of spellings.split('; ')) {
      expect(slots(spelling), spelling).toEqual([wanted]);
      expect(slots(`for ${spelling}.`), spelling).toEqual([wanted]);
    }
  });

  test.each([
    ['January to March 2026', ['month 2026-01', 'month 2026-03']],
    ['April, May and June 2026', ['month 2026-04', 'month 2026-05', 'month 2026-06']],
    ['Jan\u2013Mar 2026', ['month 2026-01', 'month 2026-03']],
    ['1-15 March 2026', ['date 2026-03-01', 'date 2026-03-15']],
    ['Q1 to Q3 2026', ['quarter 2026-Q1', 'quarter 2026-Q3']],
    ['E009, E010 and E011', ['id E009', 'id E010', 'id E011']],
  ])('%s: several values share the unit behind the last one', (text, wanted) => {
    expect(slots(text)).toEqual(wanted);
  });
});

describe('an ambiguous value is not recognized', () => {
  test.each([
    ['03/04/2026', 'date 03/04/2026'],
    ['EUR 1.234', 'amount EUR 1.234'],
    ['$40', 'amount 40 $'],
  ])('%s', (text, wanted) => {
    expect(slots(text)).toEqual([wanted]);
  });

  test('its digits are equal to the same digits alone', () => {
    expect(slots('03/04/2026')).not.toEqual(slots('04/03/2026'));
    expect(slots('03/04/2026')).not.toEqual(slots('3 April 2026'));
  });
});

describe('a value that depends on the current time is marked as relative', () => {
  test.each([
    ['last month', 'relative last month'],
    ['previous month', 'relative last month'],
    ['current quarter', 'relative this quarter'],
    ['next week', 'relative next week'],
    ['next weekend', 'relative next weekend'],
    ['today', 'relative today'],
    ['by Friday', 'relative on friday'],
    ['end of the month', 'relative end month'],
    ['Q2', 'quarter --Q2'],
    ['August', 'month --08'],
    ['31 August', 'date --08-31'],
    ['week 32', 'week --W32'],
  ])('%s', (text, wanted) => {
    expect(slots(text)).toEqual([`${wanted} (relative)`]);
  });
});

describe('a text that is not a value is a word', () => {
  test.each([
    'march on',
    'you may go',
    'year-to-date',
    'cross-reference',
    'e.g. this',
    'e-mail',
    'a priori',
    'and/or',
    'IT',
  ])('%s', (text) => {
    expect(slots(text).filter((slot) => !slot.startsWith('number'))).toEqual([]);
  });
});

test('every text is parsed completely and within the limits', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary', maxLength: 200 }), phrases()), (text) => {
      let at = 0;
      for (const item of placed(text)) {
        expect(item.start).toBeGreaterThanOrEqual(at);
        expect(text.slice(at, item.start)).toMatch(
          /^(?:[\s\u0085\u200B-]|to|until|through|till|and|[,&\u2013\u2014])*$/i,
        );
        expect(item.end).toBeGreaterThan(item.start);
        at = item.end;
      }
      expect(at).toBeLessThanOrEqual(text.length);
    }),
  );
});

test('a text beyond the limit is not parsed', () => {
  expect(parseInstruction('x'.repeat(MAX_ANALYSED))).not.toBeNull();
  expect(parseInstruction('x'.repeat(MAX_ANALYSED + 1))).toBeNull();
});

/** All items, without spans. */
function placed(text: string): readonly { readonly start: number; readonly end: number }[] {
  return (parseInstruction(text) ?? []).flatMap((item) => (item.kind === 'span' ? [...item.items] : [item]));
}

/** Texts made of the parts that the grammar recognizes. */
function phrases(): fc.Arbitrary<string> {
  const pieces = [
    'Q2',
    '2026',
    '-',
    '/',
    ' ',
    '31',
    'August',
    'PO',
    '\u00a3',
    '4,200',
    '.',
    '@',
    'a',
    'to',
    'and',
    '"',
    "'",
    '://',
    '#',
    '%',
    'net',
    'FY',
    'last',
    'month',
  ];
  return fc.array(fc.constantFrom(...pieces), { maxLength: 30 }).map((parts) => parts.join(''));
}
