import type {
  AnonymousClassDeclaration,
  AnonymousFunctionDeclaration,
  AnyNode,
  ArrowFunctionExpression,
  ClassDeclaration,
  ClassExpression,
  FunctionDeclaration,
  FunctionExpression,
} from 'acorn';

export type Node = AnyNode;

export type FunctionNode =
  | FunctionDeclaration
  | AnonymousFunctionDeclaration
  | FunctionExpression
  | ArrowFunctionExpression;

export type ClassNode = ClassDeclaration | AnonymousClassDeclaration | ClassExpression;

export function isFunction(node: Node): node is FunctionNode {
  return (
    node.type === 'FunctionDeclaration' || node.type === 'FunctionExpression' || node.type === 'ArrowFunctionExpression'
  );
}

export function isClass(node: Node): node is ClassNode {
  return node.type === 'ClassDeclaration' || node.type === 'ClassExpression';
}

export function children(node: Node): Node[] {
  const found: Node[] = [];
  // A loop instead of array methods, because an analysis spends most of its time here.
  for (const member of Object.values(node) as unknown[]) {
    if (typeof member !== 'object' || member === null) continue;
    if (Array.isArray(member)) {
      for (const each of member) if (isNode(each)) found.push(each);
    } else if (isNode(member)) found.push(member);
  }
  return found;
}

/** Yields a node and all its descendants. */
export function* nodesIn(root: Node): Generator<Node> {
  const open = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    yield node;
    open.push(...children(node));
  }
}

/** Returns `true` if a node or a descendant passes a test. Nodes for which `isLeft` returns true are skipped. */
export function holds(
  node: Node,
  test: (node: Node) => boolean,
  isLeft: (node: Node) => boolean = () => false,
): boolean {
  return !isLeft(node) && (test(node) || children(node).some((child) => holds(child, test, isLeft)));
}

/** The name of a property, method or member access in the source; null if it is computed. */
export function propertyName(key: Node, computed: boolean): string | null {
  if (key.type === 'Literal') return String(key.value);
  if (key.type === 'TemplateLiteral' && key.expressions.length === 0) return key.quasis[0]!.value.cooked ?? null;
  if (computed) return null;
  if (key.type === 'Identifier') return key.name;
  return key.type === 'PrivateIdentifier' ? `#${key.name}` : null;
}

/** Template literals have plain objects among their children, and literals a regular expression. Neither has `start`. */
function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

interface Position {
  readonly offset: number;
  readonly line: number;
  readonly column: number;
}

export interface LocationRange {
  // biome-ignore lint/suspicious/noExplicitAny: Peggy takes any value for the name of a source.
  readonly source: any;
  readonly start: Position;
  readonly end: Position;
}

export interface Snippet {
  readonly code: string;
  readonly location: LocationRange;
}

export function locate({ code, location }: Snippet, start: number, end: number): LocationRange {
  const from = advance(code, 0, location.start, start);
  return { source: location.source, start: from, end: advance(code, start, from, end) };
}

function advance(code: string, from: number, position: Position, to: number): Position {
  let { line, column } = position;
  for (let at = from; at < to; at++) {
    if (code.charCodeAt(at) === 10) {
      line++;
      column = 1;
    } else column++;
  }
  return { offset: position.offset + to - from, line, column };
}
