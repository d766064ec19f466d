/** Values of a stored packet that were derived from other values, and would be wrong beside new ones. */
import { describe, expect, test } from 'vitest';
import { printPacket } from '../../../src/aacp/index.js';
import type { MatchResult } from '../../../src/aacp/matching/match.js';
import { createMatcher } from '../../../src/aacp/matching/matcher.js';
import { memoryRegistry } from '../../../src/aacp/registry/memory.js';
import { entryOf, NOW } from './evaluate-pairs.js';

const REQUEST = { domain: 'HR', returnAgent: 'A', priority: '1' } as const;
const HEAD = 'PROC|HR|return:A|p:1|aacp:1.1';

function match(instruction: string, fields: string, asked: string): MatchResult {
  const registry = memoryRegistry({ now: () => NOW });
  registry.put(entryOf({ ...REQUEST, instruction, packet: `${HEAD}|${fields}` }));
  return createMatcher({ registry }).match({ ...REQUEST, instruction: asked, now: NOW });
}

describe('a packet with a derived value is not served with other values', () => {
  test.each([
    [
      'Book leave for employee E310 from 1 March 2026 to 5 March 2026.',
      'res:leave|emp:E310|start:2026-03-01|end:2026-03-05|days:5',
      'Book leave for employee E310 from 1 March 2026 to 12 March 2026.',
    ],
    [
      'Book leave for employee E310 from 1 March 2026 to 5 March 2026.',
      'res:leave|emp:E310|start:2026-03-01|end:2026-03-05|days:5',
      'Book leave for employee E310 from 3 March 2026 to 5 March 2026.',
    ],
    [
      'Schedule the board meeting for 3 December 2026.',
      'res:meeting|date:2026-12-03|day:thursday',
      'Schedule the board meeting for 4 December 2026.',
    ],
    [
      'Schedule a one-hour interview on 3 December 2026 at 10:00.',
      'res:interview|start:2026-12-03T10:00|end:2026-12-03T11:00',
      'Schedule a one-hour interview on 3 December 2026 at 14:00.',
    ],
    ['Order 3 laptops at GBP 500 each.', 'res:laptop|qty:3|price:500|total:1500', 'Order 4 laptops at GBP 500 each.'],
    [
      'Generate the payroll report for August 2026.',
      'res:payroll|period:2026-08|days:31',
      'Generate the payroll report for September 2026.',
    ],
    [
      'Generate the payroll report for August 2026.',
      'res:payroll|period:2026-08|month_no:8',
      'Generate the payroll report for September 2026.',
    ],
    [
      'Generate the payroll report for August 2026.',
      'res:payroll|period:2026-08|season:summer',
      'Generate the payroll report for December 2026.',
    ],
    ['Raise the price list by 5%.', 'res:price_list|pct:5|factor:1.05', 'Raise the price list by 7%.'],
    ['Extend the contract by 2 years.', 'res:contract|years:2|months:24', 'Extend the contract by 3 years.'],
    [
      'Refund customer C-310 GBP 24 within a day.',
      'res:refund|cust:C-310|amt:24|ccy:GBP|sla:24h',
      'Refund customer C-310 GBP 30 within a day.',
    ],
  ])('%s: %s', (first, fields, second) => {
    const result = match(first, fields, second);
    expect(result.kind === 'none' && result.candidates[0]?.refusal).toBe('slot-unplaced');
  });
});

describe('a number that the text or a name explains is kept', () => {
  test.each([
    [
      'Generate the payroll report for August 2026.',
      'res:payroll|period:2026-08|tmpl:payroll_v2',
      'Generate the payroll report for September 2026.',
      'res:payroll|period:2026-09|tmpl:payroll_v2',
    ],
    [
      'Extend the contract by 2 years.',
      'res:contract|years:2',
      'Extend the contract by 3 years.',
      'res:contract|years:3',
    ],
    [
      'Refund customer C-310 GBP 85 within 24 hours.',
      'cust:C-310|amt:85|ccy:GBP|sla:24h',
      'Refund customer C-310 GBP 30 within 24 hours.',
      'cust:C-310|amt:30|ccy:GBP|sla:24h',
    ],
  ])('%s: %s', (first, fields, second, wanted) => {
    const result = match(first, fields, second);
    expect(result.kind === 'match' && printPacket(result.packet)).toBe(`${HEAD}|${wanted}`);
  });
});
