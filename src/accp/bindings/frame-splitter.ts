import { PegwireError } from '../../text/errors.js';
import { MAX_FRAME_BYTES } from './frames.js';

/**
 * - `truncated`: the bytes ended within a frame
 * - `too-large`: a frame has more bytes than the limit
 * - `not-utf8`: a frame is not UTF-8; it is never repaired
 */
export type FramingErrorCode = 'truncated' | 'too-large' | 'not-utf8';

/** Bytes that cannot be split into frames. */
export class FramingError extends PegwireError {
  override readonly name: string = 'FramingError';
  declare readonly code: FramingErrorCode;

  constructor(code: FramingErrorCode, message: string) {
    super({ code, message });
  }
}

export interface FrameSplitterOptions {
  /** Most bytes of one frame. @default 1048576 */
  readonly maxFrameBytes?: number | undefined;
}

const LF = 0x0a;
const CR = 0x0d;
const AT = 0x40;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Initial size of the buffer. A larger one is released once it is empty. */
const KEPT_BYTES = 4096;

/** The position in a frame: before or in its payload (`body`), right after it, or in its metadata. */
type Place = 'body' | 'payload-over' | 'metadata';

/**
 * Splits bytes into frames, however they arrive. A frame ends with its line (LF or CRLF), and, for senders that write no line ends, where
 * the bracket of its metadata closes; one without metadata, where the next frame begins or the bytes end. Empty lines are skipped.
 *
 * The frames are not checked. The work is linear in the bytes, and the buffer never holds more than one frame and one chunk.
 *
 * @example
 * const splitter = new FrameSplitter();
 * for await (const chunk of response.body) for (const frame of splitter.push(chunk)) receive(frame);
 * for (const frame of splitter.end()) receive(frame);
 */
export class FrameSplitter {
  readonly #limit: number;
  // Keeps byte order marks: a frame begins with none.
  readonly #utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  #held = new Uint8Array(KEPT_BYTES);
  #heldLength = 0;
  #place: Place = 'body';
  #depth = 0;
  #isEscaped = false;
  #fault: FramingError | undefined;

  /** @throws TypeError if the limit is invalid */
  constructor({ maxFrameBytes = MAX_FRAME_BYTES }: FrameSplitterOptions = {}) {
    if (!(maxFrameBytes >= 1)) throw new TypeError(`maxFrameBytes is a number from 1 on; got ${maxFrameBytes}`);
    this.#limit = maxFrameBytes;
  }

  /**
   * Takes the next bytes, and returns the frames that they complete.
   *
   * @throws FramingError `too-large` or `not-utf8`, after the frames before it were returned; nothing can be read after it
   */
  push(chunk: Uint8Array): string[] {
    if (this.#fault !== undefined) throw this.#fault;
    const frames: string[] = [];
    let from = 0;
    try {
      for (let at = 0; at < chunk.length; at++) {
        const end = this.#step(chunk[at]!, at);
        if (end < 0) continue;
        this.#give(chunk.subarray(from, end), frames);
        from = end;
      }
      this.#hold(chunk.subarray(from));
    } catch (thrown) {
      if (!(thrown instanceof FramingError)) throw thrown;
      this.#fault = thrown;
      if (frames.length === 0) throw thrown;
    }
    return frames;
  }

  /**
   * Ends the bytes.
   *
   * @throws FramingError `truncated` if they end within a frame, or what `push` has not thrown yet
   */
  end(): string[] {
    if (this.#fault !== undefined) throw this.#fault;
    const frames: string[] = [];
    const isWhole = this.#place === 'payload-over';
    // The LF of a line end may be missing.
    if (this.#heldLength > 0 && this.#held[this.#heldLength - 1] === CR) this.#heldLength--;
    this.#give(new Uint8Array(0), frames);
    if (frames.length === 0 || isWhole) return frames;
    this.#fault = new FramingError('truncated', `The bytes end within a frame: ${excerpt(frames[0]!)}`);
    throw this.#fault;
  }

  /** @returns where in the chunk a frame ends, or a negative number */
  #step(byte: number, at: number): number {
    // No frame holds a line end, escaped or not: after garbled bytes, the next line begins anew.
    if (byte === LF) return at + 1;
    if (this.#isEscaped) {
      this.#isEscaped = false;
      return -1;
    }
    if (this.#place === 'payload-over') {
      // A frame without metadata was over.
      if (byte === AT) return at;
      if (byte === OPEN_BRACKET) this.#place = 'metadata';
      else if (byte !== CR) this.#place = 'body';
    }
    if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#depth++;
    else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && this.#depth > 0 && --this.#depth === 0) {
      if (this.#place === 'metadata') return at + 1;
      if (byte === CLOSE_BRACE) this.#place = 'payload-over';
    }
    return -1;
  }

  #give(bytes: Uint8Array, frames: string[]): void {
    let frame = bytes;
    if (this.#heldLength > 0) {
      this.#hold(bytes);
      frame = this.#held.subarray(0, this.#heldLength);
    }
    frame = withoutLineEnd(frame);
    this.#heldLength = 0;
    this.#place = 'body';
    this.#depth = 0;
    this.#isEscaped = false;
    if (frame.length > this.#limit) throw this.#tooLarge();
    if (frame.length > 0) frames.push(this.#decode(frame));
    if (this.#held.length > KEPT_BYTES) this.#held = new Uint8Array(KEPT_BYTES);
  }

  #hold(bytes: Uint8Array): void {
    const length = this.#heldLength + bytes.length;
    // The limit is without the line end.
    if (length > this.#limit + 2) throw this.#tooLarge();
    if (length > this.#held.length) {
      const grown = new Uint8Array(Math.max(length, Math.min(2 * this.#held.length, this.#limit + 2)));
      grown.set(this.#held.subarray(0, this.#heldLength));
      this.#held = grown;
    }
    this.#held.set(bytes, this.#heldLength);
    this.#heldLength = length;
  }

  #decode(bytes: Uint8Array): string {
    try {
      return this.#utf8.decode(bytes);
    } catch {
      throw new FramingError('not-utf8', 'A frame holds bytes that are no UTF-8.');
    }
  }

  #tooLarge(): FramingError {
    return new FramingError('too-large', `A frame has more than ${this.#limit} bytes.`);
  }
}

/** Removes LF or CRLF, not a CR alone. */
export function withoutLineEnd(bytes: Uint8Array): Uint8Array {
  let end = bytes.length;
  if (bytes[end - 1] === LF) {
    end--;
    if (bytes[end - 1] === CR) end--;
  }
  return end === bytes.length ? bytes : bytes.subarray(0, end);
}

function excerpt(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}...` : text;
}
