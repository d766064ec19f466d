/** What a message may hold: JSON, with exact big integers and with references to state. */
import type { Reference } from './reference.js';

/**
 * A value of a message's payload. A `bigint` stands for an integer beyond 2^53 - 1; a {@link Reference} for a value that
 * lies in state and not in the message.
 */
export type Json = null | boolean | number | bigint | string | Reference | JsonArray | JsonObject;

export type JsonArray = readonly Json[];

/** Objects that pegwire makes have no prototype, so that no key of a message reaches `Object.prototype`. */
export interface JsonObject {
  readonly [key: string]: Json;
}
