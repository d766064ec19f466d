/** Code that uses what Peggy gives to it other than by calling it on the spot. */
import { children, isFunction, type Node } from './effects/nodes.js';
import type { Reference } from './effects/references.js';

/**
 * Whether `text`, `error` and the like may be called when nobody expects it: handed on as values, or, in actions and predicates,
 * called within functions that these may leave behind. What functions of an initializer call is known.
 *
 * @param references those to what Peggy gives
 */
export function handsOn(program: Node, references: readonly Reference[], kind: 'block' | 'initializer'): boolean {
  const given = new Set<Node>(references.map(({ node }) => node));
  const visit = (node: Node, isInside: boolean): boolean => {
    if (given.has(node)) return true;
    const isWithin = isInside || (kind === 'block' && isFunction(node));
    const isCall = node.type === 'CallExpression' && given.has(node.callee) && !isWithin;
    return children(node).some((child) => !(isCall && child === node.callee) && visit(child, isWithin));
  };
  return given.size > 0 && visit(program, false);
}
