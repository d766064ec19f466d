/** The effects of the code of a grammar, as far as a scanner needs to know them. */
import type { Program } from 'acorn';
import { CALLING } from './built-ins.js';
import { POSITION_FUNCTIONS, Purity } from './purity.js';
import { parseBody, parseModule, type Reference, resolveScopes } from './scopes.js';
import {
  children,
  isFunction,
  type LocationRange,
  locate,
  type Node,
  nodesIn,
  propertyName,
  type Snippet,
} from './syntax.js';
import type { Unit } from './units.js';

/** The code of an action, of a predicate, or of the function that computes the bound of a repetition. */
export interface Block extends Snippet {
  readonly kind: 'action' | 'predicate' | 'bound';
  readonly parameters: readonly string[];
}

export interface GrammarCode<B extends Block> {
  /** `{{ ... }}`: runs once, with the module. */
  readonly topLevel: readonly Snippet[];
  /** `{ ... }`: runs at the start of every parse. */
  readonly perParse: readonly Snippet[];
  readonly blocks: readonly B[];
  /** Names of functions and objects that are assumed to have no effects. */
  readonly trusted?: readonly string[];
}

/** The effects of running a block, other than its value. */
export interface Effects {
  /**
   * Runs whenever Peggy runs it. Other actions may be omitted if their value is not used: they have no effect, and do not throw
   * deliberately. Other predicates are constant: they have the same value whenever they run at the same place.
   */
  readonly mustRun: boolean;
  /** Has a value that the second scan must know: it is neither an action, nor constant, nor a predicate that always holds. */
  readonly decides: boolean;
  /** Its value may run code without a call, such as an accessor. */
  readonly isOdd: boolean;
  /** Functions of the grammar that it calls use text(), range(), offset(), location(), error() or expected(). */
  readonly callsForPosition: boolean;
}

export interface Analysis<B extends Block> {
  readonly effects: ReadonlyMap<B, Effects>;
  /** `true` if code only reads members of `options`. */
  readonly keepsOptions: boolean;
  readonly programs: ReadonlyMap<B, Program>;
  readonly initializers: readonly Program[];
}

/** The error thrown for code that a scanner cannot contain. */
export class Obstacle extends Error {
  readonly location: LocationRange;

  constructor(message: string, location: LocationRange) {
    super(message);
    this.location = location;
  }
}

/** @throws Obstacle if a scanner cannot contain the code */
export function analyzeEffects<B extends Block>({
  topLevel,
  perParse,
  blocks,
  trusted = [],
}: GrammarCode<B>): Analysis<B> {
  const units = new Map<B, Unit>();
  const initializers: Unit[] = [];
  for (const snippet of topLevel)
    initializers.push({ level: 'module', program: parsed(snippet, parseModule), labels: new Set() });
  for (const snippet of perParse)
    initializers.push({ level: 'parse', program: parsed(snippet, parseBody), labels: new Set() });
  for (const block of blocks)
    units.set(block, { level: 'block', program: parsed(block, parseBody), labels: new Set(block.parameters) });
  const purity = new Purity([...initializers, ...units.values()], new Set(trusted));
  const asksForPosition = positionUsers(initializers, [...units.values()]);
  return {
    effects: new Map(
      [...units].map(([block, unit]) => {
        const isFree =
          block.kind === 'action' ? purity.isPure(unit) : block.kind === 'predicate' && purity.isConstant(unit);
        const decides =
          !isFree && (block.kind === 'bound' || (block.kind === 'predicate' && !purity.alwaysHolds(unit)));
        return [
          block,
          { mustRun: !isFree, decides, isOdd: purity.objects.areOdd, callsForPosition: asksForPosition(unit) },
        ];
      }),
    ),
    keepsOptions: purity.objects.keepOptions,
    programs: new Map([...units].map(([block, { program }]) => [block, program])),
    initializers: initializers.map(({ program }) => program),
  };
}

function parsed(snippet: Snippet, parse: (code: string) => Program): Program {
  let program: Program;
  try {
    program = parse(snippet.code);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const at = 'pos' in error && typeof error.pos === 'number' ? error.pos : 0;
    const reason = error.message.replace(/ \([0-9:]+\)$/, '');
    throw new Obstacle(
      `The code is not valid JavaScript: ${reason}`,
      locate(snippet, at, Math.min(at + 1, snippet.code.length)),
    );
  }
  for (const { node, name } of resolveScopes(program).free) {
    const message = forbiddenName(name, parse === parseModule);
    if (message !== null) throw new Obstacle(message, locate(snippet, node.start, node.end));
  }
  for (const node of nodesIn(program)) {
    const message = parse === parseModule ? null : forbiddenNode(node);
    if (message !== null) throw new Obstacle(message, locate(snippet, node.start, node.end));
  }
  return program;
}

function forbiddenName(name: string, isTopLevel: boolean): string | null {
  if (name.startsWith('peg$')) return `"${name}" is internal to the parser that Peggy generates`;
  if (isTopLevel) return null;
  if (name === 'eval') return 'eval() may refer to any name';
  if (name === 'arguments') return '"arguments" belongs to a function that Peggy generates';
  if (name === 'await' || name === 'yield') return `"${name}" has no fixed meaning here`;
  return null;
}

/** Code that would run after the parse has ended, when its variables belong to another one, or whose names have no fixed meaning. */
function forbiddenNode(node: Node): string | null {
  if (isFunction(node) && node.async) return 'an asynchronous function continues after the parse has ended';
  if (node.type === 'ImportExpression') return 'import() continues after the parse has ended';
  if (node.type === 'WithStatement') return 'inside a "with" statement, names have no fixed meaning';
  if (node.type === 'AssignmentExpression' || node.type === 'UpdateExpression') {
    const target = node.type === 'AssignmentExpression' ? node.left : node.argument;
    if (target.type === 'Identifier' && target.name === 'input') return 'the grammar changes the variable "input"';
  }
  return null;
}

/** Returns a function that finds out if code may run functions of the initializers that use the position. */
function positionUsers(initializers: readonly Unit[], blocks: readonly Unit[]): (unit: Unit) => boolean {
  const statements = initializers.flatMap(({ level, program }) => (level === 'parse' ? children(program) : []));
  const users = new Set<string>(POSITION_FUNCTIONS);
  const scopes = new Map(
    statements.map((one) => [one, { ...resolveScopes(blockOf(one)), free: mentionsIn(blockOf(one)) }]),
  );
  for (let before = -1; before !== users.size; ) {
    before = users.size;
    for (const { free, outermost } of scopes.values()) {
      if (free.some(({ name }) => users.has(name))) for (const name of outermost.keys()) users.add(name);
    }
  }
  const isUser = ({ name }: Reference): boolean => users.has(name);
  // If such a function is stored, or called by one that may be, any code may run it.
  const isHandedOn =
    statements.some((one) => passesOn(one, scopes.get(one)!.free.filter(isUser), declaresFunctions(one) ? 1 : 0)) ||
    blocks.some(({ program, labels }) => {
      const mentions = mentionsIn(program).filter((one) => isUser(one) && !labels.has(one.name));
      return passesOn(program, mentions, 0);
    });
  for (const name of POSITION_FUNCTIONS) users.delete(name);
  return ({ program, labels }) => isHandedOn || mentionsIn(program).some((one) => isUser(one) && !labels.has(one.name));
}

/** The names that code mentions, except for error() with a location of its own. */
function mentionsIn(root: Node): readonly Reference[] {
  const placed = new Set<Node>();
  for (const node of nodesIn(root)) {
    if (node.type !== 'CallExpression' || node.callee.type !== 'Identifier' || node.callee.name !== 'error') continue;
    const hasPlace = node.arguments.length > 1 && node.arguments.every(({ type }) => type !== 'SpreadElement');
    if (hasPlace) placed.add(node.callee);
  }
  return resolveScopes(root).free.filter(({ node }) => !placed.has(node));
}

/** Returns `true` if code can reach the functions of a statement only by their names. */
function declaresFunctions(statement: Node): boolean {
  if (statement.type !== 'VariableDeclaration') return statement.type === 'FunctionDeclaration';
  return statement.declarations.every(({ init }) => init && isFunction(init));
}

function blockOf(statement: Node): Node {
  return { type: 'BlockStatement', body: [statement], start: statement.start, end: statement.end } as Node;
}

/** Returns `true` if a mention is not a call, or is inside of more functions than given, other than callbacks that run at once. */
function passesOn(root: Node, mentions: readonly Reference[], depth: number): boolean {
  const mentioned = new Set<Node>(mentions.map(({ node }) => node));
  const visit = (node: Node, parent: Node | null, left: number): boolean => {
    if (mentioned.has(node)) return left < 0 || parent?.type !== 'CallExpression' || parent.callee !== node;
    const inside = isFunction(node) && !isCallback(node, parent) ? left - 1 : left;
    return children(node).some((child) => visit(child, node, inside));
  };
  return mentioned.size > 0 && visit(root, null, depth);
}

function isCallback(node: Node, parent: Node | null): boolean {
  if (parent?.type !== 'CallExpression' || parent.callee === node || parent.callee.type !== 'MemberExpression')
    return false;
  return CALLING.has(propertyName(parent.callee.property, parent.callee.computed) ?? '');
}
