/** Files that arguments name. */
import { closeSync, openSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { systemReason } from '../../text/system-reason.js';
import { notWritable, unreadable, unwritable } from './errors.js';
import { strictText } from './input.js';

/** Reads a file of UTF-8. @throws UsageError */
export function readText(file: string): string {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch (thrown) {
    throw unreadable(thrown, file);
  }
  return strictText(bytes, file);
}

export function writeText(file: string, text: string): void {
  writing(file, () => writeFileSync(file, text));
}

/** Checks that a file can be written; creates it if missing. @throws UsageError */
export function tryFile(file: string): void {
  writing(file, () => closeSync(openSync(file, 'a')));
}

/** Checks that a folder can be written, and leaves nothing there. @throws UsageError */
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

/** Runs a step of writing `place`. @throws UsageError if it throws */
export function writing<T>(place: string, step: () => T): T {
  try {
    return step();
  } catch (thrown) {
    throw unwritable(thrown, place);
  }
}

export type LineFile = ReturnType<typeof openLines>;

export const NO_FILE: LineFile = { write: () => true, isWhole: () => true, close: () => {} };

/**
 * Opens a file for lines, each written synchronously, so that none is lost when the process dies. After a failure no more are written.
 *
 * @param flags `w` truncates, `a` appends
 * @param failed called once, with the reason
 * @throws UsageError if the file cannot be opened
 */
export function openLines(
  file: string,
  flags: 'w' | 'a',
  failed: (reason: string, thrown: unknown) => void,
  mode = 0o600,
) {
  const descriptor = writing(file, () => openSync(file, flags, mode));
  let isOpen = true;
  let isWhole = true;
  return {
    /** Appends a line. @returns whether all lines so far were written */
    write: (line: string): boolean => {
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
