/** White space and letter case as protocols define them, which is for ASCII alone: JavaScript's own `trim` and `toLowerCase` know more. */

/** Returns a text without spaces and tabs at its ends (RFC 9110, section 5.6.3), in time proportional to its length. */
export function withoutBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

/** Returns a text with the letters A to Z in lower case; the Kelvin sign (U+212A), for one, does not become `k`. */
export function asciiLowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x09;
}

/** Orders text by code unit, as the canonical forms do; never by locale, which differs between machines. */
export function byCodeUnit(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** A table from words to their meanings. */
export type Words = Readonly<Record<string, string>>;

/** What a word means, own properties only: `constructor` means nothing. */
export function meaning(words: Words, word: string): string | undefined {
  return Object.hasOwn(words, word) ? words[word] : undefined;
}
