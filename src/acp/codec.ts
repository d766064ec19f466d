import { type Scalars, scalarMembers } from '../text/json-text.js';
import { ERROR_CODES } from './errors.js';
import { type Classified, classify, type ErrorObject, type Id, isId, type Params } from './message.js';

/** The default maximum number of entries in a batch. */
export const MAX_BATCH = 4096;

/** A text that was received, and what it contains. */
export type Incoming =
  | { readonly kind: 'one'; readonly item: Classified }
  | { readonly kind: 'batch'; readonly items: readonly Classified[] }
  | InvalidText;

/** A text that is rejected as a whole. */
export interface InvalidText {
  readonly kind: 'invalid-text';
  readonly rpcCode: number;
  readonly reason: string;
  readonly partial: PartialMessage;
  /** The responses in a rejected batch, which are valid nevertheless. */
  readonly responses: readonly Classified[];
}

/** Options of {@link readIncoming}. */
export interface ReadOptions {
  readonly maxBatch: number;
  /** Returns whether batches are accepted. */
  readonly acceptsBatches: () => boolean;
}

/**
 * Reads one JSON document.
 *
 * Source: ACP, transports, "JSON-RPC Batch Messages": a text that is not JSON and an empty array are one error each; of a batch,
 * each entry is checked separately.
 *
 * @param isUnterminated `true` if the text may be truncated by the end of the connection
 */
export function readIncoming(
  text: string,
  { maxBatch, acceptsBatches }: ReadOptions,
  isUnterminated = false,
): Incoming {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return invalidText(isUnterminated ? '' : text);
  }
  if (!Array.isArray(value)) return { kind: 'one', item: classify(value) };
  if (value.length === 0) return rejected('a batch must have at least one entry', []);
  const items = value.map(classify);
  // The response to a batch of this side is accepted, whatever its length.
  if (items.every(isResponse)) return { kind: 'batch', items };
  if (value.length > maxBatch) return rejected(`a batch must have at most ${maxBatch} entries`, items);
  if (!acceptsBatches()) return rejected('batches are not accepted', items);
  return { kind: 'batch', items };
}

/** Rejects a text that is not JSON. */
export function invalidText(text: string): InvalidText {
  const { parseError: rpcCode } = ERROR_CODES;
  return { kind: 'invalid-text', rpcCode, reason: 'Parse error', partial: readPartially(text), responses: [] };
}

/** Returns whether a value is a response, valid or not. */
export function isResponse({ kind }: Classified): boolean {
  return kind === 'response' || kind === 'malformed-response';
}

function rejected(reason: string, items: readonly Classified[]): InvalidText {
  const { invalidRequest: rpcCode } = ERROR_CODES;
  return {
    kind: 'invalid-text',
    rpcCode,
    reason: `Invalid request: ${reason}`,
    partial: readPartially(''),
    responses: items.filter(isResponse),
  };
}

/** The readable part of a rejected text, which may be truncated, too long or not JSON. */
export interface PartialMessage {
  /** The identifiers of messages without a method, which may be responses to calls of this side. */
  readonly answers: readonly Id[];
  /** `true` if the text contains only responses, which are never answered. */
  readonly isResponse: boolean;
  /** The identifier for the error response; `undefined` for a batch, which is rejected as a whole. */
  readonly id: Id | undefined;
}

const NAMES: ReadonlySet<string> = new Set(['id', 'method', 'params', 'result', 'error']);

/** Reads the identifiers in a message or batch that cannot be parsed. */
export function readPartially(text: string): PartialMessage {
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
 * Returns the identifier in the `data` of an error whose id is `null`. This implementation puts the identifier there, and the official SDK the
 * rejected message. A rejected response is not a call of this side.
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
 * @throws TypeError if the method is not a string, or the params are neither an array nor an object, or cannot be serialized: cyclic, or with a
 *   bigint
 * @throws RangeError if the params nest too deeply
 */
export function callText(id: number | undefined, method: string, params: Params | undefined): string {
  if (typeof method !== 'string') throw new TypeError('the method must be a string');
  const head = id === undefined ? '{"jsonrpc":"2.0"' : `{"jsonrpc":"2.0","id":${id}`;
  const name = JSON.stringify(method);
  if (params === undefined) return `${head},"method":${name}}`;
  const text: string | undefined = JSON.stringify(params);
  // A Date, a function, or the result of `toJSON` may be something else.
  if (text === undefined || !/^[[{]/.test(text)) throw new TypeError('params must be an array or an object');
  return `${head},"method":${name},"params":${text}}`;
}

/** Writes a response. A result that cannot be serialized becomes an error; a missing one is `null`. */
export function resultText(id: Id, result: unknown): string {
  let value: string | undefined;
  try {
    value = JSON.stringify(result);
  } catch {
    return errorText(id, {
      code: ERROR_CODES.internalError,
      message: 'Internal error: the result cannot be serialized as JSON',
    });
  }
  return `{"jsonrpc":"2.0","id":${idText(id)},"result":${value ?? 'null'}}`;
}

/** Writes an error response, without `data` if that cannot be serialized. */
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
 * Writes an error response with the id `null`. An identifier that can be read is added as `data.id`, where the official SDK puts it, too.
 *
 * Source: JSON-RPC 2.0, section 5: the id of Parse error and Invalid Request is null; ACP, transports, "JSON-RPC Batch Messages": also for the
 * entries of a batch.
 */
export function invalidTextError(rpcCode: number, reason: string, id?: Id): string {
  const error = { code: rpcCode, message: reason };
  return errorText(null, id === undefined || id === null ? error : { ...error, data: { id } });
}

/** Writes the error that replaces a response that is too long. */
export function tooLongResponse(id: Id | undefined): string {
  return errorText(id ?? null, {
    code: ERROR_CODES.internalError,
    message: 'Internal error: the response is too long',
  });
}

function idText(id: Id): string {
  return typeof id === 'number' ? String(id) : JSON.stringify(id);
}

/** Writes the error response to a message that exceeds the limit of this side. */
export function tooLongRequest(id: Id | undefined, limit: number): string {
  const message = `Invalid request: a message must have at most ${limit} bytes`;
  return errorText(id ?? null, { code: ERROR_CODES.invalidRequest, message });
}

/** The maximum number of consecutive invalid texts that are answered: two sides could answer each other's errors forever. */
const MAX_ERRORS = 1000;

/** Limits the responses to consecutive texts that are not JSON. JSON that is not a message is always answered. */
export class ErrorLimit {
  #errors = 0;

  /** Counts an error. @returns `true` if it is answered */
  answers(rpcCode: number): boolean {
    return rpcCode !== ERROR_CODES.parseError || ++this.#errors <= MAX_ERRORS;
  }

  /** Resets the count, after a valid message. */
  reset(): void {
    this.#errors = 0;
  }
}
