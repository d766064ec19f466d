/** Frames of a link that go one by one, each in an exchange of its own: a request, and the frames that it is answered with. */
import { after } from '../../../bindings/after.js';
import { Fifo } from '../../../channels/fifo.js';
import type { Session } from '../../session/session.js';
import { untilAborted } from '../endpoint-signals.js';
import { Arrivals } from './arrivals.js';
import type { Carrier, CarrierReceiver } from './carrier.js';
import { LinkError } from './errors.js';

export interface ExchangeOptions {
  /**
   * Seconds that a frame waits for the answer to the one before to begin: frames have to arrive in the order of their numbers, and by
   * then the one before has been sent. `Infinity`: one exchange at a time. @default 0.02
   */
  readonly overlap?: number | undefined;
  /** Seconds without a frame after which an exchange has failed; `Infinity` for never. @default twice the session's `timeout`, at least 10 */
  readonly exchangeTimeout?: number | undefined;
}

export interface Exchanging {
  readonly overlap: number;
  readonly exchangeTimeout: number;
  readonly session: Session;
  /**
   * Sends a frame, and gives those that come back.
   *
   * @param taken to be called when the other side has the frame, where that is known before an answer comes
   */
  readonly exchange: (frame: string, signal: AbortSignal, taken: () => void) => AsyncIterable<string>;
  /** Whether the other side works on when an exchange is left. */
  readonly isOutlived?: boolean | undefined;
  /** What has failed: `unreachable` is tried again. */
  readonly failureOf: (thrown: unknown) => LinkError;
}

/** Milliseconds for what waits to be sent when a link is closed. */
const CLOSING = 2000;

/** All exchanges of a link. Those that are under way go on when another one has failed, and their answers wait for the next connection. */
export class Exchanges {
  readonly #options: Exchanging;
  readonly #arrivals: Arrivals;
  readonly #open = new Set<AbortController>();
  /** Receives frames; undefined while the link is reconnecting. */
  #receiver: CarrierReceiver | undefined;
  #isPaused = false;
  #isOver = false;
  #closing: Promise<void> | undefined;
  #wake: (() => void)[] = [];

  constructor(options: Exchanging) {
    this.#options = options;
    this.#arrivals = new Arrivals(options.session, (frame) => this.#receiver?.frame(frame));
  }

  connect(receiver: CarrierReceiver): Carrier {
    this.#isPaused = false;
    return new ExchangeCarrier(this, receiver, this.#options);
  }

  /** The first frame of a connection goes out: what has come meanwhile is received by it, and not before. */
  begin(receiver: CarrierReceiver): void {
    this.#receiver = receiver;
    this.#wakeAll();
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  pause(): void {
    this.#isPaused = true;
    this.#receiver?.stopped();
  }

  resume(): void {
    this.#isPaused = false;
    this.#wakeAll();
  }

  /** @param sent resolves when what waits is sent */
  close(sent: Promise<void>): void {
    this.#closing = sent;
    void this.end();
  }

  /** A connection has ended: what comes waits for the next one. */
  leave(receiver: CarrierReceiver): void {
    if (this.#receiver === receiver) this.#receiver = undefined;
  }

  /** Nothing is wanted any more, once what waits is sent. */
  async end(): Promise<void> {
    await this.#closing;
    this.#isOver = true;
    this.#arrivals.release();
    for (const controller of this.#open) controller.abort(new LinkError('closed', 'The connection was closed.'));
    this.#wakeAll();
  }

  /**
   * Sends a frame, and passes the answers to the receiver.
   *
   * @param taken called when the other side has the frame
   * @returns whether it was answered
   */
  async run(frame: string, controller: AbortController, taken: () => void): Promise<boolean> {
    const { exchange, exchangeTimeout, failureOf } = this.#options;
    const { signal } = controller;
    const late = new LinkError('unreachable', `Nothing came within ${exchangeTimeout} s.`);
    const wait = (): (() => void) => after(exchangeTimeout, () => controller.abort(late));
    let isAnswered = false;
    let stopTimer = wait();
    this.#open.add(controller);
    try {
      for await (const answer of untilAborted(exchange(frame, signal, taken), signal, () => undefined)) {
        stopTimer();
        isAnswered = true;
        taken();
        while (this.#isWaiting) await new Promise<void>((resolve) => this.#wake.push(resolve));
        if (signal.aborted) break;
        this.#arrivals.add(answer, this.#open.size === 1);
        stopTimer = wait();
      }
      signal.throwIfAborted();
      return isAnswered;
    } catch (thrown) {
      this.#arrivals.failed();
      if (signal.aborted && signal.reason instanceof LinkError) throw signal.reason;
      throw failureOf(thrown);
    } finally {
      stopTimer();
      this.#open.delete(controller);
      if (this.#open.size === 0 && !this.#isWaiting) this.#arrivals.release();
    }
  }

  get #isWaiting(): boolean {
    return (this.#isPaused || this.#receiver === undefined) && !this.#isOver;
  }

  #wakeAll(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}

/** One connection: from its first exchange up to one that fails. */
class ExchangeCarrier implements Carrier {
  readonly opened = Promise.resolve();
  readonly isAsking = true;
  readonly #exchanges: Exchanges;
  readonly #receiver: CarrierReceiver;
  readonly #overlap: number;
  readonly isOutlived: boolean;
  readonly #queue = new Fifo<string>();
  readonly #own = new Set<AbortController>();
  #isSending = false;
  #isOver = false;
  #isFirst = true;
  #idle: (() => void)[] = [];

  constructor(exchanges: Exchanges, receiver: CarrierReceiver, { overlap, isOutlived = false }: Exchanging) {
    this.#exchanges = exchanges;
    this.#receiver = receiver;
    this.#overlap = overlap;
    this.isOutlived = isOutlived;
  }

  get isStopped(): boolean {
    return this.#exchanges.isPaused;
  }

  send(frame: string): void {
    if (this.#isOver) return;
    this.#queue.push(frame);
    if (!this.#isSending) void this.#sendAll();
  }

  ready(): Promise<void> | undefined {
    return this.#isSending && !this.#isOver ? new Promise((resolve) => this.#idle.push(resolve)) : undefined;
  }

  pause(): void {
    this.#exchanges.pause();
  }

  resume(): void {
    this.#exchanges.resume();
  }

  close(): void {
    let timer: unknown;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, CLOSING)));
    const sent = Promise.race([this.ready(), late]).then(() => {
      clearTimeout(timer as never);
      this.#stop();
    });
    this.#exchanges.close(sent);
  }

  terminate(): void {
    this.#stop();
    for (const controller of this.#own) controller.abort(new LinkError('closed', 'The connection was closed.'));
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    while (this.#queue.size > 0) await this.#begin(this.#queue.take());
    this.#isSending = false;
    for (const idle of this.#idle.splice(0)) idle();
  }

  /** Resolves when the next frame may follow. */
  #begin(frame: string): Promise<void> {
    return new Promise((resolve) => {
      const stopTimer = after(this.#overlap, resolve);
      const taken = (): void => {
        stopTimer();
        resolve();
      };
      const isFirst = this.#isFirst;
      this.#isFirst = false;
      if (isFirst) this.#exchanges.begin(this.#receiver);
      const controller = new AbortController();
      this.#own.add(controller);
      this.#exchanges
        .run(frame, controller, taken)
        .then(
          (isAnswered) => {
            if (isFirst && !isAnswered && !this.#isOver) this.#receiver.taken();
          },
          (error: LinkError) => this.#failed(error),
        )
        .finally(() => {
          this.#own.delete(controller);
          taken();
        });
    });
  }

  #failed(error: LinkError): void {
    if (this.#isOver) return;
    this.#stop();
    this.#receiver.closed(error);
  }

  #stop(): void {
    this.#isOver = true;
    this.#queue.clear();
    this.#exchanges.leave(this.#receiver);
  }
}
