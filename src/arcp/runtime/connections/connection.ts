/** One channel, and the session that it carries. */
import { deferred } from '../../../async/listeners.js';
import { every } from '../../../async/timers.js';
import type { Channel } from '../../../channels/channel.js';
import { describe, type MessageType } from '../../protocol/catalogue.js';
import { type EnvelopeError, headerOfText, tryParseEnvelope } from '../../protocol/codec.js';
import type { Envelope } from '../../protocol/envelope.js';
import { ArcpError, asArcpError } from '../../protocol/errors.js';
import { formatTimestamp } from '../../protocol/ids.js';
import { pressureOf } from '../../streams/writer.js';
import { type CommandResult, formerAnswer } from '../commands/command.js';
import { COMMANDS } from '../commands/index.js';
import type { ConnectionContext, Core } from '../core.js';
import type { Engine } from '../engine/engine.js';
import { boundedBody, type Cause, type Draft, traceBelow } from '../events/message.js';
import type { Peer } from '../sessions/auth.js';
import { Feed } from '../sessions/feed.js';
import type { Session } from '../sessions/session.js';
import type { Uploader } from '../streams.js';
import { KINDS } from '../works.js';
import { openSession } from './handshake.js';

type Refused = { readonly [K in keyof Cause]?: Cause[K] | undefined } & { readonly job_id?: string | undefined };

const MISSED_PONGS = 2;

export class Connection implements ConnectionContext {
  readonly core: Core;
  readonly #channel: Channel;
  readonly #peer: Peer;
  /** Times of recent texts that were not messages. */
  #faults: number[] = [];
  /** Resolves when all earlier commands have been accepted or refused. */
  #taken: Promise<unknown> = Promise.resolve();
  /** Messages that came while the session was being opened. */
  #early: Envelope[] | undefined;
  #opening: Envelope<'session.open'> | undefined;
  #session: Session | undefined;
  engine: Engine;
  #feed: Feed | undefined;
  #missed = 0;
  readonly #stopBeat: () => void;
  /** Nothing more is read, but pending messages are sent. */
  #isEnding = false;
  #isOver = false;
  readonly #closed = deferred();
  readonly closed = this.#closed.promise;

  constructor(core: Core, channel: Channel, peer: Peer) {
    this.core = core;
    this.#channel = channel;
    this.#peer = peer;
    this.engine = core.transient;
    this.#stopBeat = every(core.settings.heartbeatMs, () => this.#listen());
    channel.start({
      text: (text) => this.#text(text),
      invalid: (why, beginning) => this.#garbage('INVALID_ARGUMENT', why, { reason: 'parse_error' }, beginning),
      tooLong: (limit, beginning) => {
        const details = { reason: 'too_long', max_message_bytes: limit };
        this.#garbage('PAYLOAD_TOO_LARGE', `The message has more than ${limit} bytes`, details, beginning);
      },
      ended: () => void this.#ended(),
    });
  }

  get #limit(): number {
    return Math.min(this.core.settings.maxMessageBytes, this.#channel.maxTextBytes ?? Number.POSITIVE_INFINITY);
  }

  get session(): Session {
    if (this.#session === undefined) throw new ArcpError('FAILED_PRECONDITION', 'No session is open');
    return this.#session;
  }

  get feed(): Feed {
    return this.#feed!;
  }

  readonly uploader: Uploader = {
    pressure: (streamId, isFull) => this.#say({ type: 'backpressure', payload: pressureOf(isFull), streamId }),
    refused: (streamId, error) => this.#say({ type: 'stream.error', payload: { ...error.toBody() }, streamId }),
  };

  send(body: string): void {
    if (!this.#isOver) this.#channel.send(body);
  }

  closeSession(): void {
    const session = this.#session;
    this.#feed?.close();
    this.#feed = undefined;
    this.#session = undefined;
    if (session !== undefined && this.core.connections.get(session.id) === this)
      this.core.connections.delete(session.id);
  }

  readonly announceWork = (added: { readonly kind: string; readonly name: string }): void => {
    const payload = { name: 'arcp.inventory.changed', attributes: { added: [added] } };
    this.#say({ type: 'event.emit', payload });
  };

  async end(): Promise<void> {
    await this.#channel.end();
    this.#channel.destroy();
  }

  /** Sends a message that is not stored. */
  #say<T extends MessageType>(draft: Omit<Draft<T>, 'trace'>, cause: Refused = {}): void {
    const sessionId = this.#session?.id;
    this.send(this.engine.log.compose<T>({ sessionId, ...draft, trace: traceBelow(cause) }).body);
  }

  #text(text: string): void {
    if (this.#isOver || this.#isEnding) return;
    this.#missed = 0;
    const result = tryParseEnvelope(text, { maxMessageBytes: this.#limit });
    if (result.ok) this.#take(result.value);
    else this.#refuseText(result.error);
  }

  #take(message: Envelope): void {
    if (message.type === 'ping') this.#pong(message);
    else if (message.type === 'pong') return;
    else if (this.#early !== undefined) this.#early.push(message);
    else if (message.type === 'session.open') void this.#open(message);
    else void this.#carryOut(message);
  }

  async #open(message: Envelope<'session.open'>): Promise<void> {
    if (this.#session !== undefined) {
      this.#refuse(message, new ArcpError('FAILED_PRECONDITION', 'A session is open already'));
      return;
    }
    this.#early = [];
    this.#opening = message;
    let isRefused = false;
    try {
      assertAddressed(this.core, message);
      const opened = await openSession(this.core, message, this.#peer, this.#limit);
      if (this.#isOver) return;
      const { session, engine, isResumed, body } = opened;
      const { connections } = this.core;
      const former = connections.get(session.id);
      // Before the former connection ends, so that a third one finds this one.
      connections.set(session.id, this);
      this.#session = session;
      this.engine = engine;
      const { store, hub } = engine;
      const { onError } = this.core.settings;
      const feed = new Feed({ store, hub, channel: this.#channel, sessionId: session.id, onError });
      this.#feed = feed;
      await former?.handOver('The session goes on elsewhere');
      if (this.#session !== session) return;
      this.#opening = undefined;
      this.send(body);
      if (!isResumed) feed.startAfter(session.acceptedAfter);
    } catch (thrown) {
      this.#refuse(message, asArcpError(thrown));
      isRefused = true;
    }
    this.#opening = undefined;
    for (const early of this.#early.splice(0)) void this.#carryOut(early);
    this.#early = undefined;
    if (isRefused) await this.end();
  }

  async #carryOut(message: Envelope): Promise<void> {
    const earlier = this.#taken;
    const taking = this.#attempt(message, () => earlier);
    this.#taken = Promise.all([earlier, taking]);
    await taking;
  }

  async #attempt(message: Envelope, before: () => Promise<unknown>): Promise<void> {
    try {
      this.#check(message);
      const command = COMMANDS[message.type];
      if (command === undefined) return;
      // Without a resume, the client gets new messages only.
      if (message.type !== 'resume' && !this.feed.isStarted)
        this.feed.startAfter(await this.engine.store.lastSequence());
      const { former, answer } = await this.#inTurn(message, () => command(this, message as never, before));
      const said = answer ?? (former && (await formerAnswer(this.engine.store, message, former)));
      if (said !== undefined) this.send(said);
    } catch (thrown) {
      this.#refuse(message, asArcpError(thrown));
      if (!(thrown instanceof ArcpError)) this.core.settings.onError(thrown);
    }
  }

  /** Runs a command after an earlier one with the same id, whose record it then finds. */
  async #inTurn(message: Envelope, run: () => Promise<CommandResult>): Promise<CommandResult> {
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
    if (describe(type)?.from === 'runtime') throw new ArcpError('PERMISSION_DENIED', `Only runtimes send ${type}`);
    const { id } = this.session;
    if (session_id === undefined)
      throw new ArcpError('INVALID_ARGUMENT', 'session_id is needed in a session', {
        details: { issues: [{ path: 'session_id', message: 'is required' }] },
      });
    if (session_id !== id) throw new ArcpError('NOT_FOUND', 'This connection carries another session');
    assertAddressed(this.core, message);
  }

  #pong(message: Envelope<'ping'>): void {
    const { id, session_id: sessionId, payload } = message;
    const received_at = formatTimestamp(this.core.settings.now());
    const pong = { ack_for: id, received_at, nonce: payload.nonce };
    this.#say({ type: 'pong', correlationId: id, sessionId, payload: pong }, message);
  }

  #garbage(code: 'INVALID_ARGUMENT' | 'PAYLOAD_TOO_LARGE', why: string, details: object, beginning = ''): void {
    if (this.#isEnding) return;
    this.#refuse(headerOfText(beginning), new ArcpError(code, why, { details: { ...details } }));
    this.#count();
  }

  #refuseText(error: EnvelopeError): void {
    this.#refuse(error.header, error);
    // An unknown or invalid message with an id is not counted.
    if (error.header.id === undefined) this.#count();
  }

  #count(): void {
    const now = performance.now();
    this.#faults = [...this.#faults.filter((time) => now - time < WINDOW_MS), now];
    if (this.#faults.length < MOST_FAULTS) return;
    this.#refuse({}, new ArcpError('RESOURCE_EXHAUSTED', 'Too much of this is no message', { retryable: false }));
    this.#isEnding = true;
    void this.end();
  }

  #refuse(cause: Refused, error: ArcpError): void {
    const { id } = cause;
    const jobId = id === undefined ? cause.job_id : undefined;
    const payload = { ...boundedBody(error, this.#session?.limits), nack_for: id };
    this.#say({ type: 'nack', correlationId: id, jobId, payload }, cause);
  }

  async handOver(why: string): Promise<void> {
    this.#refuse(this.#opening ?? {}, new ArcpError('ABORTED', why));
    this.closeSession();
    await this.end();
  }

  #listen(): void {
    if (this.#missed > MISSED_PONGS) {
      this.#channel.destroy();
      return;
    }
    if (this.#missed++ === 0) return;
    this.#say({ type: 'ping', payload: { sent_at: formatTimestamp(this.core.settings.now()) } });
  }

  async #ended(): Promise<void> {
    this.#isOver = true;
    this.#stopBeat();
    const session = this.#session;
    const sent = this.#feed?.sent;
    this.engine.uploads.lost(this.uploader);
    this.closeSession();
    try {
      if (session !== undefined) await this.core.onDisconnected(session, this.engine, sent);
    } catch (error) {
      this.core.settings.onError(error);
    } finally {
      this.#channel.destroy();
      this.#closed.resolve();
    }
  }
}

const MOST_FAULTS = 20;
const WINDOW_MS = 10_000;

const RUNTIME_NAMES: readonly string[] = ['runtime', 'pegwire'];

/** Refuses a message whose target is neither the runtime nor something that it offers. */
function assertAddressed({ find }: Pick<Core, 'find'>, message: Envelope): void {
  const { target } = message;
  if (target === undefined || RUNTIME_NAMES.includes(target)) return;
  if (!KINDS.some((kind) => find(kind, target) !== undefined))
    throw new ArcpError('NOT_FOUND', `Nobody here is called ${JSON.stringify(target)}`, { details: { target } });
  if (message.type === 'agent.delegate' && find('agent', target) && message.payload.target !== target)
    throw new ArcpError('INVALID_ARGUMENT', 'The message is for one agent, and its task for another');
}
