/** Peggy's syntax tree of a grammar: its parts, and ways through them. */
import type { ast } from 'peggy';

/** Anything that a text can be matched with. */
export type Expression = ast.Expression | ast.Named;

/** The parts of an expression, in their order. */
export function partsOf(node: Expression): readonly Expression[] {
  switch (node.type) {
    case 'choice':
      return node.alternatives;
    case 'sequence':
      return node.elements;
    case 'repeated':
      return node.delimiter === null ? [node.expression] : [node.expression, node.delimiter];
    case 'rule_ref':
    case 'library_ref':
    case 'literal':
    case 'class':
    case 'any':
    case 'semantic_and':
    case 'semantic_not':
      return [];
    default:
      return [node.expression];
  }
}

/** Visits an expression and all that it is made of, from the outside in. */
export function visitExpression(node: Expression, visit: (node: Expression) => void): void {
  visit(node);
  for (const part of partsOf(node)) visitExpression(part, visit);
}

/** How often an expression may come in a row. `max` is null where there is no end, or where only code knows it. */
export interface Bounds {
  readonly min: number;
  readonly max: number | null;
}

/** The bounds of a repetition; null for other expressions. Of bounds that code works out, nothing is known. */
export function boundsOf(node: Expression): Bounds | null {
  switch (node.type) {
    case 'optional':
      return { min: 0, max: 1 };
    case 'zero_or_more':
      return { min: 0, max: null };
    case 'one_or_more':
      return { min: 1, max: null };
    case 'repeated': {
      // `|4|` has no minimum of its own: both are the maximum.
      const max = constant(node.max);
      const min = node.min === null ? (max ?? 0) : (constant(node.min) ?? 0);
      return { min, max };
    }
    default:
      return null;
  }
}

function constant(boundary: ast.RepeatedBoundary): number | null {
  return boundary.type === 'constant' ? boundary.value : null;
}

/** The rules by their names. */
export function rulesByName({ rules }: ast.Grammar): ReadonlyMap<string, ast.Rule> {
  return new Map(rules.map((rule) => [rule.name, rule]));
}
