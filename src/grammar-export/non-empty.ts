/** Rules without the empty text, for engines whose terminals must not match it. */
import type { Pattern } from './context-free.js';
import { choice, isNullable, optional, rebuilt, repeat, sequence } from './patterns.js';

/**
 * The same language, in which none of the chosen rules matches the empty text: where one did, it is optional.
 *
 * @param isChosen rules that only refer to rules that are chosen, too
 */
export function withoutEmpty(
  rules: ReadonlyMap<string, Pattern>,
  isChosen: (name: string) => boolean,
): ReadonlyMap<string, Pattern> {
  const nullable = new Set([...nullableRules(rules)].filter(isChosen));
  const reference = (part: Pattern): Pattern =>
    part.kind === 'rule' && nullable.has(part.name) ? optional(part) : part;
  const changed = [...rules].map(([name, pattern]): [string, Pattern] => {
    const body = rebuilt(pattern, reference);
    return [name, nullable.has(name) ? nonEmpty(body) : body];
  });
  return new Map(changed);
}

/** Rules that match the empty text. */
export function nullableRules(rules: ReadonlyMap<string, Pattern>): ReadonlySet<string> {
  const found = new Set<string>();
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const [name, pattern] of rules) if (isNullable(pattern, (one) => found.has(one))) found.add(name);
  }
  return found;
}

/** All texts of a pattern but the empty one. Rules do not match the empty text. */
function nonEmpty(pattern: Pattern): Pattern {
  if (!isNullable(pattern, () => false)) return pattern;
  switch (pattern.kind) {
    case 'sequence':
      // One of the items is the first that matches some text.
      return choice(pattern.items.map((item, index) => sequence([nonEmpty(item), ...pattern.items.slice(index + 1)])));
    case 'choice':
      return choice(pattern.items.map(nonEmpty));
    case 'repeat':
      return repeat(nonEmpty(pattern.item), 1, pattern.max);
    default:
      return pattern;
  }
}
