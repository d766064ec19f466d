/** How a string stands in rendered text, so that it can be nothing but a string. */

/**
 * What would end a line, cannot be seen, or changes the order in which text is shown: controls, formats (among them the
 * letters of U+E0000, in which instructions are hidden), surrogates, unassigned characters, blanks other than the space.
 */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/u;

/** Strings that would be read as something else: numbers, literals, references. */
const OTHER_KIND = /^(?:true|false|null|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)$/;

/** What a plain string may begin with: no quote, bracket, or other mark that stands for something here or in Markdown. */
const PLAIN_START = /^[\p{L}\p{N}\p{S}\p{Po}(-]/u;
const MARK_START = /^["'`~#>@$|*<=]/;

/** What separates values within one line, or looks as if it did. Keys hold no colon, so that a string may. */
const SEPARATORS = /[,[\]{}"]/;

/** Where a string stands: on a line of its own behind its key, or between other values. */
export type Place = 'line' | 'between';

/** Whether a string can stand as it is. */
export function isPlain(text: string, place: Place): boolean {
  return (
    PLAIN_START.test(text) &&
    !MARK_START.test(text) &&
    !text.endsWith(' ') &&
    !OTHER_KIND.test(text) &&
    !INVISIBLE.test(text) &&
    (place === 'line' || !SEPARATORS.test(text))
  );
}

/** Whether each line of a text shows all that it holds. */
export function isVisible(text: string): boolean {
  return !INVISIBLE.test(text.replaceAll('\n', ''));
}

/** A string as it is, or between quotes like a string of JSON. */
export function scalarText(text: string, place: Place): string {
  return isPlain(text, place) ? text : quotedText(text);
}

const EVERY_INVISIBLE = new RegExp(INVISIBLE, 'gu');

/** A string of JSON in which nothing is invisible. */
export function quotedText(text: string): string {
  return JSON.stringify(text).replace(EVERY_INVISIBLE, (character) =>
    [...Array(character.length).keys()]
      .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
