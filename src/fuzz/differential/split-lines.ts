/** From bytes to lines. */

/** What comes of the bytes of a stream. */
export interface LineHandlers {
  /** A line without its end, LF or CR LF. */
  readonly onLine: (line: string) => void;
  /** Told once, in the place of the line: then nothing more is read. */
  readonly onProblem: (problem: string) => void;
}

/**
 * Makes a function that takes the pieces of a stream and tells its lines. Each byte is looked at once, and a line is put
 * together once, in however many pieces it comes.
 *
 * @param limit the longest line, in bytes, without its end
 */
export function createLineSplitter(limit: number, { onLine, onProblem }: LineHandlers): (piece: Buffer) => void {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let begun: Buffer[] = [];
  let size = 0;
  let given = true;

  const fail = (problem: string): void => {
    given = false;
    begun = [];
    onProblem(problem);
  };
  const add = (bytes: Buffer): void => {
    size += bytes.length;
    if (size > limit) fail(`a line of more than ${limit} bytes`);
    else begun.push(bytes);
  };
  const end = (): void => {
    let line: string;
    try {
      line = decoder.decode(begun.length === 1 ? begun[0] : Buffer.concat(begun));
    } catch {
      fail('a line that is not UTF-8');
      return;
    }
    begun = [];
    size = 0;
    onLine(line.endsWith('\r') ? line.slice(0, -1) : line);
  };

  return (piece) => {
    let from = 0;
    while (given) {
      const at = piece.indexOf(0x0a, from);
      add(piece.subarray(from, at < 0 ? piece.length : at));
      if (at < 0) return;
      if (given) end();
      from = at + 1;
    }
  };
}
