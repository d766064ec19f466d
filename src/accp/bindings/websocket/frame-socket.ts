/** Carries frames over one WebSocket (draft-benzing-accp-00, section 11.2): one frame per text message. */

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
import { CLOSE, type FrameTransport, type FrameTransportListener } from '../link/contract.js';

/** Limits of a WebSocket that carries frames. */
export interface FrameSocketOptions {
  /** The maximum size of a frame, in bytes; a longer one closes the socket with 1009. @default 1048576 */
  readonly maxFrameBytes?: number | undefined;
  /** Number of buffered bytes above which senders wait. @default 1048576 */
  readonly highWaterMark?: number | undefined;
}

interface FrameListener extends Pick<FrameTransportListener, 'frame' | 'buffered' | 'readingStopped'> {
  /** Called once, whichever side has closed the socket. */
  readonly closed: (end: SocketEnd) => void;
}

export interface SocketEnd {
  readonly code: number;
  readonly reason: string;
  readonly error: Error | undefined;
}

/** The code of a socket that was closed without a close frame (RFC 6455, section 7.4.1). */
const ABNORMAL = 1006;
/**
 * Limits of the buffered frames at which reading stops: their number, and their characters. They are more than the peer sends before it
 * waits for a `pong`.
 */
const MAX_BUFFERED = 1024;
const MAX_BUFFERED_LENGTH = 2_097_152;
/** Milliseconds for the peer to confirm the close. */
const CLOSE_TIMEOUT_MS = 2000;

export class FrameSocket implements FrameTransport {
  readonly #socket: WebSocketLike;
  readonly #listener: FrameListener;
  readonly #maxFrameBytes: number;
  readonly #highWaterMark: number;
  readonly #buffered = new Queue<string>();
  #bufferedLength = 0;
  #isPaused = false;
  #isReadingStopped = false;
  #isClosing = false;
  #hasEnded = false;
  #error: Error | undefined;
  readonly opened: Promise<void>;

  constructor(socket: WebSocketLike, listener: FrameListener, options: FrameSocketOptions = {}) {
    const { maxFrameBytes = MAX_FRAME_BYTES, highWaterMark = 1_048_576 } = options;
    checkFrameSocket(options);
    this.#socket = socket;
    this.#listener = listener;
    this.#maxFrameBytes = maxFrameBytes;
    this.#highWaterMark = highWaterMark;
    this.opened = new Promise((resolve) => {
      if (socket.readyState === CONNECTING) socket.addEventListener('open', () => resolve());
      else resolve();
    });
    socket.addEventListener('message', ({ data }) => this.#receive(data));
    // A message that is too long or not UTF-8 is an error of the socket, which closes by itself; without a listener, it would end the process.
    socket.addEventListener('error', (event) => {
      const { error, message } = event as { readonly error?: unknown; readonly message?: string };
      this.#error = error instanceof Error ? error : new Error(message ?? 'the WebSocket failed');
    });
    socket.addEventListener('close', ({ code, reason }) => this.#end(publicCode(code), reason));
    if (socket.readyState > OPEN) queueMicrotask(() => this.#end(ABNORMAL, ''));
  }

  get isReadingStopped(): boolean {
    return this.#isReadingStopped;
  }

  send(frame: string): void {
    if (!this.#isClosing && !this.#hasEnded && this.#socket.readyState === OPEN) this.#socket.send(frame);
  }

  ready(): Promise<void> | undefined {
    return this.#hasEnded ? undefined : drained(this.#socket, this.#highWaterMark);
  }

  /**
   * Stops passing frames on. The socket keeps reading for a while, so that a `pong` behind them is seen. Then it stops reading, unless it is a
   * browser's: there, the peer has to wait for a `pong`.
   */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    while (!this.#isPaused && this.#buffered.size > 0) {
      const frame = this.#buffered.take();
      this.#bufferedLength -= frame.length;
      this.#listener.frame(frame);
    }
    if (this.#isReadingStopped && !this.#isFull) {
      this.#isReadingStopped = false;
      this.#socket.resume?.();
    }
  }

  /** Closes the socket, and terminates it if the peer does not confirm the close in time. */
  close(code: number, reason: string): void {
    if (this.#isClosing || this.#hasEnded) return;
    this.#isClosing = true;
    // A paused socket would not see the confirmation.
    this.#clearBuffer();
    this.#socket.resume?.();
    afterUnref(CLOSE_TIMEOUT_MS, () => this.terminate(code, reason));
    closeWebSocket(this.#socket, code, reason);
  }

  terminate(code: number = ABNORMAL, reason = ''): void {
    if (this.#hasEnded) return;
    this.#isClosing = true;
    if (this.#socket.terminate === undefined) closeWebSocket(this.#socket);
    else this.#socket.terminate();
    this.#end(code, reason);
  }

  #receive(data: unknown): void {
    if (this.#isClosing || this.#hasEnded) return;
    if (typeof data !== 'string') this.close(CLOSE.binary, 'frames are text');
    else if (byteLength(data) > this.#maxFrameBytes) this.close(CLOSE.tooBig, 'the frame is too long');
    else if (this.#isPaused) this.#buffer(data);
    else this.#listener.frame(data);
  }

  #buffer(frame: string): void {
    this.#buffered.push(frame);
    this.#bufferedLength += frame.length;
    this.#listener.buffered(frame);
    if (this.#isReadingStopped || !this.#isFull || this.#socket.pause === undefined) return;
    this.#isReadingStopped = true;
    this.#socket.pause();
    this.#listener.readingStopped();
  }

  get #isFull(): boolean {
    return this.#buffered.size >= MAX_BUFFERED || this.#bufferedLength >= MAX_BUFFERED_LENGTH;
  }

  #clearBuffer(): void {
    this.#buffered.clear();
    this.#bufferedLength = 0;
  }

  #end(code: number, reason: string): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#clearBuffer();
    this.#listener.closed({ code, reason, error: this.#error });
  }
}

/** @throws TypeError if an option is invalid */
export function checkFrameSocket({ maxFrameBytes, highWaterMark }: FrameSocketOptions): void {
  for (const [name, value] of Object.entries({ maxFrameBytes, highWaterMark }))
    if (value !== undefined && !(value >= 1)) throw new TypeError(`${name} must be a number >= 1; got ${value}`);
}

/** Returns the length in UTF-8. Frames are ASCII, so it is nearly always the number of characters. */
function byteLength(text: string): number {
  return /^[\0-\x7f]*$/.test(text) ? text.length : new TextEncoder().encode(text).length;
}
