/** Values as text for a store: JSON, which has no bigints and no references, with a mark for them. */
import { Reference } from '../message/reference.js';

/** Begins the text of what JSON cannot write; a string that begins with it gets another one in front. */
const MARK = '\u0001';

/** @throws TypeError on what neither JSON nor the mark can write */
export function toText(value: unknown): string {
  return JSON.stringify(value, function mark(this: Readonly<Record<string, unknown>>, key: string, member: unknown) {
    // A reference has turned itself into JSON by now.
    const own = this[key];
    if (own instanceof Reference) return `${MARK}$${own.path}`;
    if (typeof member === 'bigint') return `${MARK}${member}`;
    if (typeof member === 'string' && member.startsWith(MARK)) return MARK + member;
    return member;
  });
}

/** What {@link toText} wrote. Objects have no prototype. */
export function fromText(text: string): unknown {
  return JSON.parse(text, (_key, member: unknown) => {
    if (typeof member === 'string' && member.startsWith(MARK)) return unmarked(member.slice(MARK.length));
    if (isObject(member)) Object.setPrototypeOf(member, null);
    return member;
  });
}

function unmarked(rest: string): unknown {
  if (rest.startsWith(MARK)) return rest;
  return rest.startsWith('$') ? new Reference(rest.slice(1)) : BigInt(rest);
}

function isObject(value: unknown): value is object {
  return value !== null && typeof value === 'object' && !Array.isArray(value) && !(value instanceof Reference);
}
