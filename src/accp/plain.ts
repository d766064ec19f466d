/** The strings that the grammar can write as they are, with delimiters escaped (draft-benzing-accp-00, section 3.1). */

/** Texts that would read as a number or a keyword. */
export const OTHER_KIND = /^(?:true|false|-?[0-9]+(?:\.[0-9]+)?)$/;
const NOT_VISIBLE_ASCII = /[^!-~]/;

/** Returns the end of a sentence, or `null` for a string that the grammar can write. */
export function whyNotPlain(text: string): string | null {
  if (text === '') return 'an empty string cannot be written';
  if (NOT_VISIBLE_ASCII.test(text)) return 'only visible ASCII can be written, without spaces';
  return OTHER_KIND.test(text) ? `the string "${text.slice(0, 40)}" would read back as another kind` : null;
}
