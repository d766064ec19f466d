/** Calls of this side that wait for their answers. */

import { isThenable } from '../text/guards.js';
import { errorText, idInData, resultText } from './codec.js';
import { ConnectionError, ERROR_CODES, RpcError } from './errors.js';
import type { CallMessage, ErrorObject, Id, Params, ResponseMessage } from './message.js';
import type { CallContext, Connection, Handler } from './types.js';

interface Waiting {
  readonly method: string;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly batch: SentBatch | undefined;
}

/** A batch that was sent, as long as it has calls without an answer. */
interface SentBatch {
  readonly ids: Set<number>;
  /** Some of its calls have been answered, so the other side takes batches. */
  isAnswered: boolean;
}

export class Calls {
  readonly #waiting = new Map<Id, Waiting>();
  /** In the order in which they were sent. */
  readonly #batches = new Set<SentBatch>();
  #lastId = 0;
  /** The call that was the last message of this side, if it was one and by itself. */
  #lastSent: number | undefined;
  /** A batch of notifications alone was sent, which nothing answers but a refusal. */
  #hasSentSilently = false;

  /** Whether no call waits. */
  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** An identifier for a call: a safe integer that no other call of this side has. */
  nextId(): number {
    return ++this.#lastId;
  }

  /** The call waits for its answer from now on. */
  open(id: number, method: string): Promise<unknown> {
    this.#lastSent = id;
    return this.#open(id, method, undefined);
  }

  /** The calls of one batch, which travel together. */
  openBatch(calls: readonly { readonly id: number; readonly method: string }[]): Promise<unknown>[] {
    const batch: SentBatch = { ids: new Set(calls.map(({ id }) => id)), isAnswered: false };
    if (calls.length > 0) this.#batches.add(batch);
    else this.#hasSentSilently = true;
    this.#lastSent = undefined;
    return calls.map(({ id, method }) => this.#open(id, method, batch));
  }

  #open(id: number, method: string, batch: SentBatch | undefined): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { method, resolve, reject, batch });
    });
  }

  /** The method that the call of this identifier has asked for. */
  methodOf(id: Id | undefined): string | undefined {
    return id === undefined ? undefined : this.#waiting.get(id)?.method;
  }

  /** @returns whether it was the answer to a call */
  answer(response: ResponseMessage): boolean {
    const waiting = this.#take(response.id);
    if (waiting === undefined) return false;
    if ('error' in response) waiting.reject(errorOf(response.error));
    else waiting.resolve(response.result);
    return true;
  }

  /** Something else than a call was sent: an error that names no call may be about it. */
  sentOther(): void {
    this.#lastSent = undefined;
  }

  /** A call is over without an answer that could be read. @returns whether there was such a call */
  drop(id: Id | undefined, error: Error): boolean {
    const waiting = id === undefined ? undefined : this.#take(id);
    waiting?.reject(error);
    return waiting !== undefined;
  }

  /**
   * An error with the id `null` came by itself. Its `data` may name a call. Else it is what a side that takes no batches says to one, so it is about
   * the oldest batch of which nothing was answered; without batches, it is about the only call that waits, if that was the last message of
   * this side. Where several calls wait, nobody can tell which of them is refused.
   *
   * What is sent is JSON, so -32600 alone can be about a batch; -32700 is about somebody's junk, or about a call that the other side's
   * parser cannot take: it nests deeply, or holds half of a surrogate pair.
   *
   * @returns what it is about, if that is known
   */
  refusedBy(error: ErrorObject): 'call' | 'batch' | undefined {
    if (this.#refuse(idInData(error), error)) return 'call';
    const isInvalid = error.code === ERROR_CODES.invalidRequest;
    if (isInvalid && (this.#refuseBatch(error) || this.#hasSentSilently)) {
      this.#hasSentSilently = false;
      return 'batch';
    }
    const isOnly = this.#waiting.size === 1 && (isInvalid || error.code === ERROR_CODES.parseError);
    return isOnly && this.#refuse(this.#lastSent, error) ? 'call' : undefined;
  }

  #refuse(id: Id | undefined, error: ErrorObject): boolean {
    return this.drop(id, errorOf(error));
  }

  #refuseBatch(error: ErrorObject): boolean {
    for (const batch of this.#batches) {
      if (batch.isAnswered) continue;
      const cause = errorOf(error);
      const refused = new ConnectionError('batches-refused', `The other side refuses batches: ${error.message}`, {
        cause,
      });
      this.#dropAll(batch, refused);
      return true;
    }
    return false;
  }

  /**
   * The array that answers a batch has come, and it holds an error that has the id `null`: it is about the call that its `data` names, else about
   * those calls of the batch that the array does not answer.
   *
   * @param batch of one of the calls that it does answer, as {@link batchOf} gave it before they were over
   * @returns whether there were such calls
   */
  refuseRest(batch: object | undefined, error: ErrorObject): boolean {
    if (this.#refuse(idInData(error), error)) return true;
    const sent = batch as SentBatch | undefined;
    if (sent === undefined || sent.ids.size === 0) return false;
    this.#dropAll(sent, errorOf(error));
    return true;
  }

  /** The one that was sent first of those that wait. */
  get oldestBatch(): object | undefined {
    return this.#batches.values().next().value;
  }

  /** The batch that a call is of, if any. */
  batchOf(id: Id): object | undefined {
    return this.#waiting.get(id)?.batch;
  }

  /** Nothing will be answered any more. */
  end(error: Error): void {
    const all = [...this.#waiting.values()];
    this.#waiting.clear();
    this.#batches.clear();
    for (const { reject } of all) reject(error);
  }

  #dropAll(batch: SentBatch, error: Error): void {
    for (const id of [...batch.ids]) this.#take(id)?.reject(error);
  }

  #take(id: Id): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return undefined;
    this.#waiting.delete(id);
    const { batch } = waiting;
    if (batch !== undefined) {
      batch.isAnswered = true;
      batch.ids.delete(id as number);
      if (batch.ids.size === 0) this.#batches.delete(batch);
    }
    return waiting;
  }
}

function errorOf({ code, message, data }: ErrorObject): RpcError {
  return new RpcError(code, message, data);
}

/** Of ACP; JSON-RPC itself has no such thing. Its params hold the identifier as `requestId`. */
export const CANCEL = '$/cancel_request';

interface AnsweringOptions {
  readonly connection: Connection;
  readonly handlers: { readonly [method: string]: Handler };
  readonly fallback: Handler | undefined;
  readonly maxInFlight: number;
  /** The handler of a notification threw: nobody else is told. */
  readonly failed: (method: string, thrown: unknown) => void;
  /** A request was answered with this result. */
  readonly answered: (method: string, result: unknown) => void;
  /** Nothing is being worked on any more. */
  readonly idle: () => void;
}

/** Told the response as JSON, or `null` for none, and what it answers: `undefined` for a notification. */
export type Done = (response: string | null, id: Id | undefined) => void;

export class Answering {
  readonly #options: AnsweringOptions;
  readonly #inFlight = new Set<IncomingCall>();
  readonly #byId = new Map<Id, IncomingCall>();
  /** Those in flight that want an answer. */
  #requests = 0;

  constructor(options: AnsweringOptions) {
    this.#options = options;
  }

  get isIdle(): boolean {
    return this.#inFlight.size === 0;
  }

  /** Answers a request, or takes a notification, at once or later. */
  take(message: CallMessage, done: Done): void {
    const { method, params } = message;
    const id = 'id' in message ? message.id : undefined;
    const { handlers, fallback, maxInFlight, connection } = this.#options;
    if (method === CANCEL && id === undefined) this.#cancel(params);
    // What Object.prototype has is no method of anybody's.
    const handler = Object.hasOwn(handlers, method) ? handlers[method] : fallback;
    if (handler === undefined) {
      const error = { code: ERROR_CODES.methodNotFound, message: `Method not found: ${method.slice(0, 200)}` };
      done(id === undefined ? null : errorText(id, error), id);
      return;
    }
    if (id !== undefined && this.#requests >= maxInFlight) {
      done(errorText(id, { code: ERROR_CODES.busy, message: `${maxInFlight} requests are being worked on` }), id);
      return;
    }
    const call = new IncomingCall(method, id);
    let result: unknown;
    let isLater: boolean;
    try {
      result = handler(params, new Context(call, connection));
      // A getter of the handler's may throw, too.
      isLater = isThenable(result);
    } catch (thrown) {
      done(this.#failure(call, thrown), id);
      return;
    }
    // An answer that is there is given at once: a promise would cost more than all the rest.
    if (isLater) this.#wait(call, Promise.resolve(result), done);
    else done(this.#success(call, result), id);
  }

  /** Tells all handlers that run, and forgets them. */
  cancelAll(reason: unknown): void {
    for (const call of this.#inFlight) call.cancel(reason);
    this.#inFlight.clear();
    this.#byId.clear();
    this.#requests = 0;
  }

  #wait(call: IncomingCall, result: Promise<unknown>, done: Done): void {
    this.#inFlight.add(call);
    if (call.id !== undefined) {
      this.#requests++;
      this.#byId.set(call.id, call);
    }
    const over = (response: string | null): void => {
      if (this.#inFlight.delete(call) && call.id !== undefined) this.#requests--;
      if (call.id !== undefined && this.#byId.get(call.id) === call) this.#byId.delete(call.id);
      done(response, call.id);
      if (this.isIdle) this.#options.idle();
    };
    result.then(
      (value) => over(this.#success(call, value)),
      (thrown) => over(this.#failure(call, thrown)),
    );
  }

  #success({ id, method }: IncomingCall, result: unknown): string | null {
    if (id === undefined) return null;
    this.#options.answered(method, result);
    return resultText(id, result);
  }

  #failure({ id, method, isCancelled }: IncomingCall, thrown: unknown): string | null {
    if (id === undefined) {
      this.#options.failed(method, thrown);
      return null;
    }
    if (isRpcError(thrown)) return errorText(id, thrown.toErrorObject());
    if (isCancelled) return errorText(id, { code: ERROR_CODES.requestCancelled, message: 'Request cancelled' });
    const details = descriptionOf(thrown);
    return errorText(id, { code: ERROR_CODES.internalError, message: 'Internal error', data: { details } });
  }

  #cancel(params: Params | undefined): void {
    const id = (params as { readonly requestId?: Id } | undefined)?.requestId;
    if (id !== undefined) this.#byId.get(id)?.cancel(new RpcError(ERROR_CODES.requestCancelled, 'Request cancelled'));
  }
}

/** What a handler gets. One is made for every call, so it holds two fields and no more. */
class Context implements CallContext {
  readonly #call: IncomingCall;
  readonly connection: Connection;

  constructor(call: IncomingCall, connection: Connection) {
    this.#call = call;
    this.connection = connection;
  }

  get method(): string {
    return this.#call.method;
  }

  get id(): Id | undefined {
    return this.#call.id;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }
}

/** Anything can be thrown, even what throws when it is asked what it is. */
function isRpcError(thrown: unknown): thrown is RpcError {
  try {
    return thrown instanceof RpcError;
  } catch {
    return false;
  }
}

/** Or cannot be made a text. */
function descriptionOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? String(thrown.message) : String(thrown);
  } catch {
    return 'unknown';
  }
}

class IncomingCall {
  readonly method: string;
  /** Absent for a notification, which is never answered. */
  readonly id: Id | undefined;
  #controller: AbortController | undefined;
  #reason: unknown;
  #isCancelled = false;

  constructor(method: string, id: Id | undefined) {
    this.method = method;
    this.id = id;
  }

  /** Aborted when the caller does not want the answer any more, or the connection has broken. */
  get signal(): AbortSignal {
    // Most handlers never ask for it.
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#isCancelled) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  cancel(reason: unknown): void {
    if (this.#isCancelled) return;
    this.#isCancelled = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}
