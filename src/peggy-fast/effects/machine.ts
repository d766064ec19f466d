import type { Identifier, Program } from 'acorn';
import { type Binding, resolveScopes, type Scopes } from './scopes.js';
import {
  type ClassNode,
  children,
  type FunctionNode,
  isFunction,
  type Node,
  propertyName,
  type Snippet,
} from './syntax.js';
import { covers, intern, join, type Origin, PRIMITIVE, type Value } from './values.js';

/** The functions that Peggy provides for the code of a grammar. */
export const POSITION_FUNCTIONS: ReadonlySet<string> = new Set('text range offset location error expected'.split(' '));
const GIVEN: ReadonlySet<string> = new Set(['input', 'options', ...POSITION_FUNCTIONS]);

export interface Machine {
  readonly routines: Routines;
  readonly units: readonly Unit[];
  readonly trusted: ReadonlySet<string>;
  readonly globals: { readonly module: ReadonlyMap<string, Binding>; readonly parse: ReadonlyMap<string, Binding> };
  /** The possible values of variables, in terms of the routine that owns them. */
  readonly variables: Map<Binding, Value>;
  readonly summaries: Map<Routine, Summary>;
  /** The possible values of labels, other than those made in the parse. */
  labels: Value;
  /** The thrown values, other than new objects, and the objects that they hold. */
  thrown: Value;
  /** `true` if per-parse variables also hold objects that blocks have made. */
  sharesState: boolean;
  changed: boolean;
  /** The calls that the current routine has passed through, by code and place, with their arguments. */
  readonly calls: Map<string, Arguments>;
}

export interface Frame {
  readonly machine: Machine;
  readonly routine: Routine;
  readonly summary: Summary;
  readonly value: (node: Node) => Value;
}

type Meaning =
  | { readonly kind: 'local'; readonly binding: Binding; readonly owner: Routine }
  | { readonly kind: 'state' | 'module'; readonly binding: Binding }
  | { readonly kind: 'label' | 'given' | 'global' | 'trusted' | 'import'; readonly name: string };

export function createMachine(routines: Routines, units: readonly Unit[], trusted: readonly string[]): Machine {
  const variablesOf = (level: Unit['level']): Map<string, Binding> =>
    new Map(units.filter((unit) => unit.level === level).flatMap(({ scopes }) => [...scopes.outermost]));
  return {
    routines,
    units,
    trusted: new Set(trusted),
    globals: { module: variablesOf('module'), parse: variablesOf('parse') },
    variables: new Map(),
    summaries: new Map(routines.all.map((routine) => [routine, emptySummary()])),
    labels: PRIMITIVE,
    thrown: PRIMITIVE,
    sharesState: false,
    changed: false,
    calls: new Map(),
  };
}

/** Resolves an identifier in a routine. As in the generated parser, the innermost declaration counts. */
export function meaningOf(identifier: Identifier, { unit }: Routine, machine: Machine): Meaning {
  const { name } = identifier;
  const bound = unit.scopes.bound.get(identifier);
  const isOutermost = bound !== undefined && unit.scopes.outermost.get(name) === bound;
  const owner = bound && machine.routines.owners.get(bound);
  if (bound && owner && (!isOutermost || unit.level === 'block')) return { kind: 'local', binding: bound, owner };
  if (unit.parameters.has(name)) return { kind: 'label', name };
  if (machine.trusted.has(name)) return { kind: 'trusted', name };
  const state = unit.level === 'module' ? undefined : machine.globals.parse.get(name);
  if (state) return { kind: 'state', binding: state };
  if (unit.level !== 'module' && GIVEN.has(name)) return { kind: 'given', name };
  const module = machine.globals.module.get(name);
  if (!module) return { kind: 'global', name };
  return module.kind === 'import' ? { kind: 'import', name } : { kind: 'module', binding: module };
}

export function summaryOf(node: FunctionNode | Routine['node'], machine: Machine): [Routine, Summary] | null {
  const routine = machine.routines.byNode.get(node);
  const summary = routine && machine.summaries.get(routine);
  return summary ? [routine, summary] : null;
}

/** The initializer that creates a function or class, which lives as long; null if it is created repeatedly. */
export function levelOf(node: FunctionNode | ClassNode, { routines }: Machine): Level | null {
  const routine = routines.byNode.get(node) ?? routines.classes.get(node);
  return routine && (routine.parent === null || routine.parent.parent === null) ? routine.unit.level : null;
}

export function isWithin(routine: Routine, outer: Routine): boolean {
  for (let at: Routine | null = routine; at !== null; at = at.parent) if (at === outer) return true;
  return false;
}

/** The lifetime of the values that a routine creates, if a function takes them out: that of the code that called the routine. */
export function lifetimeOf(
  routine: Routine,
  machine: Machine,
  seen = new Set<Routine>(),
): 'module' | 'state' | 'label' {
  if (routine.parent === null) return LIFETIMES[routine.unit.level];
  if (seen.has(routine)) return 'label';
  seen.add(routine);
  const callers = [...(machine.summaries.get(routine)?.callers ?? [])];
  const lives = callers.map((caller) => lifetimeOf(caller, machine, seen));
  return lives.includes('module') ? 'module' : lives.includes('state') ? 'state' : 'label';
}

const LIFETIMES = { module: 'module', parse: 'state', block: 'label' } as const;

/** The time at which code runs: once with the module, at the start of each parse, or during it. */
export type Level = 'module' | 'parse' | 'block';

/** One piece of a grammar's code: an initializer, an action, a predicate or the function of a repetition's bound. */
export interface Unit {
  readonly level: Level;
  readonly snippet: Snippet;
  readonly program: Program;
  readonly scopes: Scopes;
  readonly parameters: ReadonlySet<string>;
  readonly root: Routine;
}

export interface Routine {
  readonly node: Program | FunctionNode;
  /** The name in messages; null for code that cannot be called. */
  readonly name: string | null;
  readonly parent: Routine | null;
  readonly unit: Unit;
}

export interface Routines {
  readonly all: Routine[];
  readonly byNode: Map<Node, Routine>;
  /** The routine whose activations a local variable lives in. */
  readonly owners: Map<Binding, Routine>;
  /** The functions that a call of a method of that name may run. */
  readonly methods: Map<string, FunctionNode[]>;
  /** Those of them that have a name in the source. */
  readonly named: Set<Node>;
  /** The properties of objects and classes that are the initial value of a constant, by variable. */
  readonly members: Map<Binding, Map<string, Node>>;
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
    members: new Map(),
    classes: new Map(),
    thisBindings: new Map(),
  };
}

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

/** Registers a node and its descendants. `name` is the name of the node's value in the source. */
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
      if (isFunction(node.value)) addMethod(key ?? '', node.value, routines);
      walk(node.key, routine, null, routines);
      walk(node.value, routine, key, routines);
      return;
    }
    case 'AssignmentExpression':
      if (node.left.type === 'MemberExpression' && isFunction(node.right)) {
        addMethod(propertyName(node.left.property, node.left.computed) ?? '', node.right, routines);
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

function addMethod(name: string, node: FunctionNode, { methods, named }: Routines): void {
  if (name !== '') named.add(node);
  const found = methods.get(name);
  if (found) found.push(node);
  else methods.set(name, [node]);
}

function addMembers(binding: Binding, value: Node, routines: Routines): void {
  const members = membersOf(value);
  if (members && binding.kind !== 'var' && binding.kind !== 'let') routines.members.set(binding, members);
}

/** The properties of an object literal, frozen or not, or the static methods of a class, if all are plain. */
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
    if (key === null) return null;
    members.set(key, each.value);
  }
  return members;
}

export interface Place {
  readonly unit: Unit;
  readonly node: Node;
}

/** An operation that other code may notice. */
export type Operation =
  | 'assign'
  | 'change'
  | 'may-change'
  /** Moves the `lastIndex` of a pattern with the flag g or y, or of one with y. */
  | 'match'
  | 'sticky-match'
  /** Throws the value, which may be caught anywhere. */
  | 'throw'
  /** Runs code outside of the grammar, or an impure built-in. */
  | 'call'
  /** Runs an unknown method. */
  | 'unknown-method'
  /** Passes something that outlives the parse to a function that comes with a value. */
  | 'pass';

export interface Effect {
  readonly operation: Operation;
  readonly origin: Origin;
  readonly place: Place;
  /** The method that is called, or the function that operates on its argument. */
  readonly by: string | null;
}

export interface Pending {
  readonly callee: Origin;
  readonly arguments: Arguments;
}

export interface Arguments {
  readonly self: Value;
  readonly list: readonly Value[];
  /** The further arguments, starting with the first `...spread`. */
  readonly rest: Value;
  /** The expressions of `list`, if there are any. */
  readonly nodes: readonly (Node | null)[];
  readonly selfNode: Node | null;
}

/** The possible effects of running a routine, in terms of its arguments and of the variables around it. */
export interface Summary {
  readonly effects: Map<string, Effect>;
  readonly pending: Map<string, Pending>;
  readonly stores: Map<Binding, Value>;
  readonly argumentStores: Map<number, Value>;
  readonly reads: Set<Binding>;
  returns: Value;
  mayThrow: boolean;
  /** Calls text(), location() or the like: itself, or through others. */
  position: { self: boolean; calls: boolean };
  readonly callers: Set<Routine>;
}

function emptySummary(): Summary {
  return {
    effects: new Map(),
    pending: new Map(),
    stores: new Map(),
    argumentStores: new Map(),
    reads: new Set(),
    returns: PRIMITIVE,
    mayThrow: false,
    position: { self: false, calls: false },
    callers: new Set(),
  };
}

const ids = new WeakMap<object, number>();
let lastId = 0;

export function idOf(object: object): number {
  const known = ids.get(object);
  if (known !== undefined) return known;
  ids.set(object, ++lastId);
  return lastId;
}

export function keyOf(origin: Origin, place: Place, operation = ''): string {
  return `${operation} ${idOf(intern(origin))} ${idOf(place.node)}`;
}

/** Adds a possible value to those that are known. */
export function grow<K>(map: Map<K, Value>, key: K, value: Value, machine: Machine): void {
  const known = map.get(key);
  if (known && covers(known, value)) return;
  map.set(key, known ? join(known, value) : value);
  machine.changed = true;
}
