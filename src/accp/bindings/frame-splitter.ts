import { PegwireError } from '../../text/errors.js';
import { MAX_FRAME_BYTES } from './frames.js';

/**
 * The code of a `FramingError`.
 *
 * - `truncated`: the bytes ended within a frame
 * - `too-large`: a frame has more bytes than the limit
 * - `not-utf8`: a frame is not UTF-8; it is never repaired
 */
export type FramingErrorCode = 'truncated' | 'too-large' | 'not-utf8';

/** An error in bytes that cannot be split into frames. */
export class FramingError extends PegwireError {
  /** The name of the class. */
  override readonly name: string = 'FramingError';
  /** A code that stays the same between versions. */
  declare readonly code: FramingErrorCode;

  /**
   * Creates an error.
   *
   * @param code the stable reason
   * @param message the reason for people
   */
  constructor(code: FramingErrorCode, message: string) {
    super({ code, message });
  }
}

/** Options of a {@link FrameSplitter}. */
export interface FrameSplitterOptions {
  /** The maximum size of a frame, in bytes. @default 1048576 */
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
const INITIAL_BYTES = 4096;

/** The position in a frame: before or in its payload (`body`), right after the payload, or in the metadata. */
type Position = 'body' | 'after-payload' | 'metadata';

/**
 * Splits bytes into frames, in whatever chunks they arrive. A frame ends with its line (LF or CRLF). For senders that write no line ends, it
 * also ends with the closing bracket of its metadata or, without metadata, where the next frame begins or the bytes end. Empty lines are skipped.
 *
 * The frames are not validated. The work is linear in the number of bytes, and the buffer never holds more than one frame and one chunk.
 *
 * @example
 * const splitter = new FrameSplitter();
 * for await (const chunk of response.body) for (const frame of splitter.push(chunk)) receive(frame);
 * for (const frame of splitter.end()) receive(frame);
 */
export class FrameSplitter {
  readonly #limit: number;
  // Keeps byte order marks, which the parser rejects: a frame never begins with one.
  readonly #utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  #buffer = new Uint8Array(INITIAL_BYTES);
  #bufferLength = 0;
  #position: Position = 'body';
  #depth = 0;
  #isEscaped = false;
  #error: FramingError | undefined;

  /**
   * Creates a splitter for one sequence of bytes.
   *
   * @throws TypeError if the limit is invalid
   */
  constructor({ maxFrameBytes = MAX_FRAME_BYTES }: FrameSplitterOptions = {}) {
    if (!(maxFrameBytes >= 1)) throw new TypeError(`maxFrameBytes must be a number >= 1; got ${maxFrameBytes}`);
    this.#limit = maxFrameBytes;
  }

  /**
   * Takes the next bytes and returns the frames that they complete.
   *
   * @throws FramingError `too-large` or `not-utf8`, after the frames before it have been returned; nothing can be read after it
   */
  push(chunk: Uint8Array): string[] {
    if (this.#error !== undefined) throw this.#error;
    const frames: string[] = [];
    let from = 0;
    try {
      for (let at = 0; at < chunk.length; at++) {
        const end = this.#next(chunk[at]!, at);
        if (end < 0) continue;
        this.#take(chunk.subarray(from, end), frames);
        from = end;
      }
      this.#append(chunk.subarray(from));
    } catch (thrown) {
      if (!(thrown instanceof FramingError)) throw thrown;
      this.#error = thrown;
      if (frames.length === 0) throw thrown;
    }
    return frames;
  }

  /**
   * Ends the bytes and returns the last frame, if it is complete.
   *
   * @throws FramingError `truncated` if the bytes end within a frame, or the error that `push` has not thrown yet
   */
  end(): string[] {
    if (this.#error !== undefined) throw this.#error;
    const frames: string[] = [];
    const isWhole = this.#position === 'after-payload';
    // The LF of a line end may be missing.
    if (this.#bufferLength > 0 && this.#buffer[this.#bufferLength - 1] === CR) this.#bufferLength--;
    this.#take(new Uint8Array(0), frames);
    if (frames.length === 0 || isWhole) return frames;
    this.#error = new FramingError('truncated', `The bytes end within a frame: ${excerpt(frames[0]!)}`);
    throw this.#error;
  }

  /** @returns the position in the chunk at which a frame ends, or a negative number */
  #next(byte: number, at: number): number {
    // A frame never holds a line end, escaped or not: after garbled bytes, the next line is a new frame.
    if (byte === LF) return at + 1;
    if (this.#isEscaped) {
      this.#isEscaped = false;
      return -1;
    }
    if (this.#position === 'after-payload') {
      // A frame without metadata has ended.
      if (byte === AT) return at;
      if (byte === OPEN_BRACKET) this.#position = 'metadata';
      else if (byte !== CR) this.#position = 'body';
    }
    if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#depth++;
    else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && this.#depth > 0 && --this.#depth === 0) {
      if (this.#position === 'metadata') return at + 1;
      if (byte === CLOSE_BRACE) this.#position = 'after-payload';
    }
    return -1;
  }

  #take(bytes: Uint8Array, frames: string[]): void {
    let frame = bytes;
    if (this.#bufferLength > 0) {
      this.#append(bytes);
      frame = this.#buffer.subarray(0, this.#bufferLength);
    }
    frame = withoutLineEnd(frame);
    this.#bufferLength = 0;
    this.#position = 'body';
    this.#depth = 0;
    this.#isEscaped = false;
    if (frame.length > this.#limit) throw this.#tooLarge();
    if (frame.length > 0) frames.push(this.#decode(frame));
    if (this.#buffer.length > INITIAL_BYTES) this.#buffer = new Uint8Array(INITIAL_BYTES);
  }

  #append(bytes: Uint8Array): void {
    const length = this.#bufferLength + bytes.length;
    // The limit does not include the line end.
    if (length > this.#limit + 2) throw this.#tooLarge();
    if (length > this.#buffer.length) {
      const grown = new Uint8Array(Math.max(length, Math.min(2 * this.#buffer.length, this.#limit + 2)));
      grown.set(this.#buffer.subarray(0, this.#bufferLength));
      this.#buffer = grown;
    }
    this.#buffer.set(bytes, this.#bufferLength);
    this.#bufferLength = length;
  }

  #decode(bytes: Uint8Array): string {
    try {
      return this.#utf8.decode(bytes);
    } catch {
      throw new FramingError('not-utf8', 'A frame contains bytes that are not UTF-8.');
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
