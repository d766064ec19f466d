/**
 * Channels over server-sent events and POST, for proxies that pass no other duplex connection: a GET request receives the texts of the server,
 * and POST requests send those of the client. Uses `fetch` alone, so that it runs in browsers and in Node.
 */

import { createParser } from 'eventsource-parser';
import { abortableBody, linkSignals } from '../async/abort.js';
import { deferred } from '../async/listeners.js';
import { Queue } from '../async/queue.js';
import { watchSilence } from '../async/silence.js';
import { after, backoff, withJitter } from '../async/timers.js';
import { systemReason } from '../text/system-reason.js';
import { BEGINNING, type Channel, type Receiver, WriteConfirmations } from './channel.js';
import { ConnectionError } from './errors.js';
import { CONNECTION_EVENT, channelHeaders, END_EVENT, EVENT_STREAM } from './event-stream.js';
import { oneLine } from './line-decoder.js';
import { isMediaType } from './media-type.js';

/** Options of {@link connectEventStream}. */
export interface EventStreamOptions {
  /** The name of the protocol, with which its headers begin: `arcp`. */
  readonly protocol: string;
  /** The bearer token. @default none */
  readonly token?: string | undefined;
  /** The maximum length of a received text in UTF-16 code units. @default 33_554_432 */
  readonly maxTextBytes?: number | undefined;
  /** Milliseconds without any data, comments included, after which the stream counts as broken. @default 45_000 */
  readonly silenceMs?: number | undefined;
  /** A replacement for `fetch`. @default the `fetch` of the platform */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

const MAX_LENGTH = 32 * 1024 * 1024;
const SILENCE_MS = 45_000;
/** Milliseconds for the first event. */
const HANDSHAKE_MS = 10_000;

/**
 * Opens an event stream, and returns the channel when its first event has arrived.
 *
 * @throws ConnectionError `closed` if the connection fails or the server refuses
 * @throws TypeError if an option is invalid
 */
export async function connectEventStream(url: URL | string, options: EventStreamOptions): Promise<Channel> {
  const channel = new EventStreamChannel(String(url), options);
  await channel.open();
  return channel;
}

/** Units of queued texts from which `ready` makes senders wait. */
const HIGH_WATER_MARK = 1024 * 1024;
/** Units of texts that one request holds; a longer text has its own. */
const MAX_BATCH = 256 * 1024;
/** Milliseconds for the answer of a request. */
const POST_MS = 60_000;
/** Limits of the repetition of a request whose answer was lost, or which the server cannot take yet. */
const MAX_ATTEMPTS = 6;
const RETRY = { minDelayMs: 100, maxDelayMs: 5000 };
/** The statuses at which the same request may succeed later. */
const RETRYABLE: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

/** The end of the stream in the queue of received texts. */
const END = Symbol('end');

class EventStreamChannel implements Channel {
  readonly maxTextBytes: number;
  readonly #url: string;
  readonly #options: EventStreamOptions;
  readonly #fetch: typeof globalThis.fetch;
  readonly #headers: ReturnType<typeof channelHeaders>;
  readonly #abort = new AbortController();
  readonly #connected = deferred<string>();
  #connectionId = '';
  #receiver: Receiver | undefined;
  readonly #received = new Queue<string | typeof END>();
  #isPaused = false;
  /** Resolves when the receiver wants more; the stream is not read before. */
  #resumed = deferred<void>();
  readonly #queued = new Queue<string>();
  #backlog = 0;
  #sequence = 0;
  #isPosting = false;
  readonly #confirmations = new WriteConfirmations();
  #drained: ReturnType<typeof deferred<void>> | undefined;
  #isEnding = false;
  /** `true` when nothing more can be sent. */
  #isBroken = false;
  #hasFinished = false;
  /** `true` after the last event, which the server sends when it ends the channel. */
  #hasEndEvent = false;
  #failure: Error | undefined;

  constructor(url: string, options: EventStreamOptions) {
    const { maxTextBytes = MAX_LENGTH, fetch = globalThis.fetch } = options;
    if (!(maxTextBytes >= 1)) throw new TypeError(`maxTextBytes must be a number >= 1; got ${maxTextBytes}`);
    this.maxTextBytes = maxTextBytes;
    this.#url = url;
    this.#options = options;
    // The `fetch` of browsers must not be called as a method.
    // A redirection would send messages and tokens elsewhere.
    this.#fetch = (resource, init) => fetch(resource, { ...init, redirect: 'error' });
    this.#headers = channelHeaders(options.protocol);
  }

  async open(): Promise<void> {
    const cancel = after(HANDSHAKE_MS, () => this.#fail(new Error('the server does not answer')));
    try {
      void this.#read();
      this.#connectionId = await this.#connected.promise;
    } catch (cause) {
      throw new ConnectionError('closed', `Cannot connect to ${new URL(this.#url).host}: ${systemReason(cause)}`, {
        cause,
      });
    } finally {
      cancel();
    }
  }

  readonly start = (receiver: Receiver): void => {
    this.#receiver = receiver;
    queueMicrotask(() => this.#deliver());
  };

  readonly send = (text: string): void => {
    if (this.#isBroken || this.#isEnding) return;
    this.#queued.push(text);
    // With its line end.
    this.#backlog += text.length + 1;
    this.#confirmations.sent();
    this.#post();
  };

  readonly ready = (): Promise<void> | undefined => {
    if (this.#isBroken || this.#backlog <= HIGH_WATER_MARK) return undefined;
    this.#drained ??= deferred<void>();
    return this.#drained.promise;
  };

  readonly flushed = (): Promise<boolean> => this.#confirmations.wait();

  readonly backlog = (): number => this.#backlog;

  readonly pause = (): void => {
    this.#isPaused = true;
  };

  readonly resume = (): void => {
    this.#isPaused = false;
    this.#deliver();
  };

  readonly end = async (): Promise<void> => {
    if (!this.#isEnding && !this.#isBroken) {
      this.#isEnding = true;
      if (await this.#confirmations.wait()) await this.#delete();
    } else await this.#confirmations.wait();
  };

  readonly destroy = (): void => {
    if (!this.#isBroken) void this.#delete();
    this.#received.clear();
    this.#finish();
  };

  /** Reads the event stream until it ends. */
  async #read(): Promise<void> {
    try {
      const response = await this.#fetch(this.#url, {
        headers: this.#request({ accept: EVENT_STREAM }),
        signal: this.#abort.signal,
      });
      await checkStream(response);
      const parser = createParser({
        // An event is at most its text and the names of its fields.
        maxBufferSize: this.maxTextBytes + BEGINNING,
        onEvent: ({ event, data }) => this.#event(event, data),
        onError: (error) => {
          if (error.type === 'max-buffer-size-exceeded') throw error;
        },
      });
      // The server sends comments.
      const watch = watchSilence(
        this.#options.silenceMs ?? SILENCE_MS,
        () => !this.#isPaused && this.#received.size === 0,
        () => this.#fail(new Error('the server is silent')),
      );
      try {
        const body = abortableBody(response.body!, this.#abort.signal);
        await this.#readBody(body, (text) => parser.feed(text), watch.heard);
      } finally {
        watch.stop();
      }
      // A proxy ends streams that take too long, in the middle of an event or between two.
      if (!this.#hasEndEvent) throw new Error('the event stream was cut off');
    } catch (error) {
      this.#fail(error);
    }
  }

  async #readBody(body: ReadableStream<Uint8Array>, feed: (text: string) => void, heard: () => void): Promise<void> {
    const reader = body.getReader();
    const utf8 = new TextDecoder('utf-8', { fatal: true });
    for (;;) {
      if ((this.#isPaused || this.#received.size > 0) && !this.#hasFinished) {
        this.#resumed = deferred<void>();
        await this.#resumed.promise;
        heard();
        continue;
      }
      const { done, value } = await reader.read();
      if (done || this.#hasFinished) return;
      heard();
      feed(utf8.decode(value, { stream: true }));
    }
  }

  #event(event: string | undefined, data: string): void {
    if (event === CONNECTION_EVENT) this.#connected.resolve(connectionIdOf(data));
    else if (event === END_EVENT) {
      this.#hasEndEvent = true;
      this.#end();
    } else if (event === undefined || event === 'message') {
      this.#received.push(data);
      this.#deliver();
    }
  }

  #end(): void {
    this.#connected.reject(new Error('the event stream ended'));
    this.#received.push(END);
    this.#deliver();
  }

  #fail(error: unknown): void {
    if (this.#isBroken) return;
    this.#failure ??= error instanceof Error ? error : new Error(systemReason(error));
    this.#connected.reject(this.#failure);
    this.#break();
    this.#end();
  }

  #deliver(): void {
    while (this.#receiver !== undefined && !this.#isPaused && this.#received.size > 0 && !this.#hasFinished) {
      const text = this.#received.take();
      if (text === END) this.#finish();
      else if (text.length <= this.maxTextBytes) this.#receiver.text(text);
      else {
        this.#receiver.tooLong(this.maxTextBytes, text.slice(0, BEGINNING));
        this.#finish();
      }
    }
    if (!this.#isPaused && this.#received.size === 0) this.#resumed.resolve();
  }

  #finish(): void {
    if (this.#hasFinished) return;
    this.#hasFinished = true;
    this.#break();
    this.#resumed.resolve();
    this.#receiver?.ended(this.#failure);
  }

  /** Stops all requests, and releases those who wait for them. */
  #break(): void {
    this.#isBroken = true;
    this.#queued.clear();
    this.#backlog = 0;
    this.#confirmations.break();
    this.#drained?.resolve();
    this.#abort.abort();
  }

  /** Sends the queued texts, one request after the other. */
  #post(): void {
    if (this.#isPosting) return;
    this.#isPosting = true;
    // All texts of one turn share a request.
    queueMicrotask(() => void this.#postAll());
  }

  async #postAll(): Promise<void> {
    try {
      while (this.#queued.size > 0 && !this.#isBroken) {
        let batch = '';
        do batch += `${oneLine(this.#queued.take())}\n`;
        while (this.#queued.size > 0 && batch.length + this.#queued.first!.length <= MAX_BATCH);
        const length = batch.length;
        const confirm = this.#confirmations.confirmation(this.#queued.size);
        await this.#postOne(batch);
        if (this.#isBroken) return;
        this.#backlog -= length;
        confirm();
        if (this.#backlog <= HIGH_WATER_MARK) {
          this.#drained?.resolve();
          this.#drained = undefined;
        }
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#isPosting = false;
    }
  }

  /** Sends one request until the server has taken it. The number lets the server ignore it if only the answer was lost. */
  async #postOne(body: string): Promise<void> {
    const sequence = String(++this.#sequence);
    const headers = this.#request({
      'content-type': 'application/x-ndjson',
      [this.#headers.connectionId]: this.#connectionId,
      [this.#headers.sequence]: sequence,
    });
    for (let attempt = 1; !this.#isBroken; attempt++) {
      let problem: unknown;
      const late = new AbortController();
      const cancel = after(POST_MS, () => late.abort(new Error('the server does not answer')));
      const { signal, release } = linkSignals(this.#abort.signal, late.signal);
      try {
        const response = await this.#fetch(this.#url, { method: 'POST', headers, body, signal });
        const text = await response.text();
        // The channel of the server has the text that is too long, answers it and ends. A proxy refuses in its own words.
        if (response.ok || (response.status === 413 && isRefusal(text))) return;
        problem = new Error(`the server answered ${response.status}: ${text.slice(0, 200).trim()}`);
        if (!RETRYABLE.has(response.status)) throw new FinalError(problem);
      } catch (error) {
        if (error instanceof FinalError) throw error.cause;
        problem = error;
      } finally {
        cancel();
        release();
      }
      if (attempt === MAX_ATTEMPTS) throw problem;
      await this.#delay(withJitter(backoff(attempt, RETRY)));
    }
  }

  #delay(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = after(delayMs, resolve);
      const stop = (): void => {
        cancel();
        resolve();
      };
      this.#abort.signal.addEventListener('abort', stop, { once: true });
    });
  }

  /** Tells the server that no more requests follow. If it does not hear it, the end of the event stream tells it. */
  async #delete(): Promise<void> {
    const headers = this.#request({ [this.#headers.connectionId]: this.#connectionId });
    try {
      const response = await this.#fetch(this.#url, {
        method: 'DELETE',
        headers,
        signal: AbortSignal.timeout(HANDSHAKE_MS),
      });
      await response.body?.cancel();
    } catch {
      // The server has gone.
    }
  }

  #request(headers: Readonly<Record<string, string>>): Record<string, string> {
    const { token } = this.#options;
    return token === undefined ? { ...headers } : { ...headers, authorization: `Bearer ${token}` };
  }
}

/** An error after which a request is not repeated. */
class FinalError extends Error {
  constructor(cause: unknown) {
    super('final', { cause });
  }
}

async function checkStream(response: Response): Promise<void> {
  const type = response.headers.get('content-type');
  if (response.ok && isMediaType(type, EVENT_STREAM) && response.body !== null) return;
  const text = response.ok ? `a body of type ${type}` : (await response.text()).slice(0, 200).trim();
  throw new Error(`the server answered ${response.status}: ${text}`);
}

function connectionIdOf(data: string): string {
  const { connection_id: id } = JSON.parse(data) as { readonly connection_id?: unknown };
  if (typeof id !== 'string') throw new Error('the first event has no connection_id');
  return id;
}

/** Returns `true` if the body of a response is a refusal by this package. */
function isRefusal(text: string): boolean {
  try {
    return (JSON.parse(text) as { readonly error?: { readonly code?: unknown } }).error?.code === 'too-long';
  } catch {
    return false;
  }
}
