/** What the detectors have in common. */

/** A part of a value that looks like something sensitive. */
export interface Sensitive {
  /** With its article: `an e-mail address`. */
  readonly kind: string;
  /** UTF-16 offsets in the value. */
  readonly start: number;
  readonly end: number;
}

/** Finds some kinds of sensitive parts in the value of a key (in lower case; empty for a field without one). */
export type Detector = (value: string, key: string) => readonly Sensitive[];

/** All matches of a global pattern, as parts of one kind. */
export function matches(value: string, pattern: RegExp, kind: string): readonly Sensitive[] {
  return Array.from(value.matchAll(pattern), (match) => ({
    kind,
    start: match.index,
    end: match.index + match[0].length,
  }));
}
