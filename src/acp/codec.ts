import { type Scalars, scalarMembers } from '../text/json-text.js';
import { ERROR_CODES } from './errors.js';
import { type Classified, classify, type ErrorObject, type Id, isId, type Params } from './message.js';
export const MAX_BATCH = 4096;

export type Arrival =
  | { readonly kind: 'one'; readonly item: Classified }
  | { readonly kind: 'batch'; readonly items: readonly Classified[] }
  | Fault;

export interface Fault {
  readonly kind: 'fault';
  readonly rpcCode: number;
  readonly reason: string;
  readonly sketch: Sketch;
  /** The responses of a refused batch, which count all the same. */
  readonly responses: readonly Classified[];
}

export interface ReadingOptions {
  readonly maxBatch: number;
  /** Whether batches are accepted. */
  readonly takesBatches: () => boolean;
}

/**
 * Reads one JSON document.
 *
 * Source: ACP, transports, "JSON-RPC Batch Messages": a text that is not JSON and an empty array are one error each; of a batch,
 * each entry is judged by itself.
 *
 * @param isUnended the text may have been cut off by the end of the connection
 */
export function readArrival(text: string, { maxBatch, takesBatches }: ReadingOptions, isUnended = false): Arrival {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return unreadable(isUnended ? '' : text);
  }
  if (!Array.isArray(value)) return { kind: 'one', item: classify(value) };
  if (value.length === 0) return refused('a batch has at least one entry', []);
  const items = value.map(classify);
  // The answer to a batch of this side was asked for, whatever its length.
  if (items.every(isResponse)) return { kind: 'batch', items };
  if (value.length > maxBatch) return refused(`a batch has at most ${maxBatch} entries`, items);
  if (!takesBatches()) return refused('batches are not taken here', items);
  return { kind: 'batch', items };
}

export function unreadable(text: string): Fault {
  const { parseError: rpcCode } = ERROR_CODES;
  return { kind: 'fault', rpcCode, reason: 'Parse error', sketch: sketch(text), responses: [] };
}

export function isResponse({ kind }: Classified): boolean {
  return kind === 'response' || kind === 'malformed-response';
}

function refused(why: string, items: readonly Classified[]): Fault {
  const { invalidRequest: rpcCode } = ERROR_CODES;
  const reason = `Invalid request: ${why}`;
  return { kind: 'fault', rpcCode, reason, sketch: sketch(''), responses: items.filter(isResponse) };
}

/** The readable part of a refused text, which may be cut off, too long or not JSON. */
export interface Sketch {
  /** Identifiers of messages without a method: calls of this side that it may have answered. */
  readonly answers: readonly Id[];
  /** It holds only responses, which are never answered. */
  readonly isResponse: boolean;
  /** The identifier for its refusal; `undefined` for a batch, which is refused as a whole. */
  readonly id: Id | undefined;
}

const NAMES: ReadonlySet<string> = new Set(['id', 'method', 'params', 'result', 'error']);

/** Reads the identifiers of a message, or of a batch. */
export function sketch(text: string): Sketch {
  const isBatch = /^\s*\[/.test(text);
  const messages = scalarMembers(text, NAMES, isBatch ? 2 : 1);
  const answers = messages.filter((members) => !isCall(members)).map(idOf);
  return {
    answers: answers.filter((id) => id !== undefined),
    isResponse: messages.some(hasOutcome) && !messages.some(isCall),
    id: isBatch || messages.length === 0 ? undefined : idOf(messages[0]!),
  };
}

/**
 * Returns the identifier in the `data` of an error without an id: our refusals name it, and the official SDK puts the refused message there.
 * A refused response is not a call of this side.
 */
export function idInData({ data }: ErrorObject): Id | undefined {
  if (typeof data !== 'object' || data === null || hasOutcome(data) || !Object.hasOwn(data, 'id')) return undefined;
  return idOf(data as { readonly id: unknown });
}

function isCall(members: Scalars): boolean {
  return 'method' in members || 'params' in members;
}

function hasOutcome(members: object): boolean {
  return Object.hasOwn(members, 'result') || Object.hasOwn(members, 'error');
}

function idOf({ id }: { readonly [name: string]: unknown }): Id | undefined {
  return isId(id) ? id : undefined;
}

/**
 * Writes a call: a notification if there is no `id`.
 *
 * @throws TypeError if the method is not a string, or the params are neither an array nor an object, or have no JSON: cyclic, with a bigint
 * @throws RangeError on params that are too deep
 */
export function callText(id: number | undefined, method: string, params: Params | undefined): string {
  if (typeof method !== 'string') throw new TypeError('a method is a string');
  const head = id === undefined ? '{"jsonrpc":"2.0"' : `{"jsonrpc":"2.0","id":${id}`;
  const name = JSON.stringify(method);
  if (params === undefined) return `${head},"method":${name}}`;
  const text: string | undefined = JSON.stringify(params);
  // A Date, a function, or the result of a `toJSON` may be neither.
  if (text === undefined || !/^[[{]/.test(text)) throw new TypeError('params are an array or an object');
  return `${head},"method":${name},"params":${text}}`;
}

/** Writes a response. A result that has no JSON becomes an error; a missing one is `null`. */
export function resultText(id: Id, result: unknown): string {
  let value: string | undefined;
  try {
    value = JSON.stringify(result);
  } catch {
    return errorText(id, { code: ERROR_CODES.internalError, message: 'Internal error: the result has no JSON' });
  }
  return `{"jsonrpc":"2.0","id":${idText(id)},"result":${value ?? 'null'}}`;
}

export function errorText(id: Id, error: ErrorObject): string {
  let value: string;
  try {
    value = JSON.stringify(error);
  } catch {
    value = JSON.stringify({ code: error.code, message: error.message });
  }
  return `{"jsonrpc":"2.0","id":${idText(id)},"error":${value}}`;
}

/**
 * Writes an error with the id `null`.
 *
 * Source: JSON-RPC 2.0, section 5: the id of a Parse error and of an Invalid Request is null; ACP, transports, "JSON-RPC Batch Messages", says so of
 * the entries of a batch, too. An id that can be read stands in `data`, as in the refused message of the official SDK.
 */
export function faultText(rpcCode: number, reason: string, id?: Id): string {
  const error = { code: rpcCode, message: reason };
  return errorText(null, id === undefined || id === null ? error : { ...error, data: { id } });
}

/** Replaces a response that is too long to be sent. */
export function tooLongText(id: Id | undefined): string {
  return errorText(id ?? null, { code: ERROR_CODES.internalError, message: 'Internal error: the answer is too long' });
}

function idText(id: Id): string {
  return typeof id === 'number' ? String(id) : JSON.stringify(id);
}

/** Refuses a message over the limit of this side. */
export function overLimitText(id: Id | undefined, limit: number): string {
  const message = `Invalid request: a message has at most ${limit} bytes`;
  return errorText(id ?? null, { code: ERROR_CODES.invalidRequest, message });
}

/** Invalid texts in a row that are answered: two sides that answer each other's errors would never end. */
const MAX_FAULTS = 1000;

/** Limits the answers to texts that are not JSON, until a message comes. JSON that is not a message is always answered. */
export class FaultLimit {
  #faults = 0;

  /** @returns whether a fault is answered */
  answers(rpcCode: number): boolean {
    return rpcCode !== ERROR_CODES.parseError || ++this.#faults <= MAX_FAULTS;
  }

  reset(): void {
    this.#faults = 0;
  }
}
