import type { MemberExpression, ObjectExpression, Pattern } from 'acorn';
import { callFunction, callValue, NO_ARGUMENTS, substitute } from './apply.js';
import { IMPLICIT_METHODS } from './built-ins.js';
import { argumentsOf, evaluateCall, evaluateNew, patternWith } from './calls.js';
import { type Frame, type Machine, meaningOf, type Routine, summaryOf } from './machine.js';
import { type ClassNode, children, type FunctionNode, isFunction, type Node, propertyName } from './syntax.js';
import {
  ANY,
  contentsOf,
  FRESH,
  holding,
  intern,
  join,
  type Origin,
  ofArgument,
  ofFunction,
  PRIMITIVE,
  propertyOf,
  replace,
  sharedBy,
  union,
  type Value,
} from './values.js';
import {
  note,
  noteRaise,
  noteReturn,
  noteThrow,
  readThis,
  readVariable,
  storeInto,
  storeVariable,
} from './variables.js';

/** Evaluates a routine with what is known so far, and adds its effects to its summary. */
export function evaluateRoutine(routine: Routine, machine: Machine): void {
  const summary = machine.summaries.get(routine);
  if (!summary) return;
  const frame: Frame = { machine, routine, summary, value: (node) => evaluate(node, frame) };
  machine.calls.clear();
  const { node } = routine;
  if (node.type === 'Program') {
    for (const statement of node.body) run(statement, frame);
    return;
  }
  node.params.forEach((parameter, index) => {
    const isRest = parameter.type === 'RestElement';
    declare(isRest ? parameter.argument : parameter, isRest ? holding(ofArgument(ANY)) : ofArgument(index), frame);
  });
  if (node.body.type === 'BlockStatement') for (const statement of node.body.body) run(statement, frame);
  else noteReturn(evaluate(node.body, frame), frame);
}

function run(node: Node, frame: Frame): void {
  switch (node.type) {
    case 'ReturnStatement':
      if (node.argument) noteReturn(evaluate(node.argument, frame), frame);
      return;
    case 'ThrowStatement':
      noteThrow(evaluate(node.argument, frame), node, frame);
      noteRaise(frame);
      return;
    case 'VariableDeclaration':
      for (const { id, init } of node.declarations) declare(id, init ? evaluate(init, frame) : PRIMITIVE, frame);
      return;
    case 'ForInStatement':
    case 'ForOfStatement': {
      const collection = evaluate(node.right, frame);
      const element = node.type === 'ForOfStatement' ? contentsOf(collection) : PRIMITIVE;
      if (node.left.type !== 'VariableDeclaration') assign(node.left, element, frame);
      else for (const { id } of node.left.declarations) declare(id, element, frame);
      run(node.body, frame);
      return;
    }
    case 'FunctionDeclaration':
    case 'ClassDeclaration': {
      const value = isFunction(node) ? functionValue(node, frame) : evaluateClass(node, frame);
      if (node.id) declare(node.id, value, frame);
      return;
    }
    case 'CatchClause':
      if (node.param) declare(node.param, join(FRESH, frame.machine.thrown), frame);
      run(node.body, frame);
      return;
    case 'LabeledStatement':
      run(node.body, frame);
      return;
    case 'BreakStatement':
    case 'ContinueStatement':
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
      return;
    case 'ExportNamedDeclaration':
    case 'ExportDefaultDeclaration':
      if (node.declaration) run(node.declaration, frame);
      return;
    default:
      if (isStatement(node)) for (const child of children(node)) run(child, frame);
      else evaluate(node, frame);
  }
}

function isStatement({ type }: Node): boolean {
  return type.endsWith('Statement') || type === 'SwitchCase';
}

function evaluate(node: Node, frame: Frame): Value {
  switch (node.type) {
    case 'Identifier':
      return evaluateIdentifier(node, frame);
    case 'ThisExpression':
      return readThis(frame);
    case 'MetaProperty':
      return sharedBy(`${node.meta.name}.${node.property.name}`);
    case 'Literal':
      return node.regex ? patternWith(node.regex.flags) : PRIMITIVE;
    case 'ArrayExpression':
      return holding(...node.elements.map((each) => (each ? evaluate(each, frame) : PRIMITIVE)));
    case 'SpreadElement':
      return contentsOf(evaluate(node.argument, frame));
    case 'ObjectExpression':
      return evaluateObject(node, frame);
    case 'FunctionExpression':
    case 'ArrowFunctionExpression': {
      const value = functionValue(node, frame);
      if (node.type === 'FunctionExpression' && node.id) declareOwnName(node, value, frame);
      return value;
    }
    case 'ClassExpression': {
      const value = evaluateClass(node, frame);
      if (node.id) declare(node.id, value, frame);
      return value;
    }
    case 'AssignmentExpression': {
      const right = evaluate(node.right, frame);
      const isLogical = node.operator === '&&=' || node.operator === '||=' || node.operator === '??=';
      if (node.operator !== '=') evaluate(node.left, frame);
      const value = node.operator === '=' || isLogical ? right : PRIMITIVE;
      assign(node.left, value, frame);
      return isLogical ? join(evaluate(node.left, frame), value) : value;
    }
    case 'UpdateExpression':
      evaluate(node.argument, frame);
      if (node.argument.type === 'Identifier' || node.argument.type === 'MemberExpression') {
        assign(node.argument, PRIMITIVE, frame);
      }
      return PRIMITIVE;
    case 'UnaryExpression':
      evaluate(node.argument, frame);
      if (node.operator === 'delete') remove(node.argument, frame);
      return PRIMITIVE;
    case 'LogicalExpression':
      return join(evaluate(node.left, frame), evaluate(node.right, frame));
    case 'ConditionalExpression':
      evaluate(node.test, frame);
      return join(evaluate(node.consequent, frame), evaluate(node.alternate, frame));
    case 'SequenceExpression':
      return node.expressions.reduce((_, each) => evaluate(each, frame), PRIMITIVE);
    case 'MemberExpression':
      return evaluateMember(node, frame);
    case 'CallExpression':
      return evaluateCall(node, frame);
    case 'NewExpression':
      return evaluateNew(node, frame);
    case 'TaggedTemplateExpression': {
      const values = argumentsOf(node.quasi.expressions, frame);
      const given = { ...values, list: [FRESH, ...values.list], nodes: [null, ...values.nodes] };
      return callValue(evaluate(node.tag, frame), given, node, frame);
    }
    case 'ChainExpression':
    case 'ParenthesizedExpression':
      return evaluate(node.expression, frame);
    default:
      for (const child of children(node)) evaluate(child, frame);
      return PRIMITIVE;
  }
}

function evaluateIdentifier(node: Extract<Node, { type: 'Identifier' }>, frame: Frame): Value {
  const isArguments = node.name === 'arguments' && isFunction(frame.routine.node);
  if (isArguments && !frame.routine.unit.scopes.bound.has(node)) return holding(ofArgument(ANY));
  return readVariable(node, frame);
}

function functionValue(node: FunctionNode, frame: Frame): Value {
  const found = summaryOf(node, frame.machine);
  // The result is that of a call without arguments; the arguments of a call are added to it.
  if (!found) return ofFunction(node, PRIMITIVE);
  // The function does not hold objects that a call creates.
  const isHeld = ({ kind }: Origin): boolean => kind !== 'fresh' && kind !== 'iterator';
  const returns = substitute(found[1].returns, NO_ARGUMENTS, frame);
  return ofFunction(
    node,
    replace(returns, (origin) => (isHeld(origin) ? new Set([origin]) : PRIMITIVE.self)),
  );
}

function declareOwnName(node: FunctionNode, value: Value, { machine, routine }: Frame): void {
  const binding = node.id && routine.unit.scopes.bound.get(node.id);
  const own = { self: value.self, inside: PRIMITIVE.self };
  if (binding && !machine.variables.has(binding)) machine.variables.set(binding, own);
}

function evaluateObject(node: ObjectExpression, frame: Frame): Value {
  const values = node.properties.map((property) => {
    if (property.type === 'SpreadElement') return evaluate(property, frame);
    if (property.computed) evaluate(property.key, frame);
    const value = evaluate(property.value, frame);
    if (isFunction(property.value)) runImplicit(property.key, property.computed, property.value, frame);
    return value;
  });
  return holding(...values);
}

/** Methods that conversions call are assumed to be called where they are created. */
function runImplicit(key: Node, computed: boolean, method: FunctionNode, frame: Frame): void {
  const name = propertyName(key, computed);
  if (name !== null && !IMPLICIT_METHODS.has(name)) return;
  callFunction(method, { ...NO_ARGUMENTS, self: FRESH }, key, frame);
}

function evaluateClass(node: ClassNode, frame: Frame): Value {
  const self: Value = ofFunction(node, PRIMITIVE);
  // Instances hold what the class holds: see evaluateNew.
  const parts = node.body.body.map((member) => {
    if (member.type !== 'MethodDefinition') return PRIMITIVE.self;
    if (member.computed) evaluate(member.key, frame);
    if (member.kind === 'method') runImplicit(member.key, member.computed, member.value, frame);
    return functionValue(member.value, frame).self;
  });
  return { self: self.self, inside: union(...parts) };
}

function evaluateMember(node: MemberExpression, frame: Frame): Value {
  const object = evaluate(node.object, frame);
  if (node.computed) evaluate(node.property, frame);
  return propertyOf(object, propertyName(node.property, node.computed));
}

function remove(node: Node, frame: Frame): void {
  if (node.type === 'ChainExpression' || node.type === 'ParenthesizedExpression') remove(node.expression, frame);
  else if (node.type === 'MemberExpression') changeMember(node, PRIMITIVE, frame);
  else if (node.type === 'Identifier') {
    const meaning = meaningOf(node, frame.routine, frame.machine);
    if (meaning.kind === 'global') note('assign', new Set([intern(meaning)]), node, frame);
  }
}

function declare(pattern: Pattern, value: Value, frame: Frame): void {
  eachTarget(pattern, value, frame, (target, part) => {
    if (target.type !== 'Identifier') return;
    const binding = frame.routine.unit.scopes.bound.get(target);
    if (binding) storeVariable(binding, part, frame);
  });
}

function assign(pattern: Pattern, value: Value, frame: Frame): void {
  eachTarget(pattern, value, frame, (target, part) => assignTo(target, part, frame));
}

function changeMember(target: MemberExpression, value: Value, frame: Frame): void {
  const object = frame.value(target.object);
  if (target.computed) frame.value(target.property);
  note('change', object.self, target, frame);
  storeInto(target.object, value, frame);
}

function assignTo(target: Node, value: Value, frame: Frame): void {
  if (target.type === 'MemberExpression') {
    changeMember(target, value, frame);
    return;
  }
  if (target.type !== 'Identifier') return;
  const meaning = meaningOf(target, frame.routine, frame.machine);
  switch (meaning.kind) {
    case 'local':
      storeVariable(meaning.binding, value, frame);
      if (meaning.owner === frame.routine) return;
      note('assign', new Set([intern({ kind: 'captured', binding: meaning.binding, inside: false })]), target, frame);
      return;
    case 'state':
    case 'module':
      storeVariable(meaning.binding, value, frame);
      note('assign', new Set([intern(meaning)]), target, frame);
      return;
    case 'label':
      // A label is a parameter of its block, so assigning to it has no effect outside.
      return;
    default:
      note('assign', new Set([intern(meaning)]), target, frame);
  }
}

function eachTarget(pattern: Pattern, value: Value, frame: Frame, visit: (target: Node, value: Value) => void): void {
  switch (pattern.type) {
    case 'ArrayPattern':
      for (const element of pattern.elements) if (element) eachTarget(element, contentsOf(value), frame, visit);
      return;
    case 'ObjectPattern':
      for (const property of pattern.properties) {
        if (property.type === 'Property') {
          if (property.computed) frame.value(property.key);
          const name = propertyName(property.key, property.computed);
          eachTarget(property.value, propertyOf(value, name), frame, visit);
        } else eachTarget(property, contentsOf(value), frame, visit);
      }
      return;
    case 'AssignmentPattern':
      eachTarget(pattern.left, join(value, frame.value(pattern.right)), frame, visit);
      return;
    case 'RestElement':
      eachTarget(
        pattern.argument,
        { self: FRESH.self, inside: value.self.size > 0 ? join(value, contentsOf(value)).inside : value.inside },
        frame,
        visit,
      );
      return;
    default:
      visit(pattern, value);
  }
}
