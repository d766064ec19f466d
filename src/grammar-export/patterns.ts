/** Patterns made, and asked about. */
import type { Pattern } from './context-free.js';

export type Kind<K extends Pattern['kind']> = Extract<Pattern, { readonly kind: K }>;

/** Matches the empty text and nothing else. */
export const EMPTY: Kind<'sequence'> = { kind: 'sequence', items: [] };

/** Matches no text at all. */
export const NOTHING: Kind<'choice'> = { kind: 'choice', items: [] };

export function isEmpty(pattern: Pattern): boolean {
  return pattern.kind === 'sequence' && pattern.items.length === 0;
}

export function isNothing(pattern: Pattern): boolean {
  return pattern.kind === 'choice' && pattern.items.length === 0;
}

/** One after the other, sequences within spelled out. */
export function sequence(items: readonly Pattern[]): Pattern {
  const flat = items.flatMap((item) => (item.kind === 'sequence' ? item.items : [item]));
  if (flat.some(isNothing)) return NOTHING;
  return flat.length === 1 ? flat[0]! : { kind: 'sequence', items: flat };
}

/** Any of them, choices within spelled out. The empty text among them makes the rest optional. */
export function choice(items: readonly Pattern[]): Pattern {
  const flat = items.flatMap((item) => (item.kind === 'choice' ? item.items : [item]));
  const rest = flat.filter((item) => !isEmpty(item));
  const some: Pattern = rest.length === 1 ? rest[0]! : { kind: 'choice', items: rest };
  return rest.length === flat.length ? some : optional(some);
}

export function repeat(item: Pattern, min: number, max: number | null): Pattern {
  if (max === 0 || isEmpty(item)) return EMPTY;
  if (isNothing(item)) return min === 0 ? EMPTY : NOTHING;
  return min === 1 && max === 1 ? item : { kind: 'repeat', item, min, max };
}

export function optional(item: Pattern): Pattern {
  return repeat(item, 0, 1);
}

/** The patterns that a pattern is made of. */
export function partsOf(pattern: Pattern): readonly Pattern[] {
  if (pattern.kind === 'repeat') return [pattern.item];
  return pattern.kind === 'sequence' || pattern.kind === 'choice' ? pattern.items : [];
}

/** Makes a pattern anew from the inside out; `change` gets each part with its own parts already changed. */
export function rebuilt(pattern: Pattern, change: (part: Pattern) => Pattern): Pattern {
  switch (pattern.kind) {
    case 'sequence':
      return change(sequence(pattern.items.map((item) => rebuilt(item, change))));
    case 'choice':
      return change(choice(pattern.items.map((item) => rebuilt(item, change))));
    case 'repeat':
      return change(repeat(rebuilt(pattern.item, change), pattern.min, pattern.max));
    default:
      return change(pattern);
  }
}

/** The names of the rules that a pattern refers to. */
export function referencesOf(pattern: Pattern): string[] {
  return pattern.kind === 'rule' ? [pattern.name] : partsOf(pattern).flatMap(referencesOf);
}

/** Whether a pattern can match the empty text, when that is known of the rules. */
export function isNullable(pattern: Pattern, isRuleNullable: (name: string) => boolean): boolean {
  switch (pattern.kind) {
    case 'literal':
      return pattern.text === '';
    case 'set':
      return false;
    case 'sequence':
      return pattern.items.every((item) => isNullable(item, isRuleNullable));
    case 'choice':
      return pattern.items.some((item) => isNullable(item, isRuleNullable));
    case 'repeat':
      return pattern.min === 0 || isNullable(pattern.item, isRuleNullable);
    case 'rule':
      return isRuleNullable(pattern.name);
  }
}
