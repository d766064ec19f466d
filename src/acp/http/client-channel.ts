import { linkSignals, within } from '../../async/abort.js';
import { deferred } from '../../async/listeners.js';
import { Queue } from '../../async/queue.js';
import { type SilenceWatch, watchSilence } from '../../async/silence.js';
import { after, backoff, withJitter } from '../../async/timers.js';
import { BEGINNING, type Channel, type Receiver } from '../../channels/channel.js';
import { EVENT_STREAM } from '../../channels/event-stream.js';
import { isMediaType } from '../../channels/media-type.js';
import { errorText } from '../codec.js';
import { ConnectionError, ERROR_CODES } from '../errors.js';
import type { ErrorObject, Id } from '../message.js';
import { BacklogWaiters } from './backlog-waiters.js';
import {
  CLOSES,
  CONNECTION_HEADER,
  entriesOf,
  isSessionId,
  JSON_TYPE,
  KEEP_ALIVE_HEADER,
  LAST_EVENT_HEADER,
  type Outline,
  outlineOf,
  type PendingRequest,
  PendingRequests,
  RESUMABLE_HEADER,
  SESSION_HEADER,
} from './protocol.js';
import { readEvents, TooLongError } from './read-events.js';
import { beginningOf, RefusedError, type RequestSettings, Requests } from './requests.js';

/** Settings of a {@link ClientChannel}. */
export interface ClientSettings extends RequestSettings {
  readonly maxMessageBytes: number;
  readonly resumable: boolean;
  /** Milliseconds of silence after which a stream is lost; `undefined` for three times the interval that the server announces. */
  readonly silenceMs: number | undefined;
  readonly reconnect: { readonly minDelayMs: number; readonly maxDelayMs: number; readonly maxAttempts: number };
  /** Called when nothing uses the connections of the client any more. */
  readonly release: () => void;
}

/** The statuses with which the connection, and not one request, is refused. */
const FATAL: ReadonlySet<number> = new Set([401, 403, 404, 410]);
const HIGH_WATER_MARK = 1024 * 1024;
/** Milliseconds for a server that announces its signs of life to accept a stream. */
const OPEN_MS = 10_000;
/** Delays before the stream of a session that ended alone is opened again. They grow while it ends at once, without an event. */
const REOPEN = { minDelayMs: 100, maxDelayMs: 5000 };
/** Milliseconds for the rest of the streams of a connection that the server has ended, and for the server to answer the end. */
const END_MS = 2000;

/**
 * The client side of a connection over HTTP, as a channel. Messages are posted one after the other, so that they arrive in order; none is
 * sent twice. The stream of a session is opened before its first message, or when a response names the session.
 *
 * Source: ACP, RFD "Streamable HTTP & WebSocket Transport", "Streamable HTTP Message Flow".
 */
export class ClientChannel implements Channel {
  readonly maxTextBytes: number;
  readonly #settings: ClientSettings;
  readonly #requests: Requests;
  /** Messages that are not posted. The first stays here until it is answered. */
  readonly #unsent = new Queue<string>();
  #unsentLength = 0;
  #isPosting = false;
  #connectionId: string | undefined;
  #isResumable = false;
  #silenceMs = Number.POSITIVE_INFINITY;
  readonly #streams = new Map<string, EventStream>();
  #open = 0;
  /** Requests of this side that are not answered. */
  readonly #sent = new PendingRequests<PendingRequest>();
  /** Requests of the server that are not answered, with their sessions. */
  readonly #asked = new PendingRequests<string | undefined>();
  #receiver: Receiver | undefined;
  readonly #started = deferred();
  #isPaused = false;
  #resumed = deferred();
  #isEnding = false;
  /** Set when the server ends the stream of the connection. */
  #serverEnded = false;
  /** The 404 with which the server refused a message, since the connection has ended. */
  #refusal: RefusedError | undefined;
  /** Watches the streams of a connection that the server has ended. */
  #draining: SilenceWatch | undefined;
  /** Ends the delays of streams. */
  readonly #delays = new Set<() => void>();
  #hasFinished = false;
  #deleted: Promise<unknown> | undefined;
  readonly #waiters = new BacklogWaiters();

  constructor(settings: ClientSettings) {
    this.#settings = settings;
    this.#requests = new Requests(settings);
    this.maxTextBytes = settings.maxMessageBytes;
  }

  readonly start = (receiver: Receiver): void => {
    this.#receiver = receiver;
    this.#started.resolve();
  };

  readonly send = (text: string): void => {
    if (this.#isEnding || this.#hasFinished) return;
    this.#unsent.push(text);
    this.#unsentLength += text.length;
    if (!this.#isPosting) void this.#postAll();
  };

  async #postAll(): Promise<void> {
    this.#isPosting = true;
    try {
      while (this.#unsent.size > 0 && !this.#hasFinished) {
        const text = this.#unsent.first!;
        await (this.#connectionId === undefined ? this.#initialize(text) : this.#post(text, this.#connectionId));
        if (this.#hasFinished || this.#isOver()) return;
        this.#unsent.take();
        this.#unsentLength -= text.length;
        this.#waiters.release(this.#unsentLength);
      }
    } catch (thrown) {
      this.#fail(thrown, 'Cannot send a message');
    } finally {
      this.#isPosting = false;
    }
  }

  async #initialize(text: string): Promise<void> {
    const outline = outlineOf(text);
    if (outline?.kind !== 'request' || outline.method !== 'initialize')
      throw new ConnectionError('closed', 'The first message over HTTP must be the request initialize.');
    const headers = { 'content-type': JSON_TYPE, accept: JSON_TYPE };
    const response = await this.#requests.send(
      'POST',
      {
        ...headers,
        ...(this.#settings.resumable ? { [RESUMABLE_HEADER]: '1' } : {}),
      },
      text,
    );
    const id = response.headers.get(CONNECTION_HEADER);
    if (id === null) throw new ConnectionError('closed', 'The response of the server has no Acp-Connection-Id.');
    this.#connectionId = id;
    // A `fetch` that ignores its signal: the connection exists, but is not used.
    if (this.#hasFinished) return this.#sendDelete();
    const answer = await this.#textOf(response);
    const answered = outlineOf(answer);
    if (answered?.kind !== 'response' || answered.id !== outline.id)
      throw new ConnectionError('bad-response', 'The response to initialize is not its JSON-RPC response.', {
        received: answer,
      });
    this.#isResumable = this.#settings.resumable && response.headers.get(RESUMABLE_HEADER) === '1';
    this.#silenceMs = this.#settings.silenceMs ?? silenceOf(response.headers.get(KEEP_ALIVE_HEADER));
    void this.#read(newStream(undefined), () => undefined);
    await this.#deliver(answer, undefined);
  }

  async #textOf(response: Response): Promise<string> {
    let text = '';
    const decoder = new TextDecoder('utf-8', { fatal: true });
    const reader = response.body?.getReader();
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      if (done) return text;
      text += decoder.decode(value, { stream: true });
      if (text.length > this.maxTextBytes) throw new TooLongError(text);
    }
  }

  async #post(text: string, connectionId: string): Promise<void> {
    const outline = outlineOf(text);
    const session = this.#sessionOf(outline);
    const refusal = session === undefined ? undefined : await this.#openSession(session);
    if (refusal !== undefined) return this.#refuse(outline, refusal);
    for (const { kind, id, method } of entriesOf(outline))
      if (kind === 'request') this.#sent.add(id!, { method, session });
    try {
      const response = await this.#requests.send(
        'POST',
        {
          ...{ 'content-type': JSON_TYPE, [CONNECTION_HEADER]: connectionId },
          ...(session === undefined ? {} : { [SESSION_HEADER]: session }),
        },
        text,
      );
      await beginningOf(response);
    } catch (thrown) {
      if (thrown instanceof RefusedError && thrown.status === 404) {
        this.#refusal = thrown;
        this.#drain();
        return;
      }
      const isFatal = !(thrown instanceof RefusedError) || FATAL.has(thrown.status);
      if (isFatal || outline?.kind !== 'request') throw thrown;
      await this.#refuse(outline, errorOf(thrown));
    }
  }

  /** Answers the requests of a message that the server does not receive. */
  async #refuse(outline: Outline | null, error: ErrorObject): Promise<void> {
    for (const { kind, id } of entriesOf(outline))
      if (kind === 'request') await this.#deliver(errorText(id!, error), undefined);
  }

  #sessionOf(outline: Outline | null): string | undefined {
    for (const { kind, id, session } of entriesOf(outline)) {
      if (kind !== 'response' || id === undefined) {
        if (session !== undefined) return session;
        continue;
      }
      const asked = this.#asked.get(id);
      this.#asked.delete(id);
      if (asked !== undefined) return asked;
    }
    return undefined;
  }

  /** Opens the stream of a session, unless it is open. @returns why messages of the session cannot be sent; `undefined` if they can */
  async #openSession(session: string): Promise<ErrorObject | undefined> {
    if (!isSessionId(session)) {
      const message = `A session with the id ${JSON.stringify(session.slice(0, 100))} cannot be used over HTTP: no header can have it.`;
      return { code: ERROR_CODES.internalError, message };
    }
    const stream = this.#streams.get(session) ?? newStream(session);
    this.#streams.set(session, stream);
    stream.isClosing = false;
    stream.opened ??= new Promise((resolve) => {
      void this.#read(stream, resolve).then(resolve);
    });
    await stream.opened;
    return stream.refusal;
  }

  /** Reads a stream until it ends, and continues it after its connection was lost if that is agreed. @param onOpen called when it is open */
  async #read(stream: EventStream, onOpen: () => void): Promise<void> {
    let failures = 0;
    this.#open++;
    for (;;) {
      const before = stream.lastId;
      try {
        await this.#readOnce(stream, onOpen);
        break;
      } catch (thrown) {
        if (this.#hasFinished) return;
        if (stream.isClosed) break;
        if (stream.lastId !== before) failures = 0;
        // The server may have ended the connection while a session was opened again; its own stream tells.
        if (stream.hasEnded && thrown instanceof RefusedError && thrown.status === 404) break;
        // A server that has too many streams refuses that of one session.
        if (stream.session !== undefined && thrown instanceof RefusedError && !FATAL.has(thrown.status)) {
          stream.refusal = errorOf(thrown);
          break;
        }
        const { maxAttempts, ...delays } = this.#settings.reconnect;
        const canContinue = this.#isResumable && !(thrown instanceof RefusedError) && !(thrown instanceof TooLongError);
        if (!canContinue || ++failures > maxAttempts) {
          this.#fail(thrown, 'A stream is lost');
          return;
        }
        await this.#delay(withJitter(backoff(failures, delays)));
        if (this.#hasFinished) return;
      }
    }
    this.#open--;
    this.#ended(stream);
  }

  /** Waits until a delay has passed, or the channel has finished. */
  #delay(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        stop();
        this.#delays.delete(end);
        resolve();
      };
      const stop = after(delayMs, end);
      this.#delays.add(end);
    });
  }

  async #readOnce(stream: EventStream, onOpen: () => void): Promise<void> {
    const { session } = stream;
    // The server then knows that the reader before is lost, although it may have read nothing.
    const lastId = stream.lastId ?? (stream.reading !== undefined && this.#isResumable ? '0' : undefined);
    const silent = new AbortController();
    stream.reading = silent;
    const silenceMs = this.#silenceMs;
    const lose = (): void => silent.abort(new ConnectionError('closed', `The server was silent for ${silenceMs} ms.`));
    const watch = watchSilence(silenceMs, () => !this.#isPaused, lose);
    // A server that is not silent for long accepts a stream soon.
    const openMs = silenceMs === Number.POSITIVE_INFINITY ? silenceMs : Math.min(silenceMs, OPEN_MS);
    const opening = watchSilence(openMs, () => true, lose);
    const { signal, release } = linkSignals(this.#requests.signal, silent.signal);
    const headers = {
      ...{ accept: EVENT_STREAM, [CONNECTION_HEADER]: this.#connectionId! },
      ...(session === undefined ? {} : { [SESSION_HEADER]: session }),
      ...(lastId === undefined ? {} : { [LAST_EVENT_HEADER]: lastId }),
    };
    try {
      const response = await this.#requests.send('GET', headers, undefined, signal);
      opening.stop();
      const type = response.headers.get('content-type') ?? undefined;
      if (response.body === null || !isMediaType(type, EVENT_STREAM)) {
        void response.body?.cancel().catch(() => undefined);
        throw new RefusedError('GET', response.status, `the body is ${type ?? 'empty'}, not ${EVENT_STREAM}`);
      }
      stream.hasEnded = false;
      onOpen();
      const opened = performance.now();
      stream.endedAtOnce++;
      for await (const { data, id } of readEvents(response.body, this.maxTextBytes, watch.heard)) {
        stream.endedAtOnce = 0;
        this.#draining?.heard();
        await this.#deliver(data, session);
        if (this.#hasFinished || stream.isClosed) return;
        stream.lastId = id ?? stream.lastId;
      }
      if (performance.now() - opened > REOPEN.maxDelayMs) stream.endedAtOnce = 0;
    } catch (thrown) {
      throw silent.signal.aborted ? silent.signal.reason : thrown;
    } finally {
      opening.stop();
      watch.stop();
      release();
    }
  }

  /**
   * Ends the channel when the server has ended all streams. That of a session may end alone, such as at a time limit of a proxy; as all of
   * it has arrived, it is opened again. If that of the connection ends alone, the channel fails.
   */
  #ended(stream: EventStream): void {
    const { session } = stream;
    if (session === undefined) this.#serverEnded = true;
    if (this.#isOver()) {
      this.#drain();
      return;
    }
    if (stream.isClosed || stream.refusal !== undefined) {
      if (this.#streams.get(session!) === stream) this.#streams.delete(session!);
      if (stream.refusal === undefined) return;
      for (const { id } of this.#sent.filter((sent) => sent.session === session))
        void this.#deliver(errorText(id, stream.refusal), undefined);
      return;
    }
    stream.opened = undefined;
    const wasRefused = stream.hasEnded;
    stream.hasEnded = true;
    if (wasRefused) return;
    void this.#delay(backoff(Math.max(1, stream.endedAtOnce), REOPEN)).then(() => {
      if (!(this.#hasFinished || this.#isOver() || stream.isClosed)) void this.#openSession(session!);
    });
  }

  /** Returns whether the server has ended the connection. */
  #isOver(): boolean {
    return this.#serverEnded || this.#refusal !== undefined;
  }

  /** Reads the streams of a connection that the server has ended, and then ends the channel. */
  #drain(): void {
    this.#isEnding = true;
    if (this.#open > 0) {
      const error = this.#refusal ?? new ConnectionError('closed', 'The server ended a stream.');
      this.#draining ??= watchSilence(
        END_MS,
        () => !this.#isPaused,
        () => this.#fail(error, ''),
      );
    } else if (this.#serverEnded) this.#finish();
    else this.#fail(this.#refusal, '');
  }

  /** Ends the stream of a session that is closed, when all its requests are answered. */
  #close(session: string): void {
    const stream = this.#streams.get(session);
    if (stream?.isClosing !== true || this.#sent.filter((sent) => sent.session === session).length > 0) return;
    this.#streams.delete(session);
    stream.isClosed = true;
    // The stream ends by itself if the server ends it, or if the response was read from it.
    stream.reading?.abort(new ConnectionError('closed', 'The session is closed.'));
  }

  async #deliver(text: string, session: string | undefined): Promise<void> {
    await this.#started.promise;
    while (this.#isPaused && !this.#hasFinished) await this.#resumed.promise;
    if (this.#hasFinished) return;
    for (const entry of entriesOf(outlineOf(text))) {
      if (entry.id === undefined) continue;
      if (entry.kind === 'request') this.#asked.add(entry.id, session);
      else if (entry.kind === 'response') this.#answered(entry.id, entry);
    }
    this.#receiver!.text(text);
  }

  /** Opens or closes the stream of a session, as the response to a request says. */
  #answered(id: Id, { created, isResult }: Outline): void {
    const sent = this.#sent.get(id);
    this.#sent.delete(id);
    if (created !== undefined) void this.#openSession(created);
    if (sent?.session === undefined) return;
    const stream = this.#streams.get(sent.session);
    if (stream !== undefined && isResult === true && CLOSES.has(sent.method)) stream.isClosing = true;
    this.#close(sent.session);
  }

  readonly backlog = (): number => this.#unsentLength;

  readonly ready = (): Promise<void> | undefined =>
    this.#hasFinished || this.#unsentLength <= HIGH_WATER_MARK ? undefined : this.#below(HIGH_WATER_MARK);

  readonly flushed = async (): Promise<boolean> => {
    await this.#below(0);
    return !this.#hasFinished;
  };

  #below(upTo: number): Promise<void> {
    if (this.#hasFinished || this.#unsentLength <= upTo) return Promise.resolve();
    return this.#waiters.wait(upTo);
  }

  readonly pause = (): void => {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#resumed = deferred();
  };

  readonly resume = (): void => {
    this.#isPaused = false;
    this.#resumed.resolve();
  };

  readonly end = async (): Promise<void> => {
    this.#isEnding = true;
    await this.#below(0);
    if (this.#hasFinished) return;
    await this.#delete();
    this.#finish();
  };

  readonly destroy = (): void => {
    this.#isEnding = true;
    this.#finish();
  };

  /** Ends the connection at the server, once. A server that does not answer ends the connection when it has no streams. */
  #delete(): Promise<unknown> {
    this.#deleted ??= within(END_MS, this.#sendDelete());
    return this.#deleted;
  }

  async #sendDelete(): Promise<void> {
    if (this.#connectionId === undefined || this.#serverEnded) return;
    try {
      const headers = { [CONNECTION_HEADER]: this.#connectionId };
      const response = await this.#requests.send('DELETE', headers, undefined, AbortSignal.timeout(END_MS));
      await beginningOf(response);
    } catch {
      // The server has ended it, or ends it when it has no streams.
    }
  }

  #fail(thrown: unknown, what: string): void {
    if (this.#hasFinished) return;
    if (thrown instanceof TooLongError)
      this.#receiver?.tooLong(this.maxTextBytes, thrown.beginning.slice(0, BEGINNING));
    const error =
      thrown instanceof ConnectionError
        ? thrown
        : new ConnectionError('closed', `${what}: ${reasonOf(thrown)}`, { cause: thrown });
    this.#finish(error);
  }

  #finish(error?: Error): void {
    if (this.#hasFinished) return;
    this.#hasFinished = true;
    this.#unsent.clear();
    this.#unsentLength = 0;
    this.resume();
    this.#waiters.release(0);
    this.#draining?.stop();
    for (const end of this.#delays) end();
    void this.#delete().finally(() => {
      this.#requests.abort();
      this.#settings.release();
    });
    void this.#started.promise.then(() => this.#receiver!.ended(error));
  }
}

/** The number of announced signs of life that may be missing. */
const MISSING = 3;

/** Returns the milliseconds of silence after which a stream is lost. @param announced the interval of the server, if it announces one */
function silenceOf(announced: string | null): number {
  return /^[1-9][0-9]{0,9}$/.test(announced ?? '') ? MISSING * Number(announced) : Number.POSITIVE_INFINITY;
}

/** A stream of events: that of a session, or that of the connection if `session` is `undefined`. */
interface EventStream {
  readonly session: string | undefined;
  /** Resolves when the stream is open, or is refused; `undefined` if it is to be opened. */
  opened: Promise<void> | undefined;
  /** The last event that was read. */
  lastId: string | undefined;
  /** `true` after the server has ended it, until it is open again. */
  hasEnded: boolean;
  /** The number of times that the server has ended it at once, without an event. */
  endedAtOnce: number;
  /** Aborts the last request for it. */
  reading: AbortController | undefined;
  /** Why the server refused it. */
  refusal: ErrorObject | undefined;
  /** `true` after the session was closed, until a message of it is sent. */
  isClosing: boolean;
  /** `true` when no more of it is read. */
  isClosed: boolean;
}

function newStream(session: string | undefined): EventStream {
  return {
    ...{ session, opened: undefined, lastId: undefined, reading: undefined, refusal: undefined },
    ...{ hasEnded: false, endedAtOnce: 0, isClosing: false, isClosed: false },
  };
}

/** Returns the error of the requests that a refusal concerns. */
function errorOf({ message, status, body }: RefusedError): ErrorObject {
  return { code: ERROR_CODES.internalError, message, data: { status, body } };
}

/** Returns the reason of an error of `fetch`, which its causes have. */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return thrown.cause instanceof Error ? `${thrown.message}: ${reasonOf(thrown.cause)}` : thrown.message;
}
