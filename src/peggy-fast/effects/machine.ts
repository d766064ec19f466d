import type { Identifier } from 'acorn';
import type { ClassNode, FunctionNode, Node } from './nodes.js';
import type { Level, Routine, Routines, Unit } from './routines.js';
import type { Binding } from './scopes.js';
import { type Arguments, emptySummary, type Summary } from './summaries.js';
import { PRIMITIVE, type Value } from './values.js';

/** The names that Peggy gives to blocks and to the per-parse initializer. */
export const GIVEN: ReadonlySet<string> = new Set([
  'input',
  'options',
  'text',
  'range',
  'offset',
  'location',
  'error',
  'expected',
]);

/** What is known so far of a grammar's code. Everything in it only grows, until evaluating adds nothing. */
export interface Machine {
  readonly routines: Routines;
  readonly units: readonly Unit[];
  readonly trusted: ReadonlySet<string>;
  /** The variables of the initializers. */
  readonly globals: { readonly module: ReadonlyMap<string, Binding>; readonly parse: ReadonlyMap<string, Binding> };
  /** What variables may hold, in terms of the routine that owns them. */
  readonly variables: Map<Binding, Value>;
  readonly summaries: Map<Routine, Summary>;
  /** What functions have been bound to, `this` included, by their code. */
  readonly bound: Map<Node, Value>;
  /** What the values of labels may be or hold, beyond what is made in the parse. */
  labels: Value;
  /** What else but new objects may be raised, or be held by what is raised. */
  thrown: Value;
  /** Whether objects that blocks have made are held by per-parse variables as well. */
  sharesState: boolean;
  changed: boolean;
  /** The calls that the routine at hand has been through, by code and place, with all that was given. */
  readonly calls: Map<string, Arguments>;
}

/** The evaluation of one routine. */
export interface Frame {
  readonly machine: Machine;
  readonly routine: Routine;
  readonly summary: Summary;
  /** Evaluates an expression. */
  readonly value: (node: Node) => Value;
}

/** What an identifier stands for. */
export type Meaning =
  | { readonly kind: 'local'; readonly binding: Binding; readonly owner: Routine }
  | { readonly kind: 'state' | 'module'; readonly binding: Binding }
  | { readonly kind: 'label' | 'given' | 'global' | 'trusted' | 'import'; readonly name: string };

export function createMachine(routines: Routines, units: readonly Unit[], trusted: readonly string[]): Machine {
  const variablesOf = (level: Unit['level']): Map<string, Binding> =>
    new Map(units.filter((unit) => unit.level === level).flatMap(({ scopes }) => [...scopes.outermost]));
  return {
    routines,
    units,
    trusted: new Set(trusted),
    globals: { module: variablesOf('module'), parse: variablesOf('parse') },
    variables: new Map(),
    summaries: new Map(routines.all.map((routine) => [routine, emptySummary()])),
    bound: new Map(),
    labels: PRIMITIVE,
    thrown: PRIMITIVE,
    sharesState: false,
    changed: false,
    calls: new Map(),
  };
}

/** What an identifier means that stands in a routine; the innermost declaration counts, as in the generated parser. */
export function meaningOf(identifier: Identifier, { unit }: Routine, machine: Machine): Meaning {
  const { name } = identifier;
  const bound = unit.scopes.bound.get(identifier);
  const isOutermost = bound !== undefined && unit.scopes.outermost.get(name) === bound;
  const owner = bound && machine.routines.owners.get(bound);
  if (bound && owner && (!isOutermost || unit.level === 'block')) return { kind: 'local', binding: bound, owner };
  if (unit.parameters.has(name)) return { kind: 'label', name };
  if (machine.trusted.has(name)) return { kind: 'trusted', name };
  const state = unit.level === 'module' ? undefined : machine.globals.parse.get(name);
  if (state) return { kind: 'state', binding: state };
  if (unit.level !== 'module' && GIVEN.has(name)) return { kind: 'given', name };
  const module = machine.globals.module.get(name);
  if (!module) return { kind: 'global', name };
  return module.kind === 'import' ? { kind: 'import', name } : { kind: 'module', binding: module };
}

export function summaryOf(node: FunctionNode | Routine['node'], machine: Machine): [Routine, Summary] | null {
  const routine = machine.routines.byNode.get(node);
  const summary = routine && machine.summaries.get(routine);
  return summary ? [routine, summary] : null;
}

/** The initializer that a function or class is made in and lives as long as; `null` for what is made again and again. */
export function levelOf(node: FunctionNode | ClassNode, { routines }: Machine): Level | null {
  const routine = routines.byNode.get(node) ?? routines.classes.get(node);
  return routine && (routine.parent === null || routine.parent.parent === null) ? routine.unit.level : null;
}

/** Whether a routine stands inside another, or is it. */
export function isWithin(routine: Routine, outer: Routine): boolean {
  for (let at: Routine | null = routine; at !== null; at = at.parent) if (at === outer) return true;
  return false;
}

/** How long what a routine makes lives, if a function takes it out: as long as the code that called the routine. */
export function lifetimeOf(
  routine: Routine,
  machine: Machine,
  seen = new Set<Routine>(),
): 'module' | 'state' | 'label' {
  if (routine.parent === null) return LIFETIMES[routine.unit.level];
  if (seen.has(routine)) return 'label';
  seen.add(routine);
  const callers = [...(machine.summaries.get(routine)?.callers ?? [])];
  const lives = callers.map((caller) => lifetimeOf(caller, machine, seen));
  return lives.includes('module') ? 'module' : lives.includes('state') ? 'state' : 'label';
}

const LIFETIMES = { module: 'module', parse: 'state', block: 'label' } as const;
