import { type Options, type Program, parse } from 'acorn';
import type { Node } from './nodes.js';
import { type Reference, resolveScopes } from './scopes.js';

export type { Reference } from './scopes.js';

/**
 * Parses the code of an action, a predicate or a per-parse initializer, as it stands between its braces.
 *
 * @returns the statements, with offsets into `code`.
 * @throws SyntaxError, with `pos`, when the code is no JavaScript that a function may hold.
 */
export function parseBody(code: string): Program {
  return parseAs(code, { sourceType: 'script', allowReturnOutsideFunction: true });
}

/** Parses the code of a top-level initializer, which may import and export. Throws as {@link parseBody} does. */
export function parseModule(code: string): Program {
  // Module code that is not strict runs only in parsers of the format "commonjs", which cannot import.
  try {
    return parseAs(code, { sourceType: 'module', allowAwaitOutsideFunction: false });
  } catch (error) {
    try {
      return parseAs(code, { sourceType: 'script' });
    } catch {
      throw error;
    }
  }
}

/**
 * Every identifier in and below a node that refers to something declared outside of it, in source order. Assignment
 * targets count; names of properties and labels, and `arguments` of functions inside, do not.
 */
export function freeReferences(node: Node): readonly Reference[] {
  return resolveScopes(node).free;
}

function parseAs(code: string, options: Omit<Options, 'ecmaVersion'>): Program {
  return parse(code, {
    ...options,
    ecmaVersion: 'latest',
    allowHashBang: false,
    onComment: (isBlock, _text, start) => {
      // Scripts take `<!--` and `-->` for comments, modules do not: what the code means would depend on the format.
      if (isBlock || code.startsWith('//', start)) return;
      throw Object.assign(new SyntaxError(`HTML-like comment (${start})`), { pos: start });
    },
  });
}
