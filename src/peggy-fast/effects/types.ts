/** Removes the types of TypeScript from the code of a grammar. */
import { tsPlugin } from '@sveltejs/acorn-typescript';
import { Parser } from 'acorn';
import { Unsupported } from '../ir.js';
import { parseBody } from './scopes.js';
import { children, holds, type Node } from './syntax.js';

const TypeScript = Parser.extend(tsPlugin());

/**
 * Returns the code between the braces of an action or an initializer as JavaScript: with blanks in place of types, so that
 * all else keeps its position. Code that is neither JavaScript nor TypeScript, or whose types mean something when it runs,
 * as enumerations do, is returned unchanged.
 *
 * @throws Unsupported if the code has another meaning with blanks, or as JavaScript
 */
export function javascriptOf(code: string, parse: (code: string) => unknown = parseBody): string {
  if (isValid(code, parse)) {
    const isCall = ({ type }: Node): boolean => (type as string) === 'TSTypeParameterInstantiation';
    if (code.includes('<') && typeScriptOf(code).some((tree) => holds(tree, isCall))) {
      throw new Unsupported('code that is a call with types in TypeScript, but a comparison in JavaScript');
    }
    return code;
  }
  for (const tree of typeScriptOf(code)) {
    const edits: Edit[] = [];
    collect(tree, code, edits);
    const stripped = edits.reduce(blanked, code);
    if (isValid(stripped, parse)) return stripped;
  }
  return code;
}

/** The syntax tree of TypeScript as a script and as a module, if it is one. */
function typeScriptOf(code: string): readonly Node[] {
  return (['script', 'module'] as const).flatMap((sourceType) => {
    try {
      // The plugin requires locations. Without the parentheses as nodes, those around the operand of a cast are lost.
      return [TypeScript.parse(code, { ...OPTIONS, sourceType })];
    } catch (error) {
      if (error instanceof SyntaxError) return [];
      throw error;
    }
  });
}

const OPTIONS = {
  ecmaVersion: 'latest',
  allowReturnOutsideFunction: true,
  locations: true,
  preserveParens: true,
} as const;

function isValid(code: string, parse: (code: string) => unknown): boolean {
  try {
    parse(code);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** A range to replace by blanks, which may begin with a semicolon. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly first?: string;
}

function blanked(code: string, { start, end, first = '' }: Edit): string {
  const blanks = code.slice(start + first.length, end).replace(/[^\n\r\u2028\u2029]/g, ' ');
  return code.slice(0, start) + first + blanks + code.slice(end);
}

/** The properties that the plugin for TypeScript adds to the nodes of acorn, and those that they have in common. */
interface Typed {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly expression?: Node;
  readonly optional?: boolean;
  readonly declare?: boolean;
  readonly importKind?: string;
  readonly exportKind?: string;
  readonly name?: unknown;
  readonly typeParameters?: { readonly start: number; readonly end: number };
}

/** Types inside of expressions and declarations. */
const TYPES: ReadonlySet<string> = new Set([
  ...['TSTypeAnnotation', 'TSTypeParameterDeclaration', 'TSTypeParameterInstantiation'],
]);

/** Statements that only declare types. */
const STATEMENTS: ReadonlySet<string> = new Set([
  ...['TSInterfaceDeclaration', 'TSTypeAliasDeclaration', 'TSDeclareFunction'],
]);

/** Expressions with a type after them. */
const CASTS: ReadonlySet<string> = new Set(['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression']);

/** White space and comments. */
const GAP = /(?:\s|\/\/.*|\/\*[\s\S]*?\*\/)*/y;

/** Collects the ranges to blank. Code that they leave invalid has more than types. */
function collect(node: Node, code: string, edits: Edit[]): void {
  const { type, start, end, expression, optional, declare, importKind, exportKind, name, typeParameters } =
    node as Typed;
  if (STATEMENTS.has(type) || declare === true || importKind === 'type' || exportKind === 'type') {
    // The statement before it may lack its semicolon, because this one begins with a word.
    edits.push({ start, end, first: ';' });
    return;
  }
  if (TYPES.has(type)) {
    edits.push({ start, end });
    return;
  }
  if (type === 'TSTypeAssertion' && expression !== undefined) {
    refuseLineEnd(code.slice(start, expression.start));
    edits.push({ start, end: expression.start });
  } else if (CASTS.has(type) && expression !== undefined) {
    const gap = gapAt(code, end);
    // A type ends at the line, but its operand continues with these.
    if (type !== 'TSNonNullExpression' && '([`<'.includes(code[end + gap.length] ?? ' ')) refuseLineEnd(gap);
    edits.push({ start: expression.end, end });
  }
  if (type === 'ArrowFunctionExpression' && typeParameters?.start === start) {
    refuseLineEnd(code.slice(start, typeParameters.end) + gapAt(code, typeParameters.end));
  }
  // The question mark of an optional parameter is part of its name.
  if (type === 'Identifier' && optional === true) edits.push({ start: start + String(name).length, end });
  for (const child of children(node)) collect(child, code, edits);
}

function gapAt(code: string, at: number): string {
  GAP.lastIndex = at;
  return GAP.exec(code)![0];
}

function refuseLineEnd(gap: string): void {
  if (/[\n\r\u2028\u2029]/.test(gap)) throw new Unsupported('a line that ends after a type');
}
