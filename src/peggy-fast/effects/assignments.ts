import type { MemberExpression, Pattern } from 'acorn';
import { callFunction, NO_ARGUMENTS, readProperty } from './apply.js';
import { type Frame, meaningOf } from './machine.js';
import { type Node, propertyName } from './nodes.js';
import { FRESH, held, intern, join, type Value } from './values.js';
import { note, readThis, storeInto, storeVariable } from './variables.js';

/** Gives the names of a declaration their values. */
export function declare(pattern: Pattern, value: Value, frame: Frame): void {
  eachTarget(pattern, value, frame, (target, part) => {
    if (target.type !== 'Identifier') return;
    const binding = frame.routine.unit.scopes.bound.get(target);
    if (binding) storeVariable(binding, part, frame);
  });
}

/** Assigns to what stands left of a `=`. */
export function assign(pattern: Pattern, value: Value, frame: Frame): void {
  eachTarget(pattern, value, frame, (target, part) => assignTo(target, part, frame));
}

/** Notes that the object of a member expression is changed, and what it may hold from now on. */
export function changeMember(target: MemberExpression, value: Value, frame: Frame): void {
  const object = target.object.type === 'Super' ? readThis(frame) : frame.value(target.object);
  if (target.computed) frame.value(target.property);
  note('change', object.self, target, frame);
  storeInto(target.object, value, frame);
  const name = propertyName(target.property, target.computed);
  for (const setter of frame.machine.routines.accessors.get(name ?? '') ?? []) {
    callFunction(setter, { ...NO_ARGUMENTS, self: object, list: [value], selfNode: target.object }, target, frame);
  }
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
      // A label is a parameter of its block: another value there is seen by nobody else.
      return;
    default:
      note('assign', new Set([intern(meaning)]), target, frame);
  }
}

/** Takes a pattern apart: each variable or member in it, with what it gets. */
function eachTarget(pattern: Pattern, value: Value, frame: Frame, visit: (target: Node, value: Value) => void): void {
  switch (pattern.type) {
    case 'ArrayPattern':
      for (const element of pattern.elements) if (element) eachTarget(element, held(value), frame, visit);
      return;
    case 'ObjectPattern':
      for (const property of pattern.properties) {
        if (property.type === 'Property') {
          if (property.computed) frame.value(property.key);
          const name = propertyName(property.key, property.computed);
          eachTarget(property.value, readProperty(value, name, property, frame), frame, visit);
        } else eachTarget(property, held(value), frame, visit);
      }
      return;
    case 'AssignmentPattern':
      eachTarget(pattern.left, join(value, frame.value(pattern.right)), frame, visit);
      return;
    case 'RestElement':
      eachTarget(
        pattern.argument,
        { self: FRESH.self, inside: value.self.size > 0 ? join(value, held(value)).inside : value.inside },
        frame,
        visit,
      );
      return;
    default:
      visit(pattern, value);
  }
}
