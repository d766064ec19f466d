/** The text of values in a store: JSON with marks for bigints and references. */
import { isJsonObject, isPlainObject, Reference } from '../message/json.js';
import { StoreError } from './store.js';

/** The prefix of bigints and references; a string that begins with it is prefixed, too. */
const MARK = '\u0001';
const MARK_CODE = 1;

/** Returns the text of a value. Throws TypeError if the value is not JSON, a bigint or a reference. */
export function toText(value: unknown): string {
  if (isPlain(value)) return JSON.stringify(value);
  return JSON.stringify(value, function mark(this: Readonly<Record<string, unknown>>, key: string, member: unknown) {
    // `member` is the result of the reference's toJSON.
    const own = this[key];
    if (own instanceof Reference) return `${MARK}$${own.path}`;
    if (typeof member === 'bigint') return `${MARK}${member}`;
    if (typeof member === 'string' && member.startsWith(MARK)) return MARK + member;
    return member;
  });
}

/** Returns `true` if a value needs no marks. This check is faster than a replacer, and most values are plain. */
function isPlain(value: unknown): boolean {
  switch (typeof value) {
    case 'string':
      return value.charCodeAt(0) !== MARK_CODE;
    case 'number':
    case 'boolean':
      return true;
    case 'object':
      break;
    default:
      return false;
  }
  if (value === null) return true;
  if (Array.isArray(value)) return value.every(isPlain);
  if (!isPlainObject(value)) return false;
  for (const key in value) if (!isPlain(value[key])) return false;
  return true;
}

/** Parses the text of {@link toText}. Objects have no prototype. */
export function fromText(text: string): unknown {
  return JSON.parse(text, (_key, member: unknown) => {
    if (typeof member === 'string' && member.startsWith(MARK)) return unmarked(member.slice(MARK.length));
    if (isJsonObject(member)) Object.setPrototypeOf(member, null);
    return member;
  });
}

/** Parses text from a store. Throws StoreError `failed` if the store is damaged. */
export function storedValue(text: string): unknown {
  try {
    return fromText(text);
  } catch (cause) {
    throw new StoreError('failed', 'a value in the store is damaged', { cause });
  }
}

function unmarked(rest: string): unknown {
  if (rest.startsWith(MARK)) return rest;
  return rest.startsWith('$') ? new Reference(rest.slice(1)) : BigInt(rest);
}
