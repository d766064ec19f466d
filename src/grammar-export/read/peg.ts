import { choice, EMPTY, type Kind, type Pattern, repeat, sequence } from '../context-free.js';

/**
 * Parsing expressions as Peggy reads them: alternatives in order, greedy repetitions. A pattern is one of these, too.
 */
export type Peg =
  | Kind<'literal'>
  | Kind<'set'>
  | Kind<'rule'>
  | { readonly kind: 'sequence'; readonly items: readonly Peg[] }
  | { readonly kind: 'choice'; readonly items: readonly Peg[] }
  | { readonly kind: 'repeat'; readonly item: Peg; readonly min: number; readonly max: number | null }
  | { readonly kind: 'lookahead'; readonly negative: boolean; readonly item: Peg }
  /** A condition in the language of the parser, which nothing is known of. */
  | { readonly kind: 'code' };

export type PegRules = ReadonlyMap<string, Peg>;

export function pegPartsOf(peg: Peg): readonly Peg[] {
  if (peg.kind === 'repeat' || peg.kind === 'lookahead') return [peg.item];
  return peg.kind === 'sequence' || peg.kind === 'choice' ? peg.items : [];
}

/** The rules that an expression refers to, those in lookaheads included. */
export function pegReferencesOf(peg: Peg): string[] {
  return peg.kind === 'rule' ? [peg.name] : pegPartsOf(peg).flatMap(pegReferencesOf);
}

export function withoutConditions(peg: Peg): Pattern {
  switch (peg.kind) {
    case 'sequence':
      return sequence(peg.items.map(withoutConditions));
    case 'choice':
      return choice(peg.items.map(withoutConditions));
    case 'repeat':
      return repeat(withoutConditions(peg.item), peg.min, peg.max);
    case 'lookahead':
    case 'code':
      return EMPTY;
    default:
      return peg;
  }
}

/** Whether an expression can match without taking a character; lookaheads and code are taken to hold. */
export function isPegNullable(peg: Peg, isRuleNullable: (name: string) => boolean): boolean {
  switch (peg.kind) {
    case 'literal':
      return peg.text === '';
    case 'set':
      return false;
    case 'rule':
      return isRuleNullable(peg.name);
    case 'sequence':
      return peg.items.every((item) => isPegNullable(item, isRuleNullable));
    case 'choice':
      return peg.items.some((item) => isPegNullable(item, isRuleNullable));
    case 'repeat':
      return peg.min === 0 || isPegNullable(peg.item, isRuleNullable);
    default:
      return true;
  }
}
