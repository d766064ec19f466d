/**
 * Finds out how the objects of a grammar may differ from those that literals and the standard library make: by methods of
 * their own, accessors, conversions, or an origin outside of the grammar. Names are compared, not objects: when in doubt,
 * any object may differ.
 */
import { CALLING, CONSTRUCTORS, ELEMENTS, MUTATORS, PLAIN, READERS } from './built-ins.js';
import { eachOfPattern } from './scopes.js';
import { type ClassNode, children, holds, isClass, isFunction, type Node, nodesIn, propertyName } from './syntax.js';
import { type Resolved, targetsOf } from './units.js';

export interface Objects {
  /** `true` if code may run without a call, or objects come from outside of the grammar: nothing is known of any code. */
  readonly areOdd: boolean;
  /** Returns `true` if a method of that name is the one of JavaScript. */
  readonly knowMethod: (name: string) => boolean;
  /** `true` if a pattern may keep its place. */
  readonly keepPlaces: boolean;
  /** `true` if code only reads members of `options`. */
  readonly keepOptions: boolean;
}

/** Names of properties that run without a call: conversions, accessors in a descriptor, and methods that built-in ones call. */
const IMPLICIT = ['toString', 'valueOf', 'toJSON', 'then', 'get', 'set', 'constructor', 'exec', 'join'];

/** Methods that make properties whose names are not seen. */
const REFLECTIVE: ReadonlySet<string | null> = new Set(['defineProperty', 'defineProperties', 'fromEntries']);

/** @param isImported - returns `true` for a name whose value comes from outside of the grammar */
export function objectsOf(units: readonly Resolved[], isImported: (name: string, unit: Resolved) => boolean): Objects {
  const nodes = units.flatMap(({ program }) => [...nodesIn(program)]);
  const options = optionNames(nodes);
  const declared = new Set(nodes.flatMap(namesOfFunctions));
  const functions = new Set([...PLAIN, ...declared]);
  for (const name of ['undefined', 'input', 'options']) functions.delete(name);
  // Without a function that is a value, no object has a method of its own.
  const haveMethods = nodes.some((node) => storesFunction(node, functions));
  const writes = haveMethods ? nodes.flatMap(writesOf) : [];
  const ownMethods = new Set<string>();
  for (let before = -1; before !== ownMethods.size; ) {
    before = ownMethods.size;
    for (const { name, value } of writes) if (name !== null && !isData(value, ownMethods)) ownMethods.add(name);
  }
  const areOdd =
    nodes.some((node) => isOdd(node) || (isClass(node) && mayExtendBuiltIn(node, declared))) ||
    units.some((unit) => changesGlobals(unit) || mentionsIn(unit).some((name) => isImported(name, unit))) ||
    (haveMethods && nodes.some(isReflective)) ||
    IMPLICIT.some((name) => ownMethods.has(name)) ||
    writes.some(({ name, value }) => name === null && !isData(value, ownMethods));
  const areGiven = units.some(({ program, labels }) => {
    const names = new Set([...options].filter((name) => !labels.has(name)));
    return holds(program, (node) => callsOption(node, names) || handsOn(node, names));
  });
  return {
    areOdd,
    knowMethod: (name) => !areGiven && !ownMethods.has(name),
    keepPlaces: nodes.some(isPlaceKeeper),
    keepOptions: !nodes.some((node) => passesOptions(node) || callsOption(node, OPTIONS)),
  };
}

/** The names of the functions and classes that a node declares. */
function namesOfFunctions(node: Node): readonly string[] {
  if (isFunction(node) || isClass(node)) return node.id ? [node.id.name] : [];
  if (node.type === 'VariableDeclarator') return nameOfFunction(node.id, node.init);
  return node.type === 'AssignmentExpression' ? nameOfFunction(node.left, node.right) : [];
}

function nameOfFunction(target: Node, value: Node | null | undefined): readonly string[] {
  return target.type === 'Identifier' && value && (isFunction(value) || isClass(value)) ? [target.name] : [];
}

/** Returns `true` if a node contains a function other than to declare or call it, or to have it called at once. */
function storesFunction(node: Node, names: ReadonlySet<string>): boolean {
  if (isClass(node)) return node.superClass != null || node.body.body.some((member) => !isConstructor(member));
  if (node.type === 'Property' && isChanging(propertyName(node.key, node.computed) ?? '')) return true;
  return valuesIn(node).some((child) => isFunctionValue(child, names));
}

/** The children of a node that may become a value of a variable, a property, a parameter or a result. */
function valuesIn(node: Node): readonly Node[] {
  switch (node.type) {
    case 'CallExpression':
    case 'NewExpression': {
      const { callee } = node;
      const name = callee.type === 'MemberExpression' ? propertyName(callee.property, callee.computed) : null;
      const called = name === null ? undefined : CALLING.get(name);
      const given = node.arguments.filter((_, index) => index !== called);
      return name === 'bind' ? [callee, ...given] : given;
    }
    case 'VariableDeclarator':
      return node.init && namesOfFunctions(node).length === 0 ? [node.init] : [];
    case 'AssignmentExpression':
      return namesOfFunctions(node).length === 0 ? [node.right] : [];
    case 'Property':
      return [node.value];
    case 'ArrowFunctionExpression':
      return [node.body];
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'MethodDefinition':
    case 'MemberExpression':
    case 'UnaryExpression':
    case 'BinaryExpression':
      return [];
    default:
      return children(node).filter(({ type }) => type !== 'FunctionDeclaration' && type !== 'ClassDeclaration');
  }
}

function isFunctionValue(node: Node, names: ReadonlySet<string>): boolean {
  if (node.type === 'Identifier') return names.has(node.name);
  if (node.type !== 'MemberExpression') return isFunction(node) || isClass(node);
  const name = propertyName(node.property, node.computed) ?? '';
  return isChanging(name) || (node.object.type === 'Identifier' && names.has(node.object.name));
}

/** Methods of arrays and patterns create objects with the constructor of a derived class. */
function mayExtendBuiltIn({ superClass }: ClassNode, declared: ReadonlySet<string>): boolean {
  if (superClass == null) return false;
  return superClass.type !== 'Identifier' || !(declared.has(superClass.name) || superClass.name.endsWith('Error'));
}

/** Names that a unit takes from elsewhere, or imports. */
function mentionsIn({ scopes }: Resolved): readonly string[] {
  const imports = [...scopes.outermost.values()].filter(({ kind }) => kind === 'import');
  return [...scopes.free, ...imports].map(({ name }) => name);
}

/** Returns `true` for members that are functions which change objects, or lead to such functions. */
function isChanging(name: string): boolean {
  return MUTATORS.has(name) || name === 'bind' || name === 'prototype' || name === 'constructor';
}

function isConstructor(member: Node): boolean {
  return member.type === 'MethodDefinition' && member.kind === 'constructor';
}

interface Write {
  /** null if it is computed. */
  readonly name: string | null;
  /** null if it is not known. */
  readonly value: Node | null;
}

/** The properties that a node defines or assigns to. */
function writesOf(node: Node): readonly Write[] {
  if (node.type === 'Property' || node.type === 'MethodDefinition' || node.type === 'PropertyDefinition') {
    return isConstructor(node) ? [] : [{ name: propertyName(node.key, node.computed), value: node.value ?? null }];
  }
  if (node.type === 'UpdateExpression' || node.type === 'UnaryExpression') return [];
  return targetsOf(node).flatMap((target) => {
    if (target.type !== 'MemberExpression') return [];
    const value = node.type === 'AssignmentExpression' && node.left === target ? node.right : null;
    return [{ name: propertyName(target.property, target.computed), value }];
  });
}

/** Returns `true` if a value is not a function. */
function isData(value: Node | null, ownMethods: ReadonlySet<string>): boolean {
  switch (value?.type) {
    case 'Literal':
    case 'TemplateLiteral':
    case 'UnaryExpression':
    case 'BinaryExpression':
    case 'UpdateExpression':
    case 'ArrayExpression':
    case 'ObjectExpression':
      return true;
    case 'NewExpression':
      return value.callee.type === 'Identifier' && CONSTRUCTORS.has(value.callee.name);
    case 'LogicalExpression':
      return isData(value.left, ownMethods) && isData(value.right, ownMethods);
    case 'ConditionalExpression':
      return isData(value.consequent, ownMethods) && isData(value.alternate, ownMethods);
    case 'CallExpression': {
      if (value.callee.type !== 'MemberExpression') return false;
      const name = propertyName(value.callee.property, value.callee.computed) ?? '';
      return READERS.has(name) && !ELEMENTS.has(name) && !ownMethods.has(name);
    }
    default:
      return false;
  }
}

/** Returns `true` for code that runs without a call, or names that have another meaning than usual. */
function isOdd(node: Node): boolean {
  if ((node.type === 'Property' || node.type === 'MethodDefinition') && (node.kind === 'get' || node.kind === 'set'))
    return true;
  if (isFunction(node)) return node.generator;
  if (node.type === 'Literal') return 'regex' in node && node.regex?.flags.includes('y') === true;
  if (node.type === 'Identifier')
    return node.name === 'Proxy' || node.name === 'Symbol' || node.name === 'Reflect' || node.name.startsWith('__');
  return node.type === 'WithStatement';
}

/** Returns `true` if a node defines properties whose names or accessors are not seen, or hands on a function that does. */
function isReflective(node: Node): boolean {
  if (node.type === 'Property' || node.type === 'MemberExpression') {
    const isProperty = node.type === 'Property';
    const name = propertyName(isProperty ? node.key : node.property, node.computed);
    if (REFLECTIVE.has(name)) return true;
    if (isProperty ? name === 'create' : name === null ? isGlobalObject(node.object) : isCreate(node.object))
      return true;
  }
  // `Object.create()` defines properties with a second argument.
  if (node.type === 'CallExpression' && isCreate(node.callee)) {
    if (node.arguments.length !== 1 || node.arguments[0]!.type === 'SpreadElement') return true;
  }
  return valuesIn(node).some((child) => isGlobalObject(child) || isCreate(child));
}

function isCreate(node: Node): boolean {
  return node.type === 'MemberExpression' && propertyName(node.property, node.computed) === 'create';
}

function isGlobalObject(node: Node): boolean {
  return node.type === 'Identifier' && node.name === 'Object';
}

/** Returns `true` for code that replaces a part of the standard library. */
function changesGlobals({ program, scopes, labels }: Resolved): boolean {
  const free = new Set<Node>(scopes.free.map(({ node }) => node));
  return holds(program, (node) =>
    targetsOf(node).some((target) => {
      let root = target;
      while (root.type === 'MemberExpression') root = root.object;
      if (root.type !== 'Identifier' || !free.has(root) || labels.has(root.name)) return false;
      return PLAIN.has(root.name) && root.name !== 'options';
    }),
  );
}

function isPlaceKeeper(node: Node): boolean {
  if (node.type === 'Literal') return 'regex' in node && node.regex?.flags.includes('g') === true;
  return node.type === 'Identifier' && node.name === 'RegExp';
}

const OPTIONS: ReadonlySet<string> = new Set(['options']);

/** `options`, and the names of variables that hold a part of it. */
function optionNames(nodes: readonly Node[]): ReadonlySet<string> {
  const names = new Set(OPTIONS);
  for (let before = 0; before !== names.size; ) {
    before = names.size;
    for (const node of nodes) {
      if (node.type === 'VariableDeclarator' && node.init && comesFromOptions(node.init, names)) {
        eachOfPattern(node.id, { name: ({ name }) => names.add(name) });
      } else if (node.type === 'AssignmentExpression' && comesFromOptions(node.right, names)) {
        for (const target of targetsOf(node)) if (target.type === 'Identifier') names.add(target.name);
      }
    }
  }
  return names;
}

/** Nodes that only test or compare the value of their children, or read its members. */
const TESTS: ReadonlySet<Node['type']> = new Set<Node['type']>([
  ...(['MemberExpression', 'UnaryExpression', 'BinaryExpression', 'LogicalExpression'] as const),
  ...(['ConditionalExpression', 'IfStatement', 'ForStatement', 'WhileStatement', 'DoWhileStatement'] as const),
  ...(['SwitchStatement', 'SwitchCase', 'ExpressionStatement', 'VariableDeclarator'] as const),
]);

const CONVERSIONS: ReadonlySet<string> = new Set(['Boolean', 'Number', 'String', 'parseInt', 'parseFloat']);

/** Returns `true` if a value of `options` gets to where its methods may be called under another name. */
function handsOn(node: Node, names: ReadonlySet<string>): boolean {
  if (TESTS.has(node.type)) return false;
  if (node.type === 'AssignmentExpression')
    return node.left.type === 'MemberExpression' && comesFromOptions(node.right, names);
  if (node.type === 'Property') return !isSource(node.value) && comesFromOptions(node.value, names);
  if (isFunction(node)) return comesFromOptions(node.body, names);
  if (node.type === 'CallExpression' && node.callee.type === 'Identifier' && CONVERSIONS.has(node.callee.name))
    return false;
  return children(node).some((child) => comesFromOptions(child, names));
}

/** Returns `true` for uses of `options` other than reading a member. */
function passesOptions(node: Node): boolean {
  if (targetsOf(node).some((target) => comesFromOptions(target, OPTIONS))) return true;
  return children(node).some(
    (child) => child.type === 'Identifier' && child.name === 'options' && node.type !== 'MemberExpression',
  );
}

/** Returns `true` for `options.grammarSource`, which Peggy gives to all locations. */
function isSource(node: Node): boolean {
  return node.type === 'MemberExpression' && propertyName(node.property, node.computed) === 'grammarSource';
}

function callsOption(node: Node, names: ReadonlySet<string>): boolean {
  return (node.type === 'CallExpression' || node.type === 'NewExpression') && comesFromOptions(node.callee, names);
}

/** Returns `true` for `options`, and for objects that are reached from it. */
function comesFromOptions(node: Node, names: ReadonlySet<string>): boolean {
  switch (node.type) {
    case 'Identifier':
      return names.has(node.name);
    case 'MemberExpression':
      return comesFromOptions(node.object, names);
    case 'LogicalExpression':
      // A default value shows what kind of value the option has.
      return (
        (node.right.type !== 'Literal' && comesFromOptions(node.left, names)) || comesFromOptions(node.right, names)
      );
    case 'ConditionalExpression':
      return comesFromOptions(node.consequent, names) || comesFromOptions(node.alternate, names);
    case 'ChainExpression':
      return comesFromOptions(node.expression, names);
    default:
      return false;
  }
}
