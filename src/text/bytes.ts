/** Returns whether a text is longer than `bytes` in UTF-8. Counts only if necessary: a code unit takes at most three bytes. */
export function isLonger(text: string, bytes: number): boolean {
  if (text.length > bytes) return true;
  return text.length * 3 > bytes && byteLength(text) > bytes;
}

/** Returns the length of a text in bytes of UTF-8. A lone surrogate counts as U+FFFD. */
export function byteLength(text: string): number {
  // Most messages are ASCII.
  if (/^[\0-\x7f]*$/.test(text)) return text.length;
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0)!;
    bytes += 1 + Number(code >= 0x80) + Number(code >= 0x800) + Number(code >= 0x1_0000);
  }
  return bytes;
}
