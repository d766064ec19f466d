/** The error of everything that builds packets. */
import { type ErrorDetails, type ErrorJson, PegwireError } from '../../text/errors.js';

/**
 * Why a packet was not built. `separator`: a "|" in a value would begin another field. `list-separator`: a comma in an item
 * would make two of it. `bad-input`: a value of the wrong type or form. `invalid-packet`: what was built does not validate,
 * which only templates and definitions of a user's own can bring about. `unprintable`: a tree is no packet, or cannot be written.
 */
export type EncodeCode =
  | 'separator'
  | 'list-separator'
  | 'control-character'
  | 'whitespace'
  | 'empty-value'
  | 'bad-task'
  | 'bad-dom'
  | 'bad-key'
  | 'duplicate-key'
  | 'bad-input'
  | 'missing-input'
  | 'unknown-input'
  | 'unknown-encoder'
  | 'unknown-method'
  | 'invalid-packet'
  | 'unprintable';

/** What was asked for cannot be written as a packet, or not so that it reads back as itself. Nothing was written. */
export class EncodeError extends PegwireError {
  override readonly name: string = 'EncodeError';
  declare readonly code: EncodeCode;
  /** The input at fault: `supplier`, `fields[2]`, `task`. */
  readonly path: string;

  constructor(details: ErrorDetails & { readonly code: EncodeCode; readonly message: string; readonly path: string }) {
    super({ ...details, message: `${details.path}: ${details.message}` });
    this.path = details.path;
  }

  override toJSON(): ErrorJson {
    return { ...super.toJSON(), path: this.path };
  }
}
