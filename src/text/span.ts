/** A stretch of text in UTF-16 code units: `start` is the first unit, `end` the first unit after it. */
export interface Span {
  readonly start: number;
  readonly end: number;
}
