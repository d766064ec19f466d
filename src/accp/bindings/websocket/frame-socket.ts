/** Frames over one WebSocket (draft-benzing-accp-00, section 11.2): text messages, one frame in each. */
import { CONNECTING, drained, OPEN, type WebSocketLike } from '../../../bindings/web-socket.js';
import { MAX_FRAME_BYTES } from '../frames.js';
import { CLOSE } from './errors.js';

export interface FrameSocketOptions {
  /** Most bytes of a frame; a longer one closes the socket with 1009. @default 1 MiB */
  readonly maxFrameBytes?: number | undefined;
  /** Bytes that may be buffered before senders have to wait. @default 1 MiB */
  readonly highWaterMark?: number | undefined;
}

/** Whom a socket tells. */
export interface FrameReceiver {
  readonly frame: (frame: string) => void;
  /** Told once, whichever side has closed it. */
  readonly closed: (end: SocketEnd) => void;
}

export interface SocketEnd {
  readonly code: number;
  readonly reason: string;
  readonly error: Error | undefined;
}

/** Closed without a word (RFC 6455, section 7.4.1). */
const ABNORMAL = 1006;
/** Milliseconds for the other side to confirm that the socket is closed. */
const CLOSING = 2000;

export class FrameSocket {
  readonly #socket: WebSocketLike;
  readonly #receiver: FrameReceiver;
  readonly #maxFrameBytes: number;
  readonly #highWaterMark: number;
  /** What came while nobody wanted it: browsers cannot be told to read nothing. */
  #held: string[] = [];
  #isPaused = false;
  #isClosing = false;
  #isOver = false;
  #error: Error | undefined;
  readonly opened: Promise<void>;

  /** @throws TypeError on options that are none */
  constructor(socket: WebSocketLike, receiver: FrameReceiver, options: FrameSocketOptions = {}) {
    const { maxFrameBytes = MAX_FRAME_BYTES, highWaterMark = 1_048_576 } = options;
    for (const [name, value] of Object.entries({ maxFrameBytes, highWaterMark }))
      if (!(value >= 1)) throw new TypeError(`${name} is a number from 1 on; got ${value}`);
    this.#socket = socket;
    this.#receiver = receiver;
    this.#maxFrameBytes = maxFrameBytes;
    this.#highWaterMark = highWaterMark;
    this.opened = new Promise((resolve) => {
      if (socket.readyState === CONNECTING) socket.addEventListener('open', () => resolve());
      else resolve();
    });
    socket.addEventListener('message', ({ data }) => this.#take(data));
    // What is too long or no UTF-8 is an error of the socket, which closes by itself; unheard, it would end the process.
    socket.addEventListener('error', (event) => {
      const { error, message } = event as { readonly error?: unknown; readonly message?: string };
      this.#error = error instanceof Error ? error : new Error(message ?? 'the WebSocket failed');
    });
    socket.addEventListener('close', ({ code, reason }) => this.#over(code, reason));
    if (socket.readyState > OPEN) queueMicrotask(() => this.#over(ABNORMAL, ''));
  }

  /** Whether nothing is read for now, so that silence means nothing. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Sends a frame, in order. After the end, nothing is sent. */
  send(frame: string): void {
    if (!this.#isClosing && !this.#isOver && this.#socket.readyState === OPEN) this.#socket.send(frame);
  }

  /** Resolves when it can take more; `undefined` when it can now. */
  ready(): Promise<void> | undefined {
    return this.#isOver ? undefined : drained(this.#socket, this.#highWaterMark);
  }

  pause(): void {
    this.#isPaused = true;
    this.#socket.pause?.();
  }

  resume(): void {
    this.#isPaused = false;
    while (!this.#isPaused && this.#held.length > 0) this.#receiver.frame(this.#held.shift()!);
    if (!this.#isPaused) this.#socket.resume?.();
  }

  /** Sends what waits, and closes. A side that does not answer to that is not waited for. */
  close(code: number, reason: string): void {
    if (this.#isClosing || this.#isOver) return;
    this.#isClosing = true;
    // A paused socket would not see the answer.
    this.#held = [];
    this.#socket.resume?.();
    this.#socket.close(code, reason);
    const timer: unknown = setTimeout(() => this.terminate(code, reason), CLOSING);
    (timer as { readonly unref?: () => void }).unref?.();
  }

  /** Drops the connection without another word. */
  terminate(code: number = ABNORMAL, reason = ''): void {
    if (this.#isOver) return;
    this.#isClosing = true;
    if (this.#socket.terminate === undefined) this.#socket.close();
    else this.#socket.terminate();
    this.#over(code, reason);
  }

  #take(data: unknown): void {
    if (this.#isClosing || this.#isOver) return;
    if (typeof data !== 'string') this.close(CLOSE.binary, 'frames are text');
    else if (byteLength(data) > this.#maxFrameBytes) this.close(CLOSE.tooBig, 'the frame is too long');
    else if (this.#isPaused) this.#held.push(data);
    else this.#receiver.frame(data);
  }

  #over(code: number, reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#held = [];
    this.#receiver.closed({ code, reason, error: this.#error });
  }
}

/** In UTF-8; frames are ASCII, so nearly always the number of characters. */
function byteLength(text: string): number {
  return /^[\0-\x7f]*$/.test(text) ? text.length : new TextEncoder().encode(text).length;
}
