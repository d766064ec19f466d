/** Changes to a piece of source text by offsets, as a parser of its language reports them. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The part of `code` from `start` to `end` with the edits that lie in it. Edits do not overlap. */
export function edited(code: string, edits: readonly Edit[], start = 0, end = code.length): string {
  const inside = edits.filter((edit) => edit.start >= start && edit.end <= end).sort((a, b) => a.start - b.start);
  let result = '';
  let from = start;
  for (const edit of inside) {
    result += code.slice(from, edit.start) + edit.text;
    from = edit.end;
  }
  return result + code.slice(from, end);
}
