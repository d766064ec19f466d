/** One piece of a stream (draft-benzing-accp-00, section 10.4). */
import type { Json } from '../message/json.js';

export interface StreamChunk {
  /** From 0. */
  readonly index: number;
  /** How many chunks the stream has, where the sender knows. */
  readonly total?: number | undefined;
  readonly data: Json;
  /** Whether it is the last one. */
  readonly final: boolean;
}
