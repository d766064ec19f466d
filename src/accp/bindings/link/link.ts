import { assertDurations } from '../../../async/durations.js';
import { notifyListener } from '../../../async/listeners.js';
import { afterUnref } from '../../../async/timers.js';
import type { Codec } from '../../codec/codec.js';
import type { DecodeOutcome, EncodeResult } from '../../codec/contract.js';
import { SENT_SESSION_ID } from '../../codec/sender.js';
import type { Message, MessageInput } from '../../message/message.js';
import { partsOfSession, type Session, startTimers } from '../../session/session.js';
import type { StreamChunk } from '../../streams/streams.js';
import type { Notice } from '../endpoint-options.js';
import { isGapReport, isUpkeep, readHead } from '../frames.js';
import { type Connection, openConnection, PeerProgress, ReconnectBackoff } from './connection.js';
import {
  CLOSE,
  type FrameTransport,
  type FrameTransportListener,
  type Link,
  LinkError,
  type LinkOptions,
  type LinkState,
  type RequestOptions,
} from './contract.js';
import { FlowControl, MessageQueue } from './flow-control.js';
import { type Heartbeat, type HeartbeatOptions, PING, startHeartbeat } from './heartbeat.js';
import { type CorrelatedMessage, Requests, refusalOutsideSession } from './requests.js';
import { SendQueue } from './send-queue.js';

/** Milliseconds before the link asks for answers that may have been lost; they double up to the last. */
const FIRST_PROBE_MS = 250;
const LAST_PROBE_MS = 4000;

class FrameLink implements Link {
  readonly session: Session;
  readonly messages: MessageQueue<Message>;
  readonly closed: Promise<LinkError | undefined>;
  readonly #connect: (listener: FrameTransportListener) => FrameTransport;
  readonly #options: LinkOptions & HeartbeatOptions;
  readonly #codec: Codec;
  readonly #flowControl = new FlowControl();
  readonly #sendQueue: SendQueue;
  readonly #requests: Requests;
  readonly #progress: PeerProgress;
  readonly #backoff: ReconnectBackoff;
  readonly #stopTimers: () => void;
  #state: LinkState = 'reconnecting';
  #connection: Connection | undefined;
  #socket: FrameTransport | undefined;
  #heartbeat: Heartbeat | undefined;
  /** The agent that sent the first answer. */
  #peer: string | undefined;
  #settle!: (error: LinkError | undefined) => void;

  constructor(connect: (listener: FrameTransportListener) => FrameTransport, options: LinkOptions & HeartbeatOptions) {
    this.#connect = connect;
    this.#options = options;
    this.#codec = options.codec;
    this.session = options.session;
    this.#progress = new PeerProgress(options.session);
    this.#backoff = new ReconnectBackoff(options.reconnect === false ? {} : options.reconnect);
    this.#sendQueue = new SendQueue(options, {
      sent: (result) => this.#reportNotice('sent', result),
      storeFailed: (thrown) => this.#storeFailed(thrown),
    });
    this.#requests = new Requests(options.session, this.#sendQueue, this.#flowControl);
    this.messages = new MessageQueue(this.#flowControl, ({ intent, operation }) =>
      this.#reportError(new LinkError('unread', `No reader of link.messages: ${intent}:${operation} was dropped.`)),
    );
    this.closed = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#stopTimers = startTimers(this.session, {
      onOverdue: ({ correlationId, error }) => this.#requests.timedOut(correlationId, error),
      onError: (thrown) => this.#storeFailed(thrown),
    });
  }

  get state(): LinkState {
    return this.#state;
  }

  // Sending

  readonly send = (message: MessageInput | string): Promise<EncodeResult> => this.#sendQueue.sendInOrder(message);

  readonly request = (message: MessageInput | string, options?: RequestOptions): Promise<Message> =>
    this.#requests.request(message, options);

  readonly stream = (message: MessageInput | string, options?: RequestOptions): AsyncIterable<StreamChunk> =>
    this.#requests.stream(message, options);

  #storeFailed(cause: unknown): void {
    this.#finish(new LinkError('store-failed', "The session's store failed.", { cause }), CLOSE.failed);
  }

  // Receiving

  #receive(frame: string): void {
    if (this.#state === 'closed') return;
    this.#frameArrived(frame);
    const refusal = refusalOutsideSession(frame, this.session, this.#peer);
    if (refusal !== null) {
      if (!this.#requests.reject(refusal)) this.#reportError(refusal.error);
      return;
    }
    if (this.#progress.showsLostSession(frame)) {
      this.#finish(sessionLostError());
      return;
    }
    try {
      this.#handle(this.#codec.decode(frame, this.session));
    } catch (thrown) {
      this.#storeFailed(thrown);
    }
  }

  /** Takes note of a frame that has arrived, even if it is not processed yet. */
  #frameArrived(frame: string): void {
    this.#heartbeat?.alive();
    this.#sendQueue.frameArrived(frame);
  }

  #handle(outcome: DecodeOutcome): void {
    if (outcome.outcome === 'dropped') return;
    if (outcome.outcome === 'rejected') {
      if (outcome.reply !== null) this.#sendQueue.sendFrames([outcome.reply]);
      // Missing frames are sent again, and duplicates were accepted before.
      if (outcome.error.code !== 'E3002' && outcome.error.code !== 'E3003') this.#reportError(outcome.error);
      return;
    }
    this.#sendQueue.sendFrames(outcome.replies);
    this.#reportNotice('received', outcome);
    if (outcome.message !== undefined) this.#progress.observe(outcome.message);
    if (outcome.outcome === 'message') this.#handleMessage(outcome.message);
    else if (outcome.part === 'stream') this.#flowControl.chunkArrived(outcome.correlationId);
  }

  #handleMessage(message: Message): void {
    const { intent, operation, envelope } = message;
    if (intent === 'ping') {
      const { msg_id: mid } = envelope;
      this.#sendQueue.pong({ intent: 'pong', operation, envelope: { correlation_id: mid, causation_id: mid } });
    } else if ((intent === 'ack' || !isUpkeep(message)) && !this.#requests.settle(message)) this.messages.push(message);
  }

  #reportNotice(direction: Notice['direction'], { losses, warnings }: Pick<Notice, 'losses' | 'warnings'>): void {
    if (losses.length === 0 && warnings.length === 0) return;
    const { onNotice } = this.#options;
    if (onNotice !== undefined) notifyListener(() => onNotice({ session: this.session, direction, losses, warnings }));
    for (const { code, message } of warnings) if (code === 'lost') this.#reportError(new LinkError('lost', message));
  }

  #reportError(error: Error): void {
    notifyListener(() => this.#options.onError?.(error));
  }

  // Connecting

  /** @throws LinkError */
  async open(): Promise<void> {
    const { handshakeTimeoutMs = 10_000 } = this.#options;
    this.#connection = openConnection(this.#connect, handshakeTimeoutMs, {
      opened: (socket) => this.#sendRegistry(socket),
      check: (first) => this.#checkFirst(first),
      established: (socket) => this.#opened(socket),
      unanswered: () => this.#probe(),
      frame: (frame) => this.#receive(frame),
      buffered: (frame) => this.#frameArrived(frame),
      // No `pong` can arrive.
      readingStopped: () => this.#sendQueue.releaseWindow(),
      lost: (error) => this.#lost(error),
    });
    await this.#connection.established;
  }

  /** Sends the first frame of a connection. It names the session, even if later frames do not. */
  #sendRegistry(socket: FrameTransport): void {
    this.#socket = socket;
    this.#sendQueue.attach(socket);
    partsOfSession(this.session).facts.delete(SENT_SESSION_ID);
    try {
      this.#sendQueue.sendEncoded(() => this.#codec.announce(this.session));
    } catch (cause) {
      throw new LinkError('store-failed', 'The registry could not be announced.', { cause });
    }
  }

  /**
   * Checks the first frame of the peer. A peer that numbers its frames from 1 again, or has another name, has lost the session: to continue
   * would repeat the effects of earlier frames.
   */
  #checkFirst(first: string): void {
    const head = readHead(first);
    const { delivery, registries } = partsOfSession(this.session);
    const { peers } = registries;
    const isRegistry = head !== null && head.intent === 'sync' && head.operation === 'registry';
    const isExpected = isRegistry || isGapReport(first);
    if (head === null || head.agent === this.session.agent || !(isExpected || delivery.expected(head.agent) > 1))
      throw new LinkError('refused', 'The first frame of the peer is not its registry.');
    if (this.#peer === undefined && isRegistry) this.#progress.processedAll();
    const known = this.#peer ?? (peers.size === 1 ? peers.keys().next().value : undefined);
    this.#peer = head.agent;
    const isKnown = known === undefined || known === head.agent;
    const isBehind = head.seq !== undefined && head.seq < delivery.expected(head.agent);
    if (!isKnown || isBehind || this.#progress.showsLostSession(first)) throw sessionLostError();
  }

  #opened(socket: FrameTransport): void {
    this.#flowControl.attach(socket);
    this.#heartbeat = startHeartbeat(this.#options, socket, () => this.#probe());
    this.#backoff.opened();
    this.#sendQueue.open();
    this.#setState('open');
    if (socket.isExchange === true) this.#probeForAnswers(socket, this.#requests.pending, FIRST_PROBE_MS);
  }

  /**
   * Probes until requests from before this connection are answered. Their answers may have been lost with the previous connection, or be made
   * only now; the number of a `pong` shows it.
   */
  #probeForAnswers(socket: FrameTransport, requests: readonly CorrelatedMessage[], delayMs: number): void {
    if (requests.length === 0) return;
    afterUnref(delayMs, () => {
      const pending = new Set(this.#requests.pending);
      const unanswered = requests.filter((request) => pending.has(request));
      if (this.#socket !== socket || unanswered.length === 0) return;
      this.#probe();
      this.#probeForAnswers(socket, unanswered, Math.min(2 * delayMs, LAST_PROBE_MS));
    });
  }

  /** Sends a ping. The number of the `pong` shows whether an answer was lost. */
  #probe(): void {
    try {
      this.#sendQueue.sendNow(PING);
    } catch (thrown) {
      this.#storeFailed(thrown);
    }
  }

  #lost(error: LinkError): void {
    this.#heartbeat?.stop();
    this.#detach();
    if (this.#state === 'closed') return;
    if (this.#options.reconnect === false || error.code !== 'unreachable') this.#finish(error);
    else void this.#reconnect(error);
  }

  async #reconnect(cause: LinkError): Promise<void> {
    this.#setState('reconnecting', cause);
    let last: unknown = cause;
    for (const delayMs of this.#backoff.delays()) {
      await this.#backoff.wait(delayMs);
      if (this.#state !== 'reconnecting') return;
      try {
        await this.open();
        return;
      } catch (thrown) {
        last = thrown;
        this.#detach();
        if (this.#state !== 'reconnecting') return;
        if (!(thrown instanceof LinkError) || thrown.code !== 'unreachable') break;
        this.#reportError(thrown);
      }
    }
    this.#finish(last instanceof LinkError ? last : new LinkError('unreachable', String(last), { cause: last }));
  }

  #detach(): void {
    this.#socket = undefined;
    this.#sendQueue.detach();
  }

  #setState(state: LinkState, cause?: Error): void {
    this.#state = state;
    notifyListener(() => this.#options.onState?.(state, cause));
  }

  readonly close = async (): Promise<void> => {
    this.#finish(undefined);
    await this.closed;
  };

  #finish(error: LinkError | undefined, code: number = CLOSE.normal): void {
    if (this.#state === 'closed') return;
    this.#backoff.stop();
    this.#stopTimers();
    this.#heartbeat?.stop();
    const reason = error ?? new LinkError('closed', 'The link was closed.');
    if (error === undefined && this.#state === 'open' && this.#socket?.isExchange === true)
      this.#requests.cancelAll(reason);
    this.#sendQueue.close(reason);
    this.#setState('closed', error);
    this.#requests.failAll(reason);
    this.messages.end(error);
    this.#settle(error);
    this.#connection?.abandon(reason);
    this.#socket?.close(code, '');
  }
}

function sessionLostError(): LinkError {
  return new LinkError('session-lost', 'The peer has lost the session; open a new one.');
}

/**
 * Opens a link.
 *
 * @throws LinkError if no connection can be established
 * @throws TypeError if an option is invalid
 */
export async function openLink(
  connect: (listener: FrameTransportListener) => FrameTransport,
  options: LinkOptions & HeartbeatOptions,
): Promise<Link> {
  const { handshakeTimeoutMs, reconnect } = options;
  assertDurations({ handshakeTimeoutMs });
  const { minDelayMs, maxDelayMs, maxAttempts = 0 } = reconnect === false ? {} : (reconnect ?? {});
  assertDurations({ 'reconnect.minDelayMs': minDelayMs, 'reconnect.maxDelayMs': maxDelayMs }, 0);
  if (!(maxAttempts >= 0)) throw new TypeError(`reconnect.maxAttempts must be a number >= 0; got ${maxAttempts}`);
  if (partsOfSession(options.session).options.sequence !== 'sender')
    throw new TypeError("A link needs a session that both sides may send in: create it with sequence: 'sender'");
  const link = new FrameLink(connect, options);
  try {
    await link.open();
  } catch (thrown) {
    await link.close();
    throw thrown;
  }
  return link;
}
