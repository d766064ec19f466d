/** The error of the fallback encoder. */
import { type ErrorDetails, type ErrorJson, PegwireError } from '../../text/errors.js';
import type { ModelUsage } from '../models/model.js';

/**
 * The code of a `FallbackError`.
 *
 * - `empty-instruction`, `instruction-too-long`, `not-an-instruction`: the instruction cannot be encoded.
 * - `bad-request`: the domain, agent or priority cannot be written in a packet.
 * - `no-model`: no rule and no entry matches the instruction, and no model is configured.
 * - `model-refused`: the model declined.
 * - `invalid-reply`: neither the first reply of the model nor its correction contains a valid packet.
 * - `unstated-value`: with `strict`, both replies contain values that the instruction does not state.
 * - `pending-elsewhere`: another process is encoding the same instruction, and did not finish in time.
 * - `closed`: the encoder is closed.
 */
export type FallbackErrorCode =
  | 'empty-instruction'
  | 'instruction-too-long'
  | 'not-an-instruction'
  | 'bad-request'
  | 'no-model'
  | 'model-refused'
  | 'invalid-reply'
  | 'unstated-value'
  | 'pending-elsewhere'
  | 'closed';

/** The error thrown when an instruction cannot be encoded. */
export class FallbackError extends PegwireError {
  /** The name of the class. */
  override readonly name: string = 'FallbackError';
  declare readonly code: FallbackErrorCode;
  /** The replies of the model, if it was called: no output that was paid for is lost. */
  readonly replies: readonly string[];
  /** The cost of the calls in US dollars; 0 without a call, `null` if a price is unknown. */
  readonly cost: number | null;
  /** The number of calls, and the tokens that they used. */
  readonly usage: ModelUsage & { readonly calls: number };

  constructor(
    details: ErrorDetails & { readonly code: FallbackErrorCode; readonly message: string },
    paid: {
      readonly replies?: readonly string[];
      readonly cost?: number | null;
      readonly usage?: ModelUsage & { readonly calls: number };
    } = {},
  ) {
    super(details);
    this.replies = paid.replies ?? [];
    this.cost = paid.cost === undefined ? 0 : paid.cost;
    this.usage = paid.usage ?? { calls: 0, inputTokens: 0, outputTokens: 0 };
  }

  override toJSON(): ErrorJson & { readonly cost: number | null; readonly usage: FallbackError['usage'] } {
    return { ...super.toJSON(), cost: this.cost, usage: this.usage };
  }
}
