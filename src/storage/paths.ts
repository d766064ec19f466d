import { existsSync, mkdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { StoreError } from '../text/store-error.js';
import { storeError } from './errors.js';

const VARIABLE = 'PEGWIRE_DATA_DIR';

/**
 * Returns the path of a file in the data folder: `PEGWIRE_DATA_DIR`, or by default `pegwire` in `XDG_DATA_HOME` or `~/.local/share` (XDG Base
 * Directory Specification), in `~/Library/Application Support` on macOS, or in `LOCALAPPDATA` on Windows.
 *
 * @throws StoreError `misconfigured` if `PEGWIRE_DATA_DIR` is a relative path; `unavailable` if the user has no home folder
 */
export function userDataFile(name: string): string {
  const folder = process.env[VARIABLE];
  if (folder === undefined || folder === '') return path.join(systemFolder(), name);
  if (path.isAbsolute(folder)) return path.join(folder, name);
  throw new StoreError('misconfigured', `${VARIABLE} is not an absolute path: ${JSON.stringify(folder)}`, {
    file: folder,
  });
}

function systemFolder(): string {
  const { LOCALAPPDATA, XDG_DATA_HOME } = process.env;
  switch (process.platform) {
    case 'darwin':
      return path.join(home(), 'Library', 'Application Support', 'pegwire');
    case 'win32':
      return path.join(absolute(LOCALAPPDATA) ?? path.join(home(), 'AppData', 'Local'), 'pegwire', 'Data');
    default:
      return path.join(absolute(XDG_DATA_HOME) ?? path.join(home(), '.local', 'share'), 'pegwire');
  }
}

/** Returns an absolute path, or `null`: the XDG specification requires that relative paths are ignored. */
function absolute(folder: string | undefined): string | null {
  return folder !== undefined && path.isAbsolute(folder) ? folder : null;
}

function home(): string {
  let folder = '';
  try {
    folder = homedir();
  } catch {
    // The user does not exist.
  }
  if (path.isAbsolute(folder)) return folder;
  throw new StoreError('unavailable', `has no default file: the user has no home folder; set ${VARIABLE} to a folder`, {
    file: folder,
  });
}

/** Creates the folder of a file, accessible to its owner only, and returns the absolute path of the file. @throws StoreError if it cannot be created */
export function makeFolderOf(file: string): string {
  const absolute = path.resolve(file);
  try {
    makeFolders(path.dirname(absolute), 0o700);
  } catch (thrown) {
    throw storeError(thrown, absolute);
  }
  return absolute;
}

/** Creates missing folders and returns them, topmost first. */
export function makeFolders(folder: string, mode?: number): readonly string[] {
  const missing = missingFolders(path.resolve(folder));
  for (const path of missing) makeFolder(path, mode);
  return missing;
}

/** Returns the missing folders of a path, topmost first. Node's `recursive` loops forever in file systems such as `/proc`. */
function missingFolders(folder: string): readonly string[] {
  const missing: string[] = [];
  for (let at = folder; !existsSync(at); at = path.dirname(at)) {
    missing.push(at);
    // The drive does not exist.
    if (at === path.dirname(at)) break;
  }
  return missing.reverse();
}

function makeFolder(folder: string, mode: number | undefined): void {
  try {
    mkdirSync(folder, { mode });
  } catch (thrown) {
    // Another process created the folder first, or it is a file, which opening the path reports.
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
  }
}

/** Returns the identity of a file, which differs from that of a file of the same name; `null` if there is no file. */
export function identityOf(file: string): string | null {
  const stats = statSync(file, { throwIfNoEntry: false, bigint: true });
  return stats === undefined ? null : `${stats.dev}:${stats.ino}`;
}
