import { existsSync, mkdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { StoreError } from '../text/store-error.js';
import { storeError } from './errors.js';

const VARIABLE = 'PEGWIRE_DATA_DIR';

/**
 * Returns the path of a file in the folder that `PEGWIRE_DATA_DIR` names or, by default, in the usual place:
 * `XDG_DATA_HOME` or `~/.local/share` (XDG Base Directory Specification), `~/Library/Application Support` on macOS,
 * `LOCALAPPDATA` on Windows. A relative `PEGWIRE_DATA_DIR` is rejected: data would end up in the working directory.
 */
export function userDataFile(name: string): string {
  const set = process.env[VARIABLE];
  if (set === undefined || set === '') return path.join(systemFolder(), name);
  if (path.isAbsolute(set)) return path.join(set, name);
  throw new StoreError('misconfigured', `${VARIABLE} is not an absolute path: ${JSON.stringify(set)}`, { file: set });
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

/** The XDG specification demands to ignore relative paths. */
function absolute(folder: string | undefined): string | null {
  return folder !== undefined && path.isAbsolute(folder) ? folder : null;
}

function home(): string {
  let folder = '';
  try {
    folder = homedir();
  } catch {
    // The system does not know the user.
  }
  if (path.isAbsolute(folder)) return folder;
  throw new StoreError('unavailable', `has no place: there is no home folder; set ${VARIABLE} to a folder`, {
    file: folder,
  });
}

/** Creates the folder of a file, for its owner only, and returns the absolute path of the file. */
export function makeFolderOf(file: string): string {
  const absolute = path.resolve(file);
  try {
    makeFolders(path.dirname(absolute), 0o700);
  } catch (thrown) {
    throw storeError(thrown, absolute);
  }
  return absolute;
}

/** Creates missing folders, and returns them, topmost first. */
export function makeFolders(folder: string, mode?: number): readonly string[] {
  const missing = missingFolders(path.resolve(folder));
  for (const one of missing) makeFolder(one, mode);
  return missing;
}

/** Missing folders, topmost first. Node's `recursive` loops where a file system denies an existing folder, as `/proc` does. */
function missingFolders(folder: string): readonly string[] {
  const missing: string[] = [];
  for (let at = folder; !existsSync(at); at = path.dirname(at)) {
    missing.push(at);
    // A missing drive.
    if (at === path.dirname(at)) break;
  }
  return missing.reverse();
}

function makeFolder(folder: string, mode: number | undefined): void {
  try {
    mkdirSync(folder, { mode });
  } catch (thrown) {
    // Another process was faster; or a file is in the way, which opening the path reports.
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
  }
}

/** Distinguishes a file from one that takes its place; `null` if there is none. */
export function identityOf(file: string): string | null {
  const found = statSync(file, { throwIfNoEntry: false, bigint: true });
  return found === undefined ? null : `${found.dev}:${found.ino}`;
}
