/** From a text to what it says: one message, a batch, or neither. */
import { ERROR_CODES } from './errors.js';
import { type Classified, classify } from './message.js';
import { type Sketch, sketch } from './sketch.js';

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
