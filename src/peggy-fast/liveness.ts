/** Finds the labels that need a value: those that running code mentions. */
import type { BlockCode } from './blocks.js';
import { type Block, isBlock, type Label, type Node } from './ir.js';

export function liveLabels(
  root: Node,
  isUsed: boolean,
  codeOf: (block: Block) => BlockCode,
  mustRun: (block: Block) => boolean,
): ReadonlySet<Label> {
  const live = new Set<Label>();
  const addAll = (block: Block): void => {
    for (const label of codeOf(block).labels) live.add(label);
  };
  const visit = (node: Node, used: boolean): void => {
    switch (node.type) {
      case 'label':
        visit(node.item, used || live.has(node));
        return;
      case 'action':
        if (used || mustRun(node.block)) addAll(node.block);
        visit(node.item, false);
        return;
      case 'sequence':
        for (const element of node.elements) {
          visit(element, used && (node.picks.length === 0 || node.picks.includes(element)));
        }
        return;
      case 'choice':
        for (const alternative of node.alternatives) visit(alternative, used);
        return;
      case 'repeat':
        for (const bound of [node.min, node.max]) {
          if (isBlock(bound)) addAll(bound);
          else if (typeof bound === 'object' && bound !== null) live.add(bound);
        }
        visit(node.item, used);
        if (node.delimiter !== null) visit(node.delimiter, false);
        return;
      case 'predicate':
        addAll(node.block);
        return;
      case 'text':
      case 'lookahead':
        visit(node.item, false);
        return;
      case 'optional':
      case 'named':
        visit(node.item, used);
        return;
      default:
    }
  };
  // A label that turns out to be used may cause more code to run, which may mention more labels.
  for (let before = -1; before !== live.size; ) {
    before = live.size;
    visit(root, isUsed);
  }
  return live;
}
