/** The forms of periods and currencies. */

/** A day, a month, a week, a quarter, a half, a year, a fiscal year or quarter: `2024-08`, `2026-Q2`, `FY2025-26`. */
const MONTH = '(?:0[1-9]|1[0-2])';
const DAY = '(?:0[1-9]|[12][0-9]|3[01])';
const HOUR = '(?:[01][0-9]|2[0-4])';
const CLOCK = `T${HOUR}(?::?[0-5][0-9](?::?[0-5][0-9])?)?(?:Z|[+-]${HOUR}(?::?[0-5][0-9])?)?`;
const PART = '[-_]?(?:[Qq][1-4]|[Hh][12]|[Ww](?:0[1-9]|[1-4][0-9]|5[0-3])(?:-?[1-7])?)';
const YEAR = '[0-9]{4}';
const FISCAL = `FY[-_]?(?:${YEAR}|[0-9]{2})(?:[-_/](?:${YEAR}|[0-9]{2}))?(?:[-_]?[Qq][1-4])?`;
const DATE = `${YEAR}(?:[-_]${MONTH}(?:[-_]${DAY}(?:${CLOCK})?)?|${MONTH}(?:${DAY}(?:${CLOCK})?)?|${PART})?`;
/** ISO 8601: `P3M`, `PT8H`. */
const DURATION = 'P(?=[0-9T])(?:[0-9]{1,6}[YMWD]){0,4}(?:T(?:[0-9]{1,6}[HMS]){1,3})?';
const UNIT = '(?:day|week|month|quarter|half|year)';
/** What the receiver works out: `current`, `last_quarter`, `last_30_days`, `ytd`. */
const RELATIVE = `(?:today|yesterday|tomorrow|all|[ymqw]td|(?:this|current|last|previous|prior|next)(?:[-_](?:[0-9]{1,4}[-_])?${UNIT}s?)?)`;
const ONE = `(?:${FISCAL}|[Qq][1-4][-_]${YEAR}|${DATE}|${DURATION}|${RELATIVE})`;

/** One of them, or from one to another; each beginning of a form is told by its first characters. */
const PERIOD = new RegExp(`^${ONE}(?:(?:\\.\\.|/|_to_|--)${ONE})?$`);
const CURRENCY = /^[A-Z]{3}$/;

/** Whether a text is "YYYY-MM or similar" (section 4.2), or several of such. Takes time in proportion to the text. */
export function isPeriod(text: string): boolean {
  return text.split(',').every((one) => PERIOD.test(one.trim()));
}

/** Whether a text has the form of a currency (ISO 4217); which there are, changes with the years. */
export function isCurrency(text: string): boolean {
  return CURRENCY.test(text);
}
