import { deferred } from '../../../async/listeners.js';
import { after, backoff, withJitter } from '../../../async/timers.js';
import { systemReason } from '../../../text/system-reason.js';
import type { Message } from '../../message/message.js';
import { tryParseFrame } from '../../parse.js';
import { partsOfSession, type Session } from '../../session/session.js';
import { isErrorHead, isGapReport, numberOf, readHead, textOf } from '../frames.js';
import { type FrameTransport, type FrameTransportListener, LinkError, type ReconnectOptions } from './contract.js';

interface ConnectionListener extends Omit<FrameTransportListener, 'closed' | 'firstExchangeEnded'> {
  /** The socket is open: the first frame is due. An exception ends the attempt. */
  readonly opened: (socket: FrameTransport) => void;
  /** The peer has answered. An exception ends the attempt. */
  readonly check: (first: string) => void;
  /** The connection is established; `frame` gets the first frame next. */
  readonly established: (socket: FrameTransport) => void;
  /** The connection is established, although the first frame was not answered. */
  readonly unanswered: () => void;
  /** An established connection has ended. */
  readonly lost: (error: LinkError) => void;
}

export interface Connection {
  readonly established: Promise<void>;
  readonly abandon: (error: LinkError) => void;
}

/**
 * Opens a connection and performs its handshake.
 *
 * @param timeoutMs milliseconds for the first frame of the peer to arrive
 */
export function openConnection(
  connect: (listener: FrameTransportListener) => FrameTransport,
  timeoutMs: number,
  listener: ConnectionListener,
): Connection {
  let phase: 'handshake' | 'established' | 'ended' = 'handshake';
  const { promise: established, resolve, reject } = deferred();
  let socket: FrameTransport | undefined;
  /** An error frame that the peer sent instead of a registry. */
  let refusal: string | undefined;

  const abandon = (error: unknown): void => {
    if (phase !== 'handshake') return;
    phase = 'ended';
    stopTimer();
    socket?.terminate();
    reject(error);
  };
  const frame = (text: string): void => {
    if (phase === 'established') listener.frame(text);
    else if (phase === 'handshake') receiveFirst(text);
  };
  const receiveFirst = (text: string): void => {
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
    establish();
    listener.frame(text);
    resolve();
  };
  const establish = (): void => {
    phase = 'established';
    stopTimer();
    listener.established(socket!);
  };
  const firstExchangeEnded = (isAnswered: boolean): void => {
    if (phase !== 'handshake') return;
    if (refusal !== undefined) {
      abandon(new LinkError('refused', `The peer rejected the first frame: ${refusal}`));
      return;
    }
    // The answer waits for frames before it.
    if (isAnswered) return;
    establish();
    listener.unanswered();
    resolve();
  };
  const closed = (error: LinkError): void => {
    if (phase === 'established') {
      phase = 'ended';
      listener.lost(error);
    } else if (refusal === undefined) abandon(error);
    else abandon(new LinkError(error.code, `${error.message} The peer sent: ${refusal}`, error));
  };

  const stopTimer = after(timeoutMs, () =>
    abandon(new LinkError('unreachable', `No answer arrived within ${timeoutMs} ms.`)),
  );
  try {
    const { buffered, readingStopped } = listener;
    socket = connect({ frame, buffered, readingStopped, firstExchangeEnded, closed });
    const opening = socket;
    opening.opened
      .then(() => {
        if (phase === 'handshake') listener.opened(opening);
      })
      .catch(abandon);
  } catch (cause) {
    abandon(new LinkError('unreachable', `The connection could not be opened: ${systemReason(cause)}`, { cause }));
  }
  return { established, abandon };
}

/** Tests whether a frame is an error outside of the session, which names none. A gap report may come first. */
function isRefusal(frame: string): boolean {
  const head = readHead(frame);
  return head !== null && isErrorHead(head) && head.sid === undefined && !isGapReport(frame);
}

export class ReconnectBackoff {
  readonly #minDelayMs: number;
  readonly #maxDelayMs: number;
  readonly #maxAttempts: number;
  /** Attempts since a connection has lasted for a while: one that ends right after it opens is not a success. */
  #attempts = 0;
  #openedAt = Number.NEGATIVE_INFINITY;
  #isStopped = false;
  #wake = (): void => undefined;

  constructor({
    minDelayMs = 250,
    maxDelayMs = 15_000,
    maxAttempts = Number.POSITIVE_INFINITY,
  }: ReconnectOptions = {}) {
    this.#minDelayMs = minDelayMs;
    this.#maxDelayMs = maxDelayMs;
    this.#maxAttempts = maxAttempts;
  }

  opened(): void {
    this.#openedAt = performance.now();
  }

  /** Yields the milliseconds before each attempt. They double up to `maxDelayMs`, minus a random part of up to one half. */
  *delays(): Generator<number, void, undefined> {
    if (performance.now() - this.#openedAt >= this.#maxDelayMs) this.#attempts = 0;
    const limits = { minDelayMs: this.#minDelayMs, maxDelayMs: this.#maxDelayMs };
    while (this.#attempts < this.#maxAttempts) {
      yield withJitter(backoff(++this.#attempts, limits));
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
 * Tracks how many frames the peer has processed. A gap report that expects a lower number, about a frame that was sent when this was known,
 * comes from a peer that has lost the session: to send the frames again would repeat their effects (draft-benzing-accp-00, section 3.7).
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
    this.#advance(this.#next);
  }

  /** Learns from a message which frame it answers. */
  observe({ agent, intent, operation, payload, envelope }: Message): void {
    if (intent === 'fail' && operation === 'error') {
      // Other errors may be about frames that have not used a number.
      if (payload['code'] === 'E3003' && typeof payload['expected'] === 'number') this.#advance(payload['expected']);
      return;
    }
    const sent = agent === this.#session.agent ? undefined : this.#sentAs(this.#causeOf(envelope));
    if (sent !== undefined) this.#advance(sent + 1);
  }

  /** In a compact frame, the chain implies the request that it answers. */
  #causeOf({ causation_id: aid, correlation_id: cid }: Message['envelope']): string | undefined {
    if (aid !== undefined || cid === undefined) return aid;
    return partsOfSession(this.#session).chains.get(cid)?.mid ?? cid;
  }

  showsLostSession(frame: string): boolean {
    if (!isGapReport(frame)) return false;
    const parsed = tryParseFrame(frame, { dialect: 'lenient' });
    if (!parsed.ok) return false;
    const expected = numberOf(parsed.value.payload, 'expected');
    const sent = this.#sentAs(textOf(parsed.value.metadata, 'aid'));
    return expected !== undefined && sent !== undefined && sent >= this.#since && expected < this.#expected;
  }

  #advance(expected: number): void {
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
