/** From a text to what it says: one message, a batch, or neither. */
import { ERROR_CODES } from './errors.js';
import { type Classified, classify } from './message.js';

/** Most entries of a batch. */
export const MAX_BATCH = 4096;

/** What a text says. A `fault` is answered by one error with the id `null`. */
export type Arrival =
  | { readonly kind: 'one'; readonly item: Classified }
  | { readonly kind: 'batch'; readonly items: readonly Classified[] }
  | { readonly kind: 'fault'; readonly rpcCode: number; readonly reason: string };

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
 */
export function readArrival(text: string, { maxBatch, takesBatches }: ReadingOptions): Arrival {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: 'fault', rpcCode: ERROR_CODES.parseError, reason: 'Parse error' };
  }
  if (!Array.isArray(value)) return { kind: 'one', item: classify(value) };
  if (value.length === 0) return refused('Invalid request: a batch has at least one entry');
  if (value.length > maxBatch) return refused(`Invalid request: a batch has at most ${maxBatch} entries`);
  const items = value.map(classify);
  // The answer to a batch of ours is one that was asked for.
  if (!takesBatches() && !items.every(isResponse)) return refused('Invalid request: batches are not taken here');
  return { kind: 'batch', items };
}

export function isResponse({ kind }: Classified): boolean {
  return kind === 'response' || kind === 'malformed-response';
}

function refused(reason: string): Arrival {
  return { kind: 'fault', rpcCode: ERROR_CODES.invalidRequest, reason };
}
