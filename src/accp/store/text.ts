/** Values as text for a store: JSON, which has no bigints and no references, with a mark for them. */
import { isJsonObject, isPlainObject, Reference } from '../message/json.js';
import { StoreError } from './store.js';

/** Begins the text of what JSON cannot write; a string that begins with it gets another one in front. */
const MARK = '\u0001';

/** @throws TypeError on what neither JSON nor the mark can write */
export function toText(value: unknown): string {
  if (isPlain(value)) return JSON.stringify(value);
  return JSON.stringify(value, function mark(this: Readonly<Record<string, unknown>>, key: string, member: unknown) {
    // A reference has turned itself into JSON by now.
    const own = this[key];
    if (own instanceof Reference) return `${MARK}$${own.path}`;
    if (typeof member === 'bigint') return `${MARK}${member}`;
    if (typeof member === 'string' && member.startsWith(MARK)) return MARK + member;
    return member;
  });
}

/** Whether JSON writes a value as it is; most are so, and looking is faster than having each member looked at while it is written. */
function isPlain(value: unknown): boolean {
  switch (typeof value) {
    case 'string':
      return !value.startsWith(MARK);
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

/** What {@link toText} wrote. Objects have no prototype. */
export function fromText(text: string): unknown {
  return JSON.parse(text, (_key, member: unknown) => {
    if (typeof member === 'string' && member.startsWith(MARK)) return unmarked(member.slice(MARK.length));
    if (isJsonObject(member)) Object.setPrototypeOf(member, null);
    return member;
  });
}

/**
 * The same for what a store gave.
 *
 * @throws StoreError with reason `failed` on what {@link toText} has not written: the store is damaged
 */
export function storedValue(text: string): unknown {
  try {
    return fromText(text);
  } catch (cause) {
    throw new StoreError('failed', 'a value of the store is damaged, and cannot be read', { cause });
  }
}

function unmarked(rest: string): unknown {
  if (rest.startsWith(MARK)) return rest;
  return rest.startsWith('$') ? new Reference(rest.slice(1)) : BigInt(rest);
}
