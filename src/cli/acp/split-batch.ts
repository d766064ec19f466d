/** The entries of a batch as they stand in its text. */

/**
 * The texts of the items of a JSON array, which must be one: read and written anew, an integer might lose digits.
 *
 * @example
 * splitArray('[{"id":1}, {"id":2}]') // ['{"id":1}', '{"id":2}']
 */
export function splitArray(text: string): readonly string[] {
  const items: string[] = [];
  let depth = 0;
  let from = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (isInString) {
      if (unit === BACKSLASH) at++;
      else if (unit === QUOTE) isInString = false;
      continue;
    }
    if (unit === QUOTE) isInString = true;
    // A bracket or a brace: their codes differ in one bit.
    else if ((unit | 0x20) === OPEN && ++depth === 1) from = at + 1;
    else if ((unit | 0x20) === CLOSE) depth--;
    if (!(unit === COMMA && depth === 1) && !(depth === 0 && (unit | 0x20) === CLOSE)) continue;
    const item = text.slice(from, at).trim();
    if (item !== '') items.push(item);
    from = at + 1;
  }
  return items;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
