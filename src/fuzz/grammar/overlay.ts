/** Pieces of overlays: Peggy's notation made from words and ordered lists. */

/** A text as a literal. Nothing in it can end the literal: all but plain ASCII is written by code unit. */
export function literal(text: string): string {
  const units = text.replace(/[^ !#-[\]-~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `"${units}"`;
}

/**
 * One of several texts. Longer ones come first: a choice keeps the first alternative that matches, and must not settle for
 * `re` where `req` stands. What follows in the grammar must not be able to continue a text.
 */
export function oneOf(texts: Iterable<string>): string {
  const ordered = [...new Set(texts)].sort((a, b) => b.length - a.length);
  return `(${ordered.map(literal).join(' / ')})`;
}

/** An item of a list, as the rule that matches it. */
export interface ListItem {
  readonly rule: string;
  readonly optional: boolean;
}

export interface OrderedList {
  /** Matches one item at least. */
  readonly expression: string;
  /** Whether all items may be left out; the expression does not match that. */
  readonly canBeEmpty: boolean;
  /** Further rules, which the expression needs. */
  readonly rules: readonly string[];
}

/**
 * Items in their order, each at most once, with a separator between those that are there. The size of the rules grows with the
 * number of items, and no item must match at the start of what another one matches.
 *
 * @param name what the names of further rules end in
 * @param items one at least
 */
export function orderedList(name: string, items: readonly ListItem[], separator: string): OrderedList {
  const between = literal(separator);
  const following = ({ rule, optional }: ListItem): string =>
    optional ? `(${between} ${rule})?` : `${between} ${rule}`;
  const required = items.findIndex(({ optional }) => !optional);
  if (required >= 0) {
    // Before the first required item, each one that is there is followed by a separator; after it, preceded.
    const parts = items.map((item, index) => {
      if (index < required) return `(${item.rule} ${between})?`;
      return index === required ? item.rule : following(item);
    });
    return { expression: parts.join(' '), canBeEmpty: false, rules: [] };
  }
  // Any of them may come first, and the rest is the same whichever came before it.
  const after = (index: number): string => (index < items.length ? ` after_${index}_${name}` : '');
  const expression = items.map(({ rule }, index) => `${rule}${after(index + 1)}`).join(' / ');
  const rules = items
    .slice(1)
    .map((item, index) => `after_${index + 1}_${name} = ${following(item)}${after(index + 2)}`);
  return { expression: `(${expression})`, canBeEmpty: true, rules };
}
