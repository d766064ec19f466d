import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anchorAt, relativeUnit } from '../../../../src/aacp/matching/instruction/calendar.js';

/** The day, week, month, quarter or year that the relative times of an instruction refer to. */
function relativeAnchor(instruction: string, now: number): string | null {
  const unit = relativeUnit(instruction);
  return unit === null ? null : anchorAt(unit, now);
}

const SUNDAY = Date.UTC(2026, 10, 22, 12);

describe('relative times are anchored to the finest unit that is used', () => {
  test.each([
    ['report the sales of last month', '2026-11'],
    ['report the sales of this quarter', '2026-Q4'],
    ['report the sales of last year', '2026'],
    ['report the sales of Q2', '2026'],
    ['report the sales of August', '2026'],
    ['report the sales of last week', '2026-W47'],
    ['report the sales of yesterday', '2026-11-22'],
    ['pay it by Friday', '2026-11-22'],
    ['compare last month with last year', '2026-11'],
    ['list invoices of the last 30 days', '2026-11-22'],
    ['list invoices of 3 months ago', '2026-11'],
  ])('%s', (instruction, anchor) => {
    expect(relativeAnchor(instruction, SUNDAY)).toBe(anchor);
  });

  test.each(['report the sales of August 2024', 'list invoices older than 90 days', 'pay on net 30 terms', '', 'x'])(
    '%j has no anchor',
    (instruction) => {
      expect(relativeAnchor(instruction, SUNDAY)).toBeNull();
    },
  );

  test.each([
    ['2026-01-01', '2026-W01'],
    ['2027-01-01', '2026-W53'],
    ['2024-12-30', '2025-W01'],
  ])('the week of %s is its ISO 8601 week', (day, week) => {
    expect(relativeAnchor('last week', Date.parse(day))).toBe(week);
  });

  test('an instruction that is too long to be parsed is anchored to the day', () => {
    expect(relativeAnchor('x'.repeat(100_000), SUNDAY)).toBe('2026-11-22');
  });

  test('any text and any time give an anchor or null', () => {
    fc.assert(
      fc.property(fc.string(), fc.double(), (text, now) => {
        expect(relativeAnchor(`${text} today`, now)).toMatch(/^\+?-?\d+-\d\d-\d\d$/);
      }),
    );
  });
});
