/** Strings that a frame holds as they are, and numbers that are spelled as a frame would print them. */
import type { Value } from '../ast.js';
import { decimalOf, integerOf } from '../numbers.js';

const VISIBLE = /^[!-~]+$/;
/** Strings that would read back as another kind. */
const OTHER_KIND = /^(?:true|false|-?[0-9]+(?:\.[0-9]+)?)$/;
const CANONICAL_INTEGER = /^(?:0|-?[1-9][0-9]*)$/;
const CANONICAL_DECIMAL = /^-?(?:0|[1-9][0-9]*)\.(?:0|[0-9]{0,5}[1-9])$/;

/** Whether the grammar can write a string (draft-benzing-accp-00, section 3.1); delimiters in it are the printer's to escape. */
export function isPlainText(text: string): boolean {
  return VISIBLE.test(text) && !OTHER_KIND.test(text);
}

/** Why the grammar cannot write a string, as the end of a sentence; `null` where it can. */
export function whyNotPlain(text: string): string | null {
  if (text === '') return 'an empty string cannot be written';
  if (!VISIBLE.test(text)) return 'only visible ASCII can be written, without spaces';
  if (OTHER_KIND.test(text)) return `the string "${text.slice(0, 40)}" would read back as another kind`;
  return null;
}

/**
 * The node of another kind whose canonical text is the given one: where a schema says that a field is a string, it is read as
 * that. `null` where there is none, as for `007`, which prints as `7`.
 */
export function nodeSpelled(text: string, maxDigits: number): Value | null {
  if (text === 'true' || text === 'false') return { kind: 'boolean', value: text === 'true' };
  // Signs and points are not counted as digits; a limit that is met to the point is not worth the trouble.
  if (text.length > maxDigits) return null;
  if (CANONICAL_INTEGER.test(text)) return integerOf(text);
  return CANONICAL_DECIMAL.test(text) && text !== '-0.0' ? decimalOf(text) : null;
}
