/** Lifts the per-parse initializer out of the parse function: functions are created once, variables are reset for each parse. */
import type { Program, VariableDeclaration } from 'acorn';
import { charCodeEdits } from './blocks.js';
import { POSITION_FUNCTIONS } from './effects/purity.js';
import { eachOfPattern, freeReferences, parseBody, resolveScopes } from './effects/scopes.js';
import { children, holds, isFunction, type Node } from './effects/syntax.js';
import { Unsupported } from './ir.js';
import { edited } from './javascript.js';
import { clashingName, INPUT } from './names.js';

export interface Initializer {
  readonly declarations: string;
  readonly statements: string;
  readonly references: readonly string[];
}

/**
 * @param valued - names that the grammar uses other than by calling them: such a function may get properties, and is created for each parse
 * @throws Unsupported if the code cannot be lifted
 */
export function liftInitializer(code: string, valued: ReadonlySet<string> = new Set()): Initializer {
  const program = parseBody(code);
  const clash = clashingName(program);
  if (clash !== undefined) throw new Unsupported(`the name "${clash}" is reserved for generated code`);
  checkNames(program);
  const references = freeReferences(program);
  const edits = charCodeEdits(program, references);
  const textFrom = (start: number, end: number): string => edited(code, edits, start, end);

  const declarations: string[] = [];
  const functions: string[] = [];
  const statements: string[] = [];
  let from = 0;
  for (const statement of program.body) {
    // Comments belong to the statement after them.
    const before = code.slice(from, statement.start).trim();
    const comment = before === '' ? '' : `${before}\n`;
    from = statement.end;
    const text = textFrom(statement.start, statement.end);
    if (statement.type === 'FunctionDeclaration') {
      const { id } = statement;
      if (!valued.has(id.name)) declarations.push(comment + text);
      else {
        declarations.push(`${comment}var ${id.name};`);
        functions.push(`${id.name} = ${textFrom(statement.start, id.start)}${textFrom(id.end, statement.end)};`);
      }
    } else if (statement.type === 'ClassDeclaration') {
      declarations.push(`${comment}var ${statement.id.name};`);
      statements.push(`${statement.id.name} = ${text};`);
    } else if (statement.type === 'VariableDeclaration') {
      declarations.push(`${comment}var ${boundNames(statement).join(', ')};`);
      statements.push(...assignments(statement, textFrom));
    } else statements.push(comment + text);
  }
  return {
    declarations: declarations.join('\n\n'),
    statements: [...functions, ...statements].join('\n'),
    references: references.map(({ name }) => name),
  };
}

/** The names outside of some code that it mentions other than by calling them. */
export function valuedNames(program: Program, labels: ReadonlySet<string>): readonly string[] {
  const { bound, outermost } = resolveScopes(program);
  const names: string[] = [];
  const visit = (node: Node, parent: Node | null): void => {
    if (node.type === 'Identifier' && !isCalled(node, parent) && !isName(node, parent)) {
      const binding = bound.get(node);
      if (!labels.has(node.name) && (binding === undefined || outermost.get(node.name) === binding))
        names.push(node.name);
    }
    for (const child of children(node)) visit(child, node);
  };
  visit(program, null);
  return names;
}

function isCalled(node: Node, parent: Node | null): boolean {
  return (parent?.type === 'CallExpression' || parent?.type === 'NewExpression') && parent.callee === node;
}

/** Returns `true` for the name of a declaration or of a property. */
function isName(node: Node, parent: Node | null): boolean {
  if (parent?.type === 'FunctionDeclaration') return parent.id === node;
  if (parent?.type === 'MemberExpression') return parent.property === node && !parent.computed;
  return (
    (parent?.type === 'Property' || parent?.type === 'MethodDefinition') &&
    parent.key === node &&
    !parent.computed &&
    parent.value !== node
  );
}

function assignments(declaration: VariableDeclaration, textFrom: (start: number, end: number) => string): string[] {
  return declaration.declarations.map(({ id, init }) => {
    const target = textFrom(id.start, id.end);
    // A value from the previous parse must not be visible.
    if (!init) return `${target} = undefined;`;
    const value = textFrom(init.start, init.end);
    return id.type === 'ObjectPattern' ? `(${target} = ${value});` : `${target} = ${value};`;
  });
}

function boundNames(declaration: VariableDeclaration): string[] {
  const names: string[] = [];
  for (const { id } of declaration.declarations) eachOfPattern(id, { name: ({ name }) => names.push(name) });
  return names;
}

/** The globals that the code around a scanner uses. A variable of the same name would shadow them. */
export const GLOBALS = [
  ...['Array', 'DataView', 'Error', 'Int32Array', 'Math', 'Object', 'String', 'TextEncoder', 'TypeError', 'Uint8Array'],
  ...['Set', 'SyntaxError', 'globalThis'],
];

/** Rejects `var` inside a block, which would lose its scope, and names that Peggy defines. */
function checkNames(program: Program): void {
  const declared = new Set<string>();
  for (const statement of program.body) {
    if (statement.type === 'FunctionDeclaration') declared.add(statement.id.name);
    else if (statement.type !== 'VariableDeclaration') {
      if (holds(statement, isVar, isFunction)) throw new Unsupported('an initializer with "var" inside a block');
      if (holds(statement, ({ type }) => type === 'ReturnStatement', isFunction))
        throw new Unsupported('an initializer that returns');
    } else {
      for (const name of boundNames(statement)) {
        if (declared.has(name)) throw new Unsupported(`an initializer that declares "${name}" twice`);
        declared.add(name);
      }
    }
  }
  for (const name of [INPUT, 'options', ...POSITION_FUNCTIONS, ...GLOBALS]) {
    if (declared.has(name)) throw new Unsupported(`an initializer that declares "${name}" itself`);
  }
}

function isVar(node: Node): boolean {
  return node.type === 'VariableDeclaration' && node.kind === 'var';
}
