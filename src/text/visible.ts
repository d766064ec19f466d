/** Makes text safe to show: every control or invisible character becomes a visible stand-in. */

/** Controls, formats, surrogates, unassigned characters; blanks other than the space; letters that show nothing. */
const INVISIBLE = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;
/** Two columns wide: East Asian wide forms and emoji. */
const WIDE =
  /[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;
const COMBINING = /\p{M}/u;

/** Shows a code point as itself, as a control picture (U+2400 ff.), or as `<U+202E>`. */
export function visibleCodePoint(code: number): string {
  const character = String.fromCodePoint(code);
  if (code === 0x20 || !INVISIBLE.test(character)) return character;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return `<${codePointName(code)}>`;
}

/** Replaces invisible characters, line ends included. */
export function visible(text: string): string {
  if (/^[ -~]*$/.test(text)) return text;
  let shown = '';
  for (const character of text) shown += visibleCodePoint(character.codePointAt(0)!);
  return shown;
}

/** The name of a code point: `U+00E9`. */
export function codePointName(code: number): string {
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Quotes a text, with quotes and backslashes escaped as in JSON. */
export function quoted(text: string): string {
  return `"${visible(text.replace(/["\\]/g, '\\$&'))}"`;
}

/** Quotes at most 40 characters. */
export function quotedShort(text: string): string {
  return quoted(text.length > 40 ? `${text.slice(0, 40)}...` : text);
}

/** Columns in a terminal. */
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
