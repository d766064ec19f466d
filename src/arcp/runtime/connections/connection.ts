/** A connection: one channel, and the session on it. */

import { within } from '../../../async/abort.js';
import { deferred } from '../../../async/listeners.js';
import { every } from '../../../async/timers.js';
import { type Channel, endWithoutStall } from '../../../channels/channel.js';
import { StoreError } from '../../../text/store-error.js';
import { describe, type MessageType } from '../../protocol/catalogue.js';
import { type EnvelopeError, headerOfText, tryParseEnvelope } from '../../protocol/codec.js';
import type { Envelope } from '../../protocol/envelope.js';
import { ArcpError, asArcpError } from '../../protocol/errors.js';
import { formatTimestamp } from '../../protocol/ids.js';
import type { StoredRecord } from '../../store/store.js';
import { backpressureOf } from '../../streams/writer.js';
import { type CommandResult, previousAnswer } from '../commands/command.js';
import { COMMANDS } from '../commands/index.js';
import type { ConnectionContext, Core } from '../core.js';
import type { Engine } from '../engine/engine.js';
import { boundedBody, type Cause, type Draft, traceBelow } from '../events/message.js';
import { KINDS } from '../registrations.js';
import type { Peer } from '../sessions/auth.js';
import { epochCheck, type Session } from '../sessions/session.js';
import { SessionSubscription } from '../sessions/subscription.js';
import type { Registration } from '../types.js';
import type { Uploader } from '../uploads/uploads.js';
import { openSession } from './handshake.js';

type RefusedMessage = { readonly [K in keyof Cause]?: Cause[K] | undefined } & { readonly job_id?: string | undefined };

/** A message and the length of its text. */
interface Received {
  readonly message: Envelope;
  readonly length: number;
}

const MAX_MISSED_PONGS = 2;
/** The length of messages that are not executed at which the client is paused. */
const HIGH_WATER_MARK = 1024 * 1024;
/** The length of unread answers at which a client that sends more is cut off: twice the longest message. */
const MAX_UNREAD = 64 * 1024 * 1024;

export class Connection implements ConnectionContext {
  readonly core: Core;
  readonly #channel: Channel;
  readonly #peer: Peer;
  /** Monotonic times of recent texts that were not messages. */
  #invalidAt: number[] = [];
  /** Resolves when all earlier commands have been accepted or refused. */
  #earlierCommands: Promise<unknown> = Promise.resolve();
  /** Messages that arrived while the session was being opened. */
  #buffered: Received[] | undefined;
  /** The length of the messages that wait for earlier ones or are being executed. */
  #unexecuted = 0;
  /** `true` while the client cannot send, since too many messages wait. */
  #isPaused = false;
  #opening: Envelope<'session.open'> | undefined;
  #session: Session | undefined;
  engine: Engine;
  #subscription: SessionSubscription | undefined;
  #missedPongs = 0;
  readonly #stopHeartbeat: () => void;
  /** `true` while pending messages are sent, but no more are read. */
  #isEnding = false;
  #isOver = false;
  /** `true` after a message that was too long: the channel ends, but the client still reads. */
  #hasRefusedInput = false;
  readonly #closed = deferred();
  readonly closed = this.#closed.promise;

  constructor(core: Core, channel: Channel, peer: Peer) {
    this.core = core;
    this.#channel = channel;
    this.#peer = peer;
    this.engine = core.transient;
    this.#stopHeartbeat = every(core.settings.heartbeatMs, () => this.#checkHeartbeat());
    channel.start({
      text: (text) => this.#text(text),
      invalid: (why, beginning) => this.#refuseInvalid('INVALID_ARGUMENT', why, { reason: 'parse_error' }, beginning),
      tooLong: (limit, beginning) => {
        this.#hasRefusedInput = true;
        const details = { reason: 'too_long', max_message_bytes: limit };
        this.#refuseInvalid('PAYLOAD_TOO_LARGE', `The message has more than ${limit} bytes`, details, beginning);
      },
      ended: () => void this.#ended(),
    });
  }

  get #limit(): number {
    return Math.min(this.core.settings.maxMessageBytes, this.#channel.maxTextBytes ?? Number.POSITIVE_INFINITY);
  }

  get session(): Session {
    if (this.#session === undefined)
      throw new ArcpError('FAILED_PRECONDITION', 'No session is open; send session.open first');
    return this.#session;
  }

  get subscription(): SessionSubscription {
    return this.#subscription!;
  }

  readonly uploader: Uploader = {
    backpressure: (streamId, isFull) =>
      this.#sendTransient({ type: 'backpressure', payload: backpressureOf(isFull), streamId }),
    refuse: (streamId, error) =>
      this.#sendTransient({ type: 'stream.error', payload: { ...error.toBody() }, streamId }),
  };

  send(body: string): void {
    if (!this.#isOver) this.#channel.send(body);
  }

  closeSession(): void {
    const session = this.#session;
    void this.engine.uploads.disconnect(this.uploader);
    this.#subscription?.close();
    this.#subscription = undefined;
    this.#session = undefined;
    if (session !== undefined && this.core.connections.get(session.id) === this)
      this.core.connections.delete(session.id);
  }

  readonly announce = (change: 'added' | 'removed', { kind, name, options }: Registration): void => {
    if (this.#session?.trust === 'untrusted' && options.isPublic !== true) return;
    const payload = { name: 'arcp.inventory.changed', attributes: { [change]: [{ kind, name }] } };
    this.#sendTransient({ type: 'event.emit', payload });
  };

  async end(): Promise<void> {
    await endWithoutStall(this.#channel, END_MS);
    this.#channel.destroy();
  }

  /** Sends a message that is not stored. */
  #sendTransient<T extends MessageType>(draft: Omit<Draft<T>, 'trace'>, cause: RefusedMessage = {}): void {
    const sessionId = this.#session?.id;
    this.send(this.engine.log.compose<T>({ sessionId, ...draft, trace: traceBelow(cause) }).body);
  }

  #text(text: string): void {
    if (this.#isOver || this.#isEnding) return;
    this.#missedPongs = 0;
    if (this.#channel.backlog() > MAX_UNREAD) {
      this.#channel.destroy();
      return;
    }
    const result = tryParseEnvelope(text, { maxMessageBytes: this.#limit });
    if (result.ok) this.#take(result.value, text.length);
    else this.#refuseText(result.error);
  }

  #take(message: Envelope, length: number): void {
    if (message.type === 'ping') this.#pong(message);
    else if (message.type === 'pong') return;
    else if (this.#buffered === undefined && message.type === 'session.open') void this.#open(message);
    else {
      this.#unexecuted += length;
      if (this.#unexecuted > HIGH_WATER_MARK && !this.#isPaused) {
        this.#isPaused = true;
        this.#channel.pause();
      }
      if (this.#buffered !== undefined) this.#buffered.push({ message, length });
      else void this.#execute({ message, length });
    }
  }

  async #open(message: Envelope<'session.open'>): Promise<void> {
    if (this.#session !== undefined) {
      this.#refuse(message, new ArcpError('FAILED_PRECONDITION', 'A session is already open on this connection'));
      return;
    }
    this.#buffered = [];
    this.#opening = message;
    let isRefused = false;
    try {
      assertAddressed(this.core, message);
      const opened = await openSession(this.core, message, this.#peer, this.#limit);
      if (this.#isOver) return;
      const { session, engine, isResumed, body } = opened;
      const { connections } = this.core;
      const previousConnection = connections.get(session.id);
      // Registered before the previous connection ends, so that a third one finds this one.
      connections.set(session.id, this);
      this.#session = session;
      this.engine = session.epoch === 0 ? engine : { ...engine, log: this.#guardedLog(engine, session) };
      const { log, bus } = engine;
      const { onError } = this.core.settings;
      const subscription = new SessionSubscription({
        log,
        bus,
        channel: this.#channel,
        sessionId: session.id,
        onError,
      });
      this.#subscription = subscription;
      engine.uploads.connect(this.uploader);
      await previousConnection?.replace();
      if (this.#session !== session) return;
      this.#opening = undefined;
      this.send(body);
      if (!isResumed) subscription.startAfter(0);
    } catch (thrown) {
      this.#refuse(message, refusalOf(thrown));
      isRefused = true;
    }
    this.#opening = undefined;
    for (const buffered of this.#buffered.splice(0)) void this.#execute(buffered);
    this.#buffered = undefined;
    if (isRefused) await this.end();
  }

  async #execute({ message, length }: Received): Promise<void> {
    const earlier = this.#earlierCommands;
    const executing = this.#attempt(message, () => earlier);
    this.#earlierCommands = executing.then(() => earlier);
    await executing;
    this.#unexecuted -= length;
    if (!this.#isPaused || this.#unexecuted > HIGH_WATER_MARK / 2) return;
    this.#isPaused = false;
    this.#channel.resume();
  }

  async #attempt(message: Envelope, before: () => Promise<unknown>): Promise<void> {
    try {
      this.#check(message);
      const command = COMMANDS[message.type];
      if (command === undefined) return;
      // Without a resume command, the client receives new messages only.
      if (message.type !== 'resume' && !this.subscription.isStarted)
        this.subscription.startAfter(await this.engine.log.lastSequence(this.session.id));
      const { previous: former, answer } = await this.#afterSameId(message, () =>
        command(this, message as never, before),
      );
      const reply = answer ?? (former && (await this.#repeatedAnswer(message, former)));
      if (reply !== undefined) this.send(reply);
    } catch (thrown) {
      this.#refuse(message, refusalOf(thrown));
      if (!(thrown instanceof ArcpError)) this.core.settings.onError(thrown);
    }
  }

  /** Returns the first answer of a command. It may be an event, and so comes after the earlier ones. */
  async #repeatedAnswer(message: Envelope, command: StoredRecord): Promise<string | undefined> {
    const answer = await previousAnswer(this, message, command);
    await this.engine.log.checkExternalCommits([this.session.id]);
    await this.subscription.caughtUp();
    return answer;
  }

  /** Runs a command after an earlier one with the same id, so that it finds the record of that. */
  async #afterSameId(message: Envelope, run: () => Promise<CommandResult>): Promise<CommandResult> {
    const { running } = this.core;
    const key = `${this.session.principal} ${message.id}`;
    const earlier = running.get(key);
    const result = earlier === undefined ? run() : earlier.then(run);
    const settled = result.then(
      () => {},
      () => {},
    );
    running.set(key, settled);
    try {
      return await result;
    } finally {
      if (running.get(key) === settled) running.delete(key);
    }
  }

  #check(message: Envelope): void {
    const { session_id, type } = message;
    if (describe(type)?.from === 'runtime') throw new ArcpError('PERMISSION_DENIED', `Only runtimes may send ${type}`);
    const { id } = this.session;
    if (session_id === undefined)
      throw new ArcpError('INVALID_ARGUMENT', 'session_id is required after session.open', {
        details: { issues: [{ path: 'session_id', message: 'is required' }] },
      });
    if (session_id !== id)
      throw new ArcpError('NOT_FOUND', 'session_id names a session that is not open on this connection');
    assertAddressed(this.core, message);
  }

  #pong(message: Envelope<'ping'>): void {
    const { id, session_id: sessionId, payload } = message;
    const received_at = formatTimestamp(this.core.settings.now());
    const pong = { ack_for: id, received_at, nonce: payload.nonce };
    this.#sendTransient({ type: 'pong', correlationId: id, sessionId, payload: pong }, message);
  }

  #refuseInvalid(code: 'INVALID_ARGUMENT' | 'PAYLOAD_TOO_LARGE', why: string, details: object, beginning = ''): void {
    if (this.#isEnding) return;
    this.#refuse(headerOfText(beginning), new ArcpError(code, why, { details: { ...details } }));
    this.#countInvalid();
  }

  #refuseText(error: EnvelopeError): void {
    this.#refuse(error.header, error);
    // An unknown or invalid message with an id does not count.
    if (error.header.id === undefined) this.#countInvalid();
  }

  #countInvalid(): void {
    const now = performance.now();
    this.#invalidAt = [...this.#invalidAt.filter((time) => now - time < INVALID_WINDOW_MS), now];
    if (this.#invalidAt.length < MAX_INVALID) return;
    this.#refuse(
      {},
      new ArcpError('RESOURCE_EXHAUSTED', 'Too many invalid messages; the connection is closed', { retryable: false }),
    );
    this.#isEnding = true;
    void this.end();
  }

  #refuse(cause: RefusedMessage, error: ArcpError): void {
    const { id } = cause;
    const jobId = id === undefined ? cause.job_id : undefined;
    const payload = { ...boundedBody(error, this.#session?.limits), nack_for: id };
    this.#sendTransient({ type: 'nack', correlationId: id, jobId, payload }, cause);
  }

  /** Ends the connection, since another one serves the session. */
  async replace(): Promise<void> {
    if (this.#session === undefined) return;
    this.#refuse(this.#opening ?? {}, replaced());
    this.closeSession();
    await this.end();
  }

  /** Returns a log that refuses the commits of this connection once a later one serves the session, also in another process. */
  #guardedLog({ log }: Engine, session: Session): Engine['log'] {
    return log.guarded({
      check: epochCheck(session),
      onFailed: () => {
        void this.replace().catch(this.core.settings.onError);
        return replaced();
      },
    });
  }

  #checkHeartbeat(): void {
    // The answers of a paused client wait in the channel. It is alive as long as it reads.
    if (this.#isPaused && this.#channel.ready() === undefined) this.#missedPongs = 1;
    if (this.#missedPongs > MAX_MISSED_PONGS) {
      this.#channel.destroy();
      return;
    }
    if (this.#missedPongs++ === 0) return;
    this.#sendTransient({ type: 'ping', payload: { sent_at: formatTimestamp(this.core.settings.now()) } });
  }

  async #ended(): Promise<void> {
    this.#isOver = true;
    this.#stopHeartbeat();
    const session = this.#session;
    const sent = this.#subscription?.sent;
    const aborted = this.engine.uploads.disconnect(this.uploader);
    this.closeSession();
    try {
      await aborted;
      if (session !== undefined) await this.core.onDisconnected(session, this.engine, sent);
    } catch (error) {
      this.core.settings.onError(error);
    } finally {
      // The last message is the reason for the end.
      if (this.#hasRefusedInput) await within(END_MS, this.#channel.end());
      this.#channel.destroy();
      this.#closed.resolve();
    }
  }
}

/** Milliseconds for which a client of a connection that ends may read nothing. */
const END_MS = 3000;

const MAX_INVALID = 20;
const INVALID_WINDOW_MS = 10_000;

/** Returns the error for the client. While the store cannot be read, the client may try again, here or at another runtime. */
function refusalOf(thrown: unknown): ArcpError {
  if (!(thrown instanceof StoreError)) return asArcpError(thrown);
  const details = { reason: thrown.reason };
  return new ArcpError('UNAVAILABLE', 'The store cannot be read at the moment; try again later', {
    details,
    cause: thrown,
  });
}

function replaced(): ArcpError {
  return new ArcpError('ABORTED', 'The session was resumed on another connection');
}

const RUNTIME_NAMES: readonly string[] = ['runtime', 'pegwire'];

/** Asserts that the target of a message is the runtime, or a tool, workflow or agent of it. */
function assertAddressed({ find }: Pick<Core, 'find'>, message: Envelope): void {
  const { target } = message;
  if (target === undefined || RUNTIME_NAMES.includes(target)) return;
  if (!KINDS.some((kind) => find(kind, target) !== undefined))
    throw new ArcpError('NOT_FOUND', `The target ${JSON.stringify(target)} is unknown`, { details: { target } });
  if (message.type === 'agent.delegate' && find('agent', target) && message.payload.target !== target)
    throw new ArcpError('INVALID_ARGUMENT', 'The target of the envelope differs from that of the payload');
}
