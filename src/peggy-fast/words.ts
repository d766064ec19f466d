/**
 * Rules whose texts are short and recur often, such as keys. The scanner interns these texts, so that reading one again
 * creates no new string.
 */

import { isSubset, type SymbolSet, setOf } from './alphabet.js';
import { type Node, nodesOf, type Program, type Rule, Unsupported } from './ir.js';

/** The ASCII symbols. A text of these is the same as bytes and as characters. */
const ASCII: SymbolSet = Array.from({ length: 0x80 }, (_, symbol) => setOf(symbol)).reduce((all, set) => all | set);

/** Words are identified by their bytes, which must be the characters themselves, and not zero. */
const WORD_SYMBOLS = ASCII & ~setOf(0);

/**
 * Marks the texts of some rules as words.
 *
 * @throws Unsupported if a rule is not a text of ASCII characters like `$[a-z]+`
 */
export function withWords<Lowered extends Program>(program: Lowered, names: readonly string[]): Lowered {
  const rules = new Map<string, Rule>(program.rules);
  for (const name of names) {
    const rule = rules.get(name);
    if (rule === undefined) throw new Unsupported(`intern: there is no rule "${name}"`);
    rules.set(name, { name, node: marked(rule.node, name) });
  }
  return { ...program, rules };
}

function marked(node: Node, rule: string): Node {
  if (node.type === 'named') return { ...node, item: marked(node.item, rule) };
  if (
    node.type !== 'text' ||
    !nodesOf(node.item).every((one) => TEXT.has(one.type) && matchesOnly(one, WORD_SYMBOLS))
  ) {
    throw new Unsupported(`intern: the rule "${rule}" is not a text of ASCII characters like $[a-z]+`);
  }
  return { ...node, isWord: true };
}

const TEXT: ReadonlySet<Node['type']> = new Set<Node['type']>([
  ...(['symbols', 'literal', 'sequence', 'choice', 'repeat', 'optional', 'empty', 'text'] as const),
]);

function matchesOnly(node: Node, symbols: SymbolSet): boolean {
  if (node.type === 'symbols') return isSubset(node.set, symbols);
  if (node.type !== 'literal') return node.type !== 'codePoint';
  return (node.folded ?? node.symbols.map(setOf)).every((set) => isSubset(set, symbols));
}

export function checkAscii({ rules }: Program): void {
  for (const { name, node } of rules.values()) {
    if (nodesOf(node).some((one) => !matchesOnly(one, ASCII))) {
      throw new Unsupported(`readsMatched: the rule "${name}" matches characters beyond ASCII`);
    }
  }
}
