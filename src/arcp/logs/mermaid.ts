/** A graph in the language of Mermaid, for documents. */
import type { ExecutionGraph, GraphNode, NodeKind } from './graph.js';
import { notesOf, titleOf } from './tree.js';

/** The shape of each kind: what stands before and behind its text. */
const SHAPES: Readonly<Record<NodeKind, readonly [string, string]>> = {
  session: ['([', '])'],
  job: ['[', ']'],
  call: ['(', ')'],
  stream: ['[/', '/]'],
  permission: ['{{', '}}'],
  span: ['>', ']'],
};

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
  return [titleOf(node), ...(notes === '' ? [] : [notes])].map(escaped).join('<br/>');
}

/** Entities as Mermaid writes them. */
function escaped(text: string): string {
  return text.replace(/[#"&<>`;\\]/g, (sign) => `#${sign.charCodeAt(0)};`);
}
