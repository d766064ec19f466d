/**
 * Decides which code of a grammar has no effect other than its value, so that a scanner may omit it if the value is not
 * used. All other code runs exactly when and as often as in Peggy's parser: code that is not understood is not a problem.
 */
import type { CallExpression, Identifier, NewExpression, Program } from 'acorn';
import {
  CALLING,
  CHANGING,
  CONSTRUCTORS,
  COPYING,
  FUNCTIONS,
  MUTATORS,
  PLACE_KEEPING,
  PLAIN,
  READERS,
} from './built-ins.js';
import { type Binding, eachOfPattern, resolveScopes, type Scopes } from './scopes.js';
import {
  type ClassNode,
  children,
  type FunctionNode,
  holds,
  isClass,
  isFunction,
  type Node,
  nodesIn,
  propertyName,
} from './syntax.js';

export const POSITION_FUNCTIONS: ReadonlySet<string> = new Set('text range offset location error expected'.split(' '));

/** The code of an initializer or a block, parsed. */
export interface Unit {
  readonly level: 'module' | 'parse' | 'block';
  readonly program: Program;
  /** The labels that a block can read. */
  readonly labels: ReadonlySet<string>;
}

interface Resolved extends Unit {
  readonly unit: Unit;
  readonly scopes: Scopes;
  /** The values that each variable may get; null for one that is not known. */
  readonly values: ReadonlyMap<Binding, readonly (Node | null)[]>;
}

/** A function without effects, except that it may change its arguments, by index, or the object that it constructs. */
interface Summary {
  readonly changes: ReadonlySet<number>;
  readonly changesThis: boolean;
}

interface Declared {
  readonly unit: Resolved;
  readonly binding: Binding;
}

const NOTHING: Summary = { changes: new Set(), changesThis: false };

/** Names of methods that run without a call. */
const IMPLICIT: ReadonlySet<string | null> = new Set(['toString', 'valueOf', 'toJSON', 'then']);

export class Purity {
  readonly #units: ReadonlyMap<Unit, Resolved>;
  /** The variables of the initializers. */
  readonly #declared = new Map<string, Declared>();
  readonly #summaries = new Map<FunctionNode | ClassNode, Summary | null>();
  readonly #trusted: ReadonlySet<string>;
  /** Variables of the initializers that any code changes after their declaration. */
  readonly #reassigned = new Set<string>();
  /** Names of methods that the grammar defines itself. */
  readonly #ownMethods = new Set<string>();
  /** `true` if code runs without a call, so that nothing is known of any code. */
  readonly #isOdd: boolean;
  /** `true` if objects may come from outside of the grammar, with methods of any name. */
  readonly #isForeign: boolean;
  /** `true` if code only reads members of `options`. */
  readonly keepsOptions: boolean;
  /** `true` if a pattern of an initializer keeps its place. */
  readonly #keepsPlaces: boolean;

  /** @param trusted - names of functions and objects without effects */
  constructor(units: readonly Unit[], trusted: ReadonlySet<string>) {
    this.#trusted = trusted;
    this.#units = new Map(units.map((unit) => [unit, resolved(unit)]));
    const all = [...this.#units.values()];
    for (const level of ['module', 'parse'] as const) {
      for (const unit of all.filter((one) => one.level === level)) {
        for (const [name, binding] of unit.scopes.outermost) this.#declared.set(name, { unit, binding });
      }
    }
    const nodes = all.flatMap(({ program }) => [...nodesIn(program)]);
    for (const node of nodes) {
      if (node.type !== 'Property' && node.type !== 'MethodDefinition') continue;
      const name = propertyName(node.key, node.computed);
      if (name !== null && (isFunction(node.value) || node.value.type === 'Identifier')) this.#ownMethods.add(name);
    }
    this.#findReassigned(all);
    this.#isOdd = nodes.some(isOdd) || [...IMPLICIT].some((name) => name !== null && this.#ownMethods.has(name));
    this.#isForeign =
      all.some((unit) => unit.scopes.free.some(({ name }) => this.#comesFromOutside(name, unit))) ||
      nodes.some(callsOption);
    this.keepsOptions = !nodes.some((node) => passesOptions(node) || callsOption(node));
    this.#keepsPlaces = all.some(({ level, program }) => level !== 'block' && holds(program, isPlaceKeeper));
    this.#summarize(all);
  }

  /** Returns `true` if the code of a block has no effect, and does not throw deliberately. */
  isPure(unit: Unit): boolean {
    if (this.#isOdd) return false;
    const check = new Check(this, this.#units.get(unit)!, []);
    return check.isPure(unit.program) && !check.changesThis;
  }

  /** Returns `true` if the code of a block has the same value whenever it runs at the same place of a text, without its labels. */
  isConstant(unit: Unit): boolean {
    const [statement, ...others] = unit.program.body;
    if (this.#isOdd || others.length > 0 || statement?.type !== 'ReturnStatement' || !statement.argument) return false;
    return this.#isConstantValue(statement.argument, unit);
  }

  /** Returns `true` if a predicate never has a falsy value: its code throws instead. */
  alwaysHolds(unit: Unit): boolean {
    return this.#returnsTrue(unit.program, unit, new Set());
  }

  #returnsTrue(body: Node, unit: Unit, open: ReadonlySet<Node>): boolean {
    const statements = body.type === 'Program' || body.type === 'BlockStatement' ? body.body : [];
    if (!this.#leaves(statements.at(-1), unit)) return false;
    const isFalsy = (node: Node): boolean =>
      node.type === 'ReturnStatement' && !(node.argument && this.#isTrue(node.argument, unit, open));
    return !holds(body, isFalsy, isFunction);
  }

  /** Returns `true` if the code after a statement is never reached. */
  #leaves(statement: Node | undefined, unit: Unit): boolean {
    switch (statement?.type) {
      case 'ReturnStatement':
      case 'ThrowStatement':
        return true;
      case 'ExpressionStatement': {
        const { expression } = statement;
        if (expression.type !== 'CallExpression' || expression.callee.type !== 'Identifier') return false;
        if (this.#units.get(unit)!.scopes.bound.has(expression.callee)) return false;
        return ['error', 'expected'].some((name) => isName(expression.callee, name, unit) && !this.#declared.has(name));
      }
      case 'TryStatement': {
        const { block, handler, finalizer } = statement;
        if (!handler || finalizer) return false;
        return this.#leaves(block.body.at(-1), unit) && this.#leaves(handler.body.body.at(-1), unit);
      }
      default:
        return false;
    }
  }

  #isTrue(node: Node, unit: Unit, open: ReadonlySet<Node>): boolean {
    if (node.type === 'Literal') return Boolean(node.value);
    if (node.type === 'LogicalExpression') {
      const right = this.#isTrue(node.right, unit, open);
      return node.operator === '&&' ? right && this.#isTrue(node.left, unit, open) : right;
    }
    if (node.type !== 'CallExpression' || node.callee.type !== 'Identifier') return false;
    if (localOf(node.callee, this.#units.get(unit)!) !== undefined) return false;
    const declared = this.declaredAs(node.callee.name, unit);
    const called =
      declared && !this.#reassigned.has(node.callee.name) ? onlyFunction(declared.unit, declared.binding) : null;
    if (declared === undefined || called === null || isClass(called) || open.has(called)) return false;
    return this.#returnsTrue(called.body, declared.unit.unit, new Set([...open, called]));
  }

  /** The initializer's variable of that name; `undefined` for a label or a global. */
  declaredAs(name: string, { labels }: Unit): Declared | undefined {
    return labels.has(name) ? undefined : this.#declared.get(name);
  }

  isTrusted(name: string): boolean {
    return this.#trusted.has(name);
  }

  /** Returns `true` if a method of that name is the one of JavaScript. */
  knowsMethod(name: string): boolean {
    return !this.#isForeign && !this.#ownMethods.has(name);
  }

  get keepsPlaces(): boolean {
    return this.#keepsPlaces;
  }

  /** The function or class that a variable of an initializer always holds; null if it may hold something else. */
  summaryOf({ unit, binding }: Declared): Summary | null {
    const node = onlyFunction(unit, binding);
    return node === null || this.#reassigned.has(binding.name) ? null : (this.#summaries.get(node) ?? null);
  }

  #comesFromOutside(name: string, unit: Resolved): boolean {
    if (unit.labels.has(name) || this.#trusted.has(name)) return false;
    const declared = this.#declared.get(name);
    return declared === undefined ? !PLAIN.has(name) : declared.binding.kind === 'import';
  }

  #findReassigned(all: readonly Resolved[]): void {
    for (const unit of all) {
      for (const node of nodesIn(unit.program)) {
        for (const target of targetsOf(node)) {
          if (target.type !== 'Identifier') continue;
          if (localOf(target, unit) === undefined) this.#reassigned.add(target.name);
        }
      }
    }
  }

  /** Begins with functions that have no effects, and repeats until no more are found: functions may call each other. */
  #summarize(all: readonly Resolved[]): void {
    const found = all.flatMap((unit) => {
      if (unit.level === 'block') return [];
      return [...unit.scopes.outermost.values()].flatMap((binding) => {
        const node = onlyFunction(unit, binding);
        return node === null ? [] : [{ unit, node }];
      });
    });
    for (const { node } of found) this.#summaries.set(node, NOTHING);
    for (let changed = true; changed; ) {
      changed = false;
      for (const { unit, node } of found) {
        const before = this.#summaries.get(node);
        if (before === null || before === undefined) continue;
        const now = this.#summary(unit, node);
        if (now !== null && now.changes.size === before.changes.size && now.changesThis === before.changesThis)
          continue;
        this.#summaries.set(node, now);
        changed = true;
      }
    }
  }

  #summary(unit: Resolved, node: FunctionNode | ClassNode): Summary | null {
    const body = isClass(node) ? constructorOf(node) : node;
    if (body === null) return null;
    if (body === undefined) return NOTHING;
    if (body.async || body.generator) return null;
    const parameters = body.params.map((one) => (one.type === 'Identifier' ? unit.scopes.bound.get(one) : undefined));
    const check = new Check(this, unit, parameters);
    return check.isPure(body) ? check : null;
  }

  #isConstantValue(node: Node, unit: Unit): boolean {
    const each = (...nodes: Node[]): boolean => nodes.every((one) => this.#isConstantValue(one, unit));
    switch (node.type) {
      case 'Literal':
        return true;
      case 'Identifier': {
        if (unit.labels.has(node.name)) return false;
        return node.name === 'undefined' || (this.#declared.has(node.name) && !this.#reassigned.has(node.name));
      }
      case 'UnaryExpression':
        return node.operator !== 'delete' && each(node.argument);
      case 'BinaryExpression':
        return each(node.left, node.right);
      case 'LogicalExpression':
        return each(node.left, node.right);
      case 'ConditionalExpression':
        return each(node.test, node.consequent, node.alternate);
      case 'MemberExpression':
        if (isName(node.object, 'options', unit)) return this.keepsOptions && !node.computed;
        return isName(node.object, 'input', unit) && (!node.computed || each(node.property));
      case 'CallExpression': {
        const { callee } = node;
        if (isName(callee, 'offset', unit)) return true;
        if (callee.type !== 'MemberExpression' || !isName(callee.object, 'input', unit)) return false;
        return READERS.has(propertyName(callee.property, callee.computed) ?? '') && each(...node.arguments);
      }
      default:
        return false;
    }
  }
}

/** The check of one function or block. */
class Check implements Summary {
  readonly changes = new Set<number>();
  changesThis = false;
  readonly #purity: Purity;
  readonly #unit: Resolved;
  readonly #parameters: readonly (Binding | undefined)[];

  constructor(purity: Purity, unit: Resolved, parameters: readonly (Binding | undefined)[]) {
    this.#purity = purity;
    this.#unit = unit;
    this.#parameters = parameters;
  }

  isPure(node: Node): boolean {
    return this.#isHarmless(node) && children(node).every((child) => this.isPure(child));
  }

  #isHarmless(node: Node): boolean {
    switch (node.type) {
      case 'AssignmentExpression':
      case 'UpdateExpression':
      case 'UnaryExpression':
      case 'ForInStatement':
      case 'ForOfStatement':
        return targetsOf(node).every((target) => this.#isOwn(target));
      case 'CallExpression':
        return this.#isHarmlessCall(node);
      case 'NewExpression':
        return this.#isHarmlessCreation(node);
      default:
        return !RISKY.has(node.type);
    }
  }

  /** Returns `true` for a variable of the function, or a property of an object that the function has made. */
  #isOwn(target: Node): boolean {
    if (target.type === 'MemberExpression') return this.#isOwned(target.object) || this.#isTrusted(target.object);
    return target.type === 'Identifier' && this.#localOf(target) !== undefined;
  }

  #isOwned(node: Node): boolean {
    if (node.type === 'ThisExpression') {
      this.changesThis = true;
      return true;
    }
    if (this.#isFresh(node)) return true;
    const binding = node.type === 'Identifier' ? this.#localOf(node) : undefined;
    const index = binding === undefined ? -1 : this.#parameters.indexOf(binding);
    // A parameter that is assigned to may hold anything.
    if (index < 0 || this.#unit.values.get(binding!)?.length !== 1) return false;
    this.changes.add(index);
    return true;
  }

  #isFresh(node: Node): boolean {
    switch (node.type) {
      case 'ObjectExpression':
      case 'ArrayExpression':
        return true;
      case 'NewExpression':
        return node.callee.type === 'Identifier';
      case 'ConditionalExpression':
        return this.#isFresh(node.consequent) && this.#isFresh(node.alternate);
      case 'Identifier': {
        const binding = this.#localOf(node);
        const values = binding && this.#unit.values.get(binding);
        return (
          values !== undefined &&
          values.length > 0 &&
          values.every((value) => value !== null && value.type !== 'Identifier' && this.#isFresh(value))
        );
      }
      case 'CallExpression': {
        if (node.callee.type !== 'MemberExpression') return false;
        const name = propertyName(node.callee.property, node.callee.computed) ?? '';
        if (COPYING.has(name)) return this.#purity.knowsMethod(name);
        return (name === 'sort' || name === 'reverse') && this.#isFresh(node.callee.object);
      }
      default:
        return false;
    }
  }

  #localOf(identifier: Identifier): Binding | undefined {
    return localOf(identifier, this.#unit);
  }

  #isHarmlessCall(node: CallExpression): boolean {
    const { callee } = node;
    if (isFunction(callee)) return true;
    if (callee.type === 'Identifier') return this.#isHarmlessFunction(callee, node);
    if (callee.type !== 'MemberExpression') return false;
    const name = propertyName(callee.property, callee.computed);
    if (name === null) return false;
    const { object } = callee;
    if (object.type === 'Identifier' && this.#isGlobal(object)) {
      const path = `${object.name}.${name}`;
      if (FUNCTIONS.has(path)) return this.#isHarmlessCallback(node, path);
      if (CHANGING.has(path)) return node.arguments[0] !== undefined && this.#isOwned(node.arguments[0]);
      if (this.#purity.isTrusted(path)) return true;
    }
    if (this.#isTrusted(object)) return true;
    if (!this.#purity.knowsMethod(name) || comesFromOptions(object)) return false;
    if (MUTATORS.has(name)) return this.#isOwned(object) && this.#isHarmlessCallback(node, name);
    if (PLACE_KEEPING.has(name) && this.#purity.keepsPlaces && object.type !== 'Literal') return false;
    return READERS.has(name) && this.#isHarmlessCallback(node, name);
  }

  #isHarmlessFunction(callee: Identifier, node: CallExpression | NewExpression): boolean {
    const { name } = callee;
    const local = this.#localOf(callee);
    // A function inside the code is checked with it.
    if (local !== undefined) return onlyFunction(this.#unit, local) !== null;
    const declared = this.#purity.declaredAs(name, this.#unit);
    if (declared !== undefined) {
      if (this.#purity.isTrusted(name)) return true;
      const summary = this.#purity.summaryOf(declared);
      if (summary === null) return false;
      if (summary.changesThis && node.type === 'CallExpression') return false;
      return [...summary.changes].every((index) => {
        const isSpread = node.arguments.slice(0, index + 1).some(({ type }) => type === 'SpreadElement');
        return !isSpread && (node.arguments[index] === undefined || this.#isOwned(node.arguments[index]));
      });
    }
    if (this.#unit.labels.has(name)) return false;
    if (POSITION_FUNCTIONS.has(name)) return name !== 'error' && name !== 'expected';
    if (this.#purity.isTrusted(name)) return true;
    return (node.type === 'NewExpression' ? CONSTRUCTORS : FUNCTIONS).has(name) && this.#isHarmlessCallback(node, name);
  }

  #isHarmlessCreation(node: NewExpression): boolean {
    return node.callee.type === 'Identifier' && this.#isHarmlessFunction(node.callee, node);
  }

  /** Returns `true` if a function that the called one calls in turn is harmless. */
  #isHarmlessCallback({ arguments: given }: CallExpression | NewExpression, name: string): boolean {
    const index = CALLING.get(name);
    if (index === undefined) return true;
    const callback = given[index];
    if (
      callback === undefined ||
      isFunction(callback) ||
      callback.type === 'Literal' ||
      callback.type === 'TemplateLiteral'
    )
      return true;
    if (callback.type !== 'Identifier') return false;
    const local = this.#localOf(callback);
    if (local !== undefined) return onlyFunction(this.#unit, local) !== null;
    const declared = this.#purity.declaredAs(callback.name, this.#unit);
    if (declared === undefined) return !this.#unit.labels.has(callback.name) && FUNCTIONS.has(callback.name);
    const summary = this.#purity.summaryOf(declared);
    return summary !== null && summary.changes.size === 0 && !summary.changesThis;
  }

  #isTrusted(node: Node): boolean {
    return node.type === 'Identifier' && !this.#localOf(node) && this.#purity.isTrusted(node.name);
  }

  #isGlobal(identifier: Identifier): boolean {
    const { name } = identifier;
    const isBound = this.#unit.scopes.bound.has(identifier);
    return !isBound && !this.#unit.labels.has(name) && this.#purity.declaredAs(name, this.#unit) === undefined;
  }
}

/** Nodes that may have any effect, or throw. */
const RISKY: ReadonlySet<Node['type']> = new Set<Node['type']>([
  ...([
    'ThrowStatement',
    'AwaitExpression',
    'YieldExpression',
    'ImportExpression',
    'TaggedTemplateExpression',
    'Super',
  ] as const),
  ...(['WithStatement', 'StaticBlock'] as const),
]);

function resolved(unit: Unit): Resolved {
  const scopes = resolveScopes(unit.program);
  const values = new Map<Binding, (Node | null)[]>();
  const add = (identifier: Identifier, value: Node | null): void => {
    const binding = scopes.bound.get(identifier);
    if (binding === undefined) return;
    const known = values.get(binding);
    if (known === undefined) values.set(binding, [value]);
    else known.push(value);
  };
  const addAll = (pattern: Node): void => {
    // biome-ignore lint/suspicious/noExplicitAny: every node that stands for names is a pattern
    eachOfPattern(pattern as any, { name: (identifier) => add(identifier, null) });
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
function localOf(identifier: Identifier, { scopes, level }: Resolved): Binding | undefined {
  const binding = scopes.bound.get(identifier);
  return level !== 'block' && scopes.outermost.get(identifier.name) === binding ? undefined : binding;
}

function onlyFunction({ values }: Resolved, binding: Binding): FunctionNode | ClassNode | null {
  const [value, ...others] = values.get(binding) ?? [];
  return value && others.length === 0 && (isFunction(value) || isClass(value)) ? value : null;
}

/** The constructor of a class; null if creating an instance runs other code. */
function constructorOf({ superClass, body }: ClassNode): FunctionNode | undefined | null {
  if (superClass || body.body.some(({ type }) => type !== 'MethodDefinition')) return null;
  for (const member of body.body)
    if (member.type === 'MethodDefinition' && member.kind === 'constructor') return member.value;
  return undefined;
}

/** The variables and properties that a node itself changes. */
function targetsOf(node: Node): Node[] {
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

/** Returns `true` for code that runs without a call, or names that have another meaning than usual. */
function isOdd(node: Node): boolean {
  if ((node.type === 'Property' || node.type === 'MethodDefinition') && (node.kind === 'get' || node.kind === 'set'))
    return true;
  if (isFunction(node)) return node.generator;
  if (node.type === 'Literal') return 'regex' in node && node.regex?.flags.includes('y') === true;
  if (node.type === 'Identifier') return node.name === 'Proxy' || node.name === 'Symbol' || node.name.startsWith('__');
  return node.type === 'WithStatement';
}

function isPlaceKeeper(node: Node): boolean {
  if (node.type === 'Literal') return 'regex' in node && node.regex?.flags.includes('g') === true;
  return node.type === 'Identifier' && node.name === 'RegExp';
}

function isName(node: Node, name: string, { labels }: Unit): boolean {
  return node.type === 'Identifier' && node.name === name && !labels.has(name);
}

/** Returns `true` for uses of `options` other than reading a member. */
function passesOptions(node: Node): boolean {
  if (targetsOf(node).some(comesFromOptions)) return true;
  return children(node).some(
    (child) => child.type === 'Identifier' && child.name === 'options' && node.type !== 'MemberExpression',
  );
}

function callsOption(node: Node): boolean {
  return (node.type === 'CallExpression' || node.type === 'NewExpression') && comesFromOptions(node.callee);
}

/** Returns `true` for `options`, and for everything that is reached from it. */
function comesFromOptions(node: Node): boolean {
  if (node.type === 'MemberExpression') return comesFromOptions(node.object);
  return node.type === 'Identifier' && node.name === 'options';
}
