/** Timestamps (spec 003, "Canonical Envelope": "Sender timestamp in RFC 3339 format"). */

const RFC_3339 =
  /^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(?:\.\d{1,18})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** RFC 3339, section 5.6: a date and a time with their offset, on a day that there is. A leap second is a time, too. */
export function isTimestamp(text: string): boolean {
  const match = RFC_3339.exec(text);
  if (match === null) return false;
  const day = Number(match[3]);
  return day <= 28 || day <= daysOf(Number(match[1]), Number(match[2]));
}

function daysOf(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/**
 * The moment that a timestamp names.
 *
 * @returns milliseconds since 1970; of a leap second, those of the second after it
 */
export function momentOf(timestamp: string): number {
  const plain = timestamp.toUpperCase();
  const leap = plain.slice(17, 19) === '60';
  return Date.parse(leap ? `${plain.slice(0, 17)}59${plain.slice(19)}` : plain) + (leap ? 1000 : 0);
}

let lastMoment = 0;
let lastText = '1970-01-01T00:00:00.000Z';

/** @param moment milliseconds since 1970 */
export function timestampOf(moment: number): string {
  // Much is said in the same millisecond.
  if (moment !== lastMoment) {
    lastText = new Date(moment).toISOString();
    lastMoment = moment;
  }
  return lastText;
}
