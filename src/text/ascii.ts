/** White space and letter case of ASCII alone; `trim` and `toLowerCase` cover all of Unicode. */

/** Trims spaces and tabs (RFC 9110, section 5.6.3) in linear time. */
export function withoutBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

/** Converts A to Z to lower case, and nothing else: the Kelvin sign (U+212A) does not become `k`. */
export function asciiLowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x09;
}

/** Compares two texts by code unit, for `sort`. Locales differ between machines. */
export function byCodeUnit(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** A table of words and their meanings. */
export type Words = Readonly<Record<string, string>>;

/** Returns the meaning of a word, from own properties only: `constructor` has none. */
export function meaning(words: Words, word: string): string | undefined {
  return Object.hasOwn(words, word) ? words[word] : undefined;
}

/** Returns a table of code units with one bit for each set that a character is in, the lowest for the first. Other units are in none. */
export function setsByUnit(sets: readonly RegExp[], first = 0, last = 0x7f): Uint8Array {
  const table = new Uint8Array(0x10000);
  for (let unit = first; unit <= last; unit++) {
    const character = String.fromCharCode(unit);
    sets.forEach((set, bit) => {
      if (set.test(character)) table[unit]! |= 1 << bit;
    });
  }
  return table;
}
