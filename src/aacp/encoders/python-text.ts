/** Blanks as the reference SDK has them. */

/** What Python's `strip` takes away: unlike `trim`, U+001C to U+001F and U+0085, and not the byte order mark. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are white space there
const BLANK = /^[\t-\r\x1C- \x85\xA0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]*$/;

/** Whether the SDK takes a text for nothing. */
export function isBlankToPython(text: string): boolean {
  return BLANK.test(text);
}
