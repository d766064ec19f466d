/**
 * Long choices as choices of choices. Peggy writes each alternative inside the code of the one before it, and indents it once
 * more: of a choice between words in a row, the code is as long as the square of their number, and soon too deep for the platform.
 */
import peggy, { type ast } from 'peggy';

/** Peggy's passes, with choices made shallow before code is written for them. Values, errors and the scope of labels stay. */
export const PASSES: peggy.compiler.Stages = {
  ...peggy.compiler.passes,
  // Behind the passes that look at whole choices, and before the last one, which marks each node.
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
