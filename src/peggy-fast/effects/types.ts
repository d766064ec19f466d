/** Removes the types of TypeScript from the code of a grammar. */
import { tsPlugin } from '@sveltejs/acorn-typescript';
import { Parser } from 'acorn';
import { parseBody } from './scopes.js';
import { children, type Node } from './syntax.js';

const TypeScript = Parser.extend(tsPlugin());

/**
 * Returns the code between the braces of an action or an initializer as JavaScript: with blanks in place of types, so that
 * all else keeps its position. Code that is neither JavaScript nor TypeScript, or whose types mean something when it runs,
 * as enumerations do, is returned unchanged.
 */
export function javascriptOf(code: string, parse: (code: string) => unknown = parseBody): string {
  if (isValid(code, parse)) return code;
  const options = { ecmaVersion: 'latest', allowReturnOutsideFunction: true } as const;
  for (const sourceType of ['script', 'module'] as const) {
    try {
      const ranges: [start: number, end: number][] = [];
      // The plugin requires locations.
      collect(TypeScript.parse(code, { ...options, sourceType, locations: true }), code, ranges);
      const stripped = ranges.reduce((text, [start, end]) => blanked(text, start, end), code);
      if (isValid(stripped, parse)) return stripped;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return code;
}

function isValid(code: string, parse: (code: string) => unknown): boolean {
  try {
    parse(code);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

function blanked(code: string, start: number, end: number): string {
  return code.slice(0, start) + code.slice(start, end).replace(/[^\n\r]/g, ' ') + code.slice(end);
}

/** The properties that the plugin for TypeScript adds to the nodes of acorn. */
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
}

/** Nodes that only exist in types. */
const TYPES: ReadonlySet<string> = new Set([
  ...['TSTypeAnnotation', 'TSTypeParameterDeclaration', 'TSTypeParameterInstantiation'],
  ...['TSInterfaceDeclaration', 'TSTypeAliasDeclaration', 'TSDeclareFunction'],
]);

/** Expressions with a type before or after them. */
const CASTS: ReadonlySet<string> = new Set([
  'TSAsExpression',
  'TSSatisfiesExpression',
  'TSNonNullExpression',
  'TSTypeAssertion',
]);

/** Collects the ranges to remove. What is left over is not JavaScript. */
function collect(node: Node, code: string, ranges: [start: number, end: number][]): void {
  const { type, start, end, expression, optional, declare, importKind, exportKind, name } = node as Typed;
  if (TYPES.has(type) || declare === true || importKind === 'type' || exportKind === 'type') {
    ranges.push([start, end]);
    return;
  }
  if (CASTS.has(type) && expression !== undefined) ranges.push([start, expression.start], [expression.end, end]);
  // The question mark of an optional parameter is part of its name.
  if (type === 'Identifier' && optional === true) ranges.push([start + String(name).length, end]);
  for (const child of children(node)) collect(child, code, ranges);
}
