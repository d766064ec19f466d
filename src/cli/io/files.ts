/** Files that options name: tried before the work whose results they take, and written after it. */
import { closeSync, openSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { notWritable, unwritable } from './errors.js';

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
