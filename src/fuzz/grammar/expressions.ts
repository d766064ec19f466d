import type { ast } from 'peggy';
import peggy from 'peggy';

export type Expression = ast.Expression | ast.Named;

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

export function visitExpression(node: Expression, visit: (node: Expression) => void): void {
  visit(node);
  for (const part of partsOf(node)) visitExpression(part, visit);
}

interface Bounds {
  readonly min: number;
  readonly max: number | null;
}

/** Returns the bounds of a repetition; null for other expressions. Bounds that code computes are treated as open. */
export function boundsOf(node: Expression): Bounds | null {
  switch (node.type) {
    case 'optional':
      return { min: 0, max: 1 };
    case 'zero_or_more':
      return { min: 0, max: null };
    case 'one_or_more':
      return { min: 1, max: null };
    case 'repeated': {
      // `|4|` has no minimum of its own: the maximum is both.
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

export function rulesByName({ rules }: ast.Grammar): ReadonlyMap<string, ast.Rule> {
  return new Map(rules.map((rule) => [rule.name, rule]));
}

/**
 * The passes of Peggy, with one more that splits large choices so that the generated code nests less deeply. Values,
 * errors and the scope of labels stay the same.
 */
export const PASSES: peggy.compiler.Stages = {
  ...peggy.compiler.passes,
  // After the passes that look at whole choices, and before the last one, which annotates each node.
  transform: peggy.compiler.passes.transform.toSpliced(-1, 0, halveChoices),
};

function halveChoices(grammar: ast.Grammar): void {
  const visit = peggy.compiler.visitor.build({
    choice(node: ast.Choice) {
      for (const alternative of node.alternatives) visit(alternative);
      node.alternatives = halves(node, node.alternatives);
    },
  });
  visit(grammar);
}

function halves(node: ast.Choice, alternatives: ast.Alternative[]): ast.Alternative[] {
  if (alternatives.length <= 2) return alternatives;
  const middle = alternatives.length >> 1;
  return [alternatives.slice(0, middle), alternatives.slice(middle)].map((half) =>
    half.length === 1 ? half[0]! : ({ ...node, alternatives: halves(node, half) } as unknown as ast.Alternative),
  );
}
