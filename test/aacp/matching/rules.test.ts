/** Rules as patterns: phrases with slots, steps of workflows, and rules that have only a name. */
import { describe, expect, test } from 'vitest';
import { printPacket } from '../../../src/aacp/index.js';
import type { MatchRequest } from '../../../src/aacp/matching/match.js';
import { createMatcher, type MatcherOptions } from '../../../src/aacp/matching/matcher.js';
import { memoryRegistry } from '../../../src/aacp/registry/memory.js';
import type { Rule } from '../../../src/aacp/rules/rule.js';
import { entryOf } from './evaluate-pairs.js';

const HEAD = 'return:A|p:1|aacp:1.1';

function rule(packet: string, phrases: readonly string[], more: Partial<Rule> = {}): Rule {
  const [task = '', domain = ''] = packet.split('|');
  return {
    ...{
      id: 'one',
      name: 'One',
      description: '',
      task,
      domain,
      packet: packet.replace('|*|', '|return:X|p:2|aacp:1.1|'),
    },
    ...{ tags: [], version: '1', source: 'test', phrases, workflow: null, ...more },
  };
}

function outcomeOf(
  rules: readonly Rule[],
  instruction: string,
  options: Partial<MatcherOptions & MatchRequest> = {},
): string {
  const { registry = null, encodeStep, ...request } = options;
  const domain = rules[0]?.domain ?? 'HR';
  const result = createMatcher({ rules, registry, encodeStep }).match({
    ...{ instruction, domain, returnAgent: 'A', priority: '1', now: Date.UTC(2026, 10, 22), ...request },
  });
  if (result.kind === 'match') return printPacket(result.packet);
  return `refused: ${result.candidates[0]?.refusal ?? 'no candidate'}`;
}

describe('a phrase is filled from the instruction', () => {
  test.each([
    [
      'retrieve the salary records for {period}',
      'FETCH|HR|*|period:{period}',
      'Retrieve the salary records for Aug 2024, please',
      'period:2024-08',
    ],
    [
      'retrieve the salary records for {period}',
      'FETCH|HR|*|period:{period}',
      'retrieve salary records for last month',
      'period:2026-10',
    ],
    [
      'report sales for {quarter}',
      'REPORT|HR|*|period:{quarter}',
      'report sales for the second quarter of 2026',
      'period:2026-Q2',
    ],
    [
      'schedule the review for {date}',
      'PROC|HR|*|filter:on={date}',
      'please schedule the review for 3 May 2026',
      'filter:on=2026-05-03',
    ],
    ['close ticket {id}', 'PROC|HR|*|filter:id={id}', 'Please close ticket T-9912.', 'filter:id=T-9912'],
    ['close ticket {id}', 'PROC|HR|*|filter:id={id}', 'close ticket 4711', 'filter:id=4711'],
    [
      'pay {amount} to {supplier:name}',
      'PROC|HR|*|amt:{amount.value}|ccy:{amount.currency}|sup:{supplier}',
      'pay \u00a31,250.50 to Northwind Traders Ltd',
      'amt:1250.50|ccy:GBP|sup:Northwind-Traders-Ltd',
    ],
    ['invite {email}', 'SEND|HR|*|to:{email}', 'invite ana@x.com', 'to:ana@x.com'],
    ['list the top {number} customers', 'FETCH|HR|*|filter:top={number}', 'list the top 25 customers', 'filter:top=25'],
    [
      'revoke all access of user {user:text}',
      'PROC|HR|*|filter:usr={user}',
      'Please revoke all access of the user j.smith.',
      'filter:usr=j.smith',
    ],
    [
      'assign the licences {items:list} to user {user:text}',
      'PROC|HR|*|filter:usr={user}|req:{items}',
      'assign the licences Slack, Jira and VPN to user jsmith',
      'filter:usr=jsmith|req:Slack,Jira,VPN',
    ],
    ['pay on net {days:number} terms', 'PROC|HR|*|terms:net{days}', 'pay on net 60 terms', 'terms:net60'],
  ])('%s', (phrase, packet, instruction, wanted) => {
    const [task, domain] = packet.split('|');
    expect(outcomeOf([rule(packet, [phrase])], instruction)).toBe(`${task}|${domain}|${HEAD}|${wanted}`);
  });

  test.each([
    ['slot-missing', 'report sales for {period}', 'period:{period}', 'report sales for August'],
    ['slot-kind', 'report sales for {period}', 'period:{period}', 'report sales'],
    ['slot-kind', 'report sales for {period}', 'period:{period}', 'report sales for Q2 2026'],
    ['slot-kind', 'report sales', 'res:sales', 'report sales for Q2 2026'],
    ['slot-ambiguous', 'pay {amount}', 'amt:{amount.value}|ccy:{amount.currency}', 'pay $40'],
    ['slot-ambiguous', 'book it for {date}', 'filter:on={date}', 'book it for 03/04/2026'],
    [
      'slot-unplaced',
      'list the top 10 customers of {name}',
      'filter:top=10,name={name}',
      'list the top 20 customers of Acme',
    ],
    [
      'slot-missing',
      'revoke all access of user {user:text}',
      'filter:usr={user}',
      'revoke all access of user j.smith except for VPN',
    ],
    ['invalid-packet', 'send the note {note:text} to HR', 'subj:{note}', 'send the note "a|return:B" to HR'],
    ['negation', 'report sales for {period}', 'period:{period}', 'do not report sales for May 2026'],
    ['score', 'report sales for {period}', 'period:{period}', 'report lost sales for May 2026'],
  ])('or the rule is rejected for %s: %s', (refusal, phrase, fields, instruction) => {
    const answer = outcomeOf([rule(`REPORT|HR|*|${fields}`, [phrase])], instruction);
    const acceptable =
      refusal === 'slot-missing'
        ? ['refused: slot-missing', 'refused: negation', 'refused: slot-kind']
        : [`refused: ${refusal}`];
    expect(acceptable).toContain(answer);
  });
});

describe('a currency in the phrase', () => {
  const fields = 'amt:{amount.value}|ccy:{amount.currency}';
  const pounds = [rule(`PROC|HR|*|${fields}`, ['pay \u00a3{amount} to {name}'])];
  const dollars = [rule('PROC|HR|*|amt:{sum}|ccy:USD', [`pay \${sum:number} to {name}`])];

  test('is the one of the instruction', () => {
    expect(outcomeOf(pounds, 'pay \u00a325.50 to Acme Ltd')).toBe(`PROC|HR|${HEAD}|amt:25.50|ccy:GBP`);
    expect(outcomeOf(pounds, 'pay 25 GBP to Acme Ltd')).toBe(`PROC|HR|${HEAD}|amt:25|ccy:GBP`);
    expect(outcomeOf(dollars, 'pay $25 to Acme Ltd')).toBe(`PROC|HR|${HEAD}|amt:25|ccy:USD`);
  });

  test.each([
    [pounds, 'pay \u20ac25 to Acme Ltd'],
    [pounds, 'pay $25 to Acme Ltd'],
    [dollars, 'pay \u00a325 to Acme Ltd'],
    [dollars, 'pay 25 to Acme Ltd'],
  ])('or the rule is rejected: %#', (rules, instruction) => {
    expect(outcomeOf(rules, instruction)).toMatch(/^refused/);
  });
});

describe('a rule with a step', () => {
  const stepped = rule('FETCH|HR|*|period:{period}', ['fetch salaries for {period}'], {
    workflow: { encoder: 'E', method: 'm', args: { period: '{period}', fields: ['a', '{period}'] } },
  });

  test('gets its packet from the step, with the values as inputs', () => {
    const calls: unknown[] = [];
    const encodeStep: MatcherOptions['encodeStep'] = (...call) => {
      calls.push(call);
      return { packet: 'FETCH|HR|return:S|p:3|aacp:1.1|res:made' };
    };
    expect(outcomeOf([stepped], 'fetch salaries for May 2026', { encodeStep })).toBe(`FETCH|HR|${HEAD}|res:made`);
    expect(JSON.parse(JSON.stringify(calls))).toEqual([['E', 'm', { period: '2026-05', fields: ['a', '2026-05'] }]]);
  });

  test('is served with its own packet if steps are not supported', () => {
    expect(outcomeOf([stepped], 'fetch salaries for May 2026')).toBe(`FETCH|HR|${HEAD}|period:2026-05`);
  });

  test.each([
    ['the step makes several packets', () => [{ packet: 'ACK|HR|return:A|aacp:1.1' }]],
    [
      'the step failed',
      () => {
        throw new Error('No such step.');
      },
    ],
    ['what it makes is not a packet', () => ({ packet: 'nothing' })],
  ])('is rejected when %s', (_why, encodeStep) => {
    expect(outcomeOf([stepped], 'fetch salaries for May 2026', { encodeStep })).toBe('refused: invalid-packet');
  });
});

describe('a rule without phrases', () => {
  const named = rule('FETCH|HR|*|res:absence|filter:status=approved|period:2026-05', [], {
    name: 'Fetch absence records',
    description: 'Approved absences of employees.',
    tags: ['sick-leave', 'holiday'],
  });

  test.each(['fetch the absence records', 'Please fetch absence records.'])(
    'is served for an instruction with the words of its name: %s',
    (instruction) => {
      expect(outcomeOf([named], instruction)).toBe(
        `FETCH|HR|${HEAD}|res:absence|filter:status=approved|period:2026-05`,
      );
    },
  );

  test.each([
    ['action', 'delete the absence records'],
    ['score', 'fetch the absence records of contractors'],
    ['score', 'fetch the records of employees'],
    ['slot-kind', 'fetch the absence records for 2026-06'],
    ['negation', 'fetch the absence records without sick leave'],
  ])('is rejected for %s: %s', (refusal, instruction) => {
    expect(['refused: no candidate', `refused: ${refusal}`]).toContain(outcomeOf([named], instruction));
  });
});

test('an entry is preferred to a rule with the same score, whose packet may contain more', () => {
  const registry = memoryRegistry({ now: () => 0 });
  const first = { instruction: 'close the books', domain: 'HR', returnAgent: 'A', priority: '1' };
  registry.put(entryOf({ ...first, packet: `PROC|HR|${HEAD}|res:stored` }));
  const ruled = rule('PROC|HR|*|res:ruled', ['close the books']);
  expect(outcomeOf([ruled], 'close the books')).toContain('res:ruled');
  expect(outcomeOf([ruled], 'close the books', { registry })).toContain('res:stored');
});

test('a rule of another domain is not considered', () => {
  expect(outcomeOf([rule('PROC|FIN|*|res:x', ['close the books'])], 'close the books', { domain: 'HR' })).toBe(
    'refused: no candidate',
  );
});

test('phrases and packets that cannot be parsed are never served', () => {
  const broken = [
    rule('PROC|HR|*|res:x', ['close the {books']),
    rule('PROC|HR|*|res:{', ['close the books']),
    rule('nothing', ['close the books'], { domain: 'HR' }),
  ];
  expect(outcomeOf(broken, 'close the books', { domain: 'HR' })).toMatch(/^refused/);
});
