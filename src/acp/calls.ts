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

/** A sent batch that has unanswered calls. */
interface SentBatch {
  readonly ids: Set<number>;
  /** Some of its calls were answered, so the other side accepts batches. */
  isAnswered: boolean;
}

export class Calls {
  readonly #waiting = new Map<Id, Waiting>();
  readonly #batches = new Set<SentBatch>();
  #lastId = 0;
  /** The last message of this side, if it was a single call. */
  #lastSent: number | undefined;
  /** A batch of notifications alone was sent, which only a refusal answers. */
  #hasSentSilently = false;

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** Returns an unused identifier. */
  nextId(): number {
    return ++this.#lastId;
  }

  open(id: number, method: string): Promise<unknown> {
    this.#lastSent = id;
    return this.#open(id, method, undefined);
  }

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

  methodOf(id: Id | undefined): string | undefined {
    return id === undefined ? undefined : this.#waiting.get(id)?.method;
  }

  /** @returns whether it answered a call */
  answer(response: ResponseMessage): boolean {
    const waiting = this.#take(response.id);
    if (waiting === undefined) return false;
    if ('error' in response) waiting.reject(errorOf(response.error));
    else waiting.resolve(response.result);
    return true;
  }

  /** Another message was sent: an error without an id may be about it. */
  sentOther(): void {
    this.#lastSent = undefined;
  }

  /** Ends a call without a readable answer. @returns whether there was such a call */
  drop(id: Id | undefined, error: Error): boolean {
    const waiting = id === undefined ? undefined : this.#take(id);
    waiting?.reject(error);
    return waiting !== undefined;
  }

  /**
   * Handles an error with the id `null`. Its `data` may name a call. Else a side without batches sends it for a batch, so it is about the oldest
   * batch without an answer; without batches, it is about the only pending call, if that was the last message of this side. With several
   * pending calls, the refused one is unknown.
   *
   * This side sends JSON, so only -32600 can be about a batch; -32700 is about other data, or about a call that the other side's parser
   * cannot read: it nests deeply, or holds half of a surrogate pair.
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
   * Handles an error with the id `null` in the answer to a batch: it is about the call that its `data` names, else about those calls of the batch
   * that the array does not answer.
   *
   * @param batch of one of the answered calls, as {@link batchOf} returned it before they were over
   * @returns whether there were such calls
   */
  refuseRest(batch: object | undefined, error: ErrorObject): boolean {
    if (this.#refuse(idInData(error), error)) return true;
    const sent = batch as SentBatch | undefined;
    if (sent === undefined || sent.ids.size === 0) return false;
    this.#dropAll(sent, errorOf(error));
    return true;
  }

  /** The one that was sent first. */
  get oldestBatch(): object | undefined {
    return this.#batches.values().next().value;
  }

  batchOf(id: Id): object | undefined {
    return this.#waiting.get(id)?.batch;
  }

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

/** Of ACP, not of JSON-RPC. Its params hold the identifier as `requestId`. */
export const CANCEL = '$/cancel_request';

interface AnsweringOptions {
  readonly connection: Connection;
  readonly handlers: { readonly [method: string]: Handler };
  readonly fallback: Handler | undefined;
  readonly maxInFlight: number;
  /** The handler of a notification threw. */
  readonly failed: (method: string, thrown: unknown) => void;
  /** A request was answered with this result. */
  readonly answered: (method: string, result: unknown) => void;
  readonly idle: () => void;
}

/** Gets the response as JSON, or `null` for none, and the id of the request: `undefined` for a notification. */
export type Done = (response: string | null, id: Id | undefined) => void;

export class Answering {
  readonly #options: AnsweringOptions;
  readonly #inFlight = new Set<IncomingCall>();
  readonly #byId = new Map<Id, IncomingCall>();
  /** Requests among `#inFlight`. */
  #requests = 0;

  constructor(options: AnsweringOptions) {
    this.#options = options;
  }

  get isIdle(): boolean {
    return this.#inFlight.size === 0;
  }

  take(message: CallMessage, done: Done): void {
    const { method, params } = message;
    const id = 'id' in message ? message.id : undefined;
    const { handlers, fallback, maxInFlight, connection } = this.#options;
    if (method === CANCEL && id === undefined) this.#cancel(params);
    // Members of Object.prototype are not methods.
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
      // A getter may throw, too.
      isLater = isThenable(result);
    } catch (thrown) {
      done(this.#failure(call, thrown), id);
      return;
    }
    // A result that is not a promise is sent at once: a promise would cost more than all the rest.
    if (isLater) this.#wait(call, Promise.resolve(result), done);
    else done(this.#success(call, result), id);
  }

  /** Aborts all running handlers. */
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

/** One is made for every call, so it holds only two fields. */
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

/** A thrown value may throw when it is inspected. */
function isRpcError(thrown: unknown): thrown is RpcError {
  try {
    return thrown instanceof RpcError;
  } catch {
    return false;
  }
}

/** It may have no text. */
function descriptionOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? String(thrown.message) : String(thrown);
  } catch {
    return 'unknown';
  }
}

class IncomingCall {
  readonly method: string;
  readonly id: Id | undefined;
  #controller: AbortController | undefined;
  #reason: unknown;
  #isCancelled = false;

  constructor(method: string, id: Id | undefined) {
    this.method = method;
    this.id = id;
  }

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
