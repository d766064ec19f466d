/** Carries the frames of a link one by one, each in an exchange of its own: a request, and the frames that answer it. */

import { untilAborted } from '../../../async/abort.js';
import { assertDurations } from '../../../async/durations.js';
import { after } from '../../../async/timers.js';
import { partsOfSession, type Session } from '../../session/session.js';
import { readHead } from '../frames.js';
import { ReorderBuffer } from '../reorder-buffer.js';
import {
  type FrameTransport,
  type FrameTransportListener,
  type Link,
  LinkError,
  type LinkOptions,
} from './contract.js';
import { openLink } from './link.js';

/** Options of links that send each frame in an exchange of its own. */
export interface ExchangeOptions {
  /** The maximum number of concurrent exchanges. Messages wait for one of them to end; `cancel` does not. @default 64 */
  readonly maxExchanges?: number | undefined;
  /**
   * Milliseconds without a frame after which an exchange fails; `Infinity` for never.
   *
   * @default twice the session's `timeoutMs`, at least 10000
   */
  readonly exchangeTimeoutMs?: number | undefined;
}

interface ExchangeSettings {
  readonly maxExchanges: number;
  readonly exchangeTimeoutMs: number;
  readonly session: Session;
  readonly exchange: (frame: string, signal: AbortSignal) => AsyncIterable<string>;
  /** Returns the error of the link; `unreachable` makes it reconnect. */
  readonly failureOf: (thrown: unknown) => LinkError;
}

/** Milliseconds for open exchanges to end when a link is closed. */
const CLOSE_TIMEOUT_MS = 2000;

/** All exchanges of a link. When one fails, the others continue, and their answers wait for the next connection. */
class Exchanges {
  readonly #options: ExchangeSettings;
  readonly #reorderBuffer: ReorderBuffer;
  readonly #open = new Set<AbortController>();
  /** Undefined while the link is reconnecting. */
  #listener: FrameTransportListener | undefined;
  #isPaused = false;
  #hasEnded = false;
  #replaced: LinkError | undefined;
  /** Exchanges that wait for a connection that reads. */
  #waiting: (() => void)[] = [];
  /** Callers that wait for an exchange to end. */
  #queued: (() => void)[] = [];

  constructor(options: ExchangeSettings) {
    this.#options = options;
    this.#reorderBuffer = new ReorderBuffer(options.session);
  }

  /** Opens one connection, which lasts from its first exchange to one that fails. */
  connect(listener: FrameTransportListener): FrameTransport {
    const own = new Set<AbortController>();
    let hasEnded = false;
    let hasBegun = false;
    this.#isPaused = false;
    const isPaused = (): boolean => this.#isPaused;
    const stop = (): void => {
      hasEnded = true;
      if (this.#listener === listener) this.#listener = undefined;
    };
    const send = async (frame: string): Promise<void> => {
      if (hasEnded) return;
      const isFirst = !hasBegun;
      hasBegun = true;
      // Frames that have arrived since the last connection are received now, and not before.
      if (isFirst) this.#update(() => (this.#listener = listener));
      const controller = new AbortController();
      own.add(controller);
      try {
        const isAnswered = await this.#run(frame, controller);
        if (isFirst && !hasEnded) listener.firstExchangeEnded(isAnswered);
      } catch (thrown) {
        if (hasEnded) return;
        stop();
        listener.closed(thrown as LinkError);
      } finally {
        own.delete(controller);
      }
    };
    return {
      opened: this.#replaced === undefined ? Promise.resolve() : Promise.reject(this.#replaced),
      isExchange: true,
      get isReadingStopped() {
        return isPaused();
      },
      send: (frame) => void send(frame),
      ready: () => (hasEnded || this.#open.size < this.#options.maxExchanges ? undefined : this.#exchangeEnd()),
      pause: () => {
        this.#isPaused = true;
        this.#listener?.readingStopped();
      },
      resume: () => this.#update(() => (this.#isPaused = false)),
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
    this.#replaced = new LinkError('replaced', 'The session continues over another link.');
    this.#listener?.closed(this.#replaced);
  }

  /** Lets open exchanges end, within a limit: their frames were sent and have to arrive. */
  async end(): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#reorderBuffer.flush();
    this.#update(() => undefined);
    const stopTimer = after(CLOSE_TIMEOUT_MS, () => closeAll(this.#open));
    while (this.#open.size > 0) await this.#exchangeEnd();
    stopTimer();
  }

  /** Sends a frame and passes the answers to the listener. @returns `true` if there was an answer */
  async #run(frame: string, controller: AbortController): Promise<boolean> {
    const { exchange, exchangeTimeoutMs, failureOf } = this.#options;
    const { signal } = controller;
    const timeoutError = new LinkError('unreachable', `No frame arrived within ${exchangeTimeoutMs} ms.`);
    const startTimer = (): (() => void) => after(exchangeTimeoutMs, () => controller.abort(timeoutError));
    let isAnswered = false;
    let stopTimer = startTimer();
    this.#open.add(controller);
    try {
      for await (const answer of untilAborted(exchange(frame, signal), signal, () => undefined)) {
        stopTimer();
        isAnswered = true;
        while (this.#isWaiting) await new Promise<void>((resolve) => this.#waiting.push(resolve));
        if (signal.aborted) break;
        const receive = (): void => this.#listener?.frame(answer);
        this.#reorderBuffer.add(answer, () => readHead(answer), receive, this.#open.size === 1);
        stopTimer = startTimer();
      }
      signal.throwIfAborted();
      return isAnswered;
    } catch (thrown) {
      this.#reorderBuffer.exchangeFailed();
      if (signal.aborted && signal.reason instanceof LinkError) throw signal.reason;
      throw failureOf(thrown);
    } finally {
      stopTimer();
      this.#open.delete(controller);
      if (this.#open.size === 0 && !this.#isWaiting) this.#reorderBuffer.flush();
      for (const wake of this.#queued.splice(0)) wake();
    }
  }

  get #isWaiting(): boolean {
    return (this.#isPaused || this.#listener === undefined) && !this.#hasEnded;
  }

  #exchangeEnd(): Promise<void> {
    return new Promise((resolve) => this.#queued.push(resolve));
  }

  /** Changes a condition that exchanges wait for, and wakes them. */
  #update(change: () => void): void {
    change();
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

function closeAll(controllers: Iterable<AbortController>): void {
  for (const controller of controllers) controller.abort(new LinkError('closed', 'The link was closed.'));
}

/** Least default of `exchangeTimeoutMs`, since connecting takes time, too. */
const MIN_EXCHANGE_TIMEOUT_MS = 10_000;
/** Default number of attempts: about 45 seconds. */
const MAX_ATTEMPTS = 8;

/** The exchanges of each session's current link. */
const current = new WeakMap<Session, Exchanges>();

/**
 * Opens a link that sends each frame in an exchange of its own.
 *
 * @throws LinkError if the peer cannot be reached or rejects the first frame
 * @throws TypeError if an option is invalid
 */
export async function openExchanges(
  options: LinkOptions & ExchangeOptions,
  transport: Pick<ExchangeSettings, 'exchange' | 'failureOf'>,
): Promise<Link> {
  const { session, reconnect, maxExchanges = 64 } = options;
  const { options: settings, registries, commit } = partsOfSession(session);
  // Exchanges read the payloads of frames, and servers find the session by its identifier.
  commit(() => registries.refuseCompact('binding'));
  const { timeoutMs } = settings;
  const { exchangeTimeoutMs = Math.max(2 * timeoutMs, MIN_EXCHANGE_TIMEOUT_MS) } = options;
  assertDurations({ exchangeTimeoutMs: options.exchangeTimeoutMs });
  if (!(maxExchanges >= 1)) throw new TypeError(`maxExchanges must be a number >= 1; got ${maxExchanges}`);
  const exchanges = new Exchanges({ ...transport, session, maxExchanges, exchangeTimeoutMs });
  const link = await openLink((listener) => exchanges.connect(listener), {
    ...options,
    reconnect: reconnect === false ? false : { maxAttempts: MAX_ATTEMPTS, ...reconnect },
    // An exchange without an answer shows that the peer is gone.
    heartbeatMs: Number.POSITIVE_INFINITY,
  });
  current.get(session)?.replace();
  current.set(session, exchanges);
  void link.closed.then(() => exchanges.end());
  return link;
}
