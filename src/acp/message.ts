/** The identifier of a request. This side sends strings and safe integers; other sides may send fractions, or `null`, which makes a request, too. */
export type Id = string | number | null;

/** The parameters of a call: an array (by position) or an object (by name). */
export type Params = object;

/** A request, which has a response. */
export interface RequestMessage extends NotificationMessage {
  /** The identifier, which the response repeats. */
  readonly id: Id;
}

/** A notification, which has no response. */
export interface NotificationMessage {
  /** The version of JSON-RPC. */
  readonly jsonrpc: '2.0';
  /** The method, such as `session/prompt`. */
  readonly method: string;
  /** The parameters; absent if there are none. */
  readonly params?: Params;
}

/** The `error` member of a response (JSON-RPC 2.0, section 5.1). */
export interface ErrorObject {
  /** The code, an integer. */
  readonly code: number;
  /** A description of one sentence. */
  readonly message: string;
  /** Additional information; absent if there is none. */
  readonly data?: unknown;
}

/** A response to a request that succeeded. */
export interface SuccessMessage {
  /** The version of JSON-RPC. */
  readonly jsonrpc: '2.0';
  /** The identifier of the request. */
  readonly id: Id;
  /** The result, any JSON value. */
  readonly result: unknown;
}

/** A response to a request that failed. */
export interface FailureMessage {
  /** The version of JSON-RPC. */
  readonly jsonrpc: '2.0';
  /** The identifier of the request; `null` if it is unknown. */
  readonly id: Id;
  /** The error. */
  readonly error: ErrorObject;
}

/** A request or notification. */
export type CallMessage = RequestMessage | NotificationMessage;
/** A response, whether the request succeeded or failed. */
export type ResponseMessage = SuccessMessage | FailureMessage;
/** A request, a notification or a response. */
export type Message = CallMessage | ResponseMessage;
/** Several messages in one JSON array. */
export type BatchMessage = readonly Message[];

/**
 * A value with its kind, as returned by {@link classify}.
 *
 * A `malformed-response` has a result or an error and no method, but is not a valid response. Like every response, it is never answered:
 * otherwise two sides could answer each other forever. A value that is not a message is `invalid`; one without a method may have been
 * intended as a response.
 */
export type Classified =
  | {
      readonly kind: 'request';
      /** The request. */
      readonly message: RequestMessage;
    }
  | {
      readonly kind: 'notification';
      /** The notification. */
      readonly message: NotificationMessage;
    }
  | {
      readonly kind: 'response';
      /** The response. */
      readonly message: ResponseMessage;
    }
  | {
      readonly kind: 'malformed-response';
      /** The identifier; `undefined` if it is missing or invalid. */
      readonly id: Id | undefined;
    }
  | {
      readonly kind: 'invalid';
      /** The problem, as a clause. */
      readonly reason: string;
      /** The identifier; absent if it is missing or invalid. */
      readonly id?: Id;
      /** `true` if the value has a method. */
      readonly isCall?: boolean;
    };

const isOwn = Object.hasOwn;

/**
 * Determines the kind of a parsed value: a request, notification or response, or an invalid message. An integer that a double cannot represent
 * is not a valid identifier, since the response would contain another number.
 *
 * Source: JSON-RPC 2.0, sections 4 and 5.
 */
export function classify(value: unknown): Classified {
  if (typeof value !== 'object' || value === null) return invalid('a message must be an object');
  if (Array.isArray(value)) return invalid('a message must be an object; batches cannot be nested');
  const members = value as { readonly [name: string]: unknown };
  // Members of Object.prototype are ignored.
  if (!isOwn(members, 'method')) {
    if (isOwn(members, 'result') || isOwn(members, 'error')) return response(members);
    return { ...invalid('a message must have a method, a result or an error'), ...idOf(members) };
  }
  if (!isOwn(members, 'jsonrpc') || members['jsonrpc'] !== '2.0')
    return invalidCall('"jsonrpc" must be "2.0"', members);
  if (typeof members['method'] !== 'string') return invalidCall('"method" must be a string', members);
  if (isOwn(members, 'params') && (typeof members['params'] !== 'object' || members['params'] === null))
    return invalidCall('"params" must be an array or an object', members);
  if (!isOwn(members, 'id')) return { kind: 'notification', message: value as NotificationMessage };
  if (!isId(members['id']))
    return invalidCall('"id" must be a string, null, or a number that a double can represent', members);
  return { kind: 'request', message: value as RequestMessage };
}

function response(members: { readonly [name: string]: unknown }): Classified {
  const { jsonrpc, id, result: _, error } = members;
  const known = isOwn(members, 'id') && isId(id) ? id : undefined;
  const hasOneOutcome = isOwn(members, 'result') !== isOwn(members, 'error');
  if (jsonrpc !== '2.0' || known === undefined || !hasOneOutcome) return { kind: 'malformed-response', id: known };
  if (isOwn(members, 'error') && !isErrorObject(error)) return { kind: 'malformed-response', id: known };
  return { kind: 'response', message: members as unknown as ResponseMessage };
}

function isErrorObject(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { code, message } = value as { readonly code?: unknown; readonly message?: unknown };
  return Number.isInteger(code) && typeof message === 'string';
}

/** Returns whether a value is a valid identifier. */
export function isId(value: unknown): value is Id {
  if (typeof value === 'string' || value === null) return true;
  if (typeof value !== 'number') return false;
  return Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
}

function invalid(reason: string): { readonly kind: 'invalid'; readonly reason: string } {
  return { kind: 'invalid', reason };
}

function invalidCall(reason: string, members: { readonly [name: string]: unknown }): Classified {
  return { ...invalid(reason), ...idOf(members), isCall: true };
}

function idOf(members: { readonly [name: string]: unknown }): { readonly id?: Id } {
  const id = isOwn(members, 'id') ? members['id'] : undefined;
  return isId(id) ? { id } : {};
}
