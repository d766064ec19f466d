/** From a text to what it says: one message, a batch, or neither. */

import { type Scalars, scalarMembers } from '../text/json-text.js';
import { ERROR_CODES } from './errors.js';
import { type Classified, classify, type ErrorObject, type Id, isId, type Params } from './message.js';
/** Most entries of a batch. */
export const MAX_BATCH = 4096;

/** What a text says. */
export type Arrival =
  | { readonly kind: 'one'; readonly item: Classified }
  | { readonly kind: 'batch'; readonly items: readonly Classified[] }
  | Fault;

/** A text that is refused as a whole. It is answered by one error with the id `null`. */
export interface Fault {
  readonly kind: 'fault';
  readonly rpcCode: number;
  readonly reason: string;
  readonly sketch: Sketch;
  /** The responses of a batch that is not taken: they count all the same. */
  readonly responses: readonly Classified[];
}

/** What is taken. */
export interface ReadingOptions {
  /** Most entries of a batch. */
  readonly maxBatch: number;
  /** Whether batches are taken at all. */
  readonly takesBatches: () => boolean;
}

/**
 * Reads one JSON document.
 *
 * Source: ACP, transports, "JSON-RPC Batch Messages": a text that is no JSON and an empty array are one error each; of a batch,
 * each entry is judged by itself.
 *
 * @param isUnended the text may have been cut off by the end of the connection, which says more to those who wait for it
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
  // The answer to a batch of ours is one that was asked for.
  if (items.every(isResponse)) return { kind: 'batch', items };
  if (value.length > maxBatch) return refused(`a batch has at most ${maxBatch} entries`, items);
  if (!takesBatches()) return refused('batches are not taken here', items);
  return { kind: 'batch', items };
}

/** A text that is not JSON, or of which there is only the beginning. */
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

/** What a refused text says, as far as it can be read: it may be cut off, too long or not JSON. */
export interface Sketch {
  /** Identifiers of messages without a method: calls of this side that it may have answered. */
  readonly answers: readonly Id[];
  /** It holds nothing but responses, which are never answered. */
  readonly isResponse: boolean;
  /** The identifier that its refusal names; `undefined` for a batch, which is refused as a whole. */
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
 * Returns the identifier that an error without one names in its `data`: our refusals do, and the official SDK has the refused message there.
 * A refused message that is a response is none of the calls of this side.
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
 * A call as JSON: a notification where there is no `id`.
 *
 * @throws TypeError on a method that is no name, and on params that are neither an array nor an object, or have no JSON: cyclic,
 * with a bigint
 * @throws RangeError on params that are too deep
 */
export function callText(id: number | undefined, method: string, params: Params | undefined): string {
  if (typeof method !== 'string') throw new TypeError('a method is a string');
  const head = id === undefined ? '{"jsonrpc":"2.0"' : `{"jsonrpc":"2.0","id":${id}`;
  const name = JSON.stringify(method);
  if (params === undefined) return `${head},"method":${name}}`;
  const text: string | undefined = JSON.stringify(params);
  // A Date, a function, or what a `toJSON` gives may be neither.
  if (text === undefined || !/^[[{]/.test(text)) throw new TypeError('params are an array or an object');
  return `${head},"method":${name},"params":${text}}`;
}

/** A response as JSON. A result that has no JSON becomes an error; one that is not there is `null`. */
export function resultText(id: Id, result: unknown): string {
  let value: string | undefined;
  try {
    value = JSON.stringify(result);
  } catch {
    return errorText(id, { code: ERROR_CODES.internalError, message: 'Internal error: the result has no JSON' });
  }
  return `{"jsonrpc":"2.0","id":${idText(id)},"result":${value ?? 'null'}}`;
}

/** An error as JSON; its `data` is left out where it has none. */
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
 * One error with the id `null`.
 *
 * Source: JSON-RPC 2.0, section 5: the id of a Parse error and of an Invalid Request is null; ACP, transports, "JSON-RPC Batch Messages", says so of
 * the entries of a batch, too. An id that can be read stands in `data`, where the official SDK has the refused message.
 */
export function faultText(rpcCode: number, reason: string, id?: Id): string {
  const error = { code: rpcCode, message: reason };
  return errorText(null, id === undefined || id === null ? error : { ...error, data: { id } });
}

/** Stands for a response that is too long to be sent. */
export function tooLongText(id: Id | undefined): string {
  return errorText(id ?? null, { code: ERROR_CODES.internalError, message: 'Internal error: the answer is too long' });
}

function idText(id: Id): string {
  return typeof id === 'number' ? String(id) : JSON.stringify(id);
}

/** Refuses a message that is longer than is read here. */
export function overLimitText(id: Id | undefined, limit: number): string {
  const message = `Invalid request: a message has at most ${limit} bytes`;
  return errorText(id ?? null, { code: ERROR_CODES.invalidRequest, message });
}

/** Texts in a row that are no JSON and are answered: two sides that answer each other's junk would never end. */
const MAX_FAULTS = 1000;

/** Counts texts that are no JSON, until a message comes. What is JSON and no message is always answered. */
export class FaultLimit {
  #faults = 0;

  /** @returns whether a fault is answered */
  answers(rpcCode: number): boolean {
    return rpcCode !== ERROR_CODES.parseError || ++this.#faults <= MAX_FAULTS;
  }

  /** A message has come. */
  reset(): void {
    this.#faults = 0;
  }
}
