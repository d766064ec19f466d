/** Trees of values. A branch is made when it is opened, and long ones in parts, so that no text can freeze the page. */
import { useState } from 'preact/hooks';
import type { Frame, Param, Value } from '../../accp/ast.js';
import { type Content, start } from './message.js';

/** A node: a value, or a branch whose children are made on demand. */
interface TreeNode {
  readonly label: string;
  readonly text: string;
  readonly kind: string;
  readonly children?: (() => readonly TreeNode[]) | undefined;
}

const PART = 100;
const OPEN_DEPTH = 3;
const MAX_OPEN = 30;
const MAX_TEXT = 2000;

export function ContentTree({ content }: { readonly content: Content }) {
  const nodes = nodesOf(content);
  return nodes.length === 0 ? (
    <p class="empty">This text has no tree.</p>
  ) : (
    <ul class="tree">
      <Nodes nodes={nodes} depth={0} />
    </ul>
  );
}

function Nodes({ nodes, depth }: { readonly nodes: readonly TreeNode[]; readonly depth: number }) {
  const [count, setCount] = useState(PART);
  return (
    <>
      {nodes.slice(0, count).map((node, index) => (
        <Node key={index} node={node} depth={depth} isFew={nodes.length <= MAX_OPEN} />
      ))}
      {nodes.length > count && (
        <li>
          <button type="button" onClick={() => setCount(count + 10 * PART)}>
            {nodes.length - count} more
          </button>
        </li>
      )}
    </>
  );
}

function Node({ node, depth, isFew }: { readonly node: TreeNode; readonly depth: number; readonly isFew: boolean }) {
  const { label, text, kind, children } = node;
  const [isOpen, setOpen] = useState(isFew && depth < OPEN_DEPTH);
  if (children === undefined)
    return (
      <li>
        <span class="label">{label}</span> <span class={`value ${kind}`}>{start(text, MAX_TEXT)}</span>
      </li>
    );
  return (
    <li>
      <button type="button" class="branch" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span class="label">{label}</span> <span class="size">{text}</span>
      </button>
      {isOpen && (
        <ul>
          <Nodes nodes={children()} depth={depth + 1} />
        </ul>
      )}
    </li>
  );
}

function nodesOf(content: Content): readonly TreeNode[] {
  switch (content.language) {
    case 'accp':
      return content.frame === undefined ? [] : frameNodes(content.frame);
    case 'aacp': {
      const { packet } = content;
      if (packet === null) return [];
      const fields = packet.fields.map(({ key, value }) => leaf(key, value, 'string'));
      return [leaf('task', packet.task, 'name'), leaf('domain', packet.domain, 'name'), ...fields];
    }
    case 'text':
      return [];
    default: {
      const root = jsonNode('', content.value);
      return root.children?.() ?? [root];
    }
  }
}

function jsonNode(label: string, value: unknown): TreeNode {
  if (typeof value !== 'object' || value === null) return leaf(label, JSON.stringify(value), typeof value);
  if (Array.isArray(value))
    return branch(label, `[${value.length}]`, () => value.map((item, index) => jsonNode(String(index), item)));
  const names = Object.keys(value);
  return branch(label, `{${names.length}}`, () =>
    names.map((name) => jsonNode(start(name), (value as Readonly<Record<string, unknown>>)[name])),
  );
}

function frameNodes({ agent, intent, operation, payload, metadata }: Frame): readonly TreeNode[] {
  const params = (label: string, all: readonly Param[]): TreeNode =>
    branch(label, `{${all.length}}`, () => all.map(({ key, value }) => valueNode(key, value)));
  return [
    leaf('agent', agent, 'name'),
    leaf('intent', intent, 'name'),
    leaf('operation', operation, 'name'),
    params('payload', payload),
    ...(metadata === null ? [] : [params('metadata', metadata)]),
  ];
}

function valueNode(label: string, value: Value): TreeNode {
  switch (value.kind) {
    case 'array':
      return branch(label, `[${value.items.length}]`, () =>
        value.items.map((item, index) => valueNode(String(index), item)),
      );
    case 'map':
      return branch(label, `{${value.entries.length}}`, () =>
        value.entries.map(({ key, value: inner }) => valueNode(key, inner)),
      );
    case 'null':
      return leaf(label, 'null', 'object');
    case 'ref':
      return leaf(label, `$${value.path}`, 'ref');
    case 'integer':
    case 'decimal':
      return leaf(label, value.text ?? String(value.value), 'number');
    default:
      return leaf(label, String(value.value), value.kind);
  }
}

function leaf(label: string, text: string, kind: string): TreeNode {
  return { label, text, kind };
}

function branch(label: string, text: string, children: () => readonly TreeNode[]): TreeNode {
  return { label, text, kind: 'branch', children };
}
