/** Sends frames over successive connections: in order, and no further ahead of the peer than can be sent again. */
import { notifyListener } from '../../../async/listeners.js';
import { Semaphore } from '../../../async/semaphore.js';
import type { EncodeResult } from '../../codec/contract.js';
import type { MessageInput } from '../../message/message.js';
import { partsOfSession } from '../../session/session.js';
import { StoreError } from '../../store/store.js';
import type { FrameTransport, LinkOptions } from './contract.js';
import { PING } from './heartbeat.js';
import { SendWindow } from './send-window.js';

interface SendQueueListener {
  readonly sent: (result: EncodeResult) => void;
  readonly storeFailed: (thrown: StoreError) => void;
}

export class SendQueue {
  readonly #options: Pick<LinkOptions, 'codec' | 'session'>;
  readonly #listener: SendQueueListener;
  readonly #window: SendWindow;
  readonly #mutex = new Semaphore(1);
  #socket: FrameTransport | undefined;
  #isOpen = false;
  #closeReason: Error | undefined;
  #wake: (() => void)[] = [];
  /** The answer to the last ping, while it waits. */
  #pendingPong: MessageInput | undefined;

  constructor(options: Pick<LinkOptions, 'codec' | 'session'>, listener: SendQueueListener) {
    this.#options = options;
    this.#listener = listener;
    this.#window = new SendWindow(partsOfSession(options.session).outbox.max);
  }

  /** Uses a socket. Messages wait until `open`. */
  attach(socket: FrameTransport): void {
    this.#socket = socket;
    this.#window.restart();
  }

  open(): void {
    this.#isOpen = true;
    for (const wake of this.#wake.splice(0)) wake();
  }

  detach(): void {
    this.#isOpen = false;
    this.#socket = undefined;
  }

  close(reason: Error): void {
    this.#closeReason = reason;
    this.#window.release();
    for (const wake of this.#wake.splice(0)) wake();
  }

  frameArrived(frame: string): void {
    this.#window.arrived(frame);
  }

  /** Stops waiting for a `pong`, since nothing arrives for now. */
  releaseWindow(): void {
    this.#window.release();
  }

  /**
   * Sends a message after all earlier ones, as soon as the peer can take it.
   *
   * @param beforeSend called right before the message is sent; an exception rejects
   */
  async sendInOrder(message: MessageInput | string, beforeSend?: () => void): Promise<EncodeResult> {
    const acquired = this.#mutex.acquire();
    const release = typeof acquired === 'function' ? acquired : await acquired;
    try {
      for (let ready = this.#ready(); ready !== undefined; ready = this.#ready()) await ready;
      beforeSend?.();
      return this.sendNow(message);
    } finally {
      release();
    }
  }

  /** Sends a message that frees resources, such as `cancel`: as soon as there is a connection, before messages that wait. */
  async sendUrgently(message: MessageInput): Promise<EncodeResult> {
    for (let open = this.#opened(); open !== undefined; open = this.#opened()) await open;
    return this.sendNow(message);
  }

  /** Answers a ping. While the peer does not read, only the last ping is answered later, so that answers do not pile up. */
  pong(pong: MessageInput): void {
    const ready = this.#pendingPong === undefined ? this.#socket?.ready() : undefined;
    if (this.#pendingPong === undefined && ready === undefined) {
      this.sendNow(pong);
      return;
    }
    this.#pendingPong = pong;
    void ready?.then(() => {
      const pending = this.#pendingPong;
      this.#pendingPong = undefined;
      // A store that fails ends the session, and was reported.
      if (pending !== undefined && this.#closeReason === undefined && this.#isOpen)
        notifyListener(() => this.sendNow(pending));
    });
  }

  /** Sends a message at once: an answer to a frame, or upkeep of the connection. */
  sendNow(message: MessageInput | string): EncodeResult {
    const { codec, session } = this.#options;
    return this.sendEncoded(() => codec.encode(message, session));
  }

  /** Encodes and sends frames in one step, so that they leave in the order of their numbers. */
  sendEncoded(encode: () => EncodeResult): EncodeResult {
    let result: EncodeResult;
    try {
      result = encode();
    } catch (thrown) {
      if (thrown instanceof StoreError) this.#listener.storeFailed(thrown);
      throw thrown;
    }
    this.sendFrames(result.frames);
    this.#listener.sent(result);
    return result;
  }

  /** Sends frames. The peer misses those that cannot be sent now after the reconnection, and they are sent then. */
  sendFrames(frames: readonly string[]): void {
    for (const frame of frames) {
      this.#socket?.send(frame);
      this.#window.sent(frame);
    }
    if (this.#window.takePingDue()) this.sendNow(PING);
  }

  #ready(): Promise<void> | undefined {
    const socket = this.#socket;
    return this.#opened() ?? (socket?.isReadingStopped === true ? undefined : this.#window.ready()) ?? socket?.ready();
  }

  #opened(): Promise<void> | undefined {
    if (this.#closeReason !== undefined) throw this.#closeReason;
    if (this.#isOpen) return undefined;
    return new Promise((resolve) => this.#wake.push(resolve));
  }
}
