/** Where files of the user's own data lie, and whether a file is still in its place. */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import envPaths from 'env-paths';
import { StorageError, storageError } from './errors.js';

/** Sets the folder of the user's data, instead of the usual one of the system. */
const VARIABLE = 'PEGWIRE_DATA_DIR';

/**
 * The path of a file in the user's data folder: what `PEGWIRE_DATA_DIR` says, or the system's usual place for such data.
 *
 * @throws StorageError when `PEGWIRE_DATA_DIR` is no absolute path: data would end up wherever the program was started
 */
export function userDataFile(name: string): string {
  const set = process.env[VARIABLE];
  if (set === undefined || set === '') return path.join(envPaths('pegwire', { suffix: '' }).data, name);
  if (!path.isAbsolute(set)) {
    throw new StorageError('unavailable', set, `${VARIABLE} is not an absolute path: ${JSON.stringify(set)}`);
  }
  return path.join(set, name);
}

/**
 * Makes the folder of a file where there is none, for its owner only.
 *
 * @returns the absolute path of the file
 * @throws StorageError when it cannot be made
 */
export function makeFolderOf(file: string): string {
  const absolute = path.resolve(file);
  try {
    makeFolders(path.dirname(absolute), 0o700);
  } catch (thrown) {
    throw storageError(thrown, absolute);
  }
  return absolute;
}

/**
 * Makes a folder and those above it, as far as they are missing.
 *
 * @returns the folders that were missing, the topmost first
 * @throws the error of the system when one cannot be made
 */
export function makeFolders(folder: string, mode?: number): readonly string[] {
  const missing = missingFolders(path.resolve(folder));
  for (const one of missing) makeFolder(one, mode);
  return missing;
}

/**
 * A folder and those above it, as far as they are not there; the topmost first. They are made one by one, since Node's own
 * `recursive` does not end where a file system says of a folder that is there that it is not, as `/proc` does.
 */
function missingFolders(folder: string): readonly string[] {
  const missing: string[] = [];
  for (let at = folder; !existsSync(at); at = path.dirname(at)) {
    missing.push(at);
    // A drive that is not there.
    if (at === path.dirname(at)) break;
  }
  return missing.reverse();
}

function makeFolder(folder: string, mode: number | undefined): void {
  try {
    mkdirSync(folder, { mode });
  } catch (thrown) {
    // Somebody else was faster; or a file is in the way, and whoever opens the path says so in other words.
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
  }
}

/** What tells a file from another one that takes its place; `null` when there is none. */
export function identityOf(file: string): string | null {
  const found = statSync(file, { throwIfNoEntry: false, bigint: true });
  return found === undefined ? null : `${found.dev}:${found.ino}`;
}
