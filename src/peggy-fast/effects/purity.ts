/**
 * Decides which code of a grammar has no effect other than its value, so that a scanner may omit it if the value is not
 * used. All other code runs exactly when and as often as in Peggy's parser: code that is not understood is not a problem.
 */
import type { CallExpression, Identifier, NewExpression } from 'acorn';
import {
  CALLING,
  CHANGING,
  CONSTRUCTORS,
  COPYING,
  FUNCTIONS,
  MUTATORS,
  PATTERN_FIRST,
  PLACE_KEEPING,
  PLAIN,
  READERS,
} from './built-ins.js';
import { type Objects, objectsOf } from './objects.js';
import type { Binding } from './scopes.js';
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
import { localOf, onlyFunction, type Resolved, resolved, targetsOf, type Unit } from './units.js';

export const POSITION_FUNCTIONS: ReadonlySet<string> = new Set('text range offset location error expected'.split(' '));

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

export class Purity {
  readonly #units: ReadonlyMap<Unit, Resolved>;
  /** The variables of the initializers. */
  readonly #declared = new Map<string, Declared>();
  readonly #summaries = new Map<FunctionNode | ClassNode, Summary | null>();
  readonly #trusted: ReadonlySet<string>;
  /** Variables of the initializers that any code changes after their declaration. */
  readonly #reassigned = new Set<string>();
  readonly objects: Objects;

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
    this.#findReassigned(all);
    this.objects = objectsOf(all, (name, unit) => this.#comesFromOutside(name, unit));
    this.#summarize(all);
  }

  /** Returns `true` if the code of a block has no effect, and does not throw deliberately. */
  isPure(unit: Unit): boolean {
    if (this.objects.areOdd) return false;
    const check = new Check(this, this.#units.get(unit)!, []);
    return check.isPure(unit.program) && !check.changesThis;
  }

  /** Returns `true` if the code of a block has the same value whenever it runs at the same place of a text, without its labels. */
  isConstant(unit: Unit): boolean {
    const [statement, ...others] = unit.program.body;
    if (this.objects.areOdd || others.length > 0 || statement?.type !== 'ReturnStatement' || !statement.argument)
      return false;
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
    const called = declared ? this.functionOf(declared) : null;
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

  /** The function or class that a variable of an initializer always holds; null if it may hold something else. */
  functionOf({ unit, binding }: Declared): FunctionNode | ClassNode | null {
    return this.#reassigned.has(binding.name) ? null : onlyFunction(unit, binding);
  }

  /** The effects of calling a variable of an initializer; null if it may have others. */
  summaryOf(declared: Declared): Summary | null {
    const node = this.functionOf(declared);
    return node === null ? null : (this.#summaries.get(node) ?? null);
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
        if (isName(node.object, 'options', unit)) return this.objects.keepOptions && !node.computed;
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
    // An invalid length is a RangeError.
    if (target.type === 'MemberExpression' && propertyName(target.property, target.computed) === 'length') return false;
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
        return node.callee.type === 'Identifier' && this.#makesNew(node.callee);
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
        if (COPYING.has(name)) return this.#purity.objects.knowMethod(name);
        return (name === 'sort' || name === 'reverse') && this.#isFresh(node.callee.object);
      }
      default:
        return false;
    }
  }

  /** Returns `true` if a constructor returns no other object than the one it is called for. */
  #makesNew(callee: Identifier): boolean {
    const local = this.#localOf(callee);
    const declared = this.#purity.declaredAs(callee.name, this.#unit);
    if (local === undefined && declared === undefined) return callee.name !== 'Object' && CONSTRUCTORS.has(callee.name);
    const called = local ? onlyFunction(this.#unit, local) : this.#purity.functionOf(declared!);
    if (called === null) return false;
    const code = isClass(called) ? constructorOf(called) : called;
    if (code === null) return false;
    return (
      code === undefined ||
      !holds(code.body, (node) => node.type === 'ReturnStatement' && node.argument != null, isFunction)
    );
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
      if (FUNCTIONS.has(path)) return this.#purity.objects.knowMethod(name) && this.#isHarmlessCallback(node, path);
      if (CHANGING.has(path)) return node.arguments[0] !== undefined && this.#isOwned(node.arguments[0]);
      if (this.#purity.isTrusted(path)) return true;
    }
    if (this.#isTrusted(object)) return true;
    if (!this.#purity.objects.knowMethod(name)) return false;
    if (MUTATORS.has(name)) return this.#isOwned(object) && this.#isHarmlessCallback(node, name);
    if (PLACE_KEEPING.has(name) && this.#purity.objects.keepPlaces) {
      if ((PATTERN_FIRST.has(name) ? node.arguments[0] : object)?.type !== 'Literal') return false;
    }
    // An invalid base or locale is a RangeError.
    if (node.arguments.length > (name === 'toString' ? 0 : name === 'localeCompare' ? 1 : Infinity)) return false;
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
    // An invalid length is a RangeError.
    if (name === 'Array' && node.arguments.length === 1) return false;
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

/** The constructor of a class; null if creating an instance runs other code. */
function constructorOf({ superClass, body }: ClassNode): FunctionNode | undefined | null {
  if (superClass || body.body.some(({ type }) => type !== 'MethodDefinition')) return null;
  for (const member of body.body)
    if (member.type === 'MethodDefinition' && member.kind === 'constructor') return member.value;
  return undefined;
}

function isName(node: Node, name: string, { labels }: Unit): boolean {
  return node.type === 'Identifier' && node.name === name && !labels.has(name);
}
