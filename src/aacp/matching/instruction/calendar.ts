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

/** Languages whose names of months and days are looked for. English ones are read by the grammar of instructions. */
const LANGUAGES = ['de', 'fr', 'es', 'it', 'pt', 'nl', 'pl', 'sv', 'da', 'fi', 'cs', 'tr'];

let names: ReadonlySet<string> | undefined;

/** Tells whether a word, in small letters, is the name of a month or a day of the week in another language than English. */
export function isForeignName(word: string): boolean {
  names ??= new Set(LANGUAGES.flatMap(namesIn));
  return names.has(word);
}

function namesIn(language: string): readonly string[] {
  const nameOf = (options: Intl.DateTimeFormatOptions): ((day: Date) => string) => {
    const { format } = new Intl.DateTimeFormat(language, { ...options, timeZone: 'UTC' });
    return (day) => format(day).toLowerCase();
  };
  const months = Array.from({ length: 12 }, (_, month) => new Date(Date.UTC(2024, month, 1)));
  const days = Array.from({ length: 7 }, (_, day) => new Date(Date.UTC(2024, 0, 1 + day)));
  return [...months.map(nameOf({ month: 'long' })), ...days.map(nameOf({ weekday: 'long' }))];
}
