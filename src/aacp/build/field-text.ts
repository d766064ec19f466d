/** From the values that programs have to the text of a field. */
import { digitsOf } from '../../text/decimal.js';
import { type EncodeCode, EncodeError } from './errors.js';
import { checkedValue, joinedList } from './values.js';

/** What a TASK and a DOM look like, and what a key looks like, where they are written (section 4). */
const WORD = /^[A-Z][A-Z0-9_-]*$/;
const KEY = /^[a-z][a-z0-9_]*$/;

/**
 * The text of a value; `null` where the field is left out.
 *
 * @param checked what a text has to pass; by default, what values given by hand have to
 * @throws EncodeError on anything that cannot be written so that it reads back as itself
 */
export function fieldText(value: unknown, path: string, checked = checkedValue): string | null {
  if (typeof value === 'string') return checked(value, path);
  if (value === null || value === undefined) return null;
  if (typeof value === 'number') return numberText(value, path);
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return listText(value, path);
  throw unwritable(value, path);
}

/** A number in plain digits. */
function numberText(value: number, path: string): string {
  if (Number.isFinite(value)) return digitsOf(value);
  throw new EncodeError({ code: 'bad-input', path, message: `is ${value}, which is no decimal number` });
}

function listText(list: readonly unknown[], path: string): string | null {
  // Not map: it would skip the holes of a sparse list.
  const items = Array.from(list, (item, index) => {
    if (typeof item === 'string') return item;
    throw refusal('bad-input', `${path}[${index}]`, `is ${kindOf(item)}; the items of a list are texts`);
  });
  return items.length === 0 ? null : joinedList(items, path);
}

/** The error for a value of a type that packets do not have. */
export function unwritable(value: unknown, path: string): EncodeError {
  return refusal('bad-input', path, `is ${kindOf(value)}, which cannot be written`, writeInstead(value));
}

function writeInstead(value: unknown): string {
  if (typeof value === 'boolean') return `write the word that the receiver knows: '${value ? 'true' : 'false'}', 'yes'`;
  if (value instanceof Date) return "write the date as text: '2024-08-31'";
  return 'values are texts, numbers and lists of texts';
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  return value instanceof Date ? 'a Date' : `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`;
}

/** @throws EncodeError with code `missing-input` or `bad-task` */
export function checkedTask(task: unknown, path = 'task'): string {
  return checkedWord(task, path, 'bad-task', 'FETCH');
}

/** @throws EncodeError with code `missing-input` or `bad-dom` */
export function checkedDomain(domain: unknown, path = 'domain'): string {
  return checkedWord(domain, path, 'bad-dom', 'HR');
}

function checkedWord(word: unknown, path: string, code: EncodeCode, example: string): string {
  if (word === undefined || word === null) throw refusal('missing-input', path, 'is missing');
  if (typeof word === 'string' && WORD.test(word)) return word;
  const message = 'is no word of capital letters, digits, "_" and "-" that begins with a letter';
  throw refusal(code, path, message, `write a word such as ${example}`);
}

/** @throws EncodeError with code `bad-key` */
export function checkedKey(key: string, path = key): string {
  if (KEY.test(key)) return key;
  const lower = key.toLowerCase();
  const help = KEY.test(lower) ? `write "${lower}"` : undefined;
  const message = 'is no key: keys are lower-case letters, digits and "_", and begin with a letter';
  throw refusal('bad-key', path, message, help);
}

export function refusal(code: EncodeCode, path: string, message: string, help?: string): EncodeError {
  return new EncodeError({ code, path, message, help });
}
