/** Results go to stdout, everything else to stderr. */
import process from 'node:process';
import { WriteStream } from 'node:tty';
import { inspect } from 'node:util';

type StyleName = 'bold' | 'dim' | 'underline' | 'inverse' | Color;
type Color = 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan';

export type Style = StyleName | readonly StyleName[];

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
    [style].flat().reduce((inner, name) => {
      // ECMA-48 SGR codes.
      const [on, off] = inspect.colors[name]!;
      return `\x1b[${on}m${inner}\x1b[${off}m`;
    }, text);
}

function wantsColor(sink: Sink, choice: ColorChoice): boolean {
  if (choice !== 'auto') return choice === 'always';
  // Respects NO_COLOR, FORCE_COLOR and TERM.
  return (sink.isTTY === true || process.env['FORCE_COLOR'] !== undefined) && WriteStream.prototype.getColorDepth() > 2;
}
