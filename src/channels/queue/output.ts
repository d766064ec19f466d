/** The output of a connection over a message queue: what is sent, and kept until the other side has it. */
import { Queue } from '../../async/queue.js';
import type { Acknowledgement, NumberedFrame } from './frame.js';

/** A numbered frame, and the monotonic time at which it was last sent. */
interface Sent {
  readonly frame: NumberedFrame;
  at: number;
}

/** Milliseconds in which a frame is not sent again because a later one has overtaken it. */
const OVERTAKEN_MS = 20;
/** The largest number of frames that are sent again at once. */
const MAX_REPEATED = 64;

/** The most that may be sent and not acknowledged, whatever the other side grants. */
export interface SendWindow {
  readonly windowMessages: number;
  readonly windowBytes: number;
}

/** Frames in three states: waiting for a credit of the other side, sent, and acknowledged. */
export class Output {
  readonly #window: SendWindow;
  readonly #send: (frame: NumberedFrame) => void;
  readonly #waiting = new Queue<NumberedFrame>();
  readonly #sent = new Queue<Sent>();
  #lastNumber = 0;
  /** The number of the last frame that was sent, and the length of all frames so far. */
  #sentNumber = 0;
  #sentBytes = 0;
  #acknowledgedBytes = 0;
  #maxNumber = 0;
  #maxBytes = 0;
  #backlog = 0;
  /** The monotonic time of the last acknowledgement of a frame, or of the first frame after all were acknowledged. */
  #progressAt = 0;

  /** @param send publishes a frame */
  constructor(window: SendWindow, send: (frame: NumberedFrame) => void) {
    this.#window = window;
    this.#send = send;
  }

  /** The number of bytes that are not acknowledged. */
  get backlog(): number {
    return this.#backlog;
  }

  /** `true` if frames wait for a credit. */
  get isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** `true` if the other side has everything. */
  get isEmpty(): boolean {
    return this.#waiting.size + this.#sent.size === 0;
  }

  /** The number of the last frame. */
  get lastNumber(): number {
    return this.#lastNumber;
  }

  /** Adds a frame, and sends it if there is a credit. */
  push(kind: NumberedFrame['kind'], bytes: Uint8Array): void {
    this.#waiting.push({ kind, number: ++this.#lastNumber, bytes });
    this.#backlog += bytes.length;
    this.#pump();
  }

  /**
   * Removes what the other side has, sends again what was overtaken, and sends what the credits allow.
   *
   * @returns `false` if the acknowledgement cannot be one of this connection
   */
  acknowledge({ next, seen, maxNumber, maxBytes }: Acknowledgement): boolean {
    if (next > this.#sentNumber + 1 || seen > this.#sentNumber) return false;
    while (this.#sent.size > 0 && this.#sent.first!.frame.number < next) {
      const { length } = this.#sent.take().frame.bytes;
      this.#backlog -= length;
      this.#acknowledgedBytes += length;
      this.#progressAt = performance.now();
    }
    // An older acknowledgement may arrive after a newer one.
    this.#maxNumber = Math.max(this.#maxNumber, maxNumber);
    this.#maxBytes = Math.max(this.#maxBytes, maxBytes);
    if (seen > next) this.#repeat(performance.now() - OVERTAKEN_MS, seen);
    this.#pump();
    return true;
  }

  /** Sends the oldest frames again that were last sent before a time. @returns the time since the other side last acknowledged a frame */
  retry(before: number): number {
    this.#repeat(before, Number.POSITIVE_INFINITY);
    return this.#sent.size === 0 ? 0 : performance.now() - this.#progressAt;
  }

  clear(): void {
    this.#waiting.clear();
    this.#sent.clear();
    this.#backlog = 0;
  }

  #repeat(before: number, below: number): void {
    for (const sent of this.#sent.peek(MAX_REPEATED)) {
      if (sent.frame.number >= below) return;
      if (sent.at > before) continue;
      sent.at = performance.now();
      this.#send(sent.frame);
    }
  }

  /**
   * `true` if the next frame may be sent. A window of bytes that is not used up admits a frame of any length: this side does not know how long the
   * window of the other side is, and a frame that is longer than it would wait for ever.
   */
  get #hasCredit(): boolean {
    const { windowMessages, windowBytes } = this.#window;
    return (
      this.#sentNumber < this.#maxNumber &&
      this.#sentBytes < this.#maxBytes &&
      this.#sent.size < windowMessages &&
      this.#sentBytes - this.#acknowledgedBytes < windowBytes
    );
  }

  #pump(): void {
    for (let frame = this.#waiting.first; frame !== undefined && this.#hasCredit; frame = this.#waiting.first) {
      this.#waiting.take();
      const at = performance.now();
      if (this.#sent.size === 0) this.#progressAt = at;
      this.#sent.push({ frame, at });
      this.#sentNumber = frame.number;
      this.#sentBytes += frame.bytes.length;
      this.#send(frame);
    }
  }
}
