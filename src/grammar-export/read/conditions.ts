/** Conditions in the code of a grammar, which no context-free grammar can say: told to the reader instead. */
import type { ast } from 'peggy';
import type { Approximation } from '../context-free.js';

const EXCERPT = 60;

/** An action that calls one of these refuses the text, as a predicate would. */
const REFUSING = /\b(?:error|expected)\s*\(|\bthrow\b/;

/** The note for a predicate that is left out. */
export function leftOut(rule: string, node: ast.SemanticPredicate): Approximation {
  const sign = node.type === 'semantic_and' ? '&' : '!';
  return {
    code: 'predicate',
    rule,
    message: `the condition ${sign}{${excerptOf(node.code)}} in line ${node.location.start.line} is not checked`,
  };
}

/** The note for an action that may refuse what was matched; null where its code shows no sign of it. */
export function refusing(rule: string, node: ast.Action): Approximation | null {
  if (!REFUSING.test(node.code)) return null;
  return {
    code: 'predicate',
    rule,
    message: `what the action {${excerptOf(node.code)}} in line ${node.location.start.line} refuses is accepted`,
  };
}

function excerptOf(code: string): string {
  const line = code.replace(/\s+/g, ' ').trim();
  return line.length > EXCERPT ? ` ${line.slice(0, EXCERPT - 3)}... ` : ` ${line} `;
}
