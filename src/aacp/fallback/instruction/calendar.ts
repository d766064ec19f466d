/** Days, weeks and quarters in UTC. Times are milliseconds since 1970; one that is none counts as 1970. */

const DAY = 86_400_000;
/** What `Date` can hold. */
const FARTHEST = 8_640_000_000_000_000;

/** `2026-11-22` */
export function isoDay(time: number): string {
  return dateOf(time).toISOString().split('T')[0]!;
}

/** `2026-W47`: the week of ISO 8601, which belongs to the year of its Thursday. */
export function isoWeek(time: number): string {
  const date = dateOf(time);
  const thursday = new Date(date.getTime() + (4 - (date.getUTCDay() || 7)) * DAY);
  const year = thursday.getUTCFullYear();
  const week = Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / (7 * DAY)) + 1;
  return `${year}-W${String(week).padStart(2, '0')}`;
}

/** `2026-Q4` */
export function quarterOf(time: number): string {
  const date = dateOf(time);
  return `${date.getUTCFullYear()}-Q${Math.floor(date.getUTCMonth() / 3) + 1}`;
}

/** The first day of a month, so many months later; earlier for a negative number. */
export function monthsLater(time: number, months: number): number {
  const date = dateOf(time);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1);
}

export function daysLater(time: number, days: number): number {
  return dateOf(time).getTime() + days * DAY;
}

/** @returns from 28 to 31 */
export function lastDayOf(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

function dateOf(time: number): Date {
  const known = Number.isFinite(time) ? time : 0;
  return new Date(Math.min(Math.max(known, -62_135_596_800_000), FARTHEST - 400 * DAY));
}
