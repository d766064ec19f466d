/** The shortest text that each part of a grammar matches: the way home for a generator that has used up its room. */
import type { ast } from 'peggy';
import { boundsOf, type Expression } from './expressions.js';

/** In code units, and one for each rule on the way, so that a way through rules that match nothing is not free. */
export type Size = (node: Expression) => number;

/** Of what matches no text, the size is Infinity. */
export function sizesOf(grammar: ast.Grammar): Size {
  const rules = new Map(grammar.rules.map(({ name }) => [name, Number.POSITIVE_INFINITY]));
  const known = new Map<Expression, number>();
  const size = (node: Expression): number => {
    switch (node.type) {
      case 'choice':
        return Math.min(...node.alternatives.map(size));
      case 'sequence':
        return node.elements.reduce((sum, element) => sum + size(element), 0);
      case 'optional':
      case 'zero_or_more':
        return 0;
      case 'one_or_more':
        return size(node.expression);
      case 'repeated': {
        const { min } = boundsOf(node)!;
        if (min === 0) return 0;
        return min * size(node.expression) + (node.delimiter === null ? 0 : (min - 1) * size(node.delimiter));
      }
      case 'rule_ref':
        return 1 + (rules.get(node.name) ?? Number.POSITIVE_INFINITY);
      case 'literal':
        return node.value.length;
      case 'class':
        return node.parts.length === 0 && !node.inverted ? Number.POSITIVE_INFINITY : 1;
      case 'any':
        return 1;
      case 'simple_and':
      case 'simple_not':
      case 'semantic_and':
      case 'semantic_not':
        return 0;
      case 'library_ref':
        return Number.POSITIVE_INFINITY;
      default:
        return size(node.expression);
    }
  };
  for (let changed = true; changed; ) {
    changed = false;
    for (const { name, expression } of grammar.rules) {
      const found = size(expression);
      if (found < rules.get(name)!) {
        rules.set(name, found);
        changed = true;
      }
    }
  }
  return (node) => {
    const found = known.get(node) ?? size(node);
    known.set(node, found);
    return found;
  };
}
