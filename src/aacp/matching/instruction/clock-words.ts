/** Times of day that an English text has in words: `half past five`, `twenty to nine`, `nine thirty`. */
import { wordedNumbers } from './number-words.js';

const TENS = 'twenty|thirty|forty|fifty';
const NUMBER = `(?:(?:${TENS})[- ](?:one|two|three|four|five|six|seven|eight|nine)|\\p{L}+|\\d{1,2})`;
/** Minutes before or after an hour, and the hour: "ten to nine", "25 past 4", "half five". */
const AROUND = new RegExp(
  `(?<![\\p{L}\\d])(half|quarter|${NUMBER})(?: min(?:ute)?s?)? (past|after|to|till|before) (${NUMBER})(?![\\p{L}\\d])|(?<!\\p{L})half (\\p{L}+)`,
  'gu',
);
/** An hour and minutes behind it: "nine thirty", "nine oh five". */
const BEHIND = new RegExp(`(?<![\\p{L}\\d])(\\p{L}+)[- ]((?:oh |o )?${NUMBER})(?![\\p{L}\\d])`, 'gu');

/**
 * Lists the times, in minutes from 0 to 719: whether one is of the morning or of the evening, other words say.
 *
 * @param small in small letters
 */
export function wordedTimes(small: string): ReadonlySet<number> {
  const found = new Set<number>();
  const add = (hour: number | null, minute: number | null): void => {
    if (hour !== null && minute !== null && hour >= 0 && hour <= 24 && Math.abs(minute) < 60)
      found.add((hour * 60 + minute + 1440) % 720);
  };
  for (const [, minutes, where, hour, plain] of small.matchAll(AROUND)) {
    if (plain !== undefined) {
      add(numberOf(plain), 30);
      continue;
    }
    const minute = minutes === 'half' ? 30 : minutes === 'quarter' ? 15 : numberOf(minutes!);
    add(numberOf(hour!), minute === null || where === 'past' || where === 'after' ? minute : -minute);
  }
  for (let at = 0; ; ) {
    BEHIND.lastIndex = at;
    const match = BEHIND.exec(small);
    if (match === null) break;
    const [, hour, minutes] = match;
    const bare = minutes!.replace(/^oh? /, '');
    const minute = numberOf(bare);
    // "nine five" is no time.
    if (minute !== null && (minute >= 10 || bare !== minutes)) add(numberOf(hour!), minute);
    at = match.index + hour!.length;
  }
  return found;
}

function numberOf(text: string): number | null {
  if (/^\d+$/.test(text)) return Number(text);
  const [number, ...others] = wordedNumbers(text);
  return others.length === 0 && number !== undefined ? number : null;
}
