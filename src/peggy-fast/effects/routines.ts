import type { Identifier, Program } from 'acorn';
import { children, type FunctionNode, isFunction, type Node, propertyName } from './nodes.js';
import type { Snippet } from './positions.js';
import type { Binding, Scopes } from './scopes.js';
import { resolveScopes } from './scopes.js';

/** When code runs: once with the module, at the start of each parse, or during it. */
export type Level = 'module' | 'parse' | 'block';

/** One piece of a grammar's code: an initializer, an action, a predicate or the function of a repetition's bound. */
export interface Unit {
  readonly level: Level;
  readonly snippet: Snippet;
  readonly program: Program;
  readonly scopes: Scopes;
  /** Labels in reach. */
  readonly parameters: ReadonlySet<string>;
  readonly root: Routine;
}

/** Code that runs as a whole: the statements of a unit, a function, or what gives a field of a class its first value. */
export interface Routine {
  readonly node: Program | FunctionNode | Extract<Node, { type: 'PropertyDefinition' }>;
  /** What messages call it; `null` for code that nobody can call. */
  readonly name: string | null;
  readonly parent: Routine | null;
  readonly unit: Unit;
}

/** The routines of a grammar, and what belongs to them. */
export interface Routines {
  readonly all: Routine[];
  readonly byNode: Map<Node, Routine>;
  /** Which routine's activations a local variable lives in. */
  readonly owners: Map<Binding, Routine>;
  /** Functions that a call of a method, or the use of an accessor, of that name may run. */
  readonly methods: Map<string, FunctionNode[]>;
  /** Those of them that stand under a name in the source. */
  readonly named: Set<Node>;
  readonly accessors: Map<string, FunctionNode[]>;
  /** The properties of objects and classes that are the value of a constant from the start, by variable. */
  readonly members: Map<Binding, Map<string, Node>>;
  /** The routines that classes are declared in. */
  readonly classes: Map<Node, Routine>;
  /** `this` of routines, for the arrow functions in them. */
  readonly thisBindings: Map<Routine, Binding>;
}

export function emptyRoutines(): Routines {
  return {
    all: [],
    byNode: new Map(),
    owners: new Map(),
    methods: new Map(),
    named: new Set(),
    accessors: new Map(),
    members: new Map(),
    classes: new Map(),
    thisBindings: new Map(),
  };
}

/** Makes a unit of some code and enters its routines. */
export function addUnit(
  level: Level,
  snippet: Snippet,
  program: Program,
  parameters: readonly string[],
  routines: Routines,
): Unit {
  const scopes = resolveScopes(program);
  const unit: Unit = {
    level,
    snippet,
    program,
    scopes,
    parameters: new Set(parameters),
    get root() {
      return root;
    },
  };
  const root: Routine = { node: program, name: null, parent: null, unit };
  enter(root, routines);
  for (const child of children(program)) walk(child, root, null, routines);
  return unit;
}

function enter(routine: Routine, routines: Routines): void {
  routines.all.push(routine);
  routines.byNode.set(routine.node, routine);
}

/** Enters what stands in and below a node. `name` is what the source calls the value of the node. */
function walk(node: Node, routine: Routine, name: string | null, routines: Routines): void {
  if (isFunction(node)) {
    const own: Routine = { node, name: node.id?.name ?? name, parent: routine, unit: routine.unit };
    enter(own, routines);
    for (const child of children(node)) {
      const isOuterName = child === node.id && node.type === 'FunctionDeclaration';
      walk(child, isOuterName ? routine : own, null, routines);
    }
    return;
  }
  switch (node.type) {
    case 'Identifier':
      own(node, routine, routines);
      return;
    case 'PropertyDefinition': {
      const field: Routine = { node, name: null, parent: routine, unit: routine.unit };
      enter(field, routines);
      walk(node.key, routine, null, routines);
      if (node.value) walk(node.value, field, propertyName(node.key, node.computed), routines);
      return;
    }
    case 'VariableDeclarator':
      if (node.id.type === 'Identifier') {
        const binding = routine.unit.scopes.bound.get(node.id);
        if (binding && node.init) addMembers(binding, node.init, routines);
      }
      walk(node.id, routine, null, routines);
      if (node.init) walk(node.init, routine, node.id.type === 'Identifier' ? node.id.name : null, routines);
      return;
    case 'ClassDeclaration':
    case 'ClassExpression': {
      routines.classes.set(node, routine);
      const binding = node.id && routine.unit.scopes.bound.get(node.id);
      if (binding) addMembers(binding, node, routines);
      break;
    }
    case 'Property':
    case 'MethodDefinition': {
      const key = propertyName(node.key, node.computed);
      if (isFunction(node.value)) addMethod(key ?? '', node.kind, node.value, routines);
      walk(node.key, routine, null, routines);
      walk(node.value, routine, key, routines);
      return;
    }
    case 'AssignmentExpression':
      if (node.left.type === 'MemberExpression' && isFunction(node.right)) {
        addMethod(propertyName(node.left.property, node.left.computed) ?? '', 'method', node.right, routines);
      }
      break;
    default:
  }
  for (const child of children(node)) walk(child, routine, null, routines);
}

function own(identifier: Identifier, routine: Routine, routines: Routines): void {
  const binding = routine.unit.scopes.bound.get(identifier);
  if (binding?.identifier === identifier) routines.owners.set(binding, routine);
}

function addMethod(name: string, kind: string, node: FunctionNode, routines: Routines): void {
  const index = kind === 'get' || kind === 'set' ? routines.accessors : routines.methods;
  if (name !== '') routines.named.add(node);
  const found = index.get(name);
  if (found) found.push(node);
  else index.set(name, [node]);
}

function addMembers(binding: Binding, value: Node, routines: Routines): void {
  const members = membersOf(value);
  if (members && binding.kind !== 'var' && binding.kind !== 'let') routines.members.set(binding, members);
}

/** The properties of an object literal, frozen or not, or the static methods of a class, where all are plain. */
function membersOf(value: Node): Map<string, Node> | null {
  if (value.type === 'CallExpression' && value.callee.type === 'MemberExpression') {
    const [first] = value.arguments;
    const isFrozen = propertyName(value.callee.property, value.callee.computed) === 'freeze';
    return isFrozen && first ? membersOf(first) : null;
  }
  if (value.type === 'ObjectExpression') {
    return collect(value.properties.map((each) => (each.type === 'Property' ? each : null)));
  }
  if (value.type !== 'ClassDeclaration' && value.type !== 'ClassExpression') return null;
  return collect(value.body.body.filter((each) => each.type === 'MethodDefinition' && each.static));
}

function collect(properties: readonly (Node | null)[]): Map<string, Node> | null {
  const members = new Map<string, Node>();
  for (const each of properties) {
    if (each?.type !== 'Property' && each?.type !== 'MethodDefinition') return null;
    const key = propertyName(each.key, each.computed);
    if (key === null || each.kind === 'get' || each.kind === 'set') return null;
    members.set(key, each.value);
  }
  return members;
}
