/** Makes text safe to print: replaces control and invisible characters with visible ones. */

/** Control and format characters, surrogates, unassigned characters, white space other than the space, and letters without a glyph. */
const INVISIBLE = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;
/** Characters that are two columns wide: East Asian wide forms and emoji. */
const WIDE =
  /[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;
const COMBINING = /\p{M}/u;

/** Returns a code point as itself, as a control picture (U+2400 ff.), or as `<U+202E>`. */
export function visibleCodePoint(code: number): string {
  const character = String.fromCodePoint(code);
  if (code === 0x20 || !INVISIBLE.test(character)) return character;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return `<${codePointName(code)}>`;
}

/** Replaces invisible characters, including line ends. */
export function visible(text: string): string {
  if (/^[ -~]*$/.test(text)) return text;
  let shown = '';
  for (const character of text) shown += visibleCodePoint(character.codePointAt(0)!);
  return shown;
}

/** Returns the name of a code point: `U+00E9`. */
export function codePointName(code: number): string {
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Quotes a text; escapes quotes and backslashes as in JSON. */
export function quoted(text: string): string {
  return `"${visible(text.replace(/["\\]/g, '\\$&'))}"`;
}

/** Quotes the first 40 characters of a text. */
export function quotedShort(text: string): string {
  return quoted(text.length > 40 ? `${text.slice(0, 40)}...` : text);
}

/** Returns the width of a text in terminal columns. */
export function columnsOf(shown: string): number {
  let columns = 0;
  for (const character of shown) if (!COMBINING.test(character)) columns += WIDE.test(character) ? 2 : 1;
  return columns;
}

/** Converts anything to a string without throwing. */
export function anyText(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return String(value);
  } catch {
    return typeof value;
  }
}
