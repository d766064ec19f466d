/** Which disagreements have the same cause, as far as their smallest texts tell. */
import { visitExpression } from '../grammar/expressions.js';
import type { Grammar } from '../grammar/grammar.js';

/** What is alike in texts that differ only in their names and numbers. */
export function skeletonOf(grammar: Grammar): (text: string) => string {
  const literals = new Set<string>();
  for (const { expression } of grammar.ast.rules) {
    visitExpression(expression, (node) => {
      // Words are names like others.
      if (node.type === 'literal') for (const unit of node.value) if (!/[A-Za-z0-9]/.test(unit)) literals.add(unit);
    });
  }
  return (text) =>
    [...text]
      .map((unit) => kindOf(unit, literals))
      .join('')
      .replace(/[a0]*a[a0]*/g, 'a')
      .replace(/(0|\.|\^|U)\1+/g, '$1');
}

function kindOf(unit: string, literals: ReadonlySet<string>): string {
  return literals.has(unit) && unit !== '_' ? unit : characterKind(unit);
}

/**
 * What readers tell apart: letters (`a`), digits (`0`), other visible characters (`.`), the space, line feeds, other controls (`^`)
 * and all beyond ASCII (`U`). The end of a text stays empty.
 */
export function characterKind(unit: string): string {
  if (/[A-Za-z_]/.test(unit)) return 'a';
  if (/[0-9]/.test(unit)) return '0';
  if (unit === '' || unit === ' ' || unit === '\n') return unit;
  if (unit < ' ' || unit === '\x7f') return '^';
  return unit < '\x7f' ? '.' : 'U';
}
