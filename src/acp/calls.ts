import { isThenable } from '../text/guards.js';
import { errorText, idInData, resultText } from './codec.js';
import { ConnectionError, ERROR_CODES, RpcError } from './errors.js';
import type { CallMessage, ErrorObject, Id, Params, ResponseMessage } from './message.js';
import type { CallContext, Connection, Handler } from './types.js';

/** A call of this side without a response. */
interface PendingCall {
  readonly method: string;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly batch: SentBatch | undefined;
}

/** A sent batch with pending calls. */
interface SentBatch {
  readonly ids: Set<number>;
  /** `true` if some of its calls have a response, so the other side accepts batches. */
  isAnswered: boolean;
}

/** The calls of this side, matched with responses. */
export class OutgoingCalls {
  readonly #pending = new Map<Id, PendingCall>();
  readonly #batches = new Set<SentBatch>();
  #lastId = 0;
  /** The identifier of the last message of this side, if it was a single request. */
  #lastSentId: number | undefined;
  /** `true` if a batch of notifications was sent, which has no response unless it is rejected. */
  #hasSentNotifications = false;

  /** `true` if no call is pending. */
  get isEmpty(): boolean {
    return this.#pending.size === 0;
  }

  /** Returns an unused identifier. */
  nextId(): number {
    return ++this.#lastId;
  }

  /** Registers a single request. */
  open(id: number, method: string): Promise<unknown> {
    this.#lastSentId = id;
    return this.#open(id, method, undefined);
  }

  /** Registers the requests of a batch. */
  openBatch(calls: readonly { readonly id: number; readonly method: string }[]): Promise<unknown>[] {
    const batch: SentBatch = { ids: new Set(calls.map(({ id }) => id)), isAnswered: false };
    if (calls.length > 0) this.#batches.add(batch);
    else this.#hasSentNotifications = true;
    this.#lastSentId = undefined;
    return calls.map(({ id, method }) => this.#open(id, method, batch));
  }

  #open(id: number, method: string, batch: SentBatch | undefined): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { method, resolve, reject, batch });
    });
  }

  /** Returns the method of a pending call. */
  methodOf(id: Id | undefined): string | undefined {
    return id === undefined ? undefined : this.#pending.get(id)?.method;
  }

  /** Settles a call with its response. @returns `true` if there was such a call */
  settle(response: ResponseMessage): boolean {
    const pending = this.#remove(response.id);
    if (pending === undefined) return false;
    if ('error' in response) pending.reject(errorOf(response.error));
    else pending.resolve(response.result);
    return true;
  }

  /** Records that another message was sent, which an error without an identifier may be about. */
  sentOther(): void {
    this.#lastSentId = undefined;
  }

  /** Rejects a call that has no valid response. @returns `true` if there was such a call */
  reject(id: Id | undefined, error: Error): boolean {
    const pending = id === undefined ? undefined : this.#remove(id);
    pending?.reject(error);
    return pending !== undefined;
  }

  /**
   * Finds and rejects the calls that an error with the id `null` is about. Its `data` may contain the identifier of a call. Otherwise, a side that
   * does not support batches sends it for the oldest batch without a response; if there are no batches, it is about the only pending call, if
   * that was the last message of this side. With several pending calls, it cannot be matched.
   *
   * This side sends valid JSON, so only -32600 can be about a batch; -32700 is about other data, or about a call that the parser of the
   * other side cannot read because it nests deeply or contains a lone surrogate.
   *
   * @returns the subject of the error, or `undefined` if it is unknown
   */
  matchNamelessError(error: ErrorObject): 'call' | 'batch' | undefined {
    if (this.#rejectCall(idInData(error), error)) return 'call';
    const isInvalid = error.code === ERROR_CODES.invalidRequest;
    if (isInvalid && (this.#rejectBatch(error) || this.#hasSentNotifications)) {
      this.#hasSentNotifications = false;
      return 'batch';
    }
    const isOnly = this.#pending.size === 1 && (isInvalid || error.code === ERROR_CODES.parseError);
    return isOnly && this.#rejectCall(this.#lastSentId, error) ? 'call' : undefined;
  }

  #rejectCall(id: Id | undefined, error: ErrorObject): boolean {
    return this.reject(id, errorOf(error));
  }

  #rejectBatch(error: ErrorObject): boolean {
    for (const batch of this.#batches) {
      if (batch.isAnswered) continue;
      const cause = errorOf(error);
      const rejected = new ConnectionError('batches-refused', `The other side rejected a batch: ${error.message}`, {
        cause,
      });
      this.#rejectAll(batch, rejected);
      return true;
    }
    return false;
  }

  /**
   * Handles an error with the id `null` in the response to a batch. It is about the call whose identifier is in its `data`, or otherwise about the
   * calls of the batch that have no response in the array.
   *
   * @param batch the batch, as {@link batchOf} returned it before its calls were settled
   * @returns `true` if there were such calls
   */
  rejectRest(batch: object | undefined, error: ErrorObject): boolean {
    if (this.#rejectCall(idInData(error), error)) return true;
    const sent = batch as SentBatch | undefined;
    if (sent === undefined || sent.ids.size === 0) return false;
    this.#rejectAll(sent, errorOf(error));
    return true;
  }

  /** The batch that was sent first. */
  get oldestBatch(): object | undefined {
    return this.#batches.values().next().value;
  }

  /** Returns the batch of a pending call. */
  batchOf(id: Id): object | undefined {
    return this.#pending.get(id)?.batch;
  }

  /** Rejects all pending calls. */
  end(error: Error): void {
    const all = [...this.#pending.values()];
    this.#pending.clear();
    this.#batches.clear();
    for (const { reject } of all) reject(error);
  }

  #rejectAll(batch: SentBatch, error: Error): void {
    for (const id of [...batch.ids]) this.#remove(id)?.reject(error);
  }

  #remove(id: Id): PendingCall | undefined {
    const pending = this.#pending.get(id);
    if (pending === undefined) return undefined;
    this.#pending.delete(id);
    const { batch } = pending;
    if (batch !== undefined) {
      batch.isAnswered = true;
      batch.ids.delete(id as number);
      if (batch.ids.size === 0) this.#batches.delete(batch);
    }
    return pending;
  }
}

function errorOf({ code, message, data }: ErrorObject): RpcError {
  return new RpcError(code, message, data);
}

/** The method that cancels a request (ACP, not JSON-RPC). Its params contain the identifier as `requestId`. */
export const CANCEL = '$/cancel_request';

interface IncomingCallsOptions {
  readonly connection: Connection;
  readonly handlers: { readonly [method: string]: Handler };
  readonly fallback: Handler | undefined;
  readonly maxInFlight: number;
  /** Called when the handler of a notification threw. */
  readonly onFailure: (method: string, thrown: unknown) => void;
  /** Called when a request was answered with a result. */
  readonly onResult: (method: string, result: unknown) => void;
  /** Called when no handler is running any more. */
  readonly onIdle: () => void;
}

/** A callback with the response as JSON (`null` if there is none) and the identifier of the request (`undefined` for a notification). */
export type Done = (response: string | null, id: Id | undefined) => void;

/** The calls of the other side, passed to handlers. */
export class IncomingCalls {
  readonly #options: IncomingCallsOptions;
  readonly #inFlight = new Set<IncomingCall>();
  readonly #byId = new Map<Id, IncomingCall>();
  /** The number of requests in `#inFlight`. */
  #requests = 0;

  constructor(options: IncomingCallsOptions) {
    this.#options = options;
  }

  /** `true` if no handler is running. */
  get isIdle(): boolean {
    return this.#inFlight.size === 0;
  }

  /** Calls the handler of a message. */
  handle(message: CallMessage, done: Done): void {
    const { method, params } = message;
    const id = 'id' in message ? message.id : undefined;
    const { handlers, fallback, maxInFlight, connection } = this.#options;
    if (method === CANCEL && id === undefined) this.#cancel(params);
    // Own members only: those of Object.prototype are not handlers.
    const handler = Object.hasOwn(handlers, method) ? handlers[method] : fallback;
    if (handler === undefined) {
      const error = { code: ERROR_CODES.methodNotFound, message: `Method not found: ${method.slice(0, 200)}` };
      done(id === undefined ? null : errorText(id, error), id);
      return;
    }
    if (id !== undefined && this.#requests >= maxInFlight) {
      done(
        errorText(id, { code: ERROR_CODES.busy, message: `Too many requests: ${maxInFlight} are being handled` }),
        id,
      );
      return;
    }
    const call = new IncomingCall(method, id);
    let result: unknown;
    let isAsync: boolean;
    try {
      result = handler(params, new Context(call, connection));
      // Reading `then` may throw, too.
      isAsync = isThenable(result);
    } catch (thrown) {
      done(this.#failure(call, thrown), id);
      return;
    }
    // Sends a synchronous result now: a promise would cost more than everything else.
    if (isAsync) this.#wait(call, Promise.resolve(result), done);
    else done(this.#success(call, result), id);
  }

  /** Aborts the signals of all running handlers. */
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
    const finish = (response: string | null): void => {
      if (this.#inFlight.delete(call) && call.id !== undefined) this.#requests--;
      if (call.id !== undefined && this.#byId.get(call.id) === call) this.#byId.delete(call.id);
      done(response, call.id);
      if (this.isIdle) this.#options.onIdle();
    };
    result.then(
      (value) => finish(this.#success(call, value)),
      (thrown) => finish(this.#failure(call, thrown)),
    );
  }

  #success({ id, method }: IncomingCall, result: unknown): string | null {
    if (id === undefined) return null;
    this.#options.onResult(method, result);
    return resultText(id, result);
  }

  #failure({ id, method, isCancelled }: IncomingCall, thrown: unknown): string | null {
    if (id === undefined) {
      this.#options.onFailure(method, thrown);
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

/** The context of a handler. It is created for every call, so it has only two fields. */
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

/** Returns whether a value is an RpcError. Inspecting a thrown value may throw. */
function isRpcError(thrown: unknown): thrown is RpcError {
  try {
    return thrown instanceof RpcError;
  } catch {
    return false;
  }
}

/** Converts a thrown value to a string, which may throw. */
function descriptionOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? String(thrown.message) : String(thrown);
  } catch {
    return 'unknown';
  }
}

/** A call of the other side. */
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
    // Created lazily: most handlers do not use it.
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
