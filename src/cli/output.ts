/** Where a command writes: results to stdout, everything else to stderr; colour where a person looks on. */
import process from 'node:process';
import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** As much of a Node stream as writing needs. */
export interface Sink {
  readonly isTTY?: boolean;
  write(text: string): boolean;
  once(event: 'drain', listener: () => void): unknown;
}

export type ColorChoice = 'auto' | 'always' | 'never';

export interface Output {
  /** Writes a result and a line end, and waits when the reader is slow. */
  result(text: string): Promise<void>;
  /** Writes something for people, and a line end. */
  note(text: string): Promise<void>;
  /** Styles text that goes to stdout. */
  paint(style: Style, text: string): string;
  /** Styles text that goes to stderr. */
  paintNote(style: Style, text: string): string;
}

export function createOutput(stdout: Sink, stderr: Sink, color: ColorChoice): Output {
  return {
    result: (text) => writeLine(stdout, text),
    note: (text) => writeLine(stderr, text),
    paint: (style, text) => styled(style, text, stdout, color),
    paintNote: (style, text) => styled(style, text, stderr, color),
  };
}

async function writeLine(sink: Sink, text: string): Promise<void> {
  if (!sink.write(`${text}\n`)) await new Promise<void>((resolve) => sink.once('drain', resolve));
}

function styled(style: Style, text: string, sink: Sink, color: ColorChoice): string {
  if (color === 'never') return text;
  if (color === 'always') return styleText(style, text, { validateStream: false });
  if (sink.isTTY !== true && process.env['FORCE_COLOR'] === undefined) return text;
  // On a terminal, NO_COLOR and its like are for styleText to look at.
  return styleText(style, text, { stream: sink as unknown as NodeJS.WriteStream });
}
