/** Tier 2: served packets, and rejections with their reasons. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { printPacket, validatePacket } from '../../../src/aacp/index.js';
import type { MatchRequest, MatchResult, Refusal } from '../../../src/aacp/matching/match.js';
import { createMatcher } from '../../../src/aacp/matching/matcher.js';
import { memoryRegistry } from '../../../src/aacp/registry/memory.js';
import type { Registry } from '../../../src/aacp/registry/registry.js';
import { entryOf } from './evaluate-pairs.js';

const NOW = Date.UTC(2026, 10, 22, 12);
const HEAD = 'return:A|p:1|aacp:1.1';

interface Known {
  readonly instruction: string;
  readonly packet: string;
  readonly returnAgent?: string;
  readonly at?: number;
}

function registryOf(known: readonly Known[]): Registry {
  let time = NOW;
  const registry = memoryRegistry({ now: () => time });
  for (const { instruction, packet, returnAgent = 'A', at = NOW } of known) {
    time = at;
    const domain = packet.split('|')[1]!;
    registry.put(entryOf({ instruction, packet, returnAgent, domain, priority: '1' }));
  }
  time = NOW;
  return registry;
}

function match(known: Known, instruction: string, request: Partial<MatchRequest> = {}): MatchResult {
  const domain = known.packet.split('|')[1]!;
  const asked = { instruction, domain, returnAgent: 'A', priority: '1', now: NOW, ...request };
  return createMatcher({ registry: registryOf([known]) }).match(asked);
}

/** The packet that is served, or the reason of the rejection. */
function outcomeOf(result: MatchResult): string {
  if (result.kind === 'match') return printPacket(result.packet);
  return `refused: ${result.candidates[0]?.refusal ?? 'no candidate'}`;
}

function known(instruction: string, packet: string): Known {
  return { instruction, packet: packet.replace('|*|', `|${HEAD}|`) };
}

describe('the same words are served, with any polite phrases around them', () => {
  test.each([
    ['Fetch the salary records for August 2024.', 'Could you please fetch the salary records for August 2024?'],
    ['Fetch the salary records for August 2024.', 'Hello, please fetch salary records for 2024-08. Thank you!'],
    ['Pay ABC Ltd \u00a34,200 for PO-441.', 'Please pay ABC Ltd 4200 GBP for PO-441, thanks.'],
    ['Cancel order 4711.', 'Cancel order #4711, please.'],
    ['Archive the account.', 'I would like you to archive the account.'],
    ['Report sales for the second quarter of 2026.', 'Report sales for Q2 2026.'],
    ['{"task":"fetch","res":"sales","period":"2026-05"}', '{"task": "fetch", "res": "sales", "period": "2026-05"}'],
  ])('%s / %s', (first, second) => {
    const packet = `FETCH|HR|${HEAD}|res:whatever`;
    expect(outcomeOf(match({ instruction: first, packet }, second))).toBe(packet);
  });
});

describe('a rewording is not served', () => {
  test.each([
    ['Fetch the salary records for August 2024.', 'Get the salary records for August 2024.'],
    ['Flag the invoices that are overdue.', 'Flag the overdue invoices.'],
    ['Archive the account.', 'The account should be archived.'],
    ['Merge tickets T-1 and T-2.', 'Merge ticket T-1 with T-2.'],
  ])('%s / %s', (first, second) => {
    expect(outcomeOf(match({ instruction: first, packet: `FETCH|HR|${HEAD}|res:whatever` }, second))).toMatch(
      /^refused/,
    );
  });
});

describe('values are filled in from the new instruction, in the notation of the packet', () => {
  test.each([
    ['report sales for Q2 2026', 'REPORT|SALES|*|period:2026-Q2', 'report sales for Q3 2027', 'period:2027-Q3'],
    [
      'report sales for Q2 2026',
      'REPORT|SALES|*|period:2026_Q2|subj:sales_q2_2026',
      'report sales for 1Q27',
      'period:2027_Q1|subj:sales_q1_2027',
    ],
    [
      'report sales for August 2024',
      'REPORT|SALES|*|period:2024-08|att:rpt://sales/2024-08:pdf',
      'report sales for 09/2025',
      'period:2025-09|att:rpt://sales/2025-09:pdf',
    ],
    [
      'report sales for the period ending 31 August 2024',
      'REPORT|SALES|*|period:2024-08',
      'report sales for the period ending 28 February 2025',
      'period:2025-02',
    ],
    [
      'report sales from 1 May 2026 to 3 June 2026',
      'REPORT|SALES|*|period:2026-05-01..2026-06-03',
      'report sales from 2 June 2026 to 9 July 2026',
      'period:2026-06-02..2026-07-09',
    ],
    [
      'pay invoice INV-9 from ABC Ltd over \u00a34,200',
      'PROC|FIN|*|amt:4200|ccy:GBP|sup:ABC-Ltd|match:INV-9',
      'pay invoice INV-17 from Northwind Traders GmbH over \u20ac980.50',
      'amt:980.50|ccy:EUR|sup:Northwind-Traders-GmbH|match:INV-17',
    ],
    [
      'pay ABC Ltd \u00a330 on net 30 terms',
      'PROC|FIN|*|amt:30|ccy:GBP|sup:ABC-Ltd|terms:net30',
      'pay ABC Ltd \u00a345 on net 30 terms',
      'amt:45|ccy:GBP|sup:ABC-Ltd|terms:net30',
    ],
    [
      'send the welcome letter to ana@x.com',
      'SEND|HR|*|to:ana@x.com|subj:welcome',
      'send the welcome letter to bob@y.org',
      'to:bob@y.org|subj:welcome',
    ],
    [
      'resolve complaint T-9912 with a discount of 10%',
      'RESOLVE|CS|*|filter:id=T-9912|rules:discount=10%',
      'resolve complaint T-7 with a discount of 15 percent',
      'filter:id=T-7|rules:discount=15%',
    ],
    [
      'report sales for last month',
      'REPORT|SALES|*|period:last_month',
      'report sales for this month',
      'period:this_month',
    ],
    ['report sales for last month', 'REPORT|SALES|*|period:2026-10', 'report sales for this month', 'period:2026-11'],
    ['report sales in APAC', 'REPORT|SALES|*|filter:region=APAC', 'report sales in EMEA', 'filter:region=EMEA'],
    ['export the leads as CSV', 'FETCH|SALES|*|res:leads|fmt:csv', 'export the leads as PDF', 'res:leads|fmt:pdf'],
    ['notify the sales team', 'SEND|HR|*|to:sales', 'notify the finance team', 'to:finance'],
    ['apply code WINTER25', 'PROC|MKT|*|filter:code=WINTER25', 'apply code SUMMER24', 'filter:code=SUMMER24'],
    [
      '{"task":"fetch","res":"sales","period":"2026-05"}',
      'FETCH|SALES|*|res:sales|period:2026-05',
      '{"task":"fetch","res":"sales","period":"2027-06"}',
      'res:sales|period:2027-06',
    ],
  ])('%s', (first, packet, second, wanted) => {
    const entry = known(first, packet);
    const [task, domain] = packet.split('|');
    expect(outcomeOf(match(entry, second))).toBe(`${task}|${domain}|${HEAD}|${wanted}`);
  });
});

describe('a pattern is rejected', () => {
  const CASES: readonly (readonly [Refusal, string, string, string?])[] = [
    ['negation', 'flag overdue invoices', 'do NOT flag overdue invoices'],
    ['negation', 'list customers with a contract', 'list customers without a contract'],
    ['negation', 'notify all managers', 'notify all except managers'],
    ['negation', 'flag active accounts', 'flag inactive accounts'],
    ['score', 'list incoming payments', 'list outgoing payments'],
    ['score', 'list invoices over \u00a340', 'list invoices under \u00a340'],
    ['action', 'approve invoice INV-1', 'review invoice INV-1'],
    ['action', 'open the closed tickets', 'close the open tickets'],
    ['slot-kind', 'report sales for August 2024', 'report sales for Q3 2024'],
    ['slot-kind', 'report sales for August 2024', 'report sales'],
    ['slot-kind', 'cancel order PO-1', 'cancel order INV-1'],
    ['score', 'close ticket 4711', 'close account 4711'],
    ['slot-unplaced', 'report sales for August 2024', 'report sales for September 2024'],
    [
      'slot-unplaced',
      'report sales for August 2024',
      'report sales for May 2024',
      'period:2024-08|src_prev:gl://2024-07',
    ],
    ['slot-unplaced', 'pay ABC Ltd \u00a34200', 'pay ABC Ltd \u00a34300', 'amt:4200|ccy:GBP|rules:vat=840'],
    [
      'slot-unplaced',
      'create a mailbox for Jane Smith',
      'create a mailbox for Tom Baker',
      'filter:name=Jane-Smith|subj:for_j.smith',
    ],
    ['slot-unplaced', 'create a mailbox for Jane Smith', 'create a mailbox for Tom Baker', 'filter:usr=j.smith'],
    ['slot-ambiguous', 'list 30 invoices over 30 days', 'list 40 invoices over 50 days', 'filter:n=30'],
    ['slot-ambiguous', 'pay Acme for July', 'pay Northwind Traders for July', 'filter:name=Acme'],
    ['order', 'send the finance report to HR', 'send the HR report to finance'],
    ['order', 'fetch the manager of the employee', 'fetch the employee of the manager'],
    ['order', 'approve the invoice and reject the claim', 'approve the claim and reject the invoice'],
    ['order', 'move ticket T-1 from ana@x.com to bob@y.org', 'move ticket T-1 to ana@x.com from bob@y.org'],
    ['score', 'order 2026 chairs', 'order chairs in 2026', 'filter:qty=2026'],
    ['score', 'order 2026 chairs', 'order chairs for 2027', 'filter:qty=2026'],
    ['score', 'order chairs in 2026', 'order 2027 chairs', 'period:2026'],
    ['score', 'order 12 chairs', 'order chair 12', 'filter:qty=12'],
    ['score', 'order 12 office chairs', 'order office chair 9', 'filter:qty=12'],
    ['score', 'order chair 12', 'order 9 chairs', 'filter:nr=12'],
    ['slot-kind', 'close ticket 12', 'close 12 tickets', 'filter:nr=12'],
    ['slot-kind', 'run job 9', 'run the job at 9', 'filter:nr=9'],
    ['score', 'fetch employee salaries', 'fetch former employee salaries'],
    ['score', 'fetch IT tickets', 'fetch tickets'],
    ['score', 'report spend by department', 'report department spend'],
  ];

  test.each(CASES.map(([refusal, first, second, fields = 'res:x']) => [refusal, first, second, fields] as const))(
    'for %s: %s',
    (refusal, first, second, fields) => {
      const result = match({ instruction: first, packet: `REPORT|FIN|${HEAD}|${fields}` }, second);
      const candidates = result.kind === 'none' ? result.candidates : [];
      // Patterns that share too few terms are not considered at all.
      if (candidates.length === 0) {
        expect(result.kind).toBe('none');
        return;
      }
      expect(candidates[0]?.refusal).toBe(refusal);
      expect(candidates[0]?.reason).toMatch(/^[A-Z"].*\.$/);
    },
  );

  test('for the domain, whatever the registry finds', () => {
    const [entry] = registryOf([known('fetch the list', 'FETCH|HR|*|res:x')]).entries();
    const matcher = createMatcher({ registry: { candidates: () => [entry!] } });
    const request = { instruction: 'fetch the list', domain: 'FIN', returnAgent: 'A', priority: '1', now: NOW };
    expect(outcomeOf(matcher.match(request))).toBe('refused: domain');
  });

  test('if the stored packet is invalid', () => {
    const [entry] = registryOf([known('fetch the budgets', 'FETCH|HR|*|res:x')]).entries();
    const broken = { ...entry!, packet: `FETCH|HR|${HEAD}|res:x|res:y` };
    const matcher = createMatcher({ registry: { candidates: () => [broken] } });
    const request = { instruction: 'fetch the budgets', domain: 'HR', returnAgent: 'A', priority: '1', now: NOW };
    expect(outcomeOf(matcher.match(request))).toBe('refused: invalid-packet');
  });
});

describe('relative times', () => {
  const stored = known('report sales for last month', 'REPORT|SALES|*|period:2026-10');

  test('mean another month if the month has changed', () => {
    const later = { now: Date.UTC(2026, 11, 3) };
    expect(outcomeOf(match(stored, 'produce the report'))).toContain('refused');
    expect(outcomeOf(match(stored, 'report sales for last month', later))).toBe(`REPORT|SALES|${HEAD}|period:2026-11`);
  });

  test('do not matter to a packet without a time', () => {
    const packet = `REPORT|SALES|${HEAD}|res:sales|rules:days=30`;
    const entry = { instruction: 'report sales of the last 30 days', packet };
    expect(outcomeOf(match(entry, entry.instruction, { now: Date.UTC(2027, 4, 5) }))).toBe(packet);
  });

  test('reject a packet with a date that was computed from them', () => {
    const packet = `REPORT|SALES|${HEAD}|filter:date>=2026-10-23`;
    const entry = { instruction: 'report sales of the last 30 days', packet };
    expect(outcomeOf(match(entry, entry.instruction))).toBe(packet);
    expect(outcomeOf(match(entry, entry.instruction, { now: Date.UTC(2026, 10, 25) }))).toBe('refused: slot-unplaced');
  });
});

describe('agent and priority come from the request', () => {
  const stored = known('fetch the budgets for HR-Agent', 'FETCH|HR|*|res:budget');

  test('whatever the stored packet contains', () => {
    const entry = known('fetch the budgets', 'FETCH|HR|*|res:budget');
    expect(outcomeOf(match(entry, 'fetch the budgets', { returnAgent: 'B', priority: '3' }))).toBe(
      'FETCH|HR|return:B|p:3|aacp:1.1|res:budget',
    );
  });

  test('and an instruction that names another agent for the answer is rejected', () => {
    const entry = { ...stored, returnAgent: 'HR-Agent' };
    expect(outcomeOf(match(entry, stored.instruction, { returnAgent: 'HR-Agent' }))).toContain('return:HR-Agent');
    expect(outcomeOf(match(entry, stored.instruction, { returnAgent: 'FIN-Agent' }))).toBe('refused: contradiction');
  });
});

describe('of several patterns', () => {
  const packets = [1, 2, 3, 4, 5, 6, 7, 8].map((number) => ({
    instruction: `${'please '.repeat(number - 1)}flag overdue invoices`,
    packet: `FLAG|FIN|${HEAD}|res:x${number}`,
  }));
  const request = {
    instruction: 'flag the overdue invoices',
    domain: 'FIN',
    returnAgent: 'A',
    priority: '1',
    now: NOW,
  };

  test('the one with the highest score is served, and the next best ones are reported', () => {
    const result = createMatcher({ registry: registryOf(packets) }).match(request);
    expect(outcomeOf(result)).toBe(`FLAG|FIN|${HEAD}|res:x1`);
    expect(result.kind === 'match' && result.others.length).toBe(5);
    const scores = result.kind === 'match' ? result.others.map(({ score }) => score) : [];
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
  });

  test('the answer does not depend on the order in which they were stored', () => {
    const there = createMatcher({ registry: registryOf(packets) }).match(request);
    const back = createMatcher({ registry: registryOf([...packets].reverse()) }).match(request);
    expect(outcomeOf(back)).toBe(outcomeOf(there));
  });

  test('a threshold limits the difference in polite phrases', () => {
    const registry = registryOf(packets.slice(7, 8));
    expect(createMatcher({ registry, threshold: 0.5 }).match(request).kind).toBe('match');
    expect(createMatcher({ registry, threshold: 1 }).match(request).kind).toBe('none');
  });
});

describe('for any instruction', () => {
  const words = fc.constantFrom(
    ...[
      'fetch',
      'flag',
      'not',
      'the',
      'invoice',
      'PO-441',
      '\u00a34,200',
      'Q2 2026',
      'to',
      'from',
      'and',
      ',',
      '.',
      'ABC Ltd',
      'without',
      'last month',
      '__proto__',
      'constructor',
      '|',
      '"',
      ':',
      'please',
      '31 August 2024',
      'HR-Agent',
      'toString',
      'ana@x.com',
      '5 or more',
    ],
  );
  const instructions = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(words, { minLength: 1, maxLength: 14 }).map((parts) => parts.join(' ')),
  );
  const packet = `FLAG|FIN|${HEAD}|res:invoice|match:PO-441|amt:4200|ccy:GBP|sup:ABC-Ltd|period:2026-Q2|to:ana@x.com`;

  test('there is an answer, and a served packet is valid', () => {
    fc.assert(
      fc.property(instructions, instructions, (first, second) => {
        const result = match({ instruction: first, packet }, second);
        if (result.kind === 'match') expect(validatePacket(result.packet).errors).toEqual([]);
      }),
    );
  });

  test('the same instruction gets its own packet or none', () => {
    fc.assert(
      fc.property(instructions, (instruction) => {
        expect([packet, 'refused: no candidate']).toContain(outcomeOf(match({ instruction, packet }, instruction)));
      }),
    );
  });

  test.each([
    'Fetch without Q2 2026 and Q2 2026 fetch',
    'without Q2 2026 and Q2 2026 fetch',
    'not 31 August 2024 , 31 August 2024 and please',
  ])('also if it contains a time twice: %s', (instruction) => {
    expect([packet, 'refused: no candidate']).toContain(outcomeOf(match({ instruction, packet }, instruction)));
  });

  test('a served amount, id or quarter is the one of the new instruction', () => {
    const values = fc.record({
      id: fc.integer({ min: 1, max: 99_999 }),
      amount: fc.integer({ min: 1, max: 9_999_999 }),
      quarter: fc.integer({ min: 1, max: 4 }),
      year: fc.integer({ min: 1990, max: 2080 }),
    });
    fc.assert(
      fc.property(values, values, (one, other) => {
        const text = ({ id, amount, quarter, year }: typeof one): string =>
          `Approve PO-${id} for \u00a3${amount.toLocaleString('en-GB')} in Q${quarter} ${year}.`;
        const written = ({ id, amount, quarter, year }: typeof one): string =>
          `PROC|FIN|${HEAD}|match:PO-${id}|amt:${amount}|ccy:GBP|period:${year}-Q${quarter}`;
        const result = match({ instruction: text(one), packet: written(one) }, text(other));
        if (result.kind === 'match') expect(printPacket(result.packet)).toBe(written(other));
      }),
    );
  });

  test('100 KB are rejected without being parsed', () => {
    expect(match({ instruction: 'x', packet }, 'flag the invoice '.repeat(6000))).toEqual({
      kind: 'none',
      candidates: [],
    });
  });
});

describe('capital letters in a served packet are those of the new instruction', () => {
  test.each([
    ['close ticket T-9', 'PROC|CS|*|filter:id=T-9', 'Close ticket t-9.', 'filter:id=t-9'],
    ['mail Ana@x.com the offer', 'SEND|CS|*|to:Ana@x.com', 'mail ana@x.com the offer', 'to:ana@x.com'],
    ['publish "Summer Deals"', 'SEND|CS|*|subj:Summer_Deals', 'publish "summer deals"', 'subj:summer_deals'],
  ])('%s', (first, packet, second, wanted) => {
    const [task, domain] = packet.split('|');
    expect(outcomeOf(match(known(first, packet), second))).toBe(`${task}|${domain}|${HEAD}|${wanted}`);
  });

  test('and a name in which only capital letters differ is not filled in', () => {
    const stored = known('Archive the newsletter drafts of John Smith.', 'PROC|MKT|*|filter:name=John-Smith');
    expect(outcomeOf(match(stored, 'ARCHIVE THE NEWSLETTER DRAFTS OF JOHN MCVEY'))).toMatch(/^refused/);
  });
});

describe('an additional small word or mark rejects the pattern', () => {
  const DELETE = 'Delete the employee record of E-100.';
  const PAY = 'Pay £500 to supplier Acme Ltd.';
  test.each([
    ['a negation behind it', DELETE, 'Delete the employee record of E-100. Do not.'],
    ['a negation with nothing behind it', DELETE, 'Delete the employee record of E-100. You must not.'],
    ['a negation before it', DELETE, 'No. Delete the employee record of E-100.'],
    ['a question', DELETE, 'Did you delete the employee record of E-100?'],
    ['an order as a question', DELETE, 'Delete the employee record of E-100?'],
    ['a statement', DELETE, 'They delete the employee record of E-100.'],
    ['a minus', PAY, 'Pay -£500 to supplier Acme Ltd.'],
    ['brackets of accountants', PAY, 'Pay (£500) to supplier Acme Ltd.'],
    ['tax', 'Process £500 plus VAT for Acme Ltd.', 'Process £500 including VAT for Acme Ltd.'],
    ['all for one', 'Delete a ticket of customer C-100.', 'Delete all tickets of customer C-100.'],
    ['another thing of the same', 'Delete the record of customer C-100.', 'Delete customer C-100.'],
    ['whose it is', 'Send our contract to Acme Ltd.', 'Send their contract to Acme Ltd.'],
    ['the side of a name', 'Create an invoice for Acme Ltd.', 'Create an invoice from Acme Ltd.'],
    ['what an address is for', 'Send the report to a@x.com.', 'Send the report about a@x.com.'],
    ['several ids in one', 'Process invoice INV-1.', 'Process invoice INV-1/INV-2.'],
  ])('%s', (_what, first, second) => {
    expect(outcomeOf(match({ instruction: first, packet: `PROC|HR|${HEAD}|res:whatever` }, second))).toMatch(
      /^refused/,
    );
  });
});
