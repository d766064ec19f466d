/** ASCII white space and letter case: `trim` and `toLowerCase` know more than protocols do. */

/** Trims spaces and tabs (RFC 9110, section 5.6.3) in linear time. */
export function withoutBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

/** Lower-cases A to Z only; the Kelvin sign (U+212A) does not become `k`. */
export function asciiLowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x09;
}

/** Compares by code unit, never by locale, which differs between machines. */
export function byCodeUnit(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** A table from words to their meanings. */
export type Words = Readonly<Record<string, string>>;

/** Looks up own properties only: `constructor` has no meaning. */
export function meaning(words: Words, word: string): string | undefined {
  return Object.hasOwn(words, word) ? words[word] : undefined;
}
