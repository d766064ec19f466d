/** The errors of files and folders that arguments and options name. */
import { systemReason } from '../../text/system-reason.js';
import { UsageError } from '../options/command.js';

/** A file name that looks like a message. */
const MESSAGE = /^@.*>|^[A-Z]+\|/;

/** Characters of a file name that an error shows. */
const MAX_NAME = 100;

/** What the operating system threw when a file was read. */
export function unreadable(thrown: unknown, name: string): UsageError {
  const hint = MESSAGE.test(name) ? '; messages are read from a file or from stdin, not from the arguments' : '';
  return fileError('read', name, `${systemReason(thrown)}${hint}`);
}

/** What the operating system threw when a file was opened to be written, or written, or a folder was made. */
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
