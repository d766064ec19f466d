import { describe, expect, it } from 'vitest';
import { encodeStep } from '../../../src/aacp/encoders/index.js';
import { printPacket } from '../../../src/aacp/index.js';
import { createMatcher } from '../../../src/aacp/matching/matcher.js';
import { bundledRules } from '../../../src/aacp/rules/index.js';

const { rules } = bundledRules();
const matcher = createMatcher({ rules, registry: null, encodeStep });

function serve(instruction: string, domain: string): { readonly id: string; readonly packet: string } | null {
  const now = Date.UTC(2026, 8, 15);
  const result = matcher.match({ instruction, domain, returnAgent: 'Some-Agent', priority: '3', now });
  if (result.kind === 'none' || result.candidate.source.kind !== 'rule') return null;
  return { id: result.candidate.source.rule.id, packet: printPacket(result.packet) };
}

/** Texts for a slot, by its name or its kind; the second of a kind is different. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  period: ['August 2026', 'July 2026'],
  quarter: ['Q3 2026'],
  date: ['31 August 2026'],
  id: ['A-4711', 'B-4712'],
  amount: ['£4,200'],
  name: ['Contoso Ltd'],
  number: ['45'],
  list: ['Slack, VPN and Jira'],
  tickets: ['T-11, T-12 and T-13'],
  username: ['j.smith'],
  department: ['Sales'],
  role: ['engineer'],
  risk: ['high'],
  recommendation: ['negotiate'],
  clause: ['7'],
  issue: ['unlimited liability'],
};

function instructionOf(phrase: string): string {
  const counts = new Map<string, number>();
  return phrase.replace(/\{(\w+)(?::(\w+))?\}/g, (_, name: string, kind: string = name) => {
    const key = TEXTS[name] === undefined ? kind : name;
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    return TEXTS[key]![count]!;
  });
}

describe('an instruction like a phrase of a bundled rule', () => {
  const phrases = rules.flatMap(({ id, domain, phrases: own }) =>
    own.map((phrase) => [id, domain, instructionOf(phrase)] as const),
  );

  it.each(phrases)('is served by the rule %s, for %s: %s', (id, domain, instruction) => {
    expect(serve(instruction, domain)?.id).toBe(id);
    expect(serve(`Please ${instruction}.`, domain)?.id).toBe(id);
  });
});

const SERVED: readonly (readonly [instruction: string, domain: string, packet: string])[] = [
  [
    'Could you please retrieve the salary records of all active employees for Aug 2026? Thanks!',
    'HR',
    'FETCH|HR|return:Some-Agent|p:3|aacp:1.1|res:emp_salary|period:2026-08|filter:status=active|fmt:json',
  ],
  [
    'Please process the invoice from ABC Ltd for 4200 GBP against purchase order PO-441 on net 30 terms.',
    'FIN',
    'PROC|FIN|return:Some-Agent|p:3|aacp:1.1|res:invoice|amt:4200|ccy:GBP|sup:ABC-Ltd|match:PO-441|terms:net30',
  ],
  [
    'Process the invoice from ABC Ltd for €99.50 against purchase order PO-442.',
    'FIN',
    'PROC|FIN|return:Some-Agent|p:3|aacp:1.1|res:invoice|amt:99.50|ccy:EUR|sup:ABC-Ltd|match:PO-442',
  ],
  [
    'fetch the trial balance for last month',
    'FIN',
    'FETCH|FIN|return:Some-Agent|p:3|aacp:1.1|res:trial_balance|period:2026-08|fmt:json',
  ],
  [
    'Hi, please fetch the profile of customer C-4421.',
    'CS',
    'FETCH|CS|return:Some-Agent|p:3|aacp:1.1|res:customer_profile|filter:id=C-4421|fields:history,ltv,loyalty,open_tickets,sentiment|fmt:json',
  ],
  [
    'assign the licences Slack, VPN and Jira to user j.smith',
    'IT',
    'PROC|IT|return:Some-Agent|p:3|aacp:1.1|res:licence_assignment|filter:usr=j.smith|req:Slack,VPN,Jira',
  ],
  [
    'flag clause 7 of the NDA with Acme Ltd as high risk for unlimited liability and block the signature pending senior review',
    'LEGAL',
    'FLAG|LEGAL|return:Some-Agent|p:3|aacp:1.1|type:NDA|party:Acme-Ltd|clause:7|issue:unlimited_liability|risk:high|block:signature|req:senior_review',
  ],
  [
    'merge the duplicate tickets T-11, T-12 and T-13',
    'CS',
    'MERGE|CS|return:Some-Agent|p:3|aacp:1.1|res:tickets|src:T-11,T-12,T-13|issue:duplicate',
  ],
  [
    'log that USD 1,250.50 was spent on campaign Sunrise',
    'MKT',
    'LOG|MKT|return:Some-Agent|p:3|aacp:1.1|res:campaign_spend|filter:campaign=Sunrise|amt:1250.50|ccy:USD',
  ],
];

describe('instructions that people write', () => {
  it.each(SERVED)('%s (%s)', (instruction, domain, packet) => {
    expect(serve(instruction, domain)?.packet).toBe(packet);
  });

  it.each([
    ['fetch the trial balance', 'FIN'],
    ['fetch the draft trial balance for August 2026', 'FIN'],
    ['fetch the trial balance for August 2026', 'HR'],
    ['retrieve the salary records of all inactive employees for August 2026', 'HR'],
    ['retrieve the employee salary records for August 2026 and email them to the press', 'HR'],
    [
      'process the invoice from Contoso Ltd for £4,200 against purchase order PO-441 on net 45 terms but hold the payment',
      'FIN',
    ],
    ['process the invoice from Contoso Ltd against purchase order PO-441', 'FIN'],
    ['log that $1,250.50 was spent on campaign Sunrise', 'MKT'],
    ['do not revoke all access of user j.smith', 'IT'],
    ['revoke all access of user j.smith except VPN', 'IT'],
    ['restore all access of user j.smith', 'IT'],
    ['delete the profile of customer C-1', 'CS'],
    ['resolve complaints T-1 and T-2', 'CS'],
    ['route lead L-1 if its score is at most 70', 'SALES'],
    ['score lead L-1 with the SPIN framework', 'SALES'],
    ['flag the NDA with Contoso Ltd for legal review, risk level high unless it is signed', 'LEGAL'],
  ])('is not served if the rules do not contain it: %s (%s)', (instruction, domain) => {
    expect(serve(instruction, domain)).toBeNull();
  });
});
