/** White space and letter case as protocols define them, which is for ASCII alone: JavaScript's own `trim` and `toLowerCase` know more. */

/** Returns a text without spaces and tabs at its ends (RFC 9110, section 5.6.3), in time proportional to its length. */
export function withoutBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

/** Returns a text with the letters A to Z in lower case; the Kelvin sign (U+212A), for one, does not become `k`. */
export function asciiLowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x09;
}
