import { within } from '../async/abort.js';
import { notifyListener } from '../async/listeners.js';
import { afterUnref } from '../async/timers.js';
import { type Channel, flushed } from '../channels/channel.js';
import { isLonger } from '../text/bytes.js';
import { systemReason } from '../text/system-reason.js';
import { ArrivalOrder } from './arrival-order.js';
import { BatchPolicy, BatchReply } from './batches.js';
import { CANCEL, type Done, IncomingCalls, OutgoingCalls } from './calls.js';
import {
  callText,
  ErrorLimit,
  type Incoming,
  type InvalidText,
  invalidText,
  invalidTextError,
  isResponse,
  type ReadOptions,
  readIncoming,
  readPartially,
  tooLongRequest,
  tooLongResponse,
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

/** The multiple of the maximum backlog at which the connection ends. */
const MAX_BACKLOG_FACTOR = 4;

/** One side of a connection. */
export class Peer implements Connection {
  readonly closed: Promise<ConnectionError | undefined>;
  readonly #channel: Channel;
  readonly #onError: ConnectionOptions['onError'];
  readonly #maxBacklog: number;
  readonly #maxBytes: number;
  readonly #graceMs: number;
  readonly #policy: BatchPolicy;
  readonly #readOptions: ReadOptions;
  readonly #outgoingCalls = new OutgoingCalls();
  readonly #incomingCalls: IncomingCalls;
  readonly #order: ArrivalOrder;
  #isThrottled = false;
  /** The length of all responses since the backlog was last empty. */
  #responseLength = 0;
  readonly #errorLimit = new ErrorLimit();
  #state: 'open' | 'ending' | 'closed' = 'open';
  #failure: ConnectionError | undefined;
  #settle!: (fault: ConnectionError | undefined) => void;

  constructor(channel: Channel, options: ConnectionOptions) {
    const { maxBatch, maxInFlight, maxBacklog, maxLineBytes, graceMs } = resolveLimits(options);
    this.#channel = channel;
    this.#onError = options.onError;
    this.#maxBacklog = maxBacklog;
    this.#maxBytes = maxLineBytes;
    this.#graceMs = graceMs;
    this.#policy = new BatchPolicy(options.batches, options.unbatchable);
    this.#readOptions = { maxBatch, acceptsBatches: this.#policy.accepts };
    this.#order = new ArrivalOrder({ pause: channel.pause, resume: () => this.#resume() });
    this.#incomingCalls = new IncomingCalls({
      connection: this,
      handlers: options.handlers ?? {},
      fallback: options.fallback,
      maxInFlight,
      onFailure: (method, cause) =>
        this.#report(new ConnectionError('handler-failed', `The handler of ${method} threw an error.`, { cause })),
      onResult: (method, result) => {
        if (method === 'initialize') this.#policy.onInitialize(result);
      },
      onIdle: () => {
        if (this.#state === 'ending') this.#finish();
      },
    });
    this.closed = new Promise((resolve) => {
      this.#settle = resolve;
    });
    channel.start({
      text: (text, isUnterminated) => this.#receive(readIncoming(text, this.#readOptions, isUnterminated), text),
      invalid: (reason, beginning = '') => this.#receive(invalidText(beginning), reason),
      tooLong: (limit, beginning) => this.#order.run(() => this.#tooLong(limit, beginning), { resolvesOnly: false }),
      ended: (error) => this.#order.run(() => this.#ended(error), { resolvesOnly: false }),
    });
  }

  // Calls of this side

  readonly request = (method: string, params?: Params, { signal }: RequestOptions = {}): Promise<unknown> => {
    if (signal?.aborted) return Promise.reject(signal.reason);
    let id: number;
    let text: string;
    try {
      this.#checkOpen();
      id = this.#outgoingCalls.nextId();
      text = this.#checkLength(this.#textOf(id, method, params));
    } catch (thrown) {
      return Promise.reject(thrown);
    }
    const result = this.#outgoingCalls.open(id, method);
    this.#channel.send(text);
    return signal === undefined ? result : this.#cancellable([id], result, signal);
  };

  readonly notify = async (method: string, params?: Params): Promise<void> => {
    this.#checkOpen();
    const text = this.#checkLength(this.#textOf(undefined, method, params));
    this.#outgoingCalls.sentOther();
    this.#channel.send(text);
    if (!(await flushed(this.#channel))) throw this.#sendError();
  };

  readonly batch = async (
    entries: readonly BatchEntry[],
    { signal }: RequestOptions = {},
  ): Promise<PromiseSettledResult<unknown>[]> => {
    this.#policy.check(
      entries.map(({ method }) => method),
      this.#readOptions.maxBatch,
    );
    signal?.throwIfAborted();
    this.#checkOpen();
    const calls: { readonly id: number; readonly method: string }[] = [];
    const texts = entries.map(({ method, params, notification = false }) => {
      const id = notification ? undefined : this.#outgoingCalls.nextId();
      if (id !== undefined) calls.push({ id, method });
      return this.#textOf(id, method, params);
    });
    const text = this.#checkLength(`[${texts.join(',')}]`);
    const settled = Promise.allSettled(this.#outgoingCalls.openBatch(calls));
    this.#channel.send(text);
    const ids = calls.map(({ id }) => id);
    const outcomes = await (signal === undefined ? settled : this.#cancellable(ids, settled, signal));
    const unsent =
      calls.length > 0 ? unsentReason(outcomes) : (await flushed(this.#channel)) ? undefined : this.#sendError();
    let next = 0;
    return entries.map(({ notification = false }) => {
      if (!notification) return outcomes[next++]!;
      return unsent === undefined ? { status: 'fulfilled', value: undefined } : { status: 'rejected', reason: unsent };
    });
  };

  #sendError(): ConnectionError {
    return this.#failure ?? new ConnectionError('closed', 'The connection ended before the message was sent.');
  }

  #checkOpen(): void {
    if (this.#state !== 'open') throw this.#failure ?? new ConnectionError('closed', 'The connection is closed.');
    if (this.#channel.backlog() <= this.#maxBacklog) return;
    throw new ConnectionError(
      'backlog-full',
      `More than ${this.#maxBacklog} bytes wait to be written: the other side does not read.`,
    );
  }

  #textOf(id: number | undefined, method: string, params: Params | undefined): string {
    try {
      return callText(id, method, params);
    } catch (cause) {
      throw new ConnectionError('unserializable', `The params of ${method} cannot be serialized as JSON.`, { cause });
    }
  }

  #checkLength(text: string): string {
    if (!isLonger(text, this.#maxBytes)) return text;
    throw new ConnectionError('too-long', `A message must have at most ${this.#maxBytes} bytes.`);
  }

  /** Rejects calls when the signal is aborted, and sends cancellations. */
  async #cancellable<T>(ids: readonly number[], result: Promise<T>, signal: AbortSignal): Promise<T> {
    const abort = (): void => {
      for (const id of ids) {
        if (!this.#outgoingCalls.reject(id, signal.reason)) continue;
        // If the cancellation cannot be sent, the connection has ended.
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

  // Input

  #receive(incoming: Incoming, source: string): void {
    const resolvesOnly = incoming.kind === 'one' ? isResponse(incoming.item) : incoming.kind === 'invalid-text';
    if (this.#order.isFree(resolvesOnly)) this.#process(incoming, source);
    else this.#order.run(() => this.#process(incoming, source), { resolvesOnly });
  }

  #process(incoming: Incoming, source: string): void {
    if (this.#state === 'closed') return;
    if (incoming.kind === 'one') this.#handle(incoming.item, source, this.#respond);
    else if (incoming.kind === 'batch') this.#batch(incoming.items, source);
    else this.#rejectText(incoming, source);
    if (this.#responseLength > this.#maxBacklog) this.#throttle();
  }

  #rejectText({ rpcCode, reason, partial, responses }: InvalidText, source: string): void {
    for (const response of responses) this.#response(response, source);
    const isAnswer = this.#rejectAll(partial.answers, badResponse('is not valid JSON', source)) || partial.isResponse;
    // A response is never answered.
    if (!isAnswer && this.#errorLimit.answers(rpcCode))
      this.#respond(invalidTextError(rpcCode, reason, partial.id), undefined);
    this.#report(new ConnectionError('not-a-message', `${reason}.`, { received: source }));
  }

  /** Rejects calls that have no valid response. @returns `true` if there were such calls */
  #rejectAll(ids: readonly Id[], error: ConnectionError): boolean {
    const rejected = ids.filter((id) => this.#outgoingCalls.reject(id, error));
    if (rejected.length > 0) this.#order.resolvedCaller();
    return rejected.length > 0;
  }

  #batch(items: readonly Classified[], source: string): void {
    if (items.every(isResponse)) {
      this.#responses(items, source);
      return;
    }
    const reply = new BatchReply(items.length, this.#maxBytes, (text) => this.#respond(text, undefined));
    for (const item of items) this.#handle(item, source, reply.done);
  }

  /** Handles a message, single or in a batch. @param done sends the response, or adds it to that of the batch */
  #handle(item: Classified, source: string, done: Done): void {
    switch (item.kind) {
      case 'request':
      case 'notification':
        this.#errorLimit.reset();
        this.#incomingCalls.handle(item.message, done);
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
    if (isAnswer && this.#rejectAll([id], badResponse('has neither a result nor an error', source))) return null;
    this.#report(new ConnectionError('not-a-message', `The input is not a message: ${reason}.`, { received: source }));
    return invalidTextError(ERROR_CODES.invalidRequest, `Invalid request: ${reason}`, id);
  }

  /** Handles a single response. An error with the id `null` may reject a call or batch of this side. */
  #response(item: Classified, source: string): void {
    if (item.kind === 'malformed-response') {
      const error = badResponse('does not conform to JSON-RPC', source);
      if (item.id !== undefined) this.#rejectAll([item.id], error);
      this.#report(error);
    }
    if (item.kind !== 'response') return;
    const { message } = item;
    const method = this.#outgoingCalls.methodOf(message.id);
    if (this.#outgoingCalls.settle(message)) {
      this.#errorLimit.reset();
      if (method === 'initialize' && 'result' in message) this.#policy.onInitialize(message.result);
      this.#order.resolvedCaller();
    } else if (!hasNullId(item) || !this.#matchError(item.message.error)) {
      this.#report(
        new ConnectionError('unknown-response', 'A response does not match a pending request.', { received: source }),
      );
    }
  }

  #matchError(error: ErrorObject): boolean {
    const matched = this.#outgoingCalls.matchNamelessError(error);
    if (matched === 'batch') this.#policy.isRejected = true;
    if (matched !== undefined) this.#order.resolvedCaller();
    return matched !== undefined;
  }

  /** Handles the response to a batch. Errors in it with the id `null` are about the calls of the batch that have no response in it. */
  #responses(items: readonly Classified[], source: string): void {
    const named = items.filter((item) => !hasNullId(item));
    let batch: object | undefined;
    for (const item of named) {
      if (item.kind === 'response') batch ??= this.#outgoingCalls.batchOf(item.message.id);
      this.#response(item, source);
    }
    // A side that responds with an array accepts batches.
    this.#policy.isRejected = false;
    for (const item of items) {
      if (!hasNullId(item)) continue;
      batch ??= this.#outgoingCalls.oldestBatch;
      if (this.#outgoingCalls.rejectRest(batch, item.message.error)) this.#order.resolvedCaller();
    }
  }

  #report(error: ConnectionError): void {
    notifyListener(() => this.#onError?.(error));
  }

  // Output

  readonly #respond: Done = (response, id) => {
    if (response === null || this.#state === 'closed') return;
    const text = isLonger(response, this.#maxBytes) ? tooLongResponse(id) : response;
    if (this.#channel.backlog() === 0) this.#responseLength = 0;
    this.#responseLength += text.length;
    this.#outgoingCalls.sentOther();
    this.#channel.send(text);
  };

  /**
   * Stops reading from a side that sends requests and does not read the responses. If this side waits for responses itself, it keeps reading: two
   * sides that each wait for the other to read would be deadlocked. Beyond a multiple of the maximum, the connection ends.
   */
  #throttle(): void {
    const backlog = this.#channel.backlog();
    if (backlog <= this.#maxBacklog) this.#responseLength = backlog;
    else if (backlog > MAX_BACKLOG_FACTOR * this.#maxBacklog) {
      this.#fail(
        new ConnectionError('backlog-full', `${backlog} bytes wait to be written: the other side does not read.`),
      );
    } else if (!this.#isThrottled && this.#outgoingCalls.isEmpty) {
      this.#isThrottled = true;
      this.#channel.pause();
      void Promise.resolve(this.#channel.ready()).then(() => {
        this.#isThrottled = false;
        this.#responseLength = 0;
        this.#resume();
      });
    }
  }

  #resume(): void {
    if (!this.#isThrottled && !this.#order.isWaiting) this.#channel.resume();
  }

  // End

  /** Rejects a message that is too long. The bytes after it cannot be split into messages, so the connection ends. */
  #tooLong(limit: number, beginning = ''): void {
    const { answers, isResponse: isAnswer, id } = readPartially(beginning);
    const error = new ConnectionError('too-long', `A message is longer than ${limit} bytes.`);
    this.#failure = error;
    if (!this.#rejectAll(answers, error) && !isAnswer) this.#respond(tooLongRequest(id, limit), id);
    this.#report(error);
  }

  /** Ends the input. Running handlers can still respond. */
  #ended(error: Error | undefined): void {
    if (this.#state !== 'open') return;
    this.#state = 'ending';
    if (error !== undefined) {
      const typed = error instanceof ConnectionError ? error : undefined;
      this.#failure ??=
        typed ?? new ConnectionError('closed', `The connection failed: ${systemReason(error)}`, { cause: error });
    }
    this.#outgoingCalls.end(this.#failure ?? new ConnectionError('closed', 'The other side closed the connection.'));
    // A broken channel does not accept responses either.
    if (error !== undefined || this.#incomingCalls.isIdle) this.#finish();
    else afterUnref(this.#graceMs, () => this.#finish());
  }

  #fail(error: ConnectionError): void {
    if (this.#state === 'closed') return;
    this.#failure ??= error;
    this.#outgoingCalls.end(error);
    this.#channel.destroy();
    this.#finish();
  }

  readonly close = async (): Promise<void> => {
    if (this.#state === 'open') {
      this.#outgoingCalls.end(new ConnectionError('closed', 'The connection was closed.'));
      this.#finish();
    } else if (this.#state === 'ending') this.#finish();
    await this.closed;
  };

  #finish(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#incomingCalls.cancelAll(new ConnectionError('closed', 'The connection is closed.'));
    // With a timeout: the other side may never read the rest.
    void within(this.#graceMs, this.#channel.end(), afterUnref).then(() => {
      this.#channel.destroy();
      this.#settle(this.#failure);
    });
  }
}

function hasNullId(
  item: Classified,
): item is Classified & { readonly kind: 'response'; readonly message: FailureMessage } {
  return item.kind === 'response' && item.message.id === null && 'error' in item.message;
}

/** Returns the reason why the notifications of a batch were not processed, or `undefined`, from the outcomes of its requests. */
function unsentReason(outcomes: readonly PromiseSettledResult<unknown>[]): unknown {
  const reasons = outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason : undefined));
  const isUnsent = (reason: unknown): boolean =>
    reason instanceof ConnectionError && (reason.code === 'closed' || reason.code === 'batches-refused');
  return reasons.every(isUnsent) ? reasons[0] : undefined;
}

function badResponse(problem: string, received: string): ConnectionError {
  return new ConnectionError('bad-response', `The response ${problem}.`, { received });
}
