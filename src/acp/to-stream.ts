import { within } from '../async/abort.js';
import { notifyListener } from '../async/listeners.js';
import { afterUnref } from '../async/timers.js';
import { type Channel, flushed } from '../channels/channel.js';
import { isLonger } from '../text/bytes.js';
import { BatchPolicy, BatchReply } from './batches.js';
import { CANCEL, type Done } from './calls.js';
import {
  ErrorLimit,
  errorText,
  type Incoming,
  type InvalidText,
  idInData,
  invalidText,
  invalidTextError,
  isResponse,
  type ReadOptions,
  readIncoming,
  readPartially,
  resultText,
  tooLongRequest,
  tooLongResponse,
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

/** Options of {@link toStream}. */
export interface StreamOptions
  extends Pick<ConnectionOptions, 'batches' | 'maxBatch' | 'maxInFlight' | 'maxLineBytes' | 'graceMs' | 'onError'> {}

/** A request that was passed to the SDK and has no response yet. */
interface OpenRequest {
  readonly id: Id;
  readonly method: string;
  readonly done: Done;
}

/** The number of open requests from which this side stops reading while its responses are not read. */
const MAX_UNREAD = 1024;
/** The prefix of private identifiers. */
const PRIVATE_PREFIX = 'pegwire:';

/**
 * Converts a channel to a pair of streams of single messages, so that the official SDK can use it and answer batches. The entries of a batch
 * are passed on one by one, with private identifiers, since identifiers may repeat; their responses are sent as one array. Input that is not a
 * message is answered here. When the other side has ended, the readable stream closes after all requests are answered.
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
  readonly #readOptions: ReadOptions;
  /** The open requests of the other side, by the identifier that was passed to the SDK. */
  readonly #open = new Map<Id, OpenRequest>();
  /** The private identifiers by the identifier of the other side, for cancellations. */
  readonly #privateIds = new Map<Id, Set<string>>();
  /** The methods of pending requests of this side, by identifier. */
  readonly #pending = new Map<Id, string>();
  /** The identifier of the last message of this side, if it was a request. */
  #lastSentId: Id | undefined;
  readonly #maxInFlight: number;
  readonly #maxBytes: number;
  readonly #errorLimit = new ErrorLimit();
  #isThrottled = false;
  #lastId = 0;
  #out!: ReadableStreamDefaultController<Message>;
  #isEnding = false;
  #hasEnded = false;
  #failure: Error | undefined;

  constructor(channel: Channel, options: StreamOptions) {
    const { maxBatch, maxInFlight, maxLineBytes, graceMs } = resolveLimits(options);
    this.#channel = channel;
    this.#onError = options.onError;
    this.#graceMs = graceMs;
    this.#maxInFlight = maxInFlight;
    this.#maxBytes = maxLineBytes;
    this.#policy = new BatchPolicy(options.batches);
    this.#readOptions = { maxBatch, acceptsBatches: this.#policy.accepts };
    this.readable = new ReadableStream<Message>({
      start: (controller) => {
        this.#out = controller;
        channel.start({
          text: (text, isUnterminated) => this.#receive(readIncoming(text, this.#readOptions, isUnterminated), text),
          invalid: (reason, beginning = '') => this.#receive(invalidText(beginning), reason),
          tooLong: (limit, beginning) => this.#tooLong(limit, beginning),
          ended: (error) => this.#ended(error),
        });
      },
      pull: () => {
        if (!this.#isThrottled) channel.resume();
      },
      cancel: () => {
        this.#hasEnded = true;
        channel.pause();
      },
    });
    this.writable = new WritableStream<Message>({
      // Without this listener, a write that waits for the other side would block `abort` forever.
      start: (controller) => {
        const { signal } = controller as { readonly signal?: AbortSignal };
        signal?.addEventListener('abort', () => channel.destroy());
      },
      write: async (message) => {
        this.#write(message);
        if (!(await flushed(channel)))
          throw new ConnectionError('closed', 'The connection ended before the message was sent.');
      },
      close: () => this.#disconnect(),
      abort: () => channel.destroy(),
    });
  }

  // Input

  #receive(incoming: Incoming, source: string): void {
    if (incoming.kind === 'invalid-text') this.#rejectText(incoming, source);
    else if (incoming.kind === 'one') this.#handle(incoming.item, source, undefined);
    else {
      const calls = incoming.items.filter((item) => !isResponse(item));
      const reply = new BatchReply(calls.length, this.#maxBytes, (text) => this.#send(text, undefined));
      for (const item of incoming.items) this.#handle(item, source, reply);
    }
    if ((this.#out.desiredSize ?? 0) <= 0) this.#channel.pause();
    this.#throttle();
  }

  #rejectText({ rpcCode, reason, partial, responses }: InvalidText, source: string): void {
    for (const response of responses) this.#handle(response, source, undefined);
    const isAnswer = this.#rejectAll(partial.answers, 'The response is not valid JSON.') || partial.isResponse;
    // A response is never answered.
    if (!isAnswer && this.#errorLimit.answers(rpcCode))
      this.#send(invalidTextError(rpcCode, reason, partial.id), undefined);
    this.#report(new ConnectionError('not-a-message', `${reason}.`, { received: source }));
  }

  #handle(item: Classified, source: string, batch: BatchReply | undefined): void {
    const done = batch?.done ?? this.#send;
    switch (item.kind) {
      case 'request':
        this.#request(item.message, done, batch !== undefined);
        break;
      case 'notification':
        this.#errorLimit.reset();
        for (const message of this.#renamed(item.message)) this.#enqueue(message);
        done(null, undefined);
        break;
      case 'response':
        this.#response(item.message);
        break;
      case 'malformed-response': {
        const message = 'The response does not conform to JSON-RPC.';
        this.#report(new ConnectionError('bad-response', message, { received: source }));
        // Rejects the request as well.
        if (item.id !== undefined) this.#rejectAll([item.id], message);
        break;
      }
      default:
        // It may be intended as a response.
        if (
          item.id !== undefined &&
          item.isCall !== true &&
          this.#rejectAll([item.id], 'The response has neither a result nor an error.')
        )
          done(null, undefined);
        else done(invalidTextError(ERROR_CODES.invalidRequest, `Invalid request: ${item.reason}`, item.id), undefined);
        this.#report(
          new ConnectionError('not-a-message', `The input is not a message: ${item.reason}.`, { received: source }),
        );
    }
  }

  #request(message: RequestMessage, done: Done, isOfBatch: boolean): void {
    const { id, method } = message;
    this.#errorLimit.reset();
    if (this.#open.size >= this.#maxInFlight) {
      done(
        errorText(id, { code: ERROR_CODES.busy, message: `Too many requests: ${this.#maxInFlight} are being handled` }),
        id,
      );
      return;
    }
    // Identifiers that the SDK cannot handle: it rejects `null`, and confuses duplicates.
    const isPrivate = isOfBatch || id === null || this.#open.has(id) || String(id).startsWith(PRIVATE_PREFIX);
    const passedId: Id = isPrivate ? `${PRIVATE_PREFIX}${++this.#lastId}` : id;
    if (isPrivate) {
      const privateIds = this.#privateIds.get(id) ?? new Set();
      this.#privateIds.set(id, privateIds.add(passedId as string));
    }
    this.#open.set(passedId, { id, method, done });
    this.#enqueue(isPrivate ? { ...message, id: passedId } : message);
  }

  /** Converts the identifier in a cancellation, which several requests may share, to those that were passed to the SDK. */
  #renamed(message: CallMessage): CallMessage[] {
    if (message.method !== CANCEL) return [message];
    const params = message.params as { readonly requestId?: Id } | undefined;
    const privateIds = params?.requestId === undefined ? undefined : this.#privateIds.get(params.requestId);
    if (privateIds === undefined) return [message];
    const renamed = [...privateIds].map((requestId) => ({ ...message, params: { ...params, requestId } }));
    return this.#open.has(params!.requestId!) ? [message, ...renamed] : renamed;
  }

  #response(message: ResponseMessage): void {
    this.#errorLimit.reset();
    const rejectedId = 'error' in message && message.id === null ? this.#requestOf(message.error) : undefined;
    if (rejectedId !== undefined) {
      this.#pending.delete(rejectedId);
      this.#enqueue({ ...message, id: rejectedId });
      return;
    }
    const method = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if (method === 'initialize' && 'result' in message) this.#policy.onInitialize(message.result);
    this.#enqueue(message);
  }

  /**
   * Returns the identifier of the request that an error with the id `null` is about, which the SDK cannot determine: that in its `data`, or that of
   * the only pending request, if it was the last message of this side.
   */
  #requestOf(error: ErrorObject): Id | undefined {
    const { invalidRequest, parseError } = ERROR_CODES;
    const isOnly = this.#pending.size === 1 && (error.code === invalidRequest || error.code === parseError);
    const id = idInData(error) ?? (isOnly ? this.#lastSentId : undefined);
    return id !== undefined && this.#pending.has(id) ? id : undefined;
  }

  #enqueue(message: Message): void {
    if (!this.#hasEnded) this.#out.enqueue(message);
  }

  // Output

  #write(message: Message): void {
    const item = classify(message);
    if (item.kind === 'request' || item.kind === 'notification') this.#call(item.message);
    else if (item.kind === 'response') this.#respond(item.message);
    else {
      const error = new ConnectionError('unserializable', 'The written value is not a message, and was not sent.');
      if (item.id !== undefined && this.#open.has(item.id))
        this.#respond(failure(item.id, 'The response is not a message'));
      else if (item.id !== undefined && item.kind === 'invalid') this.#enqueue(failure(item.id, error.message));
      this.#report(error);
    }
  }

  #call(message: CallMessage): void {
    let text: string;
    try {
      text = this.#textOf(message);
    } catch (thrown) {
      const error = thrown as ConnectionError;
      if ('id' in message) this.#enqueue(failure(message.id, error.message));
      this.#report(error);
      return;
    }
    this.#lastSentId = 'id' in message ? message.id : undefined;
    if ('id' in message) this.#pending.set(message.id, message.method);
    this.#channel.send(text);
  }

  /** Serializes a message. @throws ConnectionError if it cannot be serialized, or is too long */
  #textOf(message: CallMessage): string {
    let text: string;
    try {
      text = JSON.stringify(message);
    } catch (cause) {
      throw new ConnectionError('unserializable', `The params of ${message.method} cannot be serialized as JSON.`, {
        cause,
      });
    }
    if (!isLonger(text, this.#maxBytes)) return text;
    throw new ConnectionError('too-long', `A message must have at most ${this.#maxBytes} bytes.`);
  }

  #respond(message: ResponseMessage): void {
    const open = this.#open.get(message.id);
    this.#open.delete(message.id);
    const id = open === undefined ? message.id : open.id;
    const privateIds = this.#privateIds.get(id);
    if (privateIds?.delete(message.id as string) && privateIds.size === 0) this.#privateIds.delete(id);
    if (open?.method === 'initialize' && 'result' in message) this.#policy.onInitialize(message.result);
    const text = 'error' in message ? errorText(id, message.error) : resultText(id, message.result);
    (open?.done ?? this.#send)(text, id);
    if (this.#isEnding && this.#open.size === 0) this.#close();
  }

  readonly #send: Done = (text, id) => {
    if (text === null) return;
    this.#lastSentId = undefined;
    this.#channel.send(isLonger(text, this.#maxBytes) ? tooLongResponse(id) : text);
  };

  /** Rejects requests of this side that have no valid response. @returns `true` if there were such requests */
  #rejectAll(ids: readonly Id[], message: string): boolean {
    const rejected = ids.filter((id) => this.#pending.delete(id));
    for (const id of rejected) this.#enqueue(failure(id, message));
    return rejected.length > 0;
  }

  /** Stops reading from a side that sends requests and does not read the responses, unless this side waits for responses itself. */
  #throttle(): void {
    if (this.#isThrottled || this.#pending.size > 0 || this.#open.size < MAX_UNREAD) return;
    const ready = this.#channel.ready();
    if (ready === undefined) return;
    this.#isThrottled = true;
    this.#channel.pause();
    void ready.then(() => {
      this.#isThrottled = false;
      this.#channel.resume();
    });
  }

  // End

  /** Rejects a message that is too long. The bytes after it cannot be split into messages, so the connection ends. */
  #tooLong(limit: number, beginning = ''): void {
    const { answers, isResponse: isAnswer, id } = readPartially(beginning);
    const error = new ConnectionError('too-long', `A message is longer than ${limit} bytes.`);
    this.#failure = error;
    if (!this.#rejectAll(answers, error.message) && !isAnswer) this.#send(tooLongRequest(id, limit), id);
  }

  #ended(error: Error | undefined): void {
    this.#isEnding = true;
    this.#failure ??= error;
    // A broken channel does not accept responses either.
    if (error !== undefined || this.#open.size === 0) {
      this.#close();
      return;
    }
    // Running handlers may wait for requests of their own, which have no response any more.
    this.#rejectAll([...this.#pending.keys()], this.#failure?.message ?? 'The other side closed the connection.');
    afterUnref(this.#graceMs, () => this.#close());
  }

  #close(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (this.#failure === undefined) this.#out.close();
    else {
      this.#out.error(this.#failure);
      // The SDK does not close the other side, which would keep sending requests.
      void this.#disconnect();
    }
  }

  async #disconnect(): Promise<void> {
    // With a timeout: the other side may never read the rest.
    await within(this.#graceMs, this.#channel.end(), afterUnref);
    this.#channel.destroy();
  }

  #report(error: ConnectionError): void {
    notifyListener(() => this.#onError?.(error));
  }
}

function failure(id: Id, message: string): ResponseMessage {
  return { jsonrpc: '2.0', id, error: { code: ERROR_CODES.internalError, message } };
}
