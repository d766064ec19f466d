/** Names as SQLite can hold them: it cuts text at a zero character, and writes UTF-8, which has no lone surrogates. */

/** Begins the text of what could not be held as it is. */
const MARK = '\u0001';

const LONE_SURROGATE = /\p{Surrogate}/u;

/** A name as text that comes back exactly; most names are their own. */
export function heldName(name: string): string {
  const unsafe = name.startsWith(MARK) || name.includes('\0') || LONE_SURROGATE.test(name);
  return unsafe ? MARK + JSON.stringify(name) : name;
}

/** What {@link heldName} was given. */
export function nameOf(held: string): string {
  return held.startsWith(MARK) ? (JSON.parse(held.slice(MARK.length)) as string) : held;
}
