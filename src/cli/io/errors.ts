/** Errors of usage, and of the files and folders that arguments and options name. */
import { nearest } from '../../text/suggest.js';
import { systemReason } from '../../text/system-reason.js';

/**
 * Wrong usage, input that cannot be read, a program that cannot be asked or started, an address that cannot be listened on or
 * reached: exit code 2.
 */
export class UsageError extends Error {
  readonly code: 'usage' | 'unreadable' | 'target' | 'address' | 'unreachable';
  /** Lines that are shown below the message as they are, such as the place in a file with a caret. */
  readonly below: string | undefined;

  constructor(message: string, code: UsageError['code'] = 'usage', below?: string) {
    super(message);
    this.code = code;
    this.below = below;
  }
}

/** `; did you mean "check"?`, or nothing. */
export function didYouMean(word: string, candidates: readonly string[], prefix = ''): string {
  const near = nearest(word, candidates);
  return near === undefined ? '' : `; did you mean "${prefix}${near}"?`;
}

/** The error of counts in an encoding that was asked for, where only estimates are available. */
export function notExact(encoding: string): UsageError {
  return new UsageError(
    `--encoding ${encoding} needs the package gpt-tokenizer for exact counts: npm install gpt-tokenizer`,
    'unreadable',
  );
}

/** A file name that looks like a message. */
const MESSAGE = /^@.*>|^[A-Z]+\|/;

/** Characters of a file name that an error shows. */
const MAX_NAME = 100;

/** The error of a file that cannot be read, from what the operating system threw. */
export function unreadable(thrown: unknown, name: string): UsageError {
  const hint = MESSAGE.test(name) ? '; messages are read from a file or from stdin, not from the arguments' : '';
  return fileError('read', name, `${systemReason(thrown)}${hint}`);
}

/** The error of a file or folder that cannot be written, from what the operating system threw. */
export function unwritable(thrown: unknown, name: string): UsageError {
  return notWritable(name, systemReason(thrown, 'there is no such folder'));
}

/** @param reason part of a sentence */
export function notWritable(name: string, reason: string): UsageError {
  return fileError('write', name, reason);
}

function fileError(what: 'read' | 'write', name: string, reason: string): UsageError {
  const shown = name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}...` : name;
  return new UsageError(`Cannot ${what} ${shown === '' ? '""' : shown}: ${reason}`, 'unreadable');
}
