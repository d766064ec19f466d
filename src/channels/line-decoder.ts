import { BEGINNING, type Receiver } from './channel.js';

/** Limit of one line in bytes, as in the official SDK. */
export const MAX_LINE_BYTES = 32 * 1024 * 1024;

const LF = 0x0a;
/** A larger buffer is released once it is empty. */
const KEPT_BYTES = 1024 * 1024;

/**
 * Splits bytes into lines, however they arrive (ACP, transports, "stdio"). Only LF ends a line; one CR before it is removed. Empty lines and a
 * byte order mark at the very start are skipped. A line that is not UTF-8 is garbage as a whole and never repaired. The work is
 * linear in the bytes.
 */
export class LineDecoder {
  readonly #limit: number;
  // Keeps byte order marks.
  readonly #utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  #held = new Uint8Array(0);
  #heldLength = 0;
  #atStart = true;
  #isOver = false;

  constructor({ maxLineBytes = MAX_LINE_BYTES }: { readonly maxLineBytes?: number | undefined } = {}) {
    if (!(maxLineBytes >= 1)) throw new TypeError(`maxLineBytes is a number from 1 on; got ${maxLineBytes}`);
    this.#limit = maxLineBytes;
  }

  /** Takes the next bytes, and reports each line that they complete. After `tooLong` nothing is reported any more. */
  push(chunk: Uint8Array, receiver: Pick<Receiver, 'text' | 'invalid' | 'tooLong'>): void {
    let from = 0;
    if (this.#heldLength > 0) {
      const end = chunk.indexOf(LF);
      this.#hold(end === -1 ? chunk : chunk.subarray(0, end), receiver);
      if (end === -1) return;
      const line = this.#held.subarray(0, this.#heldLength);
      this.#heldLength = 0;
      this.#lines(line, receiver);
      if (this.#held.length > KEPT_BYTES) this.#held = new Uint8Array(0);
      from = end + 1;
    }
    const last = chunk.lastIndexOf(LF);
    if (last >= from) {
      this.#lines(chunk.subarray(from, last), receiver);
      from = last + 1;
    }
    if (from < chunk.length) this.#hold(chunk.subarray(from), receiver);
  }

  /** Ends the bytes: the rest after the last LF is a line, too. */
  end(receiver: Pick<Receiver, 'text' | 'invalid' | 'tooLong'>): void {
    if (this.#heldLength === 0) return;
    const line = this.#held.subarray(0, this.#heldLength);
    this.#heldLength = 0;
    const { invalid, tooLong } = receiver;
    this.#lines(line, { text: (text) => receiver.text(text, true), invalid, tooLong });
  }

  #hold(bytes: Uint8Array, receiver: Pick<Receiver, 'tooLong'>): void {
    if (this.#isOver) return;
    const length = this.#heldLength + bytes.length;
    // The limit is without the CR of a line end.
    if (length > this.#limit + 1) {
      const held = this.#held.subarray(0, Math.min(this.#heldLength, BEGINNING));
      const start = new Uint8Array(Math.min(length, BEGINNING));
      start.set(held);
      start.set(bytes.subarray(0, start.length - held.length), held.length);
      this.#tooLong(receiver, start);
      return;
    }
    if (length > this.#held.length) {
      const grown = new Uint8Array(Math.max(1024, length, Math.min(2 * this.#held.length, this.#limit + 1)));
      grown.set(this.#held.subarray(0, this.#heldLength));
      this.#held = grown;
    }
    this.#held.set(bytes, this.#heldLength);
    this.#heldLength = length;
  }

  #tooLong(receiver: Pick<Receiver, 'tooLong'>, line: Uint8Array): void {
    this.#isOver = true;
    const beginning = beginningOf(line);
    this.#held = new Uint8Array(0);
    this.#heldLength = 0;
    receiver.tooLong(this.#limit, beginning);
  }

  /** Takes lines without the LF of the last one. Decoding all of them at once is several times as fast. */
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
    for (let from = 0; from <= bytes.length && !this.#isOver; ) {
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
    if (this.#isOver) return;
    let text = line;
    if (this.#atStart) {
      this.#atStart = false;
      if (text.startsWith('\ufeff')) text = text.slice(1);
    }
    if (text.endsWith('\r')) text = text.slice(0, -1);
    // Nearly every line begins with a brace.
    if (text.charCodeAt(0) > 0x20 || /[^ \t\r]/.test(text)) receiver.text(text);
  }
}

export function beginningOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.subarray(0, BEGINNING));
}
