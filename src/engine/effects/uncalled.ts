/**
 * What runs without being called: getters and setters, methods of iterators and conversions. Who reads a property, spreads a
 * list or writes a text does not look like calling anything, so that what such code changes could not be followed.
 */
import { IMPLICIT_METHODS } from './built-ins.js';
import type { Machine } from './machine.js';
import type { FunctionNode, Node } from './nodes.js';
import { locate } from './positions.js';
import { judge, type Violation } from './report.js';
import type { Routine } from './routines.js';

/**
 * Such code of the initializers that changes what outlives it; that of an action is taken to run where it is made. `known`: places
 * that are refused already.
 */
export function uncalledChanges(machine: Machine, known: ReadonlySet<Node>): Violation[] {
  return uncalled(machine).flatMap((routine) => {
    const { unit, name } = routine;
    if (unit.level === 'block') return [];
    const effect = [...(machine.summaries.get(routine)?.effects.values() ?? [])].find((one) => {
      const { kind } = judge(one, machine);
      return (kind === 'state' || kind === 'violation' || kind === 'unsupported') && !known.has(one.place.node);
    });
    if (effect === undefined) return [];
    const message = `${name ?? 'a function'} runs without being called, and changes what others see`;
    return [{ rule: null, message, location: locate(unit.snippet, routine.node.start, routine.node.end) }];
  });
}

function uncalled({ routines }: Machine): Routine[] {
  const functions: FunctionNode[] = [...routines.accessors.values()].flat();
  for (const [name, methods] of routines.methods) {
    // Names that are computed may be those of symbols.
    if (name === '' || IMPLICIT_METHODS.has(name)) functions.push(...methods);
  }
  return functions.flatMap((node) => routines.byNode.get(node) ?? []);
}
