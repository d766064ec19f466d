/**
 * Text made safe to look at: every character that a terminal would act on, or a reader could not see, becomes a visible
 * stand-in, so that one source character never hides, moves or overwrites another.
 */

/** Controls, formats, surrogates, unassigned characters; blanks other than the space; and letters that show nothing. */
const INVISIBLE = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;
/** Shown in two columns by terminals: East Asian wide forms, and what stands as an emoji by itself. */
const WIDE =
  /[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;
/** Drawn over the character before it. */
const COMBINING = /\p{M}/u;

/** One code point as it may be shown: itself, a control picture (U+2400 ff.), or its number as `<U+202E>`. */
export function visibleCodePoint(code: number): string {
  const character = String.fromCodePoint(code);
  if (code === 0x20 || !INVISIBLE.test(character)) return character;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return `<${codePointName(code)}>`;
}

/** `text` with every invisible character replaced by a stand-in. Line ends count as invisible. */
export function visible(text: string): string {
  // Most texts are plain, and looked at once.
  if (/^[ -~]*$/.test(text)) return text;
  let shown = '';
  for (const character of text) shown += visibleCodePoint(character.codePointAt(0)!);
  return shown;
}

/** `U+00E9`: the usual name of a code point, for messages. */
export function codePointName(code: number): string {
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** `text` between double quotes, as data: quotes and backslashes escaped as in JSON, nothing invisible left. */
export function quoted(text: string): string {
  return `"${visible(text.replace(/["\\]/g, '\\$&'))}"`;
}

/** Like {@link quoted}, but cut to what a message can hold. */
export function quotedShort(text: string): string {
  return quoted(text.length > 40 ? `${text.slice(0, 40)}...` : text);
}

/** Columns that a shown text takes in a terminal. */
export function columnsOf(shown: string): number {
  let columns = 0;
  for (const character of shown) if (!COMBINING.test(character)) columns += WIDE.test(character) ? 2 : 1;
  return columns;
}

/** Anything as a string, without throwing: hand-built trees may hold what their types forbid. */
export function anyText(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return String(value);
  } catch {
    return typeof value;
  }
}
