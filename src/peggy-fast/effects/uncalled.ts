/**
 * What runs without being called: getters and setters, methods of iterators and conversions, those of the grammar and those of
 * built-in iterators. Who reads a property, spreads a list or writes a text does not look like calling anything, so that what
 * such code changes could not be followed.
 */
import { IMPLICIT_METHODS, STEPS } from './built-ins.js';
import type { Machine } from './machine.js';
import type { FunctionNode, Node } from './nodes.js';
import { locate } from './positions.js';
import { judge, type Violation } from './report.js';
import type { Routine } from './routines.js';
import type { Effect } from './summaries.js';
import { PRIMITIVE } from './values.js';

/**
 * Such code of the initializers that changes what outlives it; that of an action is taken to run where it is made. `known`: places
 * that are refused already.
 */
export function uncalledChanges(machine: Machine, known: ReadonlySet<Node>): Violation[] {
  const changes = uncalled(machine).flatMap((routine) => {
    const { unit, name } = routine;
    if (unit.level === 'block') return [];
    const effect = [...(machine.summaries.get(routine)?.effects.values() ?? [])].find((one) => {
      const { kind } = judge(one, machine);
      if (isOwnChange(one) && isIteration(routine, machine)) return true;
      return (kind === 'state' || kind === 'violation' || kind === 'unsupported') && !known.has(one.place.node);
    });
    if (effect === undefined) return [];
    const message = `${name ?? 'a function'} runs without being called, and changes what others see`;
    return [{ rule: null, message, location: locate(unit.snippet, routine.node.start, routine.node.end) }];
  });
  return [...changes, ...keptIterators(machine)];
}

function uncalled({ routines }: Machine): Routine[] {
  const functions: FunctionNode[] = [...routines.accessors.values()].flat();
  for (const [name, methods] of routines.methods) {
    // Names that are computed may be those of symbols; without any, nothing is an iterator.
    const isStep = STEPS.has(name) && routines.methods.has('');
    if (name === '' || IMPLICIT_METHODS.has(name) || isStep) functions.push(...methods);
  }
  return functions.flatMap((node) => routines.byNode.get(node) ?? []);
}

/** Whether it may be what a loop runs. */
function isIteration({ node }: Routine, { routines }: Machine): boolean {
  return ['', ...STEPS].some((name) => routines.methods.get(name)?.some((one) => one === node));
}

/** Whether an object, a captured variable or what it holds is changed. */
function isOwnChange({ deed, origin }: Effect): boolean {
  if (deed !== 'change' && deed !== 'assign') return false;
  return origin.kind === 'argument' || origin.kind === 'captured';
}

/** Variables of the initializers that hold iterators: whoever looks at these moves them on. */
function keptIterators({ units, variables }: Machine): Violation[] {
  return units.flatMap(({ level, scopes, snippet }) => {
    if (level === 'block') return [];
    return [...scopes.outermost.values()].flatMap((binding): Violation[] => {
      const { self, inside } = variables.get(binding) ?? PRIMITIVE;
      if (![...self, ...inside].some(({ kind }) => kind === 'iterator')) return [];
      const { name, identifier } = binding;
      const location = locate(snippet, identifier.start, identifier.end);
      return [
        { rule: null, message: `the variable "${name}" keeps an iterator, which every look at it moves on`, location },
      ];
    });
  });
}
