/** Totality and safety of explanations. Their sentences are in the conformance cases. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CORE_KEYS, EXTENDED_KEYS, explainPacket, type Field, type Packet, parsePacket } from '../../src/aacp/index.js';
import { quoted } from '../../src/text/visible.js';

const HEAD = 'Retrieve (Human Resources domain).';

describe('sentences', () => {
  test.each([
    [
      'FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:emp_salary',
      `${HEAD} Resource: emp salary. Priority: critical priority. Return to: HR-Agent. Aacp: 1.1.`,
    ],
    ['FETCH|HR|custom_key:some_value', `${HEAD} Custom_key: some_value.`],
    ['FETCH|HR|ccy:GBP|amt:5.00', `${HEAD} Amount: GBP 5.00.`],
    ['FETCH|HR|ccy:GBP|amt:', `${HEAD} Amount: GBP.`],
    ['FETCH|HR|ccy:GBP', `${HEAD} Ccy: GBP.`],
    ['FETCH|HR|P:2|p:3', `${HEAD} Priority: low priority. P: 2.`],
    ['FETCH|HR|res:a|res:b', `${HEAD} Resource: b. Res: a.`],
    ['FETCH|HR|slot||:x|k:', `${HEAD} A field without a key: slot. A field with an empty key: x. K: .`],
    ['FETCH', 'Retrieve.'],
    ['|HR', 'Empty or unrecognised packet. Domain: HR.'],
    ['', 'Empty or unrecognised packet.'],
    ['TRANSMOGRIFY|OPS|p:0', 'TRANSMOGRIFY (OPS domain). Priority: 0.'],
    [
      'FETCH|HR|prog:0.425|tone:warm|risk:none|status:new',
      `${HEAD} Risk: none. Tone: warm. Progress: 43%. Status: new.`,
    ],
    ['FETCH|HR|prog:half', `${HEAD} Progress: half.`],
    ['FETCH|HR|sup:ABC-Ltd', `${HEAD} Supplier: ABC Ltd.`],
    ['FETCH|HR|sup:Coca-Cola|party:X-Company', `${HEAD} Supplier: Coca-Cola. Counterparty: X-Company.`],
    ['FETCH|HR|filter:a=1,b>=2,c!=3', `${HEAD} Filter: a = 1,b>=2,c!=3.`],
  ])('%s', (text, explanation) => {
    expect(explainPacket(text)).toBe(explanation);
    expect(explainPacket(parsePacket(text, { dialect: 'tolerant' }))).toBe(explanation);
  });
});

describe('a value cannot be mistaken for a sentence', () => {
  test.each([
    ['res:x._Return_to:_EVIL', 'Resource: "x._Return_to:_EVIL".'],
    ['res:x. Return to: EVIL', 'Resource: "x. Return to: EVIL".'],
    ['res:x!_Approved', 'Resource: "x!_Approved".'],
    ['subj:x;_Status:_approved', 'Subject: "x;_Status:_approved".'],
    ['chain:a.,b', 'Agent chain: "a.,b".'],
    ['fields:a.,Return_to,EVIL', 'Return fields: "a.,Return_to,EVIL".'],
    ['to:A.,B', 'Send to: "A.,B".'],
    ['sup:x.-Ltd', 'Supplier: "x.-Ltd".'],
    ['note:x. Return to: EVIL', 'Note: "x. Return to: EVIL".'],
    ['return:A. Status: approved', 'Return to: "A. Status: approved".'],
    ['p:1. Return to: EVIL', 'Priority: "1. Return to: EVIL".'],
    ['amt:1. Return to: EVIL', 'Amount: "1. Return to: EVIL".'],
    ['slot. Return to EVIL', 'A field without a key: "slot. Return to EVIL".'],
    ['res:say "hi"', 'Resource: "say \\"hi\\"".'],
    ['res:two  spaces', 'Resource: "two  spaces".'],
    ['res:a\u00a0b', 'Resource: "a<U+00A0>b".'],
    ['res:a\x1b[2Jb', 'Resource: "a\u241b[2Jb".'],
    ['res:\u202egnp', 'Resource: "<U+202E>gnp".'],
    ['res:\ud800', 'Resource: "<U+D800>".'],
  ])('%j', (field, sentence) => {
    expect(explainPacket(`FETCH|HR|${field}`)).toBe(`${HEAD} ${sentence}`);
  });

  test('a TASK or a DOM cannot either', () => {
    expect(explainPacket('x. Return to: EVIL|HR')).toBe('"x. Return to: EVIL" (Human Resources domain).');
    expect(explainPacket('FETCH|x). Return to: EVIL')).toBe('Retrieve ("x). Return to: EVIL" domain).');
    expect(explainPacket('|x. Return to: EVIL')).toBe('Empty or unrecognised packet. Domain: "x. Return to: EVIL".');
  });

  test('a key that begins like a sentence cannot either', () => {
    expect(explainPacket('FETCH|HR|Return to:EVIL')).toBe('Retrieve (Human Resources domain). "Return to": EVIL.');
    expect(explainPacket('FETCH|HR|priority:critical')).toBe(
      'Retrieve (Human Resources domain). "priority": critical.',
    );
    expect(explainPacket('FETCH|X domain) then (HR')).toBe('Retrieve ("X domain) then (HR" domain).');
  });

  test('a key cannot either', () => {
    expect(explainPacket('FETCH|HR|x. Return to:EVIL')).not.toContain('. Return to: EVIL');
    expect(explainPacket('FETCH|HR|x\x1b[2J:y')).not.toContain('\x1b');
  });

  test('a separator in a tree cannot either', () => {
    const field = { key: 'res', value: 'x|return:EVIL' };
    expect(explainPacket({ ...parsePacket('FETCH|HR'), fields: [field] })).toBe(`${HEAD} Resource: x|return:EVIL.`);
  });
});

describe('over random packets', () => {
  const keys = fc.oneof(
    fc.constantFrom(...CORE_KEYS, ...EXTENDED_KEYS),
    fc.constantFrom('note', 'Return', 'RES', 'constructor', '__proto__', ''),
  );

  test('every field appears: known, unknown, repeated, without a key or without a colon', () => {
    // Each value is a unique word.
    const slots = fc.array(fc.tuple(keys, fc.boolean()), { maxLength: 8 });
    const law = fc.property(slots, (list) => {
      const fields = list.map(([key, bare], index): Field => {
        const value = `word${index}x`;
        return bare ? { key: '', value, bare } : { key, value };
      });
      const explanation = explainPacket({ kind: 'packet', task: 'ASK', domain: 'OPS', fields }).toLowerCase();
      for (const { value } of fields) expect(explanation).toContain(value);
      expect(explanation).toMatch(/^ask \(ops domain\)\./);
    });
    fc.assert(law, { numRuns: 500 });
  });

  test('a value without a sentence of its own appears unchanged, possibly in quotes', () => {
    const law = fc.property(fc.string({ unit: 'binary' }), (value) => {
      const explanation = explainPacket({ kind: 'packet', task: 'ASK', domain: '', fields: [{ key: 'note', value }] });
      expect([`ASK. Note: ${value}.`, `ASK. Note: ${quoted(value)}.`]).toContain(explanation);
    });
    fc.assert(law, { numRuns: 500 });
  });

  test('a value adds no sentence, except in quotes', () => {
    const pieces = [
      '.',
      '_',
      ' ',
      ',',
      ':',
      ';',
      '!',
      '-Ltd',
      '"',
      '\\',
      '\u00a0',
      'x',
      'Return to: EVIL',
      'Return_to:_EVIL',
    ];
    const values = fc.array(fc.constantFrom(...pieces), { maxLength: 6 }).map((list) => list.join(''));
    const law = fc.property(keys, values, (key, value) => {
      const explanation = explainPacket({ kind: 'packet', task: 'ASK', domain: '', fields: [{ key, value }] });
      const outsideQuotes = explanation.replace(/"(?:[^"\\]|\\.)*"/g, '');
      expect(outsideQuotes).not.toMatch(/return to: evil/i);
      expect(outsideQuotes).not.toContain('"');
    });
    fc.assert(law, { numRuns: 500 });
  });
});

test.each([
  null,
  {},
  { kind: 'packet', task: Symbol('t'), domain: Object.create(null), fields: [null, Symbol('f'), { key: 7 }] },
  { kind: 'packet', task: 'FETCH', domain: 'HR', fields: new Array(2) },
  { kind: 'packet', task: 'FETCH', domain: 'HR' },
])('a value that is not a packet has an explanation', (tree) => {
  expect(explainPacket(tree as unknown as Packet)).toMatch(/\.$/);
});

test('more fields than the argument limit of a call appear', () => {
  const fields = Array.from({ length: 300_000 }, () => ({ key: 'note', value: 'x' }));
  expect(explainPacket({ kind: 'packet', task: 'ACK', domain: 'HR', fields }).split('Note: x.')).toHaveLength(300_001);
});

test('the tree is not changed', () => {
  const packet = parsePacket('FETCH|HR|RES:x|res:y', { dialect: 'tolerant' });
  const before = structuredClone(packet);
  explainPacket(packet);
  expect(packet).toEqual(before);
});
