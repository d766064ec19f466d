/** Scalars and names as text: plain where it can be taken for nothing else, quoted otherwise. */

/** Controls, formats (including U+E0000, used to hide instructions), surrogates, unassigned characters, other blanks than the space. */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/u;

/** Strings that would read as another kind of value. */
const OTHER_KIND = /^(?:true|false|null|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)$/;

/** First characters of unquoted strings: none with a meaning here or in Markdown. A lone `-` is an absent cell. */
const PLAIN_START = /^(?:--?[\p{L}\p{N}]|[\p{L}\p{N}\p{S}\p{Po}])/u;
const MARK_START = /^["'`~#>@$|*<=]/;

/** Separators within lists, maps and rows. */
const SEPARATORS = /[,[\]{}"]/;

/** Words that look like a member on the same line. */
const MEMBER = /(?:^| )\S+=/;

/**
 * The place of a value: the rest of a `line`, an `item` between commas, or a `word` between spaces. Each allows fewer unquoted strings than the
 * one before.
 */
export type Place = 'line' | 'item' | 'word';

/** Returns `true` if a string needs no quotes at its place. */
export function isPlain(text: string, place: Place): boolean {
  if (!PLAIN_START.test(text) || MARK_START.test(text) || text.endsWith(' ')) return false;
  if (OTHER_KIND.test(text) || INVISIBLE.test(text)) return false;
  if (place === 'line') return !MEMBER.test(text);
  return !SEPARATORS.test(text) && !(place === 'word' && text.includes(' '));
}

/** Returns `true` if a string has several lines, without other invisible characters. */
export function isBlock(text: string): boolean {
  return text.includes('\n') && !INVISIBLE.test(text.replaceAll('\n', ''));
}

const EVERY_INVISIBLE = new RegExp(INVISIBLE, 'gu');

export function quotedText(text: string): string {
  return JSON.stringify(text).replace(EVERY_INVISIBLE, (character) =>
    [...Array(character.length).keys()]
      .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

const NAME = /^[\p{L}\p{N}_$/-]+$/u;

/** Returns the text of a column, of a key within a map, or of a part of the header. */
export function nameText(name: string): string {
  return NAME.test(name) && !INVISIBLE.test(name) ? name : quotedText(name);
}

/** Returns the text of a key that can begin a line. Unquoted, it does not begin with a digit, as rows do. */
export function keyText(key: string): string {
  return /^\d/.test(key) ? quotedText(key) : nameText(key);
}
