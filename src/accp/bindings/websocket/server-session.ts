/** A session of a server, and its current connection. */

import { Semaphore } from '../../../async/semaphore.js';
import { afterUnref } from '../../../async/timers.js';
import type { Codec } from '../../codec/codec.js';
import type { MessageInput } from '../../message/message.js';
import { partsOfSession, type Session } from '../../session/session.js';
import { StoreError } from '../../store/store.js';
import type { Endpoint } from '../endpoint.js';
import { EventLoopYield, type FrameHead } from '../frames.js';
import { CLOSE } from '../link/contract.js';
import { type Heartbeat, type HeartbeatOptions, PING, startHeartbeat } from '../link/heartbeat.js';
import { SendWindow } from '../link/send-window.js';
import { isStale } from '../reorder-buffer.js';
import type { FrameSocket, SocketEnd } from './frame-socket.js';

interface ServerSessionOptions extends HeartbeatOptions {
  readonly resumeWindowMs: number;
  readonly maxInFlight: number;
  readonly onError: (error: Error) => void;
  /** The connection was lost; the client may reconnect. */
  readonly onDetached: () => void;
  /** The client is not expected to reconnect. */
  readonly onEnded: () => void;
}

const REGISTRY = />sync:registry[{[]/;
const CANCEL = /^@[^>]*>cancel:/;

/** Limits of the messages that wait for the handler before reading stops: their number, and their characters in total. */
const MAX_WAITING = 1024;
const MAX_WAITING_LENGTH = 4_194_304;

export class ServerSession {
  readonly #endpoint: Endpoint;
  readonly #session: Session;
  readonly #options: ServerSessionOptions;
  readonly #release: () => void;
  /** Controllers of the frames that are processed: one for all would have too many listeners. */
  readonly #controllers = new Set<AbortController>();
  /** Limits the messages that are handled concurrently; others wait, in order. */
  readonly #slots: Semaphore;
  /** Messages that are handled, or wait for the handler. */
  #admitted = 0;
  #waiting = 0;
  #waitingLength = 0;
  readonly #window: SendWindow;
  /** Serializes the messages that this side sends on its own. */
  readonly #mutex = new Semaphore(1);
  #socket: FrameSocket | undefined;
  #heartbeat: Heartbeat | undefined;
  #stopResumeTimer = (): void => undefined;
  #wake: (() => void)[] = [];
  /** Frames that are decoded, wait for the handler, are handled, or wait to be sent. */
  #activeFrames = 0;
  #hasEnded = false;
  readonly #turnYield = new EventLoopYield();
  #isPinging = false;
  #wasBusy = false;

  constructor(endpoint: Endpoint, session: Session, options: ServerSessionOptions) {
    this.#endpoint = endpoint;
    this.#session = session;
    this.#options = options;
    this.#release = endpoint.retain(session);
    this.#window = new SendWindow(partsOfSession(session).outbox.max);
    this.#slots = new Semaphore(options.maxInFlight);
  }

  get sid(): string {
    return this.#session.id;
  }

  get isConnected(): boolean {
    return this.#socket !== undefined;
  }

  isStale(head: FrameHead): boolean {
    return isStale(head, this.#session);
  }

  connect(socket: FrameSocket, first: string): void {
    this.#socket?.close(CLOSE.replaced, 'the session continues over another connection');
    this.#stopResumeTimer();
    this.#socket = socket;
    this.#window.restart();
    if (this.#isBusy) socket.pause();
    this.#heartbeat?.stop();
    this.#heartbeat = startHeartbeat(this.#options, socket, () => void this.#ping());
    void this.#answerRegistry(socket, first);
    for (const wake of this.#wake.splice(0)) wake();
  }

  /** Answers the first frame with a registry. The codec does so only if it has not done so before. */
  async #answerRegistry(socket: FrameSocket, first: string): Promise<void> {
    const isAnswered = await this.#process(first, REGISTRY);
    // After a reconnection, its number shows how far this side has got: the client misses lost frames now, and requests them.
    if (!isAnswered && this.#socket === socket)
      await this.#sendEncoded((codec) => codec.announce(this.#session).frames);
  }

  receive(frame: string): void {
    this.frameArrived(frame);
    void this.#process(frame);
  }

  /** Answers a frame. The number of concurrent messages is limited, but a `cancel` is handled immediately. */
  async #process(frame: string, pattern?: RegExp): Promise<boolean> {
    const controller = new AbortController();
    this.#controllers.add(controller);
    let isAdmitted = false;
    let release: (() => void) | undefined;
    const isUrgent = CANCEL.test(frame);
    const admit = (): Promise<void> | undefined => {
      if (isUrgent) return undefined;
      isAdmitted = true;
      this.#admitted++;
      const acquired = this.#slots.acquire(controller.signal);
      if (typeof acquired === 'function') {
        release = acquired;
        this.#updateReading();
        return undefined;
      }
      const admitted = (releaseSlot?: () => void): void => {
        release = releaseSlot;
        this.#waiting--;
        this.#waitingLength -= frame.length;
        this.#updateReading();
      };
      this.#waiting++;
      this.#waitingLength += frame.length;
      this.#updateReading();
      return acquired.then(admitted, () => admitted());
    };
    try {
      return await this.#sendAll(this.#endpoint.receive(frame, this.#session, controller.signal, admit), pattern);
    } finally {
      this.#controllers.delete(controller);
      if (isAdmitted) this.#admitted--;
      release?.();
      this.#updateReading();
    }
  }

  /** Takes note of a frame that has arrived, even if it is not processed yet. */
  frameArrived(frame: string): void {
    this.#heartbeat?.alive();
    this.#window.arrived(frame);
  }

  /** Stops waiting for a `pong`, since nothing is read for now. */
  readingStopped(): void {
    this.#window.release();
  }

  /**
   * Sends a message.
   *
   * @returns `true` if it was sent
   * @throws AccpError if the message cannot be sent
   * @throws StoreError if the session's store fails
   */
  async send(message: MessageInput | string): Promise<boolean> {
    const acquired = this.#mutex.acquire();
    const release = typeof acquired === 'function' ? acquired : await acquired;
    try {
      // Frames are not numbered while there is no connection.
      if (!(await this.#ready())) return false;
      // A message that cannot be encoded does not use a number.
      const failures: unknown[] = [];
      await this.#sendEncoded((codec) => {
        try {
          return codec.encode(message, this.#session).frames;
        } catch (thrown) {
          failures.push(thrown);
          if (thrown instanceof StoreError) throw thrown;
          return [];
        }
      });
      if (failures.length > 0) throw failures[0];
      return true;
    } finally {
      release();
    }
  }

  /** Sends one ping at a time: if the client reads nothing, more of them would only pile up. */
  async #ping(): Promise<void> {
    if (this.#isPinging) return;
    this.#isPinging = true;
    await this.#sendEncoded((codec) => codec.encode(PING, this.#session).frames);
    this.#isPinging = false;
  }

  disconnected(socket: FrameSocket, { code }: SocketEnd): void {
    if (this.#socket !== socket) return;
    this.#socket = undefined;
    this.#heartbeat?.stop();
    if (code === CLOSE.normal) this.end();
    else {
      this.#stopResumeTimer = afterUnref(this.#options.resumeWindowMs, () => this.end());
      this.#options.onDetached();
    }
  }

  close(code: number, reason: string): void {
    this.#socket?.close(code, reason);
    this.end();
  }

  /** Ends the session's work. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#stopResumeTimer();
    this.#heartbeat?.stop();
    const reason = new Error('the client has disconnected');
    for (const controller of this.#controllers) controller.abort(reason);
    partsOfSession(this.#session).streams.disconnect();
    this.#window.release();
    for (const wake of this.#wake.splice(0)) wake();
    this.#release();
    this.#options.onEnded();
  }

  async #sendEncoded(make: (codec: Codec) => readonly string[]): Promise<void> {
    await this.#sendAll(this.#endpoint.send(make, this.#session));
  }

  /**
   * Sends frames as they are made. Without a connection, they are not requested.
   *
   * @returns `true` if one of them matches `pattern`
   */
  async #sendAll(frames: AsyncIterable<string>, pattern?: RegExp): Promise<boolean> {
    let isFound = false;
    this.#activeFrames++;
    this.#updateReading();
    try {
      for await (const frame of frames) {
        if (!(await this.#ready())) return isFound;
        this.#socket?.send(frame);
        this.#window.sent(frame);
        // Not awaited: the ping waits until this frame has been sent.
        if (this.#window.takePingDue()) void this.#ping();
        isFound ||= pattern?.test(frame) === true;
        await this.#turnYield.next();
      }
    } catch (thrown) {
      this.#handleFailure(thrown);
    } finally {
      this.#activeFrames--;
      this.#updateReading();
    }
    return isFound;
  }

  get #isBusy(): boolean {
    const isFull = this.#waiting >= MAX_WAITING || this.#waitingLength >= MAX_WAITING_LENGTH;
    return isFull || this.#activeFrames - this.#admitted >= this.#options.maxInFlight;
  }

  #updateReading(): void {
    const isBusy = this.#isBusy;
    if (isBusy === this.#wasBusy) return;
    this.#wasBusy = isBusy;
    if (isBusy) this.#socket?.pause();
    else this.#socket?.resume();
  }

  /** Reports a failure. If the store failed, the session ends; a client that reconnects gets a session with the stored state. */
  #handleFailure(thrown: unknown): void {
    this.#options.onError(thrown instanceof Error ? thrown : new Error(String(thrown)));
    if (!(thrown instanceof StoreError)) return;
    this.#socket?.close(CLOSE.failed, 'the session has failed');
    this.end();
  }

  /** Waits until a frame can be sent. @returns `false` if the client is not expected to reconnect */
  async #ready(): Promise<boolean> {
    for (;;) {
      if (this.#hasEnded) return false;
      if (this.#socket === undefined) await new Promise<void>((resolve) => this.#wake.push(resolve));
      else {
        const ready = (this.#socket.isReadingStopped ? undefined : this.#window.ready()) ?? this.#socket.ready();
        if (ready === undefined) return true;
        await ready;
      }
    }
  }
}
