/** Walks a tree in source order, without recursion: hand-built trees may be deeper than the call stack. */
import { type AccpNode, FRAME_CHILD_KEYS, type Param } from './ast.js';

/** The position of a visited node in the tree. */
export interface Visit {
  /** The key of the parameter or map entry whose value it is; `undefined` for the root and for array items. */
  readonly key: string | undefined;
  /** The node that contains it; `undefined` for the root. */
  readonly parent: AccpNode | undefined;
  /** Returns the steps from the root to the node: `['payload', 'args', 'list', 2]`. */
  readonly path: () => (string | number)[];
}

/** A function that `walkFrame` calls for each node before its children; it returns `false` to skip the children. */
export type Visitor = (node: AccpNode, visit: Visit) => unknown;

/** A pending node, linked to its parent so that paths are only built on demand. */
interface Step {
  readonly node: AccpNode;
  readonly above: Step | undefined;
  readonly key: string | undefined;
  /** The member of `above` that holds the node, if part of the path. */
  readonly member: string | undefined;
  readonly index: number;
}

/**
 * Visits a frame, or one value of it, and every node below, parents first, in source order.
 *
 * @example
 * walkFrame(frame, (node, { path }) => {
 *   if (node.kind === 'ref') console.log(path().join('.'), node.path);
 * });
 */
export function walkFrame(root: AccpNode, visitor: Visitor): void {
  const pending: Step[] = [{ node: root, above: undefined, key: undefined, member: undefined, index: 0 }];
  for (let step = pending.pop(); step !== undefined; step = pending.pop()) {
    const current = step;
    const visit = { key: step.key, parent: step.above?.node, path: () => pathTo(current) };
    if (visitor(step.node, visit) !== false) pushChildren(step, pending);
  }
}

/** Last child first, as it is a stack. */
function pushChildren(step: Step, pending: Step[]): void {
  const lists = step.node as unknown as Readonly<Record<string, readonly (AccpNode | Param)[] | null>>;
  for (const member of [...FRAME_CHILD_KEYS[step.node.kind]].reverse()) {
    const list = lists[member] ?? [];
    for (let index = list.length - 1; index >= 0; index--) {
      const child = list[index]!;
      const place = { above: step, member: step.node.kind === 'frame' ? member : undefined, index };
      if ('kind' in child) pending.push({ node: child, key: undefined, ...place });
      else pending.push({ node: child.value, key: child.key, ...place });
    }
  }
}

function pathTo(step: Step): (string | number)[] {
  const path: (string | number)[] = [];
  for (let at: Step = step; at.above !== undefined; at = at.above) {
    path.push(at.key ?? at.index);
    if (at.member !== undefined) path.push(at.member);
  }
  return path.reverse();
}
