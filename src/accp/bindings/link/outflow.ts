/** What one side sends over connections that come and go: in order, and no further ahead than can be sent again. */
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
  /** Told of each message that went out. */
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

  /** Frames go out over this socket from now on; messages wait until it is open. */
  attach(socket: Carrier): void {
    this.#socket = socket;
    this.#window.restart();
  }

  open(): void {
    this.#isOpen = true;
    for (const wake of this.#wake.splice(0)) wake();
  }

  /** Messages wait for the next connection. */
  detach(): void {
    this.#isOpen = false;
    this.#socket = undefined;
  }

  /** Whoever waits is told why it has ended. */
  close(error: Error): void {
    this.#end = error;
    this.#window.release();
    for (const wake of this.#wake.splice(0)) wake();
  }

  /** A frame has come, whether it is processed now or not. */
  arrived(frame: string): void {
    this.#window.arrived(frame);
  }

  /** Nothing will come for now, so that nobody can wait for a `pong`. */
  release(): void {
    this.#window.release();
  }

  /**
   * Sends a message when all that were given before have gone, and the other side can take it.
   *
   * @param before told when it is about to go out; what it throws, the caller is told
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

  /** Sends what makes room: as soon as there is a connection, before messages that wait. */
  async sayUrgently(message: MessageInput): Promise<EncodeResult> {
    for (let open = this.#opened(); open !== undefined; open = this.#opened()) await open;
    return this.say(message);
  }

  /**
   * Answers a ping. Where the other side does not read, only the last one is answered, once it does: that tells of all before it, and
   * the answers do not pile up.
   */
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
      // A store that fails ends the session, and was told of.
      if (owed !== undefined && this.#end === undefined && this.#isOpen) notifyListener(() => this.say(owed));
    });
  }

  /** Sends a message at once: what answers a frame, or keeps the connection going. */
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

  /** What cannot be sent now is missed by the other side once it hears of this one again, and sent then. */
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

  /** @throws Error when it has ended */
  #opened(): Promise<void> | undefined {
    if (this.#end !== undefined) throw this.#end;
    if (this.#isOpen) return undefined;
    return new Promise((resolve) => this.#wake.push(resolve));
  }
}
