/** Numbers that an English text has in words, or in digits with words: `twenty-five`, `5 hundred`, `one and a half million`. */

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
  ...([
    ['a', 1],
    ['an', 1],
    ['once', 1],
    ['single', 1],
    ['twice', 2],
    ['both', 2],
    ['couple', 2],
    ['pair', 2],
  ] as const),
]);

const SCALES: ReadonlyMap<string, number> = new Map([
  ...([
    ['dozen', 12],
    ['hundred', 100],
    ['hundredth', 100],
    ['thousand', 1e3],
    ['thousandth', 1e3],
    ['grand', 1e3],
  ] as const),
  ...([
    ['million', 1e6],
    ['billion', 1e9],
  ] as const),
]);

const PARTS: ReadonlyMap<string, number> = new Map([
  ['half', 0.5],
  ['quarter', 0.25],
]);

/** The numbers of a text that are written with words. A part is there as a share, too: 0.5 and 50 for "half". */
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
      // "two hundred thousand": each scale counts what stands before it.
      if (scale < 1000) last = (last ?? 1) * scale;
      else [sum, last] = [sum + (last ?? 1) * scale, 0];
    } else if (part !== undefined) {
      found.add(part).add(part * 100);
      // The article of "a half" counts nothing.
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

/** Whether a number goes on with a smaller one: "twenty-five", "two hundred five". */
function fits(last: number, small: number): boolean {
  if (last === 0) return true;
  return small < 100 && (last % 100 === 0 || (small < 10 && last % 10 === 0 && last < 100));
}

/** Whether "and" stands within one number, and does not join two. */
function isJoined(words: readonly string[], index: number): boolean {
  return SCALES.has(words[index - 1] ?? '') || PARTS.has(words[index + 2] ?? '');
}

function numbered(words: string, numberAt: (index: number) => number): readonly (readonly [string, number])[] {
  return words.split(' ').map((word, index) => [word, numberAt(index)] as const);
}
