/** Results go to stdout, everything else to stderr. */
import process from 'node:process';
import { WriteStream } from 'node:tty';

/** ECMA-48 SGR codes: on and off. */
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

export type Paint = (style: Style, text: string) => string;

/** The part of a Node stream that is used. */
export interface Sink {
  readonly isTTY?: boolean;
  write(text: string): boolean;
  once(event: 'drain' | 'error', listener: () => void): Sink;
  off(event: 'drain' | 'error', listener: () => void): Sink;
}

export type ColorChoice = 'auto' | 'always' | 'never';

export type Output = ReturnType<typeof createOutput>;

export function createOutput(stdout: Sink, stderr: Sink, color: ColorChoice) {
  return {
    /** Writes a line, and waits for slow readers. */
    result: (text: string): Promise<void> => writeLine(stdout, text),
    /** Writes a line for people. */
    note: (text: string): Promise<void> => writeLine(stderr, text),
    /** Shows progress on a terminal; the next text replaces it. */
    progress: (text: string): void => {
      // Carriage return, and erase the line (ECMA-48, EL).
      if (stderr.isTTY === true) stderr.write(`\r\x1b[2K${text}`);
    },
    paint: painter(stdout, color),
    paintNote: painter(stderr, color),
  };
}

async function writeLine(sink: Sink, text: string): Promise<void> {
  if (sink.write(`${text}\n`)) return;
  await new Promise<void>((resolve) => {
    // A broken sink never drains.
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
  // Respects NO_COLOR, FORCE_COLOR and TERM.
  return (sink.isTTY === true || process.env['FORCE_COLOR'] !== undefined) && WriteStream.prototype.getColorDepth() > 2;
}
