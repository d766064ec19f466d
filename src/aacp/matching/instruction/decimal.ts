/** Numbers as people write them, as plain digits. */

/** Places to shift the point by. */
const SCALES: ReadonlyMap<string, number> = new Map([
  ['k', 3],
  ['thousand', 3],
  ['m', 6],
  ['mn', 6],
  ['mio', 6],
  ['million', 6],
  ['bn', 9],
  ['billion', 9],
]);

/**
 * The digits without separators, and without zeros that say nothing: `4,200.50` is `4200.5`, `1.5` with the scale `m` is
 * `1500000`. `null` where a comma or a point can be read in two ways: `3,5` may be two numbers, and `1.234` thousands.
 */
export function plainDecimal(number: string, scale: string | null): string | null {
  const negative = number.startsWith('-');
  const plain = withPoint(negative ? number.slice(1) : number);
  if (plain === null) return null;
  const [whole = '', fraction = ''] = plain.split('.');
  const places = scale === null ? 0 : (SCALES.get(scale.toLowerCase()) ?? 0);
  const moved = fraction.padEnd(places, '0');
  const integer = (whole + moved.slice(0, places)).replace(/^0+(?=\d)/, '');
  const rest = moved.slice(places).replace(/0+$/, '');
  return `${negative ? '-' : ''}${integer}${rest === '' ? '' : `.${rest}`}`;
}

function withPoint(number: string): string | null {
  if (/^\d+$/.test(number)) return number;
  if (/^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(number)) return number.replaceAll(',', '');
  if (/^\d{1,3}(?:['\u2019]\d{3})+(?:\.\d+)?$/.test(number)) return number.replace(/['\u2019]/g, '');
  // On the continent the point parts thousands: one alone, before three digits, may be either.
  if (/^[1-9]\d{0,2}\.\d{3}$/.test(number)) return null;
  if (/^\d+\.\d+$/.test(number)) return number;
  // Two digits behind a comma are no thousands.
  if (/^\d+,\d\d$/.test(number)) return number.replace(',', '.');
  if (/^\d{1,3}(?:\.\d{3})+,\d+$/.test(number)) return number.replaceAll('.', '').replace(',', '.');
  if (/^\d{1,3}(?:\.\d{3}){2,}$/.test(number)) return number.replaceAll('.', '');
  return null;
}
