/** The tree of an instruction, as grammar/instruction.peggy reads it: words, marks and values. */

/** A range in UTF-16 offsets, whose end is exclusive. */
interface Place {
  readonly start: number;
  readonly end: number;
}

type Value =
  /** A day. `year` is null if it is not stated; `month` and `day` are null if the digits are ambiguous. */
  | { readonly kind: 'date'; readonly year: number | null; readonly month: number | null; readonly day: number | null }
  | { readonly kind: 'month'; readonly year: number | null; readonly month: number }
  | { readonly kind: 'quarter'; readonly year: number | null; readonly quarter: number }
  | { readonly kind: 'half'; readonly year: number | null; readonly half: number }
  /** A fiscal year, or a quarter of one. `last` is the second number of `2025/26`. */
  | { readonly kind: 'fiscal'; readonly year: number; readonly last: number | null; readonly quarter: number | null }
  | { readonly kind: 'week'; readonly year: number | null; readonly week: number }
  | { readonly kind: 'year'; readonly year: number }
  /** `last month`, `on Friday`. `which` is `last`, `this`, `next`, `end` or `on`, or the word itself, such as `today`. */
  | { readonly kind: 'relative'; readonly which: string; readonly unit: string }
  /** A time of day. `half` is `am` or `pm`. */
  | { readonly kind: 'time'; readonly hour: number; readonly minute: number; readonly half: string | null }
  /** An amount. `number`: the digits as written, `4,200.50`. `scale`: `k`, `million`, ... `currency`: a code or a sign. */
  | { readonly kind: 'amount'; readonly number: string; readonly scale: string | null; readonly currency: string }
  | { readonly kind: 'number'; readonly number: string; readonly scale: string | null }
  | { readonly kind: 'percent' | 'ordinal'; readonly number: string }
  /** Terms of payment: `net 30`. */
  | { readonly kind: 'terms'; readonly days: number }
  /** A quotation. `text` is the text between the quotes. */
  | { readonly kind: 'quoted'; readonly text: string }
  | { readonly kind: 'id' | 'handle' | 'agent' | 'email' | 'url' };

/** An item that is a single value. */
export type ValueItem = Place & Value;

/** Several values that share a year or a month: `January to March 2026`, `1, 8 and 15 May`. */
export interface SpanItem {
  readonly kind: 'span';
  readonly items: readonly Extract<ValueItem, { readonly kind: 'date' | 'month' | 'quarter' }>[];
  /** The words between the items: one fewer than items. */
  readonly joints: readonly ('to' | 'and')[];
}

/** A word; or a mark, which is one character, `<=` or `>=`. */
type TextItem = Place &
  ({ readonly kind: 'word'; readonly text: string } | { readonly kind: 'mark'; readonly text: string });

export type InstructionItem = TextItem | ValueItem | SpanItem;
