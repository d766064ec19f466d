/** The syntax tree of an ABNF grammar (RFC 5234, RFC 7405): plain objects, distinguished by `kind`. The printer adds parentheses. */

import type { Span } from '../../text/span.js';

/** An ABNF grammar. */
export interface AbnfGrammar {
  readonly kind: 'grammar';
  /** The rules and comments, in order. */
  readonly items: readonly AbnfItem[];
}

/** An item of a grammar. */
export type AbnfItem = AbnfRule | AbnfComment;

/** Comment lines that do not belong to a rule, because a blank line follows them. */
export interface AbnfComment {
  readonly kind: 'comment';
  /** One or more lines, without the semicolon, the space after it and trailing white space. */
  readonly lines: readonly string[];
}

/** A definition; with the sign `=/`, additional alternatives for a rule that is defined before (RFC 5234, section 3.3). */
export interface AbnfRule {
  readonly kind: 'rule';
  /** The comment lines directly above the rule. */
  readonly comments: readonly string[];
  /** The name. Names are case-insensitive (RFC 5234, section 2.1). */
  readonly name: string;
  /** `=` for a definition, `=/` for additional alternatives. */
  readonly sign: '=' | '=/';
  /** One or more alternatives. */
  readonly alternatives: readonly AbnfAlternative[];
  /** The place of the name; present if the grammar was parsed with spans. */
  readonly span?: Span;
}

/** An alternative of a rule. */
export interface AbnfAlternative {
  /** The alternative. */
  readonly element: AbnfElement;
  /** The comments inside of it or after it. */
  readonly comments: readonly string[];
}

/** An element of a rule, distinguished by `kind`. */
export type AbnfElement =
  | AbnfAlternation
  | AbnfConcatenation
  | AbnfRepetition
  | AbnfOption
  | AbnfReference
  | AbnfString
  | AbnfRange
  | AbnfCodes
  | AbnfProse;

/** Alternatives in parentheses within a rule: `( a / b )`. */
export interface AbnfAlternation {
  readonly kind: 'alternation';
  /** Two or more alternatives. */
  readonly items: readonly AbnfElement[];
}

/** A sequence: `a b`. */
export interface AbnfConcatenation {
  readonly kind: 'concatenation';
  /** Two or more items. */
  readonly items: readonly AbnfElement[];
}

/** A repetition: `2*5a`, `*a`, `3a`. */
export interface AbnfRepetition {
  readonly kind: 'repetition';
  /** The least number of repetitions. */
  readonly min: number;
  /** The greatest number of repetitions; null if there is no upper bound. */
  readonly max: number | null;
  /** The repeated element. */
  readonly item: AbnfElement;
}

/** An optional element: `[ a ]`. */
export interface AbnfOption {
  readonly kind: 'option';
  /** The optional element. */
  readonly item: AbnfElement;
}

/** A reference to a rule. */
export interface AbnfReference {
  readonly kind: 'reference';
  /** The name of the rule. */
  readonly name: string;
  /** The place of the reference; present if the grammar was parsed with spans. */
  readonly span?: Span;
}

/** A string: `"abc"`, or `%s"abc"` if it is case-sensitive (RFC 7405). */
export interface AbnfString {
  readonly kind: 'string';
  /** ASCII from the space to the tilde, without double quotes. May be empty. */
  readonly text: string;
  /** If true, the string matches only in the given case. */
  readonly caseSensitive: boolean;
}

/** One character of a range: `%x61-7A`. */
export interface AbnfRange {
  readonly kind: 'range';
  /** The base that the codes are written in. */
  readonly base: AbnfBase;
  /** The code of the first character. */
  readonly first: number;
  /** The code of the last character, inclusive. */
  readonly last: number;
}

/** One or more characters in a row, by their codes: `%x0D.0A`. */
export interface AbnfCodes {
  readonly kind: 'codes';
  /** The base that the codes are written in. */
  readonly base: AbnfBase;
  /** One or more codes. */
  readonly codes: readonly number[];
}

/** A description in prose: `<a description for people>`. */
export interface AbnfProse {
  readonly kind: 'prose';
  /** ASCII from the space to the tilde, without `>`. */
  readonly text: string;
}

/** The base of numbers: `%b`, `%d` or `%x`. */
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

/** Folds a name, so that equal names are equal strings: names are case-insensitive (RFC 5234, section 2.1). */
export function foldedName(name: string): string {
  return name.toLowerCase();
}
