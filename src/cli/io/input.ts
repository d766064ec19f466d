/** Input from a file or stdin, as lines or as one text. */
import { Buffer } from 'node:buffer';
import { createReadStream, statSync } from 'node:fs';
import { UsageError, unreadable } from './errors.js';
import type { Output } from './output.js';
import { bytesRead } from './progress.js';

export interface Source {
  /** A path, or `undefined` for stdin. */
  readonly file: string | undefined;
  readonly stdin: AsyncIterable<Uint8Array> & { readonly isTTY?: boolean };
  readonly output: Pick<Output, 'note' | 'bar'>;
}

export interface Line {
  /** Counted from 1. */
  readonly number: number;
  readonly text: string;
  /** `true` if the line exceeds 32 MiB and its end is missing. */
  readonly isCut?: true;
}

/** The longest line in bytes; parsers reject longer ones anyway. */
const MAX_RETAINED_BYTES = 32 * 1024 * 1024;

const LF = 0x0a;
/** The largest buffer in bytes that is reused for the next line. */
const RETAINED = 1024 * 1024;

/** The longest text in bytes that can be searched; strings have a maximum length. */
const MAX_TEXT = 256 * 1024 * 1024;

/** The bytes from which reading a pipe shows its progress. */
const LONG_PIPE = 1_000_000;

/** Returns the name of the input in reports. */
export function inputName({ file }: Pick<Source, 'file'>): string {
  return file ?? 'stdin';
}

/** Passes on the lines that are messages. @param other called with each blank line, and each comment: a line that begins with `#`, as no message does */
export async function* messagesAmong(
  lines: AsyncIterable<Line> | Iterable<Line>,
  other: (text: string) => Promise<void> = async () => {},
): AsyncGenerator<Line> {
  for await (const line of lines) {
    if (/^[ \t]*(?:#|$)/.test(line.text)) await other(line.text);
    else yield line;
  }
}

/** Splits a text into lines, as `readLines` does. */
export function* linesIn(text: string): Generator<Line> {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  for (const [index, line] of lines.entries()) yield { number: index + 1, text: withoutReturn(line) };
}

/**
 * Reads the lines that are not blank, without line ends and byte order mark. Each byte is copied a bounded number of times, whatever the
 * length of its line and the size of the chunks.
 *
 * @param keepsBlank if true, reads blank lines, too
 * @throws UsageError if the input cannot be read, or at the first line that is not UTF-8
 */
export async function* readLines(source: Source, keepsBlank = false): AsyncGenerator<Line> {
  const name = inputName(source);
  let number = 1;
  /** The start of an incomplete line; the buffer doubles when it is full. */
  let buffer = new Uint8Array(0);
  let bufferedLength = 0;
  let cut = false;
  // Binary input may have no line ends, so it is checked while it arrives.
  let checking = strictDecoder();
  const hold = (bytes: Uint8Array): void => {
    const kept = bytes.subarray(0, MAX_RETAINED_BYTES - bufferedLength);
    cut ||= kept.length < bytes.length;
    const length = bufferedLength + kept.length;
    if (length > buffer.length) {
      const grown = new Uint8Array(Math.max(length, Math.min(2 * buffer.length, MAX_RETAINED_BYTES)));
      grown.set(buffer.subarray(0, bufferedLength));
      buffer = grown;
    }
    buffer.set(kept, bufferedLength);
    bufferedLength = length;
    try {
      checking.decode(kept, { stream: true });
    } catch {
      const line = buffer.subarray(0, length);
      throw notUtf8(number === 1 ? afterMark(line, name) : line, number, name);
    }
  };
  const release = function* (bytes: Uint8Array): Generator<Line> {
    const lines = linesOf(number === 1 ? afterMark(bytes, name) : bytes, { number, cut, name });
    for (const line of lines) {
      if (keepsBlank || !isBlank(line.text)) yield line;
      number++;
    }
    if (buffer.length > RETAINED) buffer = new Uint8Array(0);
    bufferedLength = 0;
    cut = false;
    checking = strictDecoder();
  };
  for await (const chunk of readBytes(source)) {
    let from = 0;
    if (bufferedLength > 0) {
      from = chunk.indexOf(LF) + 1;
      hold(from === 0 ? chunk : chunk.subarray(0, from - 1));
      if (from === 0) continue;
      yield* release(buffer.subarray(0, bufferedLength));
    }
    const last = chunk.lastIndexOf(LF);
    if (last >= from) yield* release(chunk.subarray(from, last));
    hold(chunk.subarray(Math.max(from, last + 1)));
  }
  if (bufferedLength > 0) yield* release(buffer.subarray(0, bufferedLength));
}

/** Decodes all lines at once if possible, which is several times faster. */
function* linesOf(
  bytes: Uint8Array,
  { number, cut, name }: { number: number; cut: boolean; name: string },
): Generator<Line> {
  if (cut) {
    // Omits a character that the cut splits.
    const text = decoded(bytes, { stream: true });
    if (text === undefined) throw notUtf8(bytes, number, name);
    yield { number, text, isCut: true };
    return;
  }
  const whole = decoded(bytes);
  if (whole !== undefined) {
    for (const text of whole.split('\n')) yield { number: number++, text: withoutReturn(text) };
    return;
  }
  for (let from = 0, end = 0; from <= bytes.length; from = end + 1) {
    end = bytes.indexOf(LF, from);
    if (end === -1) end = bytes.length;
    const line = bytes.subarray(from, end);
    const text = decoded(line);
    if (text === undefined) throw notUtf8(line, number, name);
    yield { number: number++, text: withoutReturn(text) };
  }
}

function strictDecoder(): InstanceType<typeof TextDecoder> {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
}

/** Decodes UTF-8; `undefined` if the bytes are not UTF-8. Platforms throw different errors in that case. */
function decoded(bytes: Uint8Array, how: { readonly stream?: boolean } = {}): string | undefined {
  try {
    return strictDecoder().decode(bytes, how);
  } catch {
    return undefined;
  }
}

function notUtf8(line: Uint8Array, number: number, name: string): UsageError {
  // Bisects for the longest valid prefix; an incomplete character at its end begins the invalid sequence.
  let valid = 0;
  for (let wrong = line.length + 1; wrong - valid > 1; ) {
    const middle = (valid + wrong) >> 1;
    if (decoded(line.subarray(0, middle), { stream: true }) === undefined) wrong = middle;
    else valid = middle;
  }
  const at = Buffer.byteLength(decoded(line.subarray(0, valid), { stream: true })!);
  const byte = line[at]!.toString(16).toUpperCase().padStart(2, '0');
  const reason = valid === line.length ? 'it ends inside a character' : `byte ${at + 1} is 0x${byte}`;
  return new UsageError(
    `${name}:${number}: The line is not UTF-8: ${reason}; convert the input, for example with iconv -t UTF-8`,
    'unreadable',
  );
}

/** Decodes a whole file. @throws UsageError with the first line that is not UTF-8 */
export function strictText(bytes: Uint8Array, name: string): string {
  const own = afterMark(bytes, name);
  const text = decoded(own);
  // Throws at that line.
  if (text === undefined) for (const _ of linesOf(own, { number: 1, cut: false, name }));
  if (text === undefined || bytes.length > MAX_TEXT) throw tooLarge(name);
  return text;
}

/** Reads the whole input, with U+FFFD for each invalid sequence of bytes. @throws UsageError if it cannot be read, is UTF-16, or exceeds 256 MiB */
export async function readAll(source: Source): Promise<{ text: string; isUtf8: boolean }> {
  const name = inputName(source);
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of readBytes(source)) {
    length += chunk.length;
    if (length > MAX_TEXT) throw tooLarge(name);
    chunks.push(chunk);
  }
  const bytes = afterMark(Buffer.concat(chunks, length), name);
  const text = decoded(bytes);
  return text === undefined
    ? { text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes), isUtf8: false }
    : { text, isUtf8: true };
}

function tooLarge(name: string): UsageError {
  return new UsageError(`${name} is larger than 256 MiB; split it`, 'unreadable');
}

/** Removes a byte order mark. @throws UsageError if the bytes are UTF-16, with or without a mark */
function afterMark(bytes: Uint8Array, name: string): Uint8Array {
  const [a, b, c, d] = bytes;
  if (a === 0xef && b === 0xbb && c === 0xbf) return bytes.subarray(3);
  const hasMark = (a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff);
  const isWide = bytes.length > 3 && (a === 0) !== (b === 0) && (c === 0) === (a === 0) && (d === 0) === (b === 0);
  if (!hasMark && !isWide) return bytes;
  throw new UsageError(`${name} is UTF-16; convert it, for example with iconv -f UTF-16 -t UTF-8`, 'unreadable');
}

async function* readBytes({ file, stdin, output }: Source): AsyncGenerator<Uint8Array> {
  if (file === undefined && stdin.isTTY) void output.note('Reading from the terminal; press Ctrl-D to end.');
  const showRead = output.bar(`Reading ${inputName({ file })}`, bytesRead);
  const total = sizeOf(file);
  let read = 0;
  try {
    for await (const chunk of file === undefined ? stdin : createReadStream(file)) {
      yield chunk as Uint8Array;
      read += chunk.length;
      // A pipe may be written to by hand.
      if (total !== undefined || read >= LONG_PIPE) showRead(read, total);
    }
  } catch (thrown) {
    // Only errors of the operating system have an errno.
    const { code, errno } = thrown as NodeJS.ErrnoException;
    throw code === undefined || errno === undefined ? thrown : unreadable(thrown, inputName({ file }));
  }
}

/** Returns the size of a file in bytes; `undefined` for stdin, pipes and folders. */
function sizeOf(file: string | undefined): number | undefined {
  try {
    const stats = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false });
    return stats?.isFile() === true ? stats.size : undefined;
  } catch {
    // Reading it reports why.
    return undefined;
  }
}

/** Removes a carriage return at the end of a line. */
export function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

/** Parsers handle white space other than spaces and tabs. */
function isBlank(line: string): boolean {
  return !/[^ \t]/.test(line);
}
