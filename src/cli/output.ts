/** Where a command writes: results to stdout, everything else to stderr; colour where a person looks on. */
import process from 'node:process';
import { WriteStream } from 'node:tty';
import util from 'node:util';

type Style = Parameters<typeof util.styleText>[0];

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
    paint: painter(stdout, color),
    paintNote: painter(stderr, color),
  };
}

async function writeLine(sink: Sink, text: string): Promise<void> {
  if (!sink.write(`${text}\n`)) await new Promise<void>((resolve) => sink.once('drain', resolve));
}

function painter(sink: Sink, choice: ColorChoice): Output['paint'] {
  if (!wantsColor(sink, choice)) return (_style, text) => text;
  // Not for styleText to decide: in Node 20 it looks at NO_COLOR only where it is given a single style.
  return (style, text) => util.styleText(style, text, { validateStream: false });
}

function wantsColor(sink: Sink, choice: ColorChoice): boolean {
  // The oldest releases of Node 20 have no styleText.
  if (util.styleText === undefined) return false;
  if (choice !== 'auto') return choice === 'always';
  // The depth of what terminal there is: it knows NO_COLOR, FORCE_COLOR, TERM and their like.
  return (sink.isTTY === true || process.env['FORCE_COLOR'] !== undefined) && WriteStream.prototype.getColorDepth() > 2;
}
