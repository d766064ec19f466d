/** A channel as a pair of streams of single messages, so that the official SDK runs on it and answers batches. */
import { type BatchChoice, BatchPolicy } from './batch-policy.js';
import { BatchReply } from './batch-reply.js';
import type { Channel } from './channel.js';
import { ConnectionError, ERROR_CODES } from './errors.js';
import type { Stream } from './from-stream.js';
import type { CallMessage, Classified, Id, Message, RequestMessage, ResponseMessage } from './message.js';
import { type Arrival, MAX_BATCH, type ReadingOptions, readArrival } from './reading.js';
import { errorText, faultText, resultText } from './writing.js';

export interface StreamOptions {
  /** Whether batches are taken. @default 'negotiated': until version 1 of ACP was agreed on */
  readonly batches?: BatchChoice | undefined;
  /** Most entries of a batch. @default 4096 */
  readonly maxBatch?: number | undefined;
  /** Seconds in which requests may still be answered after the other side has ended. @default 10 */
  readonly grace?: number | undefined;
  /** Told what was survived. What it throws is ignored. */
  readonly onError?: ((error: ConnectionError) => void) | undefined;
}

/** Told the response as JSON, or `null` for none. */
type Done = (response: string | null) => void;

/** A request that was handed on and has not been answered. */
interface Open {
  readonly id: Id;
  readonly method: string;
  readonly done: Done;
}

/** What identifiers of ours begin with. */
const PREFIX = 'pegwire:';

/**
 * Gives the messages of a channel one by one, and takes them so. A batch is handed on as its entries, under identifiers of their own,
 * since those of the other side may be given twice; their answers are collected into the array that it gets. What is no message is
 * answered here, and never handed on. When the other side has ended, the readable closes once what is being worked on is answered.
 *
 * Source: ACP, transports, "JSON-RPC Batch Messages".
 *
 * @throws TypeError on options that are none
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
  readonly #grace: number;
  readonly #policy: BatchPolicy;
  readonly #reading: ReadingOptions;
  /** By the identifier under which they were handed on. */
  readonly #open = new Map<Id, Open>();
  /** What a private identifier stands for is found by it, for cancellations. */
  readonly #privateIds = new Map<Id, string>();
  /** Requests of this side that agree on a version. */
  readonly #initializing = new Set<Id>();
  #lastId = 0;
  #out!: ReadableStreamDefaultController<Message>;
  #isEnding = false;
  #isOver = false;
  #fault: Error | undefined;

  constructor(channel: Channel, { batches, maxBatch = MAX_BATCH, grace = 10, onError }: StreamOptions) {
    if (!(maxBatch >= 1)) throw new TypeError(`maxBatch is a number from 1 on; got ${maxBatch}`);
    if (!(grace >= 0)) throw new TypeError(`grace is a number of seconds from 0 on; got ${grace}`);
    this.#channel = channel;
    this.#onError = onError;
    this.#grace = grace;
    this.#policy = new BatchPolicy(batches);
    this.#reading = { maxBatch, takesBatches: this.#policy.takes };
    this.readable = new ReadableStream<Message>({
      start: (controller) => {
        this.#out = controller;
        channel.start({
          text: (text) => this.#arrived(readArrival(text, this.#reading), text),
          garbage: (why) => this.#arrived(notJson, why),
          tooLong: (limit) => this.#tooLong(limit),
          ended: (error) => this.#ended(error),
        });
      },
      pull: () => channel.resume(),
      cancel: () => {
        this.#isOver = true;
        channel.pause();
      },
    });
    this.writable = new WritableStream<Message>({
      write: (message) => {
        this.#written(message);
        return channel.ready();
      },
      close: async () => {
        await channel.end();
        channel.destroy();
      },
      abort: () => channel.destroy(),
    });
  }

  // From the other side

  #arrived(arrival: Arrival, source: string): void {
    if (arrival.kind === 'fault') {
      this.#channel.send(faultText(arrival.rpcCode, arrival.reason));
      this.#tell(new ConnectionError('not-a-message', `${arrival.reason}.`, { received: source }));
    } else if (arrival.kind === 'one') this.#one(arrival.item, source, undefined);
    else {
      const calls = arrival.items.filter(({ kind }) => kind !== 'response' && kind !== 'malformed-response');
      const reply = new BatchReply(calls.length, this.#send);
      for (const item of arrival.items) this.#one(item, source, reply);
    }
    if ((this.#out.desiredSize ?? 0) <= 0) this.#channel.pause();
  }

  #one(item: Classified, source: string, batch: BatchReply | undefined): void {
    const done = batch?.done ?? this.#send;
    switch (item.kind) {
      case 'request':
        this.#request(item.message, done, batch !== undefined);
        break;
      case 'notification':
        this.#handOn(this.#named(item.message));
        done(null);
        break;
      case 'response':
        this.#response(item.message);
        break;
      case 'malformed-response': {
        const error = new ConnectionError('bad-response', 'The answer is no response of JSON-RPC.', {
          received: source,
        });
        this.#tell(error);
        // Who waits for it is told, too.
        if (item.id !== undefined) this.#handOn(failure(item.id, error.message));
        break;
      }
      default:
        done(faultText(ERROR_CODES.invalidRequest, `Invalid request: ${item.reason}`));
        this.#tell(new ConnectionError('not-a-message', `No message: ${item.reason}.`, { received: source }));
    }
  }

  #request(message: RequestMessage, done: Done, isOfBatch: boolean): void {
    const { id, method } = message;
    // A request without a usable identifier of its own: the SDK takes no `null`, and twice the same would be mixed up.
    const isPrivate = isOfBatch || id === null || this.#open.has(id) || String(id).startsWith(PREFIX);
    const handed: Id = isPrivate ? `${PREFIX}${++this.#lastId}` : id;
    if (isPrivate) this.#privateIds.set(id, handed as string);
    this.#open.set(handed, { id, method, done });
    this.#handOn(isPrivate ? { ...message, id: handed } : message);
  }

  /** A cancellation names the request by the identifier that the other side knows. */
  #named(message: CallMessage): CallMessage {
    if (message.method !== '$/cancel_request') return message;
    const params = message.params as { readonly requestId?: Id } | undefined;
    const handed = params?.requestId === undefined ? undefined : this.#privateIds.get(params.requestId);
    return handed === undefined ? message : { ...message, params: { ...params, requestId: handed } };
  }

  #response(message: ResponseMessage): void {
    if (this.#initializing.delete(message.id) && 'result' in message) this.#policy.initialized(message.result);
    this.#handOn(message);
  }

  #handOn(message: Message): void {
    if (!this.#isOver) this.#out.enqueue(message);
  }

  // From this side

  #written(message: Message): void {
    if ('method' in message) this.#call(message);
    else this.#answer(message);
  }

  #call(message: CallMessage): void {
    let text: string;
    try {
      text = JSON.stringify(message);
    } catch (cause) {
      const error = new ConnectionError('unserializable', `The params of ${message.method} have no JSON.`, { cause });
      if ('id' in message) this.#handOn(failure(message.id, error.message));
      this.#tell(error);
      return;
    }
    if ('id' in message && message.method === 'initialize') this.#initializing.add(message.id);
    this.#channel.send(text);
  }

  #answer(message: ResponseMessage): void {
    const open = this.#open.get(message.id);
    this.#open.delete(message.id);
    const id = open === undefined ? message.id : open.id;
    if (open !== undefined && this.#privateIds.get(id) === message.id) this.#privateIds.delete(id);
    if (open?.method === 'initialize' && 'result' in message) this.#policy.initialized(message.result);
    const text = 'error' in message ? errorText(id, message.error) : resultText(id, message.result);
    (open?.done ?? this.#send)(text);
    if (this.#isEnding && this.#open.size === 0) this.#close();
  }

  readonly #send = (text: string | null): void => {
    if (text !== null) this.#channel.send(text);
  };

  // The end

  #tooLong(limit: number): void {
    this.#fault = new ConnectionError('too-long', `A message is longer than ${limit} bytes.`);
    this.#send(faultText(ERROR_CODES.invalidRequest, `Invalid request: a message has at most ${limit} bytes`));
  }

  #ended(error: Error | undefined): void {
    this.#isEnding = true;
    this.#fault ??= error;
    if (this.#open.size === 0) {
      this.#close();
      return;
    }
    const timer: unknown = setTimeout(() => this.#close(), this.#grace * 1000);
    (timer as { readonly unref?: () => void }).unref?.();
  }

  #close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#fault === undefined) this.#out.close();
    else this.#out.error(this.#fault);
  }

  #tell(error: ConnectionError): void {
    try {
      this.#onError?.(error);
    } catch {
      // Whoever listens must not be able to take the conversation down.
    }
  }
}

const notJson: Arrival = { kind: 'fault', rpcCode: ERROR_CODES.parseError, reason: 'Parse error' };

function failure(id: Id, message: string): ResponseMessage {
  return { jsonrpc: '2.0', id, error: { code: ERROR_CODES.internalError, message } };
}
