/** Patterns without rules as paths of a graph. */
import type { Pattern } from '../context-free.js';
import { partsOf } from '../patterns.js';
import type { Alphabet } from './alphabet.js';
import type { Graph } from './graph.js';

/** Adds paths to a state that spell the texts of a pattern, and returns the state in which they begin. */
export function pathsOf(pattern: Pattern, graph: Graph, exit: number, alphabet: Alphabet): number {
  const free = (from: number, to: number): void => graph.add(from, { kind: 'free', to });
  const step = (symbols: readonly number[], to: number): number => {
    const from = graph.state();
    graph.add(from, { kind: 'symbols', to, symbols, again: false });
    return from;
  };
  const spell = (part: Pattern, to: number): number => {
    switch (part.kind) {
      case 'set':
        return step(alphabet.symbolsOf(part.ranges), to);
      case 'literal':
        return alphabet.spelled(part).reduceRight((next, symbols) => step(symbols, next), to);
      case 'sequence':
        return part.items.reduceRight((next, item) => spell(item, next), to);
      case 'choice': {
        const from = graph.state();
        for (const item of part.items) free(from, spell(item, to));
        return from;
      }
      case 'repeat':
        return repeated(part, to);
      case 'rule':
        throw new RangeError(`The rule ${part.name} is not written out`);
    }
  };
  const repeated = ({ item, min, max }: Extract<Pattern, { kind: 'repeat' }>, to: number): number => {
    let next = graph.state();
    free(next, to);
    if (max === null) free(next, spell(item, next));
    for (let i = min; max !== null && i < max; i++) {
      const from = graph.state();
      free(from, to);
      free(from, spell(item, next));
      next = from;
    }
    for (let i = 0; i < min; i++) next = spell(item, next);
    return next;
  };
  return spell(pattern, exit);
}

/** About how many states `pathsOf` adds. */
export function statesOf(pattern: Pattern): number {
  if (pattern.kind === 'literal') return pattern.text.length;
  if (pattern.kind === 'repeat') return 1 + Math.max(pattern.min, pattern.max ?? 1) * statesOf(pattern.item);
  return 1 + partsOf(pattern).reduce((sum, part) => sum + statesOf(part), 0);
}
