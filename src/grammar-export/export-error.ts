import { PegwireError } from '../text/errors.js';

/** A grammar that a format cannot say. */
export class ExportError extends PegwireError {
  override readonly name: string = 'ExportError';
  /** Stable: what a program may go by. */
  declare readonly code: 'not-context-free' | 'not-regular' | 'too-large' | 'ambiguous' | 'empty-language';
  /** The rule of the grammar that it is about; null where it is about all of them. */
  readonly rule: string | null;

  constructor(code: ExportError['code'], message: string, rule: string | null = null) {
    super({ code, message });
    this.rule = rule;
  }
}
