/** What may stand in a field (draft-mackay-aacp-01, section 4). Everything that builds packets asks here. */
import { characterAt, nameOf } from '../../text/expectations.js';
import { CONTROL } from '../vocabulary.js';
import { type EncodeCode, EncodeError } from './errors.js';

/** Printable ASCII without a separator and without a blank at either end: what most values are. */
const PLAIN = /^[!-{}~](?:[ -{}~]*[!-{}~])?$/;

/**
 * The value as it is, when it can stand in a field and reads back as itself.
 *
 * @param path the input that it comes from, for the error
 * @throws EncodeError with code `empty-value`, `separator`, `control-character` or `whitespace`
 */
export function checkedValue(value: string, path: string): string {
  if (PLAIN.test(value)) return value;
  if (value === '') throw refusal('empty-value', path, 'is empty', 'leave it out');
  const separator = value.indexOf('|');
  if (separator >= 0) {
    throw refusal('separator', path, 'holds a "|"', 'AACP has no escapes: "|" would begin another field');
  }
  const control = CONTROL.exec(value);
  if (control !== null) {
    throw refusal('control-character', path, `holds a control character (${nameOf(control[0])})`);
  }
  // Readers take blanks around tokens away.
  if (value !== value.trim()) throw refusal('whitespace', path, `begins or ends with white space (${blankAt(value)})`);
  // Half of a character beyond U+FFFF cannot be written as UTF-8: it would become another character.
  if (/\p{Surrogate}/u.test(value)) throw refusal('bad-input', path, 'holds half of a surrogate pair');
  return value;
}

/**
 * The items of a list, joined with commas.
 *
 * @throws EncodeError as `checkedValue` does, with the path of the item, and with code `list-separator` on an item with a comma
 */
export function joinedList(items: readonly string[], path: string): string {
  return items.map((item, index) => checkedItem(item, `${path}[${index}]`)).join(',');
}

function checkedItem(item: string, path: string): string {
  if (item.includes(',')) {
    throw refusal('list-separator', path, 'holds a ","', 'a comma would make two items of it; give them as two');
  }
  return checkedValue(item, path);
}

function blankAt(value: string): string {
  return nameOf(characterAt(value, value.trimStart() === value ? value.length - 1 : 0) ?? '');
}

function refusal(code: EncodeCode, path: string, message: string, help?: string): EncodeError {
  return new EncodeError({ code, path, message, help });
}
