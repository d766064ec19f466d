/** Errors of usage, files and folders. */
import { StoreError } from '../../text/store-error.js';
import { nearest } from '../../text/suggest.js';
import { systemReason } from '../../text/system-reason.js';

/** Wrong usage, unreadable input, a failing program, or an unreachable address: exit code 2. */
export class UsageError extends Error {
  readonly code: 'usage' | 'unreadable' | 'target' | 'address' | 'unreachable';
  /** Lines shown unchanged below the message. */
  readonly below: string | undefined;

  constructor(message: string, code: UsageError['code'] = 'usage', below?: string) {
    super(message);
    this.code = code;
    this.below = below;
  }
}

/** Returns `; did you mean "check"?`, or nothing. */
export function didYouMean(word: string, candidates: readonly string[], prefix = ''): string {
  const near = nearest(word, candidates);
  return near === undefined ? '' : `; did you mean "${prefix}${near}"?`;
}

/** Only estimates are available. */
export function notExact(encoding: string): UsageError {
  return new UsageError(
    `--encoding ${encoding} needs the package gpt-tokenizer for exact counts: npm install gpt-tokenizer`,
    'unreadable',
  );
}

/** A message in place of a file name. */
const MESSAGE = /^@.*>|^[A-Z]+\|/;

const MAX_NAME = 100;

export function unreadable(thrown: unknown, name: string): UsageError {
  const hint = MESSAGE.test(name) ? '; messages are read from a file or from stdin, not from the arguments' : '';
  return fileError('read', name, `${systemReason(thrown)}${hint}`);
}

export function unwritable(thrown: unknown, name: string): UsageError {
  return notWritable(name, systemReason(thrown, 'there is no such folder'));
}

/** Turns an error of a store into an error of usage. */
export function storeFault(thrown: unknown): unknown {
  return thrown instanceof StoreError ? new UsageError(thrown.message, 'unreadable') : thrown;
}

/** @param reason part of a sentence */
export function notWritable(name: string, reason: string): UsageError {
  return fileError('write', name, reason);
}

function fileError(what: 'read' | 'write', name: string, reason: string): UsageError {
  const shown = name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}...` : name;
  return new UsageError(`Cannot ${what} ${shown === '' ? '""' : shown}: ${reason}`, 'unreadable');
}
