/** The input of a connection over a message queue: frames in order and without duplicates, joined to texts. */
import { Queue } from '../../async/queue.js';
import type { Acknowledgement, NumberedFrame } from './frame.js';

/** A part of the input, in order. */
export type Item =
  | { readonly kind: 'text'; readonly bytes: Uint8Array }
  | { readonly kind: 'tooLong'; readonly bytes: Uint8Array }
  | { readonly kind: 'end' };

/** Options of {@link Input}. */
export interface InputOptions {
  readonly maxTextBytes: number;
  readonly windowMessages: number;
  readonly windowBytes: number;
  /** The length of the longest frame in bytes, by which the other side may exceed the window. */
  readonly maxFrameBytes: number;
}

/** Frames that arrived, of which the receiver takes one text after another. */
export class Input {
  readonly #options: InputOptions;
  /** Frames after a missing one, by number. */
  readonly #early = new Map<number, NumberedFrame>();
  readonly #arrived = new Queue<NumberedFrame>();
  /** The parts of a text whose last part has not arrived. */
  #parts: Uint8Array[] = [];
  #partsLength = 0;
  #next = 1;
  #takenNumber = 0;
  #takenBytes = 0;
  /** The highest number and length that the other side may send, as last reported. */
  #reportedNumber = 0;
  #reportedBytes = 0;
  /** The length of all frames that were added. */
  #acceptedBytes = 0;

  constructor(options: InputOptions) {
    this.#options = options;
  }

  /** `true` if the other side should learn soon how much the receiver has taken. */
  get shouldReport(): boolean {
    const { windowMessages, windowBytes } = this.#options;
    return (
      this.#takenNumber + windowMessages / 2 >= this.#reportedNumber ||
      this.#takenBytes + windowBytes / 2 >= this.#reportedBytes
    );
  }

  /** Returns what the next frame to the other side reports. */
  report(): Acknowledgement {
    this.#reportedNumber = this.#takenNumber + this.#options.windowMessages;
    this.#reportedBytes = this.#takenBytes + this.#options.windowBytes;
    const seen = this.#early.size === 0 ? 0 : Math.min(...this.#early.keys());
    return { next: this.#next, seen, maxNumber: this.#reportedNumber, maxBytes: this.#reportedBytes };
  }

  /** Adds a frame. @returns `false` if it was there already, or the other side may not send it */
  add(frame: NumberedFrame): boolean {
    const { number } = frame;
    if (number < this.#next || number > this.#reportedNumber || this.#early.has(number)) return false;
    if (this.#acceptedBytes + frame.bytes.length > this.#reportedBytes + this.#options.maxFrameBytes) return false;
    this.#acceptedBytes += frame.bytes.length;
    this.#early.set(number, frame);
    for (let next = this.#early.get(this.#next); next !== undefined; next = this.#early.get(this.#next)) {
      this.#early.delete(this.#next++);
      this.#arrived.push(next);
    }
    return true;
  }

  /** Takes the next text or the end, if it has arrived. */
  take(): Item | undefined {
    while (this.#arrived.size > 0) {
      const { kind, bytes } = this.#arrived.take();
      this.#takenNumber++;
      this.#takenBytes += bytes.length;
      if (kind === 'end') return { kind };
      const length = this.#partsLength + bytes.length;
      if (length > this.#options.maxTextBytes) return { kind: 'tooLong', bytes: this.#parts[0] ?? bytes };
      if (kind === 'text' && this.#partsLength === 0) return { kind, bytes };
      // Any number of empty parts may arrive.
      if (bytes.length > 0) this.#parts.push(bytes);
      this.#partsLength = length;
      if (kind === 'text') return { kind, bytes: this.#joined() };
    }
    return undefined;
  }

  clear(): void {
    this.#early.clear();
    this.#arrived.clear();
    this.#parts = [];
    this.#partsLength = 0;
  }

  #joined(): Uint8Array {
    const text = new Uint8Array(this.#partsLength);
    let at = 0;
    for (const part of this.#parts) {
      text.set(part, at);
      at += part.length;
    }
    this.#parts = [];
    this.#partsLength = 0;
    return text;
  }
}
