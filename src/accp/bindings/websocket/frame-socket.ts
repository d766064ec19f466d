/** Frames over one WebSocket (draft-benzing-accp-00, section 11.2): text messages, one frame in each. */

import { Queue } from '../../../async/queue.js';
import { afterUnref } from '../../../async/timers.js';
import {
  CONNECTING,
  closeWebSocket,
  drained,
  OPEN,
  publicCode,
  type WebSocketLike,
} from '../../../channels/websocket.js';
import { MAX_FRAME_BYTES } from '../frames.js';
import { type Carrier, type CarrierReceiver, CLOSE } from '../link/contract.js';

export interface FrameSocketOptions {
  /** Limit of a frame in bytes; a longer one closes the socket with 1009. @default 1 MiB */
  readonly maxFrameBytes?: number | undefined;
  /** Bytes that may be buffered before senders have to wait. @default 1 MiB */
  readonly highWaterMark?: number | undefined;
}

interface FrameReceiver extends Pick<CarrierReceiver, 'frame' | 'held' | 'stopped'> {
  /** Called once, whichever side has closed it. */
  readonly closed: (end: SocketEnd) => void;
}

export interface SocketEnd {
  readonly code: number;
  readonly reason: string;
  readonly error: Error | undefined;
}

/** Closed without a close frame (RFC 6455, section 7.4.1). */
const ABNORMAL = 1006;
/**
 * Limits of the frames that are held before reading stops: their number, and their characters. These are more than the other side sends before
 * it waits for a `pong`.
 */
const MAX_HELD = 1024;
const MAX_HELD_LENGTH = 2_097_152;
/** Milliseconds for the other side to confirm the close. */
const CLOSING = 2000;

export class FrameSocket implements Carrier {
  readonly #socket: WebSocketLike;
  readonly #receiver: FrameReceiver;
  readonly #maxFrameBytes: number;
  readonly #highWaterMark: number;
  readonly #held = new Queue<string>();
  #heldLength = 0;
  #isPaused = false;
  #isStopped = false;
  #isClosing = false;
  #isOver = false;
  #error: Error | undefined;
  readonly opened: Promise<void>;

  constructor(socket: WebSocketLike, receiver: FrameReceiver, options: FrameSocketOptions = {}) {
    const { maxFrameBytes = MAX_FRAME_BYTES, highWaterMark = 1_048_576 } = options;
    checkFrameSocket(options);
    this.#socket = socket;
    this.#receiver = receiver;
    this.#maxFrameBytes = maxFrameBytes;
    this.#highWaterMark = highWaterMark;
    this.opened = new Promise((resolve) => {
      if (socket.readyState === CONNECTING) socket.addEventListener('open', () => resolve());
      else resolve();
    });
    socket.addEventListener('message', ({ data }) => this.#take(data));
    // A message that is too long or not UTF-8 is an error of the socket, which closes by itself; without a listener, it would end the process.
    socket.addEventListener('error', (event) => {
      const { error, message } = event as { readonly error?: unknown; readonly message?: string };
      this.#error = error instanceof Error ? error : new Error(message ?? 'the WebSocket failed');
    });
    socket.addEventListener('close', ({ code, reason }) => this.#over(publicCode(code), reason));
    if (socket.readyState > OPEN) queueMicrotask(() => this.#over(ABNORMAL, ''));
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  send(frame: string): void {
    if (!this.#isClosing && !this.#isOver && this.#socket.readyState === OPEN) this.#socket.send(frame);
  }

  ready(): Promise<void> | undefined {
    return this.#isOver ? undefined : drained(this.#socket, this.#highWaterMark);
  }

  /**
   * Stops giving frames. It reads on for a while, so that a `pong` behind them is seen; then it stops reading, unless the socket is a
   * browser's: there, the other side has to wait for a `pong`.
   */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    while (!this.#isPaused && this.#held.size > 0) {
      const frame = this.#held.take();
      this.#heldLength -= frame.length;
      this.#receiver.frame(frame);
    }
    if (this.#isStopped && !this.#isFull) {
      this.#isStopped = false;
      this.#socket.resume?.();
    }
  }

  /** Does not wait for a side that does not confirm. */
  close(code: number, reason: string): void {
    if (this.#isClosing || this.#isOver) return;
    this.#isClosing = true;
    // A paused socket would not see the confirmation.
    this.#dropHeld();
    this.#socket.resume?.();
    afterUnref(CLOSING, () => this.terminate(code, reason));
    closeWebSocket(this.#socket, code, reason);
  }

  terminate(code: number = ABNORMAL, reason = ''): void {
    if (this.#isOver) return;
    this.#isClosing = true;
    if (this.#socket.terminate === undefined) closeWebSocket(this.#socket);
    else this.#socket.terminate();
    this.#over(code, reason);
  }

  #take(data: unknown): void {
    if (this.#isClosing || this.#isOver) return;
    if (typeof data !== 'string') this.close(CLOSE.binary, 'frames are text');
    else if (byteLength(data) > this.#maxFrameBytes) this.close(CLOSE.tooBig, 'the frame is too long');
    else if (this.#isPaused) this.#hold(data);
    else this.#receiver.frame(data);
  }

  #hold(frame: string): void {
    this.#held.push(frame);
    this.#heldLength += frame.length;
    this.#receiver.held(frame);
    if (this.#isStopped || !this.#isFull || this.#socket.pause === undefined) return;
    this.#isStopped = true;
    this.#socket.pause();
    this.#receiver.stopped();
  }

  get #isFull(): boolean {
    return this.#held.size >= MAX_HELD || this.#heldLength >= MAX_HELD_LENGTH;
  }

  #dropHeld(): void {
    this.#held.clear();
    this.#heldLength = 0;
  }

  #over(code: number, reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#dropHeld();
    this.#receiver.closed({ code, reason, error: this.#error });
  }
}

/** @throws TypeError if an option is invalid */
export function checkFrameSocket({ maxFrameBytes, highWaterMark }: FrameSocketOptions): void {
  for (const [name, value] of Object.entries({ maxFrameBytes, highWaterMark }))
    if (value !== undefined && !(value >= 1)) throw new TypeError(`${name} is a number from 1 on; got ${value}`);
}

/** In UTF-8; frames are ASCII, so nearly always the number of characters. */
function byteLength(text: string): number {
  return /^[\0-\x7f]*$/.test(text) ? text.length : new TextEncoder().encode(text).length;
}
