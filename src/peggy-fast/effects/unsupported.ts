import type { CallExpression } from 'acorn';
import { children, isClass, isFunction, type Node, propertyName } from './nodes.js';
import type { Unit } from './routines.js';

/** Something that the analysis cannot follow. */
export interface Obstacle {
  readonly node: { readonly start: number; readonly end: number };
  readonly message: string;
}

/** What in a unit's code cannot be followed, or cannot be moved out of the parser that Peggy generates. */
export function obstaclesIn(unit: Unit): Obstacle[] {
  const found: Obstacle[] = [];
  for (const { node, name } of unit.scopes.free) {
    const message = forbiddenName(name, unit);
    if (message !== null) found.push({ node, message });
  }
  walk(unit.program, found);
  return found;
}

function forbiddenName(name: string, { level }: Unit): string | null {
  if (name.startsWith('peg$')) return `"${name}" is internal to the parser that Peggy generates`;
  if (name === 'Proxy') return 'a proxy runs code without calling it';
  if (name === 'eval') return 'eval() may do anything';
  if (name === 'arguments' && level !== 'module') return '"arguments" belongs to a function that Peggy generates';
  if (name === 'await' || name === 'yield') return `"${name}" has no fixed meaning here`;
  return null;
}

function walk(node: Node, found: Obstacle[]): void {
  const message = forbiddenNode(node);
  if (message !== null) found.push({ node, message });
  for (const child of children(node)) walk(child, found);
}

function forbiddenNode(node: Node): string | null {
  if (isFunction(node) && node.async) return 'an asynchronous function goes on after the parse has ended';
  if (node.type === 'CallExpression' && definesAccessor(node))
    return 'a property that runs code does so without a call';
  if (isClass(node) && node.superClass?.type === 'Identifier' && CALLING_THEMSELVES.has(node.superClass.name)) {
    return `what extends ${node.superClass.name} has methods called by those of it`;
  }
  if (node.type === 'WithStatement') return 'inside a "with" statement, names have no fixed meaning';
  if (node.type === 'ImportExpression') return 'import() goes on after the parse has ended';
  if (node.type === 'VariableDeclaration' && node.kind.endsWith('using')) return `"${node.kind}" calls unknown methods`;
  return null;
}

/** Built-in classes of which methods call others, which a class that extends them may have. */
const CALLING_THEMSELVES: ReadonlySet<string> = new Set([
  'Array',
  'Map',
  'Set',
  'WeakMap',
  'WeakSet',
  'RegExp',
  'Promise',
]);

/** Methods that take descriptors of properties. */
const DESCRIBING: ReadonlySet<string | null> = new Set(['create', 'defineProperty', 'defineProperties']);

/** `Object.defineProperty(object, name, { get() {} })` and its like. */
function definesAccessor({ callee, arguments: given }: CallExpression): boolean {
  if (callee.type !== 'MemberExpression') return false;
  const name = propertyName(callee.property, callee.computed);
  if (name === '__defineGetter__' || name === '__defineSetter__') return true;
  return DESCRIBING.has(name) && given.some(holdsAccessor);
}

function holdsAccessor(node: Node): boolean {
  const name = node.type === 'Property' ? propertyName(node.key, node.computed) : null;
  return name === 'get' || name === 'set' || children(node).some(holdsAccessor);
}
