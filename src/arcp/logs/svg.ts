/** A graph as a picture: a line for each node, and when it was. */

import type { ExecutionGraph, GraphNode, NodeState } from './graph.js';
import { notesOf, titleOf } from './tree.js';

const ROW = 26;
const INDENT = 18;
const NAMES = 360;
const BARS = 420;
const MARGIN = 16;
const DEEPEST = 10;

const STYLE = `<style>
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.branch { fill: none; stroke: #b6bec9 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .branch { stroke: #4a535e } }
</style>`;

const COLOURS: Readonly<Record<NodeState, string>> = {
  ...{ completed: '#2d7d46', granted: '#2d7d46', failed: '#b3303c', denied: '#b3303c', cancelled: '#6c757d' },
  ...{ running: '#1f6feb', queued: '#8a94a3', accepted: '#8a94a3', open: '#1f6feb', blocked: '#b26a00' },
  ...{ paused: '#b26a00', unknown: '#8a94a3' },
};

export function svgText(graph: ExecutionGraph): string {
  const nodes = [...graph];
  const start = nodes.reduce((least, { from }) => Math.min(least, from), Number.POSITIVE_INFINITY);
  const span = Math.max(1, nodes.reduce((most, { to }) => Math.max(most, to), start) - start);
  const depths = new Map<GraphNode, number>();
  for (const node of nodes) depths.set(node, node.parent === undefined ? 0 : depths.get(node.parent)! + 1);
  const height = 2 * MARGIN + nodes.length * ROW;
  const width = 2 * MARGIN + NAMES + BARS;
  const x = (at: number): number => MARGIN + NAMES + ((at - start) / span) * BARS;
  const rows = nodes.map((node, at) => row(node, depths.get(node)!, MARGIN + at * ROW, x));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    '<title>What has begun what, and when</title>',
    STYLE,
    ...rows,
    '</svg>',
  ].join('\n');
}

function row(node: GraphNode, depth: number, top: number, x: (at: number) => number): string {
  // Deeper than this, lines are not indented further.
  const left = MARGIN + Math.min(depth, DEEPEST) * INDENT;
  const colour = COLOURS[node.state];
  const from = x(node.from);
  const length = Math.max(3, x(node.to) - from);
  const middle = top + ROW / 2;
  const elbow = depth === 0 ? '' : `<path class="branch" d="M${left - 10} ${top} V${middle} H${left - 3}"/>`;
  return [
    elbow,
    `<circle cx="${left + 3}" cy="${middle}" r="4" fill="${colour}"/>`,
    `<text x="${left + 12}" y="${middle + 4}">${escaped(shortened(titleOf(node), 52 - Math.min(depth, DEEPEST) * 3))}</text>`,
    `<rect x="${from.toFixed(1)}" y="${top + 6}" width="${length.toFixed(1)}" height="${ROW - 12}" rx="3" fill="${colour}" opacity="0.8"><title>${escaped(notesOf(node))}</title></rect>`,
  ].join('');
}

function shortened(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
