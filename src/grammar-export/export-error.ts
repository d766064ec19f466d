/** A grammar that a format cannot say. */
export class ExportError extends Error {
  /** Stable: what a program may go by. */
  readonly code: 'not-context-free' | 'not-regular' | 'too-large' | 'ambiguous' | 'empty-language';
  /** The rule of the grammar that it is about; null where it is about all of them. */
  readonly rule: string | null;

  constructor(code: ExportError['code'], message: string, rule: string | null = null) {
    super(message);
    this.name = 'ExportError';
    this.code = code;
    this.rule = rule;
  }
}
