/** A string or a safe integer in messages of this side; others may be fractional or `null`, which is then a request all the same. */
export type Id = string | number | null;

/** An array, by position, or an object, by name. */
export type Params = object;

export interface RequestMessage extends NotificationMessage {
  readonly id: Id;
}

export interface NotificationMessage {
  readonly jsonrpc: '2.0';
  readonly method: string;
  readonly params?: Params;
}

export interface ErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export interface SuccessMessage {
  readonly jsonrpc: '2.0';
  readonly id: Id;
  readonly result: unknown;
}

export interface FailureMessage {
  readonly jsonrpc: '2.0';
  readonly id: Id;
  readonly error: ErrorObject;
}

export type CallMessage = RequestMessage | NotificationMessage;
export type ResponseMessage = SuccessMessage | FailureMessage;
export type Message = CallMessage | ResponseMessage;
/** Several messages that travel as one. */
export type BatchMessage = readonly Message[];

/**
 * The kind of a value.
 *
 * `malformed-response`: it has a result or an error and no method, but is not a valid response. Like any response it is never
 * answered, or two sides could go on for ever. Both it and an invalid message have their `id` if it can be read. An invalid message
 * without a method may have been meant as a response.
 */
export type Classified =
  | { readonly kind: 'request'; readonly message: RequestMessage }
  | { readonly kind: 'notification'; readonly message: NotificationMessage }
  | { readonly kind: 'response'; readonly message: ResponseMessage }
  | { readonly kind: 'malformed-response'; readonly id: Id | undefined }
  | { readonly kind: 'invalid'; readonly reason: string; readonly id?: Id; readonly isCall?: boolean };

const isOwn = Object.hasOwn;

/**
 * Classifies a value.
 *
 * Source: JSON-RPC 2.0, sections 4 and 5. An integer that a double does not keep is not a valid identifier: it would come back changed.
 */
export function classify(value: unknown): Classified {
  if (typeof value !== 'object' || value === null) return invalid('a message is an object');
  if (Array.isArray(value)) return invalid('a message is an object, and a batch has no batches in it');
  const members = value as { readonly [name: string]: unknown };
  // Members of Object.prototype do not count.
  if (!isOwn(members, 'method')) {
    if (isOwn(members, 'result') || isOwn(members, 'error')) return response(members);
    return { ...invalid('a message has a method, a result or an error'), ...idOf(members) };
  }
  if (!isOwn(members, 'jsonrpc') || members['jsonrpc'] !== '2.0') return invalidCall('"jsonrpc" is "2.0"', members);
  if (typeof members['method'] !== 'string') return invalidCall('"method" is a string', members);
  if (isOwn(members, 'params') && (typeof members['params'] !== 'object' || members['params'] === null))
    return invalidCall('"params" is an array or an object', members);
  if (!isOwn(members, 'id')) return { kind: 'notification', message: value as NotificationMessage };
  if (!isId(members['id'])) return invalidCall('"id" is a string, a number that keeps its digits, or null', members);
  return { kind: 'request', message: value as RequestMessage };
}

function response(members: { readonly [name: string]: unknown }): Classified {
  const { jsonrpc, id, result: _, error } = members;
  const known = isOwn(members, 'id') && isId(id) ? id : undefined;
  const isOne = isOwn(members, 'result') !== isOwn(members, 'error');
  if (jsonrpc !== '2.0' || known === undefined || !isOne) return { kind: 'malformed-response', id: known };
  if (isOwn(members, 'error') && !isErrorObject(error)) return { kind: 'malformed-response', id: known };
  return { kind: 'response', message: members as unknown as ResponseMessage };
}

function isErrorObject(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { code, message } = value as { readonly code?: unknown; readonly message?: unknown };
  return Number.isInteger(code) && typeof message === 'string';
}

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
