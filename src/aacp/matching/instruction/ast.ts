/** The tree of an instruction, as grammar/instruction.peggy reads it: words, marks, and what may be another value next time. */

interface Place {
  /** UTF-16 offsets, the end exclusive. */
  readonly start: number;
  readonly end: number;
}

export interface WordItem extends Place {
  readonly kind: 'word';
  readonly text: string;
}

export interface MarkItem extends Place {
  readonly kind: 'mark';
  /** One character, or `<=`, `>=`. */
  readonly text: string;
}

/** A day. `year` is null where none is said; `month` and `day` are, where the digits can be read in two ways. */
export interface DateItem extends Place {
  readonly kind: 'date';
  readonly year: number | null;
  readonly month: number | null;
  readonly day: number | null;
}

export interface MonthItem extends Place {
  readonly kind: 'month';
  readonly year: number | null;
  readonly month: number;
}

export interface QuarterItem extends Place {
  readonly kind: 'quarter';
  readonly year: number | null;
  readonly quarter: number;
}

export interface HalfItem extends Place {
  readonly kind: 'half';
  readonly year: number | null;
  readonly half: number;
}

/** A fiscal year, or a quarter of one. `last`: the second number of `2025/26`. */
export interface FiscalItem extends Place {
  readonly kind: 'fiscal';
  readonly year: number;
  readonly last: number | null;
  readonly quarter: number | null;
}

export interface WeekItem extends Place {
  readonly kind: 'week';
  readonly year: number | null;
  readonly week: number;
}

export interface YearItem extends Place {
  readonly kind: 'year';
  readonly year: number;
}

/** `last month`, `today`, `on Friday`: a time that depends on when it is said. */
export interface RelativeItem extends Place {
  readonly kind: 'relative';
  /** `last`, `this`, `next`, `end`, `on`, or the word itself: `today`. */
  readonly which: string;
  readonly unit: string;
}

export interface TimeItem extends Place {
  readonly kind: 'time';
  readonly hour: number;
  readonly minute: number;
  /** `am`, `pm` */
  readonly half: string | null;
}

export interface AmountItem extends Place {
  readonly kind: 'amount';
  /** The digits as they stand: `4,200.50`. */
  readonly number: string;
  /** `k`, `m`, `million`, ... */
  readonly scale: string | null;
  /** A code or a sign. */
  readonly currency: string;
}

export interface NumberItem extends Place {
  readonly kind: 'number';
  readonly number: string;
  readonly scale: string | null;
}

export interface CountedItem extends Place {
  readonly kind: 'percent' | 'ordinal';
  readonly number: string;
}

/** `net 30` */
export interface TermsItem extends Place {
  readonly kind: 'terms';
  readonly days: number;
}

export interface QuotedItem extends Place {
  readonly kind: 'quoted';
  /** What stands between the quotes. */
  readonly text: string;
}

/** What is told by its own text. */
export interface PlainItem extends Place {
  readonly kind: 'id' | 'handle' | 'agent' | 'email' | 'url';
}

/** Several that share a year or a month: `January to March 2026`, `1, 8 and 15 May`. */
export interface SpanItem {
  readonly kind: 'span';
  readonly items: readonly (DateItem | MonthItem | QuarterItem)[];
  /** What stands between them: one fewer than items. */
  readonly joints: readonly ('to' | 'and')[];
}

/** An item that is a value of its own. */
export type ValueItem =
  | DateItem
  | MonthItem
  | QuarterItem
  | HalfItem
  | FiscalItem
  | WeekItem
  | YearItem
  | RelativeItem
  | TimeItem
  | AmountItem
  | NumberItem
  | CountedItem
  | TermsItem
  | QuotedItem
  | PlainItem;

export type InstructionItem = WordItem | MarkItem | ValueItem | SpanItem;
