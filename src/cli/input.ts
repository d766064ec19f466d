/** What a command reads: a file or the standard input, as lines of UTF-8 text. */
import { createReadStream } from 'node:fs';
import { getSystemErrorMap } from 'node:util';
import type { Invocation } from './usage.js';
import { UsageError } from './usage.js';

export interface Line {
  /** From 1. */
  readonly number: number;
  /** Without its line end. */
  readonly text: string;
}

/** Characters of one line that are kept. What is longer is refused by every parser, and need not fill the memory. */
const MAX_KEPT = 32 * 1024 * 1024;

/** Said better than the operating system does. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a directory',
  ENOTDIR: 'part of the path is no directory',
};

/** A file name that looks like a message. */
const MESSAGE = /^@.*>|^[A-Z]+\|/;

/** Characters of a file name that an error shows. */
const MAX_NAME = 100;

/** Characters that are searched for messages at once; a string cannot hold many more. */
const MAX_TEXT = 256 * 1024 * 1024;

/** The name of the input in messages. */
export function inputName({ file }: Invocation): string {
  return file ?? 'stdin';
}

/**
 * The lines of the input that hold anything. Line ends are `\n` or `\r\n`; a byte order mark at the start is dropped.
 *
 * @throws UsageError when the input cannot be read, or is no UTF-8 text
 */
export async function* readLines(invocation: Invocation): AsyncGenerator<Line> {
  let number = 1;
  let line = '';
  for await (const chunk of readText(invocation)) {
    let from = 0;
    for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', from)) {
      const text = withoutReturn(keep(line, chunk.slice(from, end)));
      if (text.trim() !== '') yield { number, text };
      number++;
      line = '';
      from = end + 1;
    }
    line = keep(line, chunk.slice(from));
  }
  const text = withoutReturn(line);
  if (text.trim() !== '') yield { number, text };
}

/** The whole input as one text. */
export async function readAll(invocation: Invocation): Promise<string> {
  const chunks: string[] = [];
  let length = 0;
  for await (const chunk of readText(invocation)) {
    length += chunk.length;
    if (length > MAX_TEXT)
      throw new UsageError(`${inputName(invocation)} is too large to be searched at once`, 'unreadable');
    chunks.push(chunk);
  }
  return chunks.join('');
}

async function* readText(invocation: Invocation): AsyncGenerator<string> {
  const name = inputName(invocation);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let bytes = 0;
  try {
    for await (const chunk of source(invocation)) {
      yield decoder.decode(chunk, { stream: true });
      bytes += chunk.length;
    }
    yield decoder.decode();
  } catch (thrown) {
    throw readingError(thrown, name, bytes);
  }
}

function source({ file, stdin, output }: Invocation): AsyncIterable<Uint8Array> {
  if (file !== undefined) return createReadStream(file);
  if (stdin.isTTY) void output.note('Reading from the terminal; end with Ctrl-D.');
  return stdin;
}

function readingError(thrown: unknown, name: string, bytes: number): unknown {
  const { code, errno } = thrown as NodeJS.ErrnoException;
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') {
    const place = bytes === 0 ? '' : ` after byte ${bytes}`;
    return new UsageError(`${name} is no UTF-8 text (binary data or another encoding${place})`, 'unreadable');
  }
  // Only what the operating system refuses has a number.
  if (code === undefined || errno === undefined) return thrown;
  return unreadable(thrown, name);
}

/** What the operating system refuses, said better. */
export function unreadable(thrown: unknown, name: string): UsageError {
  const { code = '', errno = 0 } = thrown as NodeJS.ErrnoException;
  const reason = REASONS[code] ?? getSystemErrorMap().get(errno)?.[1] ?? code;
  const hint = MESSAGE.test(name) ? '; messages are read from a file or from stdin, not from the arguments' : '';
  const shown = name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}...` : name;
  return new UsageError(`Cannot read ${shown}: ${reason}${hint}`, 'unreadable');
}

function keep(line: string, piece: string): string {
  return line.length + piece.length > MAX_KEPT ? (line + piece).slice(0, MAX_KEPT) : line + piece;
}

/** A line that ends in `\r\n`, once its `\n` is off. */
export function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}
