/**
 * Strings that every frame can hold (draft-benzing-accp-00, sections 3.1 and 3.3, whose grammar has no spaces, no characters
 * beyond ASCII, no empty strings, and no way to tell the string `42` from the number).
 *
 * Most strings of agents are names and paths, and are written as they are. The others begin with a mark: an apostrophe before
 * camel text, a double quote before JSON in camel text, for what nests too deep. A string that begins with a mark itself is
 * written as camel text. So every string comes back exactly, and what a plain writer sends is read as it stands unless it
 * begins with a mark.
 */
import { BadCamelText, fromCamelText, toCamelText } from './camel-text.js';
import { isPlainText } from './plain-text.js';

const TEXT_MARK = 0x27;
const JSON_MARK = 0x22;

/** Any string as one or more visible ASCII characters that read as no other kind of value. */
export function transliterate(text: string): string {
  return isPlainText(text) && !isMarked(text) ? text : `'${toCamelText(text)}`;
}

/** JSON text as a string that {@link isMarkedJson}. */
export function transliterateJson(json: string): string {
  return `"${toCamelText(json)}`;
}

/** Whether a written string begins with a mark, and does not stand for itself. */
export function isMarked(written: string): boolean {
  const first = written.charCodeAt(0);
  return first === TEXT_MARK || first === JSON_MARK;
}

/** Whether a written string stands for JSON text. */
export function isMarkedJson(written: string): boolean {
  return written.charCodeAt(0) === JSON_MARK;
}

/**
 * The text that a marked string stands for.
 *
 * @throws BadCamelText on what cannot be read
 */
export function textOfMarked(written: string): string {
  return fromCamelText(written, 1);
}

export { BadCamelText };
