/** Where a command writes: results to stdout, everything else to stderr; colour where a person looks on. */
import process from 'node:process';
import { WriteStream } from 'node:tty';

/** Escape sequences of the styles in use (ECMA-48, SGR): on and off. */
const STYLES = {
  bold: [1, 22],
  dim: [2, 22],
  underline: [4, 24],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
  inverse: [7, 27],
} as const;

export type Style = keyof typeof STYLES | readonly (keyof typeof STYLES)[];

/** Styles text, or leaves it as it is where there is no colour. */
export type Paint = (style: Style, text: string) => string;

/** As much of a Node stream as writing needs. */
export interface Sink {
  readonly isTTY?: boolean;
  write(text: string): boolean;
  once(event: 'drain' | 'error', listener: () => void): Sink;
  off(event: 'drain' | 'error', listener: () => void): Sink;
}

export type ColorChoice = 'auto' | 'always' | 'never';

export interface Output {
  /** Writes a result and a line end, and waits when the reader is slow. */
  result(text: string): Promise<void>;
  /** Writes something for people, and a line end. */
  note(text: string): Promise<void>;
  /** Shows how far a command is, on a line of the terminal that the next text takes away; nothing where none looks on. */
  progress(text: string): void;
  /** Styles text that goes to stdout. */
  readonly paint: Paint;
  /** Styles text that goes to stderr. */
  readonly paintNote: Paint;
}

export function createOutput(stdout: Sink, stderr: Sink, color: ColorChoice): Output {
  return {
    result: (text) => writeLine(stdout, text),
    note: (text) => writeLine(stderr, text),
    progress: (text) => {
      // Back to the start of the line, and all of it erased (ECMA-48, EL).
      if (stderr.isTTY === true) stderr.write(`\r\x1b[2K${text}`);
    },
    paint: painter(stdout, color),
    paintNote: painter(stderr, color),
  };
}

async function writeLine(sink: Sink, text: string): Promise<void> {
  if (sink.write(`${text}\n`)) return;
  await new Promise<void>((resolve) => {
    // A sink that breaks never drains.
    const done = (): void => {
      sink.off('drain', done).off('error', done);
      resolve();
    };
    sink.once('drain', done).once('error', done);
  });
}

function painter(sink: Sink, choice: ColorChoice): Paint {
  if (!wantsColor(sink, choice)) return (_style, text) => text;
  return (style, text) =>
    [style].flat().reduce((inner, name) => `\x1b[${STYLES[name][0]}m${inner}\x1b[${STYLES[name][1]}m`, text);
}

function wantsColor(sink: Sink, choice: ColorChoice): boolean {
  if (choice !== 'auto') return choice === 'always';
  // The depth of what terminal there is: it knows NO_COLOR, FORCE_COLOR, TERM and their like.
  return (sink.isTTY === true || process.env['FORCE_COLOR'] !== undefined) && WriteStream.prototype.getColorDepth() > 2;
}
