/** Whether code catches errors and goes on, so that one parse may make many. */
import type { TryStatement } from 'acorn';
import { children, type Node } from './effects/nodes.js';

export function catchesErrors(node: Node): boolean {
  return (node.type === 'TryStatement' && !throwsOn(node)) || children(node).some(catchesErrors);
}

/** Whether what is thrown leaves the statement in any case: the handler does nothing but come to a `throw`. */
function throwsOn({ handler, finalizer }: TryStatement): boolean {
  const handled = handler === null || handler === undefined || handler.body.body.at(-1)?.type === 'ThrowStatement';
  return handled && ![handler, finalizer].some((part) => part && holdsJump(part));
}

/** A jump inside of a function or a loop of its own counts as well: that costs little. */
function holdsJump(node: Node): boolean {
  return JUMPS.has(node.type) || children(node).some(holdsJump);
}

const JUMPS: ReadonlySet<string> = new Set(['ReturnStatement', 'BreakStatement', 'ContinueStatement']);
