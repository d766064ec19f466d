import { describe, expect, test } from 'vitest';
import { validateAsSdkPy, validateAsSdkTs } from '../../src/aacp/compat.js';
import { validatorCases } from '../conformance/fixtures.js';

const CASES = validatorCases();
const HEAD = 'FETCH|HR|return:A|p:1|aacp:1.1';
const MEGABYTE = 1 << 20;

test.each(CASES)('$id: as the Python SDK', ({ packet, sdkPy }) => {
  expect(validateAsSdkPy(packet)).toEqual(sdkPy);
});

test.each(CASES)('$id: as aacp-ts', ({ packet, sdkTs }) => {
  expect(validateAsSdkTs(packet)).toEqual(sdkTs);
});

describe('white space', () => {
  const PYTHON_ONLY = ['\x1c', '\x1d', '\x1e', '\x1f', '\x85'];
  const BOTH = ['\t', '\n', '\v', '\f', '\r', ' ', '\xa0', '\u1680', '\u2000', '\u200a', '\u2028', '\u2029', '\u3000'];
  const NEITHER = ['\0', '\x1b', '\u180e', '\u200b', '\u2060'];

  test('a blank packet is an empty packet', () => {
    const blank = (space: string) => ({
      py: validateAsSdkPy(space).errors[0] === 'Empty packet.',
      ts: validateAsSdkTs(space).errors[0] === 'Empty packet.',
    });
    for (const space of BOTH) expect(blank(space)).toEqual({ py: true, ts: true });
    for (const space of PYTHON_ONLY) expect(blank(space)).toEqual({ py: true, ts: false });
    for (const space of NEITHER) expect(blank(space)).toEqual({ py: false, ts: false });
    expect(blank('\ufeff')).toEqual({ py: false, ts: true });
  });

  test('aacp-ts keeps the white space next to the colon, the Python SDK does not', () => {
    const packet = 'FETCH|HR|return:A|p : 1|aacp:1.1';
    expect(validateAsSdkPy(packet).warnings).toEqual(["AACP version '1.1' — current is 1.2."]);
    expect(validateAsSdkTs(packet).warnings).toEqual([
      'Unknown extended field "p ". May be a valid extension — ensure receiving agent supports it.',
    ]);
  });
});

describe('keys', () => {
  const unknownToPy = (packet: string) =>
    validateAsSdkPy(packet).warnings.flatMap((text) => /^Unknown field '(.*)'/.exec(text)?.slice(1) ?? []);
  const unknownToTs = (packet: string) =>
    validateAsSdkTs(packet).warnings.flatMap((text) => /^Unknown extended field "(.*)"/.exec(text)?.slice(1) ?? []);

  test('names that every object inherits are plain keys; aacp-ts loses __proto__', () => {
    const packet = `${HEAD}|__proto__:x|constructor:y|hasOwnProperty:z|valueOf:`;
    expect(unknownToPy(packet)).toEqual(['__proto__', 'constructor', 'hasownproperty', 'valueof']);
    expect(unknownToTs(packet)).toEqual(['constructor', 'hasownproperty', 'valueof']);
  });

  test('an inherited name satisfies no rule', () => {
    for (const validate of [validateAsSdkPy, validateAsSdkTs]) {
      expect(validate('constructor|__proto__|toString:x|__proto__:return').errors).toHaveLength(3);
    }
  });

  test('the Python SDK reports keys in their order, aacp-ts reports array indices first', () => {
    const packet = `${HEAD}|b:1|10:1|a:1|2:1|b:2`;
    expect(unknownToPy(packet)).toEqual(['b', '10', 'a', '2']);
    expect(unknownToTs(packet)).toEqual(['2', '10', 'b', 'a']);
  });
});

describe('extremes', () => {
  test.each([undefined, null, 0, false, Number.NaN])('%s is an empty packet, as in the SDKs', (input) => {
    const refused = { valid: false, errors: ['Empty packet.'], warnings: [] };
    expect(validateAsSdkPy(input as unknown as string)).toEqual(refused);
    expect(validateAsSdkTs(input as unknown as string)).toEqual(refused);
  });

  test.each([
    ['number', 5],
    ['boolean', true],
    ['bigint', 5n],
    ['symbol', Symbol('packet')],
    ['object', ['FETCH', 'HR']],
    ['object', Object.create(null)],
    ['function', () => HEAD],
  ])('a %s is rejected with a message', (type, input) => {
    const refused = { valid: false, errors: [`Expected the packet as a string, got ${type}.`], warnings: [] };
    expect(validateAsSdkPy(input as string)).toEqual(refused);
    expect(validateAsSdkTs(input as string)).toEqual(refused);
  });

  test.each([
    ['spaces', ' '.repeat(MEGABYTE)],
    ['spaces before the last character', `${HEAD}|subj:${' '.repeat(MEGABYTE)}x`],
    ['spaces on both sides of a value', `${HEAD}|subj:${' '.repeat(MEGABYTE)}x${' '.repeat(MEGABYTE)}`],
    ['spaces that only Python strips', '\x1c'.repeat(MEGABYTE)],
    ['bars', '|'.repeat(MEGABYTE)],
    ['repeated fields', `${HEAD}${'|p:1'.repeat(MEGABYTE / 4)}`],
    ['lone surrogates', `${HEAD}|res:${'\ud800'.repeat(MEGABYTE)}`],
  ])('a megabyte of %s gets a verdict', (_, packet) => {
    // A quadratic trim would take many minutes here, far longer than the timeout of a test.
    expect(validateAsSdkPy(packet).valid).toBe(packet.startsWith(HEAD));
    expect(validateAsSdkTs(packet).valid).toBe(packet.startsWith(HEAD));
  });
});
