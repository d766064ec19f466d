/** Grammars in the intermediate representation, for the tests of the passes. */
import peggy from 'peggy';
import { has, SYMBOLS, type SymbolSet } from '../../src/peggy-fast/alphabet.js';
import { BlockCode } from '../../src/peggy-fast/blocks.js';
import { type Block, type Label, type Node, nodesOf } from '../../src/peggy-fast/ir.js';
import { type Lowered, lower } from '../../src/peggy-fast/lower.js';

/** All rules of a grammar are start rules, so that Peggy keeps them. */
export function lowered(grammar: string): Lowered {
  const tree = peggy.generate(grammar, { output: 'ast', allowedStartRules: ['*'] });
  return lower(tree, [tree.rules[0]!.name]);
}

export function nodeOf(program: Lowered, rule: string): Node {
  return program.rules.get(rule)!.node;
}

/** The label of that name in a rule. */
export function labelOf(program: Lowered, rule: string, name: string): Label {
  for (const node of nodesOf(nodeOf(program, rule))) if (node.type === 'label' && node.name === name) return node;
  throw new Error(`${rule} has no label ${name}`);
}

/** The prepared code of a block, created once. */
export function blockCodes(): (block: Block) => BlockCode {
  const known = new Map<Block, BlockCode>();
  return (block) => {
    const code = known.get(block) ?? new BlockCode(block);
    known.set(block, code);
    return code;
  };
}

/** The ASCII characters of a set as a text, for comparison. */
export function ascii(set: SymbolSet): string {
  return Array.from({ length: 128 }, (_, symbol) => (has(set, symbol) ? String.fromCharCode(symbol) : '')).join('');
}

/** The number of symbols in a set. */
export function sizeOf(set: SymbolSet): number {
  return Array.from({ length: SYMBOLS }, (_, symbol) => symbol).filter((symbol) => has(set, symbol)).length;
}
