/** What an action is about, as against what only belongs to it. */
import { isAdjective, isFormat } from './lexicon/kinds.js';
import type { Draft, Reader } from './reader.js';

/**
 * The heads for each action and relation: the manager in "the manager of the employee", "the employee's manager". English puts
 * what belongs to a thing before it, or behind a preposition. Things joined by "and" are heads together.
 */
export function headsOf({ contents, actions, refers }: Reader): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, Draft[]>();
  for (const content of contents) {
    if (content.light || content.quality || content.key.startsWith('~')) continue;
    if (isAdjective(content.key) || isFormat(content.key)) continue;
    const name = `${actions[content.action] ?? ''} ${content.role}`;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [content]);
    else group.push(content);
  }
  return new Map([...groups].map(([name, group]) => [name, headOf(group, refers)]));
}

function headOf(all: readonly Draft[], refers: boolean): readonly string[] {
  const behind = refers ? all : all.filter(({ aside }) => !aside);
  const group = behind.length > 0 ? behind : all;
  const phrase = group.reduce((least, content) => Math.min(least, content.phrase), Number.POSITIVE_INFINITY);
  const heads = new Map<number, string>();
  for (const content of group) if (content.phrase === phrase) heads.set(content.conjunct, content.key);
  return [...new Set(heads.values())].sort();
}
