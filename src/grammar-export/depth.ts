import { NOTHING, type Pattern, rebuilt, referencesOf } from './context-free.js';

/** Rules that nest in each other, and in themselves. */
export interface DepthLimit {
  readonly rules: readonly string[];
  /** How many of them, together, may be open at a time; 0 for none at all. */
  readonly max: number;
}

/**
 * Writes nesting rules once for each level: `value` stands outside of all of them, `value_1` inside of one.
 * @throws RangeError on an unknown rule, or a limit that is not an integer from 0 to 100
 */
export function limitDepth(
  rules: ReadonlyMap<string, Pattern>,
  startRule: string,
  limit: DepthLimit,
): ReadonlyMap<string, Pattern> {
  if (!Number.isInteger(limit.max) || limit.max < 0 || limit.max > 100) {
    throw new RangeError(`Nesting can be limited to 0 to 100 levels, not to ${limit.max}`);
  }
  const unknown = limit.rules.find((name) => !rules.has(name));
  if (unknown !== undefined) throw new RangeError(`There is no rule ${unknown} of which the nesting could be limited`);

  const nesting = new Set(limit.rules);
  const leading = rulesLeadingTo(nesting, rules);
  const nameAt = namesOf(rules, leading);
  const made: [string, Pattern][] = [];
  for (const [name, pattern] of rules) {
    if (!leading.has(name)) made.push([name, pattern]);
    // The whole text is in no rule: to begin with one that nests is to open it.
    else if (nesting.has(name) && name === startRule) made.push([name, at(0)({ kind: 'rule', name })]);
    if (!leading.has(name)) continue;
    // A rule that nests is inside of itself at least.
    for (let level = nesting.has(name) ? 1 : 0; level <= limit.max; level++) {
      made.push([nameAt(name, level), at(level)(pattern)]);
    }
  }
  return new Map(made);

  function at(level: number): (pattern: Pattern) => Pattern {
    return (pattern) =>
      rebuilt(pattern, (part) => {
        if (part.kind !== 'rule' || !leading.has(part.name)) return part;
        if (!nesting.has(part.name)) return { kind: 'rule', name: nameAt(part.name, level) };
        return level === limit.max ? NOTHING : { kind: 'rule', name: nameAt(part.name, level + 1) };
      });
  }
}

function rulesLeadingTo(targets: ReadonlySet<string>, rules: ReadonlyMap<string, Pattern>): ReadonlySet<string> {
  const found = new Set(targets);
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const [name, pattern] of rules) if (referencesOf(pattern).some((other) => found.has(other))) found.add(name);
  }
  return found;
}

function namesOf(
  rules: ReadonlyMap<string, Pattern>,
  leading: ReadonlySet<string>,
): (name: string, level: number) => string {
  let mark = '_';
  const numbered = /^\d+$/;
  const clashes = (): boolean =>
    [...leading].some((name) =>
      [...rules.keys()].some(
        (other) => other.startsWith(name + mark) && numbered.test(other.slice(name.length + mark.length)),
      ),
    );
  while (clashes()) mark += '_';
  return (name, level) => (level === 0 ? name : `${name}${mark}${level}`);
}
