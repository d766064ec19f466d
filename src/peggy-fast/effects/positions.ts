/** A place in a grammar, as Peggy counts: lines and columns from 1, lines ended by a line feed. */
export interface Position {
  readonly offset: number;
  readonly line: number;
  readonly column: number;
}

/** A stretch of a grammar: Peggy's `LocationRange`. */
export interface LocationRange {
  // biome-ignore lint/suspicious/noExplicitAny: Peggy takes any value for the name of a source.
  readonly source: any;
  readonly start: Position;
  readonly end: Position;
}

/** Where code stands in the grammar text. */
export interface Snippet {
  readonly code: string;
  readonly location: LocationRange;
}

/** The place in the grammar of a stretch of a snippet's code. */
export function locate({ code, location }: Snippet, start: number, end: number): LocationRange {
  const from = advance(code, 0, location.start, start);
  return { source: location.source, start: from, end: advance(code, start, from, end) };
}

function advance(code: string, from: number, position: Position, to: number): Position {
  let { line, column } = position;
  for (let at = from; at < to; at++) {
    if (code.charCodeAt(at) === 10) {
      line++;
      column = 1;
    } else column++;
  }
  return { offset: position.offset + to - from, line, column };
}
