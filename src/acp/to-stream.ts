import { within } from '../async/abort.js';
import { notifyListener } from '../async/listeners.js';
import { afterUnref } from '../async/timers.js';
import { type Channel, flushed } from '../channels/channel.js';
import { isLonger } from '../text/bytes.js';
import { BatchPolicy, BatchReply } from './batches.js';
import { CANCEL, type Done } from './calls.js';
import {
  type Arrival,
  errorText,
  type Fault,
  FaultLimit,
  faultText,
  idInData,
  isResponse,
  overLimitText,
  type ReadingOptions,
  readArrival,
  resultText,
  sketch,
  tooLongText,
  unreadable,
} from './codec.js';
import { ConnectionError, ERROR_CODES } from './errors.js';
import type { Stream } from './from-stream.js';
import {
  type CallMessage,
  type Classified,
  classify,
  type ErrorObject,
  type Id,
  type Message,
  type RequestMessage,
  type ResponseMessage,
} from './message.js';
import { type ConnectionOptions, resolveLimits } from './types.js';

export interface StreamOptions
  extends Pick<ConnectionOptions, 'batches' | 'maxBatch' | 'maxInFlight' | 'maxLineBytes' | 'graceMs' | 'onError'> {}

/** A request that was passed to the SDK and has not been answered. */
interface Open {
  readonly id: Id;
  readonly method: string;
  readonly done: Done;
}

/** Unanswered requests that stop reading if the answers are not read. */
const BUSY = 1024;
/** The prefix of private identifiers. */
const PREFIX = 'pegwire:';

/**
 * Makes a pair of streams of single messages of a channel, so that the official SDK runs on it and answers batches. A batch is passed on as
 * its entries, under private identifiers, since those of the other side may be repeated; their answers are collected into the array.
 * Texts that are not messages are answered here. When the other side has ended, the readable closes once all requests are answered.
 *
 * Source: ACP, transports, "JSON-RPC Batch Messages".
 *
 * @throws TypeError if an option is invalid
 * @example
 * agent().onRequest(...).connect(toStream(byteChannel(process.stdin, process.stdout)));
 */
export function toStream(channel: Channel, options: StreamOptions = {}): Stream {
  const bridge = new Bridge(channel, options);
  return { readable: bridge.readable, writable: bridge.writable };
}

class Bridge {
  readonly readable: ReadableStream<Message>;
  readonly writable: WritableStream<Message>;
  readonly #channel: Channel;
  readonly #onError: StreamOptions['onError'];
  readonly #graceMs: number;
  readonly #policy: BatchPolicy;
  readonly #reading: ReadingOptions;
  /** By the identifier that the SDK knows. */
  readonly #open = new Map<Id, Open>();
  /** The private identifiers of each request of the other side: for cancellations. */
  readonly #privateIds = new Map<Id, Set<string>>();
  /** Pending requests of this side, with their methods. */
  readonly #asked = new Map<Id, string>();
  /** The last message of this side, if it was a request. */
  #lastAsked: Id | undefined;
  readonly #maxInFlight: number;
  readonly #maxBytes: number;
  readonly #faults = new FaultLimit();
  #isThrottled = false;
  #lastId = 0;
  #out!: ReadableStreamDefaultController<Message>;
  #isEnding = false;
  #isOver = false;
  #fault: Error | undefined;

  constructor(channel: Channel, options: StreamOptions) {
    const { maxBatch, maxInFlight, maxLineBytes, graceMs } = resolveLimits(options);
    this.#channel = channel;
    this.#onError = options.onError;
    this.#graceMs = graceMs;
    this.#maxInFlight = maxInFlight;
    this.#maxBytes = maxLineBytes;
    this.#policy = new BatchPolicy(options.batches);
    this.#reading = { maxBatch, takesBatches: this.#policy.takes };
    this.readable = new ReadableStream<Message>({
      start: (controller) => {
        this.#out = controller;
        channel.start({
          text: (text, isUnended) => this.#arrived(readArrival(text, this.#reading, isUnended), text),
          invalid: (why, beginning = '') => this.#arrived(unreadable(beginning), why),
          tooLong: (limit, beginning) => this.#tooLong(limit, beginning),
          ended: (error) => this.#ended(error),
        });
      },
      pull: () => {
        if (!this.#isThrottled) channel.resume();
      },
      cancel: () => {
        this.#isOver = true;
        channel.pause();
      },
    });
    this.writable = new WritableStream<Message>({
      // Without it, a write that waits for the other side would hold up the end for ever.
      start: (controller) => {
        const { signal } = controller as { readonly signal?: AbortSignal };
        signal?.addEventListener('abort', () => channel.destroy());
      },
      write: async (message) => {
        this.#written(message);
        if (!(await flushed(channel)))
          throw new ConnectionError('closed', 'The connection ended before the message was sent.');
      },
      close: () => this.#hangUp(),
      abort: () => channel.destroy(),
    });
  }

  // From the other side

  #arrived(arrival: Arrival, source: string): void {
    if (arrival.kind === 'fault') this.#refuse(arrival, source);
    else if (arrival.kind === 'one') this.#one(arrival.item, source, undefined);
    else {
      const calls = arrival.items.filter((item) => !isResponse(item));
      const reply = new BatchReply(calls.length, this.#maxBytes, (text) => this.#send(text, undefined));
      for (const item of arrival.items) this.#one(item, source, reply);
    }
    if ((this.#out.desiredSize ?? 0) <= 0) this.#channel.pause();
    this.#throttle();
  }

  #refuse({ rpcCode, reason, sketch: read, responses }: Fault, source: string): void {
    for (const response of responses) this.#one(response, source, undefined);
    const isAnswer = this.#failAll(read.answers, 'The answer is not JSON.') || read.isResponse;
    // A response is never answered.
    if (!isAnswer && this.#faults.answers(rpcCode)) this.#send(faultText(rpcCode, reason, read.id), undefined);
    this.#tell(new ConnectionError('not-a-message', `${reason}.`, { received: source }));
  }

  #one(item: Classified, source: string, batch: BatchReply | undefined): void {
    const done = batch?.done ?? this.#send;
    switch (item.kind) {
      case 'request':
        this.#request(item.message, done, batch !== undefined);
        break;
      case 'notification':
        this.#faults.reset();
        for (const message of this.#named(item.message)) this.#handOn(message);
        done(null, undefined);
        break;
      case 'response':
        this.#response(item.message);
        break;
      case 'malformed-response': {
        const why = 'The answer is no response of JSON-RPC.';
        this.#tell(new ConnectionError('bad-response', why, { received: source }));
        // The caller gets the error, too.
        if (item.id !== undefined) this.#failAll([item.id], why);
        break;
      }
      default:
        // It may have been meant as an answer.
        if (
          item.id !== undefined &&
          item.isCall !== true &&
          this.#failAll([item.id], 'The answer has neither result nor error.')
        )
          done(null, undefined);
        else done(faultText(ERROR_CODES.invalidRequest, `Invalid request: ${item.reason}`, item.id), undefined);
        this.#tell(new ConnectionError('not-a-message', `No message: ${item.reason}.`, { received: source }));
    }
  }

  #request(message: RequestMessage, done: Done, isOfBatch: boolean): void {
    const { id, method } = message;
    this.#faults.reset();
    if (this.#open.size >= this.#maxInFlight) {
      done(errorText(id, { code: ERROR_CODES.busy, message: `${this.#maxInFlight} requests are being worked on` }), id);
      return;
    }
    // A request without a usable identifier: the SDK accepts no `null`, and would mix up duplicates.
    const isPrivate = isOfBatch || id === null || this.#open.has(id) || String(id).startsWith(PREFIX);
    const handed: Id = isPrivate ? `${PREFIX}${++this.#lastId}` : id;
    if (isPrivate) {
      const handedOn = this.#privateIds.get(id) ?? new Set();
      this.#privateIds.set(id, handedOn.add(handed as string));
    }
    this.#open.set(handed, { id, method, done });
    this.#handOn(isPrivate ? { ...message, id: handed } : message);
  }

  /** A cancellation names the request by the identifier of the other side, which several requests may have. */
  #named(message: CallMessage): CallMessage[] {
    if (message.method !== CANCEL) return [message];
    const params = message.params as { readonly requestId?: Id } | undefined;
    const handedOn = params?.requestId === undefined ? undefined : this.#privateIds.get(params.requestId);
    if (handedOn === undefined) return [message];
    const named = [...handedOn].map((requestId) => ({ ...message, params: { ...params, requestId } }));
    return this.#open.has(params!.requestId!) ? [message, ...named] : named;
  }

  #response(message: ResponseMessage): void {
    this.#faults.reset();
    const refused = 'error' in message && message.id === null ? this.#refusedBy(message.error) : undefined;
    if (refused !== undefined) {
      this.#asked.delete(refused);
      this.#handOn({ ...message, id: refused });
      return;
    }
    const method = this.#asked.get(message.id);
    this.#asked.delete(message.id);
    if (method === 'initialize' && 'result' in message) this.#policy.initialized(message.result);
    this.#handOn(message);
  }

  /**
   * Returns the call that an error with the id `null` is about, which the SDK cannot see: its `data` may name it; else it is the only pending one,
   * if that was the last message of this side.
   */
  #refusedBy(error: ErrorObject): Id | undefined {
    const { invalidRequest, parseError } = ERROR_CODES;
    const isOnly = this.#asked.size === 1 && (error.code === invalidRequest || error.code === parseError);
    const id = idInData(error) ?? (isOnly ? this.#lastAsked : undefined);
    return id !== undefined && this.#asked.has(id) ? id : undefined;
  }

  #handOn(message: Message): void {
    if (!this.#isOver) this.#out.enqueue(message);
  }

  // From this side

  #written(message: Message): void {
    const item = classify(message);
    if (item.kind === 'request' || item.kind === 'notification') this.#call(item.message);
    else if (item.kind === 'response') this.#answer(item.message);
    else {
      const error = new ConnectionError('unserializable', 'What was written is no message, and is not sent.');
      if (item.id !== undefined && this.#open.has(item.id)) this.#answer(failure(item.id, 'The answer is no message'));
      else if (item.id !== undefined && item.kind === 'invalid') this.#handOn(failure(item.id, error.message));
      this.#tell(error);
    }
  }

  #call(message: CallMessage): void {
    let text: string;
    try {
      text = this.#textOf(message);
    } catch (thrown) {
      const error = thrown as ConnectionError;
      if ('id' in message) this.#handOn(failure(message.id, error.message));
      this.#tell(error);
      return;
    }
    this.#lastAsked = 'id' in message ? message.id : undefined;
    if ('id' in message) this.#asked.set(message.id, message.method);
    this.#channel.send(text);
  }

  /** @throws ConnectionError if the message has no JSON, or is too long */
  #textOf(message: CallMessage): string {
    let text: string;
    try {
      text = JSON.stringify(message);
    } catch (cause) {
      throw new ConnectionError('unserializable', `The params of ${message.method} have no JSON.`, { cause });
    }
    if (!isLonger(text, this.#maxBytes)) return text;
    throw new ConnectionError('too-long', `A message has at most ${this.#maxBytes} bytes.`);
  }

  #answer(message: ResponseMessage): void {
    const open = this.#open.get(message.id);
    this.#open.delete(message.id);
    const id = open === undefined ? message.id : open.id;
    const handedOn = this.#privateIds.get(id);
    if (handedOn?.delete(message.id as string) && handedOn.size === 0) this.#privateIds.delete(id);
    if (open?.method === 'initialize' && 'result' in message) this.#policy.initialized(message.result);
    const text = 'error' in message ? errorText(id, message.error) : resultText(id, message.result);
    (open?.done ?? this.#send)(text, id);
    if (this.#isEnding && this.#open.size === 0) this.#close();
  }

  readonly #send: Done = (text, id) => {
    if (text === null) return;
    this.#lastAsked = undefined;
    this.#channel.send(isLonger(text, this.#maxBytes) ? tooLongText(id) : text);
  };

  /** Ends calls of this side without a readable answer. @returns whether there were such calls */
  #failAll(ids: readonly Id[], message: string): boolean {
    const failed = ids.filter((id) => this.#asked.delete(id));
    for (const id of failed) this.#handOn(failure(id, message));
    return failed.length > 0;
  }

  /** Stops reading from a side that asks and does not read the answers, unless this side waits for it, too. */
  #throttle(): void {
    if (this.#isThrottled || this.#asked.size > 0 || this.#open.size < BUSY) return;
    const ready = this.#channel.ready();
    if (ready === undefined) return;
    this.#isThrottled = true;
    this.#channel.pause();
    void ready.then(() => {
      this.#isThrottled = false;
      this.#channel.resume();
    });
  }

  // The end

  /** The following bytes cannot be split into messages, so the connection ends. */
  #tooLong(limit: number, beginning = ''): void {
    const { answers, isResponse: isAnswer, id } = sketch(beginning);
    const fault = new ConnectionError('too-long', `A message is longer than ${limit} bytes.`);
    this.#fault = fault;
    if (!this.#failAll(answers, fault.message) && !isAnswer) this.#send(overLimitText(id, limit), id);
  }

  #ended(error: Error | undefined): void {
    this.#isEnding = true;
    this.#fault ??= error;
    // A broken channel takes no answers either.
    if (error !== undefined || this.#open.size === 0) {
      this.#close();
      return;
    }
    // Handlers may wait for calls of their own, which nothing answers any more.
    this.#failAll([...this.#asked.keys()], this.#fault?.message ?? 'The other side has ended.');
    afterUnref(this.#graceMs, () => this.#close());
  }

  #close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#fault === undefined) this.#out.close();
    else {
      this.#out.error(this.#fault);
      // The SDK leaves the other side open, which would go on asking.
      void this.#hangUp();
    }
  }

  async #hangUp(): Promise<void> {
    // The other side may never read the rest.
    await within(this.#graceMs, this.#channel.end(), afterUnref);
    this.#channel.destroy();
  }

  #tell(error: ConnectionError): void {
    notifyListener(() => this.#onError?.(error));
  }
}

function failure(id: Id, message: string): ResponseMessage {
  return { jsonrpc: '2.0', id, error: { code: ERROR_CODES.internalError, message } };
}
