/** Names for SQLite, which cuts text at a zero character, and writes UTF-8, which has no lone surrogates. */

const MARK = '\u0001';

const LONE_SURROGATE = /\p{Surrogate}/u;

/** Encodes a name reversibly; most names are unchanged. */
export function heldName(name: string): string {
  const unsafe = name.startsWith(MARK) || name.includes('\0') || LONE_SURROGATE.test(name);
  return unsafe ? MARK + JSON.stringify(name) : name;
}

export function nameOf(held: string): string {
  return held.startsWith(MARK) ? (JSON.parse(held.slice(MARK.length)) as string) : held;
}
