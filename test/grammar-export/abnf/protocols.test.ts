/** The ABNF grammars of the protocols in apg-js, on the conformance cases. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { tryParsePacket } from '../../../src/aacp/index.js';
import { tryParseFrame } from '../../../src/accp/index.js';
import { checkAbnf } from '../../../src/grammar-export/abnf/check.js';
import { parseAbnf } from '../../../src/grammar-export/abnf/parse.js';
import { accpCases, packetCases } from '../../conformance/fixtures.js';
import { recognizerOf } from '../../fuzz/apg.js';

const frames = recognizerOf('accp');
const packets = recognizerOf('aacp');

test.each(['accp', 'aacp'])('the rules of %s are consistent', (protocol) => {
  const text = readFileSync(new URL(`../../../grammar/${protocol}.abnf`, import.meta.url), 'utf8');
  expect(checkAbnf(parseAbnf(text))).toEqual([]);
});

describe('ACCP', () => {
  const cases = accpCases().filter(({ dialect }) => dialect === 'strict');
  const accepted = cases.filter(({ error }) => error === undefined);
  // ABNF cannot express the faults of the others.
  const refused = cases.filter(({ input, error }) => {
    const result = tryParseFrame(input);
    return error !== undefined && !result.ok && result.error.reason === 'syntax';
  });

  test.each(accepted)('$id is accepted', ({ input }) => {
    expect(frames(input)).toBe(true);
  });

  test.each(refused)('$id is rejected', ({ input }) => {
    expect(frames(input)).toBe(false);
  });

  test('conditions beyond ABNF are ignored', () => {
    const values = ['[[[[[[1]]]]]]', `-${'1'.repeat(1_001)}`, '{a:1,a:2}'];
    for (const value of values) {
      expect(tryParseFrame(`@a>b:c{k:${value}}`).ok).toBe(false);
      expect(frames(`@a>b:c{k:${value}}`)).toBe(true);
    }
  });

  test('there are cases of both kinds', () => {
    expect(accepted.length).toBeGreaterThan(60);
    expect(refused.length).toBeGreaterThan(30);
  });
});

describe('AACP', () => {
  const cases = packetCases();

  test.each(cases)('$id', ({ packet, error }) => {
    expect(packets(packet)).toBe(error === undefined);
  });

  test.each(['\u00e9', '\u{1f600}', '\u0085', '\ud800', 'a  b', ''])('a value may be %j', (value) => {
    expect(tryParsePacket(`A|B|k:${value}|l:m`).ok).toBe(true);
    expect(packets(`A|B|k:${value}|l:m`)).toBe(true);
  });

  test.each([' a', 'a ', ' ', 'a\tb', '\u007f', 'a|b'])('a value may not be %j', (value) => {
    expect(tryParsePacket(`A|B|k:${value}|l:m`).ok).toBe(false);
    expect(packets(`A|B|k:${value}|l:m`)).toBe(false);
  });
});
