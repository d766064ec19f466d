/** The numbers and times of day in a packet that its instruction does not state. */
import { wordedTimes } from '../matching/instruction/clock-words.js';
import { wordedNumbers } from '../matching/instruction/number-words.js';
import { isOfName, NUMBER } from '../matching/residue.js';
import { holdsWhole, type Statement } from './statement.js';

export interface FoundNumber {
  readonly digits: string;
  /** Letters stand before it: `payroll_v2`. */
  readonly isPartOfName: boolean;
}

/** Letters before a number that stand for a length of time, a sum or terms of payment. */
const MEASURED = /^(?:pt?|net|total|gbp|eur|usd)$/i;

/** Lists the numbers of a text that are not among those given, and times of day that the instruction does not state. */
export function* unstatedNumbers(
  given: string,
  numbers: ReadonlySet<number>,
  statement: Statement,
): Iterable<FoundNumber> {
  const { small, counted } = statement;
  // No seconds, and the time zone of all times here, add nothing.
  const rest = given.replace(/(?<=\s):00(?!\d)|(?<=:\d\d)\.0+(?!\d)|(?<=\d:\d\d|\s)(?:Z|[+-]00:00)/g, '');
  for (const { 0: digits, index } of rest.matchAll(NUMBER)) {
    const before = rest.slice(0, index);
    if (/^\d+:\d\d/.test(digits) && isTimeStated(digits, /(?:\d|\s)T$/.test(before), statement)) continue;
    const isPartOfName = isOfName(before, digits);
    const letters = /\p{L}+$/u.exec(before)?.[0] ?? '';
    const isLettered = letters !== '' && !isPartOfName && !MEASURED.test(letters);
    const isStated =
      isLettered || /[-:]/.test(digits)
        ? holdsWhole(small, `${letters}${digits}`.toLowerCase()) || saysInFull(small, letters, digits)
        : numbers.has(Number(digits.replaceAll(',', ''))) ||
          isCounted(counted.get(Number(digits)), rest.slice(index + digits.length));
    if (!isStated) yield { digits, isPartOfName };
  }
}

/** Whether what an instruction counts stands behind the number: `30d`, `P30D`, `last_30_days` for "30 days". */
function isCounted(noun: string | undefined, behind: string): boolean {
  const letters = /^[-_ ]?(\p{L}+)/u.exec(behind)?.[1]?.toLowerCase();
  return noun !== undefined && letters !== undefined && (noun.startsWith(letters) || letters.startsWith(noun));
}

/**
 * Whether an instruction states a time of day: `17:00` by "5 pm", "at 5" or "17.00", `12:00` by "noon", `05:30` by "half past five".
 *
 * @param isOfDay whether a day stands before it, of which it may be the first or the last moment
 */
function isTimeStated(text: string, isOfDay: boolean, { small, times, words }: Statement): boolean {
  if (isOfDay && /^(?:00:00|23:59|24:00)(?::(?:00|59))?$/.test(text)) return true;
  const [hour = 0, minute = 0, second = 0] = text.split(':').map(Number);
  if (second !== 0) return false;
  if (new RegExp(`(?<!\\d)0?${hour}[:.h ]?${String(minute).padStart(2, '0')}(?!\\d)`).test(small)) return true;
  if (minute === 0 && hour % 12 === 0 && words.has(hour === 12 ? 'noon' : 'midnight')) return true;
  const isHour = [hour, hour % 12 || 12].some((one) => times.has(one));
  return minute === 0 ? isHour : wordedTimes(small).has((hour * 60 + minute) % 720);
}

/** Whether letters are the beginning of the word before a number: "week 48" for `w48`, "Microsoft 365" for `m365`. */
function saysInFull(small: string, letters: string, number: string): boolean {
  if (letters === '' || !/^\d+$/.test(number)) return false;
  return new RegExp(`(?<!\\p{L})${letters.toLowerCase()}\\p{L}* ${number}(?!\\d)`, 'u').test(small);
}

/** Words that are parts of names as often as numbers: `grand_total`, `unit:thousands`, `half_day`. */
const UNCOUNTED = /(?<!\p{L})(?:grand|hal(?:f|ves)|(?:quarter|dozen|hundred|thousand|million|billion)s)(?!\p{L})/giu;

/** Whether a text has a number word that the instruction does not state. One to three may be part of a name: `first_name`. */
export function hasUnstatedNumberWord(text: string, { numbers }: Statement): boolean {
  for (const number of wordedNumbers(text.replace(UNCOUNTED, ','))) {
    if (number > 3 && !numbers.has(number) && !(number === 25 && /quarter/i.test(text))) return true;
  }
  return false;
}
