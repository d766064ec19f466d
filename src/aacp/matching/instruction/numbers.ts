/** Reads numbers in English words, or in digits and words: `twenty-five`, `5 hundred`, `one and a half million`. */

const SMALL: ReadonlyMap<string, number> = new Map([
  ...numbered(
    'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen',
    (index) => index,
  ),
  ...numbered(
    'zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth',
    (index) => index,
  ),
  ...numbered('twenty thirty forty fifty sixty seventy eighty ninety', (index) => 20 + 10 * index),
  ...numbered(
    'twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth',
    (index) => 20 + 10 * index,
  ),
  ...numbered('a an once single', () => 1),
  ...numbered('twice both couple pair', () => 2),
]);

const SCALES: ReadonlyMap<string, number> = new Map(
  Object.entries({
    dozen: 12,
    hundred: 100,
    hundredth: 100,
    thousand: 1e3,
    thousandth: 1e3,
    grand: 1e3,
    million: 1e6,
    billion: 1e9,
  }),
);

const PARTS: ReadonlyMap<string, number> = new Map(Object.entries({ half: 0.5, quarter: 0.25 }));

/** Lists the numbers that a text contains in words. A fraction is also a percentage: 0.5 and 50 for "half". */
export function wordedNumbers(text: string): ReadonlySet<number> {
  const found = new Set<number>();
  let sum = 0;
  let last: number | null = null;
  let isWorded = false;
  const end = (): void => {
    if (last !== null && isWorded) found.add(sum + last);
    [sum, last, isWorded] = [0, null, false];
  };
  const words = text.toLowerCase().match(/\p{L}+|\d+(?:[.,]\d+)*/gu) ?? [];
  words.forEach((written, index) => {
    const word = SCALES.has(written) ? written : written.replace(/(?<=n|d)s$/, '');
    const scale = SCALES.get(word);
    const small = /^\d/.test(word) ? Number(word.replaceAll(',', '')) : SMALL.get(word);
    const part = PARTS.get(word);
    if (scale !== undefined) {
      // In "two hundred thousand", each scale multiplies the number before it.
      if (scale < 1000) last = (last ?? 1) * scale;
      else [sum, last] = [sum + (last ?? 1) * scale, 0];
    } else if (part !== undefined) {
      found.add(part).add(part * 100);
      // The article of "a half" is not a number.
      last = (words[index - 1] === 'a' && words[index - 2] !== 'and' ? 0 : (last ?? 0)) + part;
    } else if (small === undefined) {
      if (word !== 'and' || !isJoined(words, index)) end();
    } else if (last === null || (word !== 'a' && !fits(last, small))) {
      end();
      last = small;
    } else if (word !== 'a') last += small;
    isWorded ||= last !== null && !/^\d/.test(word);
  });
  end();
  return found;
}

/** Returns whether a smaller number continues another one: "twenty-five", "two hundred five". */
function fits(last: number, small: number): boolean {
  if (last === 0) return true;
  return small < 100 && (last % 100 === 0 || (small < 10 && last % 10 === 0 && last < 100));
}

/** Returns whether "and" is a part of one number. */
function isJoined(words: readonly string[], index: number): boolean {
  return SCALES.has(words[index - 1] ?? '') || PARTS.has(words[index + 2] ?? '');
}

function numbered(words: string, numberAt: (index: number) => number): readonly (readonly [string, number])[] {
  return words.split(' ').map((word, index) => [word, numberAt(index)] as const);
}

const TENS = 'twenty|thirty|forty|fifty';
const NUMBER = `(?:(?:${TENS})[- ](?:one|two|three|four|five|six|seven|eight|nine)|\\p{L}+|\\d{1,2})`;
/** Minutes before or after an hour: "ten to nine", "25 past 4", "half five". */
const AROUND = new RegExp(
  `(?<![\\p{L}\\d])(half|quarter|${NUMBER})(?: min(?:ute)?s?)? (past|after|to|till|before) (${NUMBER})(?![\\p{L}\\d])|(?<!\\p{L})half (\\p{L}+)`,
  'gu',
);
/** An hour followed by minutes: "nine thirty", "nine oh five". */
const BEHIND = new RegExp(`(?<![\\p{L}\\d])(\\p{L}+)[- ]((?:oh |o )?${NUMBER})(?![\\p{L}\\d])`, 'gu');

/** Lists the times of day of a text in lower case, in minutes from 0 to 719: morning and evening are not distinguished. */
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
    // "nine five" is not a time.
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

/** The number of places by which a scale shifts the decimal point. */
const DECIMAL_SCALES: ReadonlyMap<string, number> = new Map(
  Object.entries({ k: 3, thousand: 3, m: 6, mn: 6, mio: 6, million: 6, bn: 9, billion: 9 }),
);

/**
 * Returns digits without separators and redundant zeros: `4200.5` for `4,200.50`, `1500000` for `1.5` with the scale `m`. Returns `null` if a
 * comma or a point is ambiguous: `3,5` may be two numbers, and the point of `1.234` may separate thousands.
 */
export function plainDecimal(number: string, scale: string | null): string | null {
  const negative = number.startsWith('-');
  const plain = withPoint(negative ? number.slice(1) : number);
  if (plain === null) return null;
  const [whole = '', fraction = ''] = plain.split('.');
  const places = scale === null ? 0 : (DECIMAL_SCALES.get(scale.toLowerCase()) ?? 0);
  const moved = fraction.padEnd(places, '0');
  const integer = (whole + moved.slice(0, places)).replace(/^0+(?=\d)/, '');
  const rest = moved.slice(places).replace(/0+$/, '');
  return `${negative ? '-' : ''}${integer}${rest === '' ? '' : `.${rest}`}`;
}

function withPoint(number: string): string | null {
  if (/^\d+$/.test(number)) return number;
  if (/^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(number)) return number.replaceAll(',', '');
  if (/^\d{1,3}(?:['\u2019]\d{3})+(?:\.\d+)?$/.test(number)) return number.replace(/['\u2019]/g, '');
  // In continental Europe the point separates thousands. A single one before three digits is ambiguous.
  if (/^[1-9]\d{0,2}\.\d{3}$/.test(number)) return null;
  if (/^\d+\.\d+$/.test(number)) return number;
  // A comma before two digits does not separate thousands.
  if (/^\d+,\d\d$/.test(number)) return number.replace(',', '.');
  if (/^\d{1,3}(?:\.\d{3})+,\d+$/.test(number)) return number.replaceAll('.', '').replace(',', '.');
  if (/^\d{1,3}(?:\.\d{3}){2,}$/.test(number)) return number.replaceAll('.', '');
  return null;
}
