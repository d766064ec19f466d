import { describe, expect, test } from 'vitest';
import { createFallbackEncoder } from '../../../../src/aacp/fallback/index.js';
import { caseOf, isSameCase, normaliseInstruction } from '../../../../src/aacp/matching/instruction/normalise.js';
import { memoryRegistry } from '../../../../src/aacp/registry/memory.js';

describe('capital letters distinguish instructions', () => {
  test.each([
    ['close ticket T-9', 'close ticket t-9'],
    ['publish "Summer Deals"', 'publish "summer deals"'],
    ['mail Ana@x.com', 'mail ana@x.com'],
    ['Rename "Alpha" to "alpha".', 'Rename "alpha" to "Alpha".'],
    ['Copy file Data_v1 to data_v1.', 'Copy file data_v1 to Data_v1.'],
    ['Replace key a1 by key A10.', 'Replace key A1 by key A10.'],
    ['Delete the folder /srv/Data.', 'Delete the folder /srv/data.'],
    ['Block user JSmith.', 'Block user jsmith.'],
    ['Reset password=Secret', 'Reset password=secret'],
    ['Set the token to AbCdEf.', 'Set the token to abcdef.'],
    ['set env=Prod tier=Gold', 'set env=prod tier=gold'],
    ['Rename the branch Main to main.', 'Rename the branch main to Main.'],
    ['Rename column Name to name.', 'Rename column Name to Name.'],
    ['Start job BILLING on host DB.', 'Start job billing on host db.'],
    ['Ship the laptops to US.', 'Ship the laptops to us.'],
    ['Forward the tickets to IT.', 'Forward the tickets to it.'],
    ['Send the report to WHO.', 'Send the report to who.'],
    ['WHO', 'who'],
    ['Limit it to 100 MB.', 'Limit it to 100 Mb.'],
    ['Order 5 MW.', 'Order 5 mW.'],
    ['Send Bill the report.', 'Send bill the report.'],
    ['Tell Us about AM.', 'Tell us about am.'],
    ['Set the label to "a  b".', 'Set the label to "a b".'],
    ['Set the label to "a\u00A0b".', 'Set the label to "a b".'],
    ['Set the label to "a\nb".', 'Set the label to "a b".'],
  ])('%s / %s', (one, other) => {
    expect([isSameCase(one, other), isSameCase(other, one)]).toEqual([false, false]);
    expect(caseOf(one)).not.toBe(caseOf(other));
  });
});

describe('capital letters of ordinary words do not distinguish instructions', () => {
  test.each([
    ['close ticket T-9', 'Close  Ticket T-9'],
    ['send the report', 'SEND THE REPORT'],
    ['forward it to us', 'FORWARD IT TO US'],
    ['close ticket T-9 for the customer', 'CLOSE TICKET T-9 FOR THE CUSTOMER'],
    [
      'List all invoices without a purchase order for Q2 2026.',
      'LIST ALL INVOICES WITHOUT A PURCHASE ORDER FOR Q2 2026.',
    ],
    ['mail Ana@x.com', 'mail Ana@X.COM'],
    ['generate the payroll report for Acme', 'Generate the Payroll Report for Acme'],
  ])('%s / %s', (one, other) => {
    expect([isSameCase(one, other), isSameCase(other, one)]).toEqual([true, true]);
    expect(caseOf(one)).toBe(caseOf(other));
  });

  test('positions at which capital letters count', () => {
    expect(caseOf('Close the TICKET')).toBe('');
    expect(caseOf('Close ticket T-9')).not.toBe(caseOf('Close ticket t-9'));
  });
});

test('a repeated instruction with another id is not answered with the packet of the first', async () => {
  const encoder = createFallbackEncoder({
    registry: memoryRegistry({ now: () => 0 }),
    model: async ({ instruction }) => {
      const id = instruction.slice(-3);
      return { text: `PROC|CS|return:CS-Agent|p:2|aacp:1.1|res:ticket|filter:id=${id}|req:close` };
    },
  });
  const options = { domain: 'CS' } as const;
  const first = await encoder.encode('Close ticket T-9', options);
  const again = await encoder.encode('CLOSE ticket T-9', options);
  const other = await encoder.encode('Close ticket t-9', options);
  await encoder.close();
  expect(first.packet).toContain('id=T-9');
  expect(again.packet).toBe(first.packet);
  expect(other.packet).toContain('id=t-9');
});

/** Texts, and the result of `' '.join(text.lower().split())` in CPython 3.11. */
const NORMAL_FORMS: readonly (readonly [text: string, normal: string])[] = [
  ['\u03A4\u0395\u039B\u039F\u03A3 now', '\u03C4\u03B5\u03BB\u03BF\u03C2 now'],
  ['\u03A3\u0391\u03A3 \u03A3', '\u03C3\u03B1\u03C2 \u03C3'],
  ['\u0391\u03A3\u200B\u0392', '\u03B1\u03C3\u200B\u03B2'],
  ['\u0391\u03A3\uFEFF', '\u03B1\u03C2\uFEFF'],
  ['\u0130I\u0131', 'i\u0307i\u0131'],
  ['\u212A \u212B \u1E9E', 'k \u00E5 \u00DF'],
  ['a\u0085b\u00A0c\u2028d\u001Ce', 'a b c d e'],
  ['\uFEFFa\u200Bb\u180Ec', '\uFEFFa\u200Bb\u180Ec'],
  ['\u{10400} \u{1F600}', '\u{10428} \u{1F600}'],
];

test.each(NORMAL_FORMS)('the normal form of %j is that of the reference', (text, normal) => {
  expect(normaliseInstruction(text)).toBe(normal);
});
