/** Where files of the user's own data lie, and whether a file is still in its place. */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { StoreError } from '../text/store-error.js';
import { storeError } from './errors.js';

/** Sets the folder of the user's data, instead of the usual one of the system. */
const VARIABLE = 'PEGWIRE_DATA_DIR';

/**
 * The path of a file in the user's data folder: the one that `PEGWIRE_DATA_DIR` names, or the system's usual place for such data.
 * That is `pegwire` below `XDG_DATA_HOME` or `~/.local/share` (XDG Base Directory Specification), below `~/Library/Application Support`
 * on macOS, and `pegwire\\Data` below `LOCALAPPDATA` on Windows.
 *
 * @throws StoreError when `PEGWIRE_DATA_DIR` is no absolute path: data would end up wherever the program was started; or when
 *   it is not set, and the user has no home folder, as in a container
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

/** The specification of these variables demands to ignore relative paths. */
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

/**
 * Makes the folder of a file where there is none, for its owner only.
 *
 * @returns the absolute path of the file
 * @throws StoreError when it cannot be made
 */
export function makeFolderOf(file: string): string {
  const absolute = path.resolve(file);
  try {
    makeFolders(path.dirname(absolute), 0o700);
  } catch (thrown) {
    throw storeError(thrown, absolute);
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
