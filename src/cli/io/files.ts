/** Files that arguments name: read, tried before the work whose results they take, and written. */
import { closeSync, openSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { systemReason } from '../../text/system-reason.js';
import { notWritable, unreadable, unwritable } from './errors.js';
import { strictText } from './input.js';

/**
 * Reads a file of UTF-8.
 *
 * @throws UsageError when it cannot be read, or is not UTF-8
 */
export function readText(file: string): string {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch (thrown) {
    throw unreadable(thrown, file);
  }
  return strictText(bytes, file);
}

/**
 * Writes a file that an option names.
 *
 * @throws UsageError when that fails
 */
export function writeText(file: string, text: string): void {
  writing(file, () => writeFileSync(file, text));
}

/**
 * Checks that a file can be written. What it holds stays as it is; a missing one is made, empty.
 *
 * @throws UsageError when it cannot be written
 */
export function tryFile(file: string): void {
  writing(file, () => closeSync(openSync(file, 'a')));
}

/**
 * Checks that files can be written into a folder, and leaves nothing there.
 *
 * @throws UsageError when the folder cannot be made, or nothing can be written there
 */
export async function tryFolder(folder: string): Promise<void> {
  const { makeFolders } = await import('../../storage/place.js');
  const made = writing(folder, () => makeFolders(folder));
  if (!writing(folder, () => statSync(folder)).isDirectory()) throw notWritable(folder, 'it is no folder');
  writing(folder, () => {
    const probe = path.join(folder, `.pegwire-${process.pid}`);
    closeSync(openSync(probe, 'w'));
    rmSync(probe);
    for (const one of made.toReversed()) rmdirSync(one);
  });
}

/**
 * Does one step of writing.
 *
 * @param place a file or a folder, for the error
 * @throws UsageError when the step throws
 */
export function writing<T>(place: string, step: () => T): T {
  try {
    return step();
  } catch (thrown) {
    throw unwritable(thrown, place);
  }
}

/** A file that gets line after line. */
export interface LineFile {
  /** Appends a line. @returns whether all lines are in the file so far */
  readonly write: (line: string) => boolean;
  readonly isWhole: () => boolean;
  readonly close: () => void;
}

/** The lines of an option that was left out. */
export const NO_FILE: LineFile = { write: () => true, isWhole: () => true, close: () => {} };

/**
 * Opens a file for lines. Each is written before `write` returns, so that none is missing when the process dies. After the first
 * failure no more lines are written.
 *
 * @param flags `w` begins the file anew, `a` appends to it
 * @param failed called once, with the reason
 * @throws UsageError when the file cannot be opened
 */
export function openLines(
  file: string,
  flags: 'w' | 'a',
  failed: (reason: string, thrown: unknown) => void,
  mode = 0o600,
): LineFile {
  const descriptor = writing(file, () => openSync(file, flags, mode));
  let isOpen = true;
  let isWhole = true;
  return {
    write: (line) => {
      if (!isOpen || !isWhole) return isWhole;
      try {
        writeSync(descriptor, `${line}\n`);
      } catch (thrown) {
        isWhole = false;
        failed(systemReason(thrown), thrown);
      }
      return isWhole;
    },
    isWhole: () => isWhole,
    close: () => {
      if (isOpen) closeSync(descriptor);
      isOpen = false;
    },
  };
}
