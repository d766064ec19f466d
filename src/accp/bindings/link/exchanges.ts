/** Carries frames of a link one by one, each in an exchange of its own: a request, and the frames that answer it. */

import { untilAborted } from '../../../async/abort.js';
import { after } from '../../../async/timers.js';
import { partsOfSession, type Session } from '../../session/session.js';
import { Arrivals } from '../arrivals.js';
import { readHead } from '../frames.js';
import { type Carrier, type CarrierReceiver, type Link, LinkError, type LinkOptions } from './contract.js';
import { checkSeconds, LEAST_TIMEOUT } from './heartbeat.js';
import { openLink } from './link.js';

export interface ExchangeOptions {
  /** Exchanges at once; messages wait for one of them to end, `cancel` does not. @default 64 */
  readonly maxExchanges?: number | undefined;
  /** Seconds without a frame after which an exchange fails; `Infinity` for never. @default twice the session's `timeout`, at least 10 */
  readonly exchangeTimeout?: number | undefined;
}

interface Exchanging {
  readonly maxExchanges: number;
  readonly exchangeTimeout: number;
  readonly session: Session;
  readonly exchange: (frame: string, signal: AbortSignal) => AsyncIterable<string>;
  /** `unreachable` is tried again. */
  readonly failureOf: (thrown: unknown) => LinkError;
}

/** Milliseconds for open exchanges when a link is closed. */
const CLOSING = 2000;

/** All exchanges of a link. When one fails, the others go on, and their answers wait for the next connection. */
class Exchanges {
  readonly #options: Exchanging;
  readonly #arrivals: Arrivals;
  readonly #open = new Set<AbortController>();
  /** Undefined while the link is reconnecting. */
  #receiver: CarrierReceiver | undefined;
  #isPaused = false;
  #isOver = false;
  #replaced: LinkError | undefined;
  #wake: (() => void)[] = [];
  /** Callers that wait for an exchange to end. */
  #waiting: (() => void)[] = [];

  constructor(options: Exchanging) {
    this.#options = options;
    this.#arrivals = new Arrivals(options.session);
  }

  connect(receiver: CarrierReceiver): Carrier {
    this.#isPaused = false;
    return new ExchangeCarrier(this, receiver);
  }

  replace(): void {
    this.#replaced = new LinkError('replaced', 'The session goes on over another link.');
    this.#receiver?.closed(this.#replaced);
  }

  get replaced(): LinkError | undefined {
    return this.#replaced;
  }

  /** Frames that have come since the last connection are received by this one, and not before its first frame goes out. */
  begin(receiver: CarrierReceiver): void {
    this.#receiver = receiver;
    this.#wakeAll();
  }

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

  leave(receiver: CarrierReceiver): void {
    if (this.#receiver === receiver) this.#receiver = undefined;
  }

  /** Open exchanges may end, for a while: their frames were sent, and have to arrive. */
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

  /** Sends a frame, and passes the answers to the receiver. @returns whether it was answered */
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

/** One connection: from its first exchange to one that fails. */
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

/** Seconds; connecting takes time, too. */
const LEAST_EXCHANGE = 10;
/** About 45 seconds. */
const ATTEMPTS = 8;

/** The exchanges of each session's current link. */
const current = new WeakMap<Session, Exchanges>();

/**
 * @throws LinkError when the other side cannot be reached, or refuses the first frame
 * @throws TypeError if an option is invalid
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
    // An exchange without an answer shows that the other side has gone.
    heartbeat: 0,
  });
  current.get(session)?.replace();
  current.set(session, exchanges);
  void link.closed.then(() => exchanges.end());
  return link;
}
