import { within } from '../async/abort.js';
import { notifyListener } from '../async/listeners.js';
import { afterUnref } from '../async/timers.js';
import { type Channel, flushed } from '../channels/channel.js';
import { isLonger } from '../text/bytes.js';
import { systemReason } from '../text/system-reason.js';
import { ArrivalOrder } from './arrival-order.js';
import { BatchPolicy, BatchReply } from './batches.js';
import { Answering, CANCEL, Calls, type Done } from './calls.js';
import {
  type Arrival,
  callText,
  type Fault,
  FaultLimit,
  faultText,
  isResponse,
  overLimitText,
  type ReadingOptions,
  readArrival,
  sketch,
  tooLongText,
  unreadable,
} from './codec.js';
import { ConnectionError, ERROR_CODES } from './errors.js';
import type { Classified, ErrorObject, FailureMessage, Id, Params } from './message.js';
import {
  type BatchEntry,
  type Connection,
  type ConnectionOptions,
  type RequestOptions,
  resolveLimits,
} from './types.js';

/** Multiple of the backlog that ends the connection while this side waits for answers itself. */
const HOPELESS = 4;

export class Peer implements Connection {
  readonly closed: Promise<ConnectionError | undefined>;
  readonly #channel: Channel;
  readonly #onError: ConnectionOptions['onError'];
  readonly #maxBacklog: number;
  readonly #maxBytes: number;
  readonly #graceMs: number;
  readonly #policy: BatchPolicy;
  readonly #reading: ReadingOptions;
  readonly #calls = new Calls();
  readonly #answering: Answering;
  readonly #order: ArrivalOrder;
  #isThrottled = false;
  /** Characters of answers since nothing waited to be written. */
  #unread = 0;
  readonly #faults = new FaultLimit();
  #state: 'open' | 'ending' | 'closed' = 'open';
  #fault: ConnectionError | undefined;
  #settle!: (fault: ConnectionError | undefined) => void;

  constructor(channel: Channel, options: ConnectionOptions) {
    const { maxBatch, maxInFlight, maxBacklog, maxLineBytes, graceMs } = resolveLimits(options);
    this.#channel = channel;
    this.#onError = options.onError;
    this.#maxBacklog = maxBacklog;
    this.#maxBytes = maxLineBytes;
    this.#graceMs = graceMs;
    this.#policy = new BatchPolicy(options.batches, options.unbatchable);
    this.#reading = { maxBatch, takesBatches: this.#policy.takes };
    this.#order = new ArrivalOrder({ pause: channel.pause, resume: () => this.#resume() });
    this.#answering = new Answering({
      connection: this,
      handlers: options.handlers ?? {},
      fallback: options.fallback,
      maxInFlight,
      failed: (method, cause) =>
        this.#tell(new ConnectionError('handler-failed', `The handler of ${method} threw.`, { cause })),
      answered: (method, result) => {
        if (method === 'initialize') this.#policy.initialized(result);
      },
      idle: () => {
        if (this.#state === 'ending') this.#finish();
      },
    });
    this.closed = new Promise((resolve) => {
      this.#settle = resolve;
    });
    channel.start({
      text: (text, isUnended) => this.#take(readArrival(text, this.#reading, isUnended), text),
      invalid: (why, beginning = '') => this.#take(unreadable(beginning), why),
      tooLong: (limit, beginning) => this.#order.run(() => this.#tooLong(limit, beginning), { wakes: false }),
      ended: (error) => this.#order.run(() => this.#ended(error), { wakes: false }),
    });
  }

  // Calls of this side

  readonly request = (method: string, params?: Params, { signal }: RequestOptions = {}): Promise<unknown> => {
    if (signal?.aborted) return Promise.reject(signal.reason);
    let id: number;
    let text: string;
    try {
      this.#checkOpen();
      id = this.#calls.nextId();
      text = this.#checkLength(this.#textOf(id, method, params));
    } catch (thrown) {
      return Promise.reject(thrown);
    }
    const result = this.#calls.open(id, method);
    this.#channel.send(text);
    return signal === undefined ? result : this.#cancellable([id], result, signal);
  };

  readonly notify = async (method: string, params?: Params): Promise<void> => {
    this.#checkOpen();
    const text = this.#checkLength(this.#textOf(undefined, method, params));
    this.#calls.sentOther();
    this.#channel.send(text);
    if (!(await flushed(this.#channel))) throw this.#untaken();
  };

  readonly batch = async (
    entries: readonly BatchEntry[],
    { signal }: RequestOptions = {},
  ): Promise<PromiseSettledResult<unknown>[]> => {
    this.#policy.check(
      entries.map(({ method }) => method),
      this.#reading.maxBatch,
    );
    signal?.throwIfAborted();
    this.#checkOpen();
    const calls: { readonly id: number; readonly method: string }[] = [];
    const texts = entries.map(({ method, params, notification = false }) => {
      const id = notification ? undefined : this.#calls.nextId();
      if (id !== undefined) calls.push({ id, method });
      return this.#textOf(id, method, params);
    });
    const text = this.#checkLength(`[${texts.join(',')}]`);
    const settled = Promise.allSettled(this.#calls.openBatch(calls));
    this.#channel.send(text);
    const ids = calls.map(({ id }) => id);
    const outcomes = await (signal === undefined ? settled : this.#cancellable(ids, settled, signal));
    const unread =
      calls.length > 0 ? whyUnread(outcomes) : (await flushed(this.#channel)) ? undefined : this.#untaken();
    let next = 0;
    return entries.map(({ notification = false }) => {
      if (!notification) return outcomes[next++]!;
      return unread === undefined ? { status: 'fulfilled', value: undefined } : { status: 'rejected', reason: unread };
    });
  };

  #untaken(): ConnectionError {
    return this.#fault ?? new ConnectionError('closed', 'The connection ended before the message was sent.');
  }

  #checkOpen(): void {
    if (this.#state !== 'open') throw this.#fault ?? new ConnectionError('closed', 'The connection is closed.');
    if (this.#channel.backlog() <= this.#maxBacklog) return;
    throw new ConnectionError(
      'backlog-full',
      `More than ${this.#maxBacklog} bytes wait: the other side does not read.`,
    );
  }

  #textOf(id: number | undefined, method: string, params: Params | undefined): string {
    try {
      return callText(id, method, params);
    } catch (cause) {
      throw new ConnectionError('unserializable', `The params of ${method} have no JSON.`, { cause });
    }
  }

  #checkLength(text: string): string {
    if (!isLonger(text, this.#maxBytes)) return text;
    throw new ConnectionError('too-long', `A message has at most ${this.#maxBytes} bytes.`);
  }

  /** Gives up a call, or those of a batch, when the signal is aborted, and sends a cancellation. */
  async #cancellable<T>(ids: readonly number[], result: Promise<T>, signal: AbortSignal): Promise<T> {
    const abort = (): void => {
      for (const id of ids) {
        if (!this.#calls.drop(id, signal.reason)) continue;
        // If it cannot be sent, the connection has ended, and the call with it.
        this.notify(CANCEL, { requestId: id }).catch(() => undefined);
      }
    };
    signal.addEventListener('abort', abort, { once: true });
    try {
      return await result;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  // What arrives

  #take(arrival: Arrival, source: string): void {
    const wakes = arrival.kind === 'one' ? isResponse(arrival.item) : arrival.kind === 'fault';
    if (this.#order.isFree(wakes)) this.#process(arrival, source);
    else this.#order.run(() => this.#process(arrival, source), { wakes });
  }

  #process(arrival: Arrival, source: string): void {
    if (this.#state === 'closed') return;
    if (arrival.kind === 'one') this.#one(arrival.item, source, this.#answer);
    else if (arrival.kind === 'batch') this.#batch(arrival.items, source);
    else this.#refuse(arrival, source);
    if (this.#unread > this.#maxBacklog) this.#throttle();
  }

  #refuse({ rpcCode, reason, sketch: read, responses }: Fault, source: string): void {
    for (const response of responses) this.#response(response, source);
    const isAnswer = this.#dropAll(read.answers, badResponse('is not JSON', source)) || read.isResponse;
    // A response is never answered.
    if (!isAnswer && this.#faults.answers(rpcCode)) this.#answer(faultText(rpcCode, reason, read.id), undefined);
    this.#tell(new ConnectionError('not-a-message', `${reason}.`, { received: source }));
  }

  /** Ends calls without a readable answer. @returns whether there were such calls */
  #dropAll(ids: readonly Id[], error: ConnectionError): boolean {
    const dropped = ids.filter((id) => this.#calls.drop(id, error));
    if (dropped.length > 0) this.#order.answered();
    return dropped.length > 0;
  }

  #batch(items: readonly Classified[], source: string): void {
    if (items.every(isResponse)) {
      this.#responses(items, source);
      return;
    }
    const reply = new BatchReply(items.length, this.#maxBytes, (text) => this.#answer(text, undefined));
    for (const item of items) this.#one(item, source, reply.done);
  }

  /** @param done sends the response to a single message, or collects it for a batch */
  #one(item: Classified, source: string, done: Done): void {
    switch (item.kind) {
      case 'request':
      case 'notification':
        this.#faults.reset();
        this.#answering.take(item.message, done);
        break;
      case 'invalid':
        done(this.#invalid(item, source), undefined);
        break;
      default:
        this.#response(item, source);
        done(null, undefined);
    }
  }

  #invalid({ reason, id, isCall }: Classified & { readonly kind: 'invalid' }, source: string): string | null {
    const isAnswer = id !== undefined && isCall !== true;
    if (isAnswer && this.#dropAll([id], badResponse('has neither result nor error', source))) return null;
    this.#tell(new ConnectionError('not-a-message', `No message: ${reason}.`, { received: source }));
    return faultText(ERROR_CODES.invalidRequest, `Invalid request: ${reason}`, id);
  }

  /** Handles a response by itself. An error without an id may be a refusal. */
  #response(item: Classified, source: string): void {
    if (item.kind === 'malformed-response') {
      const error = badResponse('is no response of JSON-RPC', source);
      if (item.id !== undefined) this.#dropAll([item.id], error);
      this.#tell(error);
    }
    if (item.kind !== 'response') return;
    const { message } = item;
    const method = this.#calls.methodOf(message.id);
    if (this.#calls.answer(message)) {
      this.#faults.reset();
      if (method === 'initialize' && 'result' in message) this.#policy.initialized(message.result);
      this.#order.answered();
    } else if (!isNameless(item) || !this.#isRefusal(item.message.error)) {
      this.#tell(
        new ConnectionError('unknown-response', 'A response came that answers nothing.', { received: source }),
      );
    }
  }

  #isRefusal(error: ErrorObject): boolean {
    const refused = this.#calls.refusedBy(error);
    if (refused === 'batch') this.#policy.isRefused = true;
    if (refused !== undefined) this.#order.answered();
    return refused !== undefined;
  }

  /** Handles the answer to a batch. Errors in it without an id are about those calls of the batch that it does not answer. */
  #responses(items: readonly Classified[], source: string): void {
    const named = items.filter((item) => !isNameless(item));
    let batch: object | undefined;
    for (const item of named) {
      if (item.kind === 'response') batch ??= this.#calls.batchOf(item.message.id);
      this.#response(item, source);
    }
    // A side that answers with an array accepts batches.
    this.#policy.isRefused = false;
    for (const item of items) {
      if (!isNameless(item)) continue;
      batch ??= this.#calls.oldestBatch;
      if (this.#calls.refuseRest(batch, item.message.error)) this.#order.answered();
    }
  }

  #tell(error: ConnectionError): void {
    notifyListener(() => this.#onError?.(error));
  }

  // What is sent

  readonly #answer: Done = (response, id) => {
    if (response === null || this.#state === 'closed') return;
    const text = isLonger(response, this.#maxBytes) ? tooLongText(id) : response;
    if (this.#channel.backlog() === 0) this.#unread = 0;
    this.#unread += text.length;
    this.#calls.sentOther();
    this.#channel.send(text);
  };

  /**
   * Stops reading from a side that asks and does not read the answers. If this side waits for answers itself, it goes on reading: two sides that
   * both wait for the other to read would wait for ever. Beyond a multiple, the connection ends.
   */
  #throttle(): void {
    const backlog = this.#channel.backlog();
    if (backlog <= this.#maxBacklog) this.#unread = backlog;
    else if (backlog > HOPELESS * this.#maxBacklog) {
      this.#break(new ConnectionError('backlog-full', `${backlog} bytes wait: the other side does not read.`));
    } else if (!this.#isThrottled && this.#calls.isEmpty) {
      this.#isThrottled = true;
      this.#channel.pause();
      void Promise.resolve(this.#channel.ready()).then(() => {
        this.#isThrottled = false;
        this.#unread = 0;
        this.#resume();
      });
    }
  }

  #resume(): void {
    if (!this.#isThrottled && !this.#order.isHolding) this.#channel.resume();
  }

  // The end

  /** The following bytes cannot be split into messages, so calls whose identifiers stand further back end with the connection. */
  #tooLong(limit: number, beginning = ''): void {
    const { answers, isResponse: isAnswer, id } = sketch(beginning);
    const fault = new ConnectionError('too-long', `A message is longer than ${limit} bytes.`);
    this.#fault = fault;
    if (!this.#dropAll(answers, fault) && !isAnswer) this.#answer(overLimitText(id, limit), id);
    this.#tell(fault);
  }

  /** Nothing more arrives; running handlers are still answered. */
  #ended(error: Error | undefined): void {
    if (this.#state !== 'open') return;
    this.#state = 'ending';
    if (error !== undefined) {
      const typed = error instanceof ConnectionError ? error : undefined;
      this.#fault ??=
        typed ?? new ConnectionError('closed', `The connection broke: ${systemReason(error)}`, { cause: error });
    }
    this.#calls.end(this.#fault ?? new ConnectionError('closed', 'The other side has ended.'));
    // A broken channel takes no answers either.
    if (error !== undefined || this.#answering.isIdle) this.#finish();
    else afterUnref(this.#graceMs, () => this.#finish());
  }

  #break(fault: ConnectionError): void {
    if (this.#state === 'closed') return;
    this.#fault ??= fault;
    this.#calls.end(fault);
    this.#channel.destroy();
    this.#finish();
  }

  readonly close = async (): Promise<void> => {
    if (this.#state === 'open') {
      this.#calls.end(new ConnectionError('closed', 'The connection was closed.'));
      this.#finish();
    } else if (this.#state === 'ending') this.#finish();
    await this.closed;
  };

  #finish(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#answering.cancelAll(new ConnectionError('closed', 'The connection is closed.'));
    // The other side may never read the rest.
    void within(this.#graceMs, this.#channel.end(), afterUnref).then(() => {
      this.#channel.destroy();
      this.#settle(this.#fault);
    });
  }
}

function isNameless(
  item: Classified,
): item is Classified & { readonly kind: 'response'; readonly message: FailureMessage } {
  return item.kind === 'response' && item.message.id === null && 'error' in item.message;
}

/** Why nobody has read the notifications of a batch whose calls ended so, if that is known. */
function whyUnread(outcomes: readonly PromiseSettledResult<unknown>[]): unknown {
  const reasons = outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason : undefined));
  const isUnread = (reason: unknown): boolean =>
    reason instanceof ConnectionError && (reason.code === 'closed' || reason.code === 'batches-refused');
  return reasons.every(isUnread) ? reasons[0] : undefined;
}

function badResponse(why: string, received: string): ConnectionError {
  return new ConnectionError('bad-response', `The answer ${why}.`, { received });
}
