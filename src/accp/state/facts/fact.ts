/** Facts of a checkpoint (draft-benzing-accp-00, section 5.3, step 2). */
import type { JsonObject } from '../../message/json.js';

export type FactValue = string | number | bigint | boolean;

/** A triple: `txn_001`, `status`, `settled`. */
export interface Fact {
  readonly entity: string;
  readonly relation: string;
  readonly value: FactValue;
}

export interface FactSource {
  readonly agent: string;
  readonly intent: string;
  readonly operation: string;
  readonly schema?: string | undefined;
  readonly payload: JsonObject;
}

/** With a weight of about 0 to 10. */
export interface WeighedFact extends Fact {
  readonly weight: number;
  /** Other values of the same relation are kept beside it, as those of a list. */
  readonly among: boolean;
}
