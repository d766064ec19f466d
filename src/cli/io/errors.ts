/** Errors that end a command. */
import type { PegwireError } from '../../text/errors.js';
import { StoreError } from '../../text/store-error.js';
import { nearest } from '../../text/suggest.js';
import { systemReason } from '../../text/system-reason.js';

/**
 * - `usage`: the arguments are wrong.
 * - `unreadable`: a file or stdin cannot be read as text.
 * - `unwritable`: a file, a folder or the output cannot be written.
 * - `missing-package`: an optional package is not installed.
 * - `module`: the module of `arcp serve --module` cannot be loaded.
 * - `target`: the program to test or to run cannot be used.
 * - `address`: a server cannot listen.
 * - `unreachable`: a connection cannot be opened, or was lost.
 */
export type CliErrorCode =
  | 'usage'
  | 'unreadable'
  | 'unwritable'
  | 'missing-package'
  | 'module'
  | 'target'
  | 'address'
  | 'unreachable';

/** An error that ends a command with exit code 2: incorrect usage, or a file, address or program that cannot be used. */
export class UsageError extends Error {
  /** A code of the command line, or that of the library error. */
  readonly code: CliErrorCode | (string & {});
  /** Lines to print unchanged below the message. */
  readonly below: string | undefined;
  readonly help: string | undefined;

  constructor(
    message: string,
    code: UsageError['code'] = 'usage',
    { below, help }: { readonly below?: string | undefined; readonly help?: string | undefined } = {},
  ) {
    super(message);
    this.code = code;
    this.below = below;
    this.help = help;
  }
}

/** Returns `; did you mean "check"?`, or nothing. */
export function didYouMean(word: string, candidates: readonly string[], prefix = ''): string {
  const near = nearest(word, candidates);
  return near === undefined ? '' : `; did you mean "${prefix}${near}"?`;
}

/** Returns the error for an encoding whose tokens can only be estimated. */
export function notExact(encoding: string): UsageError {
  return new UsageError(
    `--encoding ${encoding} requires the package gpt-tokenizer for exact counts: npm install gpt-tokenizer`,
    'missing-package',
  );
}

/** A message where a file name is expected. */
const MESSAGE = /^@.*>|^[A-Z]+\|/;

const MAX_NAME = 100;

/** Returns the error of a file that cannot be read. */
export function unreadable(thrown: unknown, name: string): UsageError {
  const hint = MESSAGE.test(name) ? '; pass messages in a file or on stdin, not as arguments' : '';
  return fileError('unreadable', name, `${systemReason(thrown)}${hint}`);
}

/** Returns the error of a file or folder that cannot be written. */
export function unwritable(thrown: unknown, name: string): UsageError {
  return notWritable(name, systemReason(thrown, 'there is no such folder'));
}

/** Converts the error of a store; returns any other value unchanged. */
export function storeFault(thrown: unknown): unknown {
  return thrown instanceof StoreError ? libraryFault(thrown) : thrown;
}

/** Converts an error of the library, whose code it keeps. @param file the file whose content is the cause, if there is one */
export function libraryFault({ code, message, help }: PegwireError, file?: string): UsageError {
  const shown = message.replace(/\.$/, '');
  return new UsageError(file === undefined ? shown : `${file}: ${shown}`, code, { help });
}

/** Returns the error of a file or folder that cannot be read. @param reason part of a sentence */
export function notReadable(name: string, reason: string): UsageError {
  return fileError('unreadable', name, reason);
}

/** Returns the error of a file or folder that cannot be written. @param reason part of a sentence */
export function notWritable(name: string, reason: string): UsageError {
  return fileError('unwritable', name, reason);
}

function fileError(code: 'unreadable' | 'unwritable', name: string, reason: string): UsageError {
  const shown = name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}...` : name;
  return new UsageError(
    `Cannot ${code === 'unreadable' ? 'read' : 'write'} ${shown === '' ? '""' : shown}: ${reason}`,
    code,
  );
}
