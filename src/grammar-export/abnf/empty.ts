/** Rules that match the empty text. */
import type { AbnfElement, AbnfRule } from './ast.js';
import { foldedName, partsOf } from './walk.js';

/** An element, or a rule, that is empty once `missing` of those it waits for are. */
interface Node {
  missing: number;
  readonly waiting: Node[];
}

/**
 * The folded names of the rules that match the empty text. In linear time: each element waits for its parts, each reference for
 * its rule, and each is told once.
 */
export function emptyRules(rules: readonly AbnfRule[]): ReadonlySet<string> {
  const known = new Map<string, Node>();
  const found: Node[] = [];
  const nodeOf = (name: string): Node => {
    const node = known.get(name) ?? { missing: 1, waiting: [] };
    known.set(name, node);
    return node;
  };
  const add = (element: AbnfElement, waiting: Node): void => {
    const node: Node = { missing: missingOf(element), waiting: [waiting] };
    if (node.missing === 0) found.push(node);
    if (element.kind === 'reference') nodeOf(foldedName(element.name)).waiting.push(node);
    for (const part of partsOf(element)) add(part, node);
  };
  for (const { name, alternatives } of rules) {
    for (const { element } of alternatives) add(element, nodeOf(foldedName(name)));
  }
  for (let node = found.pop(); node !== undefined; node = found.pop()) {
    for (const other of node.waiting) if (--other.missing === 0) found.push(other);
  }
  return new Set([...known].filter(([, { missing }]) => missing <= 0).map(([name]) => name));
}

/** How many of its parts, or of what it refers to, have to be empty. */
function missingOf(element: AbnfElement): number {
  switch (element.kind) {
    case 'concatenation':
      return element.items.length;
    case 'repetition':
      return element.min === 0 ? 0 : 1;
    case 'option':
      return 0;
    case 'string':
      return element.text === '' ? 0 : 1;
    default:
      return 1;
  }
}
