import { deferred } from '../../async/listeners.js';
import { Queue } from '../../async/queue.js';
import { after } from '../../async/timers.js';
import type { Channel, Receiver } from '../../channels/channel.js';
import { errorText } from '../codec.js';
import { ConnectionError, ERROR_CODES } from '../errors.js';
import type { Id } from '../message.js';
import { BacklogWaiters } from './backlog-waiters.js';
import { type Attached, type EventSink, Outbox, type OutboxObserver } from './outbox.js';
import {
  CLOSES,
  entriesOf,
  isSessionId,
  MAX_SESSION_ID,
  type Outline,
  outlineOf,
  type PendingRequest,
  PendingRequests,
} from './protocol.js';

/** Settings of a {@link ServerConnection}. */
export interface ConnectionSettings {
  /** The maximum length of the events that are kept for a reader that continues; 0 if streams cannot be continued. */
  readonly replayLength: number;
  readonly maxMessageBytes: number;
  /** The backlog from which senders wait, and the one that ends the connection, since the sender did not wait. */
  readonly highWaterMark: number;
  readonly maxBacklog: number;
  /** Milliseconds without a stream or a request after which the connection ends. */
  readonly idleMs: number;
  /** Milliseconds that senders wait for a reader that takes nothing, after which the connection ends. */
  readonly stallMs: number;
  readonly maxSessions: number;
}

/** Milliseconds for the agent to take the last messages of a client that has left. */
export const END_MS = 5000;

/** The stream of a message: that of a session, or `null` for that of the connection. */
type Route = string | null;

/** Why a message is refused; `null` if it is not. */
export type Refused = 'no-session' | 'other-session' | 'long-id' | 'too-many-requests' | 'too-many-sessions' | null;

/** The maximum length of the identifier of a request. */
const MAX_REQUEST_ID = 1024;
/** The maximum number of requests that the agent has not answered. */
const MAX_REQUESTS = 65_536;
/** The methods whose result names a session that the client then uses. */
const CREATES: ReadonlySet<string | undefined> = new Set(['session/new', 'session/fork']);

/**
 * One connection over HTTP, as a channel for the agent. Messages of the agent go to the stream of their session: that of the `sessionId` in the
 * params of a call, or that of the request which a response answers.
 *
 * Source: ACP, RFD "Streamable HTTP & WebSocket Transport", "Connection and Session Model".
 */
export class ServerConnection implements Channel {
  readonly id: string;
  readonly maxTextBytes: number;
  readonly isResumable: boolean;
  readonly #settings: ConnectionSettings;
  readonly #onFinish: () => void;
  readonly #own: Outbox;
  readonly #sessions = new Map<string, Outbox>();
  /** The ended streams of closed sessions, until their readers have all of them. */
  readonly #closed = new Map<string, Outbox>();
  /** Closed sessions of which requests are not answered. */
  readonly #closing = new Set<string>();
  readonly #observer: OutboxObserver;
  #backlog = 0;
  /** The number of streams with a reader. */
  #readers = 0;
  /** Requests of the client that the agent has not answered. */
  readonly #asked = new PendingRequests<PendingRequest>();
  /** Requests of the agent that the client has not answered. */
  readonly #asking = new PendingRequests<Route>();
  #receiver: Receiver | undefined;
  #isPaused = false;
  #isDelivering = false;
  /** Messages of the client, with the callbacks of their requests; `null` is the end. */
  readonly #received = new Queue<{ readonly text: string; readonly done: (isDelivered: boolean) => void } | null>();
  #initialize: { readonly id: Id; readonly answer: (text: string | null) => void } | undefined;
  /** `true` after the agent has ended its output. */
  #isEnding = false;
  #hasFinished = false;
  #failure: Error | undefined;
  readonly #waiters = new BacklogWaiters();
  readonly #finished = deferred();
  #stopIdle: () => void = () => {};
  #stopStall: (() => void) | undefined;

  /** @param onFinish called when the connection no longer accepts requests */
  constructor(id: string, settings: ConnectionSettings, onFinish: () => void) {
    this.id = id;
    this.#settings = settings;
    this.maxTextBytes = settings.maxMessageBytes;
    this.isResumable = settings.replayLength > 0;
    this.#onFinish = onFinish;
    this.#observer = {
      changed: (difference) => {
        this.#backlog += difference;
        if (difference < 0) this.#progress();
      },
      transmitted: () => this.#watchStall(),
    };
    this.#own = this.#outbox();
    this.#watchIdle();
  }

  #outbox(): Outbox {
    return new Outbox(this.#settings.replayLength, this.#observer);
  }

  /** Delivers `initialize`. @returns the response of the agent; `null` if the connection ended before */
  initialize(text: string, id: Id): Promise<string | null> {
    return new Promise((resolve) => {
      this.#initialize = { id, answer: resolve };
      void this.#receive(text);
    });
  }

  /** Checks the identifiers of a message of the client, and its session, given in a header. */
  check(outline: Outline, header: string | undefined): Refused {
    const entries = entriesOf(outline);
    const requests = entries.filter(({ kind }) => kind === 'request');
    if (requests.some(({ id }) => typeof id === 'string' && id.length > MAX_REQUEST_ID)) return 'long-id';
    if (requests.length > 0 && this.#asked.size + requests.length > MAX_REQUESTS) return 'too-many-requests';
    // The response has a stream before there is a request for it.
    if (header !== undefined && this.#stream(header) === null) return 'too-many-sessions';
    for (const entry of entries) {
      const session = this.#sessionOf(entry);
      if (session === undefined) continue;
      if (header === undefined) return 'no-session';
      if (header !== session) return 'other-session';
    }
    return null;
  }

  #sessionOf({ kind, id, session }: Outline): string | undefined {
    return kind === 'response' && id !== undefined ? (this.#asking.get(id) ?? undefined) : session;
  }

  /**
   * Delivers a message of the client. Resolves when the agent has taken it.
   *
   * @returns `false` if the connection ended before
   */
  post(text: string, outline: Outline, header: string | undefined): Promise<boolean> {
    if (this.#hasFinished) return Promise.resolve(false);
    if (header !== undefined) this.#closing.delete(header);
    for (const { kind, id, method } of entriesOf(outline)) {
      if (id === undefined) continue;
      if (kind === 'request') this.#asked.add(id, { method, session: header });
      else if (kind === 'response') this.#asking.delete(id);
    }
    this.#watchIdle();
    return this.#receive(text);
  }

  #receive(text: string): Promise<boolean> {
    return new Promise((done) => {
      this.#received.push({ text, done });
      this.#deliver();
    });
  }

  /** Returns the stream of a session, or of the connection. @returns `null` if there are too many */
  streamOf(session: string | undefined, lastId: number | undefined): Outbox | null {
    if (session === undefined) return this.#own;
    const closed = this.#closed.get(session);
    // The reader of a session that is closed has missed its end.
    return closed !== undefined && (lastId !== undefined || !closed.isRead) ? closed : this.#stream(session);
  }

  /** Makes the response of a GET request the reader of a stream. @returns a function that detaches it, or why it cannot be the reader */
  attach(outbox: Outbox, sink: EventSink, lastId: number | undefined): Exclude<Attached, 'attached'> | (() => void) {
    const wasRead = outbox.isRead;
    const attached = outbox.attach(sink, lastId);
    if (attached !== 'attached') return attached;
    if (!wasRead) this.#readers++;
    this.#watchIdle();
    return () => {
      if (!outbox.detach(sink)) return;
      this.#readers--;
      for (const [session, closed] of this.#closed) if (closed.isDone) this.#closed.delete(session);
      this.#watchIdle();
    };
  }

  /** Writes a comment to all streams. */
  comment(text: string): void {
    for (const outbox of this.#outboxes()) outbox.comment(text);
  }

  #outboxes(): Outbox[] {
    return [this.#own, ...this.#sessions.values(), ...this.#closed.values()];
  }

  /** Returns the stream of a session. @returns `null` if there are too many */
  #stream(session: string): Outbox | null {
    const known = this.#sessions.get(session);
    if (known !== undefined) return known;
    if (this.#sessions.size + this.#closed.size >= this.#settings.maxSessions) return null;
    const outbox = this.#outbox();
    this.#sessions.set(session, outbox);
    return outbox;
  }

  /** Ends the stream of a session that is closed, when all its requests are answered. */
  #close(session: string): void {
    if (!this.#closing.has(session) || this.#asked.filter((asked) => asked.session === session).length > 0) return;
    this.#closing.delete(session);
    const outbox = this.#sessions.get(session);
    if (outbox === undefined) return;
    this.#sessions.delete(session);
    this.#closed.set(session, outbox);
    outbox.end();
  }

  /** Ends the input of the agent, after the messages that arrived before, and closes the streams. */
  terminate(): void {
    if (this.#hasFinished) return;
    this.#isEnding = true;
    for (const outbox of this.#outboxes()) outbox.end();
    this.#received.push(null);
    this.#deliver();
    this.#onFinish();
    // An agent that reads nothing more learns of the end, too.
    const stop = after(END_MS, () => this.#finish(new ConnectionError('closed', 'The client has left.')));
    void this.#finished.promise.then(stop);
  }

  readonly start = (receiver: Receiver): void => {
    this.#receiver = receiver;
    // It may have ended before the agent was ready.
    if (this.#hasFinished) queueMicrotask(() => receiver.ended(this.#failure));
    else queueMicrotask(() => this.#deliver());
  };

  readonly send = (text: string): void => {
    if (this.#isEnding || this.#hasFinished) return;
    const outline = outlineOf(text);
    if (this.#initialize !== undefined && outline?.kind === 'response' && outline.id === this.#initialize.id) {
      this.#initialize.answer(text);
      this.#initialize = undefined;
      this.#watchIdle();
      return;
    }
    this.#route(text, outline);
    if (this.#backlog > this.#settings.maxBacklog)
      this.#fail(new ConnectionError('backlog-full', 'The client does not read, and too many messages wait.'));
  };

  #route(text: string, outline: Outline | null): void {
    const { id, created } = outline ?? {};
    const asked = outline?.kind === 'response' && id !== undefined ? this.#asked.get(id) : undefined;
    const isUnusable = CREATES.has(asked?.method) && created !== undefined && !isSessionId(created);
    const route = outline === null ? null : this.#routeOf(outline);
    // The agent has more sessions than streams: the client reads that of the connection, too.
    const stream = (route === null ? null : this.#stream(route)) ?? this.#own;
    stream.push(isUnusable ? unusableSession(id!) : text);
    if (asked?.session === undefined) return;
    if (outline!.isResult === true && CLOSES.has(asked.method)) this.#closing.add(asked.session);
    this.#close(asked.session);
  }

  /** Returns the stream of a message of the agent. A batch whose entries belong to several streams is sent on that of the connection. */
  #routeOf(outline: Outline): Route {
    const routes = new Set(entriesOf(outline).map((entry) => this.#routeOfEntry(entry)));
    return routes.size === 1 ? [...routes][0]! : null;
  }

  #routeOfEntry({ kind, id, session }: Outline): Route {
    if (kind === 'response' && id !== undefined) {
      const asked = this.#asked.get(id);
      if (asked === undefined) return null;
      this.#asked.delete(id);
      // The response to `session/load` is on the stream of the connection ("Resume Session Flow").
      return asked.method === 'session/load' ? null : (asked.session ?? null);
    }
    // A client cannot open the stream of a session that no header can name.
    const route = session !== undefined && isSessionId(session) ? session : null;
    if (kind === 'request' && id !== undefined) this.#asking.add(id, route);
    return route;
  }

  readonly backlog = (): number => this.#backlog;

  readonly ready = (): Promise<void> | undefined =>
    this.#hasFinished || this.#backlog <= this.#settings.highWaterMark
      ? undefined
      : this.#below(this.#settings.highWaterMark);

  /** Messages are accepted when they are kept for their stream, so that the sessions of a client need not wait for each other. */
  readonly flushed = async (): Promise<boolean> => {
    await this.ready();
    return !(this.#hasFinished || this.#isEnding);
  };

  /** Resolves when the backlog is not larger, or the connection has ended. */
  #below(upTo: number): Promise<void> {
    if (this.#hasFinished || this.#backlog <= upTo) return Promise.resolve();
    const released = this.#waiters.wait(upTo);
    if (this.#stopStall === undefined) this.#watchStall();
    return released;
  }

  readonly #progress = (): void => {
    if (this.#waiters.size === 0) return;
    this.#waiters.release(this.#hasFinished ? 0 : this.#backlog);
    if (this.#waiters.size === 0) this.#watchStall();
  };

  /** Watches anew whether the client reads, if the agent waits for it. Comments, and what was transmitted before, do not count. */
  #watchStall(): void {
    this.#stopStall?.();
    this.#stopStall = undefined;
    if (this.#waiters.size === 0) return;
    this.#stopStall = after(this.#settings.stallMs, () =>
      this.#fail(new ConnectionError('closed', 'The client does not read its streams.')),
    );
  }

  #watchIdle(): void {
    this.#stopIdle();
    this.#stopIdle = () => {};
    // A client that waits for an answer is there; one whose agent takes nothing may have left.
    const isWaitedFor = this.#initialize !== undefined || (this.#received.size > 0 && !this.#isPaused);
    if (this.#hasFinished || isWaitedFor || this.#readers > 0) return;
    this.#stopIdle = after(this.#settings.idleMs, () =>
      this.#fail(new ConnectionError('closed', 'The client has no open stream.')),
    );
  }

  readonly pause = (): void => {
    this.#isPaused = true;
  };

  readonly resume = (): void => {
    this.#isPaused = false;
    this.#deliver();
  };

  #deliver(): void {
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    while (this.#receiver !== undefined && !this.#isPaused && !this.#hasFinished && this.#received.size > 0) {
      const next = this.#received.take();
      if (next === null) this.#finish();
      else {
        next.done(true);
        this.#receiver.text(next.text);
      }
    }
    this.#isDelivering = false;
    this.#watchIdle();
  }

  readonly end = async (): Promise<void> => {
    if (!this.#isEnding) {
      this.#isEnding = true;
      for (const outbox of this.#outboxes()) outbox.end();
    }
    await this.#below(0);
    this.#finish();
  };

  readonly destroy = (): void => {
    for (const outbox of this.#outboxes()) outbox.destroy();
    this.#finish();
  };

  #fail(error: Error): void {
    for (const outbox of this.#outboxes()) outbox.destroy();
    this.#finish(error);
  }

  #finish(error?: Error): void {
    if (this.#hasFinished) return;
    this.#hasFinished = true;
    this.#failure = error;
    this.#stopIdle();
    this.#stopStall?.();
    this.#initialize?.answer(null);
    for (const entry of this.#received.clear()) entry?.done(false);
    this.#progress();
    this.#finished.resolve();
    this.#onFinish();
    this.#receiver?.ended(error);
  }
}

/** Returns the response to a request that created a session which no header can name. */
function unusableSession(id: Id): string {
  const message = `The agent named a session that cannot be used over HTTP: an id must have 1 to ${MAX_SESSION_ID} printable ASCII characters.`;
  return errorText(id, { code: ERROR_CODES.internalError, message });
}
