import type { TryStatement } from 'acorn';
import { holds, type Node } from './effects/syntax.js';

export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export function edited(code: string, edits: readonly Edit[], start = 0, end = code.length): string {
  const inside = edits.filter((edit) => edit.start >= start && edit.end <= end).sort((a, b) => a.start - b.start);
  let result = '';
  let from = start;
  for (const edit of inside) {
    result += code.slice(from, edit.start) + edit.text;
    from = edit.end;
  }
  return result + code.slice(from, end);
}

/** Returns `true` if the code catches errors and continues, so one parse may create many. */
export function catchesErrors(program: Node): boolean {
  return holds(program, (node) => node.type === 'TryStatement' && !throwsOn(node));
}

/** Returns `true` if every thrown error leaves the statement: the handler only reaches a `throw`. */
function throwsOn({ handler, finalizer }: TryStatement): boolean {
  const handled = handler === null || handler === undefined || handler.body.body.at(-1)?.type === 'ThrowStatement';
  // A jump inside of a nested function or loop counts as well, which costs little.
  const isJump = ({ type }: Node): boolean => JUMPS.has(type);
  return handled && ![handler, finalizer].some((part) => part && holds(part, isJump));
}

const JUMPS: ReadonlySet<string> = new Set(['ReturnStatement', 'BreakStatement', 'ContinueStatement']);
