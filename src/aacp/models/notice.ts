/** What a provider tells its host beside the replies. */

/**
 * - `constraint-refused`: the provider does not know, or does not take, the constraint on what is written; from now on the
 *   next one is used.
 * - `grammar-unavailable`: the grammar for this request could not be made; it goes without.
 */
export type ModelNoticeCode = 'constraint-refused' | 'grammar-unavailable';

/** Something that did not stop the request. */
export interface ModelNotice {
  readonly code: ModelNoticeCode;
  /** One or two sentences. */
  readonly message: string;
  /** `anthropic`, `openai`, or the base URL of another server. */
  readonly provider: string;
  /** The constraint that is given up, and the one that takes its place. */
  readonly from: string;
  readonly to: string;
}
