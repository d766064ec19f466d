/** The spellings of strings, keys and references in compact frames. */

/** In the list of a shape: the key is absent. The string itself is spelled `#-`. */
export const ABSENT = '-';

const MARK = '#';
const DATE = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/;
const TIME = /^([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?$/;
const DATE_TIME =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2})(?::([0-9]{2})(\.[0-9]{1,9})?)?(Z|[+-][0-9]{2}:[0-9]{2})?$/;
const COMPACT_DATE = /^([0-9]{4})([0-9]{2})([0-9]{2})$/;
const COMPACT_TIME = /^([0-9]{2})([0-9]{2})([0-9]{2})?$/;
const COMPACT_DATE_TIME =
  /^([0-9]{4})([0-9]{2})([0-9]{2})T([0-9]{2})([0-9]{2})(?:([0-9]{2})(\.[0-9]{1,9})?)?(Z|[+-][0-9]{4})?$/;

/** The scheme of an address, whose colon needs an escape. Two slashes after the mark mean the same. */
const SCHEME = 'https:';
const SLASHES = '//';

/**
 * Shortens dates and times of ISO 8601 (`2026-04-08T09:05:27Z` is `#20260408T090527Z`), and addresses (`https://x.org` is `#//x.org`). Marks
 * strings that would read as another one.
 */
export function spell(text: string): string {
  // Only digits begin a date.
  if (!beginsWithDigit(text)) {
    if (text.startsWith(SCHEME + SLASHES)) return MARK + text.slice(SCHEME.length);
    return text === ABSENT || text.startsWith(MARK) ? MARK + text : text;
  }
  if (DATE.test(text) || TIME.test(text)) return MARK + text.replace(/[-:]/g, '');
  const match = DATE_TIME.exec(text);
  if (match === null) return text;
  const [, year, month, day, hour, minute, second = '', fraction = '', zone = ''] = match;
  return `${MARK}${year}${month}${day}T${hour}${minute}${second}${fraction}${zone.replace(':', '')}`;
}

/** Returns the string of a spelling; `null` if there is none. */
export function unspell(written: string): string | null {
  if (written === ABSENT) return null;
  if (!written.startsWith(MARK)) return written;
  const rest = written.slice(MARK.length);
  if (rest === ABSENT || rest.startsWith(MARK)) return rest;
  if (rest.startsWith(SLASHES)) return SCHEME + rest;
  const date = COMPACT_DATE.exec(rest);
  if (date !== null) return date.slice(1).join('-');
  const time = COMPACT_TIME.exec(rest);
  if (time !== null)
    return time
      .slice(1)
      .filter((part) => part !== undefined)
      .join(':');
  const match = COMPACT_DATE_TIME.exec(rest);
  if (match === null) return null;
  const [, year, month, day, hour, minute, second, fraction = '', zone = ''] = match;
  const seconds = second === undefined ? '' : `:${second}${fraction}`;
  const offset = zone.length > 1 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone;
  return `${year}-${month}-${day}T${hour}:${minute}${seconds}${offset}`;
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
