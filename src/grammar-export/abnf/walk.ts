/** Ways through the tree of an ABNF grammar. */
import type { AbnfElement, AbnfGrammar, AbnfRule } from './ast.js';

/** The parts of an element, in their order. */
export function partsOf(element: AbnfElement): readonly AbnfElement[] {
  switch (element.kind) {
    case 'alternation':
    case 'concatenation':
      return element.items;
    case 'repetition':
    case 'option':
      return [element.item];
    default:
      return [];
  }
}

/** Visits an element and all that it is made of, from the outside in. */
export function visitElement(element: AbnfElement, visit: (element: AbnfElement) => void): void {
  visit(element);
  for (const part of partsOf(element)) visitElement(part, visit);
}

/** Visits all elements of a rule. */
export function visitRule(rule: AbnfRule, visit: (element: AbnfElement) => void): void {
  for (const { element } of rule.alternatives) visitElement(element, visit);
}

/** The rules of a grammar, in their order; those with `=/` are by themselves. */
export function rulesOf({ items }: AbnfGrammar): readonly AbnfRule[] {
  return items.filter((item) => item.kind === 'rule');
}

/** What two names have in common that are the same: names disregard case (RFC 5234, section 2.1). */
export function foldedName(name: string): string {
  return name.toLowerCase();
}
