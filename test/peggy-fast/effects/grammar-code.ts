import peggy from 'peggy';
import type { Block, GrammarCode } from '../../../src/peggy-fast/effects/analyze.js';
import type { Snippet } from '../../../src/peggy-fast/effects/syntax.js';

/** All JavaScript of a grammar, with the labels in scope of each block. */
export function codeOf(grammar: string, trusted: readonly string[] = []): GrammarCode<Block> {
  const tree = peggy.generate(grammar, { output: 'ast', grammarSource: 'test.peggy', allowedStartRules: ['*'] });
  const blocks: Block[] = [];
  for (const rule of tree.rules) collect(rule.expression, [], blocks);
  return {
    topLevel: [tree.topLevelInitializer ?? []].flat().map(snippet),
    perParse: [tree.initializer ?? []].flat().map(snippet),
    blocks,
    trusted,
  };
}

function snippet({ code, codeLocation }: { code: string; codeLocation: Snippet['location'] }): Snippet {
  return { code, location: codeLocation };
}

type Expression = peggy.ast.Expression | peggy.ast.Named;

/** Adds the blocks of an expression, and returns the labels that are in scope after it in a sequence. */
function collect(node: Expression, labels: readonly string[], blocks: Block[]): readonly string[] {
  const below = (child: Expression): readonly string[] => collect(child, labels, blocks);
  switch (node.type) {
    case 'action': {
      const parameters = below(node.expression);
      blocks.push({ ...snippet(node), kind: 'action', parameters });
      return labels;
    }
    case 'semantic_and':
    case 'semantic_not':
      blocks.push({ ...snippet(node), kind: 'predicate', parameters: labels });
      return labels;
    case 'sequence':
      return node.elements.reduce<readonly string[]>((known, each) => collect(each, known, blocks), labels);
    case 'labeled':
      below(node.expression);
      return node.label === null ? labels : [...labels, node.label];
    case 'choice':
      for (const alternative of node.alternatives) below(alternative);
      return labels;
    case 'repeated':
      for (const bound of [node.min, node.max]) {
        if (bound?.type !== 'function') continue;
        blocks.push({ code: bound.value, location: bound.codeLocation, kind: 'bound', parameters: labels });
      }
      if (node.delimiter) below(node.delimiter);
      below(node.expression);
      return labels;
    case 'named':
    case 'group':
    case 'optional':
    case 'zero_or_more':
    case 'one_or_more':
    case 'text':
    case 'simple_and':
    case 'simple_not':
      below(node.expression);
      return labels;
    default:
      return labels;
  }
}
