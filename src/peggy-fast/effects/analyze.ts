import type { CallExpression } from 'acorn';
import { evaluateRoutine } from './evaluate.js';
import {
  addUnit,
  createMachine,
  type Effect,
  emptyRoutines,
  type Level,
  type Machine,
  type Routines,
  type Unit,
} from './machine.js';
import { classify, uncalledChanges, type Violation, violationOf } from './report.js';
import { type Binding, parseBody, parseModule } from './scopes.js';
import { children, holds, isClass, isFunction, locate, type Node, propertyName, type Snippet } from './syntax.js';
import { leak } from './variables.js';

/** The code of an action, of a predicate, or of the function that computes the bound of a repetition. */
export interface Block extends Snippet {
  readonly rule: string;
  readonly kind: 'action' | 'predicate' | 'bound';
  readonly parameters: readonly string[];
}

export interface GrammarCode {
  /** `{{ ... }}`: runs once, with the module. */
  readonly topLevel: readonly Snippet[];
  /** `{ ... }`: runs at the start of every parse. */
  readonly perParse: readonly Snippet[];
  readonly blocks: readonly Block[];
  /** Names of functions and objects that are assumed to be pure and never to throw; built-ins by path, such as `Math.random`. */
  readonly trusted?: readonly string[];
}

/** The effects of running a block, other than its value. */
export interface Effects {
  /** Changes a variable, or an object held by a variable, of the per-parse initializer. */
  readonly writesState: boolean;
  /** Reads a per-parse variable that some block or function changes after the initializer has run. */
  readonly readsState: boolean;
  /** Changes an object that a label holds and that another block has made. */
  readonly changesLabels: boolean;
  /**
   * May throw: calls error() or expected(), contains a throw statement, or calls a function that throws for some
   * arguments (as BigInt() does), itself or through functions of the grammar. Type errors, as in `null.x`, and those of
   * trusted functions do not count.
   */
  readonly mayThrow: boolean;
  /** Functions of the grammar that it calls use text(), range(), offset(), location(), error() or expected(). */
  readonly callsForPosition: boolean;
}

interface Analysis {
  readonly effects: ReadonlyMap<Block, Effects>;
  readonly violations: readonly Violation[];
  /** Code that the analysis cannot follow. If there is any, the effects are meaningless. */
  readonly unsupported: readonly Violation[];
}

const ANYTHING: Effects = {
  writesState: true,
  readsState: true,
  changesLabels: true,
  mayThrow: true,
  callsForPosition: true,
};

/**
 * Finds the effects of a grammar's code, and reports those that outlive a parse. Follows objects through variables,
 * properties, arguments and results, regardless of order, and does not distinguish the properties of an object. May
 * report too much; misses aliases of objects that are put into others, objects in options that an action returns,
 * computed names, and functions that a label holds.
 */
export function analyzeEffects(code: GrammarCode): Analysis {
  const unsupported: Violation[] = [];
  const routines = emptyRoutines();
  const blocks = new Map<Unit, Block>();
  const add = (level: Level, snippet: Snippet, block?: Block): Unit[] => {
    const unit = parseUnit(level, snippet, block, routines, unsupported);
    if (unit && block) blocks.set(unit, block);
    return unit ? [unit] : [];
  };
  const units = [
    ...code.topLevel.flatMap((snippet) => add('module', snippet)),
    ...code.perParse.flatMap((snippet) => add('parse', snippet)),
    ...code.blocks.flatMap((block) => add('block', block, block)),
  ];
  for (const unit of units) {
    const rule = blocks.get(unit)?.rule ?? null;
    for (const { node, message } of obstaclesIn(unit)) {
      unsupported.push({ rule, message, location: locate(unit.snippet, node.start, node.end) });
    }
  }
  // Otherwise names would be misinterpreted, and some code would be missed.
  if (unsupported.length > 0) {
    return { effects: new Map(code.blocks.map((block) => [block, ANYTHING])), violations: [], unsupported };
  }
  const machine = createMachine(routines, units, code.trusted ?? []);
  settle(machine);
  return summarize(machine, blocks);
}

function parseUnit(
  level: Level,
  snippet: Snippet,
  block: Block | undefined,
  routines: Routines,
  unsupported: Violation[],
): Unit | null {
  try {
    const program = level === 'module' ? parseModule(snippet.code) : parseBody(snippet.code);
    return addUnit(level, snippet, program, block?.parameters ?? [], routines);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const at = 'pos' in error && typeof error.pos === 'number' ? error.pos : 0;
    const location = locate(snippet, at, Math.min(at + 1, snippet.code.length));
    unsupported.push({
      rule: block?.rule ?? null,
      message: `The code is not valid JavaScript: ${reason(error)}`,
      location,
    });
    return null;
  }
}

function reason({ message }: SyntaxError): string {
  return message.replace(/ \([0-9:]+\)$/, '');
}

function settle(machine: Machine): void {
  do {
    machine.changed = false;
    for (const routine of machine.routines.all) evaluateRoutine(routine, machine);
    for (const { level, root } of machine.units) {
      const summary = machine.summaries.get(root);
      if (level === 'block' && summary) leak(summary.returns, machine);
    }
  } while (machine.changed);
}

interface Changes {
  /** Per-parse variables; null for those with unknown names. */
  readonly state: Set<Binding | null>;
  labels: boolean;
}

function summarize(machine: Machine, blocks: ReadonlyMap<Unit, Block>): Analysis {
  const violations = new Map<Effect, Violation>();
  const unsupported = new Map<Effect, Violation>();
  const changes = new Map<Unit, Changes>();
  for (const unit of machine.units) {
    if (unit.level === 'module') continue;
    const does: Changes = { state: new Set(), labels: false };
    changes.set(unit, does);
    for (const effect of machine.summaries.get(unit.root)?.effects.values() ?? []) {
      const verdict = classify(effect, machine);
      if (verdict.kind === 'state') does.state.add(verdict.binding);
      else if (verdict.kind === 'label') does.labels = true;
      else if (verdict.kind === 'violation' || verdict.kind === 'unsupported') {
        const list = verdict.kind === 'violation' ? violations : unsupported;
        // An effect of a function is reported once, for the first rule that calls it.
        if (list.has(effect)) continue;
        list.set(effect, violationOf(blocks.get(unit)?.rule ?? null, unit, effect.place, verdict, machine));
      }
    }
    // A per-parse variable may hold the same object as a label.
    if (does.labels && machine.sharesState) does.state.add(null);
  }
  const refused = new Set([...violations.keys()].map(({ place }) => place.node));
  return {
    effects: effectsOf(machine, blocks, changes),
    violations: [...violations.values()],
    // Each place is reported once.
    unsupported: [
      ...[...unsupported].filter(([{ place }]) => !refused.has(place.node)).map(([, violation]) => violation),
      ...uncalledChanges(machine, refused),
    ],
  };
}

function effectsOf(
  machine: Machine,
  blocks: ReadonlyMap<Unit, Block>,
  changes: ReadonlyMap<Unit, Changes>,
): Map<Block, Effects> {
  const changed = new Set([...blocks.keys()].flatMap((unit) => [...(changes.get(unit)?.state ?? [])]));
  const isChanged = (binding: Binding): boolean =>
    changed.has(binding) || (changed.has(null) && machine.routines.owners.get(binding)?.unit.level === 'parse');
  const effects = new Map<Block, Effects>();
  for (const [unit, block] of blocks) {
    const summary = machine.summaries.get(unit.root);
    const does = changes.get(unit);
    if (!summary || !does) continue;
    effects.set(block, {
      writesState: does.state.size > 0,
      readsState: [...summary.reads].some(isChanged),
      changesLabels: does.labels,
      mayThrow: summary.mayThrow,
      callsForPosition: summary.position.calls,
    });
  }
  return effects;
}

interface Obstacle {
  readonly node: { readonly start: number; readonly end: number };
  readonly message: string;
}

/** Finds the parts of a unit's code that cannot be followed, or cannot be moved out of the parser that Peggy generates. */
function obstaclesIn(unit: Unit): Obstacle[] {
  const found: Obstacle[] = [];
  for (const { node, name } of unit.scopes.free) {
    const message = forbiddenName(name, unit);
    if (message !== null) found.push({ node, message });
  }
  walk(unit.program, unit.program, found);
  return found;
}

function forbiddenName(name: string, { level }: Unit): string | null {
  if (name.startsWith('peg$')) return `"${name}" is internal to the parser that Peggy generates`;
  if (name === 'Proxy') return 'a proxy runs code without calling it';
  if (name === 'eval') return 'eval() may have any effect';
  if (name === 'arguments' && level !== 'module') return '"arguments" belongs to a function that Peggy generates';
  if (name === 'await' || name === 'yield') return `"${name}" has no fixed meaning here`;
  return null;
}

function walk(node: Node, parent: Node, found: Obstacle[]): void {
  const message = forbiddenNode(node, parent);
  if (message !== null) found.push({ node, message });
  for (const child of children(node)) walk(child, node, found);
}

function forbiddenNode(node: Node, parent: Node): string | null {
  if (isFunction(node) && node.async) return 'an asynchronous function continues after the parse has ended';
  if (isFunction(node) && node.generator) return 'the code of a generator runs without a call';
  if (node.type === 'CallExpression' && definesAccessor(node))
    return 'a property with an accessor runs code without a call';
  if (isClass(node) && node.superClass) return 'a class that extends another one runs the code of both';
  if (node.type === 'Super') return '"super" refers to a different object in each place';
  if (node.type === 'StaticBlock' || node.type === 'PropertyDefinition') {
    return 'a static block or a field of a class is code outside of its methods';
  }
  if ((node.type === 'Property' || node.type === 'MethodDefinition') && (node.kind === 'get' || node.kind === 'set')) {
    return 'a getter or setter runs without a call';
  }
  if (node.type === 'Identifier' && node.name === 'Symbol' && !makesSymbol(parent)) {
    return 'methods named by symbols run without a call';
  }
  if (node.type === 'CallExpression' && calledMethod(node) === 'bind')
    return 'bind() creates a function without a body';
  if (node.type === 'WithStatement') return 'inside a "with" statement, names have no fixed meaning';
  if (node.type === 'ImportExpression') return 'import() continues after the parse has ended';
  if (node.type === 'VariableDeclaration' && node.kind.endsWith('using')) return `"${node.kind}" calls unknown methods`;
  return null;
}

function makesSymbol(parent: Node): boolean {
  if (parent.type === 'CallExpression') return true;
  return parent.type === 'MemberExpression' && propertyName(parent.property, parent.computed) === 'for';
}

/** Methods that take property descriptors. */
const DESCRIBING: ReadonlySet<string | null> = new Set(['create', 'defineProperty', 'defineProperties']);

/** Returns `true` for `Object.defineProperty(object, name, { get() {} })` and the like. */
function definesAccessor(node: CallExpression): boolean {
  const name = calledMethod(node);
  if (name === '__defineGetter__' || name === '__defineSetter__') return true;
  return DESCRIBING.has(name) && node.arguments.some((argument) => holds(argument, isAccessor));
}

function calledMethod({ callee }: CallExpression): string | null {
  return callee.type === 'MemberExpression' ? propertyName(callee.property, callee.computed) : null;
}

function isAccessor(node: Node): boolean {
  const name = node.type === 'Property' ? propertyName(node.key, node.computed) : null;
  return name === 'get' || name === 'set';
}
