/** The initializers and blocks of a grammar, with the names and variables in them. */
import type { Identifier, Pattern, Program } from 'acorn';
import { type Binding, eachOfPattern, resolveScopes, type Scopes } from './scopes.js';
import { type ClassNode, type FunctionNode, isClass, isFunction, type Node, nodesIn } from './syntax.js';

/** The code of an initializer or a block, parsed. */
export interface Unit {
  readonly level: 'module' | 'parse' | 'block';
  readonly program: Program;
  /** The labels that a block can read. */
  readonly labels: ReadonlySet<string>;
}

/** A unit with its names resolved. */
export interface Resolved extends Unit {
  readonly unit: Unit;
  readonly scopes: Scopes;
  /** The values that each variable may get; null for one that is not known. */
  readonly values: ReadonlyMap<Binding, readonly (Node | null)[]>;
}

/** Resolves the names of a unit, and collects the values of its variables. */
export function resolved(unit: Unit): Resolved {
  const scopes = resolveScopes(unit.program);
  const values = new Map<Binding, (Node | null)[]>();
  const add = (identifier: Identifier, value: Node | null): void => {
    const binding = scopes.bound.get(identifier);
    if (binding === undefined) return;
    const known = values.get(binding);
    if (known === undefined) values.set(binding, [value]);
    else known.push(value);
  };
  const addAll = (pattern: Pattern): void => {
    eachOfPattern(pattern, { name: (identifier) => add(identifier, null) });
  };
  const loops = new Set<Node>();
  for (const node of nodesIn(unit.program)) {
    if (
      (node.type === 'ForInStatement' || node.type === 'ForOfStatement') &&
      node.left.type === 'VariableDeclaration'
    ) {
      for (const declarator of node.left.declarations) loops.add(declarator);
    }
  }
  for (const node of nodesIn(unit.program)) {
    if (isFunction(node)) {
      if (node.id) add(node.id, node);
      for (const parameter of node.params) addAll(parameter);
    } else if (isClass(node)) {
      if (node.id) add(node.id, node);
    } else if (node.type === 'VariableDeclarator') {
      if (node.id.type !== 'Identifier' || loops.has(node)) addAll(node.id);
      else if (node.init) add(node.id, node.init);
    } else if (node.type === 'CatchClause') {
      if (node.param) addAll(node.param);
    } else if (node.type === 'AssignmentExpression' && node.operator === '=' && node.left.type === 'Identifier') {
      add(node.left, node.right);
    } else for (const target of targetsOf(node)) if (target.type === 'Identifier') add(target, null);
  }
  return { ...unit, unit, scopes, values };
}

/** The binding of a name, if it is not a variable of an initializer. */
export function localOf(identifier: Identifier, { scopes, level }: Resolved): Binding | undefined {
  const binding = scopes.bound.get(identifier);
  return level !== 'block' && scopes.outermost.get(identifier.name) === binding ? undefined : binding;
}

/** The function or class that a variable always holds; null if it may hold something else. */
export function onlyFunction({ values }: Resolved, binding: Binding): FunctionNode | ClassNode | null {
  const [value, ...others] = values.get(binding) ?? [];
  return value && others.length === 0 && (isFunction(value) || isClass(value)) ? value : null;
}

/** The variables and properties that a node itself changes. */
export function targetsOf(node: Node): Node[] {
  if (node.type === 'UpdateExpression') return [node.argument];
  if (node.type === 'UnaryExpression') return node.operator === 'delete' ? [node.argument] : [];
  if (node.type === 'AssignmentExpression') return targetsIn(node.left);
  if (node.type !== 'ForInStatement' && node.type !== 'ForOfStatement') return [];
  return node.left.type === 'VariableDeclaration' ? [] : targetsIn(node.left);
}

function targetsIn(pattern: Node): Node[] {
  switch (pattern.type) {
    case 'ArrayPattern':
      return pattern.elements.flatMap((element) => (element ? targetsIn(element) : []));
    case 'ObjectPattern':
      return pattern.properties.flatMap((property) =>
        targetsIn(property.type === 'Property' ? property.value : property),
      );
    case 'AssignmentPattern':
      return targetsIn(pattern.left);
    case 'RestElement':
      return targetsIn(pattern.argument);
    default:
      return [pattern];
  }
}
