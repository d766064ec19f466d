/** Grammars, and parts of them, that match nothing beyond ASCII: what was matched there is the same as bytes and as characters. */
import { type Node, nodesOf, type Program } from './ir.js';
import { isSubset, type SymbolSet, setOf } from './symbols.js';
import { Unsupported } from './unsupported.js';

export const ASCII: SymbolSet = Array.from({ length: 0x80 }, (_, symbol) => setOf(symbol)).reduce(
  (all, set) => all | set,
);

/** Whether a node matches no other symbols by itself. */
export function matchesOnly(node: Node, symbols: SymbolSet): boolean {
  switch (node.type) {
    case 'symbols':
      return isSubset(node.set, symbols);
    case 'literal':
      return (node.folded ?? node.symbols.map(setOf)).every((set) => isSubset(set, symbols));
    case 'codePoint':
      return false;
    default:
      return true;
  }
}

/** @throws Unsupported naming a rule that matches other characters */
export function checkAscii({ rules }: Program): void {
  for (const { name, node } of rules.values()) {
    if ([...nodesOf(node)].some((one) => !matchesOnly(one, ASCII))) {
      throw new Unsupported(`its code is to read scanned bytes, and the rule "${name}" matches more than ASCII`);
    }
  }
}
