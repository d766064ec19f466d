/** Sends frames over connections that come and go: in order, and no further ahead than can be sent again. */
import { notifyListener } from '../../../async/listeners.js';
import { Semaphore } from '../../../async/semaphore.js';
import type { EncodeResult } from '../../codec/contract.js';
import type { MessageInput } from '../../message/message.js';
import { partsOfSession } from '../../session/session.js';
import { StoreError } from '../../store/store.js';
import type { Carrier, LinkOptions } from './contract.js';
import { PING } from './heartbeat.js';
import { SendWindow } from './send-window.js';

interface OutflowListener {
  readonly said: (result: EncodeResult) => void;
  readonly storeFailed: (thrown: StoreError) => void;
}

export class Outflow {
  readonly #options: Pick<LinkOptions, 'codec' | 'session'>;
  readonly #listener: OutflowListener;
  readonly #window: SendWindow;
  readonly #turns = new Semaphore(1);
  #socket: Carrier | undefined;
  #isOpen = false;
  #end: Error | undefined;
  #wake: (() => void)[] = [];
  /** The answer to the last ping, while it waits. */
  #owed: MessageInput | undefined;

  constructor(options: Pick<LinkOptions, 'codec' | 'session'>, listener: OutflowListener) {
    this.#options = options;
    this.#listener = listener;
    this.#window = new SendWindow(partsOfSession(options.session).outbox.max);
  }

  /** Messages wait until the socket is open. */
  attach(socket: Carrier): void {
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

  close(error: Error): void {
    this.#end = error;
    this.#window.release();
    for (const wake of this.#wake.splice(0)) wake();
  }

  arrived(frame: string): void {
    this.#window.arrived(frame);
  }

  /** Nothing will come for now, so no `pong` can be waited for. */
  release(): void {
    this.#window.release();
  }

  /**
   * Sends a message when all earlier ones have gone, and the other side can take it.
   *
   * @param before called right before the message is sent; an exception rejects
   */
  async sayInTurn(message: MessageInput | string, before?: () => void): Promise<EncodeResult> {
    const turn = this.#turns.acquire();
    const end = typeof turn === 'function' ? turn : await turn;
    try {
      for (let ready = this.#ready(); ready !== undefined; ready = this.#ready()) await ready;
      before?.();
      return this.say(message);
    } finally {
      end();
    }
  }

  /** Sends what makes room: as soon as there is a connection, before waiting messages. */
  async sayUrgently(message: MessageInput): Promise<EncodeResult> {
    for (let open = this.#opened(); open !== undefined; open = this.#opened()) await open;
    return this.say(message);
  }

  /** Answers a ping. If the other side does not read, only the last ping is answered, once it does, so that answers do not pile up. */
  pong(pong: MessageInput): void {
    const ready = this.#owed === undefined ? this.#socket?.ready() : undefined;
    if (this.#owed === undefined && ready === undefined) {
      this.say(pong);
      return;
    }
    this.#owed = pong;
    void ready?.then(() => {
      const owed = this.#owed;
      this.#owed = undefined;
      // A store that fails ends the session, and was reported.
      if (owed !== undefined && this.#end === undefined && this.#isOpen) notifyListener(() => this.say(owed));
    });
  }

  /** Sends a message at once: an answer to a frame, or upkeep of the connection. */
  say(message: MessageInput | string): EncodeResult {
    const { codec, session } = this.#options;
    return this.sayMade(() => codec.encode(message, session));
  }

  /** Makes frames and sends them in one go, so that they go out in the order of their numbers. */
  sayMade(make: () => EncodeResult): EncodeResult {
    let result: EncodeResult;
    try {
      result = make();
    } catch (thrown) {
      if (thrown instanceof StoreError) this.#listener.storeFailed(thrown);
      throw thrown;
    }
    this.sendAll(result.frames);
    this.#listener.said(result);
    return result;
  }

  /** Frames that cannot be sent now are missed by the other side after the reconnection, and sent then. */
  sendAll(frames: readonly string[]): void {
    for (const frame of frames) {
      this.#socket?.send(frame);
      this.#window.sent(frame);
    }
    if (this.#window.takeDue()) this.say(PING);
  }

  #ready(): Promise<void> | undefined {
    const socket = this.#socket;
    return this.#opened() ?? (socket?.isStopped === true ? undefined : this.#window.ready()) ?? socket?.ready();
  }

  #opened(): Promise<void> | undefined {
    if (this.#end !== undefined) throw this.#end;
    if (this.#isOpen) return undefined;
    return new Promise((resolve) => this.#wake.push(resolve));
  }
}
