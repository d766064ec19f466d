import { type ErrorJson, PegwireError } from '../../text/errors.js';

/**
 * The reason why a value cannot be rendered.
 *
 * - `not-json`: a value is not JSON, such as `NaN`, a function or a `Date`
 * - `cycle`: a value contains itself
 * - `too-deep`: values nest deeper than 200 levels
 */
export type RenderErrorCode = 'not-json' | 'cycle' | 'too-deep';

/** The error of `renderJson`. */
export class RenderError extends PegwireError {
  /** The name of the class. */
  override readonly name: string = 'RenderError';
  /** The reason. */
  declare readonly code: RenderErrorCode;
  /** The place of the value, such as `value.rows[2].name`; it is cut after eight steps. */
  readonly path: string;

  constructor(code: RenderErrorCode, path: string, problem: string) {
    super({ code, message: `${path}: ${problem}` });
    this.path = path;
  }

  override toJSON(): ErrorJson {
    return { ...super.toJSON(), path: this.path };
  }
}
