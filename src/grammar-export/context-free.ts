/**
 * The form between a Peggy grammar and the languages of other engines: a context-free grammar over Unicode code points, with
 * neither order of alternatives, lookahead, nor code. What was lost on the way stands beside it.
 */

/** Code points from `first` to `last`, both included. */
export type CodePointRange = readonly [first: number, last: number];

export type Pattern =
  | { readonly kind: 'literal'; readonly text: string; readonly ignoreCase: boolean }
  /** One code point; the ranges are ascending and leave gaps between them. */
  | { readonly kind: 'set'; readonly ranges: readonly CodePointRange[] }
  /** With no items, the empty text. */
  | { readonly kind: 'sequence'; readonly items: readonly Pattern[] }
  /** Any of the items; with none, no text at all. */
  | { readonly kind: 'choice'; readonly items: readonly Pattern[] }
  /** `max` is null where there is no end to it. */
  | { readonly kind: 'repeat'; readonly item: Pattern; readonly min: number; readonly max: number | null }
  | { readonly kind: 'rule'; readonly name: string };

/** Why the exported language is larger than that of the grammar. */
export interface Approximation {
  /** Stable: what a program may go by. */
  readonly code: 'predicate' | 'lookahead' | 'order' | 'depth' | 'repetition' | 'surrogates' | 'case' | 'engine';
  /** The rule of the Peggy grammar. */
  readonly rule: string;
  /** One sentence for people. */
  readonly message: string;
}

export interface ContextFreeGrammar {
  readonly name: string;
  readonly startRule: string;
  /** In the order of the Peggy grammar. All that the start rule reaches, and nothing else. */
  readonly rules: ReadonlyMap<string, Pattern>;
  /** Empty where the language is exactly that of the grammar. */
  readonly approximations: readonly Approximation[];
}
