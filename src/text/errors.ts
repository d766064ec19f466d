import type { SourceName } from './code-frame.js';
import { formatReport } from './diagnostic.js';
import type { Span } from './span.js';

/** The JSON form of an error: what `toJSON()` gives and the command line prints under `--json`. */
export interface ErrorJson {
  readonly name: string;
  readonly code: string;
  readonly message: string;
  readonly span: Span | null;
  readonly expected: readonly string[];
  readonly found: string | null;
  readonly help?: string;
  readonly reason?: string;
  readonly path?: string;
}

/** What an error has to say in words. */
interface Explanation {
  readonly message: string;
  readonly expected?: readonly string[];
  readonly found?: string | null;
  readonly help?: string | undefined;
}

interface Place {
  readonly code: string;
  readonly text?: string;
  readonly span?: Span | null;
}

/** An error's code and place, and its words: at once, or from a function that is called when they are first read. */
export type ErrorDetails = Place &
  (
    | (Explanation & { readonly explain?: undefined })
    | { readonly message?: undefined; readonly explain: () => Explanation }
  );

/** The base of every error that a caller can meet, except wrong use of the library: a `TypeError` or `RangeError`. */
export class PegwireError extends Error {
  override readonly name: string = 'PegwireError';
  /** Stable, and part of the public contract: `E1001`, `empty-field`, ... */
  readonly code: string;
  /** Where in the input, in UTF-16 code units; `null` when the error is about a node and not about a text. */
  readonly span: Span | null;
  readonly #text: string;
  #explanation: Explanation | (() => Explanation);

  constructor(details: ErrorDetails, options?: ErrorOptions) {
    // With `{ cause: undefined }`, Error would show a cause.
    super(details.message, options?.cause === undefined ? undefined : options);
    this.code = details.code;
    this.span = details.span ?? null;
    this.#text = details.text ?? '';
    this.#explanation = details.explain ?? details;
  }

  /** Whoever only wants code and place does not pay for the words. */
  get #explained(): Explanation {
    if (typeof this.#explanation === 'function') this.#explanation = this.#explanation();
    return this.#explanation;
  }

  /** One or more sentences. Worked out when it is first read, like what was expected and the help. */
  override get message(): string {
    return this.#explained.message;
  }

  /** As with any error, the message can be replaced. */
  override set message(value: string) {
    Object.defineProperty(this, 'message', { value, writable: true, configurable: true });
  }

  /** What could have stood there, as phrases; empty when the text was well-formed but not allowed. */
  get expected(): readonly string[] {
    return this.#explained.expected ?? [];
  }

  /** What stands there; `null` at the end of the input or when nothing particular does. */
  get found(): string | null {
    return this.#explained.found ?? null;
  }

  /** What to do about it, where that is known. */
  get help(): string | undefined {
    return this.#explained.help;
  }

  /** The error with its caret frame and help, for people. Several lines, no line end after the last. */
  format(source?: SourceName): string {
    return formatReport(this, 'error', this.#text, source);
  }

  /** The error as data. */
  toJSON(): ErrorJson {
    return {
      name: this.name,
      code: this.code,
      message: this.message,
      span: this.span,
      expected: this.expected,
      found: this.found,
      ...(this.help === undefined ? {} : { help: this.help }),
    };
  }
}

/** `limit`: beyond one that the caller can raise. */
export type ParseReason = 'syntax' | 'duplicate-key' | 'limit' | 'not-a-string';

export type ParseErrorDetails = ErrorDetails & { readonly reason: ParseReason };

/** A text that is not a message of the language. */
export class ParseError extends PegwireError {
  override readonly name: string = 'ParseError';
  readonly reason: ParseReason;

  constructor(details: ParseErrorDetails) {
    super(details);
    this.reason = details.reason;
  }

  override toJSON(): ErrorJson {
    return { ...super.toJSON(), reason: this.reason };
  }
}

/** A tree that cannot be written so that it reads back as itself. */
export class PrintError extends PegwireError {
  override readonly name: string = 'PrintError';
  /** The place in the tree: `payload.args.q`, `metadata.mid`, `fields[2].value`. */
  readonly path: string;

  constructor(details: Place & Explanation & { readonly path: string }) {
    super({ ...details, message: `${details.path}: ${details.message}` });
    this.path = details.path;
  }

  override toJSON(): ErrorJson {
    return { ...super.toJSON(), path: this.path };
  }
}

/** What a `tryX` function returns: the value, or the error that the throwing twin would have thrown. */
export type Result<T, E> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: E };
