/** The spellings of strings, keys and references in compact frames. */

/** In the list of a shape: the key is absent. The string itself is spelled `#-`. */
export const ABSENT = '-';

const MARK = '#';
const DAY_OR_SECOND = /^([0-9]{4})-([0-9]{2})-([0-9]{2})(?:T([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]{1,9})?Z)?$/;
const TIME = /^([0-9]{2}):([0-9]{2})(:[0-9]{2})?$/;
const DATE_TIME =
  /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:Z|[+-][0-9]{2}:[0-9]{2})?$/;
const COMPACT_TIME = /^([0-9]{2})([0-9]{2})([0-9]{2})$/;
const COMPACT_UTC = /^([0-9]{9})(\.[0-9]{1,9})?$/;
const COMPACT_DATE_TIME =
  /^([0-9]{4})([0-9]{2})([0-9]{2})T([0-9]{2})([0-9]{2})(?:([0-9]{2})(\.[0-9]{1,9})?)?(Z|[+-][0-9]{4})?$/;

/** The first day and second that are numbered: their numbers have these digits until 2173 and 2051. */
const FIRST_DAY = Date.UTC(1900);
const FIRST_SECOND = Date.UTC(2020);
const DAY_DIGITS = 5;
const SECOND_DIGITS = 9;
const DAY = 86_400_000;
const SECOND = 1000;
const MINUTES_PER_DAY = 1440;

/** The scheme of an address, whose colon needs an escape. Two slashes after the mark mean the same. */
const SCHEME = 'https:';
const SLASHES = '//';

/**
 * Shortens dates and times of ISO 8601: a date is the number of its day, a time that of its minute, and an instant of UTC that of its second.
 * Also shortens addresses (`https://x.org` is `#//x.org`), and marks strings that would read as another one.
 */
export function spell(text: string): string {
  if (!beginsWithDigit(text)) {
    if (text.startsWith(SCHEME + SLASHES)) return MARK + text.slice(SCHEME.length);
    return text === ABSENT || text.startsWith(MARK) ? MARK + text : text;
  }
  const moment = DAY_OR_SECOND.exec(text);
  const short = moment === null ? shortTime(text) : shortMoment(moment);
  if (short !== undefined) return short;
  if (!DATE_TIME.test(text)) return text;
  const minutes = 'YYYY-MM-DDTHH:MM'.length;
  return MARK + text.slice(0, minutes).replace(/[-:]/g, '') + text.slice(minutes).replace(/:/g, '');
}

/** Returns the number of a day or second; `undefined` if there is none: for 30 February, 24 o'clock, and what is out of range. */
function shortMoment([, ...parts]: RegExpExecArray): string | undefined {
  const numbers = parts.slice(0, 6).map((part = '0') => Number(part));
  const [year, month, day, hour, minute, second] = numbers as [number, number, number, number, number, number];
  const time = Date.UTC(year, month - 1, day, hour, minute, second);
  const date = new Date(time);
  const isDay = date.getUTCFullYear() === year && date.getUTCDate() === day;
  if (!isDay || date.getUTCHours() !== hour || date.getUTCMinutes() !== minute || date.getUTCSeconds() !== second)
    return undefined;
  if (parts[3] === undefined) return numbered((time - FIRST_DAY) / DAY, DAY_DIGITS);
  const short = numbered((time - FIRST_SECOND) / SECOND, SECOND_DIGITS);
  return short && short + (parts[6] ?? '');
}

function numbered(number: number, digits: number): string | undefined {
  const text = String(number).padStart(digits, '0');
  return number >= 0 && text.length === digits ? MARK + text : undefined;
}

function shortTime(text: string): string | undefined {
  const [time, hour, minute, second] = TIME.exec(text) ?? [];
  if (time === undefined || second !== undefined) return time && MARK + text.replace(/:/g, '');
  return Number(hour) > 23 || Number(minute) > 59 ? undefined : MARK + (60 * Number(hour) + Number(minute));
}

/** Returns the string of a spelling; `null` if there is none. */
export function unspell(written: string): string | null {
  if (written === ABSENT) return null;
  if (!written.startsWith(MARK)) return written;
  const rest = written.slice(MARK.length);
  if (rest === ABSENT || rest.startsWith(MARK)) return rest;
  if (rest.startsWith(SLASHES)) return SCHEME + rest;
  const number = numberIn(rest);
  if (number !== undefined && number < MINUTES_PER_DAY)
    return `${twoDigits(Math.floor(number / 60))}:${twoDigits(number % 60)}`;
  if (/^[0-9]{5}$/.test(rest)) return isoOf(FIRST_DAY + Number(rest) * DAY).slice(0, 'YYYY-MM-DD'.length);
  const [utc, seconds, parts = ''] = COMPACT_UTC.exec(rest) ?? [];
  if (utc !== undefined) return isoOf(FIRST_SECOND + Number(seconds) * SECOND).replace('.000', parts);
  const time = COMPACT_TIME.exec(rest);
  if (time !== null) return time.slice(1).join(':');
  const match = COMPACT_DATE_TIME.exec(rest);
  if (match === null) return null;
  const [, year, month, day, hour, minute, second, fraction = '', zone = ''] = match;
  const whole = second === undefined ? '' : `:${second}${fraction}`;
  const offset = zone.length > 1 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone;
  return `${year}-${month}-${day}T${hour}:${minute}${whole}${offset}`;
}

function isoOf(time: number): string {
  return new Date(time).toISOString();
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}

/** Keys that begin with a digit are numbers of shapes; others of plain frames have a `_` more. */
export function spellKey(key: string): string {
  // Only digits and underscores sort before the letters that nearly all keys begin with.
  const first = key.charCodeAt(0);
  return first < 0x60 && /^_*[0-9]/.test(key) ? `_${key}` : key;
}

export function unspellKey(written: string): string {
  return written.startsWith('_') && /^_+[0-9]/.test(written) ? written.slice(1) : written;
}

export function beginsWithDigit(text: string): boolean {
  const first = text.charCodeAt(0);
  return first >= 0x30 && first <= 0x39;
}

/** Compares keys by their spellings, as the printer sorts them. */
export function bySpelling(a: string, b: string): number {
  return spellKey(a) < spellKey(b) ? -1 : 1;
}

/** Paths of digits are numbers of strings; others of plain frames have a point more. */
export function spellPath(path: string): string {
  return /^\.*[0-9]+$/.test(path) ? `.${path}` : path;
}

export function unspellPath(written: string): string {
  return /^\.+[0-9]+$/.test(written) ? written.slice(1) : written;
}

const NUMBER = /^(?:0|[1-9][0-9]{0,8})$/;

/** Returns the number that a name, key or path spells; `undefined` if it does not spell one. */
export function numberIn(text: string): number | undefined {
  return beginsWithDigit(text) && NUMBER.test(text) ? Number(text) : undefined;
}
