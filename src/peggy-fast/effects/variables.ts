import type { Identifier } from 'acorn';
import {
  type Effect,
  type Frame,
  grow,
  isWithin,
  keyOf,
  lifetimeOf,
  type Machine,
  meaningOf,
  type Operation,
} from './machine.js';
import type { Binding } from './scopes.js';
import { isFunction, type Node } from './syntax.js';
import {
  covers,
  intern,
  join,
  type Origin,
  type Origins,
  of,
  ofArgument,
  PRIMITIVE,
  replace,
  THIS,
  union,
  type Value,
} from './values.js';

export function readVariable(identifier: Identifier, frame: Frame): Value {
  const { machine, routine } = frame;
  const meaning = meaningOf(identifier, routine, machine);
  switch (meaning.kind) {
    case 'local':
      return readLocal(meaning.binding, frame);
    case 'state':
    case 'module':
      return readShared(meaning.binding, meaning.kind, frame);
    case 'label': {
      // A label holds an object that some other block has made, alone or in the arrays of sequences and repetitions.
      const label = of({ kind: 'label' });
      return join(label, machine.labels, { self: PRIMITIVE.self, inside: machine.labels.self });
    }
    case 'global':
      if (meaning.name === 'undefined' || meaning.name === 'NaN' || meaning.name === 'Infinity') return PRIMITIVE;
      // The path identifies what a built-in holds.
      return { self: new Set([intern(meaning)]), inside: new Set() };
    default:
      return of(meaning);
  }
}

function readLocal(binding: Binding, frame: Frame): Value {
  const { machine, routine, summary } = frame;
  const value = machine.variables.get(binding) ?? PRIMITIVE;
  if (machine.routines.owners.get(binding) === routine) return value;
  summary.reads.add(binding);
  const captured = (origins: Origins, inside: boolean): Origins =>
    union(
      new Set([...origins].filter(isFree)),
      [...origins].every(isFree) ? PRIMITIVE.self : new Set([intern({ kind: 'captured', binding, inside })]),
    );
  return { self: captured(value.self, false), inside: captured(value.inside, true) };
}

function readShared(binding: Binding, kind: 'state' | 'module', frame: Frame): Value {
  const { machine, summary } = frame;
  const owned = intern({ kind, binding });
  const value = replace(machine.variables.get(binding) ?? PRIMITIVE, (origin) =>
    origin.kind === 'fresh' ? new Set([owned]) : new Set([origin]),
  );
  if (kind === 'state') summary.reads.add(binding);
  for (const origin of [...value.self, ...value.inside]) if (origin.kind === 'state') summary.reads.add(origin.binding);
  return value;
}

/** Returns `true` if an origin means the same in every routine. `fresh` does not: it is created here. */
function isFree({ kind }: Origin): boolean {
  return kind !== 'argument' && kind !== 'captured' && kind !== 'fresh';
}

/** Returns `true` if the meaning of an origin depends on the caller. */
function isOfContext({ kind }: Origin): boolean {
  return kind === 'argument' || kind === 'captured';
}

/** Resolves a captured variable where the function is called. */
export function resolveCaptured(binding: Binding, inside: boolean, frame: Frame): Origins {
  const { machine, routine } = frame;
  const owner = machine.routines.owners.get(binding);
  const value = machine.variables.get(binding) ?? PRIMITIVE;
  const origins = inside ? value.inside : value.self;
  if (owner === routine) return origins;
  if (owner && isWithin(routine, owner)) return new Set([intern({ kind: 'captured', binding, inside })]);
  // The function has left the routine that owns the variable.
  return union(new Set([...origins].filter(isFree)), new Set([escaped(binding, frame)]));
}

function escaped(binding: Binding, { machine }: Frame): Origin {
  const owner = machine.routines.owners.get(binding);
  const kind = owner ? lifetimeOf(owner, machine) : 'module';
  return kind === 'label' ? intern({ kind }) : intern({ kind, binding });
}

export function storeVariable(binding: Binding, value: Value, frame: Frame): void {
  const { machine, routine, summary } = frame;
  const owner = machine.routines.owners.get(binding);
  const isShared = owner?.parent === null && owner.unit.level !== 'block';
  if (owner === routine && !isShared) {
    grow(machine.variables, binding, value, machine);
    return;
  }
  const isLocalHere = !isShared && owner !== undefined && isWithin(routine, owner);
  if (isLocalHere || [...value.self, ...value.inside].some(isOfContext)) grow(summary.stores, binding, value, machine);
  if (isLocalHere) return;
  const kept = replace(value, (origin) => (isOfContext(origin) ? PRIMITIVE.self : new Set([origin])));
  grow(machine.variables, binding, kept, machine);
  // Objects that the initializer itself creates and stores are private; those that blocks or functions store may not
  // be.
  const isOwn = routine.parent === null && routine.unit.level === 'parse';
  const isObject = [...kept.self, ...kept.inside].some(({ kind }) => kind === 'fresh' || kind === 'label');
  if (owner?.unit.level === 'parse' && isObject && !isOwn && !machine.sharesState) {
    machine.sharesState = true;
    machine.changed = true;
  }
}

export function storeInto(target: Node | null | undefined, value: Value, frame: Frame): void {
  if (value.self.size + value.inside.size === 0) return;
  const base = target && baseOf(target);
  if (base?.type !== 'Identifier' && base?.type !== 'ThisExpression') return;
  const content: Value = { self: PRIMITIVE.self, inside: union(value.self, value.inside) };
  if (base.type === 'Identifier') {
    const meaning = meaningOf(base, frame.routine, frame.machine);
    if ('binding' in meaning) storeVariable(meaning.binding, content, frame);
  }
  for (const origin of frame.value(base).self) {
    if (origin.kind === 'label') leak(content, frame.machine);
    if (origin.kind === 'argument') grow(frame.summary.argumentStores, origin.index, content, frame.machine);
    else if (origin.kind === 'captured' || origin.kind === 'state' || origin.kind === 'module') {
      storeVariable(origin.binding, content, frame);
    }
  }
}

function baseOf(node: Node): Node {
  if (node.type === 'MemberExpression') return baseOf(node.object);
  if (node.type === 'ChainExpression' || node.type === 'ParenthesizedExpression') return baseOf(node.expression);
  return node;
}

/** Records that a value reaches labels, through which others may obtain objects that outlive the block. */
export function leak(value: Value, machine: Machine): void {
  const leaking = replace(value, (origin) => {
    if (origin.kind === 'module') return new Set([intern({ kind: 'leaked', binding: origin.binding })]);
    return LEAKING.has(origin.kind) ? new Set([origin]) : PRIMITIVE.self;
  });
  if (covers(machine.labels, leaking)) return;
  machine.labels = join(machine.labels, leaking);
  machine.changed = true;
}

const LEAKING: ReadonlySet<Origin['kind']> = new Set(['function', 'state', 'leaked', 'shared', 'stateful-pattern']);

/** The value of `this`: that of the routine, or of the nearest one around an arrow function. */
export function readThis(frame: Frame): Value {
  let at = frame.routine;
  while (at.node.type === 'ArrowFunctionExpression' && at.parent) at = at.parent;
  if (at.parent === null) return of({ kind: 'global', name: 'this' });
  if (at === frame.routine) return ofArgument(THIS);
  return of({ kind: 'captured', binding: thisOf(at, frame), inside: false });
}

/** `this` as a variable of the routine, which arrow functions inside can capture. */
function thisOf(routine: Frame['routine'], { machine }: Frame): Binding {
  const { owners, thisBindings } = machine.routines;
  const known = thisBindings.get(routine);
  if (known) return known;
  const { start } = routine.node;
  const identifier: Identifier = { type: 'Identifier', name: 'this', start, end: start };
  const binding: Binding = { name: 'this', kind: 'const', identifier };
  thisBindings.set(routine, binding);
  owners.set(binding, routine);
  machine.variables.set(binding, ofArgument(THIS));
  return binding;
}

export function note(operation: Operation, origins: Origins, node: Node, frame: Frame, by: string | null = null): void {
  const place = { unit: frame.routine.unit, node };
  for (const meant of meantBy(operation, origins, frame.machine)) addEffect({ ...meant, place, by }, frame);
}

export function meantBy(
  operation: Operation,
  given: Origins,
  machine: Machine,
): Pick<Effect, 'operation' | 'origin'>[] {
  const origins = operation === 'match' || operation === 'sticky-match' ? matched(operation, given) : given;
  const functions = [...origins].filter((origin) => origin.kind === 'function');
  const others = [...origins].filter((origin) => origin.kind !== 'function');
  if (others.length === 0) {
    // Code is least likely to change a method.
    const meant = functions.filter((origin) => !machine.routines.named.has(origin.node));
    return (meant.length > 0 ? meant : functions).map((origin) => ({ operation, origin }));
  }
  const seen = others.filter(({ kind }) => !UNSEEN.has(kind)).map((origin) => ({ operation, origin }));
  if (operation !== 'change' && operation !== 'assign') return seen;
  // Code is unlikely to change a function that an object may hold, but may change a class.
  const classes = functions.filter((origin) => !isFunction(origin.node));
  return [...seen, ...classes.map((origin) => ({ operation: 'may-change' as const, origin }))];
}

/** Origins of private objects, or of aspects of objects that other origins own. */
const UNSEEN: ReadonlySet<Origin['kind']> = new Set(['fresh', 'stateful-pattern', 'iterator', 'trusted']);

function matched(operation: 'match' | 'sticky-match', origins: Origins): Origins {
  const isStateful = [...origins].some(
    (origin) => origin.kind === 'stateful-pattern' && (operation === 'match' || origin.sticky),
  );
  // Only the callers know if an argument is such a pattern.
  return isStateful ? origins : new Set([...origins].filter(isOfContext));
}

export function noteThrow({ self, inside }: Value, node: Node, frame: Frame): void {
  const { machine } = frame;
  const origins = union(self, inside);
  const open = [...origins].filter(isOfContext);
  note('throw', new Set(open), node, frame);
  const thrown = replace({ self, inside }, (origin) =>
    origin.kind === 'module' ? new Set([intern({ kind: 'leaked', binding: origin.binding })]) : raised(origin),
  );
  if (covers(machine.thrown, thrown)) return;
  machine.thrown = join(machine.thrown, thrown);
  machine.changed = true;
}

function raised(origin: Origin): Origins {
  return isFree(origin) && !UNSEEN.has(origin.kind) ? new Set([origin]) : PRIMITIVE.self;
}

export function addEffect(effect: Effect, { summary, machine }: Frame): void {
  const key = keyOf(effect.origin, effect.place, effect.operation);
  if (summary.effects.has(key)) return;
  summary.effects.set(key, effect);
  machine.changed = true;
}

export function noteRaise({ summary, machine }: Frame): void {
  if (summary.mayThrow) return;
  summary.mayThrow = true;
  machine.changed = true;
}

export function noteReturn(value: Value, { summary, machine }: Frame): void {
  if (covers(summary.returns, value)) return;
  summary.returns = join(summary.returns, value);
  machine.changed = true;
}
