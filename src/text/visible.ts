/**
 * Text made safe to look at: every character that a terminal would act on, or a reader could not see, becomes a visible
 * stand-in, so that one source character never hides, moves or overwrites another.
 */

/** True of characters that print nothing or steer the terminal: controls, bidirectional marks, zero-width, lone surrogates. */
function isInvisible(code: number): boolean {
  return (
    code < 0x20 ||
    (code >= 0x7f && code <= 0xa0) ||
    code === 0xad ||
    code === 0x061c ||
    (code >= 0x180b && code <= 0x180f) ||
    (code >= 0x200b && code <= 0x200f) ||
    (code >= 0x2028 && code <= 0x202f) ||
    (code >= 0x2060 && code <= 0x206f) ||
    (code >= 0xd800 && code <= 0xdfff) ||
    (code >= 0xfe00 && code <= 0xfe0f) ||
    code === 0xfeff ||
    (code >= 0xfff9 && code <= 0xfffb) ||
    (code >= 0xe0000 && code <= 0xe0fff)
  );
}

/** One code point as it may be shown: itself, a control picture (U+2400 ff.), or its number as `<U+202E>`. */
export function visibleCodePoint(code: number): string {
  if (!isInvisible(code)) return String.fromCodePoint(code);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return `<${codePointName(code)}>`;
}

/** `text` with every invisible character replaced by a stand-in. Line ends count as invisible. */
export function visible(text: string): string {
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
  let inner = '';
  for (const character of text) {
    if (character === '"' || character === '\\') inner += `\\${character}`;
    else inner += visibleCodePoint(character.codePointAt(0)!);
  }
  return `"${inner}"`;
}

/** Columns that a shown character takes in a terminal: 2 for the wide East Asian and emoji blocks, 1 otherwise. */
export function columnsOf(shown: string): number {
  let columns = 0;
  for (const character of shown) columns += isWide(character.codePointAt(0)!) ? 2 : 1;
  return columns;
}

function isWide(code: number): boolean {
  return (
    (code >= 0x1100 && code <= 0x115f) ||
    (code >= 0x2e80 && code <= 0xa4cf) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xfe30 && code <= 0xfe6f) ||
    (code >= 0xff00 && code <= 0xff60) ||
    (code >= 0xffe0 && code <= 0xffe6) ||
    (code >= 0x1f300 && code <= 0x1faff) ||
    (code >= 0x20000 && code <= 0x3fffd)
  );
}
