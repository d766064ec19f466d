/** Matches an expression of a grammar against a text without running its code. The generator checks lookaheads with it. */

import type { ast } from 'peggy';
import { characterAt, holds, rangesOf } from '../grammar/classes.js';
import { boundsOf, type Expression, rulesByName } from '../grammar/expressions.js';

/** The expression does not match. */
export const FAILS = -1;
/** The text is too short to decide, or deciding would take too long. */
export const UNKNOWN = -2;

/** The maximum number of steps of one match. A lookahead that needs more is left undecided. */
const MAX_STEPS = 5_000;

/** Returns the end of the match, {@link FAILS} or {@link UNKNOWN}. A match that depends on code is unknown. */
type Match = (node: Expression, text: string, at: number) => number;

/** @param onSteps - called with the number of steps of each match */
export function matcherOf(grammar: ast.Grammar, onSteps: (steps: number) => void = () => undefined): Match {
  const rules = rulesByName(grammar);
  let steps = 0;

  const match: Match = (node, text, at) => {
    if (++steps > MAX_STEPS) return UNKNOWN;
    switch (node.type) {
      case 'choice':
        for (const alternative of node.alternatives) {
          const end = match(alternative, text, at);
          if (end !== FAILS) return end;
        }
        return FAILS;
      case 'sequence': {
        let end = at;
        for (const element of node.elements) {
          end = match(element, text, end);
          if (end < 0) return end;
        }
        return end;
      }
      case 'optional':
      case 'zero_or_more':
      case 'one_or_more':
      case 'repeated':
        return repeat(node, text, at);
      case 'simple_and': {
        const end = match(node.expression, text, at);
        return end < 0 ? end : at;
      }
      case 'simple_not': {
        const end = match(node.expression, text, at);
        if (end === UNKNOWN) return UNKNOWN;
        return end === FAILS ? at : FAILS;
      }
      case 'rule_ref': {
        const rule = rules.get(node.name);
        return rule === undefined ? UNKNOWN : match(rule.expression, text, at);
      }
      case 'literal':
        return literal(node, text, at);
      case 'class':
      case 'any': {
        const character = characterAt(node, text, at);
        if (character === undefined) return UNKNOWN;
        return holds(rangesOf(node), character) ? at + (character > 0xffff ? 2 : 1) : FAILS;
      }
      case 'semantic_and':
      case 'semantic_not':
      case 'library_ref':
        // Only the parser can decide.
        return UNKNOWN;
      default:
        return match(node.expression, text, at);
    }
  };

  const repeat = (node: Expression & { expression: Expression }, text: string, at: number): number => {
    const { min, max } = boundsOf(node)!;
    const delimiter = node.type === 'repeated' ? node.delimiter : null;
    let end = at;
    for (let count = 0; max === null || count < max; count++) {
      let next = end;
      if (count > 0 && delimiter !== null) next = match(delimiter, text, end);
      if (next >= 0) next = match(node.expression, text, next);
      if (next === UNKNOWN) return UNKNOWN;
      if (next === FAILS) return count < min ? FAILS : end;
      if (next === end && count >= min) return end;
      end = next;
    }
    return end;
  };

  return (node, text, at) => {
    steps = 0;
    const end = match(node, text, at);
    onSteps(steps);
    return end;
  };
}

/** A text that ends within the literal may still match it. */
function literal({ value, ignoreCase }: ast.Literal, text: string, at: number): number {
  const expected = ignoreCase ? value.toLowerCase() : value;
  const actual = text.slice(at, at + expected.length);
  const folded = ignoreCase ? actual.toLowerCase() : actual;
  if (expected === folded) return at + expected.length;
  // More text may change the lower case of a capital sigma at the end.
  const isBeginning = expected.startsWith(folded) || (ignoreCase && actual.endsWith('\u03a3'));
  return actual.length < expected.length && isBeginning ? UNKNOWN : FAILS;
}
