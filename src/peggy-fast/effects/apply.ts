import {
  type Arguments,
  type Effect,
  type Frame,
  idOf,
  isWithin,
  keyOf,
  type Pending,
  type Routine,
  type Summary,
  summaryOf,
} from './machine.js';
import type { Binding } from './scopes.js';
import { type ClassNode, type FunctionNode, isFunction, type Node } from './syntax.js';
import {
  ANY,
  covers,
  FRESH,
  holding,
  join,
  type Origin,
  type Origins,
  of,
  PRIMITIVE,
  replace,
  THIS,
  union,
  type Value,
} from './values.js';
import {
  addEffect,
  meantBy,
  note,
  noteRaise,
  noteThrow,
  resolveCaptured,
  storeInto,
  storeVariable,
} from './variables.js';

export const NO_ARGUMENTS: Arguments = { self: PRIMITIVE, list: [], rest: PRIMITIVE, nodes: [], selfNode: null };

export function callFunction(node: FunctionNode | ClassNode, given: Arguments, place: Node, frame: Frame): Value {
  return isFunction(node) ? callRoutine(node, given, place, frame) : construct(node, given, place, frame);
}

/** Creates an instance of a class, or of a function that is used as one. */
export function construct(node: FunctionNode | ClassNode, given: Arguments, place: Node, frame: Frame): Value {
  const self: Arguments = { ...given, self: FRESH, selfNode: null };
  const made = holding(...given.list, given.rest);
  const code = isFunction(node) ? node : constructorOf(node);
  if (!code) return made;
  const returned = callRoutine(code, self, place, frame);
  const stored = summaryOf(code, frame.machine)?.[1].argumentStores.get(THIS) ?? PRIMITIVE;
  return join(made, returned, substitute(stored, self, frame));
}

function constructorOf({ body }: ClassNode): FunctionNode | undefined {
  for (const member of body.body) {
    if (member.type === 'MethodDefinition' && member.kind === 'constructor') return member.value;
  }
  return undefined;
}

function callRoutine(node: FunctionNode, given: Arguments, place: Node, frame: Frame): Value {
  const found = summaryOf(node, frame.machine);
  if (!found) return PRIMITIVE;
  const [routine, summary] = found;
  // The same call, through mutually recursive functions, adds nothing; without this check the analysis would not end.
  const key = `${idOf(routine)} ${idOf(place)} ${given.nodes.length}`;
  const known = frame.machine.calls.get(key);
  if (known && isCovered(known, given)) return substitute(summary.returns, given, frame);
  frame.machine.calls.set(key, known ? joinArguments(known, given) : given);
  return merge(routine, summary, given, place, frame);
}

function merge(routine: Routine, callee: Summary, given: Arguments, place: Node, frame: Frame): Value {
  const { machine, summary } = frame;
  if (!callee.callers.has(frame.routine)) {
    callee.callers.add(frame.routine);
    machine.changed = true;
  }
  // Copies, because a routine may call itself.
  for (const effect of [...callee.effects.values()]) passOn(effect, routine, given, place, frame);
  for (const pending of [...callee.pending.values()]) resume(pending, given, place, frame);
  for (const [binding, value] of [...callee.stores]) storeVariable(binding, substitute(value, given, frame), frame);
  for (const [index, value] of [...callee.argumentStores]) {
    const stored = substitute(value, given, frame);
    for (const target of targetsOf(index, given)) storeInto(target, stored, frame);
  }
  for (const binding of callee.reads) summary.reads.add(binding);
  if (callee.mayThrow) noteRaise(frame);
  notePosition(routine, callee, frame);
  return substitute(callee.returns, given, frame);
}

/** A use of the position by a block's own functions counts as a use by the block. */
function notePosition(routine: Routine, callee: Summary, { machine, routine: caller, summary }: Frame): void {
  const isOwn = routine.unit === caller.unit && routine.unit.level === 'block';
  const self = summary.position.self || (isOwn && callee.position.self);
  const calls = summary.position.calls || callee.position.calls || (!isOwn && callee.position.self);
  if (self === summary.position.self && calls === summary.position.calls) return;
  summary.position = { self, calls };
  machine.changed = true;
}

function passOn(effect: Effect, routine: Routine, given: Arguments, place: Node, frame: Frame): void {
  const { origin, operation } = effect;
  if (origin.kind === 'argument') {
    // A parameter is not shared: only changes of the object count, and they count at the call that passes it.
    const target = targetsOf(origin.index, given)[0] ?? place;
    const origins = substituteOrigin(origin, given, frame);
    const by = routine.name === null ? effect.by : `${routine.name}()`;
    if (operation === 'throw') noteThrow({ self: origins, inside: origins }, target, frame);
    else note(operation, origins, target, frame, by);
  } else if (origin.kind === 'captured') {
    passOnCaptured(effect, origin.binding, given, frame);
  } else addEffect(effect, frame);
}

function passOnCaptured(effect: Effect, binding: Binding, given: Arguments, frame: Frame): void {
  const owner = frame.machine.routines.owners.get(binding);
  if (effect.operation === 'assign' && owner === frame.routine) return;
  const origins = substituteOrigin(effect.origin, given, frame);
  if (effect.operation === 'throw') {
    noteThrow({ self: origins, inside: origins }, effect.place.node, frame);
    return;
  }
  for (const { operation, origin } of meantBy(effect.operation, origins, frame.machine)) {
    const isVariable = owner !== undefined && isWithin(frame.routine, owner);
    const isForeign =
      effect.operation === 'assign' && !isVariable && !('binding' in origin && origin.binding === binding);
    // The assignment changes an escaped variable itself, but not the object in it.
    if (isForeign && origin.kind !== 'label') continue;
    addEffect({ ...effect, operation, origin }, frame);
  }
}

function targetsOf(index: number, given: Arguments): (Node | null)[] {
  if (index === THIS) return [given.selfNode];
  if (index === ANY) return [...given.nodes];
  return [given.nodes[index] ?? null];
}

function resume(pending: Pending, given: Arguments, place: Node, frame: Frame): void {
  const callee: Value = { self: substituteOrigin(pending.callee, given, frame), inside: PRIMITIVE.self };
  const inPlace = (value: Value): Value => substitute(value, given, frame);
  const { self, list, rest } = pending.arguments;
  const resumed = { ...NO_ARGUMENTS, self: inPlace(self), list: list.map(inPlace), rest: inPlace(rest) };
  callValue(callee, resumed, place, frame);
}

export function substitute(value: Value, given: Arguments, frame: Frame): Value {
  return replace(value, (origin) => substituteOrigin(origin, given, frame));
}

function substituteOrigin(origin: Origin, given: Arguments, frame: Frame): Origins {
  if (origin.kind === 'captured') return resolveCaptured(origin.binding, origin.inside, frame);
  if (origin.kind !== 'argument') return new Set([origin]);
  const value = argumentAt(origin.index, given);
  return origin.inside ? value.inside : value.self;
}

function argumentAt(index: number, { self, list, rest }: Arguments): Value {
  if (index === THIS) return self;
  if (index === ANY) return join(...list, rest);
  return join(list[index] ?? PRIMITIVE, rest);
}

/** Calls any value except a built-in, for which {@link callBuiltIn} exists. */
export function callValue(callee: Value, given: Arguments, place: Node, frame: Frame): Value {
  // It is unknown, or not a function.
  if (callee.self.size === 0) return callUnknown({ kind: 'label' }, given, place, frame);
  const result: Value[] = [];
  const isKnown = [...callee.self].some(({ kind }) => kind === 'function');
  for (const origin of callee.self) {
    switch (origin.kind) {
      case 'function':
        result.push(callFunction(origin.node, given, place, frame));
        break;
      case 'argument':
      case 'captured':
        addPending(origin, given, place, frame);
        result.push({ self: callee.inside, inside: callee.inside }, holding(...given.list, given.rest));
        break;
      case 'import':
      case 'shared':
        note('call', new Set([origin]), place, frame);
        break;
      case 'given':
        callGiven(origin, place, frame);
        break;
      case 'module':
      case 'leaked':
        if (!isKnown) note('call', new Set([origin]), place, frame);
        break;
      case 'label':
      case 'state':
      case 'fresh':
        if (!isKnown) result.push(callUnknown(origin, given, place, frame));
        break;
      case 'trusted':
        result.push(callUnknown(origin, given, place, frame));
        break;
    }
  }
  return join(...result);
}

/** An untrusted function that came with a value of the parse may change per-parse objects and throw. */
function callUnknown(origin: Origin, given: Arguments, place: Node, frame: Frame): Value {
  if (origin.kind !== 'trusted') noteRaise(frame);
  const handed = union(given.self.self, ...given.list.map(({ self }) => self), given.rest.self);
  if (origin.kind !== 'trusted') {
    note('pass', handed, place, frame);
    if (origin.kind === 'state') note('change', new Set([origin]), place, frame);
  }
  return join(of({ kind: 'label' }), holding(...given.list, given.rest));
}

function callGiven(origin: Extract<Origin, { kind: 'given' }>, place: Node, frame: Frame): void {
  const { summary, machine } = frame;
  if (origin.name === 'options' || origin.name === 'input') {
    note('call', new Set([origin]), place, frame);
    return;
  }
  if (origin.name === 'error' || origin.name === 'expected') {
    noteRaise(frame);
    // With an explicit location it does not use the position; expected() does anyway, for the found text.
    const hasLocation = place.type === 'CallExpression' && place.arguments[1]?.type === 'ObjectExpression';
    if (origin.name === 'error' && hasLocation) return;
  }
  if (summary.position.self) return;
  summary.position = { ...summary.position, self: true };
  machine.changed = true;
}

function addPending(callee: Origin, given: Arguments, node: Node, { summary, machine, routine }: Frame): void {
  const key = keyOf(callee, { unit: routine.unit, node });
  const known = summary.pending.get(key);
  const merged = known ? joinArguments(known.arguments, given) : given;
  if (known && isCovered(known.arguments, merged)) return;
  summary.pending.set(key, { callee, arguments: merged });
  machine.changed = true;
}

function joinArguments(a: Arguments, b: Arguments): Arguments {
  const length = Math.max(a.list.length, b.list.length);
  const list = Array.from({ length }, (_, i) => join(a.list[i] ?? PRIMITIVE, b.list[i] ?? PRIMITIVE));
  return { ...NO_ARGUMENTS, self: join(a.self, b.self), list, rest: join(a.rest, b.rest) };
}

function isCovered(known: Arguments, other: Arguments): boolean {
  return (
    covers(known.self, other.self) &&
    covers(known.rest, other.rest) &&
    other.list.every((value, i) => covers(known.list[i] ?? PRIMITIVE, value))
  );
}
