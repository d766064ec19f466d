/** Counts bytes only if needed: UTF-8 takes at most three per code unit. */
export function isLonger(text: string, bytes: number): boolean {
  if (text.length > bytes) return true;
  return text.length * 3 > bytes && byteLength(text) > bytes;
}

/** Length in UTF-8. A lone surrogate counts as U+FFFD. */
export function byteLength(text: string): number {
  if (/^[\0-\x7f]*$/.test(text)) return text.length;
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= 0x80) bytes++;
    // A pair is two units and four bytes.
    if (unit >= 0x800 && !isSecondOfPair(text, at) && !isFirstOfPair(text, at)) bytes++;
  }
  return bytes;
}

function isFirstOfPair(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
}

function isSecondOfPair(text: string, at: number): boolean {
  return at > 0 && (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
}
