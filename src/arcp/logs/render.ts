/** Rendering of execution graphs as text for terminals, as Mermaid, and as SVG. */
import { visible } from '../../text/visible.js';
import type { ExecutionGraph, GraphNode, NodeKind, NodeState } from './graph.js';

/** A function that decorates a text by state, for example with a colour. */
export type Paint = (state: NodeState, text: string) => string;

/** The sign of each state in text, and its colour in an image. */
const STYLES: Readonly<Record<NodeState, readonly [sign: string, colour: string]>> = {
  completed: ['✓', '#2d7d46'],
  granted: ['✓', '#2d7d46'],
  failed: ['✗', '#b3303c'],
  denied: ['✗', '#b3303c'],
  cancelled: ['■', '#6c757d'],
  paused: ['‖', '#b26a00'],
  blocked: ['?', '#b26a00'],
  running: ['▸', '#1f6feb'],
  queued: ['·', '#8a94a3'],
  accepted: ['·', '#8a94a3'],
  open: ['○', '#1f6feb'],
  unknown: [' ', '#8a94a3'],
};

const MAX_INDENT = 90;

/** Renders a graph as text, one line per node, indented below its parent. */
export function treeText(graph: ExecutionGraph, paint: Paint = (_, text) => text): string {
  const lines: string[] = [];
  // Iterative, since a tree may be deeper than the call stack.
  const rest: Line[] = graph.roots.map((node) => ({ node, before: '', branch: '', below: '' })).toReversed();
  for (let line = rest.pop(); line !== undefined; line = rest.pop()) {
    const { node, before, branch, below } = line;
    const title = paint(node.state, `${STYLES[node.state][0]} ${titleOf(node)}`);
    lines.push(`${before}${branch}${title}  ${notesOf(node)}`.trimEnd());
    const children = node.children.map((child, at): Line => {
      const isLast = at === node.children.length - 1;
      const indented = before.length < MAX_INDENT ? `${before}${below}` : before;
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

interface Line {
  readonly node: GraphNode;
  readonly before: string;
  readonly branch: string;
  readonly below: string;
}

export function titleOf({ kind, name, handoffs }: GraphNode): string {
  const receivers = handoffs.map((agent) => ` → ${agent}`).join('');
  return visible(`${kind} ${name}${receivers}`);
}

export function notesOf({ kind, state, attempt, messages, firstAt, lastAt, error }: GraphNode): string {
  const notes = [
    kind === 'session' ? undefined : state,
    attempt !== undefined && attempt > 1 ? `attempt ${attempt}` : undefined,
    kind === 'stream' ? `${messages} ${messages === 1 ? 'chunk' : 'chunks'}` : undefined,
    lastAt > firstAt ? durationOf(lastAt - firstAt) : undefined,
    error === undefined ? undefined : `${error.code}: ${error.message}`,
  ];
  return visible(notes.filter((note) => note !== undefined).join(', '));
}

function durationOf(ms: number): string {
  if (ms < 1000) return `${ms} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  return `${minutes} min ${Math.round((ms % 60_000) / 1000)} s`;
}

const SHAPES: Readonly<Record<NodeKind, readonly [string, string]>> = {
  session: ['([', '])'],
  job: ['[', ']'],
  call: ['(', ')'],
  stream: ['[/', '/]'],
  permission: ['{{', '}}'],
  span: ['>', ']'],
};

/** Renders a graph as a Mermaid flowchart. */
export function mermaidText(graph: ExecutionGraph): string {
  const nodes = [...graph];
  const names = new Map(nodes.map((node, at) => [node, `n${at}`]));
  const lines = ['flowchart TD'];
  for (const node of nodes) {
    const [open, close] = SHAPES[node.kind];
    lines.push(`  ${names.get(node)}${open}"${labelOf(node)}"${close}:::${node.state}`);
  }
  for (const node of nodes)
    if (node.parent !== undefined) lines.push(`  ${names.get(node.parent)} --> ${names.get(node)}`);
  lines.push(
    '  classDef completed,granted fill:#d4edda,stroke:#2d7d46',
    '  classDef failed,denied fill:#f8d7da,stroke:#a3303c',
    '  classDef cancelled fill:#e2e3e5,stroke:#6c757d',
  );
  return lines.join('\n');
}

function labelOf(node: GraphNode): string {
  const notes = notesOf(node);
  return [titleOf(node), ...(notes === '' ? [] : [notes])].map(escapedLabel).join('<br/>');
}

function escapedLabel(text: string): string {
  return text.replace(/[#"&<>`;\\]/g, (sign) => `#${sign.charCodeAt(0)};`);
}

const ROW = 26;
const INDENT = 18;
const NAMES_WIDTH = 360;
const BARS_WIDTH = 420;
const MARGIN = 16;
const MAX_DEPTH = 10;

const STYLE = `<style>
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.branch { fill: none; stroke: #b6bec9 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .branch { stroke: #4a535e } }
</style>`;

/** Renders a graph as an SVG image: one row per node, with a bar for its duration. */
export function svgText(graph: ExecutionGraph): string {
  const nodes = [...graph];
  const start = nodes.reduce((least, { firstAt }) => Math.min(least, firstAt), Number.POSITIVE_INFINITY);
  const span = Math.max(1, nodes.reduce((maxLength, { lastAt }) => Math.max(maxLength, lastAt), start) - start);
  const depths = new Map<GraphNode, number>();
  for (const node of nodes) depths.set(node, node.parent === undefined ? 0 : depths.get(node.parent)! + 1);
  const height = 2 * MARGIN + nodes.length * ROW;
  const width = 2 * MARGIN + NAMES_WIDTH + BARS_WIDTH;
  const x = (at: number): number => MARGIN + NAMES_WIDTH + ((at - start) / span) * BARS_WIDTH;
  const rows = nodes.map((node, at) => row(node, depths.get(node)!, MARGIN + at * ROW, x));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    '<title>Execution graph</title>',
    STYLE,
    ...rows,
    '</svg>',
  ].join('\n');
}

function row(node: GraphNode, depth: number, top: number, x: (at: number) => number): string {
  const left = MARGIN + Math.min(depth, MAX_DEPTH) * INDENT;
  const [, colour] = STYLES[node.state];
  const from = x(node.firstAt);
  const length = Math.max(3, x(node.lastAt) - from);
  const middle = top + ROW / 2;
  const elbow = depth === 0 ? '' : `<path class="branch" d="M${left - 10} ${top} V${middle} H${left - 3}"/>`;
  return [
    elbow,
    `<circle cx="${left + 3}" cy="${middle}" r="4" fill="${colour}"/>`,
    `<text x="${left + 12}" y="${middle + 4}">${escapedXml(shortened(titleOf(node), 52 - Math.min(depth, MAX_DEPTH) * 3))}</text>`,
    `<rect x="${from.toFixed(1)}" y="${top + 6}" width="${length.toFixed(1)}" height="${ROW - 12}" rx="3" fill="${colour}" opacity="0.8"><title>${escapedXml(notesOf(node))}</title></rect>`,
  ].join('');
}

function shortened(text: string, maxLength: number): string {
  return text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text;
}

function escapedXml(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
