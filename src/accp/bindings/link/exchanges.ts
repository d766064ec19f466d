/** Carries frames of a link one by one, each in an exchange of its own: a request, and the frames that answer it. */

import { untilAborted } from '../../../async/abort.js';
import { after } from '../../../async/timers.js';
import { partsOfSession, type Session } from '../../session/session.js';
import { Arrivals } from '../arrivals.js';
import { checkDurations } from '../durations.js';
import { readHead } from '../frames.js';
import { type Carrier, type CarrierReceiver, type Link, LinkError, type LinkOptions } from './contract.js';
import { openLink } from './link.js';

export interface ExchangeOptions {
  /** Exchanges at once; messages wait for one of them to end, `cancel` does not. @default 64 */
  readonly maxExchanges?: number | undefined;
  /** Milliseconds without a frame after which an exchange fails; `Infinity` for never. @default twice the session's `timeoutMs`, at least 10000 */
  readonly exchangeTimeoutMs?: number | undefined;
}

interface Exchanging {
  readonly maxExchanges: number;
  readonly exchangeTimeoutMs: number;
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
  /** Exchanges that wait for a connection that reads. */
  #waiting: (() => void)[] = [];
  /** Callers that wait for an exchange to end. */
  #queued: (() => void)[] = [];

  constructor(options: Exchanging) {
    this.#options = options;
    this.#arrivals = new Arrivals(options.session);
  }

  /** Makes one connection: from its first exchange to one that fails. */
  connect(receiver: CarrierReceiver): Carrier {
    const own = new Set<AbortController>();
    let isOver = false;
    let isBegun = false;
    this.#isPaused = false;
    const isPaused = (): boolean => this.#isPaused;
    const stop = (): void => {
      isOver = true;
      if (this.#receiver === receiver) this.#receiver = undefined;
    };
    const send = async (frame: string): Promise<void> => {
      if (isOver) return;
      const isFirst = !isBegun;
      isBegun = true;
      // Frames that have come since the last connection are received now, and not before.
      if (isFirst) this.#go(() => (this.#receiver = receiver));
      const controller = new AbortController();
      own.add(controller);
      try {
        const isAnswered = await this.#run(frame, controller);
        if (isFirst && !isOver) receiver.taken(isAnswered);
      } catch (thrown) {
        if (isOver) return;
        stop();
        receiver.closed(thrown as LinkError);
      } finally {
        own.delete(controller);
      }
    };
    return {
      opened: this.#replaced === undefined ? Promise.resolve() : Promise.reject(this.#replaced),
      isExchange: true,
      get isStopped() {
        return isPaused();
      },
      send: (frame) => void send(frame),
      ready: () => (isOver || this.#open.size < this.#options.maxExchanges ? undefined : this.#exchangeEnd()),
      pause: () => {
        this.#isPaused = true;
        this.#receiver?.stopped();
      },
      resume: () => this.#go(() => (this.#isPaused = false)),
      close: () => {
        stop();
        void this.end();
      },
      terminate: () => {
        stop();
        closeAll(own);
      },
    };
  }

  replace(): void {
    this.#replaced = new LinkError('replaced', 'The session goes on over another link.');
    this.#receiver?.closed(this.#replaced);
  }

  /** Open exchanges may end, for a while: their frames were sent, and have to arrive. */
  async end(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#arrivals.release();
    this.#go(() => undefined);
    const stopTimer = after(CLOSING, () => closeAll(this.#open));
    while (this.#open.size > 0) await this.#exchangeEnd();
    stopTimer();
  }

  /** Sends a frame, and passes the answers to the receiver. @returns whether it was answered */
  async #run(frame: string, controller: AbortController): Promise<boolean> {
    const { exchange, exchangeTimeoutMs, failureOf } = this.#options;
    const { signal } = controller;
    const late = new LinkError('unreachable', `No frame arrived within ${exchangeTimeoutMs} ms.`);
    const wait = (): (() => void) => after(exchangeTimeoutMs, () => controller.abort(late));
    let isAnswered = false;
    let stopTimer = wait();
    this.#open.add(controller);
    try {
      for await (const answer of untilAborted(exchange(frame, signal), signal, () => undefined)) {
        stopTimer();
        isAnswered = true;
        while (this.#isWaiting) await new Promise<void>((resolve) => this.#waiting.push(resolve));
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
      for (const wake of this.#queued.splice(0)) wake();
    }
  }

  get #isWaiting(): boolean {
    return (this.#isPaused || this.#receiver === undefined) && !this.#isOver;
  }

  #exchangeEnd(): Promise<void> {
    return new Promise((resolve) => this.#queued.push(resolve));
  }

  /** Changes what exchanges wait for, and lets them see it. */
  #go(change: () => void): void {
    change();
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

function closeAll(controllers: Iterable<AbortController>): void {
  for (const controller of controllers) controller.abort(new LinkError('closed', 'The connection was closed.'));
}

/** Milliseconds; connecting takes time, too. */
const LEAST_EXCHANGE = 10_000;
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
  const { timeoutMs } = partsOfSession(session).options;
  const { exchangeTimeoutMs = Math.max(2 * timeoutMs, LEAST_EXCHANGE) } = options;
  checkDurations({ exchangeTimeoutMs: options.exchangeTimeoutMs });
  if (!(maxExchanges >= 1)) throw new TypeError(`maxExchanges must be a number >= 1; got ${maxExchanges}`);
  const exchanges = new Exchanges({ ...exchanging, session, maxExchanges, exchangeTimeoutMs });
  const link = await openLink((receiver) => exchanges.connect(receiver), {
    ...options,
    reconnect: reconnect === false ? false : { maxAttempts: ATTEMPTS, ...reconnect },
    // An exchange without an answer shows that the other side has gone.
    heartbeatMs: Number.POSITIVE_INFINITY,
  });
  current.get(session)?.replace();
  current.set(session, exchanges);
  void link.closed.then(() => exchanges.end());
  return link;
}
