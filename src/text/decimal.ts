/** Rounding of decimal numbers by their digits: in binary, 0.0000015 is not a tie. */

/** The maximum number of decimal places in canonical forms (draft-benzing-accp-00, section 3.1.1). */
export const PLACES = 6;

/**
 * Rounds a decimal number to six places, half to even, and removes redundant zeros and the sign of zero. The fraction of an
 * integer is empty.
 */
export function roundDigits(digits: string): { readonly integer: string; readonly fraction: string } {
  const negative = digits.charCodeAt(0) === 0x2d;
  const dot = digits.indexOf('.');
  const wholeEnd = dot < 0 ? digits.length : dot;
  let integer = withoutLeadingZeros(digits.slice(negative ? 1 : 0, wholeEnd));
  let fraction = dot < 0 ? '' : digits.slice(dot + 1);
  if (fraction.length > PLACES) {
    const cut = fraction.slice(PLACES);
    fraction = fraction.slice(0, PLACES);
    if (roundsUp(integer + fraction, cut)) {
      const sum = increment(integer + fraction);
      integer = withoutLeadingZeros(sum.slice(0, sum.length - PLACES));
      fraction = sum.slice(-PLACES);
    }
  }
  fraction = fraction.replace(/0+$/, '');
  const zero = integer === '0' && fraction === '';
  return { integer: negative && !zero ? `-${integer}` : integer, fraction };
}

/** Returns the shortest digits that read back as the finite double, without an exponent. */
export function digitsOf(value: number): string {
  const shortest = String(value);
  const e = shortest.indexOf('e');
  if (e < 0) return shortest;
  const sign = value < 0 ? '-' : '';
  const mantissa = shortest.slice(sign.length, e);
  const exponent = Number(shortest.slice(e + 1));
  const significant = mantissa.replace('.', '');
  const point = 1 + exponent;
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${significant}`;
  return sign + significant.padEnd(point, '0');
}

/** Returns whether `cut` is more than half a unit, or exactly half of it after an odd digit. */
function roundsUp(rest: string, cut: string): boolean {
  const first = cut[0]!;
  return first === '5' ? /[1-9]/.test(cut.slice(1)) || /[13579]$/.test(rest) : first > '5';
}

function increment(digits: string): string {
  let nines = 0;
  while (nines < digits.length && digits.charCodeAt(digits.length - 1 - nines) === 0x39) nines++;
  const at = digits.length - 1 - nines;
  if (at < 0) return `1${'0'.repeat(nines)}`;
  return digits.slice(0, at) + String.fromCharCode(digits.charCodeAt(at) + 1) + '0'.repeat(nines);
}

function withoutLeadingZeros(digits: string): string {
  return digits.replace(/^0+(?=.)/, '');
}
