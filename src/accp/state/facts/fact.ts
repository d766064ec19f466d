/** What a checkpoint keeps of its messages (draft-benzing-accp-00, section 5.3, step 2). */
import type { JsonObject } from '../../message/json.js';

/** What a fact may say: a value that a message held. */
export type FactValue = string | number | bigint | boolean;

/** A triple: `txn_001`, `status`, `settled`. */
export interface Fact {
  readonly entity: string;
  readonly relation: string;
  readonly value: FactValue;
}

/** What facts are taken from. */
export interface FactSource {
  readonly agent: string;
  readonly intent: string;
  readonly operation: string;
  readonly schema?: string | undefined;
  readonly payload: JsonObject;
}

/** A fact on its way, with how much it matters: about 0 to 10. */
export interface WeighedFact extends Fact {
  readonly weight: number;
  /** Whether other values of the same relation stand beside it, as those of a list do. */
  readonly among: boolean;
}
