/** The error of rule libraries as a whole. What is wrong with single rules is reported, and stops nothing. */
import { type ErrorDetails, PegwireError } from '../../text/errors.js';

/**
 * - `bad-rules`: no JSON, or neither a list of rules nor `{ "rules": [...] }`.
 * - `bad-slot`: braces in a phrase or a packet that hold no slot.
 * - `hash-mismatch`: another file than the one that was pinned.
 * - `rules-unavailable`: the file or the address cannot be read.
 * - `rules-too-large`: beyond the limit for what comes from elsewhere.
 */
export type RulesErrorCode = 'bad-rules' | 'bad-slot' | 'hash-mismatch' | 'rules-unavailable' | 'rules-too-large';

/** There is no library to be had from this source. */
export class RulesError extends PegwireError {
  override readonly name: string = 'RulesError';
  declare readonly code: RulesErrorCode;

  constructor(
    details: ErrorDetails & { readonly code: RulesErrorCode; readonly message: string },
    options: ErrorOptions = {},
  ) {
    super(details, options);
  }
}
