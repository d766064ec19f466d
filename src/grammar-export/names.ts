/** Names of rules in languages that allow fewer names than Peggy. */

/**
 * A new name for each old one: unique, and by the rules of the language.
 *
 * @param fixed names that are given, by the old ones
 * @param spell makes a name of the language from an old one; the empty text where nothing of it is left
 * @param reserved names that mean something else to a reader of the language
 */
export function renamed(
  names: Iterable<string>,
  fixed: ReadonlyMap<string, string>,
  spell: (name: string) => string,
  separator: string,
  reserved: readonly string[] = [],
): ReadonlyMap<string, string> {
  const taken = new Set([...fixed.values(), ...reserved]);
  const result = new Map(fixed);
  for (const name of names) {
    if (result.has(name)) continue;
    const base = spell(name) || spell('rule');
    let candidate = base;
    for (let number = 2; taken.has(candidate); number++) candidate = `${base}${separator}${number}`;
    taken.add(candidate);
    result.set(name, candidate);
  }
  return result;
}

/** Words of a name, apart where it changes from small letters to capitals, in ASCII and small letters. */
export function wordsOf(name: string): string[] {
  const apart = name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase();
  return apart.split(/[^a-z0-9]+/).filter((word) => word !== '');
}
