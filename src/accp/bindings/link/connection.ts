import { deferred } from '../../../async/listeners.js';
import { after, backoff, withJitter } from '../../../async/timers.js';
import { systemReason } from '../../../text/system-reason.js';
import type { Message } from '../../message/message.js';
import { tryParseFrame } from '../../parse.js';
import { partsOfSession, type Session } from '../../session/session.js';
import { isErrorHead, isGapReport, numberOf, readHead, textOf } from '../frames.js';
import { type Carrier, type CarrierReceiver, LinkError, type ReconnectOptions } from './contract.js';

interface ConnectionListener extends Omit<CarrierReceiver, 'closed' | 'taken'> {
  /** The socket is open: the first frame is due. An exception ends the attempt. */
  readonly opened: (socket: Carrier) => void;
  /** The other side has answered. An exception ends the attempt. */
  readonly check: (first: string) => void;
  /** The connection stands; `frame` gets the first frame next. */
  readonly greeted: (socket: Carrier) => void;
  /** The connection stands, though the first frame was not answered. */
  readonly silent: () => void;
  /** A greeted connection has ended. */
  readonly lost: (error: LinkError) => void;
}

export interface Connection {
  readonly greeted: Promise<void>;
  readonly abandon: (error: LinkError) => void;
}

/** @param timeoutMs for the other side's first frame to come */
export function beginConnection(
  connect: (receiver: CarrierReceiver) => Carrier,
  timeoutMs: number,
  listener: ConnectionListener,
): Connection {
  let phase: 'greeting' | 'greeted' | 'over' = 'greeting';
  const { promise: greeted, resolve, reject } = deferred();
  let socket: Carrier | undefined;
  /** An error frame of the other side instead of a greeting. */
  let refusal: string | undefined;

  const abandon = (error: unknown): void => {
    if (phase !== 'greeting') return;
    phase = 'over';
    stopTimer();
    socket?.terminate();
    reject(error);
  };
  const frame = (text: string): void => {
    if (phase === 'greeted') listener.frame(text);
    else if (phase === 'greeting') greet(text);
  };
  const greet = (text: string): void => {
    if (isRefusal(text)) {
      refusal = text;
      return;
    }
    try {
      listener.check(text);
    } catch (thrown) {
      abandon(thrown);
      return;
    }
    stand();
    listener.frame(text);
    resolve();
  };
  const stand = (): void => {
    phase = 'greeted';
    stopTimer();
    listener.greeted(socket!);
  };
  const taken = (isAnswered: boolean): void => {
    if (phase !== 'greeting') return;
    if (refusal !== undefined) {
      abandon(new LinkError('refused', `The first frame was refused. The other side said: ${refusal}`));
      return;
    }
    // The answer waits for frames before it.
    if (isAnswered) return;
    stand();
    listener.silent();
    resolve();
  };
  const closed = (error: LinkError): void => {
    if (phase === 'greeted') {
      phase = 'over';
      listener.lost(error);
    } else if (refusal === undefined) abandon(error);
    else abandon(new LinkError(error.code, `${error.message} It said: ${refusal}`, error));
  };

  const stopTimer = after(timeoutMs, () =>
    abandon(new LinkError('unreachable', `No answer arrived within ${timeoutMs} ms.`)),
  );
  try {
    const { held, stopped } = listener;
    socket = connect({ frame, held, stopped, taken, closed });
    const made = socket;
    made.opened
      .then(() => {
        if (phase === 'greeting') listener.opened(made);
      })
      .catch(abandon);
  } catch (cause) {
    abandon(new LinkError('unreachable', `No connection could be begun: ${systemReason(cause)}`, { cause }));
  }
  return { greeted, abandon };
}

/** An error outside of the session: it names none. A report of a gap may come first. */
function isRefusal(frame: string): boolean {
  const head = readHead(frame);
  return head !== null && isErrorHead(head) && head.sid === undefined && !isGapReport(frame);
}

export class Pacer {
  readonly #min: number;
  readonly #max: number;
  readonly #attempts: number;
  /** Attempts since a connection has stood for a while: one that ends as soon as it stands is no success. */
  #tries = 0;
  #openedAt = Number.NEGATIVE_INFINITY;
  #isStopped = false;
  #wake = (): void => undefined;

  constructor({
    minDelayMs = 250,
    maxDelayMs = 15_000,
    maxAttempts = Number.POSITIVE_INFINITY,
  }: ReconnectOptions = {}) {
    this.#min = minDelayMs;
    this.#max = maxDelayMs;
    this.#attempts = maxAttempts;
  }

  opened(): void {
    this.#openedAt = performance.now();
  }

  /** Milliseconds before each attempt: they double up to `max`, less a random part of up to a half. */
  *waits(): Generator<number, void, undefined> {
    if (performance.now() - this.#openedAt >= this.#max) this.#tries = 0;
    while (this.#tries < this.#attempts) {
      yield withJitter(backoff(++this.#tries, { minDelayMs: this.#min, maxDelayMs: this.#max }));
    }
  }

  wait(delayMs: number): Promise<void> {
    if (this.#isStopped) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = after(delayMs, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#wake();
  }
}

/**
 * Follows how far the other side has got. A report of a gap that names a lower number, about a frame that was sent when this was known,
 * comes from a side that has forgotten the session: sent again, everything would be done again (draft-benzing-accp-00, section 3.7).
 */
export class PeerProgress {
  readonly #session: Session;
  #expected = 0;
  /** The number of the first frame that was sent when `#expected` was known. */
  #since = 0;

  constructor(session: Session) {
    this.#session = session;
  }

  processedAll(): void {
    this.#learn(this.#next);
  }

  /** Learns from what a message answers. */
  take({ agent, intent, operation, payload, envelope }: Message): void {
    if (intent === 'fail' && operation === 'error') {
      // Other errors may be about frames that have used up no number.
      if (payload['code'] === 'E3003' && typeof payload['expected'] === 'number') this.#learn(payload['expected']);
      return;
    }
    const sent = agent === this.#session.agent ? undefined : this.#sentAs(envelope.causation_id);
    if (sent !== undefined) this.#learn(sent + 1);
  }

  isForgottenIn(frame: string): boolean {
    if (!isGapReport(frame)) return false;
    const parsed = tryParseFrame(frame, { dialect: 'lenient' });
    if (!parsed.ok) return false;
    const expected = numberOf(parsed.value.payload, 'expected');
    const sent = this.#sentAs(textOf(parsed.value.metadata, 'aid'));
    return expected !== undefined && sent !== undefined && sent >= this.#since && expected < this.#expected;
  }

  #learn(expected: number): void {
    if (expected <= this.#expected || expected > this.#next) return;
    this.#expected = expected;
    this.#since = this.#next;
  }

  #sentAs(mid: string | undefined): number | undefined {
    const sent = mid === undefined ? undefined : partsOfSession(this.#session).delivery.sentAs(mid);
    return sent?.[0] === this.#session.agent ? sent[1] : undefined;
  }

  get #next(): number {
    return partsOfSession(this.#session).delivery.nextToSend(this.#session.agent);
  }
}
