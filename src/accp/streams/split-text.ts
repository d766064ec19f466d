/** A text in pieces of limited length. */

const SPACE = /\s/;

/**
 * Cuts a text in front of white space where it can, else anywhere but in the middle of a character. Joined, the pieces
 * are the text; the empty text has none.
 *
 * @param maxText the most UTF-16 code units of a piece, from 1 on; only a character of two may be longer
 */
export function splitText(text: string, maxText: number): string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = text.length - start <= maxText ? text.length : cutOf(text, start, start + maxText);
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}

/** The last place up to `limit` where the text may be cut. */
function cutOf(text: string, start: number, limit: number): number {
  for (let at = limit; at > start; at--) {
    if (SPACE.test(text[at]!)) return at;
  }
  const splitsPair =
    isBetween(text.charCodeAt(limit - 1), 0xd800, 0xdbff) && isBetween(text.charCodeAt(limit), 0xdc00, 0xdfff);
  if (!splitsPair) return limit;
  return limit - 1 > start ? limit - 1 : limit + 1;
}

function isBetween(code: number, first: number, last: number): boolean {
  return code >= first && code <= last;
}
