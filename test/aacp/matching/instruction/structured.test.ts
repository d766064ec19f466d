import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { relativeAnchor } from '../../../../src/aacp/matching/instruction/relative-anchor.js';
import { asSentence } from '../../../../src/aacp/matching/instruction/structured.js';

describe('pairs and flat objects are read as sentences', () => {
  test.each([
    ['fetch leave_balance employee=E310 format=json', 'fetch leave balance, employee E310, as json'],
    ['action=close ticket=T-9 reason=sla_breach', 'close ticket T-9, because of sla breach'],
    ['{"task":"escalate","ticket":"T-1177","level":2}', 'escalate ticket T-1177, to level 2'],
    ['close_case id=K-551 notify_customer=false', 'close case, id K-551, notify customer "false"'],
    ['get ticket=T-2290 fields=subject,owner', 'get ticket T-2290, fields subject, owner'],
    ['send report=sales to=a@x.com', 'send report sales, to a@x.com'],
  ])('%s', (instruction, sentence) => {
    expect(asSentence(instruction)).toBe(sentence);
  });
});

describe('what is no list of pairs stays as it is', () => {
  test.each([
    'flag invoices with amount = 40',
    'x=1',
    'set x=1 and then y=2 please',
    '{"task":"close"}',
    '{"task":"close","task":"open","id":1}',
    '{"task":"close","where":{"id":1}}',
    '{"task":"close","text":"a \\"b\\" c"}',
    '[1,2]',
    '{"a":1,"b":',
  ])('%s', (instruction) => {
    expect(asSentence(instruction)).toBe(instruction);
  });
});

test('relative times are found in pairs', () => {
  expect(relativeAnchor('fetch res=sales period=last_month', Date.UTC(2026, 10, 22))).toBe('2026-11');
});

test('any text has a sentence', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json()), (text) => {
      expect(typeof asSentence(text)).toBe('string');
    }),
  );
});
