/** Calls of the other side: who handles them, which of them are being worked on, and what they are answered with. */
import { isThenable } from '../text/guards.js';
import { errorText, resultText } from './codec.js';
import { ERROR_CODES, RpcError } from './errors.js';
import type { CallMessage, Id, Params } from './message.js';
import type { CallContext, Connection, Handler } from './types.js';
/** Of ACP; JSON-RPC itself has no such thing. Its params hold the identifier as `requestId`. */
export const CANCEL = '$/cancel_request';

export interface AnsweringOptions {
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

export class IncomingCall {
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
