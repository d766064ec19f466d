import { notifyListener } from '../../../async/listeners.js';
import { afterUnref } from '../../../async/timers.js';
import type { Codec } from '../../codec/codec.js';
import type { DecodeOutcome, EncodeResult } from '../../codec/contract.js';
import { SAID_ID } from '../../codec/sender.js';
import type { Message, MessageInput } from '../../message/message.js';
import { partsOfSession, type Session, startTimers } from '../../session/session.js';
import type { StreamChunk } from '../../streams/streams.js';
import { checkDurations } from '../durations.js';
import type { Notice } from '../endpoint-options.js';
import { isGapReport, isUpkeep, readHead } from '../frames.js';
import { beginConnection, type Connection, Pacer, PeerProgress } from './connection.js';
import {
  type Carrier,
  type CarrierReceiver,
  CLOSE,
  type Link,
  LinkError,
  type LinkOptions,
  type LinkState,
  type RequestOptions,
} from './contract.js';
import { type Heartbeat, type HeartbeatOptions, PING, startHeartbeat } from './heartbeat.js';
import { Inflow, MessageQueue } from './inflow.js';
import { Outflow } from './outflow.js';
import { type ChainedMessage, Requests, refusalOutside } from './requests.js';

/** Milliseconds before asking for answers that may have been lost; they double up to the last. */
const FIRST_ASK = 250;
const LAST_ASK = 4000;

class FrameLink implements Link {
  readonly session: Session;
  readonly messages: MessageQueue<Message>;
  readonly closed: Promise<LinkError | undefined>;
  readonly #connect: (receiver: CarrierReceiver) => Carrier;
  readonly #options: LinkOptions & HeartbeatOptions;
  readonly #codec: Codec;
  readonly #inflow = new Inflow();
  readonly #outflow: Outflow;
  readonly #requests: Requests;
  readonly #progress: PeerProgress;
  readonly #pacer: Pacer;
  readonly #stopTime: () => void;
  #state: LinkState = 'reconnecting';
  #connection: Connection | undefined;
  #socket: Carrier | undefined;
  #heartbeat: Heartbeat | undefined;
  /** The agent that has answered first. */
  #peer: string | undefined;
  #settle!: (error: LinkError | undefined) => void;

  constructor(connect: (receiver: CarrierReceiver) => Carrier, options: LinkOptions & HeartbeatOptions) {
    this.#connect = connect;
    this.#options = options;
    this.#codec = options.codec;
    this.session = options.session;
    this.#progress = new PeerProgress(options.session);
    this.#pacer = new Pacer(options.reconnect === false ? {} : options.reconnect);
    this.#outflow = new Outflow(options, {
      said: (result) => this.#notice('sent', result),
      storeFailed: (thrown) => this.#storeFailed(thrown),
    });
    this.#requests = new Requests(options.session, this.#outflow, this.#inflow);
    this.messages = new MessageQueue(this.#inflow, ({ intent, operation }) =>
      this.#tell(new LinkError('unread', `Nobody reads messages: ${intent}:${operation} is dropped.`)),
    );
    this.closed = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#stopTime = startTimers(this.session, {
      onOverdue: ({ correlationId, error }) => this.#requests.overdue(correlationId, error),
      onError: (thrown) => this.#storeFailed(thrown),
    });
  }

  get state(): LinkState {
    return this.#state;
  }

  // What this side says

  readonly send = (message: MessageInput | string): Promise<EncodeResult> => this.#outflow.sayInTurn(message);

  readonly request = (message: MessageInput | string, options?: RequestOptions): Promise<Message> =>
    this.#requests.request(message, options);

  readonly stream = (message: MessageInput | string, options?: RequestOptions): AsyncIterable<StreamChunk> =>
    this.#requests.stream(message, options);

  #storeFailed(cause: unknown): void {
    this.#finish(new LinkError('store-failed', "The session's store failed.", { cause }), CLOSE.failed);
  }

  // What the other side says

  #take(frame: string): void {
    if (this.#state === 'closed') return;
    this.#heard(frame);
    const refusal = refusalOutside(frame, this.session, this.#peer);
    if (refusal !== null) {
      if (!this.#requests.refused(refusal)) this.#tell(refusal.error);
      return;
    }
    if (this.#progress.isForgottenIn(frame)) {
      this.#finish(forgotten());
      return;
    }
    try {
      this.#decoded(this.#codec.decode(frame, this.session));
    } catch (thrown) {
      this.#storeFailed(thrown);
    }
  }

  /** A frame has come, even if it is not processed yet. */
  #heard(frame: string): void {
    this.#heartbeat?.alive();
    this.#outflow.arrived(frame);
  }

  #decoded(outcome: DecodeOutcome): void {
    if (outcome.outcome === 'dropped') return;
    if (outcome.outcome === 'rejected') {
      if (outcome.reply !== null) this.#outflow.sendAll([outcome.reply]);
      // Missing frames are sent again, and duplicates were taken.
      if (outcome.error.code !== 'E3002' && outcome.error.code !== 'E3003') this.#tell(outcome.error);
      return;
    }
    this.#outflow.sendAll(outcome.replies);
    this.#notice('received', outcome);
    if (outcome.message !== undefined) this.#progress.take(outcome.message);
    if (outcome.outcome === 'message') this.#message(outcome.message);
    else if (outcome.part === 'stream') this.#inflow.came(outcome.correlationId);
  }

  #message(message: Message): void {
    const { intent, operation, envelope } = message;
    if (intent === 'ping') {
      const { msg_id: mid } = envelope;
      this.#outflow.pong({ intent: 'pong', operation, envelope: { correlation_id: mid, causation_id: mid } });
    } else if ((intent === 'ack' || !isUpkeep(message)) && !this.#requests.take(message)) this.messages.push(message);
  }

  #notice(direction: Notice['direction'], { losses, warnings }: Pick<Notice, 'losses' | 'warnings'>): void {
    if (losses.length === 0 && warnings.length === 0) return;
    const { onNotice } = this.#options;
    if (onNotice !== undefined) notifyListener(() => onNotice({ session: this.session, direction, losses, warnings }));
    for (const { code, message } of warnings) if (code === 'lost') this.#tell(new LinkError('lost', message));
  }

  #tell(error: Error): void {
    notifyListener(() => this.#options.onError?.(error));
  }

  // Connecting

  /** @throws LinkError */
  async open(): Promise<void> {
    const { handshakeTimeoutMs = 10_000 } = this.#options;
    this.#connection = beginConnection(this.#connect, handshakeTimeoutMs, {
      opened: (socket) => this.#greet(socket),
      check: (first) => this.#check(first),
      greeted: (socket) => this.#opened(socket),
      silent: () => this.#probe(),
      frame: (frame) => this.#take(frame),
      held: (frame) => this.#heard(frame),
      // No `pong` can come.
      stopped: () => this.#outflow.release(),
      lost: (error) => this.#lost(error),
    });
    await this.#connection.greeted;
  }

  /** The first frame of a connection names the session, also if others do not. */
  #greet(socket: Carrier): void {
    this.#socket = socket;
    this.#outflow.attach(socket);
    partsOfSession(this.session).facts.delete(SAID_ID);
    try {
      this.#outflow.sayMade(() => this.#codec.announce(this.session));
    } catch (cause) {
      throw new LinkError('store-failed', 'The registry could not be announced.', { cause });
    }
  }

  /** A side that begins to count anew has lost its state: going on would repeat what was done. So has one of another name. */
  #check(first: string): void {
    const head = readHead(first);
    const { delivery, registries } = partsOfSession(this.session);
    const { peers } = registries;
    const isRegistry = head !== null && head.intent === 'sync' && head.operation === 'registry';
    const isGreeting = isRegistry || isGapReport(first);
    if (head === null || head.agent === this.session.agent || !(isGreeting || delivery.expected(head.agent) > 1))
      throw new LinkError('refused', 'The other side does not begin with its registry.');
    if (this.#peer === undefined && isRegistry) this.#progress.processedAll();
    const known = this.#peer ?? (peers.size === 1 ? peers.keys().next().value : undefined);
    this.#peer = head.agent;
    const isKnown = known === undefined || known === head.agent;
    const isBehind = head.seq !== undefined && head.seq < delivery.expected(head.agent);
    if (!isKnown || isBehind || this.#progress.isForgottenIn(first)) throw forgotten();
  }

  #opened(socket: Carrier): void {
    this.#inflow.attach(socket);
    this.#heartbeat = startHeartbeat(this.#options, socket, () => this.#probe());
    this.#pacer.opened();
    this.#outflow.open();
    this.#enter('open');
    if (socket.isExchange === true) this.#askAgain(socket, this.#requests.waiting, FIRST_ASK);
  }

  /**
   * The answers to requests from before this connection may be lost with the one before, or be made only now. The number of a `pong` shows it.
   */
  #askAgain(socket: Carrier, requests: readonly ChainedMessage[], delayMs: number): void {
    if (requests.length === 0) return;
    afterUnref(delayMs, () => {
      const waiting = new Set(this.#requests.waiting);
      const left = requests.filter((request) => waiting.has(request));
      if (this.#socket !== socket || left.length === 0) return;
      this.#probe();
      this.#askAgain(socket, left, Math.min(2 * delayMs, LAST_ASK));
    });
  }

  /** The number of the `pong` shows whether an answer was lost. */
  #probe(): void {
    try {
      this.#outflow.say(PING);
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
    this.#enter('reconnecting', cause);
    let last: unknown = cause;
    for (const delayMs of this.#pacer.waits()) {
      await this.#pacer.wait(delayMs);
      if (this.#state !== 'reconnecting') return;
      try {
        await this.open();
        return;
      } catch (thrown) {
        last = thrown;
        this.#detach();
        if (this.#state !== 'reconnecting') return;
        if (!(thrown instanceof LinkError) || thrown.code !== 'unreachable') break;
        this.#tell(thrown);
      }
    }
    this.#finish(last instanceof LinkError ? last : new LinkError('unreachable', String(last), { cause: last }));
  }

  #detach(): void {
    this.#socket = undefined;
    this.#outflow.detach();
  }

  #enter(state: LinkState, cause?: Error): void {
    this.#state = state;
    notifyListener(() => this.#options.onState?.(state, cause));
  }

  readonly close = async (): Promise<void> => {
    this.#finish(undefined);
    await this.closed;
  };

  #finish(error: LinkError | undefined, code: number = CLOSE.normal): void {
    if (this.#state === 'closed') return;
    this.#pacer.stop();
    this.#stopTime();
    this.#heartbeat?.stop();
    const reason = error ?? new LinkError('closed', 'The connection was closed.');
    if (error === undefined && this.#state === 'open' && this.#socket?.isExchange === true)
      this.#requests.cancelAll(reason);
    this.#outflow.close(reason);
    this.#enter('closed', error);
    this.#requests.failAll(reason);
    this.messages.end(error);
    this.#settle(error);
    this.#connection?.abandon(reason);
    this.#socket?.close(code, '');
  }
}

function forgotten(): LinkError {
  return new LinkError('session-lost', 'The other side does not know the session any more.');
}

/**
 * @throws LinkError when no connection comes about
 * @throws TypeError if an option is invalid
 */
export async function openLink(
  connect: (receiver: CarrierReceiver) => Carrier,
  options: LinkOptions & HeartbeatOptions,
): Promise<Link> {
  const { handshakeTimeoutMs, reconnect } = options;
  checkDurations({ handshakeTimeoutMs });
  const { minDelayMs, maxDelayMs, maxAttempts = 0 } = reconnect === false ? {} : (reconnect ?? {});
  checkDurations({ 'reconnect.minDelayMs': minDelayMs, 'reconnect.maxDelayMs': maxDelayMs }, 0);
  if (!(maxAttempts >= 0)) throw new TypeError(`reconnect.maxAttempts must be a number >= 0; got ${maxAttempts}`);
  if (partsOfSession(options.session).options.sequence !== 'sender')
    throw new TypeError("Over a link both sides may speak: the session is opened with sequence: 'sender'");
  const link = new FrameLink(connect, options);
  try {
    await link.open();
  } catch (thrown) {
    await link.close();
    throw thrown;
  }
  return link;
}
