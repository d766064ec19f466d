/**
 * The syntax tree of an ABNF grammar (RFC 5234, RFC 7405): plain objects told apart by `kind`. The printer adds
 * parentheses.
 */

import type { Span } from '../../text/span.js';

export interface AbnfGrammar {
  readonly kind: 'grammar';
  readonly items: readonly AbnfItem[];
}

export type AbnfItem = AbnfRule | AbnfComment;

/** Comment lines that belong to no rule: a blank line stands behind them. */
export interface AbnfComment {
  readonly kind: 'comment';
  /** One or more, without the semicolon and the space behind it, and without blanks at their ends. */
  readonly lines: readonly string[];
}

/** A definition, or with `=/` more alternatives for a rule that was defined before (RFC 5234, section 3.3). */
export interface AbnfRule {
  readonly kind: 'rule';
  /** The comment lines right above it. */
  readonly comments: readonly string[];
  /** Names are the same whatever the case of their letters (section 2.1). */
  readonly name: string;
  readonly sign: '=' | '=/';
  /** One or more. */
  readonly alternatives: readonly AbnfAlternative[];
  /** Where the name stands. */
  readonly span?: Span;
}

/** An alternative of a whole rule, with the comments that stand in it or behind it. */
export interface AbnfAlternative {
  readonly element: AbnfElement;
  readonly comments: readonly string[];
}

export type AbnfElement =
  /** `( a / b )` within a rule; two or more items. */
  | { readonly kind: 'alternation'; readonly items: readonly AbnfElement[] }
  /** `a b`; two or more items. */
  | { readonly kind: 'concatenation'; readonly items: readonly AbnfElement[] }
  | AbnfRepetition
  /** `[ a ]`. */
  | { readonly kind: 'option'; readonly item: AbnfElement }
  | { readonly kind: 'reference'; readonly name: string; readonly span?: Span }
  /**
   * `"abc"`, or with `caseSensitive` `%s"abc"` (RFC 7405). The text is ASCII from the space to the tilde, without double
   * quotes; it may be empty.
   */
  | { readonly kind: 'string'; readonly text: string; readonly caseSensitive: boolean }
  /** `%x61-7A`: one character, by its code; `last` is included. */
  | { readonly kind: 'range'; readonly base: AbnfBase; readonly first: number; readonly last: number }
  /** `%x0D.0A`: one or more characters in a row, by their codes. */
  | { readonly kind: 'codes'; readonly base: AbnfBase; readonly codes: readonly number[] }
  /** `<what no grammar can say>`, in ASCII from the space to the tilde, without `>`. */
  | { readonly kind: 'prose'; readonly text: string };

/** `2*5a`, `*a`, `3a`. */
export interface AbnfRepetition {
  readonly kind: 'repetition';
  readonly min: number;
  /** `null` where there is no end to it. */
  readonly max: number | null;
  readonly item: AbnfElement;
}

/** How a number is written: `%b`, `%d` or `%x`. */
export type AbnfBase = 2 | 10 | 16;

export function partsOf(element: AbnfElement): readonly AbnfElement[] {
  if ('items' in element) return element.items;
  return 'item' in element ? [element.item] : [];
}

export function visitElement(element: AbnfElement, visit: (element: AbnfElement) => void): void {
  visit(element);
  for (const part of partsOf(element)) visitElement(part, visit);
}

export function visitRule(rule: AbnfRule, visit: (element: AbnfElement) => void): void {
  for (const { element } of rule.alternatives) visitElement(element, visit);
}

export function rulesOf({ items }: AbnfGrammar): readonly AbnfRule[] {
  return items.filter((item) => item.kind === 'rule');
}

/** What two names have in common that are the same: names disregard case (RFC 5234, section 2.1). */
export function foldedName(name: string): string {
  return name.toLowerCase();
}
