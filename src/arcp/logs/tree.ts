/** A graph as text, for terminals. */
import { visible } from '../../text/visible.js';
import type { ExecutionGraph, GraphNode, NodeState } from './graph.js';

/** Marks a text by what it stands for, in colour for one. */
export type Paint = (state: NodeState, text: string) => string;

const SIGNS: Readonly<Record<NodeState, string>> = {
  ...{ completed: '✓', granted: '✓', failed: '✗', denied: '✗', cancelled: '■', paused: '‖', blocked: '?' },
  ...{ running: '▸', queued: '·', accepted: '·', open: '○', unknown: ' ' },
};

/** From here on, lines are not indented further. */
const WIDEST = 90;

/** One line for each node, below what has begun it. */
export function treeText(graph: ExecutionGraph, paint: Paint = (_, text) => text): string {
  const lines: string[] = [];
  // A tree may be deeper than calls may be.
  const rest: Place[] = graph.roots.map((node) => ({ node, before: '', branch: '', below: '' })).toReversed();
  for (let place = rest.pop(); place !== undefined; place = rest.pop()) {
    const { node, before, branch, below } = place;
    const title = paint(node.state, `${SIGNS[node.state]} ${titleOf(node)}`);
    lines.push(`${before}${branch}${title}  ${notesOf(node)}`.trimEnd());
    const children = node.children.map((child, at): Place => {
      const isLast = at === node.children.length - 1;
      const indented = before.length < WIDEST ? `${before}${below}` : before;
      return {
        node: child,
        before: indented,
        branch: isLast ? '└─ ' : '├─ ',
        below: isLast ? '   ' : '│  ',
      };
    });
    rest.push(...children.toReversed());
  }
  return lines.join('\n');
}

interface Place {
  readonly node: GraphNode;
  readonly before: string;
  readonly branch: string;
  readonly below: string;
}

export function titleOf({ kind, name, handedTo }: GraphNode): string {
  const hands = handedTo.map((agent) => ` → ${agent}`).join('');
  return visible(`${kind} ${name}${hands}`);
}

/** What else is to be said of it, in a few words. */
export function notesOf({ kind, state, attempt, messages, from, to, error }: GraphNode): string {
  const notes = [
    kind === 'session' ? undefined : state,
    attempt !== undefined && attempt > 1 ? `attempt ${attempt}` : undefined,
    kind === 'stream' ? `${messages} ${messages === 1 ? 'chunk' : 'chunks'}` : undefined,
    to > from ? durationOf(to - from) : undefined,
    error === undefined ? undefined : `${error.code}: ${error.message}`,
  ];
  return visible(notes.filter((note) => note !== undefined).join(', '));
}

/** @param ms milliseconds */
export function durationOf(ms: number): string {
  if (ms < 1000) return `${ms} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  return `${minutes} min ${Math.round((ms % 60_000) / 1000)} s`;
}
