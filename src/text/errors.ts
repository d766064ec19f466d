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

export interface ErrorDetails {
  readonly code: string;
  readonly message: string;
  readonly text?: string;
  readonly span?: Span | null;
  readonly expected?: readonly string[];
  readonly found?: string | null;
  readonly help?: string | undefined;
}

/** Every error that pegwire raises about its input. Wrong use of the library itself is a plain `TypeError`. */
export class PegwireError extends Error {
  override readonly name: string = 'PegwireError';
  /** Stable, and part of the public contract: `E1001`, `empty-field`, ... */
  readonly code: string;
  /** Where in the input, in UTF-16 code units; `null` when the error is about a node and not about a text. */
  readonly span: Span | null;
  /** What could have stood there, as phrases; empty when the text was well-formed but not allowed. */
  readonly expected: readonly string[];
  /** What stands there; `null` at the end of the input or when nothing particular does. */
  readonly found: string | null;
  /** What to do about it, where that is known. */
  readonly help: string | undefined;
  readonly #text: string;

  constructor(details: ErrorDetails) {
    super(details.message);
    this.code = details.code;
    this.span = details.span ?? null;
    this.expected = details.expected ?? [];
    this.found = details.found ?? null;
    this.help = details.help;
    this.#text = details.text ?? '';
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

/**
 * Why a text was refused: it breaks the grammar, it repeats a key, it goes beyond a limit that the caller can raise, or it
 * is no text at all.
 */
export type ParseReason = 'syntax' | 'duplicate-key' | 'limit' | 'not-a-string';

/** A text that is not a message of the language. */
export class ParseError extends PegwireError {
  override readonly name: string = 'ParseError';
  readonly reason: ParseReason;

  constructor(details: ErrorDetails & { readonly reason: ParseReason }) {
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

  constructor(details: ErrorDetails & { readonly path: string }) {
    super({ ...details, message: `${details.path}: ${details.message}` });
    this.path = details.path;
  }

  override toJSON(): ErrorJson {
    return { ...super.toJSON(), path: this.path };
  }
}
