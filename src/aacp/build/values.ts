/** Values of fields (draft-mackay-aacp-01, section 4). */
import { digitsOf } from '../../text/decimal.js';
import { type ErrorDetails, type ErrorJson, PegwireError } from '../../text/errors.js';
import { characterAt, characterName } from '../../text/parser-errors.js';
import { CONTROL, KEY, WORD } from '../vocabulary.js';

/**
 * The code of an `EncodeError`. `separator`: a "|" in a value would begin another field. `list-separator`: a comma in an item would make
 * two items. `bad-input`: a value has the wrong type or form. `invalid-packet`: the result of a template or a definition is not valid.
 * `unprintable`: a tree is not a packet, or cannot be written. `src/aacp/ERRORS.md` describes all of them.
 */
export type EncodeCode =
  | 'separator'
  | 'list-separator'
  | 'control-character'
  | 'whitespace'
  | 'empty-value'
  | 'bad-task'
  | 'bad-dom'
  | 'bad-key'
  | 'duplicate-key'
  | 'bad-input'
  | 'missing-input'
  | 'unknown-input'
  | 'unknown-encoder'
  | 'unknown-method'
  | 'invalid-packet'
  | 'unprintable';

/** The error thrown when the input cannot be written as a packet that parses to the same fields. Nothing is written. */
export class EncodeError extends PegwireError {
  /** The name of the class. */
  override readonly name: string = 'EncodeError';
  declare readonly code: EncodeCode;
  /** The input that cannot be written: `supplier`, `fields[2]`, `task`. */
  readonly path: string;

  constructor(
    details: ErrorDetails & { readonly code: EncodeCode; readonly message: string; readonly path: string },
    options?: ErrorOptions,
  ) {
    super({ ...details, message: `${details.path}: ${details.message}` }, options);
    this.path = details.path;
  }

  override toJSON(): ErrorJson {
    return { ...super.toJSON(), path: this.path };
  }
}

/** Returns the text of a value, or `null` if the field is omitted. */
export function fieldText(value: unknown, path: string, checked = checkedValue): string | null {
  if (typeof value === 'string') return checked(value, path);
  if (value === null || value === undefined) return null;
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return digitsOf(value);
    throw encodeError('bad-input', path, `is ${value}, which is not a finite number`);
  }
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return listText(value, path);
  throw unwritable(value, path);
}

function listText(list: readonly unknown[], path: string): string | null {
  // Not map: it would skip the holes of a sparse list.
  const items = Array.from(list, (item, index) => {
    const at = `${path}[${index}]`;
    if (typeof item !== 'string')
      throw encodeError('bad-input', at, `is ${kindOf(item)}; the items of a list must be strings`);
    if (!item.includes(',')) return checkedValue(item, at);
    throw encodeError('list-separator', at, 'contains a ","', 'a comma separates items; pass two items instead');
  });
  return items.length === 0 ? null : items.join(',');
}

export function unwritable(value: unknown, path: string): EncodeError {
  return encodeError('bad-input', path, `is ${kindOf(value)}, which cannot be written`, writeInstead(value));
}

function writeInstead(value: unknown): string {
  if (typeof value === 'boolean')
    return `write the word that the receiver expects: '${value ? 'true' : 'false'}', 'yes'`;
  if (value instanceof Date) return "write the date as a string: '2024-08-31'";
  return 'values are strings, numbers and lists of strings';
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  return value instanceof Date ? 'a Date' : `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`;
}

export function checkedTask(task: unknown, path = 'task'): string {
  return checkedWord(task, path, 'bad-task', 'FETCH');
}

export function checkedDomain(domain: unknown, path = 'domain'): string {
  return checkedWord(domain, path, 'bad-dom', 'HR');
}

function checkedWord(word: unknown, path: string, code: EncodeCode, example: string): string {
  if (word === undefined || word === null) throw encodeError('missing-input', path, 'is missing');
  if (typeof word === 'string' && WORD.test(word)) return word;
  const message = 'must consist of capital letters, digits, "_" and "-", and begin with a letter';
  throw encodeError(code, path, message, `write a word such as ${example}`);
}

export function checkedKey(key: string, path = key): string {
  if (KEY.test(key)) return key;
  const lower = key.toLowerCase();
  const help = KEY.test(lower) ? `write "${lower}"` : undefined;
  const message = 'is not a key: keys consist of lower-case letters, digits and "_", and begin with a letter';
  throw encodeError('bad-key', path, message, help);
}

export function encodeError(code: EncodeCode, path: string, message: string, help?: string): EncodeError {
  return new EncodeError({ code, path, message, help });
}

/** Printable ASCII without a separator or outer blanks, like most values. */
const PLAIN = /^[!-{}~](?:[ -{}~]*[!-{}~])?$/;

/** Checks that a value can be written and parses to itself. @throws EncodeError otherwise */
export function checkedValue(value: string, path: string): string {
  if (PLAIN.test(value)) return value;
  if (value === '') throw encodeError('empty-value', path, 'is empty', 'omit it');
  const separator = value.indexOf('|');
  if (separator >= 0) {
    throw encodeError('separator', path, 'contains a "|"', 'AACP has no escapes: "|" would begin another field');
  }
  const control = CONTROL.exec(value);
  if (control !== null) {
    throw encodeError('control-character', path, `contains a control character (${characterName(control[0])})`);
  }
  // Readers remove blanks around tokens.
  if (value !== value.trim())
    throw encodeError('whitespace', path, `begins or ends with white space (${blankAt(value)})`);
  // UTF-8 cannot encode a lone surrogate.
  if (/\p{Surrogate}/u.test(value)) throw encodeError('bad-input', path, 'contains a lone surrogate');
  return value;
}

function blankAt(value: string): string {
  return characterName(characterAt(value, value.trimStart() === value ? value.length - 1 : 0) ?? '');
}
