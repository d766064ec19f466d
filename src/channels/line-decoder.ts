import { BEGINNING, type Receiver } from './channel.js';

/** The default maximum length of a line in bytes, as in the official SDK. */
export const MAX_LINE_BYTES = 32 * 1024 * 1024;

const LF = 0x0a;
/** A larger buffer is released when it is empty. */
const MAX_IDLE_BYTES = 1024 * 1024;

/**
 * Splits bytes, in chunks of any size, into lines. Only LF ends a line; one CR before it is removed. Empty lines and a byte order mark at the
 * very start are skipped. A line that is not UTF-8 is reported as invalid and not repaired. Takes linear time.
 *
 * Source: ACP, transports, "stdio".
 */
export class LineDecoder {
  readonly #limit: number;
  // Without `ignoreBOM`, it would remove byte order marks.
  readonly #utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  #buffer = new Uint8Array(0);
  #bufferLength = 0;
  #atStart = true;
  #hasEnded = false;

  /** @throws TypeError if the limit is not a number >= 1 */
  constructor({ maxLineBytes = MAX_LINE_BYTES }: { readonly maxLineBytes?: number | undefined } = {}) {
    if (!(maxLineBytes >= 1)) throw new TypeError(`maxLineBytes must be a number >= 1; got ${maxLineBytes}`);
    this.#limit = maxLineBytes;
  }

  /** Decodes the next bytes and reports each line that they complete. After `tooLong`, reports nothing. */
  push(chunk: Uint8Array, receiver: Pick<Receiver, 'text' | 'invalid' | 'tooLong'>): void {
    let from = 0;
    if (this.#bufferLength > 0) {
      const end = chunk.indexOf(LF);
      this.#append(end === -1 ? chunk : chunk.subarray(0, end), receiver);
      if (end === -1) return;
      const line = this.#buffer.subarray(0, this.#bufferLength);
      this.#bufferLength = 0;
      this.#lines(line, receiver);
      if (this.#buffer.length > MAX_IDLE_BYTES) this.#buffer = new Uint8Array(0);
      from = end + 1;
    }
    const last = chunk.lastIndexOf(LF);
    if (last >= from) {
      this.#lines(chunk.subarray(from, last), receiver);
      from = last + 1;
    }
    if (from < chunk.length) this.#append(chunk.subarray(from), receiver);
  }

  /** Ends the input, and reports the bytes after the last LF as a line. */
  end(receiver: Pick<Receiver, 'text' | 'invalid' | 'tooLong'>): void {
    if (this.#bufferLength === 0) return;
    const line = this.#buffer.subarray(0, this.#bufferLength);
    this.#bufferLength = 0;
    const { invalid, tooLong } = receiver;
    this.#lines(line, { text: (text) => receiver.text(text, true), invalid, tooLong });
  }

  #append(bytes: Uint8Array, receiver: Pick<Receiver, 'tooLong'>): void {
    if (this.#hasEnded) return;
    const length = this.#bufferLength + bytes.length;
    // The limit does not include the CR of a line end.
    if (length > this.#limit + 1) {
      const buffered = this.#buffer.subarray(0, Math.min(this.#bufferLength, BEGINNING));
      const start = new Uint8Array(Math.min(length, BEGINNING));
      start.set(buffered);
      start.set(bytes.subarray(0, start.length - buffered.length), buffered.length);
      this.#tooLong(receiver, start);
      return;
    }
    if (length > this.#buffer.length) {
      const grown = new Uint8Array(Math.max(1024, length, Math.min(2 * this.#buffer.length, this.#limit + 1)));
      grown.set(this.#buffer.subarray(0, this.#bufferLength));
      this.#buffer = grown;
    }
    this.#buffer.set(bytes, this.#bufferLength);
    this.#bufferLength = length;
  }

  #tooLong(receiver: Pick<Receiver, 'tooLong'>, line: Uint8Array): void {
    this.#hasEnded = true;
    const beginning = beginningOf(line);
    this.#buffer = new Uint8Array(0);
    this.#bufferLength = 0;
    receiver.tooLong(this.#limit, beginning);
  }

  /** Decodes lines, without the LF of the last one. Decoding all at once is several times faster than one by one. */
  #lines(bytes: Uint8Array, receiver: Pick<Receiver, 'text' | 'invalid' | 'tooLong'>): void {
    const text = bytes.length > this.#limit ? undefined : this.#decode(bytes);
    if (text === undefined) {
      this.#oneByOne(bytes, receiver);
      return;
    }
    let from = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      this.#line(text.slice(from, end), receiver);
      from = end + 1;
    }
    this.#line(from === 0 ? text : text.slice(from), receiver);
  }

  #oneByOne(bytes: Uint8Array, receiver: Pick<Receiver, 'text' | 'invalid' | 'tooLong'>): void {
    for (let from = 0; from <= bytes.length && !this.#hasEnded; ) {
      const lf = bytes.indexOf(LF, from);
      const end = lf === -1 ? bytes.length : lf;
      const line = bytes.subarray(from, end);
      from = end + 1;
      const text = line.length > this.#limit + 1 ? undefined : this.#decode(line);
      if (text !== undefined && line.length - (text.endsWith('\r') ? 1 : 0) <= this.#limit) this.#line(text, receiver);
      else if (line.length > this.#limit) this.#tooLong(receiver, line);
      else {
        this.#atStart = false;
        receiver.invalid('the line is not UTF-8', beginningOf(line));
      }
    }
  }

  #decode(bytes: Uint8Array): string | undefined {
    try {
      return this.#utf8.decode(bytes);
    } catch {
      return undefined;
    }
  }

  #line(line: string, receiver: Pick<Receiver, 'text'>): void {
    if (this.#hasEnded) return;
    let text = line;
    if (this.#atStart) {
      this.#atStart = false;
      if (text.startsWith('\ufeff')) text = text.slice(1);
    }
    if (text.endsWith('\r')) text = text.slice(0, -1);
    // A shortcut: nearly every line begins with a brace.
    if (text.charCodeAt(0) > 0x20 || /[^ \t\r]/.test(text)) receiver.text(text);
  }
}

/** Makes a JSON text one line: line ends, which it has only between tokens, become spaces. */
export function oneLine(text: string): string {
  return text.includes('\n') || text.includes('\r') ? text.replace(/[\r\n]/g, ' ') : text;
}

/** Decodes the beginning of an unreadable text, for error responses. */
export function beginningOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.subarray(0, BEGINNING));
}
