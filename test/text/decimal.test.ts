import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { digitsOf, roundDigits } from '../../src/text/decimal.js';

const numbers = fc.stringMatching(/^-?[0-9]{1,30}(?:\.[0-9]{0,6}(?:[059]{0,4}[0-9]{0,12})?[0-9])?$/);

/** Rounds by integer arithmetic, independently of the implementation under test. */
function roundedByIntegers(text: string): { integer: string; fraction: string } {
  const [, sign = '', integer = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text)!;
  const scale = 10n ** BigInt(fraction.length);
  const scaled = BigInt(integer + fraction) * 1_000_000n;
  const twiceRemainder = 2n * (scaled % scale);
  let millionths = scaled / scale;
  if (twiceRemainder > scale || (twiceRemainder === scale && millionths % 2n === 1n)) millionths += 1n;
  const digits = millionths.toString().padStart(7, '0');
  return {
    integer: (millionths === 0n ? '' : sign) + digits.slice(0, -6),
    fraction: digits.slice(-6).replace(/0+$/, ''),
  };
}

describe('roundDigits', () => {
  test.each([
    ['0', '0', ''],
    ['-0', '0', ''],
    ['-0.0000004', '0', ''],
    ['007', '7', ''],
    ['-007.10', '-7', '1'],
    ['142.500000', '142', '5'],
    ['2.000000', '2', ''],
    ['1.0000005', '1', ''],
    ['1.0000015', '1', '000002'],
    ['1.00000050000000000000001', '1', '000001'],
    ['1.0000025', '1', '000002'],
    ['0.0000005', '0', ''],
    ['0.0000015', '0', '000002'],
    ['9.9999994', '9', '999999'],
    ['9.9999995', '10', ''],
    ['-9.9999999', '-10', ''],
    ['0.9999999', '1', ''],
    ['99999999999999999999.9999999', '100000000000000000000', ''],
    ['1.1234567', '1', '123457'],
  ])('%s', (text, integer, fraction) => {
    expect(roundDigits(text)).toEqual({ integer, fraction });
  });

  test('rounds half to even as integer arithmetic does', () => {
    fc.assert(
      fc.property(numbers, (text) => {
        expect(roundDigits(text)).toEqual(roundedByIntegers(text));
      }),
      { numRuns: 5000 },
    );
  });

  test('rounds ties and their neighbours half to even', () => {
    const ties = fc.tuple(fc.nat(99), fc.nat(999_999), fc.constantFrom('4', '5', '6', '50', '5000001', '4999999'));
    const texts = ties.map(([whole, places, cut]) => `${whole}.${String(places).padStart(6, '0')}${cut}`);
    fc.assert(
      fc.property(texts, (text) => {
        expect(roundDigits(text)).toEqual(roundedByIntegers(text));
      }),
      { numRuns: 5000 },
    );
  });

  test('does not change a rounded number', () => {
    fc.assert(
      fc.property(numbers, (text) => {
        const { integer, fraction } = roundDigits(text);
        expect(roundDigits(`${integer}.${fraction || '0'}`)).toEqual({ integer, fraction });
      }),
    );
  });
});

describe('digitsOf', () => {
  test.each([
    [0, '0'],
    [-0, '0'],
    [0.1, '0.1'],
    [-1.5, '-1.5'],
    [1e21, '1000000000000000000000'],
    [-1.25e22, '-12500000000000000000000'],
    [1e-7, '0.0000001'],
    [-1.5e-7, '-0.00000015'],
    [123456789012345680000, '123456789012345680000'],
  ])('%d is %s', (value, digits) => {
    expect(digitsOf(value)).toBe(digits);
  });

  test('reads back as the same double, without an exponent', () => {
    const doubles = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(doubles, (value) => {
        const digits = digitsOf(value);
        expect(digits).toMatch(/^-?\d+(?:\.\d+)?$/);
        // Minus zero has the same digits as zero.
        expect(Number(digits)).toBe(value === 0 ? 0 : value);
      }),
      { numRuns: 5000 },
    );
  });

  test('the ends of the range', () => {
    expect(digitsOf(Number.MAX_VALUE)).toBe(`17976931348623157${'0'.repeat(292)}`);
    expect(digitsOf(Number.MIN_VALUE)).toBe(`0.${'0'.repeat(323)}5`);
  });
});
