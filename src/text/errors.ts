import type { SourceName } from './code-frame.js';
import { formatReport } from './diagnostic.js';
import type { Span } from './span.js';

/** The JSON form of an error, as returned by `toJSON()` and printed by the command line with `--json`. */
export interface ErrorJson {
  /** The name of the error's class, such as `ParseError`. */
  readonly name: string;
  /** The stable code, such as `E1001`. */
  readonly code: string;
  /** The problem, in one or more sentences. */
  readonly message: string;
  /** The position in the input, in UTF-16 code units; `null` if the error has no position. */
  readonly span: Span | null;
  /** Phrases for valid input at the position; empty if the input was well-formed but not allowed. */
  readonly expected: readonly string[];
  /** The input at the position; `null` at its end. */
  readonly found: string | null;
  /** A way to fix the problem, if one is known. */
  readonly help?: string;
  /** The cause of a `ParseError` or `StoreError`. */
  readonly reason?: string;
  /** The position of a `PrintError` in the tree. */
  readonly path?: string;
}

/** The texts of an error. */
interface Explanation {
  readonly message: string;
  readonly expected?: readonly string[];
  readonly found?: string | null;
  readonly help?: string | undefined;
}

interface Position {
  readonly code: string;
  readonly text?: string;
  readonly span?: Span | null;
}

/** The code, position and texts of an error. `explain` computes the texts when they are first read. */
export type ErrorDetails = Position &
  (
    | (Explanation & { readonly explain?: undefined })
    | { readonly message?: undefined; readonly explain: () => Explanation }
  );

/** The base class of all errors that the library throws, except for misuse, which is a `TypeError` or `RangeError`. */
export class PegwireError extends Error {
  /** The name of the class. */
  override readonly name: string = 'PegwireError';
  /** A stable code, part of the public interface: `E1001`, `empty-field`, ... */
  readonly code: string;
  /** The position in the input, in UTF-16 code units; `null` if the error is not about a position in a text. */
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

  // Computed lazily: many callers read the code and position only.
  get #explained(): Explanation {
    if (typeof this.#explanation === 'function') this.#explanation = this.#explanation();
    return this.#explanation;
  }

  /** The problem, in one or more sentences. Like `expected`, `found` and `help`, it is computed when it is first read. */
  override get message(): string {
    return this.#explained.message;
  }

  /** Replaces the message, as with any `Error`. */
  override set message(value: string) {
    Object.defineProperty(this, 'message', { value, writable: true, configurable: true });
  }

  /** Phrases for valid input at the position; empty if the input was well-formed but not allowed. */
  get expected(): readonly string[] {
    return this.#explained.expected ?? [];
  }

  /** The input at the position; `null` at the end of the input, or if the error is not about a character. */
  get found(): string | null {
    return this.#explained.found ?? null;
  }

  /** A way to fix the problem, if one is known. */
  get help(): string | undefined {
    return this.#explained.help;
  }

  /** Formats the error for people, with a code frame and help: several lines, without a final line end. */
  format(source?: SourceName): string {
    return formatReport(this, 'error', this.#text, source);
  }

  /** Returns the error as JSON data. */
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

/**
 * The reason why a text was rejected.
 *
 * - `syntax`: it does not match the grammar
 * - `duplicate-key`: two entries of one map or list of parameters have the same key
 * - `limit`: it exceeds one of the `Limits`, which the caller can raise
 * - `not-a-string`: it is not a string at all
 */
export type ParseReason = 'syntax' | 'duplicate-key' | 'limit' | 'not-a-string';

/** The details of a {@link ParseError}. */
export type ParseErrorDetails = ErrorDetails & { readonly reason: ParseReason };

/** The error of a parser: a text is not a message of its language. */
export class ParseError extends PegwireError {
  /** The name of the class. */
  override readonly name: string = 'ParseError';
  /** The reason why the text was rejected. */
  readonly reason: ParseReason;

  constructor(details: ParseErrorDetails) {
    super(details);
    this.reason = details.reason;
  }

  override toJSON(): ErrorJson {
    return { ...super.toJSON(), reason: this.reason };
  }
}

/** The error of a printer: a tree has no text that reads back as the same tree. */
export class PrintError extends PegwireError {
  /** The name of the class. */
  override readonly name: string = 'PrintError';
  /** The position in the tree: `payload.args.q`, `metadata.mid`, `fields[2].value`. */
  readonly path: string;

  constructor(details: Position & Explanation & { readonly path: string }) {
    super({ ...details, message: `${details.path}: ${details.message}` });
    this.path = details.path;
  }

  override toJSON(): ErrorJson {
    return { ...super.toJSON(), path: this.path };
  }
}

/** The result of a `tryX` function: the value of the function without `try`, or the error that it throws. */
export type Result<T, E> =
  | {
      /** `true` if there is a value. */
      readonly ok: true;
      /** The value. */
      readonly value: T;
    }
  | {
      /** `false` if there is an error. */
      readonly ok: false;
      /** The error. */
      readonly error: E;
    };
