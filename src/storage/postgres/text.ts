/** Text in PostgreSQL, which has neither U+0000 nor lone surrogates. */

/** The character that begins the escapes. */
const ESCAPE = '\u0001';

/** Returns a text that PostgreSQL can store. {@link decodeText} returns the original. */
export function encodeText(text: string): string {
  if (!UNUSUAL.test(text)) return text;
  return text.replace(ALL_UNUSUAL, (found) => `${ESCAPE}${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Returns the text of an encoded one. */
export function decodeText(text: string): string {
  if (!text.includes(ESCAPE)) return text;
  return text.replace(ESCAPED, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to escape.
const UNUSUAL = /[\u0000\u0001\p{Surrogate}]/u;
const ALL_UNUSUAL = new RegExp(UNUSUAL, 'gu');
// biome-ignore lint/suspicious/noControlCharactersInRegex: it begins the escapes.
const ESCAPED = /\u0001([0-9a-f]{4})/g;
