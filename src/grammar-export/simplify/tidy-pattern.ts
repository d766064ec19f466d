/** A pattern that matches the same texts, and is nicer to read. */

import { charactersOf, concatenated, itemsOf, unionOfPatterns } from '../automata/algebra.js';
import type { Pattern } from '../context-free.js';
import { EMPTY, NOTHING, rebuilt, repeat, sequence } from '../patterns.js';

export function tidied(pattern: Pattern): Pattern {
  return rebuilt(pattern, (part) => {
    switch (part.kind) {
      case 'literal':
        return part.text === '' ? EMPTY : part;
      case 'set':
        return single(part);
      case 'choice':
        return alternatives(part.items);
      case 'sequence':
        return joinedLiterals(concatenated(part.items));
      case 'repeat':
        return flattened(part);
      default:
        return part;
    }
  });
}

function alternatives(items: readonly Pattern[]): Pattern {
  const union = unionOfPatterns(items);
  return union.kind === 'choice' ? { ...union, items: union.items.map(single) } : single(union);
}

/** A set of one character is written as that character, a set of none as nothing. */
function single(pattern: Pattern): Pattern {
  const ranges = charactersOf(pattern);
  if (ranges?.length === 0) return NOTHING;
  if (ranges?.length !== 1 || ranges[0]![0] !== ranges[0]![1]) return pattern;
  return { kind: 'literal', text: String.fromCodePoint(ranges[0]![0]), ignoreCase: false };
}

function joinedLiterals(pattern: Pattern): Pattern {
  const made: Pattern[] = [];
  for (const item of itemsOf(pattern)) {
    const before = made.at(-1);
    if (item.kind === 'literal' && before?.kind === 'literal' && item.ignoreCase === before.ignoreCase) {
      made[made.length - 1] = { ...item, text: before.text + item.text };
    } else {
      made.push(item);
    }
  }
  return sequence(made);
}

/** Repetitions of repetitions, as one where that is the same. */
function flattened(pattern: Extract<Pattern, { kind: 'repeat' }>): Pattern {
  const { item, min, max } = pattern;
  if (item.kind !== 'repeat') return pattern;
  if (item.max === null && item.min <= 1) return repeat(item.item, min * item.min, null);
  if (item.min === 0 && item.max === 1) return repeat(item.item, 0, max);
  return pattern;
}
