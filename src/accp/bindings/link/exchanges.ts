/** Frames of a link that go one by one, each in an exchange of its own: a request, and the frames that it is answered with. */

import { untilAborted } from '../../../async/abort.js';
import { after } from '../../../async/timers.js';
import { partsOfSession, type Session } from '../../session/session.js';
import { Arrivals } from '../arrivals.js';
import { readHead } from '../frames.js';
import { type Carrier, type CarrierReceiver, type Link, LinkError, type LinkOptions } from './contract.js';
import { checkSeconds, LEAST_TIMEOUT } from './heartbeat.js';
import { openLink } from './link.js';

export interface ExchangeOptions {
  /** Exchanges that are under way at once; messages wait for one of them to end, `cancel` does not. @default 64 */
  readonly maxExchanges?: number | undefined;
  /** Seconds without a frame after which an exchange has failed; `Infinity` for never. @default twice the session's `timeout`, at least 10 */
  readonly exchangeTimeout?: number | undefined;
}

interface Exchanging {
  readonly maxExchanges: number;
  readonly exchangeTimeout: number;
  readonly session: Session;
  /** Sends a frame, and gives those that come back. */
  readonly exchange: (frame: string, signal: AbortSignal) => AsyncIterable<string>;
  /** What has failed: `unreachable` is tried again. */
  readonly failureOf: (thrown: unknown) => LinkError;
}

/** Milliseconds for what is under way when a link is closed. */
const CLOSING = 2000;

/** All exchanges of a link. Those that are under way go on when another one has failed, and their answers wait for the next connection. */
class Exchanges {
  readonly #options: Exchanging;
  readonly #arrivals: Arrivals;
  readonly #open = new Set<AbortController>();
  /** Receives frames; undefined while the link is reconnecting. */
  #receiver: CarrierReceiver | undefined;
  #isPaused = false;
  #isOver = false;
  /** Why there are no more connections. */
  #replaced: LinkError | undefined;
  #wake: (() => void)[] = [];
  /** Those who wait for an exchange to end. */
  #waiting: (() => void)[] = [];

  constructor(options: Exchanging) {
    this.#options = options;
    this.#arrivals = new Arrivals(options.session);
  }

  connect(receiver: CarrierReceiver): Carrier {
    this.#isPaused = false;
    return new ExchangeCarrier(this, receiver);
  }

  /** The session goes on over another link. */
  replace(): void {
    this.#replaced = new LinkError('replaced', 'The session goes on over another link.');
    this.#receiver?.closed(this.#replaced);
  }

  get replaced(): LinkError | undefined {
    return this.#replaced;
  }

  /** The first frame of a connection goes out: what has come meanwhile is received by it, and not before. */
  begin(receiver: CarrierReceiver): void {
    this.#receiver = receiver;
    this.#wakeAll();
  }

  /** Resolves when another exchange may begin; `undefined` when it may now. */
  ready(): Promise<void> | undefined {
    if (this.#open.size < this.#options.maxExchanges) return undefined;
    return new Promise((resolve) => this.#waiting.push(resolve));
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

  /** A connection has ended: what comes waits for the next one. */
  leave(receiver: CarrierReceiver): void {
    if (this.#receiver === receiver) this.#receiver = undefined;
  }

  /** Nothing is wanted any more. What is under way may come to its end, for a while: it was sent, and has to arrive. */
  async end(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#arrivals.release();
    this.#wakeAll();
    const stopTimer = after(CLOSING * 1000, () => {
      for (const controller of this.#open) controller.abort(new LinkError('closed', 'The connection was closed.'));
    });
    while (this.#open.size > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    stopTimer();
  }

  /**
   * Sends a frame, and passes the answers to the receiver.
   *
   * @returns whether it was answered
   */
  async run(frame: string, controller: AbortController): Promise<boolean> {
    const { exchange, exchangeTimeout, failureOf } = this.#options;
    const { signal } = controller;
    const late = new LinkError('unreachable', `Nothing came within ${exchangeTimeout} s.`);
    const wait = (): (() => void) => after(exchangeTimeout * 1000, () => controller.abort(late));
    let isAnswered = false;
    let stopTimer = wait();
    this.#open.add(controller);
    try {
      for await (const answer of untilAborted(exchange(frame, signal), signal, () => undefined)) {
        stopTimer();
        isAnswered = true;
        while (this.#isWaiting) await new Promise<void>((resolve) => this.#wake.push(resolve));
        if (signal.aborted) break;
        const receive = (): void => this.#receiver?.frame(answer);
        this.#arrivals.add(answer, () => readHead(answer), receive, this.#open.size === 1);
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
      for (const wake of this.#waiting.splice(0)) wake();
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
  readonly opened: Promise<void>;
  readonly isExchange = true;
  readonly #exchanges: Exchanges;
  readonly #receiver: CarrierReceiver;
  readonly #own = new Set<AbortController>();
  #isOver = false;
  #isFirst = true;

  constructor(exchanges: Exchanges, receiver: CarrierReceiver) {
    this.#exchanges = exchanges;
    this.#receiver = receiver;
    this.opened = exchanges.replaced === undefined ? Promise.resolve() : Promise.reject(exchanges.replaced);
  }

  get isStopped(): boolean {
    return this.#exchanges.isPaused;
  }

  send(frame: string): void {
    if (this.#isOver) return;
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    if (isFirst) this.#exchanges.begin(this.#receiver);
    const controller = new AbortController();
    this.#own.add(controller);
    this.#exchanges
      .run(frame, controller)
      .then(
        (isAnswered) => {
          if (isFirst && !this.#isOver) this.#receiver.taken(isAnswered);
        },
        (error: LinkError) => this.#failed(error),
      )
      .finally(() => this.#own.delete(controller));
  }

  ready(): Promise<void> | undefined {
    return this.#isOver ? undefined : this.#exchanges.ready();
  }

  pause(): void {
    this.#exchanges.pause();
  }

  resume(): void {
    this.#exchanges.resume();
  }

  close(): void {
    this.#stop();
    void this.#exchanges.end();
  }

  terminate(): void {
    this.#stop();
    for (const controller of this.#own) controller.abort(new LinkError('closed', 'The connection was closed.'));
  }

  #failed(error: LinkError): void {
    if (this.#isOver) return;
    this.#stop();
    this.#receiver.closed(error);
  }

  #stop(): void {
    this.#isOver = true;
    this.#exchanges.leave(this.#receiver);
  }
}

/** Default least time without a frame after which an exchange has failed, in seconds: connecting takes time, too. */
const LEAST_EXCHANGE = 10;
/** Default number of attempts to reach the other side again: about 45 seconds. */
const ATTEMPTS = 8;

/** Those of the link that a session goes on over. */
const current = new WeakMap<Session, Exchanges>();

/**
 * @param exchanging how frames are exchanged
 * @throws LinkError when the other side cannot be reached, or refuses the first frame
 * @throws TypeError on invalid options
 */
export async function openExchanges(
  options: LinkOptions & ExchangeOptions,
  exchanging: Pick<Exchanging, 'exchange' | 'failureOf'>,
): Promise<Link> {
  const { session, reconnect, maxExchanges = 64 } = options;
  const { timeout } = partsOfSession(session).options;
  const { exchangeTimeout = timeout === 0 ? Number.POSITIVE_INFINITY : Math.max(2 * timeout, LEAST_EXCHANGE) } =
    options;
  checkSeconds({ exchangeTimeout: options.exchangeTimeout }, LEAST_TIMEOUT);
  if (!(maxExchanges >= 1)) throw new TypeError(`maxExchanges is a number from 1 on; got ${maxExchanges}`);
  const exchanges = new Exchanges({ ...exchanging, session, maxExchanges, exchangeTimeout });
  const link = await openLink((receiver) => exchanges.connect(receiver), {
    ...options,
    reconnect: reconnect === false ? false : { attempts: ATTEMPTS, ...reconnect },
    // An exchange that is not answered shows by itself that the other side has gone.
    heartbeat: 0,
  });
  current.get(session)?.replace();
  current.set(session, exchanges);
  void link.closed.then(() => exchanges.end());
  return link;
}
