/** Output: results go to stdout, everything else to stderr. */
import process from 'node:process';
import { WriteStream } from 'node:tty';
import { inspect } from 'node:util';
import { visible } from '../../text/visible.js';
import { type Amount, type Bar, createBar } from './progress.js';

type StyleName = 'bold' | 'dim' | 'underline' | 'inverse' | Color;
type Color = 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan';

export type Style = StyleName | readonly StyleName[];

export type Paint = (style: Style, text: string) => string;

/** The part of a Node stream that the output needs. */
export interface Sink {
  readonly isTTY?: boolean;
  /** The width of a terminal. */
  readonly columns?: number;
  write(text: string): boolean;
  once(event: 'drain' | 'error', listener: () => void): Sink;
  off(event: 'drain' | 'error', listener: () => void): Sink;
}

export type ColorChoice = 'auto' | 'always' | 'never';

export type Output = ReturnType<typeof createOutput>;

/** The kind of a note on stderr. */
export type NoteKind = 'error' | 'warning' | 'note';

const NOTE_COLORS: Readonly<Record<NoteKind, Color>> = { error: 'red', warning: 'yellow', note: 'cyan' };

/** Formats a note with its code, for example `error[usage]: Unknown option --x.` */
export function labelled(kind: NoteKind, code: string, text: string, paint: Paint): string {
  return `${paint([NOTE_COLORS[kind], 'bold'], `${kind}[${code}]`)}: ${text}`;
}

/** Creates the output of a command on two streams. */
export function createOutput(stdout: Sink, stderr: Sink, color: ColorChoice) {
  let isShown = false;
  const show = (text: string): void => {
    if (stderr.isTTY !== true || (text === '' && !isShown)) return;
    // Carriage return, then erase the line (ECMA-48, EL).
    stderr.write(`\r\x1b[2K${text}`);
    isShown = text !== '';
  };
  const line = (sink: Sink, text: string): Promise<void> => {
    show('');
    return writeLine(sink, text);
  };
  return {
    /** Writes a line to stdout, and waits while the reader is slow. */
    result: (text: string): Promise<void> => line(stdout, text),
    /** Writes a line to stderr. */
    note: (text: string): Promise<void> => line(stderr, text),
    /** Shows a text below the others if stderr is a terminal, until the next text or line; an empty one shows none. */
    progress: show,
    /** Returns a bar of progress if stderr is a terminal. It appears after a second. @param amount how it shows what is done */
    bar: (what: string, amount?: Amount): Bar => {
      if (stderr.isTTY !== true) return () => {};
      return createBar(visible(what), { columns: () => stderr.columns ?? MAX_COLUMNS, show, amount });
    },
    /** The number of columns of the terminal, at most 100; `undefined` if the output is not a terminal. */
    columns: stdout.columns === undefined ? undefined : Math.min(stdout.columns, MAX_COLUMNS),
    /** The number of columns of the terminal; `undefined` if the output is not a terminal. */
    width: stdout.columns,
    paint: painter(stdout, color),
    paintNote: painter(stderr, color),
  };
}

/** Longer lines are hard to read. */
const MAX_COLUMNS = 100;

async function writeLine(sink: Sink, text: string): Promise<void> {
  if (sink.write(`${text}\n`)) return;
  await new Promise<void>((resolve) => {
    // A broken stream never drains.
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
