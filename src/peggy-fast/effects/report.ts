import { IMPLICIT_METHODS } from './built-ins.js';
import { type Effect, levelOf, type Machine, type Place, type Routine, type Unit } from './machine.js';
import type { Binding } from './scopes.js';
import { type ClassNode, type FunctionNode, isFunction, type LocationRange, locate, type Node } from './syntax.js';
import { type Origin, PRIMITIVE } from './values.js';

export interface Violation {
  readonly rule: string | null;
  readonly message: string;
  readonly location: LocationRange;
}

/** The visibility of an effect after the parse: none, visible, or unknown. */
type Classification =
  | { readonly kind: 'state'; readonly binding: Binding | null }
  | { readonly kind: 'label' | 'none' }
  | { readonly kind: 'violation' | 'unsupported'; readonly what: string; readonly why: string };

const WHY = {
  module:
    'it outlives the parse, while code of the grammar may run twice or be skipped; ' +
    'a variable of the per-parse initializer { ... } is reset for each parse',
  foreign:
    'code outside of the grammar may have a state, while code of the grammar may run twice or be ' +
    'skipped; list a function that is pure in the option `pure`',
  given: 'it belongs to the caller of the parser, while code of the grammar may run twice or be skipped',
  global: 'it is visible to all code, while code of the grammar may run twice or be skipped',
} as const;

const NONE: Classification = { kind: 'none' };

/** Classifies one effect of a block or of the per-parse initializer. */
export function classify(effect: Effect, machine: Machine): Classification {
  const { origin, operation } = effect;
  switch (origin.kind) {
    case 'state':
      return { kind: 'state', binding: origin.binding };
    case 'label':
      return { kind: 'label' };
    case 'leaked':
      return unsupported(
        `may change an object in the top-level variable "${origin.binding.name}", through a label`,
        WHY.module,
      );
    case 'shared':
      return classifyShared(effect, origin);
    case 'function':
      return classifyFunction(effect, origin, machine);
    case 'module':
    case 'import':
    case 'given':
    case 'global':
      // Rejected by their names: see forbiddenName in analyze.ts.
      if ('name' in origin && (origin.name === 'eval' || origin.name.startsWith('peg$'))) return NONE;
      if (operation === 'pass') return classifyPass(origin);
      return { kind: 'violation', what: describe(effect, origin), why: whyOf(effect, origin) };
    default:
      return NONE;
  }
}

type LongLivedOrigin = Extract<Origin, { kind: 'module' | 'import' | 'given' | 'global' }>;

function classifyPass(origin: LongLivedOrigin): Classification {
  // A text cannot be changed, and Peggy's functions are available to all code.
  if (origin.kind === 'given' && origin.name !== 'options') return NONE;
  if (origin.kind === 'global') return NONE;
  return unsupported(`passes ${nameOf(origin)} to a function that comes with a value`, 'its effect is unknown');
}

/** Reports a change of a property of a function of the grammar. */
function classifyFunction(
  { operation, by }: Effect,
  origin: Extract<Origin, { kind: 'function' }>,
  machine: Machine,
): Classification {
  if (operation === 'pass' || operation === 'call' || operation === 'unknown-method') return NONE;
  const level = levelOf(origin.node, machine);
  if (level === 'parse') return { kind: 'state', binding: null };
  if (level !== 'module') return NONE;
  const what = `${nameOfCode(origin)}${through(by)}`;
  if (operation === 'may-change') return unsupported(`may change ${what}`, WHY.module);
  return { kind: 'violation', what: `changes ${what}`, why: WHY.module };
}

function unsupported(what: string, why: string): Classification {
  return { kind: 'unsupported', what, why };
}

function classifyShared({ operation }: Effect, { name }: Extract<Origin, { kind: 'shared' }>): Classification {
  if (operation === 'pass') return NONE;
  const does = operation === 'call' || operation === 'unknown-method' ? 'calls' : 'changes';
  return unsupported(`${does} the result of "${name}"`, 'which may be an object that others share');
}

function nameOfCode({ node }: { readonly node: FunctionNode | ClassNode }): string {
  const name = node.id?.name;
  return `the top-level ${isFunction(node) ? 'function' : 'class'}${name ? ` "${name}"` : ''}`;
}

function describe({ operation, by }: Effect, origin: LongLivedOrigin): string {
  const name = nameOf(origin);
  switch (operation) {
    case 'assign':
      return `assigns ${name}`;
    case 'change':
      return origin.kind === 'module' ? `changes an object in ${name}${through(by)}` : `changes ${name}${through(by)}`;
    case 'match':
    case 'sticky-match':
      return `matches with ${name}, a pattern with a state (flag g or y)`;
    case 'call':
      if (origin.kind === 'global') return `calls ${origin.name}()`;
      if (origin.kind === 'given') return `calls a function of ${name}`;
      return origin.kind === 'import' ? `calls ${name}` : `calls a function in ${name}`;
    default:
      return `calls ${by ?? 'a method'} of ${name}, which may change it`;
  }
}

function through(by: string | null): string {
  return by === null ? '' : ` by ${by}`;
}

function whyOf({ operation }: Effect, { kind }: LongLivedOrigin): string {
  if (operation === 'call') return WHY.foreign;
  return kind === 'import' ? WHY.module : WHY[kind];
}

function nameOf(origin: LongLivedOrigin): string {
  switch (origin.kind) {
    case 'module':
      return `the top-level variable "${origin.binding.name}"`;
    case 'import':
      return `the imported "${origin.name}"`;
    case 'given':
      return `"${origin.name}"`;
    default:
      return origin.name === 'this' ? '"this"' : `the global "${origin.name}"`;
  }
}

export function violationOf(
  rule: string | null,
  unit: Unit,
  place: Place,
  { what, why }: { readonly what: string; readonly why: string },
  machine: Machine,
): Violation {
  const subject = rule === null ? 'The per-parse initializer' : `Rule "${rule}"`;
  const helper = place.unit === unit ? null : functionAround(place, machine);
  const message = `${subject} ${helper === null ? what : `runs ${helper}(), which ${what}`}: ${why}`;
  return { rule, message, location: locate(place.unit.snippet, place.node.start, place.node.end) };
}

function functionAround({ unit, node }: Place, machine: Machine): string | null {
  let found: Routine | null = null;
  for (const routine of machine.routines.all) {
    const isAround = routine.unit === unit && routine.node.start <= node.start && node.end <= routine.node.end;
    // Outer routines are registered before inner ones.
    if (isAround && routine.name !== null) found = routine;
  }
  return found?.name ?? null;
}

/**
 * Finds methods of the initializers that run without a call and change something that outlives them. Methods of an
 * action count as run where they are created.
 */
export function uncalledChanges(machine: Machine, known: ReadonlySet<Node>): Violation[] {
  const changes = uncalled(machine).flatMap((routine) => {
    const { unit, name } = routine;
    if (unit.level === 'block') return [];
    const effect = [...(machine.summaries.get(routine)?.effects.values() ?? [])].find((one) => {
      const { kind } = classify(one, machine);
      return (kind === 'state' || kind === 'violation' || kind === 'unsupported') && !known.has(one.place.node);
    });
    if (effect === undefined) return [];
    const message = `${name ?? 'a function'} runs without a call, and has effects that other code sees`;
    return [{ rule: null, message, location: locate(unit.snippet, routine.node.start, routine.node.end) }];
  });
  return [...changes, ...keptIterators(machine)];
}

function uncalled({ routines }: Machine): Routine[] {
  // A computed name may be any name.
  return ['', ...IMPLICIT_METHODS].flatMap((name) =>
    (routines.methods.get(name) ?? []).flatMap((node) => routines.byNode.get(node) ?? []),
  );
}

/** Finds variables of the initializers that hold iterators, which advance whenever they are read. */
function keptIterators({ units, variables }: Machine): Violation[] {
  return units.flatMap(({ level, scopes, snippet }) => {
    if (level === 'block') return [];
    return [...scopes.outermost.values()].flatMap((binding): Violation[] => {
      const { self, inside } = variables.get(binding) ?? PRIMITIVE;
      if (![...self, ...inside].some(({ kind }) => kind === 'iterator')) return [];
      const { name, identifier } = binding;
      const location = locate(snippet, identifier.start, identifier.end);
      return [
        {
          rule: null,
          message: `the variable "${name}" holds an iterator, which advances whenever it is read`,
          location,
        },
      ];
    });
  });
}
