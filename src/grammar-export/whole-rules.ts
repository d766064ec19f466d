/** What `code-points.ts` leaves behind: rules that say next to nothing, and sets of which half stands elsewhere. */
import type { Pattern } from './context-free.js';
import { isEmpty, rebuilt, referencesOf } from './patterns.js';
import { LAST_CODE_POINT, LAST_UNIT, unionOf } from './ranges.js';

type Rules = ReadonlyMap<string, Pattern>;

/** Rules that are not the grammar's own, and only a set or nothing, are written where they are used. */
export function withoutHelpers(rules: Rules, own: ReadonlySet<string>): Rules {
  let made = rules;
  for (let before = -1; before !== made.size; ) {
    before = made.size;
    const small = new Map(
      [...made].filter(([name, pattern]) => !own.has(name) && (pattern.kind === 'set' || isEmpty(pattern))),
    );
    const written = (part: Pattern): Pattern => (part.kind === 'rule' ? (small.get(part.name) ?? part) : part);
    made = new Map(
      [...made].filter(([name]) => !small.has(name)).map(([name, pattern]) => [name, rebuilt(pattern, written)]),
    );
  }
  return made;
}

/**
 * Where characters beyond U+FFFF are an alternative to a rule that has all up to there, and is used nowhere else, they become
 * part of that rule: `(char / astral)*` with `char = [^a]` up to U+FFFF is `char*` without an end to it.
 */
export function wholeAgain(rules: Rules, startRule: string): Rules {
  const uses = new Map([[startRule, 1]]);
  for (const name of [...rules.values()].flatMap(referencesOf)) uses.set(name, (uses.get(name) ?? 0) + 1);
  const made = new Map(rules);
  // Rules that are being changed already.
  const open = new Set<string>();

  /** The pattern with the characters in it; null where it has no place for them. */
  const withAll = (pattern: Pattern, added: Pattern & { readonly kind: 'set' }): Pattern | null => {
    if (pattern.kind === 'set') {
      const reachesUp = pattern.ranges.some(([, last]) => last === LAST_UNIT);
      return reachesUp ? { kind: 'set', ranges: unionOf(pattern.ranges, added.ranges) } : null;
    }
    if (pattern.kind === 'rule') {
      if (uses.get(pattern.name) !== 1 || open.has(pattern.name)) return null;
      open.add(pattern.name);
      const body = withAll(made.get(pattern.name)!, added);
      open.delete(pattern.name);
      if (body !== null) made.set(pattern.name, body);
      return body === null ? null : pattern;
    }
    return pattern.kind === 'choice' ? withAllInOne(pattern.items, added) : null;
  };

  const withAllInOne = (items: readonly Pattern[], added: Pattern & { readonly kind: 'set' }): Pattern | null => {
    for (const [index, item] of items.entries()) {
      const changed = item === added ? null : withAll(item, added);
      if (changed === null) continue;
      const rest = items.with(index, changed).filter((other) => other !== added);
      return rest.length === 1 ? rest[0]! : { kind: 'choice', items: rest };
    }
    return null;
  };

  for (const name of rules.keys()) {
    open.add(name);
    const pattern = rebuilt(made.get(name)!, (part) => {
      const added = part.kind === 'choice' ? part.items.find(isAstral) : undefined;
      return part.kind === 'choice' && added !== undefined ? (withAllInOne(part.items, added) ?? part) : part;
    });
    made.set(name, pattern);
    open.delete(name);
  }
  return made;
}

function isAstral(pattern: Pattern): pattern is Pattern & { readonly kind: 'set' } {
  return (
    pattern.kind === 'set' && pattern.ranges.every(([first, last]) => first > LAST_UNIT && last <= LAST_CODE_POINT)
  );
}
