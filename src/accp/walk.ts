/** Walking a tree, in source order, without recursion: hand-built trees may be deeper than the call stack. */
import { type AccpNode, CHILD_KEYS, type Param } from './ast.js';

/** Where a visited node stands. */
export interface Visit {
  /** The key of the parameter or map entry whose value it is; `undefined` for the frame and for array items. */
  readonly key: string | undefined;
  readonly parent: AccpNode | undefined;
  /** Steps down from the root: keys and indexes, under `payload` or `metadata` for a frame. */
  readonly path: readonly (string | number)[];
}

/** Called for each node before its children; `false` leaves its children out. */
// biome-ignore lint/suspicious/noConfusingVoidType: a visitor that returns nothing is the usual one
export type Visitor = (node: AccpNode, visit: Visit) => boolean | void;

/**
 * Visits `root` and every node below it, parents first, in source order.
 *
 * @example
 * walk(frame, (node, { path }) => {
 *   if (node.kind === 'ref') console.log(path.join('.'), node.path);
 * });
 */
export function walk(root: AccpNode, visitor: Visitor): void {
  const pending: { node: AccpNode; visit: Visit }[] = [{ node: root, visit: { key: undefined, parent: undefined, path: [] } }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { node, visit } = next;
    if (visitor(node, visit) === false) continue;
    // The stack gives back the last one first.
    pending.push(...children(node, visit.path).reverse());
  }
}

function children(node: AccpNode, path: readonly (string | number)[]): { node: AccpNode; visit: Visit }[] {
  const lists = node as unknown as Readonly<Record<string, readonly (AccpNode | Param)[] | null>>;
  return CHILD_KEYS[node.kind].flatMap((member) =>
    (lists[member] ?? []).map((child, index) => {
      const prefix = node.kind === 'frame' ? [...path, member] : path;
      if ('kind' in child) return { node: child, visit: { key: undefined, parent: node, path: [...prefix, index] } };
      return { node: child.value, visit: { key: child.key, parent: node, path: [...prefix, child.key] } };
    }),
  );
}
