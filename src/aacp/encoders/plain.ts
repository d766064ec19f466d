/** Whether a text is so plain that nothing more has to be checked. */

/** What a character of ASCII is: 0 to be looked at more closely, 1 plain, 2 the space, 3 the comma. */
const KINDS = new Uint8Array(128);
KINDS.fill(1, 0x21, 0x7f);
KINDS['|'.charCodeAt(0)] = 0;
KINDS[' '.charCodeAt(0)] = 2;
KINDS[','.charCodeAt(0)] = 3;

/** Longer texts are rare, and checked by what is faster for them. */
const MAX_LENGTH = 256;

/**
 * Whether a text is printable ASCII without "|", and without spaces at its ends. Such a text can stand in a field; most
 * values are such, and `checkedValue` takes several times as long. `false` says nothing.
 *
 * @param item whether it is to be an item of a list, and so without a comma
 */
export function isPlain(text: string, item: boolean): boolean {
  const { length } = text;
  if (length === 0 || length > MAX_LENGTH) return false;
  for (let at = 0; at < length; at++) {
    const code = text.charCodeAt(at);
    if (code > 127) return false;
    const kind = KINDS[code];
    if (kind === 1) continue;
    if (kind === 2 ? at === 0 || at === length - 1 : kind !== 3 || item) return false;
  }
  return true;
}
