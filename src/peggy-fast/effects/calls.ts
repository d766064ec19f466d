import type { CallExpression, MemberExpression, NewExpression } from 'acorn';
import { callFunction, callValue, construct } from './apply.js';
import {
  CALLING,
  CONSTRUCTORS,
  FUNCTIONS,
  IMPURE,
  ITERATING,
  isReader,
  METHOD_RESULTS,
  MUTATORS,
  NAMESPACES,
  PATTERN_METHODS,
  RAISING,
  RAISING_METHODS,
  STICKY_METHODS,
} from './built-ins.js';
import { type Arguments, type Frame, meaningOf } from './machine.js';
import { isFunction, type Node, propertyName } from './syntax.js';
import {
  contentsOf,
  FRESH,
  holding,
  ITERATOR,
  intern,
  join,
  type Origin,
  type Origins,
  PRIMITIVE,
  propertyOf,
  sharedBy,
  UNKNOWN,
  union,
  type Value,
} from './values.js';
import { note, noteRaise, storeInto } from './variables.js';

type Argument = CallExpression['arguments'][number];

export function evaluateCall(node: CallExpression, frame: Frame): Value {
  const callee = unwrapped(node.callee);
  if (callee.type === 'MemberExpression') return callMethod(callee, node, frame);
  const value = frame.value(callee);
  const given = argumentsOf(node.arguments, frame);
  return join(callValue(value, given, node, frame), callGlobals(value.self, given, node, frame));
}

export function evaluateNew(node: NewExpression, frame: Frame): Value {
  const value = frame.value(node.callee);
  const given = argumentsOf(node.arguments, frame);
  const results: Value[] = [];
  const others: Origin[] = [];
  for (const origin of value.self) {
    if (origin.kind === 'function') results.push(construct(origin.node, given, node, frame));
    else if (origin.kind === 'global') results.push(constructGlobal(origin.name, given, node, frame));
    else if (origin.kind === 'shared') note('call', new Set([origin]), node, frame);
    else others.push(origin);
  }
  if (results.length === 0)
    results.push(callValue({ self: new Set(others), inside: PRIMITIVE.self }, given, node, frame));
  // Instances hold what their class or function holds, such as methods.
  return join(holding(...given.list, given.rest), { self: PRIMITIVE.self, inside: value.inside }, ...results);
}

export function argumentsOf(nodes: readonly Argument[], frame: Frame): Arguments {
  const list: Value[] = [];
  let rest = PRIMITIVE;
  let spread = false;
  for (const node of nodes) {
    const value = node.type === 'SpreadElement' ? contentsOf(frame.value(node.argument)) : frame.value(node);
    spread ||= node.type === 'SpreadElement';
    if (spread) rest = join(rest, value);
    else list.push(value);
  }
  const plain = nodes.slice(0, list.length);
  return { self: PRIMITIVE, list, rest, nodes: plain, selfNode: null };
}

function unwrapped(node: Node): Node {
  return node.type === 'ChainExpression' || node.type === 'ParenthesizedExpression' ? unwrapped(node.expression) : node;
}

function callMethod(callee: MemberExpression, node: CallExpression, frame: Frame): Value {
  const { object } = callee;
  const receiver = frame.value(object);
  if (callee.computed) frame.value(callee.property);
  const name = propertyName(callee.property, callee.computed);
  const given: Arguments = { ...argumentsOf(node.arguments, frame), self: receiver, selfNode: object };
  if (name === 'call' || name === 'apply') {
    const indirect = callIndirectly(name, receiver, given, node, frame);
    if (indirect) return indirect;
  }
  if (name === 'constructor') return callValue(propertyOf(receiver, name), given, node, frame);
  const known = memberOf(object, name, frame);
  if (known) return callFunction(known, given, node, frame);
  const globals = [...receiver.self].filter((origin) => origin.kind === 'global');
  const results = globals.map((origin) => callGlobal(`${origin.name}.${name ?? '*'}`, given, node, frame));
  if (globals.length < receiver.self.size || receiver.self.size === 0) {
    results.push(callCandidates(name, receiver, given, node, frame));
  }
  return join(...results);
}

/** Calls the functions of the grammar that have a method's name, and the built-in methods of that name. */
function callCandidates(name: string | null, receiver: Value, given: Arguments, node: Node, frame: Frame): Value {
  const { methods, named } = frame.machine.routines;
  const isTraced = [...receiver.self].every(({ kind }) => !UNTRACED.has(kind));
  const own = (methods.get(name ?? '') ?? []).filter((node) => !isTraced || holds(receiver, node));
  const results = own.map((method) => callFunction(method, given, node, frame));
  const isBuiltIn = name !== null && (METHOD_RESULTS.has(name) || MUTATORS.has(name));
  // A function stored under this name, which no literal shows.
  const kept = [...receiver.inside].filter(
    (origin) => !isBuiltIn && origin.kind === 'function' && !(name !== null && named.has(origin.node)),
  );
  if (kept.length > 0) results.push(callValue({ self: new Set(kept), inside: receiver.inside }, given, node, frame));
  if (name !== null && (results.length === 0 || isBuiltIn)) {
    results.push(callBuiltInMethod(name, given, node, results.length > 0, frame));
  } else if (name === null && results.length === 0) {
    note('unknown-method', receiver.self, node, frame, 'a method');
    noteRaise(frame);
    results.push(unknownResult(given));
  }
  return join(...results);
}

/** Origins whose contents are only partly known. */
const UNTRACED: ReadonlySet<Origin['kind']> = new Set(['argument', 'captured', 'given', 'import', 'shared', 'trusted']);

function holds({ self, inside }: Value, node: Node): boolean {
  return [...self, ...inside].some((origin) => origin.kind === 'function' && origin.node === node);
}

function memberOf(
  object: Node,
  name: string | null,
  { machine, routine }: Frame,
): Parameters<typeof callFunction>[0] | null {
  if (object.type !== 'Identifier' || name === null) return null;
  const meaning = meaningOf(object, routine, machine);
  if (!('binding' in meaning)) return null;
  const member = machine.routines.members.get(meaning.binding)?.get(name);
  return member && isFunction(member) ? member : null;
}

function callIndirectly(name: string, receiver: Value, given: Arguments, node: Node, frame: Frame): Value | null {
  const callee = [...receiver.self].filter(({ kind }) => kind !== 'fresh' && kind !== 'label' && kind !== 'state');
  if (callee.length === 0) {
    // A method taken from another object: its effect on this one is unknown.
    note('pass', union(...given.list.map((value) => value.self)), node, frame);
    return null;
  }
  const [self = PRIMITIVE, ...list] = given.list;
  const [selfNode = null, ...nodes] = given.nodes;
  const shifted: Arguments =
    name === 'apply'
      ? { self, selfNode, list: [], nodes: [], rest: join(...list.map(contentsOf), given.rest) }
      : { self, selfNode, list, nodes, rest: given.rest };
  const value: Value = { self: new Set(callee), inside: receiver.inside };
  return join(callValue(value, shifted, node, frame), callGlobals(value.self, shifted, node, frame));
}

function callGlobals(origins: Origins, given: Arguments, node: Node, frame: Frame): Value {
  const globals = [...origins].filter((origin) => origin.kind === 'global');
  return join(...globals.map(({ name }) => callGlobal(name, given, node, frame)));
}

function callGlobal(path: string, given: Arguments, node: Node, frame: Frame): Value {
  const name = path.replace(/^(?:globalThis|window|self|global)\./, '');
  const method = /^\w+\.prototype\.(\w+)$/.exec(name)?.[1];
  if (method !== undefined) return callBuiltInMethod(method, given, node, false, frame);
  if (frame.machine.trusted.has(name)) return holding(...given.list, given.rest);
  const kind = FUNCTIONS.get(name);
  const isNamespaced = NAMESPACES.has(name.slice(0, Math.max(0, name.indexOf('.')))) && !IMPURE.has(name);
  if (RAISING.has(name) && !frame.machine.trusted.has(name)) noteRaise(frame);
  if (kind === 'changes-first') {
    const [first = given.rest, ...others] = given.list;
    note('change', first.self, given.nodes[0] ?? node, frame, `${name}()`);
    const stored = holding(...others, given.rest).inside;
    storeInto(given.nodes[0], { self: stored, inside: stored }, frame);
    return { self: first.self, inside: union(first.inside, stored) };
  }
  if (kind === undefined && !isNamespaced) {
    note('call', new Set([intern({ kind: 'global', name })]), node, frame);
    return UNKNOWN;
  }
  const returned = callBack(name, given, node, false, frame);
  if (name === 'RegExp') return pattern(given);
  if (name === 'Reflect.get') return propertyOf(given.list[0] ?? given.rest, literalOf(given.nodes[1]));
  if (name === 'Object.keys') return FRESH;
  if (name === 'structuredClone') return UNKNOWN;
  if (name.endsWith('.getPrototypeOf')) return join(holding(...given.list, given.rest), sharedBy(`${name}()`));
  return kind === 'fresh' ? holding(...given.list, given.rest, returned) : PRIMITIVE;
}

function constructGlobal(path: string, given: Arguments, node: Node, frame: Frame): Value {
  const name = path.replace(/^(?:globalThis|window|self|global)\./, '');
  const isNow = name === 'Date' && given.list.length === 0 && given.rest === PRIMITIVE;
  if (RAISING.has(name) && !frame.machine.trusted.has(name)) noteRaise(frame);
  if (name === 'RegExp') return pattern(given);
  if ((isNow || !CONSTRUCTORS.has(name)) && !frame.machine.trusted.has(name)) {
    note('call', new Set([intern({ kind: 'global', name: `new ${name}` })]), node, frame);
  }
  return holding(...given.list, given.rest);
}

function pattern({ nodes, rest }: Arguments): Value {
  const [, flags] = nodes;
  if (!flags && rest === PRIMITIVE) return FRESH;
  return patternWith(flags?.type === 'Literal' ? String(flags.value) : 'gy');
}

export function patternWith(flags: string): Value {
  if (!/[gy]/.test(flags)) return FRESH;
  const state = intern({ kind: 'stateful-pattern', sticky: flags.includes('y') });
  return { self: union(FRESH.self, new Set([state])), inside: PRIMITIVE.self };
}

/** Calls a method that a built-in object may have. `isOwn` is `true` if the grammar has methods of that name, too. */
function callBuiltInMethod(name: string, given: Arguments, node: Node, isOwn: boolean, frame: Frame): Value {
  const { self: receiver } = given;
  if (MUTATORS.has(name)) {
    note('change', receiver.self, node, frame, `${name}()`);
    const stored = holding(...given.list, given.rest).inside;
    storeInto(given.selfNode, { self: stored, inside: stored }, frame);
  } else if (!isReader(name) && !isOwn) {
    note('unknown-method', receiver.self, node, frame, `${name}()`);
  }
  if (PATTERN_METHODS.has(name)) note('match', receiver.self, node, frame);
  if (STICKY_METHODS.has(name) && given.list[0]) note('sticky-match', given.list[0].self, node, frame);
  if (RAISING_METHODS.has(name) || !(METHOD_RESULTS.has(name) || MUTATORS.has(name))) noteRaise(frame);
  const returned = callBack(name, given, node, true, frame);
  switch (METHOD_RESULTS.get(name)) {
    case 'primitive':
      return PRIMITIVE;
    case 'copy':
      return join(
        holding(...(name === 'slice' ? [] : given.list), given.rest, contentsOf(receiver), returned),
        ITERATING.has(name) ? ITERATOR : PRIMITIVE,
      );
    case 'element':
      return join(contentsOf(receiver), returned, ...given.list.slice(name.startsWith('reduce') ? 1 : 0));
    case 'itself':
      return receiver;
    default:
      return join(unknownResult(given), returned);
  }
}

function literalOf(node: Node | null | undefined): string | null {
  return node ? propertyName(node, true) : null;
}

function unknownResult(given: Arguments): Value {
  return join(FRESH, given.self, contentsOf(given.self), holding(...given.list, given.rest));
}

/**
 * Calls the functions among the arguments of a built-in. Methods of collections pass them the elements, functions pass
 * them what the other arguments hold.
 *
 * @returns the possible results
 */
function callBack(name: string, given: Arguments, node: Node, isMethod: boolean, frame: Frame): Value {
  const isKnown = isMethod ? METHOD_RESULTS.has(name) || MUTATORS.has(name) : true;
  const position = CALLING.get(name);
  if (isKnown && position === undefined) return PRIMITIVE;
  const all = [...given.list, given.rest];
  const callbacks = position === undefined ? all : [given.list[position] ?? PRIMITIVE, given.rest];
  const returned: Value[] = [];
  for (const callback of callbacks) {
    const callees = [...callback.self].filter(isCallback);
    const isReduce = name === 'reduce' || name === 'reduceRight';
    const self = isReduce || position === undefined ? PRIMITIVE : (given.list[position + 1] ?? PRIMITIVE);
    if (callees.length === 0) {
      // A built-in method such as `push` may change the object that is passed as its `this`.
      if (callback !== given.rest) note('unknown-method', self.self, node, frame, 'a method');
      continue;
    }
    const others = all.filter((value) => value !== callback);
    const own = callees.some(({ kind }) => kind === 'function') ? callback.inside : PRIMITIVE.self;
    const element = isMethod ? contentsOf(given.self) : join(...others.map(contentsOf));
    const memo = join(...others, { self: own, inside: own }, element);
    const list = isReduce ? [memo, element, PRIMITIVE, given.self] : [element, element, given.self];
    const callee: Value = { self: new Set(callees), inside: callback.inside };
    const each: Arguments = { self, list, rest: PRIMITIVE, nodes: [], selfNode: null };
    returned.push(callValue(callee, each, node, frame), callGlobals(callee.self, each, node, frame));
    returned.push({ self: own, inside: own });
  }
  return join(...returned);
}

function isCallback({ kind }: Origin): boolean {
  return kind === 'function' || kind === 'argument' || kind === 'captured' || kind === 'import' || kind === 'global';
}
