/** The errors of the fallback encoder and of its parts. */
import { type ErrorDetails, type ErrorJson, PegwireError } from '../../text/errors.js';
import type { ModelUsage } from '../models/model.js';

/**
 * - `empty-instruction`, `instruction-too-long`, `not-an-instruction`: nothing that could be encoded.
 * - `bad-request`: a domain, an agent or a priority that cannot stand in a packet.
 * - `no-model`: it is novel, and there is no model to ask.
 * - `model-refused`: the model declined.
 * - `invalid-reply`: no valid packet came, the repair round included.
 * - `unstated-value`: with `strict`, the model's packet has values that the instruction does not state, the repair round included.
 * - `pending-elsewhere`: another process asks for the same instruction, and did not end in time.
 * - `closed`: the encoder was closed.
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

/** An instruction was not encoded. */
export class FallbackError extends PegwireError {
  override readonly name: string = 'FallbackError';
  declare readonly code: FallbackErrorCode;
  /** What the model wrote, where it was asked: nothing that was paid for is hidden. */
  readonly replies: readonly string[];
  /** What the calls cost in US dollars; `null` where a price is not known. */
  readonly cost: number | null;
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
