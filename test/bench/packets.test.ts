/** The straightforward port, which encoders are compared with, does the same work; and the requests to registries. */
import { describe, expect, test } from 'vitest';
import { entryOf, known } from '../../bench/aacp/instructions.js';
import {
  encodeRow,
  encodingRows,
  encodingRunners,
  explainingRunners,
  packetTexts,
  splitEncodeRow,
  validatingRunners,
} from '../../bench/aacp/packet-work.js';
import { hitRates, openLines } from '../../bench/aacp/registry-work.js';
import { splitExplain } from '../../bench/aacp/split-explain.js';
import { splitValidate } from '../../bench/aacp/split-validate.js';
import { searchRunner } from '../../bench/suites/registry.js';
import { validateAsSdkPy } from '../../src/aacp/compat.js';
import { explainPacket, validatePacket } from '../../src/aacp/index.js';

const rows = encodingRows();
const texts = packetTexts();

describe('the port', () => {
  test.each(rows)('$id: encodes the packet that pegwire encodes', (row) => {
    expect(splitEncodeRow(row).packet).toBe(row.packetDraft11);
    expect(encodeRow(row).packet).toBe(row.packetDraft11);
  });

  test('covers the raw encoder and three workflows', () => {
    expect(new Set(rows.map(({ encoder }) => encoder))).toEqual(
      new Set(['RuleBasedEncoder', 'PayrollEncoder', 'InvoiceEncoder', 'ContractEncoder']),
    );
    expect(rows.length).toBeGreaterThan(30);
  });

  test('rejects an invalid packet', () => {
    const row = { ...rows[0]!, encoder: 'RuleBasedEncoder', method: 'encode' };
    const args = { task: 'EXPLODE', domain: 'HR', return_agent: 'X' };
    expect(() => splitEncodeRow({ ...row, args })).toThrow('EXPLODE');
    expect(() => encodeRow({ ...row, args })).toThrow('EXPLODE');
  });

  test.each(texts)('has the verdict of pegwire and of the reference SDK on %j', (text) => {
    const verdict = splitValidate(text);
    const sdk = validateAsSdkPy(text);
    // A control character that the reference SDK accepts.
    const plain = text.replaceAll('\n', '_');
    expect(splitValidate(plain).valid).toBe(validatePacket(plain).valid);
    expect(verdict.errors).toHaveLength(sdk.errors.length);
    // The SDK's own version is 1.2, about which it warns.
    expect(verdict.warnings).toHaveLength(sdk.warnings.length - 1);
  });

  test.each(['', 'FETCH', '|HR|return:A|aacp:1.1', 'FETCH||return:A|aacp:1.1', 'FETCH|HR|aacp:1.1', 'FETCH|HR|p:1'])(
    'rejects %j, as pegwire does',
    (text) => {
      expect(splitValidate(text).valid).toBe(false);
      expect(validatePacket(text).valid).toBe(false);
    },
  );

  test('explains the packets of the reference SDK as pegwire does, except for spaces in names and the comparison of scores', () => {
    const alike = texts.filter((text) => splitExplain(text) === explainPacket(text));
    expect(alike.length / texts.length).toBeGreaterThan(0.8);
  });

  test('is raced over the same packets', () => {
    for (const { pass } of encodingRunners(rows)) expect(pass()).toBe(rows.length);
    for (const { pass } of [...validatingRunners(texts), ...explainingRunners(texts)])
      expect(pass()).toBe(texts.length);
  });
});

describe('the instructions in the registries', () => {
  test('are all different, also for another month', () => {
    const numbers = [...Array(20_000).keys()];
    expect(new Set(numbers.map((number) => known(number, 7).instruction)).size).toBe(numbers.length);
    expect(known(5, 7).instruction.replace('August', 'May')).toBe(known(5, 4).instruction);
  });

  test('have packets that the validator accepts', () => {
    for (let number = 0; number < 200; number++) {
      expect(validatePacket(known(number, 7).packet)).toMatchObject({ valid: true, warnings: [] });
      expect(entryOf(known(number, 7)).terms.length).toBeGreaterThan(2);
    }
  });

  test('are answered from the measured tier, from either registry', async () => {
    const { lines, close } = await openLines(['memory', 'sqlite'], [1, 40]);
    let clock = 0;
    const rates = await hitRates(lines, { rounds: 1, turnMs: 1, now: () => clock++ });
    await close();
    expect(rates).toHaveLength(8);
    for (const { question, rate, ratio } of rates) {
      expect(rate.median).toBe(question === 'repeat' ? 128_000 : 8_000);
      expect(ratio.median).toBe(1);
    }
  });
});

test('searches find some results', () => {
  expect(searchRunner().pass()).toBeGreaterThan(5);
});
