/** Names of tools, where others allow fewer characters than ARCP does. */

/** What the providers of models take as the name of a tool. */
const ALLOWED = /^[A-Za-z0-9_-]{1,64}$/;
const MOST = 64;

/**
 * For each name one that is allowed, and no two the same: what is not allowed is `_`, and where that makes two alike, a number is put behind.
 *
 * @returns the names that are told, by those that they stand for
 */
export function allowedNames(names: readonly string[]): ReadonlyMap<string, string> {
  const told = new Map<string, string>();
  const taken = new Set(names.filter((name) => ALLOWED.test(name)));
  for (const name of names) {
    if (told.has(name)) continue;
    told.set(name, ALLOWED.test(name) ? name : free(name.replace(/[^A-Za-z0-9_-]/g, '_') || '_', taken));
  }
  return told;
}

function free(name: string, taken: Set<string>): string {
  for (let n = 1; ; n++) {
    const ending = n === 1 ? '' : `_${n}`;
    const candidate = `${name.slice(0, MOST - ending.length)}${ending}`;
    if (taken.has(candidate)) continue;
    taken.add(candidate);
    return candidate;
  }
}

/** The name of a tool that was told by another name; the name itself where none was. */
export function originalName(told: string, names: readonly string[]): string {
  for (const [name, other] of allowedNames(names)) if (other === told) return name;
  return told;
}
